// The URL of a bucket, and the URLs of its files in the format of Strapi's S3 provider.
import type { S3Config } from '../../../foundation/config/storage.js'

/** A bucket: its origin without a trailing slash, the prefix of all keys, and the path before the file names. */
export interface Bucket {
  readonly origin: string
  readonly root: string
  readonly path: string
}

/** Hosts that do not support bucket names as subdomains. */
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

/** The beginnings of all URLs of files in the bucket: as rows have them, and earlier forms that rows may still have. */
export function bucketPrefixes(config: S3Config): readonly string[] {
  const { origin, path } = bucketOf(config)
  return [...new Set([fileUrl(config, ''), origin + path, ...earlierPrefixes(config)])]
}

/** Earlier forms of the URLs of Amazon's buckets. */
function earlierPrefixes({ endpoint, bucket, region, rootPath }: S3Config): readonly string[] {
  if (endpoint !== undefined) return []
  const hosts = [`https://${bucket}.s3.amazonaws.com`, `https://s3.${region}.amazonaws.com/${bucket}`]
  const { root } = bucketOf({ bucket, region, rootPath })
  return hosts.map((host) => `${host}/${root}`)
}

/** The name of the object at a URL, after the prefix that all names have; null: the URL is not one of the bucket. */
export function objectNameAt(config: S3Config, url: string): string | null {
  const prefix = bucketPrefixes(config).find((one) => url.startsWith(one))
  if (prefix === undefined) return null
  const name = decodedUrl(url.slice(prefix.length).split(/[?#]/)[0]!)
  return isObjectName(name) ? name : null
}

/** True if a text names an object below the prefix: path segments without traversal. */
export const isObjectName = (name: string): boolean => name.split('/').every((part) => part !== '' && part !== '.' && part !== '..')

/** A URL, or a part of one, as its name is written in the storage; unchanged where it cannot be decoded. */
export function decodedUrl(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}

function trimSlashes(text: string, where: 'both' | 'end'): string {
  let [start, end] = [0, text.length]
  while (end > start && text[end - 1] === '/') end--
  while (where === 'both' && start < end && text[start] === '/') start++
  return text.slice(start, end)
}
