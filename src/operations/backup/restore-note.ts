// The note of a restore that has begun to change a project. While it is there, nothing else may use the project: the database and the files
// may not belong together.
import { existsSync } from 'node:fs'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { restoreNoteName as noteName } from '../../content/media/unfinished-restore.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { syncToDisk } from '../../foundation/runtime/sync-to-disk.js'
import { isBackupPath, isSchemaPath } from './manifest.js'

const schemaPath = z.string().refine(isSchemaPath)

const note = z.strictObject({
  /** The backup: its path and its id, when it was made, and its rows and files. */
  backup: z.strictObject({ path: z.string(), id: z.uuid(), snapshotAt: z.string(), rows: z.int(), files: z.int() }),
  /** The names of what is kept aside end with it. */
  stamp: z.string().regex(/^\d{8}T\d{9}Z$/),
  /** What is under way: rows go to a server, what was there is put aside, or what is new is put in place. */
  phase: z.enum(['rows', 'aside', 'place']),
  schemas: z.strictObject({ written: z.array(schemaPath).readonly(), removed: z.array(schemaPath).readonly() }),
  /** Objects for a remote storage. */
  objects: z.array(z.strictObject({ path: z.string().refine(isBackupPath), provider: z.string(), mime: z.string() })).readonly(),
})

/** A restore that has begun to change a project. */
export type RestoreNote = z.output<typeof note>

/** The note in this uploads folder; null: no restore is under way. @throws ConfigError if it cannot be understood */
export async function readNote(uploads: string): Promise<RestoreNote | null> {
  const path = join(uploads, noteName)
  if (!existsSync(path)) return null
  const read = note.safeParse(JSON.parse(await readFile(path, 'utf8')))
  if (!read.success) throw new ConfigError(`${path} is not the note of a restore of this version of Octavo`)
  return read.data
}

/** Writes the note in place of an earlier one, on the disk before it returns. */
export async function writeNote(uploads: string, given: RestoreNote): Promise<void> {
  await mkdir(uploads, { recursive: true })
  const part = join(uploads, `${noteName}.part`)
  const handle = await open(part, 'w', 0o600)
  try {
    await handle.writeFile(JSON.stringify(given))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(part, join(uploads, noteName))
  await syncToDisk(uploads)
}

/** Removes the note: the restore has ended. */
export async function removeNote(uploads: string): Promise<void> {
  await rm(join(uploads, noteName), { force: true })
  await syncToDisk(uploads)
}
