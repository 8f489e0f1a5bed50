// The consistency checks of `octavo doctor`. Each check searches the database for rows that violate one rule and changes nothing.
import { type RawBuilder, sql } from 'kysely'
import type { DatabaseView, Inspection, MainConnection } from '../database/database.js'
import { same } from '../database/fragments.js'
import { isAdminTable } from '../database/schema/admin-tables.js'
import type { Component, ContentType, Model, MorphTo, Relation, RelationStorage, Schema } from '../model/types.js'

type Link = Extract<RelationStorage, { readonly kind: 'link' }>
/** A select with the one column `example`, which returns one row for every violation of a rule. */
type Search = RawBuilder<unknown>

/** The result of one check. */
export interface CheckResult {
  readonly name: string
  /** Strapi leaves such rows in normal operation, so they are reported as a note. */
  readonly warning: boolean
  readonly count: number
  /** The first few violations. */
  readonly examples: readonly string[]
}

/** A link of a published entry that takes effect when its target is published. */
export interface PendingLink {
  readonly owner: string
  readonly table: string
  readonly target: string
}

/** The database and model to check. */
export interface ExaminedProject {
  readonly database: Inspection & Pick<DatabaseView, 'main'>
  readonly model: Model
}

type Tables = Awaited<ReturnType<Inspection['tables']>>

interface Check {
  readonly name: string
  readonly warning?: boolean
  readonly searches: readonly Search[]
}

const shown = 5
const fileType = 'plugin::upload.file'

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
  found.push(await inspected('foreign keys reference existing rows', () => database.danglingRows()))
  for (const check of checksOf(model, tables)) found.push(await run(database.main, check))
  return found
}

/** Returns the pending links. */
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
  const owners = new Map(pendingOwnersOf(linksOf(model), morphsOf(model)).map(({ table, shape }) => [table, shape]))
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

/** Describes the document that a row belongs to; a component row belongs to the document of its owner. */
async function documentOf(database: MainConnection, model: Model, shape: Schema | undefined, id: number): Promise<string> {
  if (shape === undefined) return `row ${id}`
  if (shape.kind === 'contentType') {
    const [row] = await database.rows<{ document_id: string; locale: string | null }>(
      sql`select document_id, locale from ${sql.table(shape.table)} where id = ${id}`,
    )
    return `${shape.uid} ${row === undefined ? `row ${id}, which does not exist` : `${row.document_id}${row.locale === null ? '' : ` (${row.locale})`}`}`
  }
  for (const holder of holdersOf(model)) {
    const [entry] = await database.rows<{ entity_id: number }>(
      sql`select entity_id from ${sql.table(holder.componentTable)} where cmp_id = ${id} and component_type = ${shape.uid} limit 1`,
    )
    if (entry !== undefined) return `${await documentOf(database, model, holder.shape, entry.entity_id)}, ${shape.uid}`
  }
  return `${shape.uid} row ${id}, which does not exist`
}

const failed = (name: string, error: unknown): CheckResult => ({ name, warning: false, count: 1, examples: [(error as Error).message] })

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
      examples.push((error as Error).message)
    }
  }
  return { name, warning, count, examples: examples.slice(0, shown) }
}

/** Returns the checks that apply to the existing tables. */
function checksOf(model: Model, tables: Tables): readonly Check[] {
  const types = [...model.types.values()].filter(({ table }) => tables.has(table))
  const drafted = types.filter(({ draftAndPublish }) => draftAndPublish)
  const links = linksOf(model).filter(({ shape, target, storage }) =>
    [shape.table, target.table, storage.table].every((table) => tables.has(table)),
  )
  const holders = holdersOf(model).filter(({ shape, componentTable }) => tables.has(shape.table) && tables.has(componentTable))
  const components = [...model.components.values()].filter(({ table }) => tables.has(table))
  const shapes = [...types, ...components]
  const morphs = morphsOf(model).filter(({ shape, storage }) => tables.has(storage.kind === 'table' ? storage.table : shape.table))
  const media = tables.has('files_related_mph')
  const hasPendingLinks = tables.has('octavo_pending_links')
  return [
    { name: 'every table of the content model exists', warning: true, searches: missingTables(model, tables) },
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
    { name: 'to-one relations have at most one target', searches: links.flatMap(tooManyLinks) },
    { name: 'every component row is used', searches: components.map((component) => orphans(component, holders)) },
    { name: 'no component row is used twice', searches: components.map((component) => sharedEntries(component, holders)) },
    { name: 'component entries reference existing rows', searches: holders.flatMap((holder) => danglingEntries(holder, components)) },
    { name: 'component entries have distinct positions', searches: holders.flatMap(sharedEntryPositions) },
    {
      name: 'component entries use components of the content model',
      warning: true,
      searches: holders.map((holder) => unknownComponents(holder, components)),
    },
    { name: 'file links have an existing owner', searches: media ? shapes.map(ownerlessFiles) : [] },
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
      searches: hasPendingLinks ? ownerlessPendingLinks(pendingOwnersOf(links, morphs)) : [],
    },
    { name: 'pending links have an existing target', warning: true, searches: hasPendingLinks ? types.map(targetlessPendingLinks) : [] },
  ]
}

