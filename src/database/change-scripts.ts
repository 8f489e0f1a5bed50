// Scripts: sequences of statements that depend on earlier results. A runner executes them synchronously or asynchronously.
import { type RawBuilder, sql } from 'kysely'
import type { DraftLinks, IncomingLinks, PlanStep, StepOf } from '../model/diff/steps.js'
import { renamedInConfiguration, renamedInFields, storedTypesKey, withStoredTypes } from '../model/diff/strapi-settings.js'
import { ownedLinks, ownedMorphs } from '../model/schema/graph.js'
import type { ContentType, Model, Schema } from '../model/schema/types.js'
import { describeTables } from '../model/tables/tables.js'
import type { Dialect } from './dialect.js'
import type { Stored } from './portable-sql.js'

export type ScriptRow = Readonly<Record<string, Stored>>

/** Yields portable SQL and receives the rows of each statement. */
export type StepScript = Generator<RawBuilder<unknown>, void, readonly ScriptRow[]>

/** The dialect features that scripts need: bound rows, and new row ids that no concurrent writer uses. */
export interface ScriptDialect {
  readonly rows: Dialect['rows']
  /** A query that returns new ids in the column `id`. */
  newIds(table: string, count: number): RawBuilder<unknown>
  /** Turns the result of that query into a function that returns the next id. */
  idsFrom(found: readonly number[]): () => number
}

export async function runScript(script: StepScript, ask: (query: RawBuilder<unknown>) => Promise<readonly ScriptRow[]>): Promise<void> {
  for (let next = script.next(); next.done !== true; ) next = script.next(await ask(next.value))
}

/** `runScript` for a synchronous database. */
export function runScriptSync(script: StepScript, ask: (query: RawBuilder<unknown>) => readonly ScriptRow[]): void {
  for (let next = script.next(); next.done !== true; ) next = script.next(ask(next.value))
}

const literal = (value: unknown): string => {
  if (value === null || value === undefined) return 'null'
  return typeof value === 'number' || typeof value === 'bigint' ? String(value) : `'${String(value).replaceAll("'", "''")}'`
}

/** Replaces the placeholders (`?` or `$1`) of a statement with literals. */
export function statementText(text: string, values: readonly unknown[]): string {
  let next = 0
  return values.length === 0
    ? text
    : text.replace(/\?|\$(\d+)/g, (_mark, number?: string) => literal(values[number === undefined ? next++ : Number(number) - 1]))
}

/** Describes a step that the service computes, as a SQL comment; null for steps that are plain statements. */
export function computedText(step: PlanStep): string | null {
  switch (step.kind) {
    case 'convertColumn':
      return `-- fills "${step.column.name}" of "${step.table}" from "${step.as}": ${step.conversion.from} to ${step.conversion.to}`
    case 'makeDrafts':
      return `-- inserts a draft of every row of "${step.table}" that has none, with copies of its components, files and links`
    case 'renameInSettings':
      return `-- renames ${step.names.map(({ from, to }) => `${from} to ${to}`).join(', ')} in the settings of the content manager and in permissions`
    case 'storeContentTypes':
      return '-- writes the schemas to "strapi_core_store_settings"'
    default:
      return null
  }
}

/** Updates the setting in which Strapi records the types of its last start. Does nothing if the setting is missing. */
export function storeContentTypes({ stored, removed }: StepOf<'storeContentTypes'>, model: Model): StepScript {
  const types = stored.map((uid) => model.types.get(uid)).filter((type): type is ContentType => type?.exposed === true)
  return rewrite(settings, storedTypesKey, (text) => withStoredTypes(text, types, removed))
}

/** Renames attributes in the content manager's settings and in the permissions of administrators. */
export function* renameInSettings({ schema, names }: StepOf<'renameInSettings'>): StepScript {
  const renamed = new Map(names.map(({ from, to }) => [from, to]))
  for (const kind of ['content_types', 'components']) {
    const key = `plugin_content_manager_configuration_${kind}::${schema}`
    yield* rewrite(settings, key, (text) => renamedInConfiguration(text, renamed))
  }
  yield* rewrite(permissions, schema, (text) => renamedInFields(text, renamed))
}

interface TextLocation {
  readonly table: string
  readonly column: string
  readonly by: string
}

