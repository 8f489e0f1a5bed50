// Determines which files are private; signs and checks their URLs.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { fileSignature, type Signing } from '../../database/response/signed-addresses.js'
import type { Config } from '../../foundation/config/config.js'
import { fileType } from '../../model/schema/link.js'
import { bucketOf, bucketPrefixes } from './storage/s3-address.js'

/** How responses sign file URLs; null if files are public. */
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
    prefixes: bucketPrefixes(storage),
    lifetime: storage.signedUrlExpires,
    origin,
    path,
    region,
    credentials: { accessKeyId, secretAccessKey, sessionToken },
  }
}

/** Derives the signing key of local files from the JWT secret. */
const localSecret = (jwtSecret: string): string => createHmac('sha256', jwtSecret).update('octavo: addresses of files').digest('hex')

/** Checks the signed URL of a file; returns its remaining validity in seconds, or null. */
export type CheckAddress = (name: string, query: string) => number | null

/** Creates the check of URLs below /uploads/; null if files are public. */
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
