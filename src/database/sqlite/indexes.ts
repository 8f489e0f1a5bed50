// Indexes of our own beside Strapi's: so that a page, its order and its total do not cost what the whole table does.
// Named `octavo_*`; Strapi leaves them alone. Those for signing in are always there, the others with the setting `database.indexes`.
import type Database from 'better-sqlite3'
import type { Component, ContentType, Model, Scalar, ScalarType } from '../../model/types.js'
import { quoted } from '../schema/table.js'
import { blockFor } from './connection.js'

export interface OwnIndex {
  readonly name: string
  readonly table: string
  readonly sql: string
}

/** Long texts and structures are not worth an index; two values do not tell rows apart. */
const unindexedTypes: ReadonlySet<ScalarType> = new Set(['text', 'richtext', 'json', 'blocks', 'password', 'boolean'])

/** What rows are known by: conditions ask for one of these values, in whatever version or locale it is. */
const knownBy: ReadonlySet<ScalarType> = new Set(['string', 'uid', 'email'])

/** What drafts are sorted by: whoever works on them wants the last ones. */
const draftOrder: readonly string[] = ['updatedAt', 'createdAt']

/**
 * What is asked for with the latest first, and hardly ever the same in two rows. Those that are the same stand by their ids, which
 * an index read backwards has the other way round.
 */
const latestFirst: readonly string[] = ['createdAt', 'updatedAt', 'publishedAt']

/**
 * The indexes for a model: one per list that the API serves by default, one per attribute to sort and compare by, one per attribute
 * that rows are known by, one per relation for the last place among a target's owners; and those by which users and their sessions
 * are looked up.
 */
export function describeIndexes(model: Model): readonly OwnIndex[] {
  const content = [...model.types.values()].filter((type) => type.exposed && !type.singleType).flatMap(indexesOf)
  const shapes = [...model.types.values(), ...model.components.values()]
  return [...content, ...[...model.components.values()].flatMap(valueIndexesOf), ...shapes.flatMap(linkIndexesOf), ...accountIndexes()]
}

/** What signing in, up and out looks for, on the event loop: none of it may cost what all users do. */
export const accountIndexes = (): readonly OwnIndex[] =>
  accountColumns.map(([table, suffix, columns]) => indexOf(table, suffix, columns, null))

const accountColumns: readonly (readonly [table: string, suffix: string, columns: readonly string[]])[] = [
  ['up_users', 'by_email', ['email']],
  ['up_users', 'by_username', ['username']],
  // The last place among the users of a role.
  ['up_users_role_lnk', 'by_role', ['role_id', 'user_ord']],
  ['strapi_sessions', 'by_session', ['session_id']],
  ['strapi_sessions', 'by_user', ['user_id']],
  ['strapi_sessions', 'by_end', ['expires_at']],
]

/** `descending`: the last column. */
function indexOf(table: string, suffix: string, columns: readonly string[], where: string | null, descending = false): OwnIndex {
  const name = `octavo_${table}_${suffix}`
  const rows = where === null ? '' : ` where ${where}`
  const order = `${columns.map(quoted).join(', ')}${descending ? ' desc' : ''}`
  return { name, table, sql: `create index if not exists ${quoted(name)} on ${quoted(table)} (${order})${rows}` }
}

function indexesOf(type: ContentType): OwnIndex[] {
  const locale = type.localized ? ['locale'] : []
  const published = type.draftAndPublish ? 'published_at is not null' : null
  const index = (suffix: string, columns: readonly string[], where: string | null) => indexOf(type.table, suffix, columns, where)
  const sorted = ({ column, name }: Scalar, suffix: string, where: string | null) =>
    latestFirst.includes(name)
      ? indexOf(type.table, `latest_${column}${suffix}`, [...locale, column], where, true)
      : indexOf(type.table, `by_${column}${suffix}`, [...locale, column], where)
  // The row id ends every index of its own: it needs no column.
  const lists = [
    ...(published === null
      ? []
      : [index('published', [...locale, 'id'], published), index('drafts', [...locale, 'id'], 'published_at is null')]),
    ...(published === null && type.localized ? [index('locale', ['locale', 'id'], null)] : []),
  ]
  const scalars = scalarsOf(type)
  const orders = scalars.map((attribute) => sorted(attribute, '', published))
  if (published === null && !type.localized) return [...lists, ...orders]
  const drafts = scalars.filter(({ name }) => published !== null && draftOrder.includes(name))
  return [
    ...lists,
    ...orders,
    ...drafts.map((attribute) => sorted(attribute, '_of_drafts', 'published_at is null')),
    ...valueIndexesOf(type),
  ]
}

