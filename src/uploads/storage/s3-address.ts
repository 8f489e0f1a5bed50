// Where a bucket is, and under which address clients read its files. Names as Strapi's S3 provider makes them.
import type { S3Config } from '../../config/storage.js'

/** A bucket: `origin` without a slash at its end, the key that all files begin with, and the path in front of their names. */
export interface Bucket {
  readonly origin: string
  readonly root: string
  readonly path: string
}

/** Hosts of one machine have no names below them for buckets. */
const withoutNames = /^(?:localhost|\[.*\]|[\d.]+)$/

type Place = Pick<S3Config, 'bucket' | 'region' | 'rootPath'> & Partial<Pick<S3Config, 'endpoint' | 'forcePathStyle'>>

export function bucketOf({ bucket, region, endpoint, forcePathStyle, rootPath }: Place): Bucket {
  const { protocol, host, hostname, pathname } = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`)
  const inPath = forcePathStyle ?? (withoutNames.test(hostname) || bucket.includes('.'))
  const bare = trimSlashes(rootPath, 'both')
  const root = bare === '' ? '' : `${bare.split('/').map(encodeURIComponent).join('/')}/`
  const base = trimSlashes(pathname, 'end')
  return {
    origin: `${protocol}//${inPath ? host : `${bucket}.${host}`}`,
    root,
    path: inPath ? `${base}/${bucket}/${root}` : `${base}/${root}`,
  }
}

/** What the addresses of all files begin with, as their rows keep them. */
export function addressOf(config: S3Config, name: string): string {
  const { origin, root, path } = bucketOf(config)
  return config.baseUrl === undefined ? `${origin}${path}${name}` : `${trimSlashes(config.baseUrl, 'end')}/${root}${name}`
}

function trimSlashes(text: string, where: 'both' | 'end'): string {
  let [start, end] = [0, text.length]
  while (end > start && text[end - 1] === '/') end--
  while (where === 'both' && start < end && text[start] === '/') start++
  return text.slice(start, end)
}
