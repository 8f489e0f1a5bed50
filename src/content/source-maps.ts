// Content source maps for visual editors (`Strapi-Encode-Source-Maps`): appends the origin of each text in a response, as invisible
// characters. Works on finished responses, so other reads have no overhead.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ReadBytes } from '../database/database.js'
import { endOfString } from '../foundation/runtime/json-structure.js'
import { fileType } from '../model/schema/link.js'
import type { Attribute, ContentType, Model, Schema } from '../model/schema/types.js'

/** Adds source maps to a flat response with documents of `type`. A response that would exceed a limit stays unchanged. */
export type AddSourceMaps = (model: Model, type: ContentType, response: ReadBytes) => Promise<ReadBytes>

type MarkedObject = Record<string, unknown>

/** The common part of all marks of one document, and the counter of their bytes. */
interface Walk {
  readonly model: Model
  readonly documentId: string
  readonly locale: unknown
  /** Counts bytes; false beyond the limit. */
  readonly spend: (bytes: number) => boolean
}

/** Thrown if a response would become too large; always caught in this file. */
const tooLarge = Symbol('the response with source maps is too large')

/** Attributes without marks, in addition to uids: clients compare them or use them in links. */
const bareNames = new Set(['documentId', 'locale', 'localizations', 'publishedAt'])

/** Invisible characters for two bits each, and the prefix of a mark, as in `@vercel/stega`. */
const signs = ['\u200b', '\u200c', '\u200d', '\ufeff'] as const
const opening = signs[0].repeat(4)
const hiddenTexts = Array.from({ length: 256 }, (_, byte) => [6, 4, 2, 0].map((shift) => signs[(byte >> shift) & 3]).join(''))
/** Four characters per byte in one 64-bit cell: three times as fast as joining strings. */
const hidden = new BigUint64Array(Uint8Array.from(Buffer.from(hiddenTexts.join(''), 'utf16le')).buffer)
/** UTF-8 bytes of each character. */
const bytesOfSign = 3

/** Milliseconds of work before the event loop serves other requests. */
const turnLength = 10

/** Maximum share of one response in all responses not yet sent. */
const responseShare = 0.06

/** Limits the bytes of one response, and of all responses not yet sent. */
export function openSourceMaps({ maxBufferedResponseBytes }: { readonly maxBufferedResponseBytes: number }): AddSourceMaps {
  const maxBytes = maxBufferedResponseBytes * responseShare
  let unsent = 0
  let lastTurn = Promise.resolve()
  /** Resolves in a later turn of the event loop, for one response at a time. */
  const takeTurn = (): Promise<void> => {
    lastTurn = lastTurn.then(() => nextTurn())
    return lastTurn
  }
  return async (model, type, response) => {
    let bytes = 0
    const spend = (more: number): boolean => {
      bytes += more
      unsent += more
      return bytes <= maxBytes && unsent <= maxBufferedResponseBytes
    }
    const giveBack = (): void => {
      unsent -= bytes
      bytes = 0
    }
    try {
      if (!spend(response.bytes.length)) throw tooLarge
      const marked = await markResponse(model, type, response, spend, takeTurn)
      response.release()
      return { bytes: marked, release: giveBack }
    } catch (error) {
      giveBack()
      // RangeError: the JSON is too deeply nested to serialize again.
      if (error === tooLarge || error instanceof RangeError) return response
      response.release()
      throw error
    }
  }
}

async function markResponse(
  model: Model,
  type: ContentType,
  response: ReadBytes,
  spend: Walk['spend'],
  takeTurn: () => Promise<void>,
): Promise<Buffer> {
  const bytes = Buffer.from(response.bytes.buffer, response.bytes.byteOffset, response.bytes.length)
  if (bytes.subarray(0, head.length).toString() !== head) throw tooLarge
  const isList = bytes[head.length] === bracket
  let at = isList ? head.length + 1 : head.length
  const pieces: Buffer[] = [bytes.subarray(0, at)]
  let begun = 0
  while (bytes[at] === brace) {
    if (performance.now() - begun > turnLength) {
      await takeTurn()
      begun = performance.now()
    }
    const end = endOfObject(bytes, at)
    pieces.push(markPiece(model, type, bytes.subarray(at, end), spend))
    at = isList && bytes[end] === comma ? end + 1 : end
    if (at > end) pieces.push(bytes.subarray(end, at))
  }
  pieces.push(bytes.subarray(at))
  return Buffer.concat(pieces)
}

const head = '{"data":'
const brace = 0x7b
const braceEnd = 0x7d
const bracket = 0x5b
const comma = 0x2c
const quote = 0x22
/** Larger entries stay unchanged, because marking them would block the event loop. */
const longestEntry = 500_000

function markPiece(model: Model, type: ContentType, bytes: Buffer, spend: Walk['spend']): Buffer {
  if (bytes.length > longestEntry) return bytes
  const entry = JSON.parse(bytes.toString('utf8')) as MarkedObject
  markEntry({ model, documentId: String(entry.documentId), locale: entry.locale, spend }, type, entry, '')
  return Buffer.from(JSON.stringify(entry))
}

