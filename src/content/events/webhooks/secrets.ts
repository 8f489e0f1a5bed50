// Signing secrets of webhooks. For a day after a rotation, requests are signed with the former secret too, so that receivers can switch.
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { MainConnection, Transaction, WriteDatabase } from '../../../database/database.js'
import { insertMissing, upsert } from '../../../database/portable-sql.js'

/** Secrets as `whsec_…`. */
interface WebhookSecrets {
  readonly secret: string
  /** The previous secret, and the time until which it is used, in milliseconds since 1970. */
  readonly former: { readonly secret: string; readonly until: number } | null
}

const name = 'octavo_webhooks'
const table = sql.table(name)
/** Bytes of a secret, and milliseconds for which a replaced one remains in use. */
const secretBytes = 24
const overlap = 86_400_000

const newSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`

async function readSecrets(database: Pick<MainConnection, 'rows'>, webhook: number): Promise<WebhookSecrets | null> {
  const [row] = await database.rows<{ secret: string; former_secret: string | null; former_until: number }>(
    sql`select secret, former_secret, former_until from ${table} where webhook_id = ${webhook}`,
  )
  if (row === undefined) return null
  const { secret, former_secret, former_until } = row
  return { secret, former: former_secret === null ? null : { secret: former_secret, until: former_until } }
}

/** Returns the secrets of a webhook. Webhooks from Strapi's admin panel have none, so one is created. */
export async function ensureSecrets(
  database: Pick<MainConnection, 'rows'>,
  writer: Pick<WriteDatabase, 'run'>,
  webhook: number,
): Promise<WebhookSecrets> {
  const known = await readSecrets(database, webhook)
  if (known !== null) return known
  await writer.run(insertMissing(name, ['webhook_id', 'secret', 'former_until'], sql`values (${webhook}, ${newSecret()}, 0)`))
  return (await readSecrets(database, webhook))!
}

export async function rotateSecret(transaction: Transaction, webhook: number, now: number): Promise<string> {
  const former = (await readSecrets(transaction, webhook))?.secret ?? null
  const secret = newSecret()
  const until = former === null ? 0 : now + overlap
  await transaction.run(
    upsert(
      name,
      { webhook_id: webhook, secret, former_secret: former, former_until: until },
      ['webhook_id'],
      sql`secret = ${secret}, former_secret = ${former}, former_until = ${until}`,
    ),
  )
  return secret
}

/** Gives a webhook a new secret and revokes the former ones. */
export async function replaceSecret(transaction: Transaction, webhook: number, now: number): Promise<void> {
  await rotateSecret(transaction, webhook, now)
  await transaction.run(sql`update ${table} set former_secret = null, former_until = 0 where webhook_id = ${webhook}`)
}

/** The secrets to sign with, current one first. */
export const signingSecrets = ({ secret, former }: WebhookSecrets, now: number): readonly string[] =>
  former !== null && former.until > now ? [secret, former.secret] : [secret]
