// Reads the body of a request, with limits for size and time. Called only after the caller's permission was checked.
import type { IncomingMessage } from 'node:http'
import type { BusboyInstance } from '@fastify/busboy'
import qs from 'qs'
import { ApiError, validationError } from '../foundation/errors/errors.js'
import { nextTurn } from '../foundation/runtime/event-loop.js'
import { checkStructure } from '../foundation/runtime/json-structure.js'
import type { BodyBudget, IncomingBody } from './memory-budgets.js'

interface BodyLimits {
  readonly bodyBytes: number
  /** Milliseconds for the whole body. */
  readonly requestTimeout: number
}

type ReadForm<Limits extends BodyLimits> = (request: IncomingMessage, incoming: IncomingBody, limits: Limits) => Promise<unknown>

/**
 * Reads and parses a JSON or form body; `undefined` if there is none or it has another type. `readForm`: multipart forms are read too.
 * @throws ApiError 413 beyond `bodyBytes`; 503 if too many bodies are incomplete; 400 for invalid or too complex JSON; 408 beyond
 *   `requestTimeout`; 499 if the client closes the connection.
 */
export async function readBody<Limits extends BodyLimits>(
  request: IncomingMessage,
  address: string,
  bodies: BodyBudget,
  limits: Limits,
  readForm: ReadForm<Limits> | null = null,
): Promise<unknown> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  const isJson = type === 'application/json' || type.endsWith('+json')
  if (type === 'multipart/form-data' && readForm !== null) return readForm(request, bodies.begin(address), limits)
  if (!isJson && type !== 'application/x-www-form-urlencoded') return undefined
  const bytes = await readBytes(request, bodies.begin(address), limits)
  if (bytes.length === 0) return undefined
  return isJson ? parseJson(bytes) : qs.parse(bytes.toString('utf8'), { depth: 20, arrayLimit: 100, parameterLimit: 1000 })
}

/** The bytes of a body as they arrive, at most `most`. @throws ApiError 413, also while it is read; 499 if the client closes the connection */
export function streamBody(request: IncomingMessage, most: number): AsyncIterable<Uint8Array> {
  if (Number(request.headers['content-length'] ?? 0) > most) throw tooLarge()
  return boundedChunks(request, most)
}

async function* boundedChunks(request: IncomingMessage, most: number): AsyncIterable<Uint8Array> {
  let length = 0
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > most) throw tooLarge()
      yield chunk
    }
  } catch (error) {
    throw error instanceof ApiError ? error : closedByClient()
  }
}

/** Reads the bytes of a body of any type. @throws ApiError as `readBody`, except for its contents */
export async function readBytes(
  request: IncomingMessage,
  incoming: IncomingBody,
  { bodyBytes, requestTimeout }: BodyLimits,
): Promise<Buffer> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow()), requestTimeout)
  })
  try {
    if (Number(request.headers['content-length'] ?? 0) > bodyBytes) throw tooLarge()
    return await Promise.race([collect(request, incoming, bodyBytes), incoming.refused, timeout])
  } finally {
    clearTimeout(timer)
    incoming.end()
  }
}

async function collect(request: IncomingMessage, incoming: IncomingBody, bodyBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    // The request stays open for its response even if reading the body fails.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > bodyBytes) throw tooLarge()
      incoming.add(chunk.length)
      chunks.push(chunk)
    }
  } catch (error) {
    // Any other error means that the connection ended before the body was complete.
    throw error instanceof ApiError ? error : closedByClient()
  }
  return Buffer.concat(chunks)
}

const closedByClient = (): ApiError => new ApiError('ClientClosedRequestError', 'The client closed the connection')
const tooLarge = (): ApiError => new ApiError('PayloadTooLargeError', 'request entity too large', null)
const tooSlow = (): ApiError => new ApiError('RequestTimeoutError', 'The request body did not arrive in time')

/** Matches `__proto__`, also with escaped letters. Most bodies do not match and need no further check. */
const maySpellPrototype = /__proto__|\\u00[567]/

/** After parsing a longer text, other requests get a turn of the event loop. */
const longTextBytes = 65_536

/**
 * Parses a JSON object or array and refuses a `__proto__` key.
 * @throws ApiError 400 for invalid JSON (writing.20), and beyond the limits
 */
async function parseJson(bytes: Buffer): Promise<unknown> {
  checkStructure(bytes)
  const text = bytes.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (error) {
    throw syntaxError((error as Error).message)
  }
  if (bytes.length > longTextBytes) await nextTurn()
  if (typeof value !== 'object' || value === null) throw syntaxError('invalid JSON, only supports object and array')
  if (maySpellPrototype.test(text) && hasPrototypeKey(value)) throw syntaxError('Object contains forbidden prototype property')
  return value
}

const syntaxError = (message: string): ApiError => new ApiError('SyntaxError', message, null)

