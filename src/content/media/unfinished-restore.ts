// Detects an unfinished restore of the project by its note in the uploads folder. No other command may use the project then.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../../foundation/errors/errors.js'
import { commandLine } from '../../foundation/runtime/terminal.js'

export const restoreNoteName = '.octavo-restore.json'

/** @throws ConfigError while a restore of the project is not finished */
export function refuseUnfinishedRestore({ uploadsFolder, folder }: { readonly uploadsFolder: string; readonly folder: string }): void {
  if (existsSync(join(uploadsFolder, restoreNoteName)))
    throw new ConfigError(
      `A restore of this project was begun and has not ended, so its database and files may not belong together. To finish it: ${commandLine('restore <backup>', folder)}`,
    )
}
