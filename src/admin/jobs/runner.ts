// Carries out jobs, a few documents of one at a time: each document is a transaction, in which the progress of its job is noted too.
import { randomUUID } from 'node:crypto'
import { setTimeout as pauseUnlessAborted } from 'node:timers/promises'
import type { Leases } from '../../content/leases/leases.js'
import { inBookkeeping } from '../../database/bookkeeping.js'
import { ApiError } from '../../foundation/errors/errors.js'
import { elapsed } from '../../foundation/runtime/clock.js'
import { actOn, type DocumentError, errorOf, stillListed, unmatched } from '../content/bulk.js'
import type { ContentAccess } from '../content/content-access.js'
import { type InstalledContent, openContent } from '../content/opened-content.js'
import type { Administration, AdministrationParts } from '../context.js'
import { administratorById, isActive, rolesOf, superAdminCode } from '../identity/administrators.js'
import { anyOpenJob, type BulkJob, beginRun, documentsOfJob, endJob, type JobError, nextJob, noteProgress } from './job-rows.js'

/** Does something with the content of the installation in force, which is held meanwhile. */
export type WithContent = <Result>(work: (content: InstalledContent) => Promise<Result>) => Promise<Result>

/** What jobs are carried out with. */
export interface RunnerParts {
  readonly administration: Administration
  readonly identification: AdministrationParts['identification']
  readonly withContent: WithContent
  readonly leases: Leases
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal
}

/** Documents between two looks at what the administrator may do. */
const atOnce = 20
/** Milliseconds after which these are left for another time: changes of the model wait for them. */
const longestBatch = 1_000
/** Jobs whose documents are kept between their turns. */
const mostKnown = 4
/** Milliseconds for one document, after which another process may have taken over. */
const longestAct = 5_000
/** Milliseconds until the work of another process is looked at again, and until a document is tried again that the database had no time for. */
const retryAfter = 1_000
/** Attempts at one document while the database is not available. */
const mostAttempts = 30

const leaseName = 'administration jobs'

/** Carries out jobs until all have ended or the service stops; one process does so at a time. */
export async function workOff(parts: RunnerParts): Promise<void> {
  const { administration, leases, stopping } = parts
  const runBatch = openRuns(parts)
  while (!stopping.aborted) {
    const lease = await leases.acquire(leaseName)
    if (lease === null) {
      await pauseUnlessAborted(retryAfter, undefined, { signal: stopping }).catch(() => {})
      if (await anyOpenJob(administration.database)) continue
      return
    }
    try {
      while (!stopping.aborted && lease.isValid(longestAct)) {
        const job = await nextJob(administration.database)
        if (job === null) return
        await runBatch(job, () => !stopping.aborted && lease.isValid(longestAct))
      }
    } finally {
      await lease.release()
    }
  }
}

/** Carries out the next documents of a job; `isMine`: whether this process may begin with another one. */
type RunBatch = (job: BulkJob, isMine: () => boolean) => Promise<void>

function openRuns(parts: RunnerParts): RunBatch {
  const { administration, identification, withContent, stopping } = parts
  const { database, writer, now } = administration
  const known = new Map<number, readonly string[]>()
  const attempts = new Map<number, number>()

  const end = async (job: BulkJob, state: 'done' | 'canceled') => {
    known.delete(job.id)
    attempts.delete(job.id)
    await inBookkeeping(writer, (transaction) => endJob(transaction, job.id, state, now()))
  }

  async function documentsOf({ id }: BulkJob): Promise<readonly string[]> {
    const documents = known.get(id) ?? (await documentsOfJob(database, id))
    known.delete(id)
    known.set(id, documents)
    for (const other of known.keys()) if (known.size > mostKnown) known.delete(other)
    return documents
  }

  async function accessFor(content: InstalledContent, job: BulkJob): Promise<ContentAccess | null> {
    // What is kept of roles is forgotten when something was committed.
    await identification.access()
    const row = await administratorById(database, job.administratorId)
    if (row === null || !isActive(row)) return null
    const roles = await rolesOf(database, row.id)
    const holder = { id: row.id, roles, isSuperAdmin: roles.some(({ code }) => code === superAdminCode) }
    return openContent(administration, content, {
      administratorId: row.id,
      grants: await administration.grantsOf(holder, content.documents.context.model),
      actor: { administrator: { id: row.id, email: row.email ?? '' }, address: job.address },
      requestId: job.request.requestId,
    })
  }

  return async (job, isMine) => {
    const run = randomUUID()
    if (!(await inBookkeeping(writer, (transaction) => beginRun(transaction, job.id, run, now())))) return
    const from = job.done + job.failed
    const documents = (await documentsOf(job)).slice(from, from + atOnce)
    const tried = attempts.get(job.id) ?? 0
    const outcome = await withContent(async (content) => {
      const access = await accessFor(content, job)
      if (access === null) return 'refused'
      return carryOut({ administration, access, job, run, documents, isMine, gaveUp: tried >= mostAttempts })
    }).catch((error: unknown) => {
      if (!stopping.aborted) administration.log.error({ err: error, job: job.id }, 'documents of a job could not be tried')
      return tried >= mostAttempts ? ('refused' as const) : ('unavailable' as const)
    })
    attempts.set(job.id, outcome === 'unavailable' ? tried + 1 : 0)
    if (outcome === 'refused') await end(job, 'canceled')
    else if (outcome === 'done' && from + documents.length >= job.total) await end(job, 'done')
    if (outcome === 'unavailable') await pauseUnlessAborted(retryAfter, undefined, { signal: stopping }).catch(() => {})
  }
}

