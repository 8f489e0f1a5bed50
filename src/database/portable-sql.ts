// SQL that every database understands. MySQL's driver writes some phrases and timestamps in another way (mysql/translate-sql.ts).
import { type RawBuilder, type RawNode, sql, type ValueNode } from 'kysely'
import type { ScalarType } from '../foundation/public/attribute-types.js'
import type { LinkStorage } from '../model/schema/types.js'

/** The phrases that a driver may write differently, with their parts. */
export interface PortablePhrases {
  readonly same: readonly [left: unknown, right: unknown]
  readonly differs: readonly [left: unknown, right: unknown]
  readonly joinedTexts: readonly [text: RawBuilder<unknown>, order: RawBuilder<unknown>]
  readonly contentDigest: readonly [text: RawBuilder<unknown>]
  readonly castType: readonly [type: CastType]
  readonly insertMissing: readonly [table: string, columns: readonly string[], source: RawBuilder<unknown>]
  readonly upsert: readonly [table: string, row: BoundRow, key: readonly string[], changes: RawBuilder<unknown>]
  readonly updateFrom: readonly [
    table: string,
    as: string,
    changes: RawBuilder<unknown>,
    source: RawBuilder<unknown>,
    where: RawBuilder<unknown>,
  ]
  readonly insertDefaults: readonly [table: string]
}

/** A phrase as a Kysely node: its usual SQL, with its name and parts for drivers that write it differently. */
export interface PhraseNode extends RawNode {
  readonly phrase?: keyof PortablePhrases
  readonly parts: PortablePhrases[keyof PortablePhrases]
}

/** A bound value as a Kysely node. `isTimestamp`: a number is milliseconds since 1970. */
export interface BoundNode extends ValueNode {
  readonly isTimestamp?: boolean
}

/** Kysely ignores members of a node that it does not know. */
const fragment = <Value>(node: PhraseNode | BoundNode): RawBuilder<Value> => sql<Value>`${{ toOperationNode: () => node }}`

function portable<Value, Phrase extends keyof PortablePhrases>(
  phrase: Phrase,
  usual: RawBuilder<Value>,
  ...parts: PortablePhrases[Phrase]
): RawBuilder<Value> {
  return fragment({ ...(usual.toOperationNode() as RawNode), phrase, parts })
}

/** A bound value of a timestamp column: milliseconds since 1970, or a parameter of a plan. Every such value must be bound like this. */
export const bindTimestamp = (value: unknown): RawBuilder<unknown> => fragment({ kind: 'ValueNode', value, isTimestamp: true })

/** A value that is bound as it is, or an expression. */
export type Bound = Stored | RawBuilder<unknown>
export type BoundRow = Readonly<Record<string, Bound>>

/** The types of `cast` here. */
type CastType = 'text' | 'integer' | 'double precision'

/** The name of a type in `cast`. */
export const castType = (type: CastType): RawBuilder<unknown> => portable('castType', sql.raw(type), type)

export const cast = (value: RawBuilder<unknown> | string, type: CastType): RawBuilder<unknown> => sql`cast(${value} as ${castType(type)})`

/** True where both values are equal, or both are null. */
export const isSame = (left: unknown, right: unknown): RawBuilder<boolean> =>
  portable('same', sql<boolean>`${left} is not distinct from ${right}`, left, right)

/** True where the values are not equal, and not both null. */
export const differs = (left: unknown, right: unknown): RawBuilder<boolean> =>
  portable('differs', sql<boolean>`${left} is distinct from ${right}`, left, right)

/** Types without localization have no locale, even if another program has written one into their rows. */
interface Localized {
  readonly localized: boolean
}

/** The locale of the version in the row `alias`; null where its type has none. */
export const localeOf = ({ localized }: Localized, alias: string): RawBuilder<unknown> => (localized ? sql.id(alias, 'locale') : sql`null`)

/** A condition that both locales are the same; empty for types without localization. */
export const andSameLocale = ({ localized }: Localized, one: unknown, other: unknown): RawBuilder<unknown> =>
  localized ? sql` and ${isSame(one, other)}` : sql``

/** The timestamp `now`, or that of the column where it is later. */
export const notBefore = (column: RawBuilder<unknown>, now: Bound): RawBuilder<unknown> =>
  sql`case when ${column} > ${now} then ${column} else ${now} end`

/** Part of a text: a column, a bound value, or a literal. */
export type TextPart = RawBuilder<unknown> | string

const textPart = (part: TextPart): RawBuilder<unknown> => (typeof part === 'string' ? sql.lit(part) : part)

/**
 * Texts and the values of columns as one text; null where one of them is null. A string becomes a literal of the statement, so it must
 * not come from a request.
 */
export const concat = (...parts: readonly TextPart[]): RawBuilder<unknown> => sql.join(parts.map(textPart), sql` || `)

/** The same with `separator` between them. */
export const joinWith = (separator: string, parts: readonly TextPart[]): RawBuilder<unknown> =>
  concat(...parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part])))