/** The attributes that are worth an index; ids have theirs, and locales begin those of others. */
const scalarsOf = ({ attributes }: ContentType | Component): readonly Scalar[] =>
  [...attributes.values()].filter(
    (attribute): attribute is Scalar =>
      attribute.kind === 'scalar' && !unindexedTypes.has(attribute.type) && attribute.name !== 'id' && attribute.name !== 'locale',
  )

/** Drafts, and rows behind relations, are looked for in all versions and locales at once. */
function valueIndexesOf(shape: ContentType | Component): OwnIndex[] {
  const known = scalarsOf(shape).filter(({ type, name }) => knownBy.has(type) && name !== 'documentId')
  return known.map(({ column }) => indexOf(shape.table, `with_${column}`, [column], null))
}

/**
 * A new link goes behind the others of its target, which may have as many as there are rows; and components lead to the rows that
 * they belong to.
 */
function linkIndexesOf({ attributes, componentTable }: ContentType | Component): OwnIndex[] {
  const owners = componentTable === null ? [] : [indexOf(componentTable, 'by_component', ['cmp_id'], null)]
  const places = [...attributes.values()].flatMap((attribute) => {
    if (attribute.kind !== 'relation' || attribute.storage.kind !== 'link') return []
    const { table, there, inverseOrder, owner } = attribute.storage
    return owner && inverseOrder !== null ? [indexOf(table, 'by_target', [there, inverseOrder], null)] : []
  })
  return [...owners, ...places]
}

/** Called before each index, with how many were made before it. */
type Report = (index: OwnIndex, done: number, missing: number) => void

/** Rows of an index that its statistics look at. */
const analyzedRows = 1000

/** Milliseconds of making indexes after which other connections get as many to write, and to read the schema that they now have. */
const atOnce = 25

/**
 * Makes the indexes that are missing, one after the other, and reports each before it starts; then the statistics without which
 * SQLite takes the wrong one. Several small ones are one change of the schema. Returns how many were made.
 */
export function createIndexes(database: Database.Database, indexes: readonly OwnIndex[], report: Report): number {
  const present = new Set(database.prepare("select name from sqlite_schema where type = 'index'").pluck().all())
  const missing = indexes.filter(({ name }) => !present.has(name))
  for (let done = 0; done < missing.length; ) {
    if (done > 0) blockFor(atOnce)
    done = createSome(database, missing, done, report)
  }
  if (missing.length > 0 || statisticsLack(database, indexes)) analyze(database)
  return missing.length
}

/** One transaction: `missing` from `first` on, until `atOnce` has passed. Returns the first that is still missing. */
function createSome(database: Database.Database, missing: readonly OwnIndex[], first: number, report: Report): number {
  const end = performance.now() + atOnce
  let done = first
  const create = () => {
    do {
      const index = missing[done]!
      report(index, done, missing.length)
      database.exec(index.sql)
      done++
    } while (done < missing.length && performance.now() < end)
  }
  database.transaction(create).immediate()
  return done
}

/** True where a table was never looked at, or grew tenfold since. Bit 1 only asks, bit 16 asks about every table. */
function statisticsLack(database: Database.Database, indexes: readonly OwnIndex[]): boolean {
  const lacking = database.pragma('optimize = 0x10003') as readonly { readonly optimize: string }[]
  const tables = new Set(lacking.map(({ optimize }) => optimize))
  return indexes.some(({ table }) => tables.has(`ANALYZE "main".${quoted(table)}`))
}

/** The table of statistics is made anew: a change of the schema, so that open connections read it before their next statement. */
function analyze(database: Database.Database): void {
  database.pragma(`analysis_limit = ${analyzedRows}`)
  database.transaction(() => database.exec('drop table if exists sqlite_stat1; analyze')).immediate()
}
