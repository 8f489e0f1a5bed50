// Log of attempts to deliver events to webhooks.
import { type RawBuilder, sql } from 'kysely'
import type { MainConnection, WriteDatabase } from '../../../database/database.js'
import type { RecordedEvent } from '../event-log.js'
import type { WebhookResponse } from './send.js'

export interface WebhookAttempt {
  readonly id: number
  readonly webhook: number
  readonly sequence: number
  readonly event: string
  /** `api::article.article <documentId>` or `file <id>`. */
  readonly subject: string
  /** Counted from 1. */
  readonly attempt: number
  /** Status of the response; 0 if there was none. */
  readonly status: number
  /** Why there was no response, or the beginning of an error response. */
  readonly error: string | null
  /** Milliseconds. */
  readonly duration: number
  /** Milliseconds since 1970. */
  readonly attemptedAt: number
}

const table = sql.table('octavo_webhook_attempts')

/** Statement that logs an attempt. */
export const insertAttempt = (
  webhook: number,
  { sequence, event, subject }: Pick<RecordedEvent, 'sequence' | 'event' | 'subject'>,
  attempt: number,
  { status, error, duration }: Pick<WebhookResponse, 'status' | 'error' | 'duration'>,
  now: number,
): RawBuilder<unknown> => sql`insert into ${table} (webhook_id, sequence, event, subject, attempt, status, error, duration, attempted_at)
  values (${webhook}, ${sequence}, ${event}, ${subject}, ${attempt}, ${status}, ${error}, ${duration}, ${now})`

/** Returns the last attempts of a webhook, newest first; `before`: only those with a lower id. */
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

/** Deletes all but the last `most` attempts. */
export async function pruneAttempts(
  database: Pick<MainConnection, 'rows'>,
  writer: Pick<WriteDatabase, 'run'>,
  most: number,
): Promise<void> {
  const [row] = await database.rows<{ last: number }>(sql`select coalesce(max(id), 0) as last from ${table}`)
  if (row!.last > most) await writer.run(sql`delete from ${table} where id <= ${row!.last - most}`)
}
