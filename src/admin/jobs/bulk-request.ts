// One act on many documents, as it is asked for: a few are carried out at once, for more there is a job.
import { inBookkeeping } from '../../database/bookkeeping.js'
import type { Transaction } from '../../database/database.js'
import { forbidden, notFound, validationError } from '../../foundation/errors/errors.js'
import { type ActingAdministrator, type AdministratorAct, type KeepActs, noteActivity } from '../activity.js'
import { actOn, type BulkAct, type DocumentError, documentsListed, type ListedBy } from '../content/bulk.js'
import { type ContentAccess, localesOf, readableType } from '../content/content-access.js'
import { verbs } from '../content/document-writes.js'
import type { Administration } from '../context.js'
import type { Administrator } from '../identity/identify.js'
import { type BulkJob, endJob, insertJob, readJob } from './job-rows.js'

/** What is asked for: documents by their ids, or those of a list. */
export interface BulkRequest extends BulkAct {
  readonly documents: readonly string[] | null
  readonly where: ListedBy | null
}

/** What one document came to; `error` null: the act was done to it. */
export interface BulkResult {
  readonly documentId: string
  readonly error: DocumentError | null
}

/** Either what each document came to, or the job that carries it out. */
export type BulkOutcome =
  | { readonly results: readonly BulkResult[]; readonly job: null }
  | { readonly results: null; readonly job: BulkJob }

/** Who asks, and from where. */
export interface BulkAsker {
  readonly administratorId: number
  readonly address: string | null
  /** Keeps what the request led to; absent: it may be done again. */
  readonly keep?: KeepActs | undefined
}

/** Refuses what no document can be done to. @throws ApiError 400, 403, 404 */
export async function checkAct(access: ContentAccess, { action, type: uid, locale, documents, where }: BulkRequest): Promise<void> {
  const type = readableType(access, uid)
  const needed = `${uid}.${action === 'discardDraft' ? 'discard' : action}`
  if (!access.grants.may(needed)) throw forbidden(needed)
  if (action !== 'delete' && !type.draftAndPublish) throw validationError(`${uid} has no drafts`)
  const isOfList = locale !== null && where?.locale === locale
  await localesOf(access, type, locale ?? undefined, isOfList ? ['where', 'locale'] : ['locale'])
  if ((documents === null) === (where === null)) throw validationError('Say either documents or where')
}

/**
 * Acts on documents, or makes a job of it. What it leads to is kept with the job, and without one when all documents are through.
 * @throws ApiError 400, 403, 404, 429
 */
export async function actOnMany(
  administration: Administration,
  access: ContentAccess,
  asker: BulkAsker,
  request: BulkRequest,
): Promise<BulkOutcome> {
  await checkAct(access, request)
  const { bulkAtOnce, bulkDocuments } = access.limits
  const { writer } = administration
  const { type, where } = request
  const documents = where === null ? [...new Set(request.documents)] : await documentsListed(access, type, where, bulkDocuments)
  if (documents.length > bulkDocuments) throw validationError(`More than ${bulkDocuments} documents (limits.bulkDocuments)`)
  const keep = async (transaction: Transaction, outcome: BulkOutcome) => asker.keep?.(transaction, [{ id: '', told: outcome }])
  if (documents.length > bulkAtOnce)
    return inBookkeeping(writer, async (transaction) => {
      const outcome = await makeJob(administration, transaction, access, asker, { ...request, documents })
      await keep(transaction, outcome)
      return outcome
    })
  const results: BulkResult[] = []
  const failed = (error: unknown) => administration.log.error({ err: error, requestId: access.requestId }, 'an act on a document failed')
  for (const documentId of documents) results.push({ documentId, error: await actOn(access, request, documentId, failed) })
  const outcome: BulkOutcome = { results, job: null }
  if (asker.keep !== undefined) await inBookkeeping(writer, (transaction) => keep(transaction, outcome))
  return outcome
}

async function makeJob(
  { now }: Administration,
  transaction: Transaction,
  { limits, requestId, note }: ContentAccess,
  { administratorId, address }: BulkAsker,
  { action, type, locale, where, documents }: BulkRequest & { readonly documents: readonly string[] },
): Promise<BulkOutcome> {
  const job = { administratorId, address, documents, request: { action, type, locale, where, requestId } }
  const made = (await readJob(transaction, await insertJob(transaction, job, limits, now())))!
  await note(transaction, actOnJob('create', made))
  return { results: null, job: made }
}

/** What is done to a job, for the log of activity. */
function actOnJob(action: 'create' | 'cancel', { id, request, total }: BulkJob): AdministratorAct {
  const name = `${verbs[request.action]} ${total} documents of ${request.type}`
  return { action, subject: 'job', id: String(id), name, ...(request.locale === null ? {} : { locales: request.locale.split(',') }) }
}

/** A job, for its maker and for super administrators. @throws ApiError 404 for others */
export async function findJob({ database }: Administration, { id: asker, isSuperAdmin }: Administrator, id: number): Promise<BulkJob> {
  const job = await readJob(database, id)
  if (job === null || (job.administratorId !== asker && !isSuperAdmin)) throw notFound()
  return job
}

/** Ends a job before its next document; what it has done stays. One that has ended stays as it is. @throws ApiError 404 */
export async function cancelJob(
  administration: Administration,
  administrator: Administrator,
  actor: ActingAdministrator,
  id: number,
): Promise<BulkJob> {
  const job = await findJob(administration, administrator, id)
  const { writer, now, config } = administration
  const cancel = async (transaction: Transaction): Promise<void> => {
    const at = now()
    if (!(await endJob(transaction, id, 'canceled', at))) return
    await noteActivity(transaction, actor, actOnJob('cancel', job), { now: at, most: config.limits.activityEntries })
  }
  if (job.endedAt === null) await inBookkeeping(writer, cancel)
  return findJob(administration, administrator, id)
}
