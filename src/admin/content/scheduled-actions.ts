// Scheduled actions: publications of documents and their withdrawal at a later time. Each is carried out with the rights that its
// administrator has at that time; its row is deleted in the transaction of the action.
import { type RawBuilder, sql } from 'kysely'
import { scheduledIn, scheduledTable } from '../../content/documents/store/rows.js'
import { type MainConnection, type RowReader, serviceTransaction, type Transaction } from '../../database/database.js'
import { insertRowSql } from '../../database/portable-sql.js'
import { ApiError, forbidden, inputError, invalidAt, notFound } from '../../foundation/errors/errors.js'
import type { ContentType } from '../../model/schema/types.js'
import type { WithInstallation } from '../../project/code/content-service.js'
import type { Administration } from '../context.js'
import { toDocumentError } from '../error-paths.js'
import { activeAdministrator } from '../identity/administrators.js'
import { type ContentAccess, openContentAccess, parseLocales, readableType } from './content-access.js'
import { localeStates, mayPublish } from './document-view.js'
import { actOnDocument } from './document-writes.js'
import { maxScheduled, readScheduled, type ScheduledRow, type ScheduledVerb } from './scheduled-view.js'

const maxYears = 5
/** Milliseconds after which refused actions are deleted. */
const maxFailureAge = 90 * 86_400_000

const table = sql.table(scheduledTable)

/** A document, and the locales of the request. */
interface ScheduledDocument {
  readonly type: ContentType
  readonly documentId: string
  /** One locale, several separated by commas, or `*`. */
  readonly locale: string | undefined
}

/** The locales of a request, if the administrator may carry the action out in all. @throws ApiError 400, 403, 404 */
async function permittedLocales(
  access: ContentAccess,
  { type, documentId, locale }: ScheduledDocument,
  action: ScheduledVerb,
): Promise<readonly (string | null)[]> {
  const named = await parseLocales(access, type, locale)
  const existing = (await localeStates(access, type, documentId)).map((state) => state.locale)
  if (existing.length === 0) throw notFound()
  if (!type.draftAndPublish) throw inputError(`${type.uid} has no drafts`, [], 'unsupported')
  const locales = named.includes('*') ? existing : named
  if (locales.some((each) => !existing.includes(each))) throw notFound()
  for (const each of locales) {
    if (!(await mayPublish(access, { type, documentId, locale: each }, action))) throw forbidden(`${type.uid}.${action}`)
  }
  return locales
}

/** The parts of the administration that changes of scheduled actions need. */
type ScheduleParts = Pick<Administration, 'writer' | 'changes' | 'feed' | 'now' | 'timeOfDay' | 'scheduleChanged'>

/** Changes scheduled actions of a document in one transaction, with its entry in the log. */
async function change(
  { writer, changes, feed, now, scheduleChanged }: ScheduleParts,
  access: ContentAccess,
  { type, documentId }: ScheduledDocument,
  verb: 'schedule' | 'unschedule',
  locales: readonly (string | null)[],
  work: (transaction: Transaction) => Promise<void>,
): Promise<void> {
  await serviceTransaction(writer, async (transaction) => {
    await work(transaction)
    const names = locales.flatMap((locale) => locale ?? [])
    await access.log(transaction, { action: verb, subject: type.uid, id: documentId, locales: names })
    for (const locale of locales)
      changes.recordSchedule(transaction, { madeAt: now(), administratorId: access.administratorId, uid: type.uid, documentId, locale })
  })
  scheduleChanged()
  feed.look()
}

const ofLocales = (type: ContentType, documentId: string, action: ScheduledVerb, locales: readonly (string | null)[]) =>
  sql`${scheduledIn(type, documentId, locales)} and action = ${action}`

/** Schedules an action in locales of a document, in place of the same action there. `at`: milliseconds since 1970. @throws ApiError 400, 403, 404 */
export async function scheduleAction(
  parts: ScheduleParts,
  access: ContentAccess,
  document: ScheduledDocument,
  action: ScheduledVerb,
  at: number,
): Promise<void> {
  const { type, documentId } = document
  const locales = await permittedLocales(access, document, action)
  const now = await databaseTime(access.database, parts.timeOfDay)
  if (at <= now) throw invalidAt(['at'], 'The time has passed')
  const latest = new Date(now)
  latest.setUTCFullYear(latest.getUTCFullYear() + maxYears)
  if (at > latest.getTime()) throw invalidAt(['at'], `The time is more than ${maxYears} years ahead`)
  await change(parts, access, document, 'schedule', locales, async (transaction) => {
    await transaction.run(
      sql`delete from ${table} where (${ofLocales(type, documentId, action, locales)}) or (failed_at > ${0} and failed_at < ${now - maxFailureAge})`,
    )
    const [counted] = await transaction.rows<{ readonly count: number }>(sql`select count(*) as count from ${table}`)
    if (Number(counted!.count) + locales.length > maxScheduled)
      throw new ApiError('ApplicationError', `At most ${maxScheduled} actions are scheduled at a time`)
    for (const locale of locales) {
      const row = { type: type.uid, document_id: documentId, locale: locale ?? '', action, due_at: at }
      const made = { administrator_id: access.administratorId, made_at: now, failed_at: 0, error: null }
      await transaction.insert(insertRowSql(scheduledTable, { ...row, ...made }))
    }
  })
}

