// Unique attributes: no other document of the type has the value at the same position, in the same locale and publication state, nor does
// another entry of the same list. Also generates uids.
import slugify from '@sindresorhus/slugify'
import { sql } from 'kysely'
import type { RowReader, Transaction } from '../../../database/database.js'
import type { Stored } from '../../../database/portable-sql.js'
import type { ContentType, Model, Scalar } from '../../../model/schema/types.js'
import { toBound, toStored } from '../input/attributes.js'
import { printPath } from '../input/errors.js'
import type { Claim, FindTaken } from '../input/types.js'

/** The version of a document that claims values. */
interface Claimant {
  readonly type: ContentType
  readonly document: string
  readonly locale: string | null
  readonly state: 'published' | 'any'
}

/** Maximum number of values per statement. */
const maxValues = 10_000

/** Finds values that another document, or another entry of the same list, already has. */
export function createFindTaken(transaction: Transaction, model: Model, claimant: Claimant): FindTaken {
  return async (claims) => {
    const said = claims.map(twinKey)
    const counts = new Map<string, number>()
    for (const key of said) counts.set(key, (counts.get(key) ?? 0) + 1)
    const twins = claims.filter((claim, at) => claim.places.length === 1 && counts.get(said[at]!)! > 1)
    const groups = groupByPath(claims).flatMap(toChunks)
    const others = await Promise.all(groups.map((group) => findTakenAt(transaction, model, claimant, group)))
    return new Set([...twins, ...others.flat()].map(({ path }) => printPath(path)))
  }
}

function groupByPath(claims: readonly Claim[]): readonly (readonly Claim[])[] {
  const groups = new Map<string, Claim[]>()
  for (const claim of claims) {
    const key = toPathKey(claim)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [claim])
    else group.push(claim)
  }
  return [...groups.values()]
}

const toChunks = (claims: readonly Claim[]): readonly (readonly Claim[])[] =>
  Array.from({ length: Math.ceil(claims.length / maxValues) }, (_, at) => claims.slice(at * maxValues, (at + 1) * maxValues))

const toPathKey = ({ places, scalar }: Claim): string => JSON.stringify([places, scalar.name])

/** Compares only entries of the document's own lists, not those of lists in components. */
const twinKey = (claim: Claim): string => JSON.stringify([toPathKey(claim), claim.value])

/** Claims at one position that other documents have taken. */
async function findTakenAt(
  transaction: Transaction,
  model: Model,
  { type, document, locale, state }: Claimant,
  claims: readonly Claim[],
): Promise<readonly Claim[]> {
  const { scalar, places } = claims[0]!
  const wanted = claims.flatMap((claim) => {
    const stored = tryToStored(claim)
    return stored === null ? [] : [{ claim, stored }]
  })
  if (wanted.length === 0) return []
  const joins = places.map(({ field, component }, depth) => {
    const above = depth === 0 ? type : model.components.get(places[depth - 1]!.component)!
    const entry = `e${depth}`
    const row = `r${depth + 1}`
    return sql`join ${sql.table(above.componentTable!)} as ${sql.ref(entry)} on ${sql.ref(`${entry}.entity_id`)} = ${sql.ref(`r${depth}.id`)}
      and ${sql.ref(`${entry}.field`)} = ${field} and ${sql.ref(`${entry}.component_type`)} = ${component}
      join ${sql.table(model.components.get(component)!.table)} as ${sql.ref(row)} on ${sql.ref(`${row}.id`)} = ${sql.ref(`${entry}.cmp_id`)}`
  })
  const column = sql.id(`r${places.length}`, scalar.column)
  const find = async (values: readonly Stored[]): Promise<ReadonlySet<string>> => {
    const rows = await transaction.rows<{ value: Stored }>(
      sql`select distinct ${column} as value from ${sql.table(type.table)} as r0 ${joins.length === 0 ? sql`` : sql.join(joins, sql` `)}
      where ${column} in (${sql.join(values.map((value) => toBound(scalar, value)))}) and r0.document_id <> ${document}
      ${type.localized ? sql`and r0.locale = ${locale}` : sql``} ${state === 'published' ? sql`and r0.published_at is not null` : sql``}`,
    )
    return new Set(rows.map(({ value }) => String(value)))
  }
  const found = await find(wanted.map(({ stored }) => stored))
  const taken = wanted.filter(({ stored }) => found.has(String(stored)))
  const named = new Set(taken.map(({ stored }) => String(stored)))
  if (found.size === named.size) return taken.map(({ claim }) => claim)
  // The collation of the database considers more values equal: queries them one by one.
  for (const each of wanted.filter(({ stored }) => !named.has(String(stored)))) if ((await find([each.stored])).size > 0) taken.push(each)
  return taken.map(({ claim }) => claim)
}

/** The stored form; null for a value that storing refuses. */
function tryToStored({ scalar, value }: Claim): Stored {
  try {
    return toStored(scalar, value)
  } catch {
    return null
  }
}

/** Maximum length of a generated uid without its numeric suffix. */
const maxUidCharacters = 240

/** Adds missing uids to `data` (row 12 of the contract); unchanged unless it is an object. */
export async function withGeneratedUids(transaction: Transaction, type: ContentType, data: unknown): Promise<unknown> {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return data
  const given = data as Readonly<Record<string, unknown>>
  const made: Record<string, unknown> = {}
  for (const attribute of type.attributes.values()) {
    if (attribute.kind !== 'scalar' || attribute.type !== 'uid') continue
    if (given[attribute.name] !== undefined && given[attribute.name] !== null) continue
    const target = given[String(attribute.source.targetField)]
    if (typeof target !== 'string' || target === '') continue
    made[attribute.name] = await findAvailableUid(transaction, type, attribute, target)
  }
  return { ...given, ...made }
}

/** Generates an available uid from a text; `own`: a document whose own uids count as available. */
export async function findAvailableUid(
  database: RowReader,
  type: ContentType,
  { column }: Scalar,
  text: string,
  own: string | null = null,
): Promise<string> {
  const wanted = slugify(text).slice(0, maxUidCharacters) || type.singularName
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
