// Model changes as rows. The row marked as made applies the change; without it, the former model is in force.

import { type RawBuilder, sql } from 'kysely'
import { type RowReader, serviceTransaction, type WriteDatabase } from '../../database/database.js'
import type { PlanStep } from '../../model/diff/steps.js'
import type { ArchivedContent, Rename } from '../../model/diff/types.js'
import type { FileChanges } from '../../model/schema/schema-files.js'

export interface NewChange {
  /** Version of the resulting model. */
  readonly version: string
  /** A summary for people: the uids, or `POST /content-type-builder/update-schema`. */
  readonly summary: string
  readonly files: FileChanges
  /** Former texts of the files. */
  readonly former: FileChanges
  readonly renames: readonly Rename[]
  /** Tables and columns of archived content. */
  readonly kept: readonly ArchivedContent[]
  /** Attributes left with several links or entries, as in `CountedPlan.narrowed`. */
  readonly narrowed: readonly string[]
  /** The change that it undoes; 0: none. */
  readonly undoes: number
  /** True if it moves content, so that writes begun under an earlier model must fail. */
  readonly moves: boolean
}

/** A change of the model. `narrowed` is read only by the doctor. */
export interface RecordedChange extends Omit<NewChange, 'narrowed'> {
  readonly id: number
}

/** A change whose steps are committed one by one and are not complete. */
export interface UnfinishedChange extends RecordedChange {
  readonly steps: readonly PlanStep[]
  readonly done: number
}

export interface ListedChange extends Pick<RecordedChange, 'id' | 'version' | 'summary' | 'undoes'> {
  /** Milliseconds since 1970. */
  readonly madeAt: number
  /** True if the files are on the disk of the process that applied the change. */
  readonly isFiled: boolean
}

/** The table of changes and the columns that reveal a new row. */
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

/** The change in progress, by any process, or left unfinished. */
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

/** The id of the last change; 0 if there is none. */
export async function lastChange(database: RowReader): Promise<number> {
  const [row] = await database.rows<{ last: number | null }>(sql`select max(id) as last from octavo_model_history where is_made = 1`)
  return Number(row?.last ?? 0)
}

/** Selects a row if another change already follows this one. */
export const isFollowed = (change: number): RawBuilder<unknown> => sql`select id from octavo_model_history where id > ${change} limit 1`

/** Selects a row if all steps of this change are complete. */
export const isFinished = (id: number): RawBuilder<unknown> => sql`select id from octavo_model_history where id = ${id} and is_made = 1`

/** Inserts a change with the predecessor `follows`. With steps to be committed one by one, it is not marked as made yet. */
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

/** Marks a change as made after all its steps. */
export const makeChange = (id: number, now: number): RawBuilder<unknown> =>
  sql`update octavo_model_history set is_made = 1, steps = '[]', made_at = ${now} where id = ${id}`

/** Selects the number of completed steps. */
export const doneOf = (id: number): RawBuilder<unknown> => sql`select done from octavo_model_history where id = ${id}`

export const noteDone = (id: number, done: number): RawBuilder<unknown> =>
  sql`update octavo_model_history set done = ${done} where id = ${id}`

/** `insertChange`, and statements of the same transaction. */
export type RecordingStatements = readonly [insert: RawBuilder<unknown>, ...notes: readonly RawBuilder<unknown>[]]

/** Runs `insertChange`; resolves to the id of the change, or to null if another one already has the same predecessor. */
export const recordChange = (writer: WriteDatabase, follows: number, [insert, ...notes]: RecordingStatements): Promise<number | null> =>
  serviceTransaction(writer, async (transaction) => {
    const later = await transaction.rows(isFollowed(follows))
    if (later.length > 0) return null
    const id = await transaction.insert(insert)
    for (const note of notes) await transaction.run(note)
    return id
  })

/** Records that the files of a change, and of all earlier ones, are on disk. */
export const noteFiled = (writer: WriteDatabase, id: number): Promise<void> =>
  writer.run(sql`update octavo_model_history set is_filed = 1 where id <= ${id} and is_filed = 0 and is_made = 1`)

/** Texts of schema files by path in the project. */
export type SchemaTexts = ReadonlyMap<string, string>

/** Reads the stored schema files and applies later changes; null if none are stored. */
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

/** Excludes code, which changes write too. */
export const isSchema = (path: string): boolean => path.endsWith('.json')

/** The file changes that lead from the first texts to the second. */
export function differencesOf(from: SchemaTexts, to: SchemaTexts): FileChanges {
  const written = [...to].filter(([path, text]) => from.get(path) !== text)
  const deleted = [...from.keys()].filter((path) => !to.has(path)).map((path) => [path, null] as const)
  return new Map<string, string | null>([...written, ...deleted])
}

/** Stores schema files; `change`: the last change in them. */
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
