// Links rows to files of the media library, in `files_related_mph`.
import { sql } from 'kysely'
import type { Transaction } from '../../../database/database.js'
import type { Dialect } from '../../../database/dialect.js'
import { isSame } from '../../../database/portable-sql.js'
import type { ContentType, Media } from '../../../model/schema/types.js'
import type { RelationInput } from '../input/types.js'
import { placeEntries } from './positions.js'
import type { Owner } from './relations.js'
import { insertRows } from './rows.js'
import { resolveReferences, resolveSet, type TargetResolution } from './targets.js'

const table = sql.table('files_related_mph')
const isOf = (owner: Owner, media: Media) => sql`related_id = ${owner.id} and related_type = ${owner.shape.uid} and field = ${media.name}`

/**
 * Writes what `input` says about a media attribute of `owner`: its rows are replaced, numbered from 1. An attribute that
 * holds one file keeps several in its rows, as in Strapi, and shows the first.
 */
export async function writeMedia(
  transaction: Transaction,
  files: ContentType,
  owner: Owner,
  media: Media,
  input: RelationInput,
  resolving: TargetResolution,
  isNew: boolean,
): Promise<void> {
  if (input.set === null && input.connect.length === 0 && input.disconnect.length === 0) return
  if (input.set === null && isNew) {
    // As in Strapi, a new row takes no files that are connected, only such that are set; but these must be there.
    await changedFiles(transaction, files, input, resolving)
    return
  }
  const wanted = await wantedFiles(transaction, files, owner, media, input, resolving)
  if (!isNew) transaction.follow(sql`delete from ${table} where ${isOf(owner, media)}`)
  insertRows(
    transaction,
    'files_related_mph',
    wanted.map((file, index) => ({
      file_id: file,
      related_id: owner.id,
      related_type: owner.shape.uid,
      field: media.name,
      order: index + 1,
    })),
  )
}

async function wantedFiles(
  transaction: Transaction,
  files: ContentType,
  owner: Owner,
  media: Media,
  input: RelationInput,
  resolving: TargetResolution,
) {
  if (input.set !== null) {
    const entries = await resolveSet(transaction, files, input.set, input.besideSet, resolving)
    return [...new Set(entries.flatMap(({ rows }) => rows))]
  }
  const present = await transaction.rows<{ file_id: number }>(
    sql`select file_id from ${table} where ${isOf(owner, media)} order by ${sql.id('order')}, id`,
  )
  const resolved = await changedFiles(transaction, files, input, resolving)
  const disconnected = new Set(resolved.slice(0, input.disconnect.length).flatMap(({ rows }) => rows))
  const connected = resolved.slice(input.disconnect.length).map(({ rows }) => ({ reference: {}, rows }))
  return placeEntries(
    present.map(({ file_id }) => file_id),
    connected,
    disconnected,
    () => [],
  )
}

/** The disconnected files, then the connected ones. @throws ApiError 400 for missing files */
const changedFiles = (transaction: Transaction, files: ContentType, { connect, disconnect }: RelationInput, resolving: TargetResolution) =>
  resolveReferences(transaction, files, [...disconnect, ...connect], resolving, disconnect.length)

/** Gives `to` the files that `from` has, for these attributes. `replaces`: those that `to` has already keep their rows. */
export function copyMedia(transaction: Transaction, from: Owner, to: Owner, attributes: readonly Media[], replaces: boolean): void {
  if (attributes.length === 0) return
  const { dialect } = transaction
  const links = fileLinks(dialect, from.shape, [from.id], attributes)
  const isSameAs = (row: string) =>
    sql.join(
      ['file_id', 'field', 'order'].map((name) => isSame(sql.id('f', name), sql.id(row, name))),
      sql` and `,
    )
  const own = isOfAny(dialect, to.shape, [to.id], attributes)
  if (replaces)
    transaction.follow(
      sql`delete from ${table} where ${own} and not exists (select 1 from (${links}) f where ${isSameAs('files_related_mph')})`,
    )
  const isMissing = replaces ? sql`where not exists (select 1 from ${table} o where ${own} and ${isSameAs('o')})` : sql``
  transaction.follow(
    sql`insert into ${table} (file_id, related_id, related_type, field, ${sql.id('order')})
      select file_id, ${to.id}, related_type, field, ${sql.id('order')} from (${links}) f ${isMissing} order by id`,
  )
}

/** The links of rows of one shape to files, for some attributes or for all. */
export const fileLinks = (dialect: Dialect, shape: Owner['shape'], ids: readonly number[], attributes: readonly Media[]) =>
  sql`select * from ${table} where ${isOfAny(dialect, shape, ids, attributes)}`

const isOfAny = (dialect: Dialect, shape: Owner['shape'], ids: readonly number[], attributes: readonly Media[]) =>
  sql`related_id in (${dialect.list(ids)}) and related_type = ${shape.uid} and field in (${sql.join(attributes.map(({ name }) => name))})`

/** Removes the links of rows of one shape to files, for some attributes or for all. */
export function removeMedia(transaction: Transaction, shape: Owner['shape'], ids: readonly number[], attributes: readonly Media[]): void {
  if (attributes.length === 0) return
  transaction.follow(sql`delete from ${table} where ${isOfAny(transaction.dialect, shape, ids, attributes)}`)
}
