// The composition root: config → model → database → documents → http. Parts are closed in reverse order, also after a failed start.

import { createRequire } from 'node:module'
import type { Logger } from 'pino'
import { prepareAdministration } from '../admin/open.js'
import { projectActor } from '../content/documents/code/actor.js'
import { createHooks, createReadHooks } from '../content/documents/code/hooks.js'
import { createPolicies } from '../content/documents/code/policies.js'
import { createScopes } from '../content/documents/guard/scopes.js'
import { refuseUnfinishedRestore } from '../content/media/unfinished-restore.js'
import { openSourceMaps } from '../content/source-maps.js'
import type { Database } from '../database/database.js'
import type { Config } from '../foundation/config/config.js'
import type { ContentService } from '../foundation/public/content-service.js'
import type { ContentEvent } from '../foundation/public/events.js'
import { openLog } from '../foundation/runtime/log.js'
import { newPlanCounts, type PlanCounts } from '../foundation/runtime/metrics.js'
import { codeLog } from '../foundation/runtime/project-code.js'
import { type Closers, openClosers } from '../foundation/runtime/shutdown.js'
import { openSlowLog } from '../foundation/runtime/throttled-logs.js'
import type { Backend } from '../http/backend.js'
import { getExamples } from '../http/pages/examples.js'
import { createServer, type HttpServer } from '../http/server.js'
import type { Identification } from '../identity/access/identify.js'
import { secondsToLoad } from '../model/schema/load.js'
import { createExcludedRoutes } from '../model/schema/type-routes.js'
import type { Model } from '../model/schema/types.js'
import { type ContentServices, openContentServices, type WithInstallation } from '../project/code/content-service.js'
import { withContractOfDatabase } from '../project/contract.js'
import { holding, openInstallations } from '../project/installation.js'
import { openContentTypeBuilder } from '../project/model-changes/builder-request.js'
import { openParts } from './parts.js'

/**
 * A project's service. Scripts use `documents`, `transaction`, `upload` and `mail`: `service.documents('api::article.article').findMany()`.
 */
export interface Service extends ContentService {
  /** The current model. */
  readonly model: Model
  readonly events: {
    /** Events with a higher sequence than `sequence`, oldest first; at most `limit` (default 100). */
    after(sequence: number, limit?: number): Promise<readonly ContentEvent[]>
  }
  /** Listens and starts the schedules; resolves to the address. */
  listen(): Promise<string>
  /** Example requests that need no authentication, as paths with queries. */
  examples(): Promise<readonly string[]>
  /**
   * Waits for requests in flight, then closes everything. Requests are served for another `delay` milliseconds before, while `/_health`
   * reports 503 so that load balancers stop sending traffic. `isReplaced`: another process listens on the same port; then `/_health` does
   * not change and only open connections are served.
   */
  close(options?: { readonly delay?: number; readonly isReplaced?: boolean }): Promise<void>
}

/**
 * Opens the service of a project without listening, which scripts do not need. On failure, everything is closed.
 * @throws ConfigError with a sentence for operators
 */
export async function createService(config: Config, logger?: Logger): Promise<Service> {
  refuseUnfinishedRestore(config)
  const opened = openClosers()
  try {
    return await open(await withContractOfDatabase(config), logger ?? ownLog(config, opened), opened)
  } catch (error) {
    // Further failures are consequences of the first one.
    await opened.close(0).catch(() => {})
    throw error
  }
}

async function open(config: Config, logger: Logger, opened: Closers): Promise<Service> {
  const parts = await openParts(config, logger, version, opened)
  const { management, database, liveModel, signing, events, identification, uploads, library, accounts, tracing, audit } = parts
  const { metrics } = management.measuring
  const planCounts = newPlanCounts()
  const defaultLocale = async () => (await identification.access()).defaultLocale
  const withInstallation: WithInstallation = async (work) => holding(installations.enter(await defaultLocale(), true), work)
  const services = openContentServices(config, parts.sendMail, { withInstallation, library, signsAddresses: signing !== null })
  const { scopes, ...code } = openProjectCode(config, services, logger)
  const installations = openInstallations({
    config,
    model: liveModel.model(),
    change: liveModel.changeInForce(),
    defaultLocale: await defaultLocale(),
    dialect: database.reads.dialect,
    database,
    ...code,
    reportDropped: reportDroppedTo(logger),
    recording: events.recording,
    planCounts,
    tracing,
    audit,
    accounts,
    metrics,
    slow: openSlowLog(logger, config.limits.slowQuery),
  })
  opened.add(installations.close)
  liveModel.serve(installations)
  const backend = {
    identification,
    installations,
    administration: prepareAdministration({
      config,
      identification,
      changes: events.changes,
      timeOfDay: database.reads.dialect.timeOfDay,
      withInstallation: async (work) => holding(installations.enter(await defaultLocale()), work),
      ...accounts,
    }),
    modelChanges: { live: liveModel, byBuilder: openContentTypeBuilder(config.folder, liveModel) },
    services,
    scopes,
    streamed: events.streamed,
    markSources: openSourceMaps(config.limits),
    version,
    health: database.trouble,
    library,
    checkAddress: uploads.checkAddress,
    metrics,
    tracing,
    audit,
    signsAddresses: signing !== null,
  }
  const server = management.beside(
    await openServing(config, database, backend, logger),
    database.trouble,
    getMetricSources(parts, planCounts, installations.model),
  )
  opened.add(server.close)
  return {
    get model() {
      return installations.model()
    },
    ...services(projectActor(0, null)),
    events: { after: events.log.after },
    listen: server.listen,
    examples: () => exampleRequests(config, installations.model(), identification),
    close: ({ delay = 0, isReplaced = false } = {}) => {
      if (isReplaced) server.leaveToOthers()
      return opened.close(delay)
    },
  }
}

