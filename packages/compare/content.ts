// What the body of a response is: JSON, text, or bytes of which only the digest is compared.
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import type { ServiceAnswer } from './server.js'

/** A body as it is compared. */
export type BodyContent =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: number; readonly digest: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'too large' }

const decoders = { gzip: promisify(gunzip), 'x-gzip': promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) }

/** Reads the body of a response, decompressed to at most that many bytes. */
export async function contentOf({ body, headers }: Pick<ServiceAnswer, 'body' | 'headers'>, most: number): Promise<BodyContent> {
  if (body === null) return { kind: 'too large' }
  if (body.length === 0) return { kind: 'none' }
  const decoded = await decode(body, headers, most)
  return decoded === null ? { kind: 'too large' } : parsed(decoded, mediaTypeOf(headers))
}

async function decode(body: Buffer, headers: IncomingHttpHeaders, most: number): Promise<Buffer | null> {
  const coding = headers['content-encoding'] ?? 'identity'
  if (!Object.hasOwn(decoders, coding)) return body
  try {
    return await decoders[coding as keyof typeof decoders](body, { maxOutputLength: most })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? null : body
  }
}

function parsed(body: Buffer, mediaType: string): BodyContent {
  if (/[/+]json$/.test(mediaType)) {
    try {
      return { kind: 'json', value: JSON.parse(body.toString('utf8')) }
    } catch {
      return { kind: 'text', text: body.toString('utf8') }
    }
  }
  if (mediaType.startsWith('text/')) return { kind: 'text', text: body.toString('utf8') }
  return { kind: 'bytes', bytes: body.length, digest: createHash('sha256').update(body).digest('hex') }
}

/** The media type without its parameters, in lower case; empty without one. */
export const mediaTypeOf = (headers: IncomingHttpHeaders): string => (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
