// The changes of the model as rows. A row that is made is what makes a change: without it the former model holds.
import { type RawBuilder, sql } from 'kysely'
import { inBookkeeping, type RowReader, type WriteDatabase } from '../../database/database.js'
import type { ReversingStep } from '../../model/diff/reversing.js'
import type { PlanStep } from '../../model/diff/steps.js'
import type { KeptPlace, Rename } from '../../model/diff/types.js'
import type { FileChanges } from '../../model/schema/schema-files.js'

/** A change as it is written. */
export interface NewChange {
  /** The version of the model that it leads to. */
  readonly version: string
  /** What was changed, for people: the uids, or `POST /content-type-builder/update-schema`. */
  readonly summary: string
  readonly files: FileChanges
  /** The texts that the files had before. */
  readonly former: FileChanges
  readonly renames: readonly Rename[]
  /** Where content is kept aside. */
  readonly kept: readonly KeptPlace[]
  /** The attributes that it leaves with more than one link or entry, as `CountedPlan.narrowed`. */
  readonly narrowed: readonly string[]
  /** The change that it undoes; 0 for none. */
  readonly undoes: number
  /** Whether it moves content, so that writes that were begun for a model before it must fail. */
  readonly moves: boolean
}

/** A change of the model. What it leaves too much of is read by the doctor alone. */
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
  /** Whether the files are on the disk of the process that made the change. */
  readonly isFiled: boolean
}

/** The table of changes and the columns by which a new row is noticed. */
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

/** What `is_made` is of a change that is under way, that is made, and that was given up and is taken back. */
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
 * The change that is undone where this one is to be, or the last one that is in force (null); null if there is none. Where the undo of a change
 * was undone, it is that which has put it in force again, and has kept aside what it hides.
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
  /** What has undone a change last. */
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

/** What has become of a change that was begun. */
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

/** Notes that so many steps of a change are done. */
export const noteDone = (id: number, done: number): RawBuilder<unknown> =>
  sql`update octavo_model_history set done = ${done} where id = ${id}`

/** `insertChange`, and statements that belong to it. */
export type RecordingStatements = readonly [insert: RawBuilder<unknown>, ...notes: readonly RawBuilder<unknown>[]]

/** Runs `insertChange`; resolves to the id of the change, or to null if another one follows the same change already. */
export const recordChange = (writer: WriteDatabase, follows: number, [insert, ...notes]: RecordingStatements): Promise<number | null> =>
  inBookkeeping(writer, async (transaction) => {
    const later = await transaction.rows(isFollowed(follows))
    if (later.length > 0) return null
    const id = await transaction.insert(insert)
    for (const note of notes) await transaction.run(note)
    return id
  })

/** Notes that the files of a change, and of all before it, are on disk. */
export const noteFiled = (writer: WriteDatabase, id: number): Promise<void> =>
  writer.run(sql`update octavo_model_history set is_filed = 1 where id <= ${id} and is_filed = 0 and is_made = 1`)