function hasPrototypeKey(value: unknown): boolean {
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null) continue
    if (Object.hasOwn(next, '__proto__')) return true
    for (const inner of Object.values(next)) if (typeof inner === 'object') waiting.push(inner)
  }
  return false
}

/** Fields of a form, apart from files. */
export const maxFormFields = 200

type FormField = readonly [name: string, text: string]

/**
 * Reads a multipart form as a body. A field is a text: `data` with JSON is not an object, as in Strapi 5.
 * @throws what `readBytes` throws; ApiError 400 for a malformed form and for one with files; 413 for too many fields
 */
export const readForm: ReadForm<BodyLimits> = async (request, incoming, limits) => {
  const bytes = await readBytes(request, incoming, limits)
  const { fields, file } = await parseParts(request, bytes, limits)
  const body = nestedFields(fields)
  // A text in `data` is refused as such.
  if (file !== null && typeof body.data !== 'string') throw filesRefused(file)
  return body
}

interface FormParts {
  readonly fields: readonly FormField[]
  readonly file: string | null
}

/** Levels of a name with brackets: deeper ones would remain text. */
const maxNameDepth = 20

/** A text without halves of surrogate pairs, which have no encoding. */
const wellFormed = (text: string): string => text.replaceAll(/\p{Surrogate}/gu, '\ufffd')

/** Makes objects and lists of fields whose names have brackets, as in a query string. A repeated field is a list. */
export function nestedFields(fields: readonly FormField[]): Readonly<Record<string, unknown>> {
  const text = fields.map((field) => field.map((part) => encodeURIComponent(wellFormed(part))).join('=')).join('&')
  return qs.parse(text, { depth: maxNameDepth, arrayLimit: fields.length, parameterLimit: Number.POSITIVE_INFINITY })
}

/** True if a request announces a body. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** @throws ApiError 415 for a body that was not read because of its type, where a missing body would do nothing and succeed */
export function refuseUnread(request: IncomingMessage, body: unknown): void {
  if (body !== undefined || !hasBody(request)) return
  const type = request.headers['content-type']
  const is = type === undefined ? 'is missing' : `is "${type.slice(0, 100)}"`
  throw new ApiError('UnsupportedMediaTypeError', `The body was not read: its Content-Type ${is}; application/json is needed`)
}

export const malformedForm = (): ApiError => new ApiError('BadRequestError', 'Malformed multipart body')

const tooDeep = (name: string): ApiError =>
  validationError(`The name of a field has at most ${maxNameDepth} levels: "${name.slice(0, 100)}" has more`)

/** Size of the part that is parsed in one turn of the event loop. */
const pieceBytes = 65_536

/** Parses a body in parts, with turns for other requests in between, until the end or an error. */
async function feed(parser: BusboyInstance, bytes: Buffer, isOver: () => boolean): Promise<void> {
  for (let at = 0; at < bytes.length && !isOver(); at += pieceBytes) {
    parser.write(bytes.subarray(at, at + pieceBytes))
    if (at + pieceBytes < bytes.length) await nextTurn()
  }
  parser.end()
}

async function parseParts({ headers }: IncomingMessage, bytes: Buffer, { bodyBytes }: BodyLimits): Promise<FormParts> {
  const { Busboy } = (await import('@fastify/busboy')).default
  const fields: FormField[] = []
  let file: string | null = null
  let isOver = false
  return new Promise((resolve, reject) => {
    const refuse = (error: ApiError): void => {
      isOver = true
      reject(error)
    }
    try {
      const parser = new Busboy({
        headers: headers as { 'content-type': string },
        limits: { fields: maxFormFields, parts: maxFormFields + 1, fieldSize: bodyBytes, headerPairs: 20, headerSize: 16_384 },
        isPartAFile: (_name, _type, filename) => filename !== undefined,
      })
      parser.on('file', (name, stream, filename) => {
        stream.on('error', () => {})
        stream.resume()
        // A browser sends an empty file name if no file was chosen.
        if (filename) file ??= name ?? ''
      })
      parser.on('field', (name = '', value) => {
        if (name.split('[', maxNameDepth + 2).length > maxNameDepth + 1) refuse(tooDeep(name))
        fields.push([name, value])
      })
      const tooMany = () => refuse(new ApiError('PayloadTooLargeError', `A form must not have more than ${maxFormFields} fields`))
      parser.on('fieldsLimit', tooMany)
      parser.on('partsLimit', tooMany)
      parser.on('error', () => refuse(malformedForm()))
      parser.on('finish', () => resolve({ fields, file }))
      feed(parser, bytes, () => isOver).catch(() => refuse(malformedForm()))
    } catch {
      refuse(malformedForm())
    }
  })
}

const filesRefused = (name: string): ApiError =>
  validationError(
    `A form here has no files, but the field "${name.slice(0, 100)}" is one. Upload files first (POST /upload), and write their ids into the document`,
  )