interface OwnedLink {
  readonly shape: Schema
  readonly target: ContentType
  readonly relation: Relation
  readonly storage: Link
}

/** The owning side of every link table. */
function linksOf(model: Model): readonly OwnedLink[] {
  return [...model.types.values(), ...model.components.values()].flatMap((shape) =>
    [...shape.attributes.values()].flatMap((relation) =>
      relation.kind === 'relation' && relation.storage.kind === 'link' && relation.storage.owner
        ? [{ shape, target: model.types.get(relation.target)!, relation, storage: relation.storage }]
        : [],
    ),
  )
}

interface Holder {
  readonly shape: Schema
  readonly componentTable: string
}

const holdersOf = (model: Model): readonly Holder[] =>
  [...model.types.values(), ...model.components.values()].flatMap((shape) =>
    shape.componentTable === null ? [] : [{ shape, componentTable: shape.componentTable }],
  )

interface Morph {
  readonly shape: Schema
  readonly storage: MorphTo['storage']
}

const morphsOf = (model: Model): readonly Morph[] =>
  [...model.types.values(), ...model.components.values()]
    .filter(({ uid }) => uid !== fileType)
    .flatMap((shape) =>
      [...shape.attributes.values()].flatMap((attribute) => (attribute.kind === 'morphTo' ? [{ shape, storage: attribute.storage }] : [])),
    )

function missingTables(model: Model, tables: Tables): readonly Search[] {
  const own = [...model.types.values(), ...model.components.values()].filter(({ uid }) => !isAdminTable(uid))
  const links = linksOf(model).filter(({ shape }) => own.includes(shape))
  const holders = holdersOf(model).map(({ componentTable }) => componentTable)
  const wanted = [...own.map(({ table }) => table), ...holders, ...links.map(({ storage }) => storage.table)]
  return wanted.filter((table) => !tables.has(table)).map((table) => sql`select ${table} || ' is created at the next start' as example`)
}

/** A nullable value as text. */
const text = (value: RawBuilder<unknown>) => sql`coalesce(cast(${value} as text), 'none')`
/** Groups rows by these expressions; null ones do not matter. */
const groupedBy = (...by: readonly (RawBuilder<unknown> | null)[]) => sql`group by ${sql.join(by.filter((each) => each !== null))}`
const document = (uid: string, id: RawBuilder<unknown>) => sql`${`${uid} `} || ${id} || coalesce(' (' || locale || ')', '')`
const isGone = (id: RawBuilder<unknown>, table: string) => sql`not exists (select 1 from ${sql.table(table)} gone where gone.id = ${id})`

function duplicates(type: ContentType): Search {
  const state = type.draftAndPublish ? sql`published_at is null` : null
  return sql`select ${document(type.uid, sql`document_id`)} || ': ' || count(*) || ' rows with the same status' as example from ${sql.table(type.table)}
    where document_id is not null ${groupedBy(sql`document_id`, sql`locale`, state)} having count(*) > 1`
}

const missingDocumentIds = ({ uid, table }: ContentType): Search =>
  sql`select ${`${uid} row `} || id as example from ${sql.table(table)} where document_id is null or document_id = ''`

const draftless = ({ uid, table }: ContentType): Search =>
  sql`select ${document(uid, sql`coalesce(document_id, 'row ' || id)`)} as example from ${sql.table(table)} p where published_at is not null and not exists
    (select 1 from ${sql.table(table)} d where d.document_id = p.document_id and ${same(sql`d.locale`, sql`p.locale`)} and d.published_at is null)`

