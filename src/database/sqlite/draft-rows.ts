// Makes the drafts of a type that gets Draft & Publish: a copy of each row, of its components, links and files.
import type { Database } from 'better-sqlite3'
import { ownedLinks } from '../../model/owners.js'
import type { Model, Schema } from '../../model/types.js'
import type { DraftLinks, IncomingLinks, PlanStep } from '../../model-plans/steps.js'
import { quoted } from '../schema/table.js'

type DraftStep = Extract<PlanStep, { readonly kind: 'makeDrafts' }>

const list = (names: readonly string[]): string => names.map(quoted).join(', ')

/** Makes them; rows without a draft are published already. */
export function makeDrafts(database: Database, step: DraftStep, model: Model): void {
  const table = quoted(step.table)
  const columns = list(step.columns)
  const last = database.prepare(`select max(id) from ${table}`).pluck().get() ?? 0
  database.exec(`insert into ${table} (${columns}, published_at) select ${columns}, null from ${table} as published
    where published_at is not null and not exists (select 1 from ${table} as draft
      where draft.document_id = published.document_id and draft.locale is published.locale and draft.published_at is null)
    order by id`)
  database.exec('drop table if exists temp.octavo_draft_pairs')
  database.exec(`create temp table octavo_draft_pairs as select published.id as published, draft.id as draft, draft.id > ${last} as is_new
    from ${table} as published join ${table} as draft on draft.document_id = published.document_id and draft.locale is published.locale
    where published.published_at is not null and draft.published_at is null`)
  for (const links of step.links) copyLinks(database, links)
  for (const links of step.incoming) linkIncoming(database, links)
  copyFiles(database, step.schema)
  const schema = model.types.get(step.schema)!
  for (const { published, draft } of database
    .prepare('select published, draft from octavo_draft_pairs where is_new order by draft')
    .all() as Pair[])
    copyEntries(database, model, schema, published, draft)
  database.exec('drop table temp.octavo_draft_pairs')
}

interface Pair {
  readonly published: number
  readonly draft: number
}

/** Drafts have the links of their published rows. Of links within the type both ends are drafts. */
function copyLinks(database: Database, { table, here, there, others, within }: DraftLinks): void {
  const more = others.map((name) => `, ${quoted(name)}`).join('')
  const target = within ? 'target.draft' : `link.${quoted(there)}`
  const join = within ? `join octavo_draft_pairs as target on target.published = link.${quoted(there)}` : ''
  database.exec(`insert into ${quoted(table)} (${quoted(here)}, ${quoted(there)}${more})
    select own.draft, ${target}${more} from ${quoted(table)} as link join octavo_draft_pairs as own on own.is_new and own.published = link.${quoted(here)} ${join}
    order by link.id`)
}

/** Drafts at the other end refer to the new drafts; others refer to both. */
function linkIncoming(database: Database, links: IncomingLinks): void {
  if (!links.ownersHaveDrafts) {
    copyLinks(database, links)
    return
  }
  const [table, here, there] = [quoted(links.table), quoted(links.here), quoted(links.there)]
  database.exec(`update ${table} set ${here} = (select draft from octavo_draft_pairs where published = ${here})
    where ${here} in (select published from octavo_draft_pairs)
      and ${there} in (select id from ${quoted(links.owners)} where published_at is null)`)
}

function copyFiles(database: Database, uid: string): void {
  database
    .prepare(`insert into files_related_mph (file_id, related_id, related_type, field, "order")
      select file_id, draft, related_type, field, "order" from files_related_mph join octavo_draft_pairs on is_new and published = related_id
      where related_type = ? order by files_related_mph.id`)
    .run(uid)
}

interface EntryRow {
  readonly cmp_id: number
  readonly component_type: string
  readonly field: string
  readonly order: number | null
}

/** Copies the components of one row to another, with what they hold themselves. */
function copyEntries(database: Database, model: Model, schema: Schema, from: number, to: number): void {
  if (schema.componentTable === null) return
  const table = quoted(schema.componentTable)
  const entries = database.prepare(`select cmp_id, component_type, field, "order" from ${table} where entity_id = ? order by id`).all(from)
  const insert = database.prepare(`insert into ${table} (entity_id, cmp_id, component_type, field, "order") values (?, ?, ?, ?, ?)`)
  for (const { cmp_id, component_type, field, order } of entries as EntryRow[]) {
    const component = model.components.get(component_type)
    if (component !== undefined) insert.run(to, copyComponent(database, model, component, cmp_id), component_type, field, order)
  }
}

function copyComponent(database: Database, model: Model, component: Schema, id: number): number {
  const names = columnsIn(database, component.table)
  const { lastInsertRowid } = database
    .prepare(`insert into ${quoted(component.table)} (${list(names)}) select ${list(names)} from ${quoted(component.table)} where id = ?`)
    .run(id)
  const copy = Number(lastInsertRowid)
  for (const { shape, storage } of ownedLinks(model)) {
    if (shape.uid !== component.uid) continue
    const columns = columnsIn(database, storage.table).filter((name) => name !== storage.here)
    database
      .prepare(`insert into ${quoted(storage.table)} (${list([storage.here, ...columns])})
        select ?, ${list(columns)} from ${quoted(storage.table)} where ${quoted(storage.here)} = ? order by id`)
      .run(copy, id)
  }
  database
    .prepare(`insert into files_related_mph (file_id, related_id, related_type, field, "order")
      select file_id, ?, related_type, field, "order" from files_related_mph where related_type = ? and related_id = ? order by id`)
    .run(copy, component.uid, id)
  copyEntries(database, model, component, id, copy)
  return copy
}

/** The columns of a table but the id and what is kept aside. */
const columnsIn = (database: Database, table: string): readonly string[] =>
  (database.prepare('select name from pragma_table_info(?)').pluck().all(table) as string[]).filter(
    (name) => name !== 'id' && !name.startsWith('octavo_kept_'),
  )
