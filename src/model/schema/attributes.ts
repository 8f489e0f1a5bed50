// One row per scalar attribute type: column type, family of values, and form in responses. A new attribute type starts here;
// query/rest/values.ts and database/answer/encode.ts switch over `family` and `answer`.
import type { ScalarType } from '../../foundation/public/attribute-types.js'

/** Families of values, which determine how query values are parsed and compared. */
export type Family = 'text' | 'number' | 'biginteger' | 'boolean' | 'date' | 'time' | 'datetime' | 'json'

/** Form of a stored value as JSON in a response; `never`: not shown. */
export type Answer = 'text' | 'number' | 'biginteger' | 'boolean' | 'datetime' | 'timestamp' | 'json' | 'never'

export interface AttributeType {
  readonly family: Family
  readonly answer: Answer
  /** Column type in Strapi's layout; each database has its own name for it. */
  readonly column:
    | 'varchar(255)'
    | 'text'
    | 'integer'
    | 'bigint'
    | 'float'
    | 'decimal(10,2)'
    | 'boolean'
    | 'date'
    | 'time'
    | 'datetime'
    | 'moment'
    | 'json'
  /** Texts are always searched by `_q`, numbers only if `_q` is a number. */
  readonly search: 'text' | 'number' | null
  /** The JSON type for API descriptions. */
  readonly jsonType: 'string' | 'number' | 'integer' | 'boolean' | 'any'
}

const row = (
  family: Family,
  answer: Answer,
  column: AttributeType['column'],
  search: AttributeType['search'],
  jsonType: AttributeType['jsonType'],
): AttributeType => ({ family, answer, column, search, jsonType })

/** All scalar attribute types: Strapi's types and their columns (decision 001). */
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
  decimal: row('number', 'number', 'decimal(10,2)', 'number', 'number'),
  boolean: row('boolean', 'boolean', 'boolean', null, 'boolean'),
  date: row('date', 'text', 'date', null, 'string'),
  time: row('time', 'text', 'time', null, 'string'),
  datetime: row('datetime', 'datetime', 'datetime', null, 'string'),
  timestamp: row('datetime', 'timestamp', 'moment', null, 'string'),
  json: row('json', 'json', 'json', null, 'any'),
  blocks: row('json', 'json', 'json', null, 'any'),
}

export function isScalarType(type: string): type is ScalarType {
  return Object.hasOwn(attributeTypes, type)
}
