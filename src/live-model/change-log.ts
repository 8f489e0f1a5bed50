// The changes of the model that were made while serving, as rows. A row is what makes a change: without it the former model holds.
import { type RawBuilder, sql } from 'kysely'
import { inBookkeeping } from '../database/bookkeeping.js'
import type { MainConnection, WriteDatabase } from '../database/database.js'
import type { FileChanges } from '../model/schema-files.js'

/** A change of the model. */
export interface RecordedChange {
  readonly id: number
  /** The version of the model that it led to. */
  readonly version: string
  /** What was changed, for people: the uids, or `POST /content-type-builder/content-types`. */
  readonly summary: string
  readonly files: FileChanges
}

/** A change of the model as it is listed. */
export interface ListedChange extends Omit<RecordedChange, 'files'> {
  /** Milliseconds since 1970. */
  readonly madeAt: number
  /** Whether the files are on the disk of the process that made the change. */
  readonly isFiled: boolean
}

/** The table of changes and the columns by which a new row is noticed. */
export const changeColumns = { octavo_model_changes: ['id'] } as const

interface ChangeRow {
  readonly id: number
  readonly version: string
  readonly summary: string
  readonly files: string
}

async function changesWhere(database: MainConnection, condition: RawBuilder<unknown>): Promise<readonly RecordedChange[]> {
  const rows = await database.rows<ChangeRow>(
    sql`select id, version, summary, files from octavo_model_changes where ${condition} order by id`,
  )
  return rows.map(({ id, files, ...row }) => ({
    ...row,
    id: Number(id),
    files: new Map(Object.entries(JSON.parse(files) as Record<string, string | null>)),
  }))
}

/** The changes after `id`, oldest first. */
export const changesAfter = (database: MainConnection, id: number): Promise<readonly RecordedChange[]> =>
  changesWhere(database, sql`id > ${id}`)

/** The changes whose files are not on disk, oldest first. */
export const unfiledChanges = (database: MainConnection): Promise<readonly RecordedChange[]> => changesWhere(database, sql`is_filed = 0`)

/** All changes, oldest first. */
export async function listChanges(database: MainConnection): Promise<readonly ListedChange[]> {
  const rows = await database.rows<Omit<ChangeRow, 'files'> & { readonly made_at: number; readonly is_filed: number }>(
    sql`select id, version, summary, made_at, is_filed from octavo_model_changes order by id`,
  )
  return rows.map(({ id, made_at, is_filed, ...row }) => ({
    ...row,
    id: Number(id),
    madeAt: Number(made_at),
    isFiled: Number(is_filed) === 1,
  }))
}

/** The id of the last change; 0 if there was none. */
export async function lastChange(database: MainConnection): Promise<number> {
  const [row] = await database.rows<{ last: number | null }>(sql`select max(id) as last from octavo_model_changes`)
  return Number(row?.last ?? 0)
}

/** Makes a change that follows the change `follows`; resolves to its id, or to null if another change follows that one already. */
export async function recordChange(
  writer: WriteDatabase,
  follows: number,
  { version, summary, files }: Pick<RecordedChange, 'version' | 'summary' | 'files'>,
  now: number,
): Promise<number | null> {
  const text = JSON.stringify(Object.fromEntries(files))
  return inBookkeeping(writer, async (transaction) => {
    const later = await transaction.rows(sql`select id from octavo_model_changes where id > ${follows} limit 1`)
    if (later.length > 0) return null
    return transaction.insert(
      sql`insert into octavo_model_changes (follows, version, summary, files, made_at, is_filed)
        values (${follows}, ${version}, ${summary}, ${text}, ${now}, 0)`,
    )
  })
}

/** Notes that the files of a change, and of all before it, are on disk. */
export const noteFiled = (writer: WriteDatabase, id: number): Promise<void> =>
  writer.run(sql`update octavo_model_changes set is_filed = 1 where id <= ${id} and is_filed = 0`)
