// Refuses changes of the model: tables that two schemas would share, and what hides content that nobody agreed to hide.
import { relative, sep } from 'node:path'
import { describeTables } from '../database/schema/tables.js'
import { ApiError, validationError } from '../errors/errors.js'
import { fileAndPath, mistakesOf, type SchemaMistake, sentenceOf } from '../model/check.js'
import type { Model } from '../model/types.js'
import type { Rename } from '../model-plans/types.js'
import type { ChangeRequest } from './change.js'
import type { CountedContent } from './counted-plan.js'

/** Refuses two schemas with one table, as Strapi would at its next start. @throws ApiError 400 */
export function refuseTakenTables(model: Model): void {
  const taken = new Set<string>()
  for (const { name } of describeTables(model)) {
    if (taken.has(name)) throw new ApiError('ValidationError', `The table ${name} is taken: two schemas or attributes would share it`)
    taken.add(name)
  }
}

/** A message without the folder of the project. */
export const plain = (message: string, folder: string): string => message.replaceAll(`${folder}/`, '')

/** Why the model that a change leads to cannot be loaded, with the places in the body of the request where it has the schema. */
export function unloadable(error: unknown, folder: string, { places = new Map() }: Pick<ChangeRequest, 'places'>): ApiError {
  const inBody = ({ file, path }: SchemaMistake): readonly string[] | null => {
    const place = places.get(relative(folder, file).split(sep).join('/'))
    return place === undefined ? null : [...place, ...path.split('.')]
  }
  const mistakes = mistakesOf(error as Error)
  const errors = mistakes.flatMap((mistake) => {
    const path = inBody(mistake)
    return path === null ? [] : [{ path, message: mistake.message, name: 'ValidationError' }]
  })
  // The file of a new schema is not there yet.
  const said = errors.length === 0 ? (error as Error).message : sentenceOf(mistakes, (one) => inBody(one)?.join('.') ?? fileAndPath(one))
  return validationError(plain(said, folder), errors.length === 0 ? {} : { errors })
}

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
