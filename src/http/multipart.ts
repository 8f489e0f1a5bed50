// Reads a multipart form. Files are streamed to the media library, fields are held in memory within limits. A failed or aborted form leaves
// no files.
import type { IncomingMessage } from 'node:http'
import type { Writable } from 'node:stream'
import type { BusboyFileStream, BusboyInstance } from '@fastify/busboy'
import type { Library } from '../content/media/library.js'
import type { Received } from '../content/media/receive.js'
import { ApiError } from '../foundation/errors/errors.js'
import { malformedForm, maxFormFields } from './body.js'
import type { IncomingBody } from './memory-budgets.js'

export interface MultipartBody {
  /** A repeated field is a list. */
  readonly fields: ReadonlyMap<string, string | readonly string[]>
  /** The files of the fields named `files`, in their order. */
  readonly files: readonly Received[]
  /** Names of other fields that have files, which are not received. */
  readonly otherFiles: readonly string[]
}

/** True if the request has a multipart form as its body. */
export const isMultipart = ({ headers }: IncomingMessage): boolean => /^\s*multipart\/form-data/i.test(headers['content-type'] ?? '')

const tooLarge = (what: string): ApiError => new ApiError('PayloadTooLargeError', what)

const maxFieldBytes = 100_000
const maxFormFiles = 100

/** Bytes of fields that do not count as an incomplete body, so that a long upload with short fields is not refused to free memory. */
const uncountedBytes = 16_384

/**
 * Reads a form. Its fields are in memory until it is complete; beyond a small amount their bytes are counted with `begin`.
 * @throws ApiError 400 for a malformed form, 413 beyond a limit, 503 if too many bodies are incomplete.
 */
export async function readMultipart(request: IncomingMessage, library: Library, begin: () => IncomingBody): Promise<MultipartBody> {
  const malformedError = malformedForm()
  if (Number(request.headers['content-length'] ?? 0) > library.limits.uploadBytes) throw tooLarge('The form is too large')
  const parser = await createParser(request)
  const fields = new Map<string, string | readonly string[]>()
  const files: Promise<Received>[] = []
  const otherFiles = new Set<string>()
  const counter = countFieldBytes(begin)
  const failure = await new Promise<{ readonly error: unknown } | null>((resolve) => {
    const streams = new Set<BusboyFileStream>()
    const stop = new AbortController()
    const fail = (error: unknown): void => {
      stop.abort()
      for (const stream of streams) stream.destroy(malformedError)
      resolve({ error })
    }
    parser.on('file', (name, stream, filename, _encoding, type) => {
      // An aborted form also fails its streams; the reader of the stream handles that.
      stream.on('error', () => {})
      // A browser sends an empty file name if no file was chosen.
      if (name !== 'files' && filename) otherFiles.add(name)
      if (name !== 'files' || !filename || stop.signal.aborted) return void stream.resume()
      streams.add(stream)
      const file = library.receive(stream, { name: filename, declared: type })
      files.push(file)
      file.catch(fail).finally(() => streams.delete(stream))
    })
    // Contrary to its types, the parser passes undefined for a field without a name.
    parser.on('field', (name = '', value, _nameCut, cut) => {
      if (cut) return fail(tooLarge(`A field must not exceed ${maxFieldBytes} bytes`))
      counter.add(Buffer.byteLength(name) + Buffer.byteLength(value), fail)
      if (stop.signal.aborted) return
      const before = fields.get(name)
      fields.set(name, before === undefined ? value : typeof before === 'string' ? [before, value] : [...before, value])
    })
    parser.on('filesLimit', () => fail(tooLarge(`A form must not have more than ${maxFormFiles} files`)))
    parser.on('fieldsLimit', () => fail(tooLarge(`A form must not have more than ${maxFormFields} fields`)))
    parser.on('error', () => fail(malformedError))
    parser.on('finish', () => resolve(null))
    request.once('close', () => request.complete || fail(malformedError))
    streamInTurn(request, parser, library, stop.signal).then((whole) => whole || fail(malformedError), fail)
  })
  const received = await Promise.allSettled(files)
  counter.end()
  const whole = received.flatMap((file) => (file.status === 'fulfilled' ? [file.value] : []))
  if (failure === null && whole.length === received.length) return { fields, files: whole, otherFiles: [...otherFiles] }
  await library.discard(whole)
  throw findCause(malformedError, failure?.error ?? malformedError, received)
}

