// The URL of a bucket, and the URLs of its files in the format of Strapi's S3 provider.
import type { S3Config } from '../../config/storage.js'

/** A bucket: its origin without a trailing slash, the prefix of all keys, and the path before the file names. */
export interface Bucket {
  readonly origin: string
  readonly root: string
  readonly path: string
}

/** Hosts for which bucket names cannot be subdomains. */
const withoutSubdomains = /^(?:localhost|\[.*\]|[\d.]+)$/

type BucketConfig = Pick<S3Config, 'bucket' | 'region' | 'rootPath'> & Partial<Pick<S3Config, 'endpoint' | 'forcePathStyle'>>

/** Returns the URL parts of a bucket. */
export function bucketOf({ bucket, region, endpoint, forcePathStyle, rootPath }: BucketConfig): Bucket {
  const { protocol, host, hostname, pathname } = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`)
  const inPath = forcePathStyle ?? (withoutSubdomains.test(hostname) || bucket.includes('.'))
  const bare = trimSlashes(rootPath, 'both')
  const root = bare === '' ? '' : `${bare.split('/').map(encodeURIComponent).join('/')}/`
  const base = trimSlashes(pathname, 'end')
  return {
    origin: `${protocol}//${inPath ? host : `${bucket}.${host}`}`,
    root,
    path: inPath ? `${base}/${bucket}/${root}` : `${base}/${root}`,
  }
}

/** Returns the URL of a file as stored in its row. */
export function fileUrl(config: S3Config, name: string): string {
  const { origin, root, path } = bucketOf(config)
  return config.baseUrl === undefined ? `${origin}${path}${name}` : `${trimSlashes(config.baseUrl, 'end')}/${root}${name}`
}

function trimSlashes(text: string, where: 'both' | 'end'): string {
  let [start, end] = [0, text.length]
  while (end > start && text[end - 1] === '/') end--
  while (where === 'both' && start < end && text[start] === '/') start++
  return text.slice(start, end)
}
