// A snapshot of the database with its files, repeated until no file was replaced during it.
import { setTimeout as pause } from 'node:timers/promises'
import type { KeptFiles } from '../../content/media/hardlink-snapshot.js'
import { getDriver } from '../../database/open.js'
import type { FileSnapshot, RowSource } from '../../database/transfer/rows.js'
import type { Config } from '../../foundation/config/config.js'
import type { Model } from '../../model/schema/types.js'
import { committedSwaps, type ReferencedFile, referencedFiles } from './referenced-files.js'

export interface ConsistentSnapshot {
  readonly rows: RowSource
  /** Null: the database is on a server. */
  readonly file: FileSnapshot | null
  readonly takenAt: Date
  readonly referenced: readonly ReferencedFile[]
  /** Names of files replaced during every snapshot: their content may not match it. */
  readonly uncertain: ReadonlySet<string>
}

/** Maximum number of snapshots, and increment of the pause between them in milliseconds. */
const [tries, interval] = [12, 25]

/**
 * Takes a snapshot, and preserves the local files that belong to it. A file that is the same directly before and after the snapshot matches
 * its row; if one was replaced in between, another snapshot is taken. Nothing else happens between the two checks, so this ends even while
 * files are uploaded. A file found by neither check may have been added and deleted in between; it is missing if the previous snapshot
 * lacks it too.
 */
export async function takeSnapshot(config: Config, model: Model, kept: KeptFiles): Promise<ConsistentSnapshot> {
  kept.keepAll()
  let lacked: ReadonlySet<string> = new Set()
  for (let attempt = 1; ; attempt++) {
    const { rows, file } = await openSnapshot(config, model, kept.keepAll)
    try {
      const files = kept.look()
      const takenAt = new Date()
      const swaps = await committedSwaps(rows)
      const referenced = await referencedFiles(rows)
      const changed = files.changed(localNames(referenced))
      files.keepReplacements(swaps)
      const lacking = namesWithoutFile(referenced, kept)
      const isSettled = changed.length === 0 && [...lacking].every((name) => lacked.has(name))
      if (isSettled || attempt === tries) {
        kept.keep(changed)
        return { rows, file, takenAt, referenced, uncertain: new Set(changed) }
      }
      lacked = lacking
      await rows.close()
    } catch (error) {
      await rows.close()
      throw error
    }
    await pause(interval * attempt)
  }
}

type OpenSnapshot = Pick<ConsistentSnapshot, 'rows' | 'file'>

async function openSnapshot(config: Config, model: Model, beforeSnapshot: () => void): Promise<OpenSnapshot> {
  const driver = await getDriver(config)
  if (driver.fileSnapshot === null) return { rows: await driver.rows(config, model, beforeSnapshot), file: null }
  const file = await driver.fileSnapshot(config, beforeSnapshot)
  return { rows: file.rows, file }
}

/** Local files missing from the snapshot, each by its likeliest name. */
function namesWithoutFile(referenced: readonly ReferencedFile[], kept: KeptFiles): ReadonlySet<string> {
  const without = referenced.filter(({ names, provider }) => provider === 'local' && names.every((name) => kept.find(name) === null))
  return new Set(without.map(({ names, url }) => names[0] ?? url))
}

function* localNames(referenced: readonly ReferencedFile[]): Generator<string> {
  for (const { names, provider } of referenced) if (provider === 'local') yield* names
}
