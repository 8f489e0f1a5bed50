// The rows of jobs: work of administrators that goes on behind a response, and how far it is.
import { sql } from 'kysely'
import type { RowReader, Transaction } from '../../database/database.js'
import { ApiError } from '../../foundation/errors/errors.js'
import type { BulkAct, DocumentError, ListedBy } from '../content/bulk.js'

/** What a job does. */
export interface JobRequest extends BulkAct {
  /** What its documents were chosen by, and must match still; null: they were named. */
  readonly where: ListedBy | null
  /** The request that asked for it. */
  readonly requestId: string
}

/** What a document of a job came to. */
export interface JobError {
  readonly documentId: string
  readonly error: DocumentError
}

/** `waiting`: nothing is done yet. `canceled`: by somebody, or because its administrator may not sign in any more. */
export type JobState = 'waiting' | 'running' | 'done' | 'canceled'

/** A job. */
export interface BulkJob {
  readonly id: number
  readonly administratorId: number
  readonly address: string | null
  readonly request: JobRequest
  readonly state: JobState
  readonly total: number
  /** Documents that the act was done to, and those that refused it. */
  readonly done: number
  readonly failed: number
  /** The first errors. */
  readonly errors: readonly JobError[]
  readonly madeAt: number
  /** Null: it has not ended. */
  readonly endedAt: number | null
}

interface JobRow {
  readonly id: number
  readonly administrator_id: number
  readonly address: string | null
  readonly request: string
  readonly state: string
  readonly total: number
  readonly done: number
  readonly failed: number
  readonly errors: string
  readonly made_at: number
  readonly ended_at: number
}

/** How many jobs there may be, and for how long. */
export interface JobLimits {
  readonly jobs: number
  readonly jobsKept: number
  readonly jobTime: number
}

const table = sql.table('octavo_jobs')
const columns = sql.raw('id, administrator_id, address, request, state, total, done, failed, errors, made_at, ended_at')

const jobOf = (row: JobRow): BulkJob => ({
  ...{ id: row.id, administratorId: row.administrator_id, address: row.address, state: row.state as JobState },
  ...{ total: row.total, done: row.done, failed: row.failed, madeAt: row.made_at },
  request: JSON.parse(row.request) as JobRequest,
  errors: JSON.parse(row.errors) as JobError[],
  endedAt: row.ended_at === 0 ? null : row.ended_at,
})

/** A job that is asked for. */
export interface NewJob extends Pick<BulkJob, 'administratorId' | 'address' | 'request'> {
  readonly documents: readonly string[]
}

/** Inserts a job, and deletes those that ended long ago. Resolves to its id. @throws ApiError 429 where too many wait */
export async function insertJob(
  transaction: Transaction,
  job: NewJob,
  { jobs, jobsKept, jobTime }: JobLimits,
  now: number,
): Promise<number> {
  const { administratorId, address, request, documents } = job
  const [open] = await transaction.rows<{ readonly total: number }>(sql`select count(*) as total from ${table} where ended_at = 0`)
  if (Number(open?.total) >= jobs) throw new ApiError('RateLimitError', `${jobs} jobs have not ended, which is the limit`, {}, 60)
  await transaction.run(sql`delete from ${table} where ended_at > 0 and ended_at <= ${now - jobTime}`)
  const surplus = sql`select id from ${table} where ended_at > 0 order by id desc limit ${jobs} offset ${jobsKept}`
  await transaction.run(sql`delete from ${table} where id in (select id from (${surplus}) as old)`)
  return transaction.insert(sql`insert into ${table}
    (administrator_id, address, request, documents, state, total, done, failed, errors, made_at, worked_at, ended_at) values
    (${administratorId}, ${address}, ${JSON.stringify(request)}, ${JSON.stringify(documents)}, 'waiting', ${documents.length}, 0, 0, '[]',
     ${now}, 0, 0)`)
}

/** Reads a job, or null. */
export async function readJob(database: RowReader, id: number): Promise<BulkJob | null> {
  const [row] = await database.rows<JobRow>(sql`select ${columns} from ${table} where id = ${id}`)
  return row === undefined ? null : jobOf(row)
}

/** True while a job has not ended. */
export const anyOpenJob = async (database: RowReader): Promise<boolean> =>
  (await database.rows(sql`select id from ${table} where ended_at = 0 limit 1`)).length > 0

/** The job that was worked on the longest time ago: several make progress in turn. Null: all have ended. */
export async function nextJob(database: RowReader): Promise<BulkJob | null> {
  const [row] = await database.rows<JobRow>(sql`select ${columns} from ${table} where ended_at = 0 order by worked_at, id limit 1`)
  return row === undefined ? null : jobOf(row)
}

/** The documents of a job. */
export async function documentsOfJob(database: RowReader, id: number): Promise<readonly string[]> {
  const [row] = await database.rows<{ readonly documents: string }>(sql`select documents from ${table} where id = ${id}`)
  return row === undefined ? [] : (JSON.parse(row.documents) as string[])
}

/** Begins a run of a job, after which no former one may write. False: it has ended. */
export async function beginRun(transaction: Transaction, id: number, run: string, now: number): Promise<boolean> {
  const { rows } = await transaction.run(
    sql`update ${table} set state = 'running', run = ${run}, worked_at = ${now} where id = ${id} and ended_at = 0`,
  )
  return rows === 1
}

/** How far a job is; `errors` null: none was added. */
export interface JobProgress extends Pick<BulkJob, 'done' | 'failed'> {
  readonly errors: readonly JobError[] | null
}

/** Notes how far a job is. False: it has ended, or another run has begun. */
export async function noteProgress(
  transaction: Transaction,
  id: number,
  run: string,
  { done, failed, errors }: JobProgress,
): Promise<boolean> {
  const added = errors === null ? sql`` : sql`, errors = ${JSON.stringify(errors)}`
  const { rows } = await transaction.run(
    sql`update ${table} set done = ${done}, failed = ${failed}${added} where id = ${id} and run = ${run} and ended_at = 0`,
  )
  return rows === 1
}

/** Ends a job. False: it had ended. */
export async function endJob(transaction: Transaction, id: number, state: 'done' | 'canceled', now: number): Promise<boolean> {
  const { rows } = await transaction.run(
    sql`update ${table} set state = ${state}, ended_at = ${now}, documents = '[]', run = null where id = ${id} and ended_at = 0`,
  )
  return rows === 1
}