const settings: TextLocation = { table: 'strapi_core_store_settings', column: 'value', by: 'key' }
const permissions: TextLocation = { table: 'admin_permissions', column: 'properties', by: 'subject' }

function* rewrite({ table, column, by }: TextLocation, value: string, change: (text: string) => string): StepScript {
  const from = sql.table(table)
  const text = sql.id(column)
  const rows = yield sql`select id, ${text} as found from ${from} where ${sql.id(by)} = ${value}`
  for (const { id, found } of rows)
    if (found !== null && found !== undefined) yield sql`update ${from} set ${text} = ${change(String(found))} where id = ${id}`
}

type Sql = RawBuilder<unknown>

const list = (names: readonly string[], of?: string): Sql =>
  sql.join(names.map((name) => (of === undefined ? sql.id(name) : sql.id(of, name))))

/** Number of rows whose components are copied together. */
const batch = 500

/** Creates a draft for every published row without one. `model` is the new model. */
export function* createDrafts(step: StepOf<'makeDrafts'>, model: Model, dialect: ScriptDialect): StepScript {
  const table = sql.table(step.table)
  const [found] = yield sql`select max(id) as last from ${table}`
  const isOf = sql`draft.document_id = published.document_id and coalesce(draft.locale, '') = coalesce(published.locale, '') and draft.published_at is null`
  yield sql`insert into ${table} (${list([...step.columns, 'published_at'])}) select ${list(step.columns, 'published')}, null from ${table} as published
    where published.published_at is not null and not exists (select 1 from ${table} as draft where ${isOf}) order by published.id`
  // From here on every published row has a draft; the statements below preserve that.
  const pairsWhere = (condition: Sql): Sql =>
    sql`(select published.id as published, draft.id as draft from ${table} as published join ${table} as draft on ${isOf}
      where published.published_at is not null and ${condition})`
  const isNew = sql`draft.id > ${Number(found?.last ?? 0)}`
  const both = { all: pairsWhere(sql`1 = 1`), created: pairsWhere(isNew) }
  for (const links of step.links) yield copiedLinks(links, both)
  for (const links of step.incoming) yield incomingLinks(links, both)
  yield copiedFiles(step.schema, both.created)
  const pairs = yield sql`select published, draft from ${both.created} as own order by draft`
  const copies = pairs.map(({ published, draft }) => ({ original: Number(published), copy: Number(draft) }))
  const columns = new Map(describeTables(model).map(({ name, columns: all }) => [name, all.map((column) => column.name)]))
  const copier = { model, dialect, columns }
  for (let at = 0; at < copies.length; at += batch) yield* copyEntries(copier, model.types.get(step.schema)!, copies.slice(at, at + batch))
}

/** Selects of (published id, draft id) pairs: all of them, and those with a new draft. */
interface DraftPairs {
  readonly all: Sql
  readonly created: Sql
}

/** Copies the links of published rows to their new drafts. Links within the type connect draft to draft. */
function copiedLinks({ table, here, there, others, within }: DraftLinks, { all, created }: DraftPairs): Sql {
  const target = within ? sql`target.draft` : sql.id('link', there)
  const join = within ? sql`join ${all} as target on target.published = ${sql.id('link', there)}` : sql``
  const more = others.map((name) => sql.id('link', name))
  return sql`insert into ${sql.table(table)} (${list([here, there, ...others])}) select ${sql.join([sql`own.draft`, target, ...more])}
    from ${sql.table(table)} as link join ${created} as own on own.published = ${sql.id('link', here)} ${join} order by link.id`
}

/**
 * Points links from drafts at the new drafts; rows of types without drafts link to both versions. Includes restored drafts, which lack the
 * links written since they were archived.
 */
function incomingLinks({ table: name, here, there, others, owners, ownersHaveDrafts }: IncomingLinks, { all }: DraftPairs): Sql {
  const table = sql.table(name)
  const isNew = sql`not exists (select 1 from ${table} as present
    where ${sql.id('present', here)} = own.draft and ${sql.id('present', there)} = ${sql.id('link', there)})`
  const found = sql`${table} as link join ${all} as own on own.published = ${sql.id('link', here)}`
  if (!ownersHaveDrafts)
    return sql`insert into ${table} (${list([here, there, ...others])}) select own.draft, ${list([there, ...others], 'link')}
      from ${found} where ${isNew} order by link.id`
  const moved = sql`select link.id from ${found} join ${sql.table(owners)} as owner on owner.id = ${sql.id('link', there)}
    where owner.published_at is null and ${isNew}`
  return sql`update ${table} set ${sql.id(here)} = (select own.draft from ${all} as own where own.published = ${sql.id(name, here)})
    where id in (select id from (${moved}) as moved)`
}

