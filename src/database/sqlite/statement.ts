// A plan's statement on one connection: prepared when it is first needed, its placeholders bound at every run.
import type Database from 'better-sqlite3'
import type { LevelValue, Query, ResultRow, Values } from '../answer/write.js'
import type { Parameter, Statement } from '../plan.js'

export function prepareQuery(database: Database.Database, { sql, parameters }: Statement): Query {
  let statement: Database.Statement | null = null
  const bound = parameters.map(binder)
  return (values, given) => {
    statement ??= database.prepare(sql).raw()
    return statement.all(bound.map((bind) => bind(values, given))) as ResultRow[]
  }
}

/** A statement whose answer is one number. */
export function prepareCount(database: Database.Database, statement: Statement): (values: Values, given?: LevelValue) => number {
  const query = prepareQuery(database, statement)
  return (values, given = null) => query(values, given)[0]![0] as number
}

function binder(parameter: Parameter): (values: Values, given: LevelValue) => unknown {
  if (parameter.from === 'parents' || parameter.from === 'bound') return (_values, given) => given
  if (parameter.from === 'constant') return () => parameter.value
  return (values) => values[parameter.index]
}