/** Counts the bytes of fields beyond a small amount; calls `fail` if the limit for incomplete bodies is reached. */
function countFieldBytes(begin: () => IncomingBody) {
  let bytes = 0
  let incoming: IncomingBody | null = null
  return {
    add: (added: number, fail: (error: unknown) => void): void => {
      bytes += added
      if (bytes <= uncountedBytes) return
      if (incoming === null) {
        incoming = begin()
        incoming.refused.catch(fail)
      }
      try {
        incoming.add(added)
      } catch (error) {
        fail(error)
      }
    },
    end: () => incoming?.end(),
  }
}

/**
 * Returns why a form failed. If a file could not be received, the parser also reports a malformed form, because its stream was closed,
 * possibly before the receiver reports the real cause.
 */
function findCause(malformedError: ApiError, first: unknown, received: readonly PromiseSettledResult<Received>[]): unknown {
  if (first !== malformedError) return first
  const reasons = received.flatMap((file) => (file.status === 'rejected' ? [file.reason as unknown] : []))
  return reasons.find((reason) => reason instanceof ApiError && reason !== malformedError) ?? malformedError
}

async function createParser(request: IncomingMessage): Promise<BusboyInstance> {
  const { Busboy } = (await import('@fastify/busboy')).default
  try {
    return new Busboy({
      headers: request.headers as { 'content-type': string },
      preservePath: true,
      limits: {
        files: maxFormFiles,
        fields: maxFormFields,
        parts: maxFormFiles + maxFormFields + 1,
        fieldSize: maxFieldBytes,
        headerPairs: 20,
        headerSize: 16_384,
      },
      isPartAFile: (_name, _type, filename) => filename !== undefined,
    })
  } catch {
    throw malformedForm()
  }
}

/** Duration of a turn while the client keeps sending. */
const turnMs = 100
const chunkTimeoutMs = 5

/**
 * Streams a request to a parser and ends the parser with it. Returns false if the request was aborted. `stop` ends it early.
 * @throws ApiError 413 if it is too large.
 */
async function streamInTurn(request: IncomingMessage, parser: Writable, { limits, inTurn }: Library, stop: AbortSignal): Promise<boolean> {
  const incoming = watch(request, stop)
  let bytes = 0
  const takeTurn = async (): Promise<void> => {
    const end = performance.now() + turnMs
    while (!stop.aborted && performance.now() < end) {
      const chunk = incoming.read()
      if (chunk === null && (request.readableEnded || request.destroyed)) return
      bytes += chunk?.length ?? 0
      if (bytes > limits.uploadBytes) throw new ApiError('PayloadTooLargeError', 'The form is too large')
      if (chunk !== null) await write(parser, chunk, stop)
      if (!(await incoming.next(chunkTimeoutMs))) return
    }
  }
  while (!request.readableEnded && !stop.aborted) {
    if (request.readableLength === 0 && request.destroyed) return false
    await inTurn(takeTurn)
    if (!request.readableEnded && !stop.aborted) await incoming.next()
  }
  if (!stop.aborted) parser.end()
  return true
}

/** Writes a chunk to the parser; resolves when the parser and the disk have taken it, or when the form has failed. */
function write(parser: Writable, chunk: Buffer, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stop.removeEventListener('abort', done)
      resolve()
    }
    stop.addEventListener('abort', done)
    parser.write(chunk, done)
  })
}

interface IncomingData {
  read(): Buffer | null
  /** Resolves to true if there is new data or the request has ended, and to false after `timeoutMs`. */
  next(timeoutMs?: number): Promise<boolean>
}

/** Watches for new data. Events that occur while nothing waits for them are remembered. */
function watch(request: IncomingMessage, stop: AbortSignal): IncomingData {
  let hasNews = false
  let wake = (): void => {}
  const notify = (): void => {
    hasNews = true
    wake()
  }
  const events = ['readable', 'end', 'close', 'error']
  for (const event of events) request.on(event, notify)
  stop.addEventListener('abort', () => {
    // Remove the listeners, so that the rest of the request can be discarded.
    for (const event of events) request.off(event, notify)
    notify()
  })
  // If the request ended before it was watched, there is no further event.
  const ready = (): boolean => hasNews || request.readableLength > 0 || request.destroyed || request.readableEnded
  return {
    read: () => {
      hasNews = false
      return request.read() as Buffer | null
    },
    next: async (timeoutMs) => {
      if (ready()) return true
      const waited = new Promise<void>((resolve) => {
        wake = resolve
      })
      const timer = timeoutMs === undefined ? undefined : setTimeout(wake, timeoutMs)
      await waited
      clearTimeout(timer)
      return ready()
    },
  }
}