const fileColumns = ['file_id', 'related_type', 'field', 'order']

const copiedFiles = (uid: string, created: Sql): Sql =>
  sql`insert into files_related_mph (related_id, ${list(fileColumns)}) select own.draft, ${list(fileColumns, 'link')}
    from files_related_mph as link join ${created} as own on own.published = link.related_id
    where link.related_type = ${uid} order by link.id`

interface RowCopy {
  readonly original: number
  readonly copy: number
}

interface Copier {
  readonly model: Model
  readonly dialect: ScriptDialect
  readonly columns: ReadonlyMap<string, readonly string[]>
}

/** Copies the components of rows recursively. */
function* copyEntries(copier: Copier, { componentTable }: Schema, pairs: readonly RowCopy[]): StepScript {
  if (componentTable === null || pairs.length === 0) return
  const { model, dialect } = copier
  const entries = sql.table(componentTable)
  const owners = dialect.rows(
    pairs.map(({ original, copy }) => [original, copy]),
    { original: 'integer', copy: 'integer' },
    'owner',
  )
  const found = yield sql`select entry.id as entry, entry.cmp_id as component, entry.component_type as uid, owner.copy as owner
    from ${owners} join ${entries} as entry on entry.entity_id = owner.original order by owner.ordinal, entry.id`
  for (const uid of new Set(found.map((entry) => String(entry.uid)))) {
    const component = model.components.get(uid)
    if (component === undefined) continue
    const own = found.filter((entry) => entry.uid === uid)
    const next = dialect.idsFrom((yield dialect.newIds(component.table, own.length)).map(({ id }) => Number(id)))
    const copies = own.map((entry) => ({ original: Number(entry.component), copy: next() }))
    yield* copyComponents(copier, component, copies)
    const given = dialect.rows(
      own.map(({ entry, owner }, index) => [Number(entry), Number(owner), copies[index]!.copy]),
      { entry: 'integer', owner: 'integer', copy: 'integer' },
      'given',
    )
    yield sql`insert into ${entries} (entity_id, cmp_id, ${list(entryColumns)})
      select given.owner, given.copy, ${list(entryColumns, 'entry')} from ${given} join ${entries} as entry on entry.id = given.entry
      order by given.ordinal`
  }
}

const entryColumns = ['component_type', 'field', 'order']

function* copyComponents(copier: Copier, component: Schema, copies: readonly RowCopy[]): StepScript {
  const { model, dialect, columns } = copier
  const own = dialect.rows(
    copies.map(({ original, copy }) => [original, copy]),
    { original: 'integer', copy: 'integer' },
    'own',
  )
  const columnsOf = (table: string, without: string): readonly string[] =>
    columns.get(table)!.filter((name) => name !== 'id' && name !== without)
  const copied = (table: string, key: string): Sql => {
    const others = columnsOf(table, key)
    const order = key === 'id' ? sql`own.ordinal` : sql`own.ordinal, row_.id`
    return sql`insert into ${sql.table(table)} (${list([key, ...others])}) select ${sql.join([sql`own.copy`, ...others.map((name) => sql.id('row_', name))])}
      from ${own} join ${sql.table(table)} as row_ on ${sql.id('row_', key)} = own.original order by ${order}`
  }
  yield copied(component.table, 'id')
  for (const { shape, storage } of ownedLinks(model)) if (shape.uid === component.uid) yield copied(storage.table, storage.here)
  for (const { shape, storage } of ownedMorphs(model))
    if (shape.uid === component.uid && storage.kind === 'table') yield copied(storage.table, storage.here)
  yield sql`insert into files_related_mph (related_id, ${list(fileColumns)}) select own.copy, ${list(fileColumns, 'link')}
    from ${own} join files_related_mph as link on link.related_id = own.original
    where link.related_type = ${component.uid} order by own.ordinal, link.id`
  yield* copyEntries(copier, component, copies)
}
