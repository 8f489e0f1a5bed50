// Relations stored in a column of the owner's table (`useJoinTable: false`). The column references the draft of a document, which survives
// unpublishing; reads show the appropriate version (`compile/joins`).
import { type RawBuilder, sql } from 'kysely'
import type { Transaction } from '../../../database/database.js'
import { andSameLocale, idsFound, updateFrom } from '../../../database/portable-sql.js'
import { allSchemas, type ColumnRelation, columnRelations } from '../../../model/schema/graph.js'
import type { Attribute, ContentType, Model, Relation } from '../../../model/schema/types.js'
import type { RelationInput } from '../input/types.js'
import type { Owner } from './relations.js'
import type { RowContext } from './row-context.js'
import { overwriteRow, type StoredVersion } from './rows.js'
import { resolveChange, resolveSet } from './targets.js'

/** All versions, in their locale, of the documents of these rows. */
const versionsOf = ({ dialect }: Transaction, type: ContentType, rows: readonly number[]): RawBuilder<unknown> => {
  const table = sql.table(type.table)
  return idsFound(
    sql`v.id`,
    sql`${table} t join ${table} v on v.document_id = t.document_id${andSameLocale(type, sql`v.locale`, sql`t.locale`)} where t.id in (${dialect.list(rows)})`,
  )
}

/** Applies `input` to a relation stored in a column, from either side. @throws ApiError 400 for missing targets */
export async function writeColumn(writing: RowContext, owner: Owner, relation: Relation, input: RelationInput): Promise<void> {
  const { storage } = relation
  if (input.set === null && input.connect.length === 0 && input.disconnect.length === 0) return
  if (storage.kind === 'column') await writePointer(writing, owner, { ...relation, storage }, input)
  if (storage.kind === 'inverseColumn') await writePointing(writing, owner, relation, storage.column, input)
}

async function writePointer(writing: RowContext, owner: Owner, pointer: ColumnRelation, input: RelationInput): Promise<void> {
  const { transaction, model } = writing
  const { target: uid, storage } = pointer
  const target = model.types.get(uid)!
  const column = sql.id(storage.column)
  const set = async (row: number | null) => {
    const named = row === null || storage.references === 'id' ? row : await referenced(transaction, target, storage.references, row)
    transaction.follow(sql`update ${sql.table(owner.shape.table)} set ${column} = ${named} where id = ${owner.id}`)
  }
  if (input.set !== null) return set((await resolveSet(writing, target, input.set, input.besideSet)).at(-1)?.rows[0] ?? null)
  const { connected, disconnected } = await resolveChange(writing, target, input)
  if (connected.length > 0) return set(connected.at(-1)!.rows[0]!)
  const gone = [...disconnected]
  if (gone.length === 0) return
  const named = storage.references === 'id' ? versionsOf(transaction, target, gone) : sql`(${transaction.dialect.list(gone)})`
  transaction.follow(sql`update ${sql.table(owner.shape.table)} set ${column} = null where id = ${owner.id} and ${column} in ${named}`)
}

async function referenced(transaction: Transaction, target: ContentType, column: string, row: number): Promise<number | string | null> {
  const [found] = await transaction.rows<{ value: number | string | null }>(
    sql`select ${sql.id(column)} as value from ${sql.table(target.table)} where id = ${row}`,
  )
  return found?.value ?? null
}

/** Writes such a relation from its inverse side: referenced rows get the owner, others lose it. */
async function writePointing(writing: RowContext, owner: Owner, relation: Relation, column: string, input: RelationInput): Promise<void> {
  const { transaction, model, resolving } = writing
  const target = model.types.get(relation.target)!
  const { list } = transaction.dialect
  const here = owner.shape.kind === 'contentType' ? versionsOf(transaction, owner.shape, [owner.id]) : sql`(${owner.id})`
  const table = sql.table(target.table)
  const point = (row: number | null, rows: readonly number[]) =>
    transaction.follow(sql`update ${table} set ${sql.id(column)} = ${row} where id in (${list(rows)})`)
  if (input.set === null) {
    const { connected, disconnected } = await resolveChange(writing, target, input)
    const added = connected.flatMap(({ rows }) => rows)
    const left = [...disconnected].filter((id) => !added.includes(id))
    if (left.length > 0)
      transaction.follow(sql`update ${table} set ${sql.id(column)} = null where id in (${list(left)}) and ${sql.id(column)} in ${here}`)
    if (added.length > 0) point(owner.id, added)
    return
  }
  const entries = await resolveSet(writing, target, input.set, input.besideSet)
  const wanted = relation.many ? entries.flatMap(({ rows }) => rows) : (entries.at(-1)?.rows ?? [])
  const side = target.draftAndPublish && resolving.side === 'draft' ? sql` and published_at is null` : sql``
  transaction.follow(sql`update ${table} set ${sql.id(column)} = null where ${sql.id(column)} in ${here}${side}`)
  if (wanted.length > 0) point(owner.id, wanted)
}

/** Copies these relations from `from` to `to`, in the target locale. */
export function copyPointers(
  { transaction, model, targetLocale: into }: RowContext,
  from: Owner,
  to: Owner,
  attributes: readonly Attribute[],
): void {
  const pointers = columnRelations(attributes)
  if (pointers.length === 0) return
  const { table } = from.shape
  const columns = pointers.map(({ storage }) => storage.column)
  overwriteRow(transaction, table, columns, from.id, to.id)
  if (into === undefined) return
  for (const { target: uid, storage } of pointers) {
    const target = model.types.get(uid)!
    if (!target.localized || storage.references !== 'id') continue
    const rows = sql.table(target.table)
    const version = sql`(select v.id from ${rows} t join ${rows} v on v.document_id = t.document_id and v.locale = ${into}
      where t.id = ${sql.id('o', storage.column)} order by v.published_at is not null, v.id limit 1)`
    const source = sql`(select ${version} as shown from ${sql.table(table)} o where o.id = ${from.id}) as source`
    transaction.follow(updateFrom(table, 'target', sql`${sql.id(storage.column)} = source.shown`, source, sql`target.id = ${to.id}`))
  }
}

/** Call before a version is unpublished: columns that reference it are set to the document's draft. */
export function keepPointers(transaction: Transaction, model: Model, type: ContentType, { id, document_id, locale }: StoredVersion): void {
  for (const shape of allSchemas(model)) {
    for (const { target, storage } of columnRelations([...shape.attributes.values()])) {
      if (target !== type.uid || storage.references !== 'id') continue
      const draft = sql`(select d.id as draft from ${sql.table(type.table)} d
        where d.document_id = ${document_id}${andSameLocale(type, sql`d.locale`, sql`${locale}`)} and d.published_at is null order by d.id limit 1) as source`
      const column = sql.id(storage.column)
      transaction.follow(updateFrom(shape.table, 'target', sql`${column} = source.draft`, draft, sql`target.${column} = ${id}`))
    }
  }
}
