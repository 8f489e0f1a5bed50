// The log of attempts to deliver events to webhooks.
import { type RawBuilder, sql } from 'kysely'
import type { MainConnection, WriteDatabase } from '../../../database/database.js'
import type { RecordedEvent } from '../event-log.js'
import type { WebhookResponse } from './send.js'

/** One attempt. */
export interface WebhookAttempt {
  readonly id: number
  readonly webhook: number
  readonly sequence: number
  readonly event: string
  /** `api::article.article <documentId>` or `file <id>`. */
  readonly subject: string
  /** 1 for the first attempt. */
  readonly attempt: number
  /** The status of the response; 0 if there was none. */
  readonly status: number
  /** Why there was none, or how the response to a failure began. */
  readonly error: string | null
  /** Milliseconds. */
  readonly duration: number
  /** Milliseconds since 1970. */
  readonly attemptedAt: number
}

const table = sql.table('octavo_webhook_attempts')

/** The statement that adds an attempt to the log. */
export const insertAttempt = (
  webhook: number,
  { sequence, event, subject }: Pick<RecordedEvent, 'sequence' | 'event' | 'subject'>,
  attempt: number,
  { status, error, duration }: Pick<WebhookResponse, 'status' | 'error' | 'duration'>,
  now: number,
): RawBuilder<unknown> => sql`insert into ${table} (webhook_id, sequence, event, subject, attempt, status, error, duration, attempted_at)
  values (${webhook}, ${sequence}, ${event}, ${subject}, ${attempt}, ${status}, ${error}, ${duration}, ${now})`

/** Returns the last attempts of a webhook, the newest first; `before`: only those with a lower id. */
export function readAttempts(
  database: Pick<MainConnection, 'rows'>,
  webhook: number,
  limit: number,
  before: number | null = null,
): Promise<readonly WebhookAttempt[]> {
  const older = before === null ? sql`` : sql` and id < ${before}`
  return database.rows<WebhookAttempt>(
    sql`select id, webhook_id as webhook, sequence, event, subject, attempt, status, error, duration, attempted_at as ${sql.id('attemptedAt')}
      from ${table} where webhook_id = ${webhook}${older} order by id desc limit ${limit}`,
  )
}

/** Deletes the oldest attempts beyond `most`. */
export async function pruneAttempts(
  database: Pick<MainConnection, 'rows'>,
  writer: Pick<WriteDatabase, 'run'>,
  most: number,
): Promise<void> {
  const [row] = await database.rows<{ last: number }>(sql`select coalesce(max(id), 0) as last from ${table}`)
  if (row!.last > most) await writer.run(sql`delete from ${table} where id <= ${row!.last - most}`)
}
