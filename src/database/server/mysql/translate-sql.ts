// Compiles queries for MySQL and MariaDB, with literal values (decision 031), relying on each connection's SQL modes (client.ts): ANSI
// quotes, and `||` as concatenation.
import {
  type ColumnNode,
  type IdentifierNode,
  type OperationNode,
  type RawBuilder,
  type RawNode,
  type ReferenceNode,
  type SchemableIdentifierNode,
  sql,
  type TableNode,
} from 'kysely'
import { quoted } from '../../../model/tables/table.js'
import type { Expression } from '../../dialect.js'
import type { Parameter, Statement } from '../../plan.js'
import { type BoundNode, columnList, insertRowSql, type PhraseNode, type PortablePhrases } from '../../portable-sql.js'
import { toWallClock } from '../time-zone.js'
import type { Client, MysqlExecuted } from './client.js'

/** The phrases of portable-sql.ts for MySQL and MariaDB. */
const phrases: { readonly [Phrase in keyof PortablePhrases]: (...parts: PortablePhrases[Phrase]) => RawBuilder<unknown> } = {
  same: (left, right) => sql`(${left} <=> ${right})`,
  differs: (left, right) => sql`(not (${left} <=> ${right}))`,
  joinedTexts: (text, order) => sql`group_concat(cast(${text} as char) order by ${order} separator ',')`,
  // A concatenation would be truncated at the packet size.
  contentDigest: (text) => sql`concat(count(*), ' ', bit_xor(cast(conv(left(md5(${text}), 16), 16, 10) as unsigned)))`,
  castType: (type) => sql.raw({ text: 'char', integer: 'signed', 'double precision': 'double' }[type]),
  insertMissing: (table, columns, source) => {
    const first = sql`${sql.table(table)}.${sql.id(columns[0]!)}`
    return sql`insert into ${sql.table(table)} (${columnList(columns)}) ${source} on duplicate key update ${first} = ${first}`
  },
  upsert: (table, row, _key, changes) => sql`${insertRowSql(table, row)} on duplicate key update ${changes}`,
  updateFrom: (table, as, changes, source, where) =>
    sql`update ${sql.table(table)} as ${sql.id(as)} join ${source} set ${changes} where ${where}`,
  insertDefaults: (table) => sql`insert into ${sql.table(table)} () values ()`,
}

/** A statement: texts, with bound values between them. */
interface MysqlSql {
  readonly texts: readonly string[]
  readonly bound: readonly BoundNode[]
}

export type MysqlStatement = Statement & MysqlSql

interface Written extends MysqlSql {
  readonly texts: string[]
  readonly bound: BoundNode[]
}

const append = ({ texts }: Written, text: string): void => void texts.push(texts.pop()! + text)

function writeRaw(written: Written, node: RawNode | PhraseNode): void {
  if ('phrase' in node && node.phrase !== undefined) {
    write(written, (phrases[node.phrase] as (...parts: readonly unknown[]) => RawBuilder<unknown>)(...node.parts).toOperationNode())
    return
  }
  node.sqlFragments.forEach((text, index) => {
    append(written, text)
    if (index < node.parameters.length) write(written, node.parameters[index]!)
  })
}

/** Writes names and values; no other Kysely nodes occur. */
function write(written: Written, node: OperationNode): void {
  switch (node.kind) {
    case 'RawNode':
      writeRaw(written, node as RawNode)
      break
    case 'ValueNode':
      if ((node as BoundNode).immediate === true) append(written, literal((node as BoundNode).value))
      else {
        written.bound.push(node as BoundNode)
        written.texts.push('')
      }
      break
    case 'IdentifierNode':
      append(written, quoted((node as IdentifierNode).name))
      break
    case 'ColumnNode':
      write(written, (node as ColumnNode).column)
      break
    case 'TableNode':
      write(written, (node as TableNode).table)
      break
    case 'SchemableIdentifierNode':
      writeNames(written, [(node as SchemableIdentifierNode).schema, (node as SchemableIdentifierNode).identifier])
      break
    case 'ReferenceNode':
      writeNames(written, [(node as ReferenceNode).table, (node as ReferenceNode).column])
      break
    default:
      throw new Error(`A ${node.kind} has no form in SQL`)
  }
}

function writeNames(written: Written, names: readonly (OperationNode | undefined)[]): void {
  names
    .filter((name) => name !== undefined)
    .forEach((name, index) => {
      if (index > 0) append(written, '.')
      write(written, name)
    })
}

export function writeMysqlSql(query: Expression): MysqlSql {
  const written: Written = { texts: [''], bound: [] }
  write(written, query.toOperationNode())
  return written
}

/** Compiles a query for a plan. */
export function compileMysql(query: Expression): MysqlStatement {
  const written = writeMysqlSql(query)
  return { ...written, sql: written.texts.join('?'), parameters: written.bound.map(({ value }) => value as Parameter) }
}

/** Inserts the values as literals. `valueFor` returns the value of a plan's parameter. */
export const insertValues = ({ texts, bound }: MysqlSql, valueFor?: (parameter: Parameter) => unknown): string =>
  bound.reduce(
    (text, { value, isTimestamp }, index) =>
      text + literal(valueFor === undefined ? value : valueFor(value as Parameter), isTimestamp) + texts[index + 1]!,
    texts[0]!,
  )

export function execute(client: Client, query: Expression): Promise<MysqlExecuted> {
  const written = writeMysqlSql(query)
  return client.query(insertValues(written), written.texts.join('?'))
}

/** Characters that end or change a literal. */
const special = /['\\\0]/

const replacements: Readonly<Record<string, string>> = { "'": "''", '\\': '\\\\', '\0': '\\0' }

const quotedText = (text: string): string => `'${special.test(text) ? text.replace(/['\\\0]/g, (found) => replacements[found]!) : text}'`

/** A timestamp in this process's time zone. The server rejects years beyond the column's range. */
function timestampText(milliseconds: number): string {
  const { year, rest } = toWallClock(milliseconds)
  return year < 0 ? `-${String(-year).padStart(4, '0')}-${rest}` : `${String(year).padStart(4, '0')}-${rest}`
}

export function literal(value: unknown, isTimestamp = false): string {
  switch (typeof value) {
    case 'string':
      return quotedText(value)
    case 'number':
      if (!Number.isFinite(value)) return 'null'
      return isTimestamp ? `'${timestampText(value)}'` : String(value)
    case 'bigint':
      return String(value)
    case 'boolean':
      return value ? '1' : '0'
    default:
      if (value === null || value === undefined) return 'null'
      if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString('hex')}'`
      throw new Error('A value has no form in SQL')
  }
}
