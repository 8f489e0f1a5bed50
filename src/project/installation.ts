// Everything that one request uses, as one value: a model, a default locale, and the parts that depend on them. It is replaced as a whole,
// and closed after its last request.

import { hkdfSync } from 'node:crypto'
import { createBatch, type DocumentBatch } from '../content/documents/batch.js'
import { checkDefaults, createDefaults } from '../content/documents/code/defaults.js'
import { createIdempotencyKeys, type IdempotencyKeys } from '../content/documents/idempotency.js'
import type { Hooks } from '../content/documents/operation.js'
import { type CheckPublications, createPublicationChecks } from '../content/documents/publication-checks.js'
import { createDocumentReads, type DocumentReads } from '../content/documents/read/find.js'
import type { FindReadHooks, Policies } from '../content/documents/read/plans.js'
import { createPlans, logSlowReads, withTracing } from '../content/documents/read/plans.js'
import { createInSync, type InSync } from '../content/documents/store/rows.js'
import { createWrites, type DocumentWrites } from '../content/documents/write.js'
import { type Outbox, openOutbox, type Recording } from '../content/events/outbox.js'
import type { FileWatch } from '../content/media/library.js'
import type { Database, WriteDatabase } from '../database/database.js'
import type { Dialect } from '../database/dialect.js'
import type { Config } from '../foundation/config/config.js'
import { ApiError } from '../foundation/errors/errors.js'
import { noScopes } from '../foundation/grants.js'
import type { Audit } from '../foundation/runtime/audit-log.js'
import { elapsed } from '../foundation/runtime/clock.js'
import type { Metrics, PlanCounts } from '../foundation/runtime/metrics.js'
import type { SlowLog } from '../foundation/runtime/throttled-logs.js'
import type { Tracing } from '../foundation/runtime/tracing.js'
import type { AccountContext, AccountParts, UserWatch } from '../identity/accounts/context.js'
import { hashPassword } from '../identity/accounts/passwords.js'
import type { Model } from '../model/schema/types.js'
import { contracts } from '../query/contract.js'
import type { ReadContext } from '../query/rest/read.js'
import { type Descriptions, describedOf, openDescriptions } from './description/openapi/description.js'

/** Immutable; all parts belong to the same model and default locale. */
export interface Installation {
  readonly model: Model
  readonly defaultLocale: string
  readonly documents: DocumentReads
  readonly writes: DocumentWrites
  /** Several writes in one transaction. */
  readonly batch: DocumentBatch
  /** Dry-run checks of publications. */
  readonly checks: CheckPublications
  readonly accounts: AccountContext
  /** OpenAPI documents by caller. */
  readonly descriptions: Descriptions
  /** Records events of files; null without consumers. */
  readonly watch: FileWatch | null
}

interface InstallationOptions {
  readonly config: Config
  readonly model: Model
  /** The last change in the model; 0: none. */
  readonly change: number
  readonly defaultLocale: string
  readonly dialect: Dialect
  readonly database: Database
  readonly hooks: Hooks | null
  readonly policies: Policies | null
  readonly aroundReads: FindReadHooks | null
  /** Reports a value stored as null instead of `blocks`, as the contract `strapi` permits. */
  readonly reportDropped?: (uid: string, path: readonly (string | number)[]) => void
  readonly recording: Recording
  readonly accounts: AccountParts
  readonly metrics: Metrics | null
  readonly planCounts: PlanCounts
  readonly audit: Audit | null
  readonly tracing: Tracing | null
  /** Logs slow reads and writes; null: none are logged. */
  readonly slow: SlowLog | null
}

/** State that outlives a model: idempotency keys, and drafts in sync with their published versions. */
interface Lasting {
  readonly keys: IdempotencyKeys
  readonly inSync: InSync
}

type InstalledModel = Pick<InstallationOptions, 'model' | 'change' | 'defaultLocale'>

interface OpenedInstallation {
  readonly installation: Installation
  readonly records: boolean
  close(): void
}

/** @throws ConfigError if the project's settings do not match the model */
export function checkInstallable(config: Config, model: Model): void {
  checkDefaults(config.types, readContext(config, model, config.initialLocale))
}

