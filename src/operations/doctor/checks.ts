// The consistency checks of `octavo doctor`. Each check searches the database for violations of one rule and changes nothing.

import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { sql } from 'kysely'
import { hasColumns, type MainConnection, type RowReader } from '../../database/database.js'
import { concat } from '../../database/portable-sql.js'
import { isArchived } from '../../model/diff/comparison.js'
import type { Rename } from '../../model/diff/types.js'
import {
  type ComponentHolder,
  componentHolders,
  type OwnedLink,
  type OwnedMorph,
  ownedLinks,
  ownedMorphs,
} from '../../model/schema/graph.js'
import type { Component, ContentType, Model, Schema } from '../../model/schema/types.js'
import {
  ambiguousRelations,
  danglingEntries,
  danglingLinks,
  danglingMorphs,
  draftless,
  duplicates,
  type ExaminedProject,
  filelessLinks,
  missingDocumentIds,
  missingTables,
  orphans,
  ownerlessFiles,
  type Search,
  sharedEntries,
  sharedEntryPositions,
  sharedFilePositions,
  sharedPositions,
  type Tables,
  tooManyEntries,
  tooManyLinks,
  unknownComponents,
  unknownFileOwners,
} from './searches.js'

export interface CheckResult {
  readonly name: string
  /** Reported as a note: Strapi leaves such rows in normal operation. */
  readonly warning: boolean
  readonly count: number
  /** The first few violations. */
  readonly examples: readonly string[]
}

interface Check {
  readonly name: string
  readonly warning?: boolean
  readonly searches: readonly Search[]
}

const shown = 5

/** Runs every check. A failed statement counts as one violation, with the error as its example. */
export async function runChecks({ database, model }: ExaminedProject): Promise<readonly CheckResult[]> {
  const { findDamage: damage } = database
  const found = damage === null ? [] : [await inspected('the database file is intact', damage)]
  let tables: Tables
  try {
    tables = await database.tables()
  } catch (error) {
    return damage === null ? [failed('the tables can be read', error)] : found
  }
  found.push(await inspected('foreign keys reference existing rows', () => danglingRows(database)))
  const left = await leftByChanges(database.main, tables).catch((error: unknown): LeftByChanges => {
    found.push(failed('the changes of the model can be read', error))
    return { narrowed: new Set(), keptEntries: [], keptDocuments: [] }
  })
  for (const check of checksOf(model, tables, left)) found.push(await run(database.main, check))
  return found
}

/** The database's error, more detailed than in API responses. */
const reasonOf = (error: unknown): string => (((error as Error).cause ?? error) as Error).message

const failed = (name: string, error: unknown): CheckResult => ({ name, warning: false, count: 1, examples: [reasonOf(error)] })

/** Rows that reference missing ones, except archived rows, whose targets may have been deleted since. */
const danglingRows = async (database: ExaminedProject['database']): Promise<readonly string[]> =>
  (await database.danglingRows()).filter((row) => !isArchived(row))

async function inspected(name: string, inspect: () => Promise<readonly string[]>): Promise<CheckResult> {
  try {
    const found = await inspect()
    return { name, warning: false, count: found.length, examples: found.slice(0, shown) }
  } catch (error) {
    return failed(name, error)
  }
}

async function run(database: MainConnection, { name, warning = false, searches }: Check): Promise<CheckResult> {
  let count = 0
  const examples: string[] = []
  for (const search of searches) {
    try {
      const rows = await database.rows<{ total: number; example: string }>(
        sql`select count(*) over () as total, example from (${search}) as found limit ${shown}`,
      )
      count += Number(rows[0]?.total ?? 0)
      examples.push(...rows.map(({ example }) => example))
    } catch (error) {
      count += 1
      examples.push(reasonOf(error))
    }
  }
  return { name, warning, count, examples: examples.slice(0, shown) }
}

