// SQL common to all databases. The MySQL driver rewrites the phrases that differ there, by name (mysql/translate-sql.ts).
import { type RawBuilder, sql } from 'kysely'
import type { ScalarType } from '../foundation/public/attribute-types.js'
import type { LinkStorage } from '../model/schema/types.js'

/** Phrases that a driver may have to rewrite. */
export type PortablePhrase = 'same' | 'differs' | 'joined' | 'contentOf' | 'insertMissing' | 'upsert' | 'updateFrom' | 'insertDefaults'

const phrases = new WeakMap<readonly string[], PortablePhrase>()

/** The phrase that a template was registered for. */
export const phraseOf = (texts: readonly string[]): PortablePhrase | undefined => phrases.get(texts)

/** Returns `sql`, registering the template's phrase. Template arrays are singletons per call site, so they serve as keys. */
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

/** Null-safe equality. */
export const isSame = (left: unknown, right: unknown): RawBuilder<boolean> => sameSql`${left} is not distinct from ${right}`

/** Null-safe inequality. */
export const differs = (left: unknown, right: unknown): RawBuilder<boolean> => differsSql`${left} is distinct from ${right}`

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
export const notBefore = (column: RawBuilder<unknown>, now: Stored): RawBuilder<unknown> =>
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
  joinedSql`string_agg(cast(${text} as text), ',' order by ${order})`

/** A text that changes when rows are added or removed or their texts change. */
export const contentDigest = (text: RawBuilder<unknown>): RawBuilder<unknown> => contentSql`string_agg(${text}, ',')`

const names = (columns: readonly string[]): RawBuilder<unknown> => sql.join(columns.map((column) => sql.id(column)))

/** Inserts the selected rows, skipping existing keys. */
export const insertMissing = (table: string, columns: readonly string[], source: RawBuilder<unknown>): RawBuilder<unknown> =>
  insertMissingSql`insert into ${sql.table(table)} (${names(columns)}) ${source} on conflict do nothing`

/** Inserts a row, or applies `changes` to the existing row with the same `key`. */
export const upsert = (
  table: string,
  row: Readonly<Record<string, Stored | RawBuilder<unknown>>>,
  key: readonly string[],
  changes: RawBuilder<unknown>,
): RawBuilder<unknown> =>
  upsertSql`insert into ${sql.table(table)} (${names(Object.keys(row))}) values (${sql.join(Object.values(row))})
    on conflict (${names(key)}) do update set ${changes}`

/** Updates `table` (aliased `as`) from another table joined by `where`. */
export const updateFrom = (
  table: string,
  as: string,
  changes: RawBuilder<unknown>,
  source: RawBuilder<unknown>,
  where: RawBuilder<unknown>,
): RawBuilder<unknown> => updateFromSql`update ${sql.table(table)} as ${sql.id(as)} set ${changes} from ${source} where ${where}`

/** Ids selected from the table being modified. `distinct` makes MySQL materialize the subquery, which it requires. */
export const idsFound = (id: RawBuilder<unknown>, from: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select id from (select distinct ${id} as id from ${from}) as found)`

export const insertDefaults = (table: string): RawBuilder<unknown> => insertDefaultsSql`insert into ${sql.table(table)} default values`

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
