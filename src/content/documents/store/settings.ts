// Settings shared with Strapi's admin panel: rows of `strapi_core_store_settings`, with JSON values.
import { sql } from 'kysely'
import type { RowReader, Transaction } from '../../../database/database.js'

/** Reads a setting; undefined if there is none. */
export async function storedSetting(database: RowReader, key: string): Promise<unknown> {
  return (await storedSettings(database, [key])).get(key)
}

/** Reads existing settings by key. */
export async function storedSettings(database: RowReader, keys: readonly string[]): Promise<ReadonlyMap<string, unknown>> {
  if (keys.length === 0) return new Map()
  // Of several rows with one key, the last one counts.
  const rows = await database.rows<{ key: string; value: string }>(
    sql`select ${sql.ref('key')}, value from strapi_core_store_settings where ${sql.ref('key')} in (${sql.join([...keys])}) order by id`,
  )
  return new Map(rows.map(({ key, value }) => [key, JSON.parse(value) as unknown]))
}

export async function writeSetting(transaction: Transaction, key: string, value: unknown): Promise<void> {
  const text = JSON.stringify(value)
  const { rows } = await transaction.run(sql`update strapi_core_store_settings set value = ${text} where ${sql.ref('key')} = ${key}`)
  if (rows > 0) return
  await transaction.run(
    sql`insert into strapi_core_store_settings (${sql.ref('key')}, value, type) values (${key}, ${text}, ${typeof value})`,
  )
}
