// Writes the JSON response of a read, bottom up: values by attribute type, then objects from rows. Drivers provide the rows.
import { type ApiError, validationError } from '../../foundation/errors/errors.js'
import type { ReadResult } from '../database.js'
import type { Envelope, Fill, Level, MemberColumn, ReadPlan, Statement } from '../plan.js'
import type { Signer } from './signed-addresses.js'

/** A row's values, in column order. */
export type ResultRow = readonly unknown[]
/** The request's values, bound by index. */
export type Values = readonly unknown[]

/** An additional bind parameter: the ids of the parent rows as JSON, or the scan bound. */
export type LevelValue = string | number | null

export type Query = (values: Values, given: LevelValue) => readonly ResultRow[]

export type ListEnvelope = Envelope & { readonly kind: 'list' }

interface ResponseSource {
  query(statement: Statement): Query
  count(statement: Statement): (values: Values) => number
  /** Prepares a page of a list. The total is null unless the envelope asks for it. */
  page(root: Level, envelope: ListEnvelope): (values: Values) => { readonly rows: readonly ResultRow[]; readonly total: number | null }
  /** Signs the URLs of private files; null: all files are public. */
  readonly signer: Signer | null
  /** True if links without a position sort last instead of first. */
  readonly nullsLast?: boolean
  /** Called periodically while rows are written; throws if the response is no longer needed. */
  readonly look?: () => void
}

interface ResponseRun {
  readonly values: Values
  readonly sink: Sink
}

/** Returns the JSON of each row. */
type WriteObjects = (run: ResponseRun, rows: readonly ResultRow[]) => string[]

/** Returns the JSON of child objects by parent id. */
type Children = (run: ResponseRun, parents: string) => ReadonlyMap<number, readonly string[]>

/** Executes a read and writes its response into the sink. False: the requested row does not exist. */
export type PreparedRead = (values: Values, sink: Sink) => boolean

export function prepareResponse(source: ResponseSource, { root, envelope }: ReadPlan): PreparedRead {
  if (envelope.kind === 'count') {
    const count = source.count(envelope.count)
    return (values, sink) => {
      sink.write(String(count(values)))
      return true
    }
  }
  const write = prepareLevel(source, root)
  if (envelope.kind === 'list') {
    const page = source.page(root, envelope)
    return (values, sink) => {
      const { rows, total } = page(values)
      const meta = `{"pagination":${pagination(envelope, values, total)}}`
      writeList(sink, '{"data":[', write({ values, sink }, rows), `],"meta":${meta}}`)
      return true
    }
  }
  const query = source.query(root.statement)
  return (values, sink) => {
    const objects = write({ values, sink }, query(values, null))
    if (envelope.kind === 'bareList') {
      writeList(sink, '[', objects, ']')
      return true
    }
    const [object] = objects
    if (object === undefined) return false
    sink.write(envelope.kind === 'one' ? `{"data":${object},"meta":{}}` : object)
    return true
  }
}

/** Writes piece by piece to avoid one large concatenation. */
function writeList(sink: Sink, head: string, objects: readonly string[], tail: string): void {
  sink.write(head)
  for (let index = 0; index < objects.length; index++) sink.write(index === 0 ? objects[index]! : `,${objects[index]!}`)
  sink.write(tail)
}

/** `meta.pagination` of a list, with a total only if it was requested. */
function pagination({ style, start: startAt, limit: limitAt }: ListEnvelope, values: Values, total: number | null): string {
  const start = values[startAt] as number
  const limit = values[limitAt] as number
  if (style === 'offset') return `{"start":${start},"limit":${limit}${total === null ? '' : `,"total":${total}`}}`
  const page = Math.floor(start / limit) + 1
  return `{"page":${page},"pageSize":${limit}${total === null ? '' : `,"pageCount":${Math.ceil(total / limit)},"total":${total}`}}`
}

