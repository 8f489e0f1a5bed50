// Reads a multipart form: files go where the library receives them while they come in, fields are kept. Nothing grows
// without bound, and whatever fails or breaks off leaves nothing behind.
import type { IncomingMessage } from 'node:http'
import type { BusboyFileStream, BusboyInstance } from '@fastify/busboy'
import { ApiError } from '../errors/errors.js'
import type { FormLimits, Library } from '../uploads/library.js'
import type { Received } from '../uploads/receive.js'
import type { IncomingBody } from './incoming-bodies.js'
import { streamInTurn } from './multipart-turns.js'

export interface MultipartBody {
  /** A field that came several times is a list. */
  readonly fields: ReadonlyMap<string, string | readonly string[]>
  /** The files of the fields called `files`, in their order. */
  readonly files: readonly Received[]
}

export const isMultipart = ({ headers }: IncomingMessage): boolean => /^\s*multipart\/form-data/i.test(headers['content-type'] ?? '')

const tooLarge = (what: string): ApiError => new ApiError('PayloadTooLargeError', what)
const malformed = (): ApiError => new ApiError('BadRequestError', 'The form is not whole')

/** Bytes of fields that are not counted among the bodies: a long upload with a few words beside it never has to make room. */
const freeBytes = 16_384

/**
 * Reads a form. Its fields are kept in memory until it is whole: what they are, beyond a little, is counted by `begin`.
 * @throws ApiError 400 for what is no form, 413 beyond a limit, 503 where too much is coming in.
 */
export async function readMultipart(request: IncomingMessage, library: Library, begin: () => IncomingBody): Promise<MultipartBody> {
  const { limits } = library
  const broken = malformed()
  if (Number(request.headers['content-length'] ?? 0) > limits.uploadBytes) throw tooLarge('The form is too large')
  const parser = await openParser(request, limits)
  const fields = new Map<string, string | readonly string[]>()
  const files: Promise<Received>[] = []
  const kept = countKept(begin)
  const failure = await new Promise<{ readonly error: unknown } | null>((resolve) => {
    const streams = new Set<BusboyFileStream>()
    const stop = new AbortController()
    const fail = (error: unknown): void => {
      stop.abort()
      for (const stream of streams) stream.destroy(broken)
      resolve({ error })
    }
    parser.on('file', (name, stream, filename, _encoding, type) => {
      // A form that breaks off says so here too; whoever reads the stream has learned it.
      stream.on('error', () => {})
      // An empty name: a browser's input in which nothing was chosen.
      if (name !== 'files' || !filename || stop.signal.aborted) return void stream.resume()
      streams.add(stream)
      const file = library.receive(stream, { name: filename, declared: type })
      files.push(file)
      file.catch(fail).finally(() => streams.delete(stream))
    })
    // Against its types, the parser gives no name where a field has none.
    parser.on('field', (name = '', value, _nameCut, cut) => {
      if (cut) return fail(tooLarge(`A field may have ${limits.uploadFieldBytes} bytes at most`))
      kept.more(Buffer.byteLength(name) + Buffer.byteLength(value), fail)
      if (stop.signal.aborted) return
      const before = fields.get(name)
      fields.set(name, before === undefined ? value : typeof before === 'string' ? [before, value] : [...before, value])
    })
    parser.on('filesLimit', () => fail(tooLarge(`A form may have ${limits.uploadFiles} files at most`)))
    parser.on('fieldsLimit', () => fail(tooLarge(`A form may have ${limits.uploadFields} fields at most`)))
    parser.on('error', () => fail(broken))
    parser.on('finish', () => resolve(null))
    request.once('close', () => request.complete || fail(broken))
    streamInTurn(request, parser, library, stop.signal).then((whole) => whole || fail(broken), fail)
  })
  const received = await Promise.allSettled(files)
  kept.end()
  const whole = received.flatMap((file) => (file.status === 'fulfilled' ? [file.value] : []))
  if (failure === null && whole.length === received.length) return { fields, files: whole }
  await library.discard(whole)
  throw causeOf(broken, failure?.error ?? broken, received)
}

/** Counts bytes among those of bodies that come in, once they are more than a few; `fail` hears when there is no room for them. */
function countKept(begin: () => IncomingBody) {
  let [bytes, coming] = [0, null as IncomingBody | null]
  return {
    more: (added: number, fail: (error: unknown) => void): void => {
      bytes += added
      if (bytes <= freeBytes) return
      if (coming === null) {
        coming = begin()
        coming.refused.catch(fail)
      }
      try {
        coming.more(added)
      } catch (error) {
        fail(error)
      }
    },
    end: () => coming?.end(),
  }
}

/**
 * Why a form was not taken. Where a file could not be received, the parser finds its stream closed and calls the form broken,
 * maybe before whoever received the file has said why.
 */
function causeOf(broken: ApiError, first: unknown, received: readonly PromiseSettledResult<Received>[]): unknown {
  if (first !== broken) return first
  const reasons = received.flatMap((file) => (file.status === 'rejected' ? [file.reason as unknown] : []))
  return reasons.find((reason) => reason instanceof ApiError && reason !== broken) ?? broken
}

async function openParser(request: IncomingMessage, limits: FormLimits): Promise<BusboyInstance> {
  const { Busboy } = (await import('@fastify/busboy')).default
  try {
    return new Busboy({
      headers: request.headers as { 'content-type': string },
      preservePath: true,
      limits: {
        files: limits.uploadFiles,
        fields: limits.uploadFields,
        parts: limits.uploadFiles + limits.uploadFields + 1,
        fieldSize: limits.uploadFieldBytes,
        headerPairs: 20,
        headerSize: 16_384,
      },
      isPartAFile: (_name, _type, filename) => filename !== undefined,
    })
  } catch {
    throw malformed()
  }
}
