// Pending links, as `octavo doctor` lists and checks them: links of published entries that take effect when their targets are published.
import { sql } from 'kysely'
import type { MainConnection } from '../../database/database.js'
import { concat } from '../../database/portable-sql.js'
import { componentHolders, type OwnedLink, type OwnedMorph, ownedLinks, ownedMorphs } from '../../model/schema/owners.js'
import type { ContentType, Model, Schema } from '../../model/schema/types.js'
import type { ExaminedProject, Search } from './searches.js'

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

/** Describes the document that a row belongs to; a component row belongs to the document of its owner. */
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

/** The link tables that may have pending links. */
const pendingOwnersOf = (links: readonly OwnedLink[], morphs: readonly OwnedMorph[]): readonly PendingOwner[] => [
  ...links.map(({ shape, storage }) => ({ table: storage.table, shape })),
  ...morphs.flatMap(({ shape, storage }) => (storage.kind === 'table' ? [{ table: storage.table, shape }] : [])),
]

const isGone = (table: string) => sql`not exists (select 1 from ${sql.table(table)} gone where gone.id = h.owner_id)`

/** Finds pending links whose owner does not exist. */
export function ownerlessPendingLinks(links: readonly OwnedLink[], morphs: readonly OwnedMorph[]): readonly Search[] {
  const owners = pendingOwnersOf(links, morphs)
  const example = concat('octavo_pending_links row ', sql`h.id`, ': ', sql`h.link_table`, ', owner ', sql`h.owner_id`)
  const pending = sql`select ${example} as example from octavo_pending_links h`
  const known = sql.join(owners.map(({ table }) => table))
  return [
    ...(owners.length === 0 ? [] : [sql`${pending} where h.link_table not in (${known})`]),
    ...owners.map(({ table, shape }) => sql`${pending} where h.link_table = ${table} and ${isGone(shape.table)}`),
  ]
}

/** Finds pending links whose target does not exist. */
export const targetlessPendingLinks = ({ uid, table }: ContentType): Search =>
  sql`select ${concat('octavo_pending_links row ', sql`h.id`, `: ${uid} `, sql`h.target_document`)} as example from octavo_pending_links h
    where h.target_type = ${uid} and not exists (select 1 from ${sql.table(table)} t where t.document_id = h.target_document)`
