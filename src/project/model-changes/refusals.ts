// Refuses model changes: names that the database cannot use, and losses of content without consent.
import { relative, sep } from 'node:path'
import type { DatabaseNames } from '../../database/database.js'
import { ApiError, ConfigError, mistakenInput, validationError } from '../../foundation/errors/errors.js'
import type { Rename } from '../../model/diff/types.js'
import { describeFaults, fileAndPath, getFaults, type SchemaFault } from '../../model/schema/check.js'
import { allSchemas } from '../../model/schema/graph.js'
import type { Model } from '../../model/schema/types.js'
import type { Table } from '../../model/tables/table.js'
import { describeTables } from '../../model/tables/tables.js'
import type { ChangeRequest } from './change.js'
import type { CountedContent } from './counted-plan.js'

/** A table, or one of its columns, with a refused name. */
interface RefusedName {
  readonly table: string
  readonly column: string | null
  readonly message: string
}

/** The first of `tables` with the name of another one, or with a new name that the database reserves; null: none. */
function refusedNameOf(
  tables: readonly Table[],
  former: ReadonlyMap<string, ReadonlySet<string>>,
  names: DatabaseNames,
): RefusedName | null {
  const taken = new Set<string>()
  for (const { name: table, columns } of tables) {
    const key = names.areCaseSensitive ? table : table.toLowerCase()
    if (taken.has(key)) return { table, column: null, message: `The table ${table} is taken: two schemas or attributes would share it` }
    taken.add(key)
    const known = former.get(table)
    if (known === undefined && names.isReservedTable(table))
      return { table, column: null, message: `The table ${table} has a name that the database keeps for itself` }
    const own = columns.find((column) => names.reservedColumns.has(column.name) && known?.has(column.name) !== true)
    if (own !== undefined)
      return { table, column: own.name, message: `The column ${own.name} has a name that the database keeps for itself` }
  }
  return null
}

/**
 * Refuses invalid names of a new model: tables shared by two schemas, as Strapi would on its next start, and new names that the database
 * reserves. `path`: location of schemas in the request. @throws ApiError 400
 */
export function refuseNames(from: Model, to: Model, names: DatabaseNames, path: readonly string[]): void {
  const former = new Map(describeTables(from).map(({ name, columns }) => [name, new Set(columns.map((column) => column.name))]))
  const refused = refusedNameOf(describeTables(to), former, names)
  if (refused !== null) throw refusedName(to, refused.table, refused.column, refused.message, path)
}

/** Like `refuseNames`, for the tables that a first start creates. @throws ConfigError */
export function refuseNewNames(model: Model, names: DatabaseNames, has: (table: string) => boolean): void {
  const lacking = describeTables(model).filter(({ name }) => !has(name))
  const refused = refusedNameOf(lacking, new Map(), names)
  if (refused === null) return
  const place = placeOf(model, refused.table, refused.column)
  throw new ConfigError(`${place === null ? '' : `${place.join('.')}: `}${refused.message}`)
}

/** The error for a table or column, located at its schema or attribute. */
export function refusedName(model: Model, table: string, column: string | null, message: string, path: readonly string[]): ApiError {
  const place = placeOf(model, table, column)
  return place === null ? new ApiError('ValidationError', message) : mistakenInput([{ path: [...path, ...place], message }])
}

/** The schema and attribute of a table or column; null: the table belongs to no schema. */
function placeOf(model: Model, table: string, column: string | null): readonly string[] | null {
  const schema = allSchemas(model).findLast((each) => each.table === table)
  if (schema === undefined) return null
  const attribute = [...schema.attributes.values()].find((each) => each.kind === 'scalar' && each.column === column)
  return [schema.uid, ...(attribute === undefined ? ['collectionName'] : ['attributes', attribute.name])]
}

/** The message of an error without the project's folder. */
export const plain = (error: unknown, folder: string): string => withoutFolder((error as Error).message, folder)

const withoutFolder = (message: string, folder: string): string => message.replaceAll(`${folder}/`, '')

/** The error for a model that cannot be loaded, located in the request body where possible. */
export function unloadable(error: unknown, folder: string, { places = new Map() }: Pick<ChangeRequest, 'places'>): ApiError {
  const inBody = ({ file, path }: SchemaFault): readonly string[] | null => {
    const place = places.get(relative(folder, file).split(sep).join('/'))
    return place === undefined ? null : [...place, ...path.split('.')]
  }
  const mistakes = getFaults(error as Error)
  const errors = mistakes.flatMap((mistake) => {
    const path = inBody(mistake)
    return path === null ? [] : [{ path, message: mistake.message }]
  })
  // The file of a new schema does not exist yet.
  const said =
    errors.length === 0 ? (error as Error).message : describeFaults(mistakes, (one) => inBody(one)?.join('.') ?? fileAndPath(one))
  const message = withoutFolder(said, folder)
  return errors.length === 0 ? validationError(message) : mistakenInput(errors).reworded(message)
}

/** Content by name, with counts: `api::note.note.body (12)`. */
export const named = (contents: readonly Pick<CountedContent, 'name' | 'count'>[]): string =>
  contents.map(({ name, count }) => `${name} (${count})`).join(', ')

/** A rename as users write it: `api::note.note.body=text`, or two uids. */
export const renameText = (rename: Rename): string => `${rename.kind === 'attribute' ? `${rename.schema}.` : ''}${rename.from}=${rename.to}`

/** Refuses losses without consent; `renames`: possible intentions. @throws ApiError 409 */
export function refuseLosses(losses: readonly CountedContent[], agreed: ReadonlySet<string>, renames: readonly Rename[]): void {
  const left = losses.filter(({ name }) => !agreed.has(name)).map(({ name, about, count }) => ({ name, about, count }))
  if (left.length === 0) return
  throw new ApiError(
    'ConflictError',
    `Content would no longer be shown: ${named(left)}. Nothing was changed; send the header octavo-agree with these names to do it${renames.length === 0 ? '' : `, or declare renames: ${renames.map(renameText).join(', ')}`}`,
    { losses: left, ...(renames.length === 0 ? {} : { possibleRenames: renames }) },
  )
}