/** Returns the index after the object that starts at `from`. */
function endOfObject(bytes: Buffer, from: number): number {
  let depth = 0
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfString(bytes, at)
    else if (byte === brace) depth++
    else if (byte === braceEnd && --depth === 0) return at + 1
  }
  return bytes.length
}

const isBody = (value: unknown): value is MarkedObject => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Marks the texts of an entry. `prefix`: its path in the document, empty or with a trailing dot. */
function markEntry(walk: Walk, shape: Schema, entry: MarkedObject, prefix: string): void {
  for (const name of Object.keys(entry)) {
    const attribute = shape.attributes.get(name)
    const value = entry[name]
    if (attribute === undefined || value === null) continue
    if (attribute.kind !== 'scalar') markInside(walk, attribute, value, prefix + name)
    else if (attribute.type === 'uid' || bareNames.has(name)) continue
    else if (typeof value === 'string') entry[name] = value + markOf(walk, shape, attribute.type, prefix + name)
    else if (attribute.type === 'blocks') markBlocks(value, markOf(walk, shape, 'blocks', prefix + name, true), walk)
  }
}

/**
 * Marks nested entries. Paths contain the index of list entries, except for files. The inverse side of a polymorphic relation has no marks.
 */
function markInside(walk: Walk, attribute: Exclude<Attribute, { kind: 'scalar' }>, value: unknown, path: string): void {
  for (const [index, entry] of Array.isArray(value) ? value.entries() : [[-1, value] as const]) {
    const shape = isBody(entry) ? shapeOf(walk.model, attribute, entry) : undefined
    const at = index === -1 || attribute.kind === 'media' ? path : `${path}.${index}`
    if (shape !== undefined) markEntry(walk, shape, entry, `${at}.`)
  }
}

function shapeOf(
  { types, components }: Model,
  attribute: Exclude<Attribute, { kind: 'scalar' }>,
  { __type, __component }: MarkedObject,
): Schema | undefined {
  switch (attribute.kind) {
    case 'relation':
      return types.get(attribute.target)
    case 'morphTo':
      return types.get(String(__type))
    case 'media':
      return types.get(fileType)
    case 'component':
      return components.get(attribute.component)
    case 'dynamiczone':
      return components.get(String(__component))
    case 'morphFrom':
      return undefined
  }
}

/** Marks the first text of every block and list item, and alternative texts of images, but not code. */
function markBlocks(blocks: unknown, mark: string, walk: Walk): void {
  for (const block of Array.isArray(blocks) ? blocks.filter(isBody) : []) {
    const { type, image, children } = block
    if (type === 'list') markBlocks(children, mark, walk)
    else if (type === 'image') markText(image, 'alternativeText', mark, walk)
    else if (type !== 'code') markFirstText(children, mark, walk)
  }
}

/** Marks the first text; false if there is none. */
function markFirstText(nodes: unknown, mark: string, walk: Walk): boolean {
  return (
    Array.isArray(nodes) &&
    nodes.some(
      (node) => isBody(node) && (node.type === 'text' ? markText(node, 'text', mark, walk) : markFirstText(node.children, mark, walk)),
    )
  )
}

function markText(holder: unknown, name: 'text' | 'alternativeText', mark: string, { spend }: Walk): boolean {
  const text = isBody(holder) ? holder[name] : null
  // Images without alternative text are not marked; empty paragraphs are, because editors type there.
  if (!isBody(holder) || typeof text !== 'string' || (name === 'alternativeText' && text === '')) return false
  if (!spend(mark.length * bytesOfSign)) throw tooLarge
  holder[name] = text + mark
  return true
}

/** Creates the mark of a text. Paths in components are relative to the document, whose id and locale are in every mark. */
function markOf({ documentId, locale, spend }: Walk, shape: Schema, type: string, path: string, inBlocks = false): string {
  const source = new URLSearchParams({ documentId, type, path, model: shape.uid })
  if (shape.kind === 'contentType') source.set('kind', shape.singleType ? 'singleType' : 'collectionType')
  if (typeof locale === 'string') source.set('locale', locale)
  if (inBlocks) source.set('fieldPath', path)
  const mark = opening + hide(JSON.stringify({ strapiSource: source.toString() }))
  if (!inBlocks && !spend(mark.length * bytesOfSign)) throw tooLarge
  return mark
}

/** Reusable buffer for building marks one at a time. */
let cells = new BigUint64Array(512)

/** Encodes ASCII as invisible characters. */
function hide(text: string): string {
  if (text.length > cells.length) cells = new BigUint64Array(text.length)
  for (let index = 0; index < text.length; index++) cells[index] = hidden[text.charCodeAt(index)]!
  return Buffer.from(cells.buffer, 0, text.length * BigUint64Array.BYTES_PER_ELEMENT).toString('utf16le')
}