function danglingLinks({ shape, target, storage }: OwnedLink): readonly Search[] {
  return [
    { column: storage.here, table: shape.table },
    { column: storage.there, table: target.table },
  ].map(({ column, table }) => {
    const id = sql.id('l', column)
    return sql`select ${`${storage.table} row `} || l.id || ${`: ${column} `} || ${text(id)} || ' does not exist' as example
      from ${sql.table(storage.table)} l where ${isGone(id, table)}`
  })
}

/** Both sides of a link table with their order columns: the targets of an owner, and the owners of a target. */
function sidesOf({ shape, target, storage }: OwnedLink) {
  return {
    targets: { by: storage.here, other: storage.there, order: storage.order, others: target },
    owners: { by: storage.there, other: storage.here, order: storage.inverseOrder, others: shape },
  }
}

/** Tells drafts `o` from published rows. An owner without Draft & Publish has links to drafts and to published rows of the same target. */
const stateOf = (shape: Schema) => (shape.kind === 'contentType' && shape.draftAndPublish ? sql`o.published_at is null` : null)

function sharedPositions(link: OwnedLink, which: 'targets' | 'owners'): readonly Search[] {
  const { table } = link.storage
  const { by, other, order, others } = sidesOf(link)[which]
  if (order === null) return []
  const [side, position] = [sql.id('l', by), sql.id('l', order)]
  return [
    sql`select ${`${table}: ${by} `} || ${side} || ' has ' || count(*) || ' links at position ' || ${position} as example
      from ${sql.table(table)} l join ${sql.table(others.table)} o on o.id = ${sql.id('l', other)}
      where ${position} is not null ${groupedBy(side, position, stateOf(others))} having count(*) > 1`,
  ]
}

/** Finds to-one relations with several targets, and exclusive relations whose target has several owners. The locales of a document may share one. */
function tooManyLinks(link: OwnedLink): readonly Search[] {
  const { relation, storage } = link
  const { targets, owners } = sidesOf(link)
  const links = relation.inverse === null ? sql`count(*)` : sql`count(distinct o.document_id)`
  const exclusive = relation.inverse !== null && (relation.relation === 'oneToOne' || relation.relation === 'oneToMany')
  return [...(relation.many ? [] : [targets]), ...(exclusive ? [owners] : [])].map(({ by, other, others }) => {
    const owner = sql.id('l', by)
    return sql`select ${`${storage.table}: ${by} `} || ${owner} || ' has ' || ${links} || ' links' as example
      from ${sql.table(storage.table)} l join ${sql.table(others.table)} o on o.id = ${sql.id('l', other)}
      ${groupedBy(owner, stateOf(others))} having ${links} > 1`
  })
}

function entriesOf(component: Component, holders: readonly Holder[]): RawBuilder<unknown> {
  const parts = holders.map(
    ({ componentTable }) => sql`select cmp_id from ${sql.table(componentTable)} where component_type = ${component.uid}`,
  )
  return parts.length === 0 ? sql`select cast(null as integer) as cmp_id where 1 = 0` : sql.join(parts, sql` union all `)
}

const orphans = (component: Component, holders: readonly Holder[]): Search =>
  sql`select ${`${component.uid} row `} || c.id as example from ${sql.table(component.table)} c
    where c.id not in (select cmp_id from (${entriesOf(component, holders)}) as entries where cmp_id is not null)`

const sharedEntries = (component: Component, holders: readonly Holder[]): Search =>
  sql`select ${`${component.uid} row `} || cmp_id || ': ' || count(*) || ' entries' as example from (${entriesOf(component, holders)}) as entries
    where cmp_id is not null group by cmp_id having count(*) > 1`

function danglingEntries({ shape, componentTable }: Holder, components: readonly Component[]): readonly Search[] {
  const from = sql`from ${sql.table(componentTable)} e`
  const row = sql`${`${componentTable} row `} || e.id`
  return [
    sql`select ${row} || ': its owner ' || ${text(sql`e.entity_id`)} || ' does not exist' as example ${from} where ${isGone(sql`e.entity_id`, shape.table)}`,
    ...components.map(
      ({ uid, table }) =>
        sql`select ${row} || ${`: ${uid} `} || ${text(sql`e.cmp_id`)} || ' does not exist' as example ${from}
          where e.component_type = ${uid} and ${isGone(sql`e.cmp_id`, table)}`,
    ),
  ]
}

