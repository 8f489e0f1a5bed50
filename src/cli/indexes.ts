// `octavo indexes [folder]`: creates Octavo's own indexes now, with progress, instead of in the background after a start.
import { randomBytes } from 'node:crypto'
import { type Config, loadConfig } from '../config/config.js'
import { driverOf } from '../database/open.js'
import { loadModel } from '../model/load.js'
import { onDatabase, orExplain } from './explain-error.js'
import { checkDatabase, checkPrepared, print } from './project.js'
import { checkProject } from './project-folder.js'

/** Creates the missing indexes of the project in `folder`. */
export const indexes = orExplain(async (folder: string) => {
  const config = await loadConfig(folder, null, () => randomBytes(24).toString('base64url'))
  checkProject(config.folder)
  checkDatabase(config, folder)
  await onDatabase(config, () => createIndexes(config, folder))
})

async function createIndexes(config: Config, folder: string): Promise<void> {
  const view = await driverOf(config).lookInto(config)
  try {
    await checkPrepared(view, config, folder)
  } finally {
    await view.close()
  }
  const model = await loadModel(config.folder, config.privateAttributes)
  const created = await driverOf(config).createMissingIndexes(config, model, (name, done, missing) =>
    print(`${done + 1} of ${missing}: ${name}`),
  )
  print(created === 0 ? 'All indexes exist.' : `Created ${created} indexes.`)
}
