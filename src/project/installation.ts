// Everything that one request uses, as one value: a model, a default locale, and the parts that depend on them.
import { hkdfSync } from 'node:crypto'
import { createBatch, type DocumentBatch } from '../content/documents/batch.js'
import { checkDefaults, createDefaults } from '../content/documents/code/defaults.js'
import type { IdempotencyKeys } from '../content/documents/idempotency.js'
import type { Hooks } from '../content/documents/operation.js'
import { type CheckPublications, createPublicationChecks } from '../content/documents/publication-checks.js'
import { createDocumentReads, type DocumentReads } from '../content/documents/read/find.js'
import type { FindReadHooks, Policies } from '../content/documents/read/hooks.js'
import { createPlans, withTracing } from '../content/documents/read/plans.js'
import { logSlowReads } from '../content/documents/slow-log.js'
import type { InSync } from '../content/documents/store/modified-drafts.js'
import { createWrites, type DocumentWrites } from '../content/documents/write.js'
import { type Outbox, openOutbox, type Recording } from '../content/events/outbox.js'
import type { FileWatch } from '../content/media/library.js'
import type { Database, WriteDatabase } from '../database/database.js'
import type { Dialect } from '../database/dialect.js'
import type { Config } from '../foundation/config/config.js'
import { noScopes } from '../foundation/grants.js'
import type { Audit } from '../foundation/runtime/audit.js'
import type { Metrics, PlanCounts } from '../foundation/runtime/metrics.js'
import type { SlowLog } from '../foundation/runtime/throttled-logs.js'
import type { Tracing } from '../foundation/runtime/tracing.js'
import type { AccountContext, AccountParts, UserWatch } from '../identity/accounts/context.js'
import { hashPassword } from '../identity/accounts/passwords.js'
import type { Model } from '../model/schema/types.js'
import { contracts } from '../query/contract.js'
import type { ReadContext } from '../query/rest/read.js'
import { type Descriptions, describedOf, openDescriptions } from './description/openapi/description.js'

/** Immutable. Everything in it belongs to the same model and default locale. */
export interface Installation {
  readonly model: Model
  readonly defaultLocale: string
  readonly documents: DocumentReads
  readonly writes: DocumentWrites
  /** Several writes in one transaction. */
  readonly batch: DocumentBatch
  /** Checks of a publication. */
  readonly checks: CheckPublications
  readonly accounts: AccountContext
  /** OpenAPI documents for callers. */
  readonly descriptions: Descriptions
  /** Records events of files; null: there is no consumer. */
  readonly watch: FileWatch | null
}

export interface InstallationOptions {
  readonly config: Config
  readonly model: Model
  /** The last change that the model contains; 0 for none. */
  readonly change: number
  readonly defaultLocale: string
  readonly dialect: Dialect
  readonly database: Database
  readonly hooks: Hooks | null
  readonly policies: Policies | null
  readonly aroundReads: FindReadHooks | null
  /** Reports a value in place of `blocks` that is written as null, as the contract `strapi` says. */
  readonly reportDropped?: (uid: string, path: readonly (string | number)[]) => void
  readonly recording: Recording
  readonly accounts: AccountParts
  /** Null: nothing is measured. */
  readonly metrics: Metrics | null
  readonly planCounts: PlanCounts
  /** Null: there is no audit log. */
  readonly audit: Audit | null
  /** Null: no traces are collected. */
  readonly tracing: Tracing | null
  /** Logs slow reads and writes; null: none are logged. */
  readonly slow: SlowLog | null
}

/** State that outlives a model: idempotency keys, and the drafts that equal their publications. */
export interface Lasting {
  readonly keys: IdempotencyKeys
  readonly inSync: InSync
}

export type InstalledModel = Pick<InstallationOptions, 'model' | 'change' | 'defaultLocale'>

/** An installation that is open. */
export interface OpenedInstallation {
  readonly installation: Installation
  readonly records: boolean
  close(): void
}

