// A snapshot of the database together with the files that belong to it: taken again until no file was replaced meanwhile.
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../config/config.js'
import { driverOf } from '../database/open.js'
import type { FileSnapshot, RowSource } from '../database/rows.js'
import type { Model } from '../model/types.js'
import type { KeptFiles } from '../uploads/kept-files.js'
import { committedSwaps, type ReferencedFile, referencedFiles } from './referenced-files.js'

/** A snapshot with its files. */
export interface ConsistentSnapshot {
  readonly rows: RowSource
  /** Null: the database is on a server. */
  readonly file: FileSnapshot | null
  readonly takenAt: Date
  readonly referenced: readonly ReferencedFile[]
  /** Names of files of which it is not certain that they are those of the snapshot: they were replaced each time that one was taken. */
  readonly uncertain: ReadonlySet<string>
}

/** How often a snapshot is taken, and milliseconds between two times; they grow. */
const [tries, interval] = [12, 25]

/**
 * Takes a snapshot, and keeps the local files as they were in it. A file that is the same right before and right after the snapshot is the
 * one of its row; one that was replaced in between belongs to a snapshot before or after, so another one is taken.
 */
export async function takeSnapshot(config: Config, model: Model, kept: KeptFiles): Promise<ConsistentSnapshot> {
  kept.keep(kept.names())
  for (let attempt = 1; ; attempt++) {
    const { rows, file } = await openSnapshot(config, model)
    try {
      const takenAt = new Date()
      const swaps = await committedSwaps(rows)
      const referenced = await referencedFiles(rows)
      const changed = kept.changed(localNames(referenced))
      kept.keepCommitted(swaps)
      if (changed.length === 0 || attempt === tries) {
        kept.keep(changed)
        return { rows, file, takenAt, referenced, uncertain: new Set(changed) }
      }
      kept.keep([...kept.names(), ...changed])
      await rows.close()
    } catch (error) {
      await rows.close()
      throw error
    }
    await pause(interval * attempt)
  }
}

async function openSnapshot(config: Config, model: Model): Promise<Pick<ConsistentSnapshot, 'rows' | 'file'>> {
  const driver = await driverOf(config)
  if (driver.fileSnapshot === null) return { rows: await driver.rows(config, model), file: null }
  const file = await driver.fileSnapshot(config)
  return { rows: file.rows, file }
}

function* localNames(referenced: readonly ReferencedFile[]): Generator<string> {
  for (const { names, provider } of referenced) if (provider === 'local') yield* names
}
