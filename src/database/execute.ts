// Runs a plan on one connection and writes the answer as JSON text: root rows, then one statement per populated
// attribute for all rows above, then the objects, from the leaves up.
import type Database from 'better-sqlite3'
import type { Encoder } from './encode.js'
import { encoderOf, quote } from './encode.js'
import type { Envelope, Fill, Level, Parameter, ReadPlan, Statement } from './plan.js'
import type { Sink } from './sink.js'
import { openTotals } from './totals.js'

type Row = readonly unknown[]
type Values = readonly unknown[]

/** Runs one read and writes its answer into the sink. False: nothing was found where one row was asked for. */
export type PreparedRead = (values: Values, sink: Sink) => boolean

interface Run {
  readonly values: Values
  readonly sink: Sink
}

type Query = (run: Run, parents: string | null) => readonly Row[]
/** The text of every object of a level, by the row above. */
type Children = (run: Run, parents: string) => ReadonlyMap<number, readonly string[]>

/** Prepares a plan's statements and its writers on `database`. */
export function prepareRead(database: Database.Database, plan: ReadPlan, transaction: 'own' | 'inside' = 'own'): PreparedRead {
  const begin = database.prepare('begin')
  const commit = database.prepare('commit')
  const read = prepareEnvelope(database, plan)
  // One answer is one snapshot: all statements of a plan see the same state of the database.
  const severalStatements = transaction === 'own' && (plan.root.fills.length > 0 || plan.envelope.kind === 'list')
  return (values, sink) => {
    const run: Run = { values, sink }
    if (!severalStatements) return read(run)
    begin.run()
    try {
      return read(run)
    } finally {
      commit.run()
    }
  }
}

function prepareEnvelope(database: Database.Database, { root, envelope }: ReadPlan): (run: Run) => boolean {
  if (envelope.kind === 'count') {
    const count = prepareCount(database, envelope.count)
    return (run) => {
      run.sink.write(String(count(run)))
      return true
    }
  }
  const query = prepareQuery(database, root.statement)
  const write = prepareLevel(database, root)
  if (envelope.kind === 'list') return listEnvelope(database, envelope, query, write)
  return (run) => {
    const objects = write(run, query(run, null))
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

function listEnvelope(
  database: Database.Database,
  envelope: Envelope & { kind: 'list' },
  query: Query,
  write: Write,
): (run: Run) => boolean {
  const count = envelope.count === null ? null : prepareCount(database, envelope.count)
  const counted = envelope.counted === null ? null : prepareQuery(database, envelope.counted)
  const totals = openTotals(database)
  return (run) => {
    const start = run.values[envelope.start] as number
    const limit = run.values[envelope.limit] as number
    let total = count === null ? null : totals.recall(run.values)
    const began = performance.now()
    const rows = total === null && counted !== null ? counted(run, null) : query(run, null)
    if (count !== null && total === null) {
      if (rows.length < limit && (rows.length > 0 || start === 0)) total = start + rows.length
      else total = rows.length > 0 && counted !== null ? (rows[0]!.at(-1) as number) : count(run)
      totals.remember(run.values, total, performance.now() - began)
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
  const page = start / limit + 1
  return `{"page":${page},"pageSize":${limit}${total === null ? '' : `,"pageCount":${Math.ceil(total / limit)},"total":${total}`}}`
}

function prepareQuery(database: Database.Database, { sql, parameters }: Statement): Query {
  const statement = database.prepare(sql).raw()
  const bound = parameters.map(binder)
  return (run, parents) => statement.all(bound.map((bind) => bind(run.values, parents))) as Row[]
}

function prepareCount(database: Database.Database, statement: Statement): (run: Run) => number {
  const query = prepareQuery(database, statement)
  return (run) => query(run, null)[0]![0] as number
}

function binder(parameter: Parameter): (values: Values, parents: string | null) => unknown {
  if (parameter.from === 'parents') return (_values, parents) => parents
  if (parameter.from === 'constant') return () => parameter.value
  return (values) => values[parameter.index]
}

type Write = (run: Run, rows: readonly Row[]) => string[]

/** The writer of a level's objects: members from the row, then the attributes that other rows fill. */
function prepareLevel(database: Database.Database, level: Level): Write {
  const members = level.columns.map((column) => ({
    name: column.name,
    at: column.at,
    validAt: column.validAt ?? column.at,
    encode: encoderOf(column, level.uid),
  }))
  const constants = level.constants.map(({ name, json }) => `${quote(name)}:${json}`)
  const fills = level.fills.map((fill) => ({ key: `${quote(fill.name)}:`, load: prepareFill(database, fill) }))
  const writeRow = level.form === 'nested' ? nestedWriter(members, constants) : flatWriter(members, constants)
  const { idAt } = level
  return (run, rows) => {
    if (rows.length === 0) return []
    const parents = fills.length === 0 ? '' : `[${[...new Set(rows.map((row) => row[idAt]))].join(',')}]`
    const loaded = fills.map(({ key, load }) => ({ key, of: load(run, parents) }))
    return rows.map((row) => {
      const filled = loaded.map(({ key, of }) => key + of(row[idAt] as number))
      return writeRow(row, filled)
    })
  }
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

function prepareFill(database: Database.Database, fill: Fill): Load {
  if (fill.kind === 'count') {
    const query = prepareQuery(database, fill.statement)
    return (run, parents) => {
      const counts = new Map(query(run, parents) as unknown as readonly [number, number][])
      return (parent) => `{"count":${counts.get(parent) ?? 0}}`
    }
  }
  const children = fill.kind === 'rows' ? prepareRows(database, fill.level) : prepareTyped(database, fill)
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

function prepareRows(database: Database.Database, level: Level): Children {
  const { orderAt } = level
  const query = prepareQuery(database, level.statement)
  const write = prepareLevel(database, level)
  return (run, parents) => {
    const rows = inOrder(query(run, parents), orderAt)
    const objects = write(run, rows)
    const byParent = new Map<number, string[]>()
    for (let index = 0; index < rows.length; index++) append(byParent, rows[index]![level.parentAt!] as number, objects[index]!)
    return byParent
  }
}

function prepareTyped(database: Database.Database, { links, levels }: Fill & { kind: 'typed' }): Children {
  const query = prepareQuery(database, links)
  const prepared = new Map(Object.entries(levels).map(([uid, level]) => [uid, prepareRows(database, level)]))
  return (run, parents) => {
    const pairs = inOrder(query(run, parents), linkOrder) as unknown as readonly [number, string, number][]
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
