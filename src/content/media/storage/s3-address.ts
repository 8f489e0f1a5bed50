// URLs of a bucket and of its files, in the format of Strapi's S3 provider.
import type { S3Config } from '../../../foundation/config/storage.js'

/** Origin without a trailing slash, prefix of all keys, and path before the file names. */
interface Bucket {
  readonly origin: string
  readonly root: string
  readonly path: string
}

/** Hosts that do not support bucket names as subdomains. */
const withoutSubdomains = /^(?:localhost|\[.*\]|[\d.]+)$/

type BucketConfig = Pick<S3Config, 'bucket' | 'region' | 'rootPath'> & Partial<Pick<S3Config, 'endpoint' | 'forcePathStyle'>>

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

/** The URL of a file as stored in its row. */
export function fileUrl(config: S3Config, name: string): string {
  const { origin, root, path } = bucketOf(config)
  return config.baseUrl === undefined ? `${origin}${path}${name}` : `${trimSlashes(config.baseUrl, 'end')}/${root}${name}`
}

/** Prefixes of all URLs of files in the bucket, including earlier forms that rows may still have. */
export function bucketPrefixes(config: S3Config): readonly string[] {
  const { origin, path } = bucketOf(config)
  return [...new Set([fileUrl(config, ''), origin + path, ...earlierPrefixes(config)])]
}

/** Earlier URL forms of Amazon's buckets. */
function earlierPrefixes({ endpoint, bucket, region, rootPath }: S3Config): readonly string[] {
  if (endpoint !== undefined) return []
  const hosts = [`https://${bucket}.s3.amazonaws.com`, `https://s3.${region}.amazonaws.com/${bucket}`]
  const { root } = bucketOf({ bucket, region, rootPath })
  return hosts.map((host) => `${host}/${root}`)
}

/** Name of the object at a URL, without the key prefix; null if the URL is not in the bucket. */
export function objectNameAt(config: S3Config, url: string): string | null {
  const prefix = bucketPrefixes(config).find((one) => url.startsWith(one))
  if (prefix === undefined) return null
  const name = decodedUrl(url.slice(prefix.length).split(/[?#]/)[0]!)
  return isObjectName(name) ? name : null
}

/** True for an object name below the prefix: path segments without traversal. */
export const isObjectName = (name: string): boolean => name.split('/').every((part) => part !== '' && part !== '.' && part !== '..')

/** Decodes a URL or a part of one; unchanged if it is invalid. */
export function decodedUrl(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}

function trimSlashes(text: string, where: 'both' | 'end'): string {
  let start = 0
  let end = text.length
  while (end > start && text[end - 1] === '/') end--
  while (where === 'both' && start < end && text[start] === '/') start++
  return text.slice(start, end)
}
