// Runs a plan on one connection and writes the answer as JSON text: root rows, then one statement per populated
// attribute for all rows above, then the objects, from the leaves up.
import type Database from 'better-sqlite3'
import type { Encoder } from '../answer/encode.js'
import { encoderOf, quote, signedEncoderOf } from '../answer/encode.js'
import type { Signer } from '../answer/signed-addresses.js'
import type { Sink } from '../answer/sink.js'
import type { Column, Envelope, Fill, Level, ReadPlan } from '../plan.js'
import { preparePages } from './access-paths.js'
import type { Row, Values } from './statement.js'
import { prepareCount, prepareQuery } from './statement.js'
import { openTotals } from './totals.js'

/** Runs one read and writes its answer into the sink. False: nothing was found where one row was asked for. */
export type PreparedRead = (values: Values, sink: Sink) => boolean

interface Run {
  readonly values: Values
  readonly sink: Sink
}

/** The text of every object of a level, by the row above. */
type Children = (run: Run, parents: string) => ReadonlyMap<number, readonly string[]>

/** What plans are prepared for: a connection, and who signs the addresses of files where not everyone may read them. */
export interface Source {
  readonly database: Database.Database
  readonly signer: Signer | null
  /** Called while rows become text; throws where the answer is not wanted any more. */
  readonly look?: () => void
}

/** Prepares a plan's statements and its writers. */
export function prepareRead(source: Source, plan: ReadPlan, transaction: 'own' | 'inside' = 'own'): PreparedRead {
  const begin = source.database.prepare('begin')
  const commit = source.database.prepare('commit')
  const read = prepareEnvelope(plan.unsigned === true ? { ...source, signer: null } : source, plan)
  return (values, sink) => {
    const run: Run = { values, sink }
    if (transaction === 'inside') return read(run)
    // One answer is one snapshot: all statements of a plan see the same rows, and the same schema.
    begin.run()
    try {
      return read(run)
    } finally {
      commit.run()
    }
  }
}

function prepareEnvelope(source: Source, { root, envelope }: ReadPlan): (run: Run) => boolean {
  if (envelope.kind === 'count') {
    const count = prepareCount(source.database, envelope.count)
    return (run) => {
      run.sink.write(String(count(run.values)))
      return true
    }
  }
  const write = prepareLevel(source, root)
  if (envelope.kind === 'list') return listEnvelope(source, root, envelope, write)
  const query = prepareQuery(source.database, root.statement)
  return (run) => {
    const objects = write(run, query(run.values, null))
    if (envelope.kind === 'bareList') {
      writeList(run.sink, '[', objects, ']')
      return true
    }
    const [object] = objects
    if (object === undefined) return false
    run.sink.write(envelope.kind === 'one' ? `{"data":${object},"meta":{}}` : object)
    return true
  }
}

function listEnvelope(source: Source, root: Level, envelope: Envelope & { kind: 'list' }, write: Write): (run: Run) => boolean {
  const { database } = source
  const count = envelope.count === null ? null : prepareCount(database, envelope.count)
  const totals = openTotals(database)
  const { page, counted } = preparePages(database, root.statement, envelope)
  return (run) => {
    const { values } = run
    const start = values[envelope.start] as number
    const limit = values[envelope.limit] as number
    const known = count === null ? null : totals.recall(values)
    let total = known === null ? null : known.total
    const began = performance.now()
    const isUnknown = count !== null && total === null
    const { rows, seen } = isUnknown && counted !== null ? counted(values) : page(values, known)
    if (isUnknown) {
      if (rows.length < limit && (rows.length > 0 || start === 0)) total = start + rows.length
      else total = rows.length > 0 && counted !== null ? (rows[0]!.at(-1) as number) : count(values)
      totals.remember(values, { total, seen }, performance.now() - began)
    }
    writeList(run.sink, '{"data":[', write(run, rows), `],"meta":{"pagination":${pagination(envelope.style, start, limit, total)}}}`)
    return true
  }
}

function writeList(sink: Sink, head: string, objects: readonly string[], tail: string): void {
  sink.write(head)
  for (let index = 0; index < objects.length; index++) sink.write(index === 0 ? objects[index]! : `,${objects[index]!}`)
  sink.write(tail)
}

function pagination(style: 'page' | 'offset', start: number, limit: number, total: number | null): string {
  if (style === 'offset') return `{"start":${start},"limit":${limit}${total === null ? '' : `,"total":${total}`}}`
  const page = Math.floor(start / limit) + 1
  return `{"page":${page},"pageSize":${limit}${total === null ? '' : `,"pageCount":${Math.ceil(total / limit)},"total":${total}`}}`
}

/** Rows that become text between two looks whether the answer is still wanted. */
const rowsBetweenLooks = 64

type Write = (run: Run, rows: readonly Row[]) => string[]

/** The writer of a level's objects: members from the row, then the attributes that other rows fill. */
function prepareLevel(source: Source, level: Level): Write {
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

const memberOf = (column: Column, uid: string): Member => ({
  name: column.name,
  at: column.at,
  validAt: column.validAt ?? column.at,
  encode: encoderOf(column, uid),
})

/** The members of a file with signed addresses, and whether its own is one. */
function signedMembers(level: Level, signer: Signer): readonly Member[] {
  const members = level.columns.map((column) => {
    const member = memberOf(column, level.uid)
    return { ...member, encode: signedEncoderOf(column, signer) ?? member.encode }
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

type WriteRow = (row: Row, filled: readonly string[]) => string

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
    // What is filled in may be long: it is appended, as in lists.
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
type Load = (run: Run, parents: string) => (parent: number) => string

function prepareFill(source: Source, fill: Fill): Load {
  if (fill.kind === 'count') {
    const query = prepareQuery(source.database, fill.statement)
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

function prepareRows(source: Source, level: Level): Children {
  const { orderAt } = level
  const query = prepareQuery(source.database, level.statement)
  const write = prepareLevel(source, level)
  return (run, parents) => {
    const rows = inOrder(query(run.values, parents), orderAt)
    const objects = write(run, rows)
    const byParent = new Map<number, string[]>()
    for (let index = 0; index < rows.length; index++) append(byParent, rows[index]![level.parentAt!] as number, objects[index]!)
    return byParent
  }
}

function prepareTyped(source: Source, { links, levels }: Fill & { kind: 'typed' }): Children {
  const query = prepareQuery(source.database, links)
  const prepared = new Map(Object.entries(levels).map(([uid, level]) => [uid, prepareRows(source, level)]))
  return (run, parents) => {
    const pairs = inOrder(query(run.values, parents), linkOrder) as unknown as readonly [number, string, number][]
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

/** Rows by their order columns. Links are mostly stored in their order already: then nothing is moved. */
function inOrder(rows: readonly Row[], orderAt: readonly number[]): readonly Row[] {
  if (orderAt.length === 0) return rows
  const compare = (a: Row, b: Row): number => {
    for (const at of orderAt) {
      const [left, right] = [a[at] as number | string | null, b[at] as number | string | null]
      if (left === right) continue
      if (left === null || right === null) return left === null ? -1 : 1
      return left < right ? -1 : 1
    }
    return 0
  }
  for (let index = 1; index < rows.length; index++) {
    const [before, row] = [rows[index - 1]!, rows[index]!]
    if (before[0] === row[0] && compare(before, row) > 0) return [...rows].sort(compare)
  }
  return rows
}

function append(lists: Map<number, string[]>, key: number, text: string): void {
  const texts = lists.get(key)
  if (texts === undefined) lists.set(key, [text])
  else texts.push(text)
}
