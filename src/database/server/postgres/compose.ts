// A whole plan as one statement with one row: its levels are common table expressions, each of which starts at the ids of the level
// above, and the result has a column of JSON for each. One round trip and one snapshot, whatever is populated (decision 029).
import type { ListEnvelope } from '../../answer/write.js'
import type { Fill, Level, MemberColumn, Parameter, ReadPlan, Statement } from '../../plan.js'
import { snapshot } from './history.js'

/** A plan as one statement, and what its result columns are. */
export interface ComposedRead {
  readonly text: string
  readonly parameters: readonly BoundParameter[]
  /** Which statement of the plan each result column has the rows of, and which of their values JSON cannot tell. */
  readonly parts: readonly { readonly statement: Statement; readonly columns: readonly MemberColumn[] }[]
  /** The total, which the last result columns tell; null: there is none. */
  readonly total: ComposedTotal | null
}

/** A parameter of a composed statement; `snapshot`: the one of which the total is known. */
export type BoundParameter = (Parameter & { readonly from: 'values' | 'constant' }) | { readonly from: 'snapshot' }

export interface ComposedTotal {
  /** Which values of a request it depends on; null: it is counted with every read. */
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

/** A placeholder, or a quoted identifier or text, in which `$1` is none. */
const placeholder = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\$(\d+)/g

/** A statement that is being composed. */
interface Composition {
  readonly parameters: BoundParameter[]
  readonly parts: Part[]
}

/** Which standby executes a statement, by its start; null: a server that is none. No server becomes one while it runs, so its snapshot is a standby's as well. */
export const standby = 'case when pg_is_in_recovery() then cast(pg_postmaster_start_time() as text) end as standby'

/** Composes the statement of a plan. `tellsStandby`: in its last column it tells which standby has executed it. */
export function composeRead({ root, envelope }: ReadPlan, tellsStandby = false): ComposedRead {
  const last = tellsStandby ? [standby] : []
  const composition: Composition = { parameters: [], parts: [] }
  const { parameters, parts } = composition
  if (envelope.kind === 'count') {
    const text = placed(composition, envelope.count, null)
    return { text: `select ${[`(${text}) as total`, ...last].join(', ')}`, parameters, parts: [], total: { values: null } }
  }
  addLevel(composition, root, null)
  const count = envelope.kind === 'list' ? envelope.count : null
  const totals = count === null ? [] : totalOf(composition, envelope as ListEnvelope, count)
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
function placed({ parameters }: Composition, { sql, parameters: own }: Statement, parents: string | null): string {
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
  composition.parts.push({ statement, columns, text: placed(composition, statement, parents), width })
  return composition.parts.length - 1
}

function addLevel(composition: Composition, level: Level, parents: string | null): void {
  const number = add(composition, level.statement, parents, { width: widthOf(level), columns: level.columns })
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

/**
 * The number of all rows: what the page tells where it is the last one, null where it is known of this very snapshot, counted otherwise.
 * And the snapshot.
 */
function totalOf(composition: Composition, { start, limit }: ListEnvelope, count: Statement): readonly string[] {
  const bound = (index: number) => `cast($${composition.parameters.push({ from: 'values', index })} as bigint)`
  const found = `(select count(*) from ${tableOf(0)})`
  const isLast = `${found} < ${bound(limit)} and (${found} > 0 or ${bound(start)} = 0)`
  const isKnown = `${snapshot} = cast($${composition.parameters.push({ from: 'snapshot' })} as text)`
  const counted = placed(composition, count, null)
  return [`case when ${isLast} then ${bound(start)} + ${found} when not ${isKnown} then (${counted}) end as total`, `${snapshot} as seen`]
}

/** Columns of a statement that tells which rows of several tables are linked: parent, type, id, place, link. */
const linkColumns = 5

const tableOf = (number: number): string => `"part${number}"`
const nameOf = (at: number): string => `"c${at}"`
const columnNames = (width: number): readonly string[] => Array.from({ length: width }, (_, at) => nameOf(at))

/** The columns of a level's rows that are looked at. */
function widthOf({ idAt, parentAt, orderAt, columns }: Level): number {
  const places = [idAt, parentAt ?? 0, ...orderAt, ...columns.flatMap(({ at, validAt = 0 }) => [at, validAt])]
  return Math.max(...places) + 1
}