/** Rows written between two calls of `look`. */
const rowsBetweenLooks = 64

/** Prepares the writer of a level's objects: members from the row, then attributes filled from other selects. */
function prepareLevel(source: ResponseSource, level: Level): WriteObjects {
  const { signer } = source
  const members = signer?.type === level.uid ? signedMembers(level, signer) : level.columns.map((column) => memberOf(column, level.uid))
  const constants = level.constants.map(({ name, json }) => `${quote(name)}:${json}`)
  const fills = level.fills.map((fill) => ({ key: `${quote(fill.name)}:`, load: prepareFill(source, fill) }))
  const writeRow = level.form === 'nested' ? nestedWriter(members, constants) : flatWriter(members, constants)
  const { idAt } = level
  const { look = () => {} } = source
  return (run, rows) => {
    if (rows.length === 0) return []
    const parents = fills.length === 0 ? '' : `[${[...new Set(rows.map((row) => row[idAt]))].join(',')}]`
    const loaded = fills.map(({ key, load }) => ({ key, of: load(run, parents) }))
    return rows.map((row, index) => {
      if (index % rowsBetweenLooks === 0) look()
      const filled = loaded.map(({ key, of }) => key + of(row[idAt] as number))
      return writeRow(row, filled)
    })
  }
}

const memberOf = (column: MemberColumn, uid: string): Member => ({
  name: column.name,
  at: column.at,
  validAt: column.validAt ?? column.at,
  encode: encoderFor(column, uid),
})

/** The members of a file with signed URLs, plus `isUrlSigned`. */
function signedMembers(level: Level, signer: Signer): readonly Member[] {
  const members = level.columns.map((column) => {
    const member = memberOf(column, level.uid)
    return { ...member, encode: signedEncoderFor(column, signer) ?? member.encode }
  })
  const address = members.find(({ name }) => name === 'url')
  if (address === undefined) return members
  const isSigned = (value: unknown) => String(typeof value === 'string' && signer.sign(value) !== null)
  return [...members, { ...address, name: 'isUrlSigned', encode: isSigned }]
}

interface Member {
  readonly name: string
  readonly at: number
  readonly validAt: number
  readonly encode: Encoder
}

type WriteRow = (row: ResultRow, filled: readonly string[]) => string

function flatWriter(members: readonly Member[], constants: readonly string[]): WriteRow {
  const keys = members.map(({ name }, index) => `${index === 0 ? '{' : ','}${quote(name)}:`)
  const encoders = members.map(({ encode }) => encode)
  const positions = members.map(({ at }) => at)
  const validity = members.map(({ validAt }) => validAt)
  const mark = constants.map((text) => `,${text}`).join('')
  return (row, filled) => {
    let object = ''
    for (let index = 0; index < encoders.length; index++)
      object += keys[index]! + encoders[index]!(row[positions[index]!], row[validity[index]!])
    for (const text of filled) object += `,${text}`
    return `${object}${mark}}`
  }
}

/** `id` and `documentId` at the top, all else in `attributes` (the header `Strapi-Response-Format: v4`). */
function nestedWriter(members: readonly Member[], constants: readonly string[]): WriteRow {
  const outside = members.filter(({ name }) => name === 'id' || name === 'documentId')
  const inside = members.filter((member) => !outside.includes(member))
  return (row, filled) => {
    const write = ({ name, at, validAt, encode }: Member) => `${quote(name)}:${encode(row[at], row[validAt])}`
    let attributes = inside.map(write).join(',')
    // Filled attributes may be long: append rather than join, as in `list`.
    for (const text of [...filled, ...constants]) attributes += attributes === '' ? text : `,${text}`
    const identity = outside.map((member) => `${write(member)},`).join('')
    return `{${identity}"attributes":{${attributes}}}`
  }
}

