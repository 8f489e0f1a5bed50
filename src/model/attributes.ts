// One row per scalar attribute type: how its column is declared, what family its values belong to, how an answer shows it.
// Adding an attribute type starts here; query/rest/values.ts and database/answer/encode.ts switch over `family` and `answer`.
import type { ScalarType } from './types.js'

/** Families of values: they decide how a query value is understood and which comparisons make sense. */
export type Family = 'text' | 'number' | 'biginteger' | 'boolean' | 'date' | 'time' | 'datetime' | 'json'

/** How a stored value becomes JSON text in an answer. `never`: it does not. */
export type Answer = 'text' | 'number' | 'biginteger' | 'boolean' | 'datetime' | 'timestamp' | 'json' | 'never'

export interface AttributeType {
  readonly family: Family
  readonly answer: Answer
  /** The declared column type in Strapi's layout on SQLite. */
  readonly column: 'varchar(255)' | 'text' | 'integer' | 'bigint' | 'float' | 'boolean' | 'date' | 'time' | 'datetime' | 'json'
  /** `_q` looks into it: into texts always, into numbers when it is a number itself. */
  readonly search: 'text' | 'number' | null
  /** Words for `GET /api/` overviews and OpenAPI. */
  readonly jsonType: 'string' | 'number' | 'integer' | 'boolean' | 'any'
}

const row = (
  family: Family,
  answer: Answer,
  column: AttributeType['column'],
  search: AttributeType['search'],
  jsonType: AttributeType['jsonType'],
): AttributeType => ({ family, answer, column, search, jsonType })

/** The vocabulary of scalar attribute types: Strapi's types and the columns that it keeps them in (decision 001). */
export const attributeTypes: Readonly<Record<ScalarType, AttributeType>> = {
  string: row('text', 'text', 'varchar(255)', 'text', 'string'),
  text: row('text', 'text', 'text', 'text', 'string'),
  richtext: row('text', 'text', 'text', 'text', 'string'),
  email: row('text', 'text', 'varchar(255)', 'text', 'string'),
  uid: row('text', 'text', 'varchar(255)', 'text', 'string'),
  enumeration: row('text', 'text', 'varchar(255)', 'text', 'string'),
  password: row('text', 'never', 'varchar(255)', null, 'string'),
  integer: row('number', 'number', 'integer', 'number', 'integer'),
  biginteger: row('biginteger', 'biginteger', 'bigint', 'number', 'string'),
  float: row('number', 'number', 'float', 'number', 'number'),
  decimal: row('number', 'number', 'float', 'number', 'number'),
  boolean: row('boolean', 'boolean', 'boolean', null, 'boolean'),
  date: row('date', 'text', 'date', null, 'string'),
  time: row('time', 'text', 'time', null, 'string'),
  datetime: row('datetime', 'datetime', 'datetime', null, 'string'),
  timestamp: row('datetime', 'timestamp', 'datetime', null, 'string'),
  json: row('json', 'json', 'json', null, 'any'),
  blocks: row('json', 'json', 'json', null, 'any'),
}

/** True for the names that schema.json may give a scalar attribute. */
export function isScalarType(type: string): type is ScalarType {
  return Object.hasOwn(attributeTypes, type)
}
