// The changes of the model as rows. A row that is made is what makes a change: without it the former model holds.

import { type RawBuilder, sql } from 'kysely'
import { type RowReader, serviceTransaction, type WriteDatabase } from '../../database/database.js'
import type { ReversingStep } from '../../model/diff/reversing.js'
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

/** A change whose steps are committed one by one, and that is neither made nor taken back yet. */
export type UnfinishedChange = RecordedChange &
  (
    | { readonly isGivenUp: false; readonly steps: readonly PlanStep[] }
    | { readonly isGivenUp: true; readonly steps: readonly ReversingStep[] }
  )

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
  readonly is_made: number
}

/** Values of `is_made`: in progress, applied, abandoned and being reverted. */
const [underWay, isMade, isGivenUp] = [0, 1, -1]

const columns = sql`id, version, summary, files, former, renames, kept, undoes, moves, steps, is_made`

const textOf = (files: FileChanges): string => JSON.stringify(Object.fromEntries(files))
const filesIn = (text: string): FileChanges => new Map(Object.entries(JSON.parse(text) as Record<string, string | null>))

async function changesWhere(database: RowReader, condition: RawBuilder<unknown>): Promise<readonly UnfinishedChange[]> {
  const rows = await database.rows<ChangeRow>(sql`select ${columns} from octavo_model_history where ${condition} order by id`)
  return rows.map(({ id, version, summary, files, former, renames, kept, undoes, moves, steps, is_made }) => ({
    ...{
      id: Number(id),
      version,
      summary,
      files: filesIn(files),
      former: filesIn(former),
      undoes: Number(undoes),
      moves: Number(moves) === 1,
    },
    renames: JSON.parse(renames),
    kept: JSON.parse(kept),
    steps: JSON.parse(steps),
    isGivenUp: Number(is_made) === isGivenUp,
  }))
}

/** The changes after `id`, oldest first. */
export const changesAfter = (database: RowReader, id: number): Promise<readonly RecordedChange[]> =>
  changesWhere(database, sql`id > ${id} and is_made = 1`)

/** The changes whose files are not on disk, oldest first. */
export const unfiledChanges = (database: RowReader): Promise<readonly RecordedChange[]> =>
  changesWhere(database, sql`is_filed = 0 and is_made = 1`)

/**
 * The change to undo for this one, or the last effective one (null); null if there is none. Where the undo of a change
 * was undone, it is the one that reapplied it and archived the content that it hides.
 */
export async function changeToUndo(database: RowReader, wanted: number | null): Promise<RecordedChange | null> {
  const made = await listChanges(database)
  const inForce = inForceOf(made)
  const id = wanted === null ? inForce.at(-1)?.last : (inForce.find(({ change }) => change === wanted)?.last ?? wanted)
  if (id === undefined) return null
  const [change = null] = await changesWhere(database, sql`id = ${id} and is_made = 1`)
  return change
}

/** The changes that are in force and undo no other, each with the one that put it in force last, in the order of these. */
function inForceOf(made: readonly Pick<ListedChange, 'id' | 'undoes'>[]) {
  /** The last undo of a change. */
  const undoneBy = new Map(made.map(({ id, undoes }) => [undoes, id]))
  return made
    .filter(({ undoes }) => undoes === 0)
    .flatMap(({ id: change }) => {
      let last = change
      for (;;) {
        const undo = undoneBy.get(last)
        if (undo === undefined) return [{ change, last }]
        const again = undoneBy.get(undo)
        if (again === undefined) return []
        last = again
      }
    })
    .sort((one, other) => one.last - other.last)
}

/** The change that is under way in steps, by this process or another, or that one did not finish. */
export async function unfinishedChange(database: RowReader): Promise<UnfinishedChange | null> {
  const [change = null] = await changesWhere(database, sql`is_made <> ${isMade}`)
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

/** Selects a row unless this change is under way, or, with `givenUp`, is being taken back. */
export const hasEnded = (id: number, givenUp = false): RawBuilder<unknown> =>
  sql`select ended from (select count(*) as ended from octavo_model_history where id = ${id} and is_made = ${givenUp ? isGivenUp : underWay}) as found
    where ended = 0`

/** The outcome of a change. */
export async function stateOf(database: RowReader, id: number): Promise<'underWay' | 'made' | 'givenUp' | 'takenBack'> {
  const [row] = await database.rows<{ is_made: number }>(sql`select is_made from octavo_model_history where id = ${id}`)
  if (row === undefined) return 'takenBack'
  const state = Number(row.is_made)
  return state === isMade ? 'made' : state === isGivenUp ? 'givenUp' : 'underWay'
}

/** Gives a change up: from now on these steps are left, which take it back. */
export const giveUpChange = (id: number, steps: readonly ReversingStep[]): RawBuilder<unknown> =>
  sql`update octavo_model_history set is_made = ${isGivenUp}, steps = ${JSON.stringify(steps)}, done = 0 where id = ${id}`

/** Ends a change that was taken back: there was none. */
export const forgetChange = (id: number): RawBuilder<unknown> => sql`delete from octavo_model_history where id = ${id}`

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