/** Some documents of a job, for its administrator. */
interface Batch {
  readonly administration: Administration
  readonly access: ContentAccess
  readonly job: BulkJob
  readonly run: string
  readonly documents: readonly string[]
  isMine(): boolean
  /** A document that the database has no time for has failed. */
  readonly gaveUp: boolean
}

/** `interrupted`: the job has ended, or is another process's; `unavailable`: the database has no time. */
async function carryOut(batch: Batch): Promise<'done' | 'interrupted' | 'unavailable'> {
  const { administration, job, run, documents, isMine, gaveUp } = batch
  const { log, writer, config } = administration
  const failed = (error: unknown) => log.error({ err: error, job: job.id }, 'a document of a job failed')
  const refusals = await refusalsOf(batch, failed)
  let { done, failed: refused } = job
  const errors: JobError[] = [...job.errors]
  let isNoted = true
  let isLost = false
  const progress = (isDone: boolean) => ({ done: isDone ? done + 1 : done, failed: refused, errors: isNoted ? null : errors })
  const flush = () =>
    inBookkeeping(writer, async (transaction) => {
      isLost ||= !(await noteProgress(transaction, job.id, run, progress(false)))
    })
  const access: ContentAccess = {
    ...batch.access,
    note: async (transaction, act) => {
      await batch.access.note(transaction, act)
      isLost = !(await noteProgress(transaction, job.id, run, progress(true)))
      if (isLost) throw new Error('The job has ended, or another process has taken over')
    },
  }
  // The look at the list does not count: each batch gets further by a document at least.
  const begun = elapsed()
  for (const documentId of documents) {
    if (!isMine() || elapsed() - begun >= longestBatch) return flushed('interrupted')
    const error = refusals(documentId) ?? (await actOn(access, job.request, documentId, (thrown) => !isLost && failed(thrown)))
    if (isLost) return 'interrupted'
    if (error?.status === 503 && !gaveUp) return flushed('unavailable')
    if (error === null) {
      done += 1
      isNoted = true
    } else {
      refused += 1
      if (errors.length < config.limits.jobErrors) errors.push({ documentId, error })
      isNoted = false
    }
  }
  return flushed('done')

  async function flushed<Outcome>(outcome: Outcome): Promise<Outcome | 'interrupted'> {
    if (!isNoted) await flush()
    return isLost ? 'interrupted' : outcome
  }
}

/** Why documents are not touched at all: they are not among those that are meant any more, or the list of these is refused. */
async function refusalsOf(
  { access, job: { request }, documents }: Batch,
  failed: (error: unknown) => void,
): Promise<(documentId: string) => DocumentError | null> {
  const { where, type } = request
  if (where === null) return () => null
  try {
    const listed = await stillListed(access, type, where, documents)
    return (documentId) => (listed.has(documentId) ? null : unmatched)
  } catch (error) {
    if (!(error instanceof ApiError)) failed(error)
    const refusal = errorOf(error)
    return () => refusal
  }
}
