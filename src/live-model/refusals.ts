// Refuses changes of the model: names that the database cannot give, and what hides content that nobody agreed to hide.
import { relative, sep } from 'node:path'
import type { DatabaseNames } from '../database/names.js'
import { describeTables } from '../database/schema/tables.js'
import { ApiError, mistakenInput, validationError } from '../errors/errors.js'
import { fileAndPath, mistakesOf, type SchemaMistake, sentenceOf } from '../model/check.js'
import { schemasOf } from '../model/owners.js'
import type { Model } from '../model/types.js'
import type { Rename } from '../model-plans/types.js'
import type { ChangeRequest } from './change.js'
import type { CountedContent } from './counted-plan.js'

/**
 * Refuses names of a new model that the database cannot give: tables that two schemas would share, as Strapi would at its next start, and
 * new names that it has for itself. `path`: where schemas are in the request. @throws ApiError 400
 */
export function refuseNames(from: Model, to: Model, names: DatabaseNames, path: readonly string[]): void {
  const former = new Map(describeTables(from).map(({ name, columns }) => [name, new Set(columns.map((column) => column.name))]))
  const taken = new Set<string>()
  for (const { name, columns } of describeTables(to)) {
    const key = names.tellCaseApart ? name : name.toLowerCase()
    if (taken.has(key)) throw refusedName(to, name, null, `The table ${name} is taken: two schemas or attributes would share it`, path)
    taken.add(key)
    const known = former.get(name)
    if (known === undefined && names.ownTables.test(name))
      throw refusedName(to, name, null, `The table ${name} has a name that the database keeps for itself`, path)
    const own = columns.find((column) => names.ownColumns.has(column.name) && known?.has(column.name) !== true)
    if (own !== undefined)
      throw refusedName(to, name, own.name, `The column ${own.name} has a name that the database keeps for itself`, path)
  }
}

/** The refusal of a table, or of a column of it, with the place of the schema or attribute that has it. */
export function refusedName(model: Model, table: string, column: string | null, message: string, path: readonly string[]): ApiError {
  const schema = schemasOf(model).findLast((each) => each.table === table)
  if (schema === undefined) return new ApiError('ValidationError', message)
  const attribute = [...schema.attributes.values()].find((each) => each.kind === 'scalar' && each.column === column)
  const place = [...path, schema.uid, ...(attribute === undefined ? ['collectionName'] : ['attributes', attribute.name])]
  return mistakenInput([{ path: place, message }])
}

/** The message of an error without the folder of the project. */
export const plain = (error: unknown, folder: string): string => withoutFolder((error as Error).message, folder)

const withoutFolder = (message: string, folder: string): string => message.replaceAll(`${folder}/`, '')

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
  return validationError(withoutFolder(said, folder), errors.length === 0 ? {} : { errors })
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
