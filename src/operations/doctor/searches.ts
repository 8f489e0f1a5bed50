// The queries of `octavo doctor`: each selects rows that violate one rule.
import { type RawBuilder, sql } from 'kysely'
import type { DatabaseView, Inspection } from '../../database/database.js'
import { andSameLocale, cast, concat, type TextPart } from '../../database/portable-sql.js'
import { archivePrefix } from '../../model/diff/comparison.js'
import {
  allSchemas,
  type ComponentHolder,
  componentHolders,
  type OwnedLink,
  type OwnedMorph,
  ownedLinks,
} from '../../model/schema/graph.js'
import type { Component, ContentType, Model, Schema } from '../../model/schema/types.js'
import { isAdminTable } from '../../model/tables/tables.js'

export interface ExaminedProject {
  readonly database: Inspection & Pick<DatabaseView, 'main'>
  readonly model: Model
}

/** A select with the single column `example` and one row per violation. */
export type Search = RawBuilder<unknown>

/** The existing tables. */
export type Tables = Awaited<ReturnType<Inspection['tables']>>

/** Finds tables of the model that do not exist. */
export function missingTables(model: Model, tables: Tables): readonly Search[] {
  const own = allSchemas(model).filter(({ uid }) => !isAdminTable(uid))
  const links = ownedLinks(model).filter(({ shape }) => own.includes(shape))
  const holders = componentHolders(model).map(({ componentTable }) => componentTable)
  const wanted = [...own.map(({ table }) => table), ...holders, ...links.map(({ storage }) => storage.table)]
  return wanted
    .filter((table) => !tables.has(table))
    .map((table) => sql`select ${concat(table, ' is created at the next start')} as example`)
}

/** Relations without an owner, without a table or with two owners, according to the model. */
export const ambiguousRelations = ({ relationRemarks }: Model): readonly Search[] =>
  relationRemarks.map((remark) => sql`select ${concat(remark, '')} as example`)

/** A nullable value as text. */
const text = (value: RawBuilder<unknown>) => sql`coalesce(${cast(value, 'text')}, 'none')`
/** Groups by these expressions, except null. */
const groupedBy = (...by: readonly (RawBuilder<unknown> | null)[]) => sql`group by ${sql.join(by.filter((each) => each !== null))}`
const localeInBrackets = sql`coalesce(${concat(' (', sql`locale`, ')')}, '')`
const documentName = ({ uid, localized }: ContentType, id: RawBuilder<unknown>) =>
  concat(`${uid} `, id, ...(localized ? [localeInBrackets] : []))
const isGone = (id: RawBuilder<unknown>, table: string) => sql`not exists (select 1 from ${sql.table(table)} gone where gone.id = ${id})`

/** Documents with several drafts or published rows in one locale, or in total if the type has no locales. */
export function duplicates(type: ContentType): Search {
  const state = type.draftAndPublish ? sql`published_at is null` : null
  const example = concat(documentName(type, sql`document_id`), ': ', sql`count(*)`, ' rows with the same status')
  return sql`select ${example} as example from ${sql.table(type.table)}
    where document_id is not null ${groupedBy(sql`document_id`, type.localized ? sql`locale` : null, state)} having count(*) > 1`
}

/** Rows without a document id. */
export const missingDocumentIds = ({ uid, table }: ContentType): Search =>
  sql`select ${concat(`${uid} row `, sql`id`)} as example from ${sql.table(table)} where document_id is null or document_id = ''`

/** Published rows without a draft in the same locale. */
export function draftless(type: ContentType): Search {
  const { table } = type
  const name = documentName(type, sql`coalesce(document_id, ${concat('row ', sql`id`)})`)
  return sql`select ${name} as example from ${sql.table(table)} p where published_at is not null and not exists
    (select 1 from ${sql.table(table)} d where d.document_id = p.document_id${andSameLocale(type, sql`d.locale`, sql`p.locale`)} and d.published_at is null)`
}

/** Link rows with a missing owner or target. */
export function danglingLinks({ shape, target, storage }: OwnedLink): readonly Search[] {
  return [
    { column: storage.here, table: shape.table },
    { column: storage.there, table: target.table },
  ].map(({ column, table }) => {
    const id = sql.id('l', column)
    return sql`select ${concat(`${storage.table} row `, sql`l.id`, `: ${column} `, text(id), ' does not exist')} as example
      from ${sql.table(storage.table)} l where ${isGone(id, table)}`
  })
}