/** Cancels an action in locales of a document, or removes the note that it was refused. @throws ApiError 400, 403, 404 */
export async function cancelAction(
  parts: ScheduleParts,
  access: ContentAccess,
  document: ScheduledDocument,
  action: ScheduledVerb,
): Promise<void> {
  const { type, documentId } = document
  const locales = await permittedLocales(access, document, action)
  await change(parts, access, document, 'unschedule', locales, async (transaction) => {
    const { rows } = await transaction.run(sql`delete from ${table} where ${ofLocales(type, documentId, action, locales)}`)
    if (rows === 0) throw notFound('Nothing is scheduled')
  })
}

async function databaseTime(database: RowReader, timeOfDay: RawBuilder<unknown>): Promise<number> {
  const [row] = await database.rows<{ readonly moment: number }>(sql`select ${timeOfDay} as moment`)
  return Number(row!.moment)
}

/** A scheduled action whose time has come. */
export interface DueAction extends Pick<ScheduledRow, 'id' | 'type' | 'locale' | 'action'> {
  readonly documentId: string
  readonly administratorId: number
}

/** Reads actions whose time has come by the clock of the database, the earliest first. */
export async function readDue(database: MainConnection, timeOfDay: RawBuilder<unknown>, limit: number): Promise<readonly DueAction[]> {
  const rows = await readScheduled(database, sql`failed_at = ${0} and due_at <= ${timeOfDay}`, limit)
  return rows.map(({ id, type, locale, action, document_id: documentId, administrator_id: administratorId }) => ({
    ...{ type, locale, action, documentId },
    id: Number(id),
    administratorId: Number(administratorId),
  }))
}

/**
 * Carries out a due action as its administrator, exactly once: its row is deleted in the same transaction. Nothing happens if it was
 * cancelled.
 * @throws ApiError of the action
 */
export async function carryOut(administration: Administration, run: WithInstallation, due: DueAction): Promise<void> {
  const administrator = await activeAdministrator(administration.database, due.administratorId)
  if (administrator === null) throw new ApiError('ForbiddenError', 'The administrator who scheduled it may not sign in')
  // Rolls the transaction back: the action was cancelled or changed, or another process has carried it out.
  const superseded = new ApiError('ConflictError', 'The action is no longer scheduled')
  await run(async (installation) => {
    const access = await openContentAccess(administration, installation, {
      administrator,
      actor: { administrator, address: null },
      requestId: `scheduled-${due.id}`,
    })
    const log: ContentAccess['log'] = async (transaction, act) => {
      const { rows } = await transaction.run(sql`delete from ${table} where id = ${due.id} and failed_at = ${0}`)
      if (rows !== 1) throw superseded
      await access.log(transaction, act)
    }
    const type = readableType(access, due.type)
    const locale = type.localized ? due.locale : undefined
    await actOnDocument({ ...access, log }, due.action as ScheduledVerb, { type, documentId: due.documentId, locale }, null)
  }).catch((error: unknown) => {
    if (error !== superseded) throw error
  })
}

/** Records why a due action was not carried out. */
export async function recordFailure(administration: ScheduleParts, due: DueAction, error: unknown): Promise<void> {
  const { writer, changes, feed, now } = administration
  const { id, type: uid, documentId, administratorId } = due
  const locale = due.locale === '' ? null : due.locale
  const known = error instanceof ApiError ? error : new ApiError('InternalServerError', 'Internal Server Error')
  const reason = JSON.stringify(toDocumentError(known, locale))
  await serviceTransaction(writer, async (transaction) => {
    const failed = sql`update ${table} set failed_at = ${now()}, error = ${reason} where id = ${id} and failed_at = ${0}`
    const { rows } = await transaction.run(failed)
    if (rows === 1) changes.recordSchedule(transaction, { madeAt: now(), administratorId, uid, documentId, locale })
  })
  feed.look()
}
