// uid attributes that name a target field and were not given: made from that field, unique in the type.
import slugify from '@sindresorhus/slugify'
import { sql } from 'kysely'
import type { RowReader, Transaction } from '../../../database/database.js'
import type { ContentType, Scalar } from '../../../model/schema/types.js'

/** Characters of a generated uid before the number that makes it unique. */
const longest = 240

/** `data` with the uids that it lacks (row 12 of the contract); what is no object stays as it is. */
export async function withGeneratedUids(transaction: Transaction, type: ContentType, data: unknown): Promise<unknown> {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return data
  const given = data as Readonly<Record<string, unknown>>
  const made: Record<string, unknown> = {}
  for (const attribute of type.attributes.values()) {
    if (attribute.kind !== 'scalar' || attribute.type !== 'uid') continue
    if (given[attribute.name] !== undefined && given[attribute.name] !== null) continue
    const target = given[String(attribute.source.targetField)]
    if (typeof target !== 'string' || target === '') continue
    made[attribute.name] = await freeUid(transaction, type, attribute, target)
  }
  return { ...given, ...made }
}

/** A uid made of a text that no row of the type has; `own`: a document whose own uids are free. */
export async function freeUid(
  database: RowReader,
  type: ContentType,
  { column }: Scalar,
  text: string,
  own: string | null = null,
): Promise<string> {
  const wanted = slugify(text).slice(0, longest) || type.singularName
  const others = own === null ? sql`` : sql` and document_id <> ${own}`
  const rows = await database.rows<{ uid: string }>(
    sql`select ${sql.id(column)} as uid from ${sql.table(type.table)} where ${sql.id(column)} >= ${wanted} and ${sql.id(column)} < ${`${wanted}.`}${others}`,
  )
  const taken = new Set(rows.map(({ uid }) => uid))
  if (!taken.has(wanted)) return wanted
  let number = 1
  while (taken.has(`${wanted}-${number}`)) number += 1
  return `${wanted}-${number}`
}
