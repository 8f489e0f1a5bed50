// The log of what administrators do. An entry is written in the transaction of its act: neither is there without the other.
import { type RawBuilder, sql } from 'kysely'
import type { RowReader, Transaction, WriteDatabase } from '../database/database.js'
import { type AuditEntry, noteInTransaction } from '../foundation/runtime/audit.js'
import type { Administration } from './context.js'

/** Who does something. */
export interface ActingAdministrator {
  /** Null: nobody who is signed in, such as the command line. */
  readonly administrator: { readonly id: number; readonly email: string } | null
  /** The IP address; null for the command line. */
  readonly address: string | null
  /** Keeps what is done, for a request that is done once; absent: it may be done again. */
  readonly keep?: KeepActs
}

/** What is done. Values are never part of it. */
export interface AdministratorAct {
  /** A verb, such as `create`. */
  readonly action: string
  /** What it is done to: a kind such as `token`, or the uid of a content-type. */
  readonly subject: string
  /** The row id or documentId; empty where there is one of its kind only. */
  readonly id: string
  /** How its readers know it, once it is gone. */
  readonly name?: string
  /** The changed fields. */
  readonly fields?: readonly string[]
  /** What only the response tells of it, as JSON, such as a new key. It is no part of the entry. */
  readonly told?: unknown
  /** The locales of a document that it is done in. */
  readonly locales?: readonly string[]
}

/** How names of fields and locales are stored: a list of fields where there are no locales. */
function storedDetails({ fields, locales }: AdministratorAct): string | null {
  if (locales !== undefined && locales.length > 0) return JSON.stringify({ fields: fields ?? [], locales })
  return fields === undefined ? null : JSON.stringify(fields)
}

function detailsOf(stored: string | null): Pick<AdministratorAct, 'fields' | 'locales'> {
  if (stored === null) return {}
  const details = JSON.parse(stored) as readonly string[] | { readonly fields: readonly string[]; readonly locales: readonly string[] }
  return 'locales' in details ? details : { fields: details }
}

/** Keeps what is done in a transaction. @throws ApiError 409 where another process has done it meanwhile */
export type KeepActs = (transaction: Transaction, acts: readonly Pick<AdministratorAct, 'id' | 'told'>[]) => Promise<void>

/** The acting `octavo` command. */
export const commandLine: ActingAdministrator = { administrator: null, address: null }

/** The statement that writes an entry, for a transaction that is executed elsewhere. The oldest are deleted with the next entry. */
export const entryStatement = (
  { administrator, address }: ActingAdministrator,
  act: AdministratorAct,
  now: number,
): RawBuilder<unknown> => sql`insert into octavo_activity
    (made_at, administrator_id, administrator, action, subject, subject_id, name, fields, address) values
    (${now}, ${administrator?.id ?? 0}, ${administrator?.email ?? ''}, ${act.action}, ${act.subject}, ${act.id},
     ${act.name ?? null}, ${storedDetails(act)}, ${address})`

/** The same for the audit log. */
export const auditEntry = ({ administrator, address }: ActingAdministrator, act: AdministratorAct): AuditEntry => ({
  actor: administrator === null ? { kind: 'nobody' } : { kind: 'administrator', id: administrator.id },
  ...{ action: act.action, type: act.subject, id: act.id, fields: act.fields, locales: act.locales, address },
})

/** When an entry is written, and how many there are at most. */
interface EntryTerms {
  readonly now: number
  readonly most: number
}

/**
 * Writes the entries of all that is done in one transaction, deletes the oldest beyond `most`, and keeps what was done under the
 * `Idempotency-Key` of the request, where it has one.
 */
export async function noteActivities(
  transaction: Transaction,
  actor: ActingAdministrator,
  acts: readonly AdministratorAct[],
  { now, most }: EntryTerms,
): Promise<void> {
  let entry = 0
  for (const act of acts) {
    entry = await transaction.insert(entryStatement(actor, act, now))
    noteInTransaction(auditEntry(actor, act))
  }
  await transaction.run(sql`delete from octavo_activity where id <= ${entry - most}`)
  await actor.keep?.(transaction, acts)
}

/** The same for one act. */
export const noteActivity = (
  transaction: Transaction,
  actor: ActingAdministrator,
  act: AdministratorAct,
  terms: EntryTerms,
): Promise<void> => noteActivities(transaction, actor, [act], terms)

/** What an act and its entry need. */
type ActParts = Pick<Administration, 'writer' | 'config' | 'now'>

/** True for an update that named no field. */
const isNothing = ({ action, fields }: AdministratorAct): boolean => action === 'update' && fields?.length === 0

/** Does something in one transaction, with its entry. `work` resolves to what was done, null for nothing, and to the result. */
export function doAct<Result>(
  { writer, config, now }: ActParts,
  actor: ActingAdministrator,
  work: (transaction: Transaction, now: number) => Promise<readonly [AdministratorAct | null, Result]>,
): Promise<Result> {
  return writer.transaction(async (transaction) => {
    const at = now()
    const [act, result] = await work(transaction, at)
    if (act !== null && !isNothing(act)) await noteActivity(transaction, actor, act, { now: at, most: config.limits.activityEntries })
    return result
  })
}

/** The writer for functions that have a transaction of their own: each ends with an entry, which may depend on what it resolved to. */
export function notingWriter<Result>(
  { writer, config, now }: ActParts,
  actor: ActingAdministrator,
  actOf: (result: Result) => AdministratorAct,
): WriteDatabase {
  return {
    ...writer,
    transaction: (work) =>
      writer.transaction(async (transaction) => {
        const result = await work(transaction)
        const act = actOf(result as never)
        if (!isNothing(act)) await noteActivity(transaction, actor, act, { now: now(), most: config.limits.activityEntries })
        return result
      }),
  }
}

/** An entry of the log. */
export interface ActivityEntry extends Omit<AdministratorAct, 'told'>, Omit<ActingAdministrator, 'keep'> {
  readonly entry: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Which entries. */
export interface WantedActivity {
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
export async function listActivity(database: RowReader, wanted: WantedActivity): Promise<readonly ActivityEntry[]> {
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
  return rows.map(entryOf)
}

const entryOf = (row: Row): ActivityEntry => ({
  entry: row.id,
  at: row.made_at,
  administrator: row.administrator_id === 0 ? null : { id: row.administrator_id, email: row.administrator },
  action: row.action,
  subject: row.subject,
  id: row.subject_id,
  ...(row.name === null ? {} : { name: row.name }),
  ...detailsOf(row.fields),
  address: row.address,
})