/** A JSON array. Texts are appended rather than joined: joining would copy every level's text again. */
function list(objects: readonly string[]): string {
  let text = '['
  for (let index = 0; index < objects.length; index++) text += index === 0 ? objects[index]! : `,${objects[index]!}`
  return `${text}]`
}

/** Loads a filled attribute for all parents; the result returns the JSON for one of them. */
type Load = (run: ResponseRun, parents: string) => (parent: number) => string

function prepareFill(source: ResponseSource, fill: Fill): Load {
  if (fill.kind === 'count') {
    const query = source.query(fill.statement)
    return (run, parents) => {
      const counts = new Map(query(run.values, parents) as unknown as readonly [number, number][])
      const write = (count: number) => (fill.wrapped ? `{"data":{"attributes":{"count":${count}}}}` : `{"count":${count}}`)
      return (parent) => write(counts.get(parent) ?? 0)
    }
  }
  const children = fill.kind === 'rows' ? prepareRows(source, fill.level) : prepareTyped(source, fill)
  const wrap = fill.wrapped ? (text: string) => `{"data":${text}}` : (text: string) => text
  const none = wrap(fill.many ? '[]' : 'null')
  const { many } = fill
  return (run, parents) => {
    const objects = children(run, parents)
    return (parent) => {
      const texts = objects.get(parent)
      if (texts === undefined) return none
      return wrap(many ? list(texts) : texts[0]!)
    }
  }
}

function prepareRows(source: ResponseSource, level: Level): Children {
  const inOrder = ordering(source, level.orderAt)
  const query = source.query(level.statement)
  const write = prepareLevel(source, level)
  return (run, parents) => {
    const rows = inOrder(query(run.values, parents))
    const objects = write(run, rows)
    const byParent = new Map<number, string[]>()
    for (let index = 0; index < rows.length; index++) append(byParent, rows[index]![level.parentAt!] as number, objects[index]!)
    return byParent
  }
}

function prepareTyped(source: ResponseSource, { links, levels }: Fill & { kind: 'typed' }): Children {
  const query = source.query(links)
  const inOrder = ordering(source, linkOrder)
  const prepared = new Map(Object.entries(levels).map(([uid, level]) => [uid, prepareRows(source, level)]))
  return (run, parents) => {
    const pairs = inOrder(query(run.values, parents)) as unknown as readonly [number, string, number][]
    const wanted = new Map<string, Set<number>>()
    for (const [, uid, id] of pairs) {
      if (!prepared.has(uid)) continue
      const ids = wanted.get(uid)
      if (ids === undefined) wanted.set(uid, new Set([id]))
      else ids.add(id)
    }
    const loaded = new Map([...wanted].map(([uid, ids]) => [uid, prepared.get(uid)!(run, `[${[...ids].join(',')}]`)]))
    const byParent = new Map<number, string[]>()
    for (const [parent, uid, id] of pairs) {
      const text = loaded.get(uid)?.get(id)
      if (text !== undefined) append(byParent, parent, text[0]!)
    }
    return byParent
  }
}

const linkOrder: readonly number[] = [3, 4]

/** Sorts rows by their order columns. Links are usually stored in order, so most calls sort nothing. */
function ordering({ nullsLast = false }: ResponseSource, orderAt: readonly number[]): (rows: readonly ResultRow[]) => readonly ResultRow[] {
  if (orderAt.length === 0) return (rows) => rows
  const beforeAll = nullsLast ? 1 : -1
  const compare = (a: ResultRow, b: ResultRow): number => {
    for (const at of orderAt) {
      const left = a[at] as number | string | null
      const right = b[at] as number | string | null
      if (left === right) continue
      if (left === null || right === null) return left === null ? beforeAll : -beforeAll
      return left < right ? -1 : 1
    }
    return 0
  }
  return (rows) => (isOrdered(rows, compare) ? rows : [...rows].sort(compare))
}

