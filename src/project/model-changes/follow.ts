// Follows the changes of the model that other processes make: before a request that comes after them is responded to.
import { ApiError, ConfigError } from '../../foundation/errors/errors.js'
import { finishInSteps } from './carry-out.js'
import type { InForce, LiveModelOptions } from './change.js'
import { changesAfter, lastChange, noteFiled, unfinishedChange } from './change-log.js'
import { filesOf, loadFormerWith, loadWith, noteWritten, putInForce } from './in-force.js'
import { plain } from './refusals.js'
import { stageFiles } from './write-files.js'

/** Follows other processes. Where nothing has changed, nobody is waited for: a change of this process may be waiting for who asks. */
export async function reload(
  options: LiveModelOptions,
  inForce: InForce,
  inLine: (work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const { main } = options.database
  if ((await lastChange(main)) === inForce.change && (await unfinishedChange(main)) === null) return
  await inLine(() => follow(options, inForce))
}

const notFollowed = (why: string): ApiError => new ApiError('ServiceUnavailableError', `The model was changed by another process, ${why}`)

/**
 * Follows the changes that other processes have made. `writesFiles`: their files are written into the folder of this one.
 * @throws ApiError 503 if the files of this process lead to another model
 */
export async function follow(options: LiveModelOptions, inForce: InForce, writesFiles = true): Promise<void> {
  const { config, database } = options
  await finishInSteps(options, inForce.installations, async (files) => (await loadFormerWith(options, inForce, files)).model)
  const changes = await changesAfter(database.main, inForce.change)
  const last = changes.at(-1)
  if (last === undefined) return writesFiles ? writeAgain(options, inForce) : undefined
  const files = filesOf(changes)
  const next = await loadWith(options, inForce, files).catch((error: unknown) => {
    throw notFollowed(`whose change this one cannot follow: ${plain(error, config.folder)}`)
  })
  if (next.model.version !== last.version) throw notFollowed('whose files differ from those of this one')
  await options.check(next.model).catch((error: unknown) => {
    throw error instanceof ConfigError ? notFollowed(`whose change the code of this one does not fit: ${error.message}`) : error
  })
  await database.fit(next.model)
  putInForce(inForce, next, last.id)
  noteWritten(inForce, files, false)
  if (writesFiles) await writeAgain(options, inForce)
}

/**
 * Writes what is in force and not on disk yet. Where a start has left the files of an older deployment as they are, all of them stay so: some
 * of the newer ones beside them may be no model.
 */
async function writeAgain({ config, start, database, log }: LiveModelOptions, inForce: InForce): Promise<void> {
  const files = inForce.unwritten
  const areOlder = !config.modelChanges && start.behind.size > 0
  if (files.size === 0 || areOlder) return
  try {
    await (await stageFiles(config.folder, files)).place()
    noteWritten(inForce, files, true)
    if (inForce.unfiled > 0) await noteFiled(database.writes, inForce.unfiled)
    inForce.unfiled = 0
  } catch (error) {
    log.error({ err: error, files: [...files.keys()] }, 'could not write the files of changes of the model; the next change tries again')
  }
}