/** Both sides of a link table with their order columns. */
function sidesOf({ shape, target, storage }: OwnedLink) {
  return {
    targets: { by: storage.here, other: storage.there, order: storage.order, others: target },
    owners: { by: storage.there, other: storage.here, order: storage.inverseOrder, others: shape },
  }
}

/** Distinguishes drafts `o` from published rows. An owner without Draft & Publish may link to both versions of a target. */
const stateOf = (shape: Schema) => (shape.kind === 'contentType' && shape.draftAndPublish ? sql`o.published_at is null` : null)

/** Positions shared by several targets of an owner, or several owners of a target. */
export function sharedPositions(link: OwnedLink, which: 'targets' | 'owners'): readonly Search[] {
  const { table } = link.storage
  const { by, other, order, others } = sidesOf(link)[which]
  if (order === null) return []
  const [side, position] = [sql.id('l', by), sql.id('l', order)]
  return [
    sql`select ${concat(`${table}: ${by} `, side, ' has ', sql`count(*)`, ' links at position ', position)} as example
      from ${sql.table(table)} l join ${sql.table(others.table)} o on o.id = ${sql.id('l', other)}
      where ${position} is not null ${groupedBy(side, position, stateOf(others))} having count(*) > 1`,
  ]
}

/** Finds to-one relations with several targets, and exclusive ones whose target has several owners, except locales of one document. */
export function tooManyLinks(link: OwnedLink): readonly Search[] {
  const { relation, storage } = link
  const { targets, owners } = sidesOf(link)
  const links = relation.inverse === null ? sql`count(*)` : sql`count(distinct o.document_id)`
  const exclusive = relation.inverse !== null && (relation.relation === 'oneToOne' || relation.relation === 'oneToMany')
  return [...(relation.many ? [] : [targets]), ...(exclusive ? [owners] : [])].map(({ by, other, others }) => {
    const owner = sql.id('l', by)
    return sql`select ${concat(`${storage.table}: ${by} `, owner, ' has ', links, ' links')} as example
      from ${sql.table(storage.table)} l join ${sql.table(others.table)} o on o.id = ${sql.id('l', other)}
      ${groupedBy(owner, stateOf(others))} having ${links} > 1`
  })
}

function entriesOf(component: Component, holders: readonly ComponentHolder[]): readonly RawBuilder<unknown>[] {
  return holders.map(({ componentTable }) => sql`select cmp_id from ${sql.table(componentTable)} where component_type = ${component.uid}`)
}

function joined(parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return parts.length === 0 ? sql`select ${cast(sql`null`, 'integer')} as cmp_id where 1 = 0` : sql.join(parts, sql` union all `)
}

/**
 * Rows of a component without an owner, including archived entries in the tables `kept`. Those have the component's name at the time of
 * archiving; `known` are the current uids.
 */
export function orphans(
  component: Component,
  holders: readonly ComponentHolder[],
  kept: readonly string[],
  known: readonly string[],
): Search {
  const others = known.filter((uid) => uid !== component.uid)
  const isOther = others.length === 0 ? sql`` : sql` where component_type not in (${sql.join(others)})`
  const entries = joined([...entriesOf(component, holders), ...kept.map((table) => sql`select cmp_id from ${sql.table(table)}${isOther}`)])
  return sql`select ${concat(`${component.uid} row `, sql`c.id`)} as example from ${sql.table(component.table)} c
    where c.id not in (select cmp_id from (${entries}) as entries where cmp_id is not null)`
}

/** Rows of a component with several entries. */
export function sharedEntries(component: Component, holders: readonly ComponentHolder[]): Search {
  const example = concat(`${component.uid} row `, sql`cmp_id`, ': ', sql`count(*)`, ' entries')
  return sql`select ${example} as example from (${joined(entriesOf(component, holders))}) as entries
    where cmp_id is not null group by cmp_id having count(*) > 1`
}

/** Component entries with a missing owner or row. */
export function danglingEntries({ shape, componentTable }: ComponentHolder, components: readonly Component[]): readonly Search[] {
  const missing = (what: string, id: RawBuilder<unknown>) =>
    sql`select ${concat(`${componentTable} row `, sql`e.id`, `: ${what} `, text(id), ' does not exist')} as example
      from ${sql.table(componentTable)} e`
  return [
    sql`${missing('its owner', sql`e.entity_id`)} where ${isGone(sql`e.entity_id`, shape.table)}`,
    ...components.map(
      ({ uid, table }) => sql`${missing(uid, sql`e.cmp_id`)} where e.component_type = ${uid} and ${isGone(sql`e.cmp_id`, table)}`,
    ),
  ]
}

