// SQL common to all databases. The MySQL driver writes some phrases and timestamps differently (mysql/translate-sql.ts).
import { type RawBuilder, type RawNode, sql, type ValueNode } from 'kysely'
import type { ScalarType } from '../foundation/public/attribute-types.js'
import type { LinkStorage } from '../model/schema/types.js'

type Fragment = RawBuilder<unknown>

/** Phrases that a driver may write differently, with their parts. */
export interface PortablePhrases {
  readonly same: readonly [left: unknown, right: unknown]
  readonly differs: readonly [left: unknown, right: unknown]
  readonly joinedTexts: readonly [text: Fragment, order: Fragment]
  readonly contentDigest: readonly [text: Fragment]
  readonly castType: readonly [type: CastType]
  readonly insertMissing: readonly [table: string, columns: readonly string[], source: Fragment]
  readonly upsert: readonly [table: string, row: BoundRow, key: readonly string[], changes: Fragment]
  readonly updateFrom: readonly [table: string, as: string, changes: Fragment, source: Fragment, where: Fragment]
  readonly insertDefaults: readonly [table: string]
}

/** A phrase as a Kysely node: its usual SQL, plus its name and parts for drivers that write it differently. */
export interface PhraseNode extends RawNode {
  readonly phrase?: keyof PortablePhrases
  readonly parts: PortablePhrases[keyof PortablePhrases]
}

/** A bound value as a Kysely node. `isTimestamp`: numbers are milliseconds since 1970. */
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

/** Binds a value for a timestamp column: milliseconds since 1970, or a parameter of a plan. Required for every such value. */
export const bindTimestamp = (value: unknown): RawBuilder<unknown> => fragment({ kind: 'ValueNode', value, isTimestamp: true })

/** A value to bind, or an expression. */
export type Bound = Stored | RawBuilder<unknown>
/** The values of a row. The timestamps that most tables have cannot be bound as plain numbers. */
export type BoundRow = Readonly<Record<string, Bound>> &
  Partial<Record<'created_at' | 'updated_at' | 'published_at', RawBuilder<unknown> | null>>

type CastType = 'text' | 'integer' | 'double precision'

export const cast = (value: RawBuilder<unknown> | string, type: CastType): RawBuilder<unknown> =>
  sql`cast(${value} as ${portable('castType', sql.raw(type), type)})`

/** Null-safe equality. */
export const isSame = (left: unknown, right: unknown): RawBuilder<boolean> =>
  portable('same', sql<boolean>`${left} is not distinct from ${right}`, left, right)

/** Null-safe inequality. */
export const differs = (left: unknown, right: unknown): RawBuilder<boolean> =>
  portable('differs', sql<boolean>`${left} is distinct from ${right}`, left, right)

/** Types without localization have no locale, even if another program has stored one. */
interface Localized {
  readonly localized: boolean
}

/** The locale of the row `alias`; null if its type is not localized. */
export const localeOf = ({ localized }: Localized, alias: string): RawBuilder<unknown> => (localized ? sql.id(alias, 'locale') : sql`null`)

/** A condition that the locales are equal; empty for types without localization. */
export const andSameLocale = ({ localized }: Localized, one: unknown, other: unknown): RawBuilder<unknown> =>
  localized ? sql` and ${isSame(one, other)}` : sql``

/** `now`, or the column's value if that is later. */
export const notBefore = (column: RawBuilder<unknown>, now: Bound): RawBuilder<unknown> =>
  sql`case when ${column} > ${now} then ${column} else ${now} end`

export type TextPart = RawBuilder<unknown> | string

const textPart = (part: TextPart): RawBuilder<unknown> => (typeof part === 'string' ? sql.lit(part) : part)

/** Concatenates text parts; null if any part is null. A string becomes a literal, so it must not come from a request. */
export const concat = (...parts: readonly TextPart[]): RawBuilder<unknown> => sql.join(parts.map(textPart), sql` || `)

/** `concat` with a separator. */
export const joinWith = (separator: string, parts: readonly TextPart[]): RawBuilder<unknown> =>
  concat(...parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part])))

