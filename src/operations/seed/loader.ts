// Loads the seed of a project into its new database.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Database as Connection } from 'better-sqlite3'
import { newDocumentId } from '../../model/schema/names.js'
import type { Model } from '../../model/schema/types.js'

interface CreationLog {
  info(details: object | string, message?: string): void
}

/** Creates a loader of the `seed/` folder in `folder`; without one, the loader only logs. `database`: name in messages. */
export function seedLoader(
  { folder, uploadsFolder }: { readonly folder: string; readonly uploadsFolder: string },
  model: Model,
  database: string,
  logger: CreationLog = { info: () => {} },
): (connection: Connection, now: Date) => Promise<void> {
  return async (connection, now) => {
    if (!existsSync(join(folder, 'seed'))) return logger.info({ database }, 'created the database')
    // Only new projects need this code.
    const { seedProject } = await import('./seed.js')
    const documents = await seedProject(folder, connection, model, {
      newDocumentId,
      now,
      uploadsFolder,
      report: (line) => logger.info(line),
    })
    logger.info({ database, documents }, 'created the database and loaded seed/')
  }
}
