// Reads a multipart form in place of a JSON body: its fields, with names such as `data[name]` or `data[tags][0]`. Files belong to
// POST /upload and are refused, because a response without them would look like success.
import type { IncomingMessage } from 'node:http'
import type { BusboyInstance } from '@fastify/busboy'
import qs from 'qs'
import { ApiError, validationError } from '../foundation/errors/errors.js'
import { nextTurn } from '../foundation/runtime/event-loop.js'
import { type BodyLimits, type ReadForm, readRawBody } from './body-parser.js'

/** The limits of a body that may be a form. */
export interface FormBodyLimits extends BodyLimits {
  readonly uploadFields: number
}

/** A field of a form: its name and text. */
type FormField = readonly [name: string, text: string]

/**
 * Reads a multipart form as a body. A field is a text: `data` with JSON is not an object, as in Strapi 5.
 * @throws what `readRawBody` throws; ApiError 400 for a malformed form and for one with files; 413 for too many fields
 */
export const readForm: ReadForm<FormBodyLimits> = async (request, incoming, limits) => {
  const bytes = await readRawBody(request, incoming, limits)
  const { fields, file } = await partsOf(request, bytes, limits)
  const body = nestedFields(fields)
  // A text in `data` is refused as such.
  if (file !== null && typeof body.data !== 'string') throw filesRefused(file)
  return body
}

/** The parts of a form: its fields, and the field of a file, if there is one. */
interface FormParts {
  readonly fields: readonly FormField[]
  readonly file: string | null
}

/** Levels of a name with brackets; deeper ones would stay a text. */
const deepest = 20

/** A text without halves of surrogate pairs, which have no encoding. */
const wellFormed = (text: string): string => text.replaceAll(/\p{Surrogate}/gu, '\ufffd')

/** Makes objects and lists of fields whose names have brackets, as in a query string. A repeated field is a list. */
export function nestedFields(fields: readonly FormField[]): Readonly<Record<string, unknown>> {
  const text = fields.map((field) => field.map((part) => encodeURIComponent(wellFormed(part))).join('=')).join('&')
  return qs.parse(text, { depth: deepest, arrayLimit: fields.length, parameterLimit: Number.POSITIVE_INFINITY })
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

const malformed = (): ApiError => new ApiError('BadRequestError', 'Malformed multipart body')

const tooDeep = (name: string): ApiError =>
  validationError(`The name of a field has at most ${deepest} levels: "${name.slice(0, 100)}" has more`)

/** Bytes that are parsed in one turn of the event loop. */
const piece = 65_536

/** Hands a body to its parser, other requests having turns in between, until it is over. */
async function feed(parser: BusboyInstance, bytes: Buffer, isOver: () => boolean): Promise<void> {
  for (let at = 0; at < bytes.length && !isOver(); at += piece) {
    parser.write(bytes.subarray(at, at + piece))
    if (at + piece < bytes.length) await nextTurn()
  }
  parser.end()
}

async function partsOf({ headers }: IncomingMessage, bytes: Buffer, limits: FormBodyLimits): Promise<FormParts> {
  const { Busboy } = (await import('@fastify/busboy')).default
  const { uploadFields: most, bodyBytes } = limits
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
        limits: { fields: most, parts: most + 1, fieldSize: bodyBytes, headerPairs: 20, headerSize: 16_384 },
        isPartAFile: (_name, _type, filename) => filename !== undefined,
      })
      parser.on('file', (name, stream, filename) => {
        stream.on('error', () => {})
        stream.resume()
        // A browser sends an empty file name if no file was chosen.
        if (filename) file ??= name ?? ''
      })
      parser.on('field', (name = '', value) => {
        if (name.split('[', deepest + 2).length > deepest + 1) refuse(tooDeep(name))
        fields.push([name, value])
      })
      const tooMany = () => refuse(new ApiError('PayloadTooLargeError', `A form must not have more than ${most} fields`))
      parser.on('fieldsLimit', tooMany)
      parser.on('partsLimit', tooMany)
      parser.on('error', () => refuse(malformed()))
      parser.on('finish', () => resolve({ fields, file }))
      feed(parser, bytes, () => isOver).catch(() => refuse(malformed()))
    } catch {
      refuse(malformed())
    }
  })
}

const filesRefused = (name: string): ApiError =>
  validationError(
    `A form here has no files, but the field "${name.slice(0, 100)}" is one. Upload files first (POST /upload), and write their ids into the document`,
  )
