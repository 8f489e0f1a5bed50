// The log of activity of administrators. An entry is written in the transaction of its action, and with it the line of the audit log.
import { type RawBuilder, sql } from 'kysely'
import type { RowReader, Transaction, WriteDatabase } from '../database/database.js'
import { type AuditEntry, noteInTransaction } from '../foundation/runtime/audit-log.js'
import type { Administration } from './context.js'

/** The administrator or command that carries out an action. */
export interface ActingAdministrator {
  /** Null: the command line, or a request without sign-in. */
  readonly administrator: { readonly id: number; readonly email: string } | null
  /** The IP address; null: the command line. */
  readonly address: string | null
  /** Stores the action under the Idempotency-Key of the request; absent: there is none. */
  readonly store?: StoreActions
}

/** An action, without values. */
export interface AdministratorAction {
  /** A verb, such as `create`. */
  readonly action: string
  /** The object: a kind such as `token`, or the uid of a content-type. */
  readonly subject: string
  /** The row id or documentId; empty for the only one of its kind. */
  readonly id: string
  /** The name of the object, for readers of the log after its deletion. */
  readonly name?: string
  /** The changed fields. */
  readonly fields?: readonly string[]
  /** JSON that only the response contains, such as a new key. It is not part of the entry. */
  readonly responseData?: unknown
  /** The locales of the document. */
  readonly locales?: readonly string[]
}

/** Field names as JSON, in an object if there are locales. */
function storedDetails({ fields, locales }: AdministratorAction): string | null {
  if (locales !== undefined && locales.length > 0) return JSON.stringify({ fields: fields ?? [], locales })
  return fields === undefined ? null : JSON.stringify(fields)
}

function parseDetails(stored: string | null): Pick<AdministratorAction, 'fields' | 'locales'> {
  if (stored === null) return {}
  const details = JSON.parse(stored) as readonly string[] | { readonly fields: readonly string[]; readonly locales: readonly string[] }
  return 'locales' in details ? details : { fields: details }
}

/** Stores actions in their transaction. @throws ApiError 409 where another process has done it meanwhile */
export type StoreActions = (transaction: Transaction, acts: readonly Pick<AdministratorAction, 'id' | 'responseData'>[]) => Promise<void>

/** The acting `octavo` command. */
export const commandLine: ActingAdministrator = { administrator: null, address: null }

/** The statement of an entry, for a transaction that is executed elsewhere. The next entry deletes the oldest. */
export const entryStatement = (
  { administrator, address }: ActingAdministrator,
  act: AdministratorAction,
  now: number,
): RawBuilder<unknown> => sql`insert into octavo_activity
    (made_at, administrator_id, administrator, action, subject, subject_id, name, fields, address) values
    (${now}, ${administrator?.id ?? 0}, ${administrator?.email ?? ''}, ${act.action}, ${act.subject}, ${act.id},
     ${act.name ?? null}, ${storedDetails(act)}, ${address})`

/** The line in the audit log. */
export const auditEntry = ({ administrator, address }: ActingAdministrator, act: AdministratorAction): AuditEntry => ({
  actor: administrator === null ? { kind: address === null ? 'command' : 'nobody' } : { kind: 'administrator', id: administrator.id },
  action: act.action,
  type: act.subject,
  id: act.id,
  fields: act.fields,
  locales: act.locales,
  address,
})

type LogParts = Pick<Administration, 'config' | 'now'>

/** Writes the entries of all actions in one transaction, deletes the oldest, and stores the actions under the `Idempotency-Key` of the request. */
export async function logActivities(
  { config, now }: LogParts,
  transaction: Transaction,
  actor: ActingAdministrator,
  acts: readonly AdministratorAction[],
): Promise<void> {
  let entry = 0
  for (const act of acts) {
    entry = await transaction.insert(entryStatement(actor, act, now()))
    noteInTransaction(auditEntry(actor, act))
  }
  await transaction.run(sql`delete from octavo_activity where id <= ${entry - config.limits.activityEntries}`)
  await actor.store?.(transaction, acts)
}

type ActionParts = LogParts & Pick<Administration, 'writer'>

/** True if an update names no field. */
const changesNothing = ({ action, fields }: AdministratorAction): boolean => action === 'update' && fields?.length === 0

/** Carries out an action in one transaction, with its entry. `work` resolves to the action, or null if nothing changed, and to the result. */
export async function doAction<Result>(
  parts: ActionParts,
  actor: ActingAdministrator,
  work: (transaction: Transaction, now: number) => Promise<readonly [AdministratorAction | null, Result]>,
): Promise<Result> {
  const { transaction } = loggingWriter(parts, actor, ([act]: readonly [AdministratorAction | null, Result]) => act)
  return (await transaction((within) => work(within, parts.now())))[1]
}

/** A writer for functions that open transactions themselves: each ends with an entry, which may depend on the result; null: nothing changed. */
export const loggingWriter = <Result>(
  { writer, ...parts }: ActionParts,
  actor: ActingAdministrator,
  actOf: (result: Result) => AdministratorAction | null,
): WriteDatabase => ({
  ...writer,
  transaction: (work) =>
    writer.transaction(async (transaction) => {
      const result = await work(transaction)
      const act = actOf(result as never)
      if (act !== null && !changesNothing(act)) await logActivities(parts, transaction, actor, [act])
      return result
    }),
})

/** An entry of the log. */
export interface ActivityEntry extends Omit<AdministratorAction, 'responseData'>, Omit<ActingAdministrator, 'store'> {
  readonly entry: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** A filter on entries. */
interface ActivityQuery {
  readonly administrator?: number | undefined
  readonly subject?: string | undefined
  readonly subjectId?: string | undefined
  /** Only older entries than this one. */
  readonly before: number | null
  readonly limit: number
}

interface Row {
  readonly id: number
  readonly made_at: number
  readonly administrator_id: number
  readonly administrator: string
  readonly action: string
  readonly subject: string
  readonly subject_id: string
  readonly name: string | null
  readonly fields: string | null
  readonly address: string | null
}

/** Returns entries, the latest first. */
export async function listActivity(database: RowReader, wanted: ActivityQuery): Promise<readonly ActivityEntry[]> {
  const { administrator, subject, subjectId, before, limit } = wanted
  const conditions = [
    sql`1 = 1`,
    ...(administrator === undefined ? [] : [sql`administrator_id = ${administrator}`]),
    ...(subject === undefined ? [] : [sql`subject = ${subject}`]),
    ...(subjectId === undefined ? [] : [sql`subject_id = ${subjectId}`]),
    ...(before === null ? [] : [sql`id < ${before}`]),
  ]
  const rows =
    await database.rows<Row>(sql`select id, made_at, administrator_id, administrator, action, subject, subject_id, name, fields, address
    from octavo_activity where ${sql.join(conditions, sql` and `)} order by id desc limit ${limit}`)
  return rows.map(toEntry)
}

const toEntry = (row: Row): ActivityEntry => ({
  entry: row.id,
  at: row.made_at,
  administrator: row.administrator_id === 0 ? null : { id: row.administrator_id, email: row.administrator },
  action: row.action,
  subject: row.subject,
  id: row.subject_id,
  ...(row.name === null ? {} : { name: row.name }),
  ...parseDetails(row.fields),
  address: row.address,
})
