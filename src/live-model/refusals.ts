// Refuses changes of the model: tables that two schemas would share, and what hides content that nobody agreed to hide.
import { describeTables } from '../database/schema/tables.js'
import { ApiError } from '../errors/errors.js'
import type { Model } from '../model/types.js'
import type { Rename } from '../model-plans/types.js'
import type { CountedContent } from './counted-plan.js'

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

/** Content by its names, with counts: `api::note.note.body (12)`. */
export const named = (contents: readonly Pick<CountedContent, 'name' | 'count'>[]): string =>
  contents.map(({ name, count }) => `${name} (${count})`).join(', ')

/** A rename as people write it: `api::note.note.body=text`, or two uids. */
export const renameText = (rename: Rename): string => `${rename.kind === 'attribute' ? `${rename.schema}.` : ''}${rename.from}=${rename.to}`

/** Refuses what hides content without being agreed to; `renames`: what it may be meant as. @throws ApiError 409 */
export function refuseLosses(losses: readonly CountedContent[], agreed: ReadonlySet<string>, renames: readonly Rename[]): void {
  const left = losses.filter(({ name }) => !agreed.has(name)).map(({ name, about, count }) => ({ name, about, count }))
  if (left.length === 0) return
  throw new ApiError(
    'ConflictError',
    `Content would no longer be shown: ${named(left)}. Nothing was changed; send the header octavo-agree with these names to do it${renames.length === 0 ? '' : `, or declare what is renamed: ${renames.map(renameText).join(', ')}`}`,
    { losses: left, ...(renames.length === 0 ? {} : { possibleRenames: renames }) },
  )
}
