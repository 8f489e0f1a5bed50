// `octavo indexes [folder]`: creates Octavo's own indexes now, with progress, instead of in the background after a start.

import { getDriver } from '../../database/open.js'
import type { Config } from '../../foundation/config/config.js'
import type { Model } from '../../model/schema/types.js'
import { onDatabase, orExplain } from './explain-error.js'
import { print } from './output.js'
import { checkDatabase, checkPrepared, loadWithoutSecrets, readProjectFolder } from './project.js'

export const indexes = orExplain(async (folder: string) => {
  const { config, model } = await readProjectFolder(folder, checkDatabase, loadWithoutSecrets)
  await onDatabase(config, () => createIndexes(config, model, folder))
})

async function createIndexes(config: Config, model: Model, folder: string): Promise<void> {
  const driver = await getDriver(config)
  const view = await driver.openView(config)
  try {
    await checkPrepared(view, config, folder)
  } finally {
    await view.close()
  }
  const created = await driver.createMissingIndexes(config, model, (name, done, missing) => print(`${done + 1} of ${missing}: ${name}`))
  print(created === 0 ? 'All indexes exist.' : `Created ${created} indexes.`)
}
