// A service's reads on PostgreSQL: each plan is a single statement that returns one row.
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
import { postgresDialect } from './dialect.js'
import { cancelled, getCode, isConflict, isConnectionLoss, isTimeout, otherStandby, toApiError } from './errors.js'
import { snapshot } from './history.js'
import {
  type Connection,
  cancel,
  executePrepared,
  onConnection,
  openPool,
  type PreparedStatement,
  poolActivity,
  type Statements,
} from './pool.js'

/** Connections are opened on demand. Failures on a replica are not retried there but on the primary. */
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
      // A standby's snapshot text omits open transactions, so it does not identify the snapshot.
      return reader.read(client, statement, { values, limit: options.responseBytes, isCommitted: standby === null, standby })
    },
    cancel: (client) => cancel(pool.options, client),
    // A late cancellation hits this statement.
    afterCancel: (client) => client.query('select pg_sleep(0.05)').catch(() => {}),
    isCancelled: (error) => getCode(error) === cancelled,
    toApiError,
    activity: () => poolActivity('read', pool),
    close: () => pool.end(),
  })
}

export interface PlanReader {
  readonly text: string
  /** Executes the plan's statement and writes the response. @throws ResponseTooLarge beyond the limit */
  read(client: Connection, statement: PreparedStatement, request: PlanReadRequest): Promise<ReadResult>
}

interface PlanReadRequest {
  readonly values: Values
  /** Maximum bytes of the response. */
  readonly limit: number
  /** Whether the connection sees exactly the committed rows, so that the total cached for a snapshot may be reused. */
  readonly isCommitted: boolean
  /** Identity of the standby to execute it (`standby`); null: the primary. */
  readonly standby: string | null
}

interface KnownTotal {
  readonly snapshot: string
  readonly total: number
}

/** Maximum cached totals per plan, and maximum length of a cache key. */
const maxTotals = 100
const maxKeyLength = 500

/** Whether this process's time zone is equivalent to UTC. */
const isUtc = (): boolean =>
  new Date(2024, 0, 1).getTime() === Date.UTC(2024, 0, 1) && new Date(2024, 6, 1).getTime() === Date.UTC(2024, 6, 1)

/**
 * Prepares a plan. `signer`: signs URLs of private files; null: all files are public. `onStandby`: reads fail with `otherStandby` on any
 * server other than the requested one.
 */
export function preparePlanReader(plan: ReadPlan, signer: Signer | null, onStandby = false): PlanReader {
  const composed = composeRead(plan, onStandby)
  const totals = composed.total === null ? null : new LRUCache<string, KnownTotal>({ max: maxTotals })
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

/** The values that the total depends on, as a cache key; null: not cached. */
function totalKey({ total }: ComposedRead, values: Values): string | null {
  if (total === null || total.values === null) return null
  const key = JSON.stringify(total.values.map((index) => values[index]))
  return key.length <= maxKeyLength ? key : null
}

/** `snapshot`: that of the cached total; empty: none. */
const bindParameters = ({ parameters }: ComposedRead, values: Values, snapshot: string): readonly unknown[] =>
  parameters.map((parameter) => {
    if (parameter.from === 'snapshot') return snapshot
    return parameter.from === 'constant' ? parameter.value : values[parameter.index]
  })

interface Convertor {
  readonly at: number
  readonly convert: (value: unknown) => unknown
}

/** Parses the rows of one level from JSON, and converts values that JSON cannot represent. */
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

/** A plan as a single statement, and the meaning of its result columns. */
interface ComposedRead {
  readonly text: string
  readonly parameters: readonly BoundParameter[]
  /** For each result column, the plan's statement and the columns of its rows. */
  readonly parts: readonly { readonly statement: Statement; readonly columns: readonly MemberColumn[] }[]
  readonly total: ComposedTotal | null
}

/** A parameter of the composed statement; `snapshot`: the snapshot of the cached total. */
type BoundParameter = (Parameter & { readonly from: 'values' | 'constant' }) | { readonly from: 'snapshot' }

interface ComposedTotal {
  /** Indexes of the request's values that determine the total; null: never cached. */
  readonly values: readonly number[] | null
}

/** A statement of the plan, which becomes a common table expression. */
interface Part {
  readonly statement: Statement
  readonly columns: readonly MemberColumn[]
  readonly text: string
  /** Number of columns. */
  readonly width: number
}

/** A placeholder; quoted identifiers and literals are skipped. */
const placeholder = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\$(\d+)/g

interface Composition {
  readonly parameters: BoundParameter[]
  readonly parts: Part[]
}

/**
 * Identifies the executing standby by its start time; null on a primary. A running server never becomes a standby, so this also identifies
 * the server of the snapshot.
 */
export const standby = 'case when pg_is_in_recovery() then cast(pg_postmaster_start_time() as text) end as standby'

/** Composes the statement of a plan. `tellsStandby`: the last column identifies the executing standby. */
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

/** Renumbers a statement's parameters for the composed statement. `parents`: a select of the parent ids. */
function placeParameters({ parameters }: Composition, { sql, parameters: own }: Statement, parents: string | null): string {
  return sql.replace(placeholder, (match: string, number: string | undefined) => {
    if (number === undefined) return match
    const parameter = own[Number(number) - 1]!
    return parameter.from === 'parents' ? parents! : `$${parameters.push(parameter as BoundParameter)}`
  })
}

/** Adds a statement as a common table expression and returns its number. */
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

/** The total and the snapshot. The total is derived from the last page, null if cached for this snapshot, otherwise counted. */
function totalColumns(composition: Composition, { start, limit }: ListEnvelope, count: Statement): readonly string[] {
  const bound = (index: number) => `cast($${composition.parameters.push({ from: 'values', index })} as bigint)`
  const found = `(select count(*) from ${tableOf(0)})`
  const isLast = `${found} < ${bound(limit)} and (${found} > 0 or ${bound(start)} = 0)`
  const isKnown = `${snapshot} = cast($${composition.parameters.push({ from: 'snapshot' })} as text)`
  const counted = placeParameters(composition, count, null)
  return [`case when ${isLast} then ${bound(start)} + ${found} when not ${isKnown} then (${counted}) end as total`, `${snapshot} as seen`]
}

/** Columns of links to several tables: parent, type, id, position, link. */
const linkColumns = 5

const tableOf = (number: number): string => `"part${number}"`
const nameOf = (at: number): string => `"c${at}"`
const columnNames = (width: number): readonly string[] => Array.from({ length: width }, (_, at) => nameOf(at))

/** Number of columns used of a level's rows. */
function countColumns({ idAt, parentAt, orderAt, columns }: Level): number {
  const columnIndexes = [idAt, parentAt ?? 0, ...orderAt, ...columns.flatMap(({ at, validAt = 0 }) => [at, validAt])]
  return Math.max(...columnIndexes) + 1
}
