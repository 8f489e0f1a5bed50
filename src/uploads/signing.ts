// Which files are private, and what their signed addresses are made and checked with.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Config } from '../config/config.js'
import type { S3Config } from '../config/storage.js'
import { fileSignature, type Signing } from '../database/answer/signed-addresses.js'
import { fileType } from '../model/link.js'
import { addressOf, bucketOf } from './storage/s3-address.js'

/** How answers sign the addresses of files; null: everyone may read them. */
export function signingOf({ storage, secrets }: Pick<Config, 'storage' | 'secrets'>): Signing | null {
  if (storage.provider === 'local') {
    if (!storage.private) return null
    const secret = localSecret(secrets.jwtSecret)
    return { kind: 'local', type: fileType, prefixes: ['/uploads/'], lifetime: storage.signedUrlExpires, secret }
  }
  if (storage.acl !== 'private') return null
  const { origin, path } = bucketOf(storage)
  const { region, accessKeyId, secretAccessKey, sessionToken } = storage
  return {
    kind: 's3',
    type: fileType,
    prefixes: [...new Set([addressOf(storage, ''), origin + path, ...olderAddresses(storage)])],
    lifetime: storage.signedUrlExpires,
    ...{ origin, path, region },
    credentials: { accessKeyId, secretAccessKey, sessionToken },
  }
}

/** Amazon has had more than one address for a bucket; rows keep the one of their time. */
function olderAddresses({ endpoint, bucket, region, rootPath }: S3Config): readonly string[] {
  if (endpoint !== undefined) return []
  const hosts = [`https://${bucket}.s3.amazonaws.com`, `https://s3.${region}.amazonaws.com/${bucket}`]
  const { root } = bucketOf({ bucket, region, rootPath })
  return hosts.map((host) => `${host}/${root}`)
}

/** A key of its own for files, from the secret that the project keeps. */
const localSecret = (jwtSecret: string): string => createHmac('sha256', jwtSecret).update('octavo: addresses of files').digest('hex')

/** Checks an address of a private file; gives the seconds that it still holds, or null: it does not. */
export type CheckAddress = (name: string, query: string) => number | null

/** The check of addresses below /uploads/; null: everyone may read what lies there. */
export function checkOf(config: Pick<Config, 'storage' | 'secrets'>): CheckAddress | null {
  const signing = signingOf(config)
  if (signing === null || signing.kind !== 'local') return null
  return (name, query) => {
    const given = new URLSearchParams(query)
    const expires = /^\d{1,12}$/.test(given.get('expires') ?? '') ? Number(given.get('expires')) : 0
    const signature = Buffer.from(given.get('signature') ?? '')
    const right = Buffer.from(fileSignature(signing.secret, name, expires))
    if (signature.length !== right.length || !timingSafeEqual(signature, right)) return null
    const left = expires - Math.floor(Date.now() / 1000)
    return left > 0 ? left : null
  }
}
