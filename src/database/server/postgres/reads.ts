// Reads of a service on PostgreSQL: a plan is one statement with one row.
import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import type { ReadResult, ServerRole } from '../../database.js'
import type { Fill, Level, MemberColumn, Parameter, ReadPlan, Statement } from '../../plan.js'
import type { Signer } from '../../response/signed-addresses.js'
import type { ListEnvelope, ResultRow, Values } from '../../response/write.js'
import type { ReadOptions } from '../connections.js'
import { createServerReads, prepareResult, type RoleReads } from '../reads.js'
import { lossRetrier } from '../retry-transaction.js'
import { fromWallMilliseconds } from './codec.js'
import {
  type Connection,
  cancel,
  executePrepared,
  onConnection,
  openPool,
  type PreparedStatement,
  poolActivity,
  type Statements,
} from './connection.js'
import { postgresDialect } from './dialect.js'
import { cancelled, getCode, isConflict, isConnectionLoss, isTimeout, otherStandby, toApiError } from './errors.js'
import { snapshot } from './history.js'

/** Opens the reads; a connection is made with the first one. What fails on a replica is executed on the primary instead of once more. */
export function openReads(
  options: ReadOptions,
  statements: Statements,
  failed: (error: Error) => void,
  role: ServerRole = 'primary',
): RoleReads {
  const onPrimary = role === 'primary'
  const pool = openPool(options.settings, { max: options.connections, pipelined: false, mayBeStandby: !onPrimary, failed })
  return createServerReads<pg.PoolClient, PlanReader>(options, {
    dialect: postgresDialect,
    prepare: (plan) => preparePlanReader(plan, options.signer, !onPrimary),
    waiting: () => pool.waitingCount,
    lend: (work, timeoutMs) => onConnection(pool, work, timeoutMs),
    retry: onPrimary ? lossRetrier({ isConnectionLoss, isTimeout, isConflict }, failed) : (work) => work(),
    read: async (client, reader, values, standby) => {
      const statement = statements.known(reader.text) ?? (await statements.describe(reader.text, client))
      // A standby's snapshot text does not identify the snapshot, since it omits open transactions.
      return reader.read(client, statement, { values, limit: options.responseBytes, isCommitted: standby === null, standby })
    },
    cancel: (client) => cancel(pool.options, client),
    // A request that came late ends this one.
    afterCancel: (client) => client.query('select pg_sleep(0.05)').catch(() => {}),
    isCancelled: (error) => getCode(error) === cancelled,
    toApiError,
    activity: () => poolActivity('read', pool),
    close: () => pool.end(),
  })
}

export interface PlanReader {
  /** The text of its statement. */
  readonly text: string
  /** Executes a plan's statement on a connection and writes its answer. @throws AnswerTooLarge beyond its limit */
  read(client: Connection, statement: PreparedStatement, request: PlanReadRequest): Promise<ReadResult>
}

export interface PlanReadRequest {
  readonly values: Values
  /** Bytes of the answer at most. */
  readonly limit: number
  /** Whether the connection sees exactly the committed rows; then a total known for the same snapshot is reused. */
  readonly isCommitted: boolean
  /** The standby that is to execute it (`standby`); null: the primary. */
  readonly standby: string | null
}

/** A total, and its snapshot. */
interface KnownTotal {
  readonly snapshot: string
  readonly total: number
}

/** Totals that are kept for one plan, and characters of the values that one belongs to. */
const keptTotals = 100
const longestKey = 500

/** The zone of this process shows the same clock as UTC. */
const isUtc = (): boolean =>
  new Date(2024, 0, 1).getTime() === Date.UTC(2024, 0, 1) && new Date(2024, 6, 1).getTime() === Date.UTC(2024, 6, 1)

/**
 * Prepares the reader of a plan. `signer`: signs addresses of private files; null: everyone may read them. `onStandby`: its reads fail with `otherStandby` on any server but
 * the one that is asked.
 */
