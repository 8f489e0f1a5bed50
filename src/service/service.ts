// The composition root: config → model → database → documents → http. Opens the parts in this order and closes them in reverse, also
// when opening fails half-way.
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
import { loadBuilder, openContentTypeBuilder } from '../project/model-changes/builder-request.js'
import { openParts } from './parts.js'

/** A project's service. `documents`, `transaction`, `upload` and `mail` are for scripts: `service.documents('api::article.article').findMany()`. */
export interface Service extends ContentService {
  /** The model in force. */
  readonly model: Model
  /** Recorded events (`events` in octavo.config). */
  readonly events: {
    /** Events with a higher sequence than `sequence`, oldest first; at most `limit` (default 100). */
    after(sequence: number, limit?: number): Promise<readonly ContentEvent[]>
  }
  /** Starts to listen and to run the schedules; resolves to the address. */
  listen(): Promise<string>
  /** Example requests for this project that need no authentication, as paths with queries. */
  examples(): Promise<readonly string[]>
  /**
   * Waits for requests in flight, then closes everything. Before that, requests are served for another `delay` milliseconds while
   * `/_health` reports 503, so that load balancers stop sending traffic. `isReplaced`: another process listens on the same port, so that
   * only open connections are served until then, and `/_health` does not change.
   */
  close(options?: { readonly delay?: number; readonly isReplaced?: boolean }): Promise<void>
}

/**
 * Opens the service of a project. It does not listen until `listen` is called, which scripts do not need. If it fails, nothing stays open.
 * @throws ConfigError with a sentence for the operator
 */
export async function createService(config: Config, logger?: Logger): Promise<Service> {
  refuseUnfinishedRestore(config)
  const opened = openClosers()
  try {
    return await open(await withContractOfDatabase(config), logger ?? ownLog(config, opened), opened)
  } catch (error) {
    // Only the first failure is reported; the others follow from it.
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
    administration: prepareAdministration({ config, identification, ...accounts }),
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

/** Sources of scraped metrics. */
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

/** Logs where a value was not stored. */
const reportDroppedTo = (logger: Logger) => (uid: string, path: readonly (string | number)[]) =>
  logger.warn({ uid, attribute: path.join('.') }, 'a value was stored as null: blocks are a list of nodes, and a text is none')

/** Example requests that visitors may send. */
async function exampleRequests(config: Config, model: Model, { access }: Identification): Promise<readonly string[]> {
  const shown = { model, visitor: (await access()).public, leftOut: createExcludedRoutes(config.types) }
  return getExamples(shown, config.rest.prefix).map(({ href }) => href)
}

/** Opens the project's code around requests. */
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

/** Opens the server, and the schedules of the project, which run where it listens. Without any, they cost nothing. */
async function openServing(config: Config, { main, writes, reads }: Database, backend: Backend, log: Logger): Promise<HttpServer> {
  const server = await createServer(config, backend, log)
  const { administration } = backend
  const listen = async () => {
    await loadLateCode(config)
    const address = await server.listen()
    if (config.admin.enabled) administration.announce()
    return address
  }
  const close: HttpServer['close'] = async (delay) => {
    administration.close()
    await server.close(delay)
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
 * Loads what requests need that only a service does, not a script. Node keeps a failed import of a file that it found for as long as the
 * process lives, so nothing of this waits for the request that needs it, which may come when no descriptor is left.
 */
async function loadLateCode({ admin, modelChanges, mail, webhooks }: Config): Promise<void> {
  const administration = () => [import('../http/admin/handle.js'), import('../admin/context.js'), import('../admin/identity/bootstrap.js')]
  const changes = () => [import('../project/model-changes/schema-request.js'), loadBuilder(), import('re2js')]
  await Promise.all([
    import('@fastify/busboy'),
    import('file-type'),
    ...(admin.enabled ? administration() : []),
    ...(modelChanges ? changes() : []),
    ...(mail.url === null ? [] : [import('nodemailer')]),
    ...(webhooks.deliver ? [import('../content/events/webhooks/open.js')] : []),
  ])
}

/** The version of this build. */
const { version } = createRequire(import.meta.url)('../package.json') as { readonly version: string }

/** Milliseconds to write the last lines of the log. */
const lastLines = 700

/** Opens a log for a service that was created without one. */
function ownLog({ logLevel, limits }: Config, opened: Closers): Logger {
  const log = openLog({ level: logLevel, bytes: limits.logBytes, batches: false })
  opened.add(() => log.close(lastLines))
  return log.logger
}