/** Checks that a model can be put in force with the settings of the project. @throws ConfigError */
export function checkInstallable(config: Config, model: Model): void {
  checkDefaults(config.types, readContext(config, model, config.initialLocale))
}

/** Opens the installation of a model. @throws ConfigError where the project's settings do not fit it */
export function openInstallation(
  options: InstallationOptions,
  { keys, inSync }: Lasting,
  { model, change, defaultLocale }: InstalledModel,
): OpenedInstallation {
  const { config, dialect, database, hooks, policies, aroundReads, reportDropped, recording, accounts, metrics, slow, tracing } = options
  const { limits } = config
  const contract = contracts[config.contract]
  const context = readContext(config, model, defaultLocale)
  checkDefaults(config.types, context)
  const reads = slow === null ? database.reads : logSlowReads(database, slow)
  const writes: WriteDatabase = { ...database.writes, transaction: (work) => database.writes.transaction(work, change) }
  const records = recording.isOn()
  const outbox = records ? openOutbox({ context, dialect, database: writes, limits, recording }) : null
  const { strictRelations } = config
  const { momentFault } = dialect
  const input = { model, contract, strictRelations, momentFault, reportDropped: contract.unreadableBlocksAreNull ? reportDropped : null }
  const revisionKey = revisionKeyOf(config)
  const reported = { outbox, metrics, slow, audit: options.audit }
  const hashing = { hashPassword, passwords: accounts.passwords }
  const writing = { read: context, revisionKey, database: writes, ...hashing, hooks, policies, inSync, input, ...reported }
  const opened = (plans: typeof reads | WriteDatabase) => createPlans(plans, dialect, contract, options.planCounts)
  const plansOf = (plans: typeof reads | WriteDatabase) => (tracing === null ? opened(plans) : withTracing(opened(plans), tracing))
  const [ofReads, ofWrites] = [plansOf(reads), plansOf(writes)]
  return {
    installation: {
      model,
      defaultLocale,
      documents: createDocumentReads(context, reads, ofReads, {
        addDefaults: createDefaults(config.types),
        aroundReads,
        policies,
        revisionKey,
      }),
      writes: createWrites({ ...writing, plans: ofWrites }, keys),
      batch: createBatch({ ...writing, plans: ofWrites }, keys),
      checks: createPublicationChecks({ ...writing, plans: ofWrites }),
      accounts: {
        ...accounts,
        writer: writes,
        model,
        input: { model, contract, strictRelations, momentFault },
        defaultLocale,
        scopes: noScopes,
        watch: watchUsers(outbox, model),
      },
      descriptions: openDescriptions(() => describedOf(config, model, '')),
      watch: outbox === null ? null : watchFiles(outbox),
    },
    records,
    close: () => {
      ofReads.close()
      ofWrites.close()
      outbox?.close()
    },
  }
}

/** The key of revisions of drafts, the same in every process of a project. */
const revisionKeyOf = ({ secrets }: Config): string =>
  Buffer.from(hkdfSync('sha256', secrets.jwtSecret, '', 'octavo revisions', 32)).toString('base64url')

const readContext = (config: Config, model: Model, defaultLocale: string): ReadContext => ({
  model,
  defaultLocale,
  limits: config.limits,
  contract: contracts[config.contract],
  pages: config.rest,
  strictParams: config.rest.strictParams,
  draftGrant: config.rest.draftGrant,
})

/** Records what happens to files. */
const watchFiles = ({ media, committed }: Outbox): FileWatch => ({
  happened: (transaction, event, id) => media(transaction, event, id, Date.now()),
  committed,
})

/** Records what happens to users. */
function watchUsers(outbox: Outbox | null, model: Model): UserWatch | null {
  const type = model.types.get('plugin::users-permissions.user')
  if (outbox === null || type === undefined) return null
  return {
    happened: (transaction, event, id) => {
      const now = Date.now()
      return outbox.entry(transaction, event, type, { id, locale: null, published_at: now }, now)
    },
    committed: outbox.committed,
  }
}