/** The checks that apply to existing tables. */
function checksOf(model: Model, tables: Tables, left: LeftByChanges): readonly Check[] {
  const { narrowed, keptDocuments } = left
  const types = [...model.types.values()].filter(({ table }) => tables.has(table))
  const drafted = types.filter(({ draftAndPublish }) => draftAndPublish)
  const links = ownedLinks(model).filter(({ shape, target, storage }) =>
    [shape.table, target.table, storage.table].every((table) => tables.has(table)),
  )
  const holders = componentHolders(model).filter(({ shape, componentTable }) => tables.has(shape.table) && tables.has(componentTable))
  const components = [...model.components.values()].filter(({ table }) => tables.has(table))
  const shapes = [...types, ...components]
  const morphs = ownedMorphs(model).filter(({ shape, storage }) => tables.has(storage.kind === 'table' ? storage.table : shape.table))
  const media = tables.has('files_related_mph')
  const isNarrowed = ({ shape, target, relation }: OwnedLink): boolean =>
    narrowed.has(`${shape.uid}.${relation.name}`) || (relation.inverse !== null && narrowed.has(`${target.uid}.${relation.inverse}`))
  const hasPendingLinks = tables.has('octavo_pending_links')
  const unfinished = sql`select summary as example from octavo_model_history where is_made <> 1`
  return [
    { name: 'no change of the model is unfinished', searches: tables.has('octavo_model_history') ? [unfinished] : [] },
    { name: 'every table of the content model exists', warning: true, searches: missingTables(model, tables) },
    { name: 'every relation has one owner and a table', warning: true, searches: ambiguousRelations(model) },
    { name: 'a document has at most one draft and one published row per locale', searches: types.map(duplicates) },
    { name: 'every row has a document id', searches: types.map(missingDocumentIds) },
    { name: 'every published row has its draft', searches: drafted.map(draftless) },
    { name: 'link rows reference existing rows', searches: links.flatMap(danglingLinks) },
    { name: 'targets of an entry have distinct positions', searches: links.flatMap((link) => sharedPositions(link, 'targets')) },
    {
      name: 'owners of a target have distinct positions',
      warning: true,
      searches: links.flatMap((link) => sharedPositions(link, 'owners')),
    },
    { name: 'to-one relations have at most one target', searches: links.filter((link) => !isNarrowed(link)).flatMap(tooManyLinks) },
    {
      name: 'relations that a change of the model made to-one have at most one target',
      warning: true,
      searches: links.filter(isNarrowed).flatMap(tooManyLinks),
    },
    ...componentChecks(holders, components, left),
    { name: 'file links have an existing owner', searches: media ? shapes.map((shape) => ownerlessFiles(shape, keptDocuments)) : [] },
    { name: 'file links have an existing file', searches: media && tables.has('files') ? [filelessLinks] : [] },
    { name: 'files of an attribute have distinct positions', searches: media ? [sharedFilePositions] : [] },
    { name: 'file links belong to types of the content model', warning: true, searches: media ? [unknownFileOwners(shapes)] : [] },
    {
      name: 'polymorphic relations reference existing rows',
      warning: true,
      searches: morphs.flatMap((morph) => danglingMorphs(morph, types)),
    },
    // Strapi recreates published rows, ignoring pending links of the old ones; row ids are never reused.
    {
      name: 'pending links have an existing owner',
      warning: true,
      searches: hasPendingLinks ? ownerlessPendingLinks(links, morphs) : [],
    },
    { name: 'pending links have an existing target', warning: true, searches: hasPendingLinks ? types.map(targetlessPendingLinks) : [] },
  ]
}

/** Checks of components and their entries. */
function componentChecks(
  holders: readonly ComponentHolder[],
  components: readonly Component[],
  { narrowed, keptEntries }: LeftByChanges,
): readonly Check[] {
  const known = components.map(({ uid }) => uid)
  const isStrict = (attribute: string): boolean => !narrowed.has(attribute)
  return [
    {
      name: 'every component row is used',
      searches: components.map((component) => orphans(component, holders, keptEntries, known)),
    },
    { name: 'no component row is used twice', searches: components.map((component) => sharedEntries(component, holders)) },
    { name: 'component entries reference existing rows', searches: holders.flatMap((holder) => danglingEntries(holder, components)) },
    { name: 'component entries have distinct positions', searches: holders.map(sharedEntryPositions) },
    { name: 'single components have at most one entry', searches: holders.flatMap((holder) => tooManyEntries(holder, isStrict)) },
    {
      name: 'components that a change of the model made single have at most one entry',
      warning: true,
      searches: holders.flatMap((holder) => tooManyEntries(holder, (attribute) => narrowed.has(attribute))),
    },
    {
      name: 'component entries use components of the content model',
      warning: true,
      searches: holders.map((holder) => unknownComponents(holder, components)),
    },
  ]
}

