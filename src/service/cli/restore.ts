// `octavo restore <backup> [folder]`: replaces database, files and schemas of a project by those of a backup.

import { ConfigError } from '../../foundation/errors/errors.js'
import { type Restored, restoreBackup } from '../../operations/backup/restore.js'
import { formatProgress } from './backup.js'
import { onDatabase, orExplain } from './explain-error.js'
import { createProgress, pluralize, print } from './output.js'
import { checkProject, loadWithoutSecrets } from './project.js'
import { watchInterruption } from './signals.js'

interface Options {
  readonly replace?: boolean
  readonly schemas?: boolean
  readonly keepSchemas?: boolean
}

/** @throws ConfigError with a sentence; the project is unchanged unless that says otherwise */
export const restoreCommand = orExplain(async (from: string, folder: string, options: Options) => {
  const { replace = false, schemas = false, keepSchemas = false } = options
  if (schemas && keepSchemas) throw new ConfigError('--schemas and --keep-schemas exclude each other')
  const config = await loadWithoutSecrets(folder)
  checkProject(config.folder)
  const interruption = watchInterruption()
  try {
    await onDatabase(config, async () => {
      const restored = await restoreBackup(config, {
        from,
        replace,
        now: new Date(),
        schemas: schemas ? 'backup' : keepSchemas ? 'project' : null,
        report: createProgress(formatProgress('restoring')),
        begun: interruption.undoes,
        changing: interruption.end,
      })
      show(restored)
    })
  } finally {
    interruption.end()
  }
})

function show({ note, isContinued, aside, left }: Restored): void {
  const { backup, schemas } = note
  if (left.length > 0) {
    print('Not restored, because the database has no such table or column; the backup has them in database.db:')
    for (const name of left) print(`  ${name}`)
  }
  const changed = schemas.written.length + schemas.removed.length
  const what = [
    pluralize(backup.rows, 'row'),
    pluralize(backup.files, 'file'),
    ...(changed > 0 ? [pluralize(changed, 'changed schema')] : []),
  ].join(', ')
  print(
    `${isContinued ? 'Finished the restore that was interrupted' : 'Restored'}: ${what} as of ${backup.snapshotAt}, from ${backup.path}.`,
  )
  if (aside.length > 0) print('Former content:')
  for (const path of aside) print(`  ${path}`)
}
