// The changes of the model as rows. A row that is made is what makes a change: without it the former model holds.

import { type RawBuilder, sql } from 'kysely'
import { type RowReader, serviceTransaction, type WriteDatabase } from '../../database/database.js'
import type { PlanStep } from '../../model/diff/steps.js'
import type { ArchivedContent, Rename } from '../../model/diff/types.js'
import type { FileChanges } from '../../model/schema/schema-files.js'

/** A change as it is written. */
export interface NewChange {
  /** The version of the model that it leads to. */
  readonly version: string
  /** A summary for people: the uids, or `POST /content-type-builder/update-schema`. */
  readonly summary: string
  readonly files: FileChanges
  /** The texts that the files had before. */
  readonly former: FileChanges
  readonly renames: readonly Rename[]
  /** Tables and columns of archived content. */
  readonly kept: readonly ArchivedContent[]
  /** The attributes that it leaves with more than one link or entry, as `CountedPlan.narrowed`. */
  readonly narrowed: readonly string[]
  /** The change that it undoes; 0 for none. */
  readonly undoes: number
  /** Whether it moves content, so that writes begun for an earlier model must fail. */
  readonly moves: boolean
}

/** A change of the model. Its superfluous remains are read by the doctor alone. */
export interface RecordedChange extends Omit<NewChange, 'narrowed'> {
  readonly id: number
}

/** A change whose steps are committed one by one, and are not all done yet. */
export interface UnfinishedChange extends RecordedChange {
  readonly steps: readonly PlanStep[]
  /** The number of completed steps. */
  readonly done: number
}

/** A change of the model as it is listed. */
export interface ListedChange extends Pick<RecordedChange, 'id' | 'version' | 'summary' | 'undoes'> {
  /** Milliseconds since 1970. */
  readonly madeAt: number
  /** Whether the files are on the disk of the process that applied the change. */
  readonly isFiled: boolean
}

/** The table of changes and the columns that show a new row. */
export const changeColumns = { octavo_model_history: ['id', 'is_made'] } as const

interface ChangeRow {
  readonly id: number
  readonly version: string
  readonly summary: string
  readonly files: string
  readonly former: string
  readonly renames: string
  readonly kept: string
  readonly undoes: number
  readonly moves: number
  readonly steps: string
  readonly done: number
}

const columns = sql`id, version, summary, files, former, renames, kept, undoes, moves, steps, done`

const textOf = (files: FileChanges): string => JSON.stringify(Object.fromEntries(files))
const filesIn = (text: string): FileChanges => new Map(Object.entries(JSON.parse(text) as Record<string, string | null>))

async function changesWhere(database: RowReader, condition: RawBuilder<unknown>): Promise<readonly UnfinishedChange[]> {
  const rows = await database.rows<ChangeRow>(sql`select ${columns} from octavo_model_history where ${condition} order by id`)
  return rows.map(({ id, version, summary, files, former, renames, kept, undoes, moves, steps, done }) => ({
    id: Number(id),
    version,
    summary,
    files: filesIn(files),
    former: filesIn(former),
    undoes: Number(undoes),
    moves: Number(moves) === 1,
    renames: JSON.parse(renames),
    kept: JSON.parse(kept),
    steps: JSON.parse(steps),
    done: Number(done),
  }))
}

/** The changes after `id`, oldest first. */
export const changesAfter = (database: RowReader, id: number): Promise<readonly RecordedChange[]> =>
  changesWhere(database, sql`id > ${id} and is_made = 1`)

/** The changes whose files are not on disk, oldest first. */
export const unfiledChanges = (database: RowReader): Promise<readonly RecordedChange[]> =>
  changesWhere(database, sql`is_filed = 0 and is_made = 1`)

/** The change that is under way in steps, by this process or another, or that one did not finish. */
export async function unfinishedChange(database: RowReader): Promise<UnfinishedChange | null> {
  const [change = null] = await changesWhere(database, sql`is_made = 0`)
  return change
}

/** All changes, oldest first. */
export async function listChanges(database: RowReader): Promise<readonly ListedChange[]> {
  const rows = await database.rows<Omit<ListedChange, 'madeAt' | 'isFiled'> & { readonly made_at: number; readonly is_filed: number }>(
    sql`select id, version, summary, undoes, made_at, is_filed from octavo_model_history where is_made = 1 order by id`,
  )
  return rows.map(({ id, undoes, made_at, is_filed, ...row }) => ({
    ...row,
    id: Number(id),
    undoes: Number(undoes),
    madeAt: Number(made_at),
    isFiled: Number(is_filed) === 1,
  }))
}

/** The id of the last change; 0 if there was none. */
export async function lastChange(database: RowReader): Promise<number> {
  const [row] = await database.rows<{ last: number | null }>(sql`select max(id) as last from octavo_model_history where is_made = 1`)
  return Number(row?.last ?? 0)
}