/** @throws ConfigError if the project's settings do not match the model */
function openInstallation(
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

/** The key of draft revisions, the same in every process of a project. */
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

const watchFiles = ({ media, committed }: Outbox): FileWatch => ({
  happened: (transaction, event, id) => media(transaction, event, id, Date.now()),
  committed,
})

function watchUsers(outbox: Outbox | null, model: Model): UserWatch | null {
  const type = model.types.get('plugin::users-permissions.user')
  if (outbox === null || type === undefined) return null
  return {
    happened: (transaction, event, id) => {
      const now = Date.now()
      return outbox.entry(transaction, event, type, { id, locale: null, published_at: now }, { now, policy: null })
    },
    committed: outbox.committed,
  }
}

interface HeldInstallation {
  readonly installation: Installation
  /** Releases the installation; idempotent. */
  end(): void
}

/** A held installation; a promise while content is being moved. */
type Entered = HeldInstallation | Promise<HeldInstallation>

/** Runs work with a held installation, and releases it. */
export async function holding<Result>(entered: Entered, work: (installation: Installation, end: () => void) => Promise<Result>) {
  const held = entered instanceof Promise ? await entered : entered
  try {
    return await work(held.installation, held.end)
  } finally {
    held.end()
  }
}

export interface Installations {
  /** The current model, for uses that depend on no caller: methods of a path, the start page. */
  model(): Model
  /** Holds the current installation until it is released; waits while content is moved. `isNested`: the caller may hold one already. */
  enter(defaultLocale: string, isNested?: boolean): Entered
  /**
   * Runs `work` exclusively, while no request holds an installation.
   * @throws ApiError 503 if held ones are not released within `wait` milliseconds
   */
  alone<Result>(wait: number, work: () => Promise<Result>): Promise<Result>
  /** Installs a new model for subsequent requests. `change`: the last change in it. */
  replace(model: Model, change: number): void
  /** Closes the current installation after its last request. */
  close(): void
}

interface Opened extends OpenedInstallation {
  /** The last change in its model. */
  readonly change: number
  /** Number of requests that hold it. */
  holders: number
  isRetired: boolean
}

const beginUse = (opened: OpenedInstallation, change: number): Opened => ({ ...opened, change, holders: 0, isRetired: false })

/** Current and still held installations, and the exclusive use that waits or runs. */
interface Use {
  readonly opened: Set<Opened>
  exclusion: Exclusion | null
}

const holdersOf = ({ opened }: Use): number => [...opened].reduce((sum, { holders }) => sum + holders, 0)

async function alone<Result>(use: Use, wait: number, work: () => Promise<Result>): Promise<Result> {
  const exclusion = beginExclusion()
  use.exclusion = exclusion
  try {
    if (await exclusion.alone(holdersOf(use), wait)) return await work()
  } finally {
    use.exclusion = null
    exclusion.end()
  }
  throw new ApiError('ServiceUnavailableError', 'Requests under way did not end in time. Nothing was changed; try again')
}

export function openInstallations(options: InstallationOptions): Installations {
  const lasting: Lasting = { keys: createIdempotencyKeys(options.config.limits), inSync: createInSync() }
  const open = (installed: InstalledModel): Opened => beginUse(openInstallation(options, lasting, installed), installed.change)
  let current = open(options)
  const use: Use = { opened: new Set([current]), exclusion: null }
  let isRecording = options.recording.isOn()
  options.recording.onChange(() => {
    isRecording = options.recording.isOn()
  })

  function release(opened: Opened): void {
    use.exclusion?.ended(holdersOf(use))
    if (!opened.isRetired) return
    use.opened.delete(opened)
    opened.close()
  }

  function settle(opened: Opened): void {
    if (opened.holders === 0 && (opened.isRetired || use.exclusion !== null)) release(opened)
  }

  function change(installed: InstalledModel): void {
    const former = current
    current = open(installed)
    use.opened.add(current)
    former.isRetired = true
    settle(former)
  }

  function enter(defaultLocale: string, isNested = false): Entered {
    if (use.exclusion?.admits(isNested) === false) return use.exclusion.change().then(() => enter(defaultLocale, isNested))
    const { installation } = current
    if (installation.defaultLocale !== defaultLocale || current.records !== isRecording)
      change({ ...current, model: installation.model, defaultLocale })
    const held = current
    held.holders++
    let isOver = false
    return {
      installation: held.installation,
      end: () => {
        if (isOver) return
        isOver = true
        held.holders--
        settle(held)
      },
    }
  }

  return {
    model: () => current.installation.model,
    enter,
    alone: (wait, work) => alone(use, wait, work),
    replace: (model, last) => change({ model, change: last, defaultLocale: current.installation.defaultLocale }),
    close: () => {
      current.isRetired = true
      settle(current)
    },
  }
}

/** Exclusive use: other uses wait until it ends. The owner counts them. */
interface Exclusion {
  /** True if a use may begin. `isNested`: it may be part of a use in progress, so it only waits while the exclusive work runs. */
  admits(isNested: boolean): boolean
  /** Resolves when a refused use may try again. */
  change(): Promise<void>
  /** Reports the number of remaining uses after one has ended. */
  ended(uses: number): void
  /** Resolves to true if nothing is in use within `wait` milliseconds. Then nothing is admitted any longer. */
  alone(uses: number, wait: number): Promise<boolean>
  /** Ends the exclusive use and admits waiting ones. */
  end(): void
}

function beginExclusion(): Exclusion {
  let isAlone = false
  let waiting: (() => void)[] = []
  let settled: (() => void) | null = null
  return {
    admits: (isNested) => isNested && !isAlone,
    change: () => new Promise((go) => waiting.push(go)),
    ended: (uses) => {
      if (uses === 0) settled?.()
    },
    alone: async (uses, wait) => {
      let left = uses
      const deadline = elapsed() + wait
      while (left > 0 && elapsed() < deadline) {
        let timer: NodeJS.Timeout | undefined
        await new Promise<void>((go) => {
          settled = () => {
            left = 0
            isAlone = true
            go()
          }
          timer = setTimeout(go, deadline - elapsed())
        })
        clearTimeout(timer)
        settled = null
      }
      isAlone ||= left === 0
      return isAlone
    },
    end: () => {
      const now = waiting
      waiting = []
      for (const go of now) go()
    },
  }
}
