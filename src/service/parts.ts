// The parts of a service below its installations: management port, database, events, identification, uploads and accounts.
import type { Logger } from 'pino'
import { type Events, openEvents } from '../content/events/open.js'
import { openUploads } from '../content/media/open.js'
import { signingOf } from '../content/media/signing.js'
import { cacheReads } from '../database/cache/cached-reads.js'
import { type CacheCounts, createCacheCounts } from '../database/cache/response-store.js'
import type { Database } from '../database/database.js'
import type { Signing } from '../database/response/signed-addresses.js'
import type { Config } from '../foundation/config/config.js'
import type { Mail } from '../foundation/public/content-service.js'
import { type Audit, openAuditOutput } from '../foundation/runtime/audit-log.js'
import type { DatabasePurpose, Metrics } from '../foundation/runtime/metrics.js'
import type { Closers } from '../foundation/runtime/shutdown.js'
import type { Tracing } from '../foundation/runtime/tracing.js'
import type { Watched } from '../identity/access/identify.js'
import { type Identification, openIdentification } from '../identity/access/identify.js'
import { type Jwts, openJwts } from '../identity/access/jwt.js'
import { openCounters, openLimiter, openSharedCounters } from '../identity/access/rate-limit.js'
import { updateLastUse } from '../identity/access/tokens.js'
import type { AccountParts } from '../identity/accounts/context.js'
import { type Mailer, openMailer, readEmail } from '../identity/accounts/email.js'
import { unusableServices } from '../identity/accounts/oauth-providers.js'
import { openPasswords } from '../identity/accounts/passwords.js'
import { newDocumentId } from '../model/schema/names.js'
import { prepareManagement } from '../operations/management/prepare.js'
import type { Measuring } from '../operations/metrics/measuring.js'
import { tracedDatabase } from '../operations/tracing/open.js'
import { prepareTracing } from '../operations/tracing/prepare.js'
import { auditedLimiter, auditedWrites } from './audited-writes.js'
import { openCurrentModel } from './project-model.js'

export async function openParts(config: Config, logger: Logger, version: string, opened: Closers) {
  const management = await prepareManagement(config, version, logger, opened)
  const { measuring } = management
  const tracing = await prepareTracing(config, version, logger)
  const watching = (all: Database, purpose?: DatabasePurpose) => measuring.database(traceDatabase(config, all, tracing, purpose), purpose)
  const mail = openMailer(config.mail, config.logsEmails, logger)
  opened.add(mail.close)
  const signing = signingOf(config)
  const audit = await openAudit(config, logger, opened)
  const { database: own, liveModel } = await openCurrentModel(config, logger, signing, opened)
  const database = audit === null ? own : { ...own, writes: auditedWrites(own.writes, audit) }
  const jwts = openJwts(config.secrets.jwtSecret)
  const events = await openServiceEvents(config, watching(database, 'outbox'), logger, { metrics: measuring.metrics, tracing })
  opened.add(events.close)
  const watched = [events.watched, liveModel.watched]
  const identification = tracedIdentification(
    await openServiceIdentification(config, watching(database, 'auth'), { jwts, logger, watched }),
    tracing,
  )
  const uploads = await openServiceUploads(config, watching(database, 'uploads'), logger, measuring.metrics)
  opened.add(uploads.close)
  const accounts = accountContext(config, watching(database, 'accounts'), { identification, jwts, mail, log: logger, measuring, audit })
  for (const warning of await unusableServices(database.main, config.auth)) logger.warn(warning)
  const library = measuring.library(uploads.library)
  const counts = measuring.metrics === null ? null : createCacheCounts()
  return {
    management,
    database: cacheDatabase(config, watching(database), signing, counts),
    /** Null without a response cache or an observer. */
    cacheActivity: () => (database.commits === null ? null : (counts?.activity() ?? null)),
    liveModel,
    signing,
    events,
    identification,
    uploads,
    library,
    accounts,
    /** For project code. */
    sendMail: async (given: Mail) => mail.send(readEmail(given), 'project'),
    tracing,
    audit,
  }
}

/** Adds the response cache if the database is notified of all commits in time. */
function cacheDatabase({ limits }: Config, database: Database, signing: Signing | null, counts: CacheCounts | null): Database {
  const { reads, commits } = database
  return commits === null ? database : { ...database, reads: cacheReads(reads, commits, signing, limits.cacheBytes, counts) }
}

interface Observers {
  readonly metrics: Metrics | null
  readonly tracing: Tracing | null
}

