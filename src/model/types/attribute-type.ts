// The definition of a scalar attribute type: its column, its options in schema.json, and the form of its values in queries, bodies, columns,
// responses and descriptions.
import type { Issue } from '../../foundation/errors/issues.js'
import type { JsonSchema } from '../../foundation/public/routes.js'
import type { Pattern, PatternCheck } from '../schema/patterns.js'
import type { ColumnType } from '../tables/table.js'
import type { OptionsByName } from './options.js'

/** How databases compare values; the dialects distinguish these. */
export type Family = 'text' | 'number' | 'biginteger' | 'boolean' | 'date' | 'time' | 'datetime' | 'json'

/** Form of a stored value as JSON in a response (`database/response/write.ts`); `never`: not shown. */
export type Answer = 'text' | 'number' | 'biginteger' | 'boolean' | 'datetime' | 'timestamp' | 'json' | 'never'

/** Stored forms between which a change of the type converts (`model/diff/conversions.ts`). */
export type StoredForm =
  | 'text'
  | 'integer'
  | 'biginteger'
  | 'number'
  | 'decimal'
  | 'boolean'
  | 'date'
  | 'time'
  | 'datetime'
  | 'json'
  | 'blocks'
  | 'password'

/** The part of an attribute that its type depends on. */
export interface TypedAttribute {
  readonly name: string
  readonly required: boolean
  readonly source: Readonly<Record<string, unknown>>
}

/** The part of a check that rules depend on. */
export interface RuleContext {
  readonly isDraft: boolean
  /** The value comes from the database: passwords are hashes. */
  readonly isStored: boolean
  /** The reason why the database would change a timestamp; null: it would not. */
  readonly momentFault?: ((milliseconds: number, type: 'datetime' | 'timestamp') => string | null) | undefined
  /** Results of patterns that needed a deadline. */
  readonly trials?: { readonly results: ReadonlyMap<Pattern, ReadonlyMap<string, boolean>> }
}

/** An error of a value: a message that follows the name of the value. */
export interface RuleError extends Issue {
  readonly says: string
  /** A pattern that needs a deadline: an error only if the text does not match. */
  readonly depends?: PatternCheck
}

/** Returns the error of a value; null if the value is valid. */
export type Rule = (value: never, attribute: TypedAttribute, context: RuleContext) => RuleError | null

/** The checks of a value in the data of a write. */
export interface InputForm {
  /** Converts a value as leniently as the content API does. Null is only converted where it is not allowed. */
  readonly cast: (value: unknown) => unknown
  /** The type that error messages name; null: rules decide. */
  readonly type: 'string' | 'number' | 'boolean' | 'array' | null
  /** Null passes the type check of a required attribute; the message is then `must be defined`. */
  readonly nullable: boolean
  readonly rules: readonly Rule[]
  /** Rules for values that the column cannot store. Hidden attributes are held to these alone. */
  readonly columnRules: readonly Rule[]
  /** The form of a valid value in the error of a unique attribute; absent: the value. */
  readonly shown?: (value: unknown) => unknown
}

export interface AttributeType {
  /** Description for editors of schema.json. */
  readonly about: string
  /** Options of schema.json, without the common ones. */
  readonly options: OptionsByName
  /** Column type in Strapi's layout; each database has its own name for it (`model/tables/table.ts`). */
  readonly column: Exclude<ColumnType, `varchar(${number})` | `decimal(${number},${number})`> | 'varchar(255)' | 'decimal(10,2)'
  readonly family: Family
  readonly answer: Answer
  readonly stored: StoredForm
  /** `_q` always searches texts, and numbers only if it is a number. */
  readonly search: 'text' | 'number' | null
  /** True if values may be too long for an index. */
  readonly isLong?: true
  /** The permitted values. */
  readonly choices?: (attribute: Pick<TypedAttribute, 'source'>) => readonly unknown[]
  readonly input: InputForm
  /**
   * Converts a scalar of a query string to the value that it is compared with. `strictBooleans`: row 15 of the contract.
   * @throws ApiError 400 for a value of another type
   */
  readonly parseQuery: (value: unknown, attribute: TypedAttribute, strictBooleans: boolean) => string | number
  /**
   * Converts a value that has passed its checks to its stored form.
   * @throws ApiError 400 for an invalid date or time
   */
  readonly store: (value: unknown, attribute: TypedAttribute) => string | number | bigint
  /** JSON Schemas, without null. `input` is absent if it equals `response`. */
  readonly schema: { readonly response: JsonSchema; readonly input?: JsonSchema }
  /** TypeScript types, without null. `input` is absent if it equals `response`. */
  readonly typescript: { readonly response: string; readonly filter: string; readonly input?: string }
}