/** Selects a row if a change follows this one already. */
export const isFollowed = (change: number): RawBuilder<unknown> => sql`select id from octavo_model_history where id > ${change} limit 1`

/** Selects a row if all steps of this change are done. */
export const isFinished = (id: number): RawBuilder<unknown> => sql`select id from octavo_model_history where id = ${id} and is_made = 1`

/** Makes a change that follows the change `follows`; with steps that are still to be committed one by one, it is only noted. */
export const insertChange = (
  follows: number,
  { version, summary, files, former, renames, kept, narrowed, undoes, moves }: NewChange,
  now: number,
  steps: readonly PlanStep[] = [],
): RawBuilder<unknown> =>
  sql`insert into octavo_model_history
      (follows, version, summary, files, former, renames, kept, narrowed, undoes, moves, steps, done, is_made, made_at, is_filed)
    values (${follows}, ${version}, ${summary}, ${textOf(files)}, ${textOf(former)}, ${JSON.stringify(renames)}, ${JSON.stringify(kept)},
      ${JSON.stringify(narrowed)}, ${undoes}, ${moves ? 1 : 0}, ${JSON.stringify(steps)}, 0, ${steps.length === 0 ? 1 : 0}, ${now}, 0)`

/** Makes a change whose steps are all done. */
export const makeChange = (id: number, now: number): RawBuilder<unknown> =>
  sql`update octavo_model_history set is_made = 1, steps = '[]', made_at = ${now} where id = ${id}`

/** Selects how many steps of a change are done. */
export const doneOf = (id: number): RawBuilder<unknown> => sql`select done from octavo_model_history where id = ${id}`

/** Records the number of completed steps. */
export const noteDone = (id: number, done: number): RawBuilder<unknown> =>
  sql`update octavo_model_history set done = ${done} where id = ${id}`

/** `insertChange`, and statements that belong to it. */
export type RecordingStatements = readonly [insert: RawBuilder<unknown>, ...notes: readonly RawBuilder<unknown>[]]

/** Runs `insertChange`; resolves to the id of the change, or to null if another one follows the same change already. */
export const recordChange = (writer: WriteDatabase, follows: number, [insert, ...notes]: RecordingStatements): Promise<number | null> =>
  serviceTransaction(writer, async (transaction) => {
    const later = await transaction.rows(isFollowed(follows))
    if (later.length > 0) return null
    const id = await transaction.insert(insert)
    for (const note of notes) await transaction.run(note)
    return id
  })

/** Notes that the files of a change, and of all before it, are on disk. */
export const noteFiled = (writer: WriteDatabase, id: number): Promise<void> =>
  writer.run(sql`update octavo_model_history set is_filed = 1 where id <= ${id} and is_filed = 0 and is_made = 1`)

/** Texts of schema files by their paths in the project. */
export type SchemaTexts = ReadonlyMap<string, string>

/** Reads them, with the changes that were made since they were stored; null if a database has none. */
export async function storedSchemas(database: RowReader): Promise<SchemaTexts | null> {
  const rows = await database.rows<{ readonly path: string; readonly text: string; readonly change: number }>(
    sql`select path, text, ${sql.id('change')} from octavo_schemas`,
  )
  if (rows.length === 0) return null
  const texts = new Map(rows.map(({ path, text }) => [path, text]))
  const last = Math.max(...rows.map(({ change }) => Number(change)))
  for (const { files } of await changesAfter(database, last)) {
    for (const [path, text] of files) {
      if (text === null) texts.delete(path)
      else if (isSchema(path)) texts.set(path, text)
    }
  }
  return texts
}

/** Changes also write code. */
export const isSchema = (path: string): boolean => path.endsWith('.json')

/** The writes that turn files with the first texts into files with the second ones. */
export function differencesOf(from: SchemaTexts, to: SchemaTexts): FileChanges {
  const written = [...to].filter(([path, text]) => from.get(path) !== text)
  const deleted = [...from.keys()].filter((path) => !to.has(path)).map((path) => [path, null] as const)
  return new Map<string, string | null>([...written, ...deleted])
}

/** Stores them; `change`: the last change that they contain. */
export async function storeSchemas(writer: WriteDatabase, before: SchemaTexts, now: SchemaTexts, change: number): Promise<void> {
  const changed = differencesOf(before, now)
  await serviceTransaction(writer, async (transaction) => {
    for (const [path, text] of changed) {
      transaction.follow(sql`delete from octavo_schemas where path = ${path}`)
      if (text !== null)
        transaction.follow(sql`insert into octavo_schemas (path, text, ${sql.id('change')}) values (${path}, ${text}, ${change})`)
    }
  })
}