const getMetricSources = (
  { database, cacheActivity, liveModel, events, identification }: Awaited<ReturnType<typeof openParts>>,
  planCounts: PlanCounts,
  model: () => Model,
) => ({
  activity: database.activity,
  cache: cacheActivity,
  plans: () => planCounts,
  drift: () => database.mismatches(model()),
  followed: identification.access,
  modelChange: liveModel.changeInForce,
  modelLoadSeconds: () => secondsToLoad(model()),
  backlog: events.backlog,
})

const reportDroppedTo = (logger: Logger) => (uid: string, path: readonly (string | number)[]) =>
  logger.warn({ uid, attribute: path.join('.') }, 'a value was stored as null: blocks are a list of nodes, and a text is none')

/** Example requests for visitors. */
async function exampleRequests(config: Config, model: Model, { access }: Identification): Promise<readonly string[]> {
  const shown = { model, visitor: (await access()).public, leftOut: createExcludedRoutes(config.types) }
  return getExamples(shown, config.rest.prefix).map(({ href }) => href)
}

/** Opens the project's hooks, policies and scopes. */
function openProjectCode({ hooks, types, limits }: Config, services: ContentServices, logger: Logger) {
  const failed = (hook: string, error: unknown, requestId: string | null) =>
    logger.error({ err: error, hook, ...(requestId === null ? {} : { requestId }) }, 'a hook failed')
  const log = (hook: string, requestId: string | null) => codeLog(logger, hook, requestId)
  const options = { ...limits, documents: (requestId: string | null) => services(projectActor(0, requestId)).documents }
  const policies = createPolicies(types, options)
  return {
    hooks: createHooks(hooks, { ...limits, services: (depth, requestId) => services(projectActor(depth, requestId)), log, failed }),
    policies,
    aroundReads: createReadHooks(types, policies, options),
    scopes: createScopes(types, options),
  }
}

/** Opens the server, and the schedules of the project, which run while it listens. Without schedules, they cost nothing. */
async function openServing(config: Config, { main, writes, reads }: Database, backend: Backend, log: Logger): Promise<HttpServer> {
  const server = await createServer(config, backend, log)
  const { administration } = backend
  const listen = async () => {
    await loadLateCode(config)
    const address = await server.listen()
    if (config.admin.enabled) {
      administration.announce()
      administration.schedule.start()
    }
    return address
  }
  const close: HttpServer['close'] = async (delay) => {
    await Promise.all([administration.close(), server.close(delay)])
  }
  const { state, leaveToOthers } = server
  if (config.schedules.length === 0) return { listen, state, leaveToOthers, close }
  const { openSchedules } = await import('../project/schedules/schedules.js')
  const services = backend.services(projectActor(0, null))
  const schedules = openSchedules(config.schedules, {
    database: main,
    writer: writes,
    dialect: reads.dialect,
    services,
    log,
    limits: config.limits,
  })
  return {
    listen: async () => {
      const address = await listen()
      await schedules.start()
      return address
    },
    state,
    leaveToOthers,
    close: async (delay) => void (await Promise.all([schedules.close(), close(delay)])),
  }
}

/**
 * Loads code that requests of a service need, but scripts do not. Node caches failed imports for the lifetime of the process, so none is
 * left to the request that needs it, when file descriptors may have run out.
 */
async function loadLateCode({ admin, modelChanges, mail }: Config): Promise<void> {
  const administration = () => [
    import('../http/admin/handle.js'),
    import('../admin/context.js'),
    import('../admin/content/scheduled-actions.js'),
    import('../admin/identity/bootstrap.js'),
  ]
  await Promise.all([
    import('@fastify/busboy'),
    import('file-type'),
    ...(admin.enabled ? administration() : []),
    ...(modelChanges ? [import('re2js')] : []),
    ...(mail.url === null ? [] : [import('nodemailer')]),
  ])
}

const { version } = createRequire(import.meta.url)('../package.json') as { readonly version: string }

/** Milliseconds to write the last lines of the log. */
const lastLines = 700

function ownLog({ logLevel }: Config, opened: Closers): Logger {
  const log = openLog({ level: logLevel, batches: false })
  opened.add(() => log.close(lastLines))
  return log.logger
}