/** True if each parent's rows are in order. Rows of different parents may be interleaved. */
function isOrdered(rows: readonly ResultRow[], compare: (a: ResultRow, b: ResultRow) => number): boolean {
  const last = new Map<ResultRow[number], ResultRow>()
  for (let index = 1; index < rows.length; index++) {
    const before = rows[index - 1]!
    const row = rows[index]!
    const isSame = before[0] === row[0]
    if (!isSame) last.set(before[0]!, before)
    const previous = isSame ? before : last.get(row[0]!)
    if (previous !== undefined && compare(previous, row) > 0) return false
  }
  return true
}

function append(lists: Map<number, string[]>, key: number, text: string): void {
  const texts = lists.get(key)
  if (texts === undefined) lists.set(key, [text])
  else texts.push(text)
}

type Encoder = (value: unknown, valid: unknown) => string

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what JSON must escape
const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/

function quote(text: string): string {
  return needsEscape.test(text) ? JSON.stringify(text) : `"${text}"`
}

const text: Encoder = (value) => (typeof value === 'string' ? quote(value) : value === null ? 'null' : JSON.stringify(value))

const number: Encoder = (value) => (typeof value === 'number' ? (Number.isFinite(value) ? String(value) : 'null') : text(value, null))

const biginteger: Encoder = (value) => (value === null ? 'null' : `"${String(value)}"`)

const boolean: Encoder = (value) => (value === null ? 'null' : value === 0 || value === '0' || value === 'false' ? 'false' : 'true')

/** Milliseconds since 1970; other tools may have stored ISO text. */
const datetime: Encoder = (value) => {
  if (value === null) return 'null'
  const milliseconds = typeof value === 'number' ? value : Date.parse(value as string)
  return Math.abs(milliseconds) <= maxTime ? `"${iso(milliseconds)}"` : 'null'
}

/** The latest time that a Date can represent. */
const maxTime = 8_640_000_000_000_000
const dayLength = 86_400_000
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))
/** ISO texts of recent days: dates cluster, and Date's own formatting takes a tenth of a list's time. */
const days = new Map<number, string>()

function iso(milliseconds: number): string {
  const day = Math.floor(milliseconds / dayLength)
  const rest = Math.trunc(milliseconds) - day * dayLength
  const hour = Math.floor(rest / 3_600_000)
  const minute = Math.floor(rest / 60_000) % 60
  const second = Math.floor(rest / 1000) % 60
  return `${dayText(day)}T${twoDigits[hour]}:${twoDigits[minute]}:${twoDigits[second]}.${String((rest % 1000) + 1000).slice(1)}Z`
}

function dayText(day: number): string {
  let text = days.get(day)
  if (text === undefined) {
    const full = new Date(day * dayLength).toISOString()
    text = full.slice(0, full.indexOf('T'))
    if (days.size >= 4096) days.clear()
    days.set(day, text)
  }
  return text
}

const timestamp: Encoder = (value) => (value === null ? 'null' : `"${String(value)}"`)

/**
 * Valid JSON is written unchanged, other text as a string (resources.12). Strings are stored without quotes: a quoted one is written as its
 * content if that is itself JSON, as in Strapi.
 */
const json: Encoder = (value, valid) => {
  if (typeof value !== 'string') return value === null ? 'null' : number(value, null)
  if (valid !== 1) return quote(value)
  return /^\s*"/.test(value) ? (innerJson(value) ?? quote(value)) : value
}

function innerJson(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(JSON.parse(text) as string))
  } catch {
    return null
  }
}

const encoders: Readonly<Record<Exclude<MemberColumn['answer'], 'componentDocumentId'>, Encoder>> = {
  text,
  number,
  biginteger,
  boolean,
  datetime,
  timestamp,
  json,
  never: () => 'null',
}

/** The encoder of a result column. `uid` seeds the documentIds of components. */
function encoderFor(column: MemberColumn, uid: string): Encoder {
  return column.answer === 'componentDocumentId' ? (value) => `"${componentDocumentId(uid, value as number)}"` : encoders[column.answer]
}

