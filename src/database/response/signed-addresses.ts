// Signed URLs of private files. Stored URLs are bare; they are signed for a limited time as responses are written, on the reader threads,
// once per file and time slot.
import { createHmac } from 'node:crypto'

export interface Signer {
  readonly type: string
  /** The signed URL; null: not a URL of this service. */
  sign(address: string): string | null
}

/** Maximum number of signed URLs cached per time slot. */
const maxCached = 20_000

/** Signatures within a time slot are equal, so that clients can cache files; a signature is valid for 90 to 100 % of the lifetime. */
export async function createSigner(signing: Signing): Promise<Signer> {
  const length = Math.max(1, Math.min(60, Math.floor(signing.lifetime / 10)))
  const signName = signing.kind === 'local' ? localSigner(signing) : await s3Signer(signing)
  const signed = new Map<string, string>()
  let slot = 0
  return {
    type: signing.type,
    sign: (address) => {
      const current = Math.floor(Date.now() / 1000 / length) * length
      if (current !== slot || signed.size >= maxCached) {
        slot = current
        signed.clear()
      }
      const known = signed.get(address)
      if (known !== undefined) return known
      const prefix = signing.prefixes.find((one) => address.startsWith(one))
      if (prefix === undefined || address.includes('?')) return null
      const signedUrl = signName(address, address.slice(prefix.length), slot)
      signed.set(address, signedUrl)
      return signedUrl
    },
  }
}

type SignName = (address: string, name: string, start: number) => string

function localSigner({ secret, lifetime }: Signing & { readonly kind: 'local' }): SignName {
  return (address, name, start) => {
    const expires = start + lifetime
    return `${address}?expires=${expires}&signature=${fileSignature(secret, name, expires)}`
  }
}

/** Signs the name of a local file and the expiry of its URL, in seconds. */
export function fileSignature(secret: string, name: string, expires: number): string {
  return createHmac('sha256', secret).update(`${name}\n${expires}`).digest('base64url')
}

async function s3Signer({ origin, path, region, credentials, lifetime }: Signing & { readonly kind: 's3' }): Promise<SignName> {
  const { default: aws4 } = await import('aws4')
  const { host } = new URL(origin)
  const { sessionToken, ...keys } = credentials
  const known = { ...keys, ...(sessionToken === undefined ? {} : { sessionToken }) }
  return (_address, name, start) => {
    const date = new Date(start * 1000).toISOString().replace(/[:-]|\.\d{3}/g, '')
    const request = { service: 's3', region, method: 'GET', headers: { Host: host }, signQuery: true }
    const signed = aws4.sign({ ...request, path: `${path}${name}?X-Amz-Expires=${lifetime}&X-Amz-Date=${date}` }, known)
    return origin + signed.path
  }
}

/** Signing settings as plain data for threads. `lifetime` in seconds. */
export type Signing = {
  /** The type whose rows are files: `url` and the `url`s inside `formats` are signed. */
  readonly type: string
  /** URL prefixes of this service, followed by the file name. Other URLs are not signed. */
  readonly prefixes: readonly string[]
  readonly lifetime: number
} & (
  | { readonly kind: 'local'; readonly secret: string }
  | {
      readonly kind: 's3'
      readonly origin: string
      /** Prefix of file names in the path of `origin`. */
      readonly path: string
      readonly region: string
      readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken?: string | undefined }
    }
)