/** The texts of a group joined by commas, in this order. */
export const joinedTexts = (text: RawBuilder<unknown>, order: RawBuilder<unknown>): RawBuilder<unknown> =>
  portable('joinedTexts', sql`string_agg(cast(${text} as text), ',' order by ${order})`, text, order)

/** A text that is another one when there are other rows, or one of their texts is another. */
export const contentDigest = (text: RawBuilder<unknown>): RawBuilder<unknown> =>
  portable('contentDigest', sql`string_agg(${text}, ',')`, text)

export const columnList = (columns: readonly string[]): RawBuilder<unknown> => sql.join(columns.map((column) => sql.id(column)))

/** Inserts the rows that `source` selects, but for those whose key is there already. */
export const insertMissing = (...parts: PortablePhrases['insertMissing']): RawBuilder<unknown> => {
  const [table, columns, source] = parts
  return portable('insertMissing', sql`insert into ${sql.table(table)} (${columnList(columns)}) ${source} on conflict do nothing`, ...parts)
}

/** Inserts a row, or changes the one that has the same `key`. `changes`: assignments, to the columns of the row that is there. */
export const upsert = (...parts: PortablePhrases['upsert']): RawBuilder<unknown> => {
  const [table, row, key, changes] = parts
  return portable('upsert', sql`${insertRowSql(table, row)} on conflict (${columnList(key)}) do update set ${changes}`, ...parts)
}

/** Inserts one row. */
export const insertRowSql = (table: string, row: BoundRow): RawBuilder<unknown> =>
  sql`insert into ${sql.table(table)} (${columnList(Object.keys(row))}) values (${sql.join(Object.values(row))})`

/** Changes rows of `table`, which is aliased `as`, by the rows of another table that `where` joins to them. */
export const updateFrom = (...parts: PortablePhrases['updateFrom']): RawBuilder<unknown> => {
  const [table, as, changes, source, where] = parts
  return portable('updateFrom', sql`update ${sql.table(table)} as ${sql.id(as)} set ${changes} from ${source} where ${where}`, ...parts)
}

/** The ids that a select finds in the table that is changed by them. MySQL reads that table only before the change: `distinct` has it do so. */
export const idsFound = (id: RawBuilder<unknown>, from: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select id from (select distinct ${id} as id from ${from}) as found)`

/** Inserts a row of default values. */
export const insertDefaults = (table: string): RawBuilder<unknown> =>
  portable('insertDefaults', sql`insert into ${sql.table(table)} default values`, table)

/** Rows of a select: its columns and its `from` clause; null: one row. */
export interface SelectedRows {
  readonly columns: Readonly<Record<string, RawBuilder<unknown>>>
  readonly from: RawBuilder<unknown> | null
}

/** The rows of some selects, one after the other. */
export const selectAll = (selects: readonly SelectedRows[]): RawBuilder<unknown> =>
  sql.join(
    selects.map(({ columns, from }) => {
      const selected = sql.join(Object.entries(columns).map(([name, value]) => sql`${value} as ${sql.raw(name)}`))
      return from === null ? sql`select ${selected}` : sql`select ${selected} from ${from}`
    }),
    sql` union all `,
  )

/** Rows that represent documents, and their order. `once`: a document counts at its first position. */
export interface ListedDocuments {
  readonly document: RawBuilder<unknown>
  readonly place: RawBuilder<unknown>
  readonly id: RawBuilder<unknown>
  /** The `from` clause. */
  readonly from: RawBuilder<unknown>
  readonly once?: boolean
}

const selectListed = ({ document, place, id, from, once = false }: ListedDocuments): RawBuilder<unknown> =>
  once
    ? sql`select ${document} as document, min(${place}) as place, min(${id}) as id from ${from} group by 1`
    : sql`select ${document} as document, ${place} as place, ${id} as id from ${from}`

/** The documents of some selects as one text, in the order of their places. */
export const listedText = (selects: readonly ListedDocuments[]): RawBuilder<unknown> =>
  sql`(select ${joinedTexts(sql`document`, sql`place, id`)} from (${sql.join(selects.map(selectListed), sql` union all `)}) as listed)`

export type Stored = string | number | bigint | null

/** Why a column does not give a moment back as it was written, as the end of a sentence; null: it does. */
export type MomentFault = (milliseconds: number, type: ScalarType) => string | null

/** Links a row to a target, as the last link of both; a relation without an order has no such column. */
export function linkLast({ table, here, there, order, inverseOrder }: LinkStorage, row: number, target: number): RawBuilder<unknown> {
  const next = (column: string | null, among: string, id: number) =>
    column === null
      ? []
      : [{ column, value: sql`(select coalesce(max(${sql.id(column)}), 0) + 1 from ${sql.table(table)} where ${sql.id(among)} = ${id})` }]
  const values = [
    { column: here, value: sql`${row}` },
    { column: there, value: sql`${target}` },
    ...next(order, here, row),
    ...next(inverseOrder, there, target),
  ]
  return sql`insert into ${sql.table(table)} (${sql.join(values.map(({ column }) => sql.id(column)))})
    select ${sql.join(values.map(({ value }) => value))}`
}