interface LocalFileRow {
  readonly id: number
  readonly name: string
  readonly url: string | null
  readonly formats: string | null
}

/** Finds local files that are missing from the uploads folder, or one of whose formats is. */
export async function missingFiles(database: MainConnection, folder: string): Promise<CheckResult> {
  const name = 'every local file is in the uploads folder'
  let rows: readonly LocalFileRow[]
  try {
    rows = await database.rows<LocalFileRow>(sql`select id, name, url, formats from files where provider = 'local' order by id`)
  } catch (error) {
    return { name, warning: false, count: 1, examples: [(error as Error).message] }
  }
  const missing = rows.flatMap((row) =>
    urlsOf(row)
      .filter((url) => !existsSync(join(folder, basename(decoded(url)))))
      .map((url) => `file ${row.id} ${row.name}: ${url}`),
  )
  return { name, warning: false, count: missing.length, examples: missing.slice(0, 5) }
}

function urlsOf({ url, formats }: LocalFileRow): readonly string[] {
  let parsed: unknown = null
  try {
    parsed = formats === null ? null : JSON.parse(formats)
  } catch {
    // Invalid JSON references no files.
  }
  const named =
    typeof parsed === 'object' && parsed !== null
      ? (Object.values(parsed) as ({ url?: unknown } | null)[]).map((format) => format?.url)
      : []
  return [url, ...named].filter((each): each is string => typeof each === 'string' && each !== '')
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}

/** A link of a published entry that takes effect when its target is published. */
export interface PendingLink {
  readonly owner: string
  readonly table: string
  readonly target: string
}

/** A link table that may have pending links, with the schema of its owners. */
interface PendingOwner {
  readonly table: string
  readonly shape: Schema
}

export async function pendingLinks({ database, model }: ExaminedProject): Promise<readonly PendingLink[]> {
  const tables = await database.tables()
  if (!tables.has('octavo_pending_links')) return []
  const rows = await database.main.rows<{
    link_table: string
    owner_id: number
    target_type: string
    target_document: string
    target_locale: string | null
  }>(sql`select link_table, owner_id, target_type, target_document, target_locale from octavo_pending_links order by id`)
  const owners = new Map(pendingOwnersOf(ownedLinks(model), ownedMorphs(model)).map(({ table, shape }) => [table, shape]))
  const links: PendingLink[] = []
  for (const { link_table, owner_id, target_type, target_document, target_locale } of rows) {
    const owner = await documentOf(database.main, model, owners.get(link_table), owner_id)
    links.push({
      owner,
      table: link_table,
      target: `${target_type} ${target_document}${target_locale === null ? '' : ` (${target_locale})`}`,
    })
  }
  return links
}

/** Describes the document of a row, or that of a component's owner. */
async function documentOf(database: MainConnection, model: Model, shape: Schema | undefined, id: number): Promise<string> {
  if (shape === undefined) return `row ${id}`
  if (shape.kind === 'contentType') {
    const [row] = await database.rows<{ document_id: string; locale: string | null }>(
      sql`select document_id, locale from ${sql.table(shape.table)} where id = ${id}`,
    )
    return `${shape.uid} ${row === undefined ? `row ${id}, which does not exist` : `${row.document_id}${row.locale === null ? '' : ` (${row.locale})`}`}`
  }
  for (const holder of componentHolders(model)) {
    const [entry] = await database.rows<{ entity_id: number }>(
      sql`select entity_id from ${sql.table(holder.componentTable)} where cmp_id = ${id} and component_type = ${shape.uid} limit 1`,
    )
    if (entry !== undefined) return `${await documentOf(database, model, holder.shape, entry.entity_id)}, ${shape.uid}`
  }
  return `${shape.uid} row ${id}, which does not exist`
}

