// SQL that every database understands. MySQL's driver translates phrases that it writes differently by their names
// (mysql/translate-sql.ts).
import { type RawBuilder, sql } from 'kysely'
import type { ScalarType } from '../foundation/public/attribute-types.js'
import type { LinkStorage } from '../model/schema/types.js'

/** The phrases of portable SQL that a driver may write differently. */
export type PortablePhrase = 'same' | 'differs' | 'joined' | 'contentOf' | 'insertMissing' | 'upsert' | 'updateFrom' | 'insertDefaults'

const phrases = new WeakMap<readonly string[], PortablePhrase>()

/** The phrase that a node's texts belong to. */
export const phraseOf = (texts: readonly string[]): PortablePhrase | undefined => phrases.get(texts)

/** Returns `sql`, which also notes the name of the phrase: the texts of a template are one object for the life of the process. */
const portable =
  <Value>(phrase: PortablePhrase) =>
  (texts: TemplateStringsArray, ...parts: readonly unknown[]): RawBuilder<Value> => {
    if (!phrases.has(texts)) phrases.set(texts, phrase)
    return sql<Value>(texts, ...parts)
  }

const sameSql = portable<boolean>('same')
const differsSql = portable<boolean>('differs')
const joinedSql = portable('joined')
const contentSql = portable('contentOf')
const insertMissingSql = portable('insertMissing')
const upsertSql = portable('upsert')
const updateFromSql = portable('updateFrom')
const insertDefaultsSql = portable('insertDefaults')

/** True where both values are equal, or both are null. */
export const isSame = (left: unknown, right: unknown): RawBuilder<boolean> => sameSql`${left} is not distinct from ${right}`

/** True where the values are not equal, and not both null. */
export const differs = (left: unknown, right: unknown): RawBuilder<boolean> => differsSql`${left} is distinct from ${right}`

/** Types without localization have no locale, even if another program has written one into their rows. */
interface Localized {
  readonly localized: boolean
}

/** The locale of the version in the row `alias`; null where its type has none. */
export const localeOf = ({ localized }: Localized, alias: string): RawBuilder<unknown> => (localized ? sql.id(alias, 'locale') : sql`null`)

/** A condition that both locales are the same; empty for types without localization. */
export const andSameLocale = ({ localized }: Localized, one: unknown, other: unknown): RawBuilder<unknown> =>
  localized ? sql` and ${isSame(one, other)}` : sql``

/** The moment `now`, or that of the column where it is later. */
export const notBefore = (column: RawBuilder<unknown>, now: Stored): RawBuilder<unknown> =>
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
  joinedSql`string_agg(cast(${text} as text), ',' order by ${order})`

/** A text that is another one when there are other rows, or one of their texts is another. */
export const contentDigest = (text: RawBuilder<unknown>): RawBuilder<unknown> => contentSql`string_agg(${text}, ',')`

const names = (columns: readonly string[]): RawBuilder<unknown> => sql.join(columns.map((column) => sql.id(column)))

/** Inserts the rows that `source` selects, but for those whose key is there already. */
export const insertMissing = (table: string, columns: readonly string[], source: RawBuilder<unknown>): RawBuilder<unknown> =>
  insertMissingSql`insert into ${sql.table(table)} (${names(columns)}) ${source} on conflict do nothing`

/** Inserts a row, or changes the one that has the same `key`. `changes`: assignments, to the columns of the row that is there. */
export const upsert = (
  table: string,
  row: Readonly<Record<string, Stored | RawBuilder<unknown>>>,
  key: readonly string[],
  changes: RawBuilder<unknown>,
): RawBuilder<unknown> =>
  upsertSql`insert into ${sql.table(table)} (${names(Object.keys(row))}) values (${sql.join(Object.values(row))})
    on conflict (${names(key)}) do update set ${changes}`

/** Changes rows of `table`, which is aliased `as`, by the rows of another table that `where` joins to them. */
export const updateFrom = (
  table: string,
  as: string,
  changes: RawBuilder<unknown>,
  source: RawBuilder<unknown>,
  where: RawBuilder<unknown>,
): RawBuilder<unknown> => updateFromSql`update ${sql.table(table)} as ${sql.id(as)} set ${changes} from ${source} where ${where}`

/** The ids that a select finds in the table that is changed by them. MySQL reads that table only before the change: `distinct` has it do so. */
export const idsFound = (id: RawBuilder<unknown>, from: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select id from (select distinct ${id} as id from ${from}) as found)`

/** Inserts a row of default values. */
export const insertDefaults = (table: string): RawBuilder<unknown> => insertDefaultsSql`insert into ${sql.table(table)} default values`

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
