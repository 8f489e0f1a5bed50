// A whole plan as one statement with one row: its levels are common table expressions, each of which starts at the ids of the level
// above, and the result has a column of JSON for each. One round trip and one snapshot, whatever is populated (decision 029).
import type { Column, Fill, Level, Parameter, ReadPlan, Statement } from '../plan.js'

/** A plan as one statement, and what its result columns are. */
export interface ComposedRead {
  readonly text: string
  readonly parameters: readonly (Parameter & { readonly from: 'values' | 'constant' })[]
  /** Which statement of the plan each result column has the rows of, and which of their values JSON cannot tell. */
  readonly parts: readonly { readonly statement: Statement; readonly columns: readonly Column[] }[]
  /** Whether the last result column is the total of a list. */
  readonly hasTotal: boolean
}

/** A part of a read under way: its number names the table expression. */
interface Part {
  readonly statement: Statement
  readonly columns: readonly Column[]
  readonly text: string
  /** Columns of its rows. */
  readonly width: number
}

type Bound = ComposedRead['parameters'][number]

/** A placeholder, or a quoted identifier or text, in which `$1` is none. */
const placeholder = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\$(\d+)/g

export function composeRead({ root, envelope }: ReadPlan): ComposedRead {
  const parameters: Bound[] = []
  const parts: Part[] = []

  /** The text of a statement with its parameters among those of the whole. `parents`: the select of the ids that it starts at. */
  function placed({ sql, parameters: own }: Statement, parents: string | null): string {
    return sql.replace(placeholder, (match: string, number: string | undefined) => {
      if (number === undefined) return match
      const parameter = own[Number(number) - 1]!
      if (parameter.from === 'parents') return parents!
      return `$${parameters.push(parameter as Bound)}`
    })
  }

  function add(statement: Statement, parents: string | null, width: number, columns: readonly Column[]): number {
    parts.push({ statement, columns, text: placed(statement, parents), width })
    return parts.length - 1
  }

  function addLevel(level: Level, parents: string | null): void {
    const number = add(level.statement, parents, widthOf(level), level.columns)
    for (const fill of level.fills) addFill(fill, `select distinct ${nameOf(level.idAt)} from ${tableOf(number)}`)
  }

  function addFill(fill: Fill, parents: string): void {
    if (fill.kind === 'count') {
      add(fill.statement, parents, 2, [])
    } else if (fill.kind === 'rows') {
      addLevel(fill.level, parents)
    } else {
      const links = add(fill.links, parents, linkColumns, [])
      for (const [uid, level] of Object.entries(fill.levels)) {
        const type = `$${parameters.push({ from: 'constant', value: uid })}`
        addLevel(level, `select distinct ${nameOf(2)} from ${tableOf(links)} where ${nameOf(1)} = ${type}`)
      }
    }
  }

  if (envelope.kind === 'count') {
    const text = placed(envelope.count, null)
    return { text: `select (${text}) as total`, parameters, parts: [], hasTotal: true }
  }
  addLevel(root, null)
  const hasTotal = envelope.kind === 'list' && envelope.count !== null
  const totals = hasTotal ? [totalOf(envelope.count!)] : []

  /** The number of all rows: what the page tells where it is the last one, counted otherwise. */
  function totalOf(count: Statement): string {
    const { start, limit } = envelope as { readonly start: number; readonly limit: number }
    const bound = (index: number) => `cast($${parameters.push({ from: 'values', index })} as bigint)`
    const found = `(select count(*) from ${tableOf(0)})`
    const isLast = `${found} < ${bound(limit)} and (${found} > 0 or ${bound(start)} = 0)`
    return `case when ${isLast} then ${bound(start)} + ${found} else (${placed(count, null)}) end as total`
  }

  const tables = parts.map(({ text, width }, number) => `${tableOf(number)} (${columnNames(width).join(', ')}) as materialized (${text})`)
  const results = parts.map(({ width }, number) => {
    const row = columnNames(width).join(', ')
    return `(select json_agg(json_build_array(${row})) from ${tableOf(number)}) as ${tableOf(number)}`
  })
  return { text: `with ${tables.join(', ')} select ${[...results, ...totals].join(', ')}`, parameters, parts, hasTotal }
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
