// Opens the database of a project with its model, for a service or for a command that changes the model.
import { type Logger, pino } from 'pino'
import { checkHooks } from '../content/documents/code/hooks.js'
import { checkTypes } from '../content/documents/guard/scopes.js'
import type { Driver } from '../database/driver.js'
import { getDriver } from '../database/open.js'
import type { Signing } from '../database/response/signed-addresses.js'
import type { Config } from '../foundation/config/config.js'
import { checkPreview } from '../foundation/config/preview.js'
import { type Closers, openClosers } from '../foundation/runtime/shutdown.js'
import { checkRoutes } from '../http/rest/custom-paths.js'
import { sharedPaths } from '../http/rest/routes.js'
import { createExcludedRoutes } from '../model/schema/type-routes.js'
import type { Model } from '../model/schema/types.js'
import { seedLoader } from '../operations/seed/loader.js'
import { openFields } from '../project/fields.js'
import { checkInstallable } from '../project/installation.js'
import { isOutrun } from '../project/model-changes/carry-out.js'
import type { LiveModelOptions, StartDecisions, StartOfModel } from '../project/model-changes/change.js'
import { openLiveModel } from '../project/model-changes/live-model.js'
import { explained, readStart, type StartingProject, undecided } from '../project/model-changes/start.js'

/** Maximum number of attempts while other processes change the model. */
const maxTries = 5

/** Opens the database with the current model, after applying changes of schema files and finishing interrupted changes. */
export async function openCurrentModel(config: Config, logger: Logger, signing: Signing | null, opened: Closers) {
  for (let tries = 1; ; tries++) {
    const tried = openClosers()
    try {
      const options = await openContent(config, { logger, signing, decisions: undecided, isCommand: false }, tried)
      const liveModel = await openLiveModel(options)
      opened.add(() => tried.close(0))
      return { database: options.database, liveModel }
    } catch (error) {
      await tried.close(0).catch(() => {})
      if (!isOutrun(error)) throw error
      if (tries === maxTries) throw explained(error, config.folder)
      logger.info('another process has changed the model; this start reads it again')
    }
  }
}

interface OpenedFor {
  readonly logger: Logger
  readonly signing: Signing | null
  readonly decisions: StartDecisions
  /** A command compares the files as they are; a service may serve a model that extends them. */
  readonly isCommand: boolean
}

async function openContent(
  config: Config,
  { logger, signing, decisions, isCommand }: OpenedFor,
  opened: Closers,
): Promise<LiveModelOptions> {
  const driver = await getDriver(config)
  const findFields = openFields(config)
  const start = await readModelStart({ config, findFields, isCommand }, driver)
  const { model } = start
  await checkCode(config, model)
  for (const warning of [...config.warnings, ...model.warnings, ...sharedPaths(model, config.rest.prefix)]) logger.warn(warning)
  const fill = seedLoader(config, model, driver.getName(config), logger)
  const database = await driver.open(config, start.former ?? model, { logger, signing, fill })
  opened.add(database.close)
  const check = async (changed: Model): Promise<void> => {
    await checkCode(config, changed)
    checkInstallable(config, changed)
  }
  return { config, findFields, start, decisions, database, log: logger, now: Date.now, check }
}

/** Opens a project's model for a command that changes it; the caller closes it. @throws ConfigError */
export async function openModelForCommand(config: Config, decisions: StartDecisions) {
  const opened = openClosers()
  try {
    const logger = pino({ level: 'warn' }, process.stderr)
    return {
      options: await openContent(config, { logger, signing: null, decisions, isCommand: true }, opened),
      close: () => opened.close(0),
    }
  } catch (error) {
    await opened.close(0).catch(() => {})
    throw error
  }
}

/** Reads the models of the files and of the database, before the latter is changed. */
async function readModelStart(project: StartingProject, driver: Driver): Promise<StartOfModel> {
  if (!driver.exists(project.config)) return readStart(project, null)
  const view = await driver.openView(project.config)
  try {
    return await readStart(project, view)
  } finally {
    await view.close()
  }
}

/** @throws ConfigError if project code does not match the model, or cannot run */
async function checkCode({ admin, hooks, types, routes, schedules, rest, events, docs }: Config, model: Model): Promise<void> {
  checkHooks(hooks, model)
  checkTypes(types, model)
  checkPreview(admin.preview, model.types)
  checkRoutes(routes, { model, leftOut: createExcludedRoutes(types), prefix: rest.prefix, stream: events.stream, docs })
  if (schedules.length > 0) (await import('../project/schedules/times.js')).checkSchedules(schedules)
}