function sharedEntryPositions({ shape, componentTable }: Holder): readonly Search[] {
  const order = sql.id('order')
  const single = [...shape.attributes.values()].flatMap((attribute) =>
    attribute.kind === 'component' && !attribute.repeatable ? [attribute.name] : [],
  )
  const owner = sql`${`${shape.uid} row `} || entity_id || ', ' || field || ': ' || count(*)`
  const from = sql`from ${sql.table(componentTable)}`
  return [
    sql`select ${owner} || ' entries at position ' || ${order} as example ${from} where ${order} is not null
      group by entity_id, field, ${order} having count(*) > 1`,
    ...(single.length === 0
      ? []
      : [
          sql`select ${owner} || ' entries of a single component' as example ${from} where field in (${sql.join(single)}) group by entity_id, field having count(*) > 1`,
        ]),
  ]
}

function unknownComponents({ componentTable }: Holder, components: readonly Component[]): Search {
  const known = components.length === 0 ? sql`1 = 1` : sql`component_type not in (${sql.join(components.map(({ uid }) => uid))})`
  return sql`select ${`${componentTable} row `} || id || ': ' || ${text(sql`component_type`)} as example from ${sql.table(componentTable)} where ${known}`
}

const ownerlessFiles = ({ uid, table }: Schema): Search =>
  sql`select 'files_related_mph row ' || m.id || ${`: ${uid} row `} || ${text(sql`m.related_id`)} || ' does not exist' as example from files_related_mph m
    where m.related_type = ${uid} and ${isGone(sql`m.related_id`, table)}`

const filelessLinks: Search = sql`select 'files_related_mph row ' || m.id || ': file ' || ${text(sql`m.file_id`)} || ' does not exist' as example
  from files_related_mph m where ${isGone(sql`m.file_id`, 'files')}`

const sharedFilePositions: Search = sql`select related_type || ' row ' || related_id || ', ' || field || ': ' || count(*) || ' files at position ' || ${sql.id('order')} as example
  from files_related_mph where ${sql.id('order')} is not null group by related_type, related_id, field, ${sql.id('order')} having count(*) > 1`

const unknownFileOwners = (shapes: readonly Schema[]): Search =>
  sql`select 'files_related_mph row ' || id || ': ' || ${text(sql`related_type`)} as example from files_related_mph
    where related_type is null or related_type not in (${sql.join(shapes.map(({ uid }) => uid))})`

function danglingMorphs({ shape, storage }: Morph, types: readonly ContentType[]): readonly Search[] {
  const table = storage.kind === 'table' ? storage.table : shape.table
  const [id, type] = [sql.id('m', storage.id), sql.id('m', storage.type)]
  return types.map(
    (target) =>
      sql`select ${`${table} row `} || m.id || ${`: ${target.uid} row `} || ${id} || ' does not exist' as example from ${sql.table(table)} m
        where ${type} = ${target.uid} and ${id} is not null and ${isGone(id, target.table)}`,
  )
}

type PendingOwner = { readonly table: string; readonly shape: Schema }

/** The link tables that may have pending links, with the schemas of their owners. */
const pendingOwnersOf = (links: readonly OwnedLink[], morphs: readonly Morph[]): readonly PendingOwner[] => [
  ...links.map(({ shape, storage }) => ({ table: storage.table, shape })),
  ...morphs.flatMap(({ shape, storage }) => (storage.kind === 'table' ? [{ table: storage.table, shape }] : [])),
]

function ownerlessPendingLinks(owners: readonly PendingOwner[]): readonly Search[] {
  const pending = sql`select 'octavo_pending_links row ' || h.id || ': ' || h.link_table || ', owner ' || h.owner_id as example from octavo_pending_links h`
  const known = sql.join(owners.map(({ table }) => table))
  return [
    ...(owners.length === 0 ? [] : [sql`${pending} where h.link_table not in (${known})`]),
    ...owners.map(({ table, shape }) => sql`${pending} where h.link_table = ${table} and ${isGone(sql`h.owner_id`, shape.table)}`),
  ]
}

const targetlessPendingLinks = ({ uid, table }: ContentType): Search =>
  sql`select 'octavo_pending_links row ' || h.id || ${`: ${uid} `} || h.target_document as example from octavo_pending_links h
    where h.target_type = ${uid} and not exists (select 1 from ${sql.table(table)} t where t.document_id = h.target_document)`