const order = sql.id('order')

const entriesFound = ({ shape, componentTable }: ComponentHolder, ...what: readonly TextPart[]) =>
  sql`select ${concat(`${shape.uid} row `, sql`entity_id`, ', ', sql`field`, ': ', sql`count(*)`, ...what)} as example
    from ${sql.table(componentTable)}`

/** Positions shared by several entries of an attribute. */
export const sharedEntryPositions = (holder: ComponentHolder): Search =>
  sql`${entriesFound(holder, ' entries at position ', order)} where ${order} is not null
    group by entity_id, field, ${order} having count(*) > 1`

/** Single components with several entries, in attributes that `counts` selects. */
export function tooManyEntries(holder: ComponentHolder, counts: (attribute: string) => boolean): readonly Search[] {
  const single = [...holder.shape.attributes.values()].flatMap((attribute) =>
    attribute.kind === 'component' && !attribute.repeatable && counts(`${holder.shape.uid}.${attribute.name}`) ? [attribute.name] : [],
  )
  if (single.length === 0) return []
  return [
    sql`${entriesFound(holder, ' entries of a single component')} where field in (${sql.join(single)})
      group by entity_id, field having count(*) > 1`,
  ]
}

/** Entries of components that the model lacks. */
export function unknownComponents({ componentTable }: ComponentHolder, components: readonly Component[]): Search {
  const known = components.length === 0 ? sql`1 = 1` : sql`component_type not in (${sql.join(components.map(({ uid }) => uid))})`
  return sql`select ${concat(`${componentTable} row `, sql`id`, ': ', text(sql`component_type`))} as example
    from ${sql.table(componentTable)} where ${known}`
}

/**
 * File links with a missing owner of this schema, neither in its table nor in the tables `kept` of archived rows. Archived links are
 * skipped; restoring removes them.
 */
export function ownerlessFiles({ uid, table }: Schema, kept: readonly string[]): Search {
  const example = concat('files_related_mph row ', sql`m.id`, `: ${uid} row `, text(sql`m.related_id`), ' does not exist')
  return sql`select ${example} as example from files_related_mph m
    where m.related_type = ${uid} and coalesce(m.field, '') not like ${`${archivePrefix}%`} and ${sql.join(
      [table, ...kept].map((each) => isGone(sql`m.related_id`, each)),
      sql` and `,
    )}`
}

const missingFile = concat('files_related_mph row ', sql`m.id`, ': file ', text(sql`m.file_id`), ' does not exist')
/** File links with a missing file. */
export const filelessLinks: Search = sql`select ${missingFile} as example from files_related_mph m where ${isGone(sql`m.file_id`, 'files')}`

const filesAtPosition = concat(
  ...[sql`related_type`, ' row ', sql`related_id`, ', ', sql`field`, ': ', sql`count(*)`, ' files at position ', order],
)
/** Positions shared by several files of an attribute. */
export const sharedFilePositions: Search = sql`select ${filesAtPosition} as example from files_related_mph where ${order} is not null
  group by related_type, related_id, field, ${order} having count(*) > 1`

/** File links whose owner's schema is not in the model. */
export const unknownFileOwners = (shapes: readonly Schema[]): Search =>
  sql`select ${concat('files_related_mph row ', sql`id`, ': ', text(sql`related_type`))} as example from files_related_mph
    where related_type is null or related_type not in (${sql.join(shapes.map(({ uid }) => uid))})`

/** Polymorphic links to missing rows. */
export function danglingMorphs({ shape, storage }: OwnedMorph, types: readonly ContentType[]): readonly Search[] {
  const table = storage.kind === 'table' ? storage.table : shape.table
  const [id, type] = [sql.id('m', storage.id), sql.id('m', storage.type)]
  return types.map(
    (target) =>
      sql`select ${concat(`${table} row `, sql`m.id`, `: ${target.uid} row `, id, ' does not exist')} as example from ${sql.table(table)} m
        where ${type} = ${target.uid} and ${id} is not null and ${isGone(id, target.table)}`,
  )
}