export function preparePlanReader(plan: ReadPlan, signer: Signer | null, onStandby = false): PlanReader {
  const composed = composeRead(plan, onStandby)
  const totals = composed.total === null ? null : new LRUCache<string, KnownTotal>({ max: keptTotals })
  const write = prepareResult(plan, signer, true)
  const readParts = composed.parts.map(({ columns }) => partReader(columns))
  return {
    text: composed.text,
    read: async (client, statement, { values, limit, isCommitted, standby }) => {
      const key = isCommitted ? totalKey(composed, values) : null
      const known = key === null ? undefined : totals?.get(key)
      const { rows } = await executePrepared(client, statement, bindParameters(composed, values, known?.snapshot ?? ''))
      const [result] = rows
      if (standby !== null && result!.at(-1) !== standby) throw otherStandby()
      const found = new Map(composed.parts.map(({ statement: part }, index) => [part, readParts[index]!(result![index] as string | null)]))
      const [counted, seen] = result!.slice(composed.parts.length) as [number | null | undefined, string | undefined]
      if (key !== null && counted != null) totals?.set(key, { snapshot: seen!, total: counted })
      return write({ rows: found, total: counted ?? known?.total ?? null }, values, limit)
    },
  }
}

/** The values that the total depends on, as a text; null: the total is not kept. */
function totalKey({ total }: ComposedRead, values: Values): string | null {
  if (total === null || total.values === null) return null
  const key = JSON.stringify(total.values.map((index) => values[index]))
  return key.length <= longestKey ? key : null
}

/** The bound values of a statement. `snapshot`: the snapshot of the known total; empty: unknown. */
const bindParameters = ({ parameters }: ComposedRead, values: Values, snapshot: string): readonly unknown[] =>
  parameters.map((parameter) => {
    if (parameter.from === 'snapshot') return snapshot
    return parameter.from === 'constant' ? parameter.value : values[parameter.index]
  })

interface Convertor {
  readonly at: number
  readonly convert: (value: unknown) => unknown
}

/** Reads the rows of one level from their JSON: what JSON has no form for gets the stored form that answers are written from. */
function partReader(columns: readonly MemberColumn[]): (text: string | null) => readonly ResultRow[] {
  const convertors = columns.flatMap(({ at, answer }): Convertor[] => {
    if (answer === 'json') return [{ at, convert: JSON.stringify }]
    const isMoment = answer === 'datetime' || answer === 'timestamp'
    return isMoment && !isUtc() ? [{ at, convert: (value) => fromWallMilliseconds(value as number) }] : []
  })
  return (text) => {
    if (text === null) return []
    const rows = JSON.parse(text) as unknown[][]
    if (convertors.length === 0) return rows
    for (const row of rows) for (const { at, convert } of convertors) if (row[at] !== null) row[at] = convert(row[at])
    return rows
  }
}

/** A plan as one statement, and what its result columns are. */
export interface ComposedRead {
  readonly text: string
  readonly parameters: readonly BoundParameter[]
  /** The plan's statement of each result column, and its columns that need conversion from JSON. */
  readonly parts: readonly { readonly statement: Statement; readonly columns: readonly MemberColumn[] }[]
  /** The total in the last result columns, if any. */
  readonly total: ComposedTotal | null
}

/** A parameter of a composed statement; `snapshot`: the snapshot of the known total. */
export type BoundParameter = (Parameter & { readonly from: 'values' | 'constant' }) | { readonly from: 'snapshot' }

export interface ComposedTotal {
  /** Indexes of the request's values that determine it; null: it is always counted. */
  readonly values: readonly number[] | null
}

/** A part of a read under way: its number names the table expression. */
interface Part {
  readonly statement: Statement
  readonly columns: readonly MemberColumn[]
  readonly text: string
  /** Columns of its rows. */
  readonly width: number
}

/** A placeholder; quoted identifiers and texts are skipped. */
const placeholder = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\$(\d+)/g

/** A statement that is being composed. */
interface Composition {
  readonly parameters: BoundParameter[]
  readonly parts: Part[]
}

/**
 * The executing standby, by its start time; null on other servers. A running server never becomes a standby, so this also identifies the
 * server of the snapshot.
 */
export const standby = 'case when pg_is_in_recovery() then cast(pg_postmaster_start_time() as text) end as standby'

