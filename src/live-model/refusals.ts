// Refuses changes of the model: what cannot be loaded or does not fit, what cannot be done while serving, what hides content.
import { sql } from 'kysely'
import type { Database, MainConnection } from '../database/database.js'
import { describeTables } from '../database/schema/tables.js'
import { ApiError } from '../errors/errors.js'
import type { Model } from '../model/types.js'
import { compareModels, type Obstacle, type Removal, type StoredValues } from './compare.js'

/** Content that a change would hide, as a response names it. */
interface HiddenContent {
  readonly name: string
  /** How many values or rows there are; null if they cannot be counted. */
  readonly count: number | null
}

/** Refuses two schemas with one table, as Strapi would at its next start. @throws ApiError 400 */
export function refuseTakenTables(model: Model): void {
  const taken = new Set<string>()
  for (const { name } of describeTables(model)) {
    if (taken.has(name)) throw new ApiError('ValidationError', `The table ${name} is taken: two schemas or attributes would share it`)
    taken.add(name)
  }
}

/** The message of an error without the folder of the project. */
export const plain = (error: unknown, folder: string): string => (error as Error).message.replaceAll(`${folder}/`, '')

/** Refuses what cannot be done while serving, and what hides content without being agreed to. @throws ApiError 409 */
export async function refuseLosses(
  { main, mismatches }: Database,
  { from, to, agreed }: { readonly from: Model; readonly to: Model; readonly agreed: ReadonlySet<string> },
): Promise<void> {
  const { removals, obstacles } = compareModels(from, to)
  const real: string[] = []
  for (const obstacle of obstacles) if (await isReal(main, obstacle)) real.push(obstacle.message)
  if (real.length === 0) {
    // A column that an attribute of earlier days left behind may hold another kind of values.
    const known = new Set((await mismatches(from)).types)
    real.push(...(await mismatches(to)).types.filter((sentence) => !known.has(sentence)))
  }
  if (real.length > 0) {
    throw new ApiError('ConflictError', `This cannot be done while content is there: ${real[0]!}. Nothing was changed`, { obstacles: real })
  }
  const losses: HiddenContent[] = []
  for (const removal of removals) if (!agreed.has(removal.name)) losses.push(await lossOf(main, removal))
  const felt = losses.filter(({ count }) => count !== 0)
  if (felt.length === 0) return
  throw new ApiError(
    'ConflictError',
    `Content would no longer be shown: ${felt.map(({ name, count }) => (count === null ? name : `${name} (${count})`)).join(', ')}. Nothing was changed; send the header octavo-agree with these names to do it`,
    { losses: felt },
  )
}

async function isReal(database: MainConnection, { unless }: Obstacle): Promise<boolean> {
  return unless === null || (await count(database, { table: unless.table, column: null })) > unless.rows
}

const lossOf = async (database: MainConnection, { name, values }: Removal): Promise<HiddenContent> => ({
  name,
  count: values === null ? null : await count(database, values),
})

async function count(database: MainConnection, { table, column }: StoredValues): Promise<number> {
  const counted = column === null ? sql`*` : sql.ref(column)
  const [row] = await database.rows<{ number: number }>(sql`select count(${counted}) as number from ${sql.table(table)}`)
  return Number(row!.number)
}
