// Where the texts of an answer come from, written behind each of them in characters that nobody sees, for front ends that let
// editors click on what they see (`strapi-encode-source-maps`). Done to the finished answer: no other read pays for it.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ReadBytes } from '../database/database.js'
import { fileType } from '../model/link.js'
import type { Attribute, Component, ContentType, Model } from '../model/types.js'
import { endOfText } from '../runtime/json-structure.js'

/** Marks the texts of a flat answer about documents of `type`. An answer that would grow beyond a limit stays as it is. */
export type AddSourceMaps = (model: Model, type: ContentType, answer: ReadBytes) => Promise<ReadBytes>

type Body = Record<string, unknown>

/** What all marks of one document have in common, and where their bytes are counted. */
interface Walk {
  readonly model: Model
  readonly documentId: string
  readonly locale: unknown
  /** False: there is no room for so many more bytes. */
  readonly spend: (bytes: number) => boolean
}

/** Thrown where an answer would grow too large, and caught before anyone sees it. */
const tooLarge = Symbol('the marked answer is too large')

/** Attributes of these names have no marks, nor have uids: clients compare and link with them. */
const bareNames = new Set(['documentId', 'locale', 'localizations', 'publishedAt'])

/** Two bits each, and what they begin with: the encoding that `@vercel/stega` reads. */
const signs = ['\u200b', '\u200c', '\u200d', '\ufeff'] as const
const opening = signs[0].repeat(4)
const hiddenTexts = Array.from({ length: 256 }, (_, byte) => [6, 4, 2, 0].map((shift) => signs[(byte >> shift) & 3]).join(''))
/** The four signs of each byte in one cell: text that is put together from cells costs a third of text from strings. */
const hidden = new BigUint64Array(Uint8Array.from(Buffer.from(hiddenTexts.join(''), 'utf16le')).buffer)
/** UTF-8 needs so many bytes for each of the signs. */
const bytesOfSign = 3

/** Milliseconds of marking after which other requests have their turn. */
const turnLength = 10

/** Opens the marking of answers, each of at most `sourceMapBytes` and `maxBufferedResponseBytes` of all that clients have not taken yet. */
export function openSourceMaps({
  sourceMapBytes,
  maxBufferedResponseBytes,
}: {
  sourceMapBytes: number
  maxBufferedResponseBytes: number
}): AddSourceMaps {
  let unsent = 0
  let lastTurn = Promise.resolve()
  /** Resolves when everything else has been looked after since another answer was marked. */
  const takeTurn = (): Promise<void> => {
    lastTurn = lastTurn.then(() => nextTurn())
    return lastTurn
  }
  return async (model, type, answer) => {
    let bytes = 0
    const spend = (more: number): boolean => {
      bytes += more
      unsent += more
      return bytes <= sourceMapBytes && unsent <= maxBufferedResponseBytes
    }
    const giveBack = (): void => {
      unsent -= bytes
      bytes = 0
    }
    try {
      if (!spend(answer.bytes.length)) throw tooLarge
      const marked = await markAnswer(model, type, answer, spend, takeTurn)
      answer.release()
      return { bytes: marked, release: giveBack }
    } catch (error) {
      giveBack()
      // A RangeError is JSON that is nested more deeply than it can be written again.
      if (error === tooLarge || error instanceof RangeError) return answer
      throw error
    }
  }
}

async function markAnswer(
  model: Model,
  type: ContentType,
  answer: ReadBytes,
  spend: Walk['spend'],
  takeTurn: () => Promise<void>,
): Promise<Buffer> {
  const bytes = Buffer.from(answer.bytes.buffer, answer.bytes.byteOffset, answer.bytes.length)
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

/** How an answer begins. */
const head = '{"data":'
const [brace, braceEnd, bracket, comma, quote] = [0x7b, 0x7d, 0x5b, 0x2c, 0x22]
/** Bytes of one entry beyond which it stays as it is: it would take too long in one piece. */
const longestEntry = 500_000

/** An entry with its marks. */
function markPiece(model: Model, type: ContentType, bytes: Buffer, spend: Walk['spend']): Buffer {
  if (bytes.length > longestEntry) return bytes
  const entry = JSON.parse(bytes.toString('utf8')) as Body
  markEntry({ model, documentId: String(entry.documentId), locale: entry.locale, spend }, type, entry, '')
  return Buffer.from(JSON.stringify(entry))
}

/** The place behind the object that begins at `from`. */
function endOfObject(bytes: Buffer, from: number): number {
  let depth = 0
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfText(bytes, at)
    else if (byte === brace) depth++
    else if (byte === braceEnd && --depth === 0) return at + 1
  }
  return bytes.length
}

const isBody = (value: unknown): value is Body => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Marks what an entry shows. `prefix` is where it stands in its document: empty, or with a dot at the end. */
function markEntry(walk: Walk, shape: ContentType | Component, entry: Body, prefix: string): void {
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

/** Entries of lists have their place in the path; files have none. The other side of a polymorphic relation has no marks. */
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
  { __type, __component }: Body,
): ContentType | Component | undefined {
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

/** The first text of every block and of every item of a list, and what a picture shows; code stays as it is. */
function markBlocks(blocks: unknown, mark: string, walk: Walk): void {
  for (const block of Array.isArray(blocks) ? blocks.filter(isBody) : []) {
    const { type, image, children } = block
    if (type === 'list') markBlocks(children, mark, walk)
    else if (type === 'image') markText(image, 'alternativeText', mark, walk)
    else if (type !== 'code') markFirstText(children, mark, walk)
  }
}

/** True when there was a text. */
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
  // A picture without a description has nothing to mark; an empty paragraph is where one types.
  if (!isBody(holder) || typeof text !== 'string' || (name === 'alternativeText' && text === '')) return false
  if (!spend(mark.length * bytesOfSign)) throw tooLarge
  holder[name] = text + mark
  return true
}

/** What stands behind a text. Paths inside a component begin at the document, whose id and locale all of its marks have. */
function markOf({ documentId, locale, spend }: Walk, shape: ContentType | Component, type: string, path: string, inBlocks = false): string {
  const source = new URLSearchParams({ documentId, type, path, model: shape.uid })
  if (shape.kind === 'contentType') source.set('kind', shape.singleType ? 'singleType' : 'collectionType')
  if (typeof locale === 'string') source.set('locale', locale)
  if (inBlocks) source.set('fieldPath', path)
  const mark = opening + hide(JSON.stringify({ strapiSource: source.toString() }))
  if (!inBlocks && !spend(mark.length * bytesOfSign)) throw tooLarge
  return mark
}

/** Where marks are put together; one after the other, so one place is enough. */
let cells = new BigUint64Array(512)

/** ASCII in signs that nobody sees. */
function hide(text: string): string {
  if (text.length > cells.length) cells = new BigUint64Array(text.length)
  for (let index = 0; index < text.length; index++) cells[index] = hidden[text.charCodeAt(index)]!
  return Buffer.from(cells.buffer, 0, text.length * BigUint64Array.BYTES_PER_ELEMENT).toString('utf16le')
}