/** Composes the statement of a plan. `tellsStandby`: its last column identifies the executing standby. */
function composeRead({ root, envelope }: ReadPlan, tellsStandby = false): ComposedRead {
  const last = tellsStandby ? [standby] : []
  const composition: Composition = { parameters: [], parts: [] }
  const { parameters, parts } = composition
  if (envelope.kind === 'count') {
    const text = placeParameters(composition, envelope.count, null)
    return { text: `select ${[`(${text}) as total`, ...last].join(', ')}`, parameters, parts: [], total: { values: null } }
  }
  addLevel(composition, root, null)
  const count = envelope.kind === 'list' ? envelope.count : null
  const totals = count === null ? [] : totalColumns(composition, envelope as ListEnvelope, count)
  const tables = parts.map(({ text, width }, number) => `${tableOf(number)} (${columnNames(width).join(', ')}) as materialized (${text})`)
  const results = parts.map(({ width }, number) => {
    const row = columnNames(width).join(', ')
    return `(select json_agg(json_build_array(${row})) from ${tableOf(number)}) as ${tableOf(number)}`
  })
  const total =
    count === null ? null : { values: [...new Set(count.parameters.flatMap((each) => (each.from === 'values' ? [each.index] : [])))] }
  return { text: `with ${tables.join(', ')} select ${[...results, ...totals, ...last].join(', ')}`, parameters, parts, total }
}

/** The text of a statement with its parameters among those of the whole. `parents`: the select of the ids that it starts at. */
function placeParameters({ parameters }: Composition, { sql, parameters: own }: Statement, parents: string | null): string {
  return sql.replace(placeholder, (match: string, number: string | undefined) => {
    if (number === undefined) return match
    const parameter = own[Number(number) - 1]!
    return parameter.from === 'parents' ? parents! : `$${parameters.push(parameter as BoundParameter)}`
  })
}

/** Adds a statement as a table expression, and returns its number. */
function add(
  composition: Composition,
  statement: Statement,
  parents: string | null,
  { width, columns = [] }: { readonly width: number; readonly columns?: readonly MemberColumn[] },
): number {
  composition.parts.push({ statement, columns, text: placeParameters(composition, statement, parents), width })
  return composition.parts.length - 1
}

function addLevel(composition: Composition, level: Level, parents: string | null): void {
  const number = add(composition, level.statement, parents, { width: countColumns(level), columns: level.columns })
  for (const fill of level.fills) addFill(composition, fill, `select distinct ${nameOf(level.idAt)} from ${tableOf(number)}`)
}

function addFill(composition: Composition, fill: Fill, parents: string): void {
  if (fill.kind === 'count') {
    add(composition, fill.statement, parents, { width: 2 })
    return
  }
  if (fill.kind === 'rows') {
    addLevel(composition, fill.level, parents)
    return
  }
  const links = add(composition, fill.links, parents, { width: linkColumns })
  for (const [uid, level] of Object.entries(fill.levels)) {
    const type = `$${composition.parameters.push({ from: 'constant', value: uid })}`
    addLevel(composition, level, `select distinct ${nameOf(2)} from ${tableOf(links)} where ${nameOf(1)} = ${type}`)
  }
}

/** The total: derived from the last page, null if known for this snapshot, otherwise counted. And the snapshot. */
function totalColumns(composition: Composition, { start, limit }: ListEnvelope, count: Statement): readonly string[] {
  const bound = (index: number) => `cast($${composition.parameters.push({ from: 'values', index })} as bigint)`
  const found = `(select count(*) from ${tableOf(0)})`
  const isLast = `${found} < ${bound(limit)} and (${found} > 0 or ${bound(start)} = 0)`
  const isKnown = `${snapshot} = cast($${composition.parameters.push({ from: 'snapshot' })} as text)`
  const counted = placeParameters(composition, count, null)
  return [`case when ${isLast} then ${bound(start)} + ${found} when not ${isKnown} then (${counted}) end as total`, `${snapshot} as seen`]
}

/** Columns of a statement for links to several tables: parent, type, id, position, link. */
const linkColumns = 5

const tableOf = (number: number): string => `"part${number}"`
const nameOf = (at: number): string => `"c${at}"`
const columnNames = (width: number): readonly string[] => Array.from({ length: width }, (_, at) => nameOf(at))

/** The columns of a level's rows that are looked at. */
function countColumns({ idAt, parentAt, orderAt, columns }: Level): number {
  const places = [idAt, parentAt ?? 0, ...orderAt, ...columns.flatMap(({ at, validAt = 0 }) => [at, validAt])]
  return Math.max(...places) + 1
}