/** Link tables that may have pending links. */
const pendingOwnersOf = (links: readonly OwnedLink[], morphs: readonly OwnedMorph[]): readonly PendingOwner[] => [
  ...links.map(({ shape, storage }) => ({ table: storage.table, shape })),
  ...morphs.flatMap(({ shape, storage }) => (storage.kind === 'table' ? [{ table: storage.table, shape }] : [])),
]

const isGone = (table: string) => sql`not exists (select 1 from ${sql.table(table)} gone where gone.id = h.owner_id)`

/** Finds pending links with a missing owner. */
function ownerlessPendingLinks(links: readonly OwnedLink[], morphs: readonly OwnedMorph[]): readonly Search[] {
  const owners = pendingOwnersOf(links, morphs)
  const example = concat('octavo_pending_links row ', sql`h.id`, ': ', sql`h.link_table`, ', owner ', sql`h.owner_id`)
  const pending = sql`select ${example} as example from octavo_pending_links h`
  const known = sql.join(owners.map(({ table }) => table))
  return [
    ...(owners.length === 0 ? [] : [sql`${pending} where h.link_table not in (${known})`]),
    ...owners.map(({ table, shape }) => sql`${pending} where h.link_table = ${table} and ${isGone(shape.table)}`),
  ]
}

/** Finds pending links with a missing target. */
const targetlessPendingLinks = ({ uid, table }: ContentType): Search =>
  sql`select ${concat('octavo_pending_links row ', sql`h.id`, `: ${uid} `, sql`h.target_document`)} as example from octavo_pending_links h
    where h.target_type = ${uid} and not exists (select 1 from ${sql.table(table)} t where t.document_id = h.target_document)`

/** Leftovers of model changes. */
interface LeftByChanges {
  /** Attributes (`api::note.note.tags`) with more links or entries than permitted after a change (model-plans.11). */
  readonly narrowed: ReadonlySet<string>
  /** Tables of archived entries (model-plans.2). */
  readonly keptEntries: readonly string[]
  /** Tables of archived documents. Their ids are not reused, and file links still reference them. */
  readonly keptDocuments: readonly string[]
}

/** Reads the leftovers of all model changes. */
async function leftByChanges(database: RowReader, tables: Tables): Promise<LeftByChanges> {
  const [keptEntries, keptDocuments]: [string[], string[]] = [[], []]
  for (const name of tables.names.filter(isArchived)) {
    if (await hasColumns(database, name, ['entity_id', 'cmp_id', 'component_type'])) keptEntries.push(name)
    else if (await hasColumns(database, name, ['id', 'document_id'])) keptDocuments.push(name)
  }
  const narrowed = tables.has('octavo_model_history') ? await narrowedAttributes(database) : new Set<string>()
  return { narrowed, keptEntries, keptDocuments }
}

/** Attributes narrowed by changes, under their current names. */
async function narrowedAttributes(database: RowReader): Promise<ReadonlySet<string>> {
  const changes = await database.rows<{ readonly renames: string; readonly narrowed: string }>(
    sql`select renames, narrowed from octavo_model_history where is_made = 1 order by id`,
  )
  let narrowed: readonly string[] = []
  for (const change of changes) {
    const renames = JSON.parse(change.renames) as readonly Rename[]
    narrowed = [...narrowed.map((path) => renamed(path, renames)), ...(JSON.parse(change.narrowed) as readonly string[])]
  }
  return new Set(narrowed)
}

/** The path of an attribute after renames. A renamed attribute is identified by the former name of its schema. */
function renamed(path: string, renames: readonly Rename[]): string {
  const end = path.lastIndexOf('.')
  const [uid, name] = [path.slice(0, end), path.slice(end + 1)]
  const schema = renames.find((rename) => rename.kind !== 'attribute' && rename.from === uid)?.to ?? uid
  const attribute = renames.find((rename) => rename.kind === 'attribute' && rename.schema === uid && rename.from === name)?.to ?? name
  return `${schema}.${attribute}`
}
