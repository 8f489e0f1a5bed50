// The consistency checks of `octavo doctor`. Each check searches the database for rows that violate one rule and changes nothing.
import { sql } from 'kysely'
import type { MainConnection } from '../../database/database.js'
import { isKept } from '../../model/diff/kept.js'
import { type ComponentHolder, componentHolders, type OwnedLink, ownedLinks, ownedMorphs } from '../../model/schema/owners.js'
import type { Component, Model } from '../../model/schema/types.js'
import { type LeftByChanges, leftByChanges } from './left-by-changes.js'
import { ownerlessPendingLinks, targetlessPendingLinks } from './pending-links.js'
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

/** The result of one check. */
export interface CheckResult {
  readonly name: string
  /** Strapi leaves such rows in normal operation, so they are reported as a note. */
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

/** Runs every check. A check whose statement fails counts as one violation, with the error as its example. */
export async function runChecks({ database, model }: ExaminedProject): Promise<readonly CheckResult[]> {
  const { damage } = database
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

/** What the database has said, where there is more of it than callers of the API get. */
const reasonOf = (error: unknown): string => (((error as Error).cause ?? error) as Error).message

const failed = (name: string, error: unknown): CheckResult => ({ name, warning: false, count: 1, examples: [reasonOf(error)] })

/** Rows that reference missing ones, but for those that changes of the model keep aside: what they referred to may have gone since. */
const danglingRows = async (database: ExaminedProject['database']): Promise<readonly string[]> =>
  (await database.danglingRows()).filter((row) => !isKept(row))

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

/** Returns the checks that apply to the existing tables. */
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
    // Strapi recreates published rows without regard to pending links of the old ones; row ids are never reused.
    {
      name: 'pending links have an existing owner',
      warning: true,
      searches: hasPendingLinks ? ownerlessPendingLinks(links, morphs) : [],
    },
    { name: 'pending links have an existing target', warning: true, searches: hasPendingLinks ? types.map(targetlessPendingLinks) : [] },
  ]
}

/** The checks of components and their entries. */
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