/** Opens the project's audit log, if configured. */
async function openAudit({ auditLog }: Config, logger: Logger, opened: Closers): Promise<Audit | null> {
  if (auditLog === null) return null
  // Logged at any log level.
  const lines = logger.child({}, { level: 'info' })
  const { audit, close } = await openAuditOutput(auditLog, logger, (line) => lines.info(line, 'audit'))
  opened.add(close)
  return audit
}

function traceDatabase({ database }: Config, all: Database, tracing: Tracing | null, purpose: DatabasePurpose | null = null): Database {
  if (tracing === null) return all
  return tracedDatabase(all, tracing, { system: database.client === 'postgres' ? 'postgresql' : database.client, purpose })
}

const tracedIdentification = (identification: Identification, tracing: Tracing | null): Identification =>
  tracing === null
    ? identification
    : {
        ...identification,
        identify: (authorization) =>
          tracing.part(
            'auth',
            () => ({}),
            () => identification.identify(authorization),
          ),
      }

/** Opens the events of the service. Failures are logged without the headers of webhooks. */
const openServiceEvents = (config: Config, { main, writes }: Database, logger: Logger, { metrics, tracing }: Observers): Promise<Events> =>
  openEvents({
    database: main,
    writer: writes,
    listeners: config.events.listeners,
    webhooks: config.webhooks,
    records: config.events.outbox || config.events.stream !== null,
    limits: config.limits,
    now: Date.now,
    attempted: (result, seconds) => metrics?.webhookAttempted(result, seconds),
    tracing,
    failed: (listener, error) => logger.error({ err: error, listener }, 'a listener or webhook failed'),
    // The response is not logged, because it may echo headers.
    givenUp: ({ id, name }, { sequence }, attempts, { status, error }) =>
      logger.error(
        { webhook: id, name, sequence, attempts, status, reason: status === 0 ? error : undefined },
        'an event was not delivered to a webhook',
      ),
  })

const combineWatched = (all: readonly Watched[]): Watched => ({
  tables: Object.assign({}, ...all.map(({ tables }) => tables)),
  reload: async () => {
    for (const { reload } of all) await reload()
  },
})

const openServiceIdentification = (
  config: Config,
  { main, writes }: Database,
  { jwts, logger, watched }: { readonly jwts: Jwts; readonly logger: Logger; readonly watched: readonly Watched[] },
): Promise<Identification> =>
  openIdentification(main, {
    secrets: config.secrets,
    jwts,
    watched: combineWatched(watched),
    jwtManagement: config.auth.jwtManagement,
    tokenUsed: (id, now) =>
      updateLastUse(writes, id, now).catch((error) => logger.warn({ err: error }, 'could not update last_used_at of an API token')),
  })

/** Opens the media library; its failures are logged. */
const openServiceUploads = (
  config: Config,
  { main, writes }: Database,
  logger: Logger,
  metrics: Metrics | null,
): ReturnType<typeof openUploads> =>
  openUploads(config, main, writes, newDocumentId, {
    cleanupFailed: (error) => logger.error({ err: error }, 'cleanup of leftover upload files failed; will retry'),
    storageFailed: (error) => logger.error({ err: error }, 'a request to the file storage failed'),
    imageProcessed: (seconds) => metrics?.imageProcessed(seconds),
  })

interface AccountSources {
  readonly identification: Identification
  readonly jwts: Jwts
  readonly mail: Mailer
  readonly log: Logger
  readonly measuring: Measuring
  readonly audit: Audit | null
}

/** Maximum number of IP addresses and accounts whose attempts are counted. */
const maxCounters = 100_000

function accountContext(
  config: Config,
  { main, reads, writes }: Database,
  { identification, jwts, mail, log, measuring, audit }: AccountSources,
): AccountParts {
  const { auth, limits, secrets } = config
  const counters = auth.sharedLimits
    ? openSharedCounters({ database: main, writer: writes, dialect: reads.dialect }, maxCounters)
    : openCounters(maxCounters)
  return {
    database: main,
    writer: writes,
    jwts,
    mail,
    limiter: auditedLimiter(measuring.limiter(openLimiter(counters, limits)), audit),
    passwords: openPasswords(),
    log,
    jwtSecret: secrets.jwtSecret,
    signIn: auth,
    publicUrl: config.publicUrl,
    prefix: config.rest.prefix,
    now: Date.now,
    settings: async () => (await identification.access()).accounts,
  }
}
