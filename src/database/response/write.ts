// Writes the JSON of a read: objects from rows, from the leaves up. Where the rows come from is the driver's affair.
import type { Envelope, Fill, Level, MemberColumn, ReadPlan, Statement } from '../plan.js'
import { type Encoder, encoderFor, quote, signedEncoderFor } from './encode.js'
import type { Signer } from './signed-addresses.js'
import type { Sink } from './sink.js'

/** A row as a list of values, in the order of the columns of its statement. */
export type ResultRow = readonly unknown[]
/** The values of a request, which statements bind by their index. */
export type Values = readonly unknown[]

/** Input of a statement in addition to the request's values: the ids of the rows above as JSON, or the maximum number of rows to scan. */
export type LevelValue = string | number | null

/** The rows of one statement. */
export type Query = (values: Values, given: LevelValue) => readonly ResultRow[]

export type ListEnvelope = Envelope & { readonly kind: 'list' }

/** Source of rows and signatures. */
export interface ResponseSource {
  /** Prepares a statement of the plan; the result is called once for each read. */
  query(statement: Statement): Query
  /** Prepares a statement whose result is one number. */
  count(statement: Statement): (values: Values) => number
  /** Prepares the page of a list. The total is null where the envelope asks for none. */
  page(root: Level, envelope: ListEnvelope): (values: Values) => { readonly rows: readonly ResultRow[]; readonly total: number | null }
  /** Signs the addresses of private files; null where everyone may read them. */
  readonly signer: Signer | null
  /** Links without a place come last, and not first. */
  readonly nullsLast?: boolean
  /** Called while rows become text; throws if the response is no longer needed. */
  readonly look?: () => void
}

/** One read under way. */
interface ResponseRun {
  readonly values: Values
  readonly sink: Sink
}

/** Writes the objects of a level: one text for each row. */
type WriteObjects = (run: ResponseRun, rows: readonly ResultRow[]) => string[]

/** The text of every object of a level, by the row above. */
type Children = (run: ResponseRun, parents: string) => ReadonlyMap<number, readonly string[]>

/** Runs one read and writes its answer into the sink. False: nothing was found where one row was asked for. */
export type PreparedRead = (values: Values, sink: Sink) => boolean

/** Prepares the writer for the response of a plan. */
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

/** Writes objects between `head` and `tail`, piece by piece. */
function writeList(sink: Sink, head: string, objects: readonly string[], tail: string): void {
  sink.write(head)
  for (let index = 0; index < objects.length; index++) sink.write(index === 0 ? objects[index]! : `,${objects[index]!}`)
  sink.write(tail)
}

/** `meta.pagination` of a list; without a total where it was not asked for. */
function pagination({ style, start: startAt, limit: limitAt }: ListEnvelope, values: Values, total: number | null): string {
  const start = values[startAt] as number
  const limit = values[limitAt] as number
  if (style === 'offset') return `{"start":${start},"limit":${limit}${total === null ? '' : `,"total":${total}`}}`
  const page = Math.floor(start / limit) + 1
  return `{"page":${page},"pageSize":${limit}${total === null ? '' : `,"pageCount":${Math.ceil(total / limit)},"total":${total}`}}`
}

/** Rows that become text between two looks whether the answer is still wanted. */
const rowsBetweenLooks = 64

/** The writer of a level's objects: members from the row, then the attributes that other rows fill. */
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

/** The members of a file with signed addresses, and whether its own is one. */
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
  const places = members.map(({ at }) => at)
  const validity = members.map(({ validAt }) => validAt)
  const mark = constants.map((text) => `,${text}`).join('')
  return (row, filled) => {
    let object = ''
    for (let index = 0; index < encoders.length; index++)
      object += keys[index]! + encoders[index]!(row[places[index]!], row[validity[index]!])
    for (const text of filled) object += `,${text}`
    return `${object}${mark}}`
  }
}

/** `id` and `documentId` outside, everything else below `attributes` (the header `Strapi-Response-Format: v4`). */
function nestedWriter(members: readonly Member[], constants: readonly string[]): WriteRow {
  const outside = members.filter(({ name }) => name === 'id' || name === 'documentId')
  const inside = members.filter((member) => !outside.includes(member))
  return (row, filled) => {
    const write = ({ name, at, validAt, encode }: Member) => `${quote(name)}:${encode(row[at], row[validAt])}`
    let attributes = inside.map(write).join(',')
    // Filled attributes may be long, so they are appended, as in lists.
    for (const text of [...filled, ...constants]) attributes += attributes === '' ? text : `,${text}`
    const identity = outside.map((member) => `${write(member)},`).join('')
    return `{${identity}"attributes":{${attributes}}}`
  }
}

/** A JSON list. Texts are appended, not joined: joining would copy every level's text once more. */
function list(objects: readonly string[]): string {
  let text = '['
  for (let index = 0; index < objects.length; index++) text += index === 0 ? objects[index]! : `,${objects[index]!}`
  return `${text}]`
}

/** Loads a filled attribute for all rows above; the result gives its text for one of them. */
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

/** Sorts rows by their order columns. Links are mostly stored in their order already: then nothing is moved. */
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

/** Whether the rows of each parent are in order. Rows of several parents may alternate. */
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