/** The encoder of a file's columns that contain URLs; null for other columns. */
function signedEncoderFor({ name }: MemberColumn, signer: Signer): Encoder | null {
  const signed = (address: unknown) => (typeof address === 'string' ? signer.sign(address) : null)
  if (name === 'url') return (value) => text(signed(value) ?? value, null)
  if (name !== 'formats') return null
  return (value, valid) => {
    if (typeof value !== 'string' || valid !== 1) return json(value, valid)
    const formats = Object.entries((JSON.parse(value) ?? {}) as Readonly<Record<string, { readonly url?: unknown } | null>>)
    const withSigned = formats.map(([key, format]) => {
      const url = signed(format?.url)
      return [key, url === null ? format : { ...format, url, isUrlSigned: true }]
    })
    return JSON.stringify(Object.fromEntries(withSigned))
  }
}

const letters = 'abcdefghijklmnopqrstuvwxyz'
const alphabet = `${letters}0123456789`

/**
 * A stable documentId for a component row: 24 lower-case letters and digits, the first a letter, derived from the component's uid and the
 * row id (contract, row 1). Not a secret: the row's id is public.
 */
function componentDocumentId(uid: string, id: number): string {
  let state = 0x811c9dc5
  for (let index = 0; index < uid.length; index++) state = Math.imul(state ^ uid.charCodeAt(index), 0x01000193)
  state = Math.imul(state ^ id, 0x85ebca6b) ^ Math.floor(id / 2 ** 32)
  let documentId = ''
  for (let index = 0; index < 24; index++) {
    // One step of a 32-bit mixer per character.
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    const drawn = (mixed ^ (mixed >>> 15)) >>> 0
    documentId += index === 0 ? letters[drawn % 26] : alphabet[drawn % 36]
  }
  return documentId
}

export interface Sink {
  /** Starts a response in `room`, moving it to separate memory if it outgrows the room. */
  begin(room: Buffer): void
  /** Appends text as UTF-8. @throws ResponseTooLarge beyond the limit */
  write(text: string): void
  /** The length of the response, and its bytes if it outgrew the room. */
  end(): { readonly length: number; readonly own: Uint8Array<ArrayBuffer> | null }
}

/** The response exceeds `responseBytes`. */
export class ResponseTooLarge extends Error {}
/** Also recognizes a text that would exceed the maximum string length. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof ResponseTooLarge || (error instanceof RangeError && error.message === 'Invalid string length')
export const responseTooLargeCode = 'ANSWER_TOO_LARGE'
export const responseTooLarge = (): ApiError => validationError('The answer is too large, ask for fewer entries or fewer populated levels')

/** Creates a sink for responses of up to `limit` bytes. */
export function createSink(limit: number): Sink {
  let buffer: Buffer = Buffer.alloc(0)
  let length = 0
  let own: Buffer<ArrayBuffer> | null = null

  function grow(needed: number): void {
    if (length + needed / 3 > limit) throw new ResponseTooLarge()
    own = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, length + needed))
    buffer.copy(own, 0, 0, length)
    buffer = own
  }

  return {
    begin: (room) => {
      buffer = room
      length = 0
      own = null
    },
    write: (text) => {
      // UTF-8 takes up to three bytes per UTF-16 unit.
      const maxBytes = text.length * 3
      if (length + maxBytes > buffer.length) grow(maxBytes)
      length += buffer.write(text, length, 'utf8')
      if (length > limit) throw new ResponseTooLarge()
    },
    end: () => ({ length, own: own === null ? null : own.subarray(0, length) }),
  }
}

/** The response as text, `null` if there is none. Releases it. */
export const toText = (response: ReadResult): string => {
  if (response === null) return 'null'
  const text = Buffer.from(response.bytes).toString('utf8')
  response.release()
  return text
}
