// The statements of one database: each is taken apart once, and its values are put in as literals (decision 031).
import { LRUCache } from 'lru-cache'
import type { Dialect } from '../../dialect.js'
import type { MysqlCatalog } from './catalog.js'
import type { Client, MysqlExecuted } from './client.js'
import { type LiteralKind, literal } from './literals.js'
import { type ColumnKinds, partsOf, type StatementParts } from './parameters.js'

/** Characters of all statements that are kept apart. */
const keptCharacters = 16_000_000

/** The statements of one database. */
export interface MysqlStatements {
  readonly dialect: Dialect
  /** A statement with its values in it. */
  filled(text: string, values: readonly unknown[]): string
  /** The columns of the tables have changed. */
  learn(catalog: Pick<MysqlCatalog, 'tables'>): void
}

const kindOf = (type: string): LiteralKind => (/^(?:datetime|timestamp)\b/.test(type) ? 'moment' : type === 'json' ? 'json' : 'plain')

const kindsOf = ({ tables }: Pick<MysqlCatalog, 'tables'>): ColumnKinds =>
  new Map([...tables].map(([name, columns]) => [name, new Map(columns.map((column) => [column.name, kindOf(column.type)]))]))

export function openStatements(dialect: Dialect): MysqlStatements {
  let columns: ColumnKinds = new Map()
  const known = new LRUCache<string, StatementParts>({ maxSize: keptCharacters, sizeCalculation: (_, text) => text.length + 1 })
  return {
    dialect,
    filled: (text, values) => {
      const parts = known.get(text) ?? partsOf(text, columns)
      known.set(text, parts)
      const { texts, kinds } = parts
      if (kinds.length !== values.length) throw new Error(`A statement has ${kinds.length} values, not ${values.length}`)
      let filled = texts[0]!
      for (let index = 0; index < kinds.length; index++) filled += literal(values[index], kinds[index]!) + texts[index + 1]!
      return filled
    },
    learn: (catalog) => {
      columns = kindsOf(catalog)
      known.clear()
    },
  }
}

/** Executes a statement on a connection. */
export const execute = (statements: MysqlStatements, client: Client, text: string, values: readonly unknown[]): Promise<MysqlExecuted> =>
  client.query(statements.filled(text, values), text)