/** Concatenates the texts of a group, separated by commas, in the given order. */
export const joinedTexts = (text: RawBuilder<unknown>, order: RawBuilder<unknown>): RawBuilder<unknown> =>
  portable('joinedTexts', sql`string_agg(cast(${text} as text), ',' order by ${order})`, text, order)

/** A text that changes when rows are added or removed or their texts change. */
export const contentDigest = (text: RawBuilder<unknown>): RawBuilder<unknown> =>
  portable('contentDigest', sql`string_agg(${text}, ',')`, text)

export const columnList = (columns: readonly string[]): RawBuilder<unknown> => sql.join(columns.map((column) => sql.id(column)))

/** Inserts the selected rows, skipping existing keys. */
export const insertMissing = (...parts: PortablePhrases['insertMissing']): RawBuilder<unknown> => {
  const [table, columns, source] = parts
  return portable('insertMissing', sql`insert into ${sql.table(table)} (${columnList(columns)}) ${source} on conflict do nothing`, ...parts)
}

/** Inserts a row, or applies `changes` to the existing row with the same `key`. */
export const upsert = (...parts: PortablePhrases['upsert']): RawBuilder<unknown> => {
  const [table, row, key, changes] = parts
  return portable('upsert', sql`${insertRowSql(table, row)} on conflict (${columnList(key)}) do update set ${changes}`, ...parts)
}

export const insertRowSql = (table: string, row: BoundRow): RawBuilder<unknown> =>
  sql`insert into ${sql.table(table)} (${columnList(Object.keys(row))}) values (${sql.join(Object.values(row))})`

/** Updates `table` (aliased `as`) from another table joined by `where`. */
export const updateFrom = (...parts: PortablePhrases['updateFrom']): RawBuilder<unknown> => {
  const [table, as, changes, source, where] = parts
  return portable('updateFrom', sql`update ${sql.table(table)} as ${sql.id(as)} set ${changes} from ${source} where ${where}`, ...parts)
}

/** Ids selected from the table being modified. `distinct` makes MySQL materialize the subquery, which it requires. */
export const idsFound = (id: RawBuilder<unknown>, from: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select id from (select distinct ${id} as id from ${from}) as found)`

export const insertDefaults = (table: string): RawBuilder<unknown> =>
  portable('insertDefaults', sql`insert into ${sql.table(table)} default values`, table)

/** A select: its columns and `from` clause; null selects a single row. */
export interface SelectedRows {
  readonly columns: Readonly<Record<string, RawBuilder<unknown>>>
  readonly from: RawBuilder<unknown> | null
}

/** `union all` of the selects. */
export const selectAll = (selects: readonly SelectedRows[]): RawBuilder<unknown> =>
  sql.join(
    selects.map(({ columns, from }) => {
      const selected = sql.join(Object.entries(columns).map(([name, value]) => sql`${value} as ${sql.raw(name)}`))
      return from === null ? sql`select ${selected}` : sql`select ${selected} from ${from}`
    }),
    sql` union all `,
  )

/** Rows that represent documents, with their position. `once`: each document counts at its first position only. */
export interface ListedDocuments {
  readonly document: RawBuilder<unknown>
  readonly place: RawBuilder<unknown>
  readonly id: RawBuilder<unknown>
  readonly from: RawBuilder<unknown>
  readonly once?: boolean
}

const selectListed = ({ document, place, id, from, once = false }: ListedDocuments): RawBuilder<unknown> =>
  once
    ? sql`select ${document} as document, min(${place}) as place, min(${id}) as id from ${from} group by 1`
    : sql`select ${document} as document, ${place} as place, ${id} as id from ${from}`

/** Concatenates the documents of several selects, ordered by position. */
export const listedText = (selects: readonly ListedDocuments[]): RawBuilder<unknown> =>
  sql`(select ${joinedTexts(sql`document`, sql`place, id`)} from (${sql.join(selects.map(selectListed), sql` union all `)}) as listed)`

export type Stored = string | number | bigint | null

/** Explains, as the end of a sentence, why a column does not preserve a timestamp; null if it does. */
export type MomentFault = (milliseconds: number, type: ScalarType) => string | null

/** Links a row to a target, as the last link on both sides. Unordered relations have no order columns. */
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
