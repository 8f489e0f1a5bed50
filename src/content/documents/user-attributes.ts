// Attributes of rows with a separate API (users): validated and stored like those of documents, without drafts and locales.
import { sql } from 'kysely'
import type { RowReader, Transaction } from '../../database/database.js'
import type { Stored } from '../../database/portable-sql.js'
import { takenMessage, validationError } from '../../foundation/errors/errors.js'
import type { Scopes } from '../../foundation/grants.js'
import { hasConditions } from '../../model/schema/conditions.js'
import type { ContentType, Model } from '../../model/schema/types.js'
import { printPath } from './input/errors.js'
import { attributeErrors } from './input/input.js'
import type { Body, Claim, Input } from './input/types.js'
import { removeRows } from './publish/publish.js'
import { writeBelow } from './store/components.js'
import type { RowContext } from './store/row-context.js'
import { createFindTaken } from './store/unique.js'

export interface AttributeWriting {
  readonly transaction: Transaction
  readonly model: Model
  /** Locale of relation targets. */
  readonly defaultLocale: string
  readonly hashPassword: (password: string) => Promise<string>
  /** Scopes of the caller. */
  readonly scopes: Scopes
}

const toRowContext = ({ transaction, model, defaultLocale, hashPassword }: AttributeWriting, shown: unknown): RowContext => ({
  transaction,
  model,
  hashPassword,
  targetSide: 'published',
  isDraftWrite: false,
  createdRows: new Map(),
  inverses: new Map(),
  resolving: { locale: null, defaultLocale, side: 'both', hidden: null, shown },
})

/**
 * Writes relations, components and media of a row.
 * @throws ApiError 400 for missing targets, and for relations to types with a scope, which are written from the other side
 */
export async function writeAttributes(to: AttributeWriting, type: ContentType, id: number, input: Input, isNew: boolean): Promise<void> {
  if (to.scopes.size > 0) refuseScoped(to.scopes, input)
  await writeBelow(toRowContext(to, input.checked), { shape: type, id }, input, isNew)
}

/** Stored values of a row for conditions; null if its type has none. */
export async function valuesForConditions(database: RowReader, model: Model, type: ContentType, id: number): Promise<Body | null> {
  if (!hasConditions(model, type)) return null
  const [row] = await database.rows<Record<string, Stored>>(sql`select * from ${sql.table(type.table)} where id = ${id}`)
  if (row === undefined) return null
  const scalars = [...type.attributes.values()].filter((attribute) => attribute.kind === 'scalar')
  const shownValue = (value: Stored | undefined, isFlag: boolean) =>
    isFlag && value !== null && value !== undefined ? Boolean(value) : value
  return Object.fromEntries(scalars.map((scalar) => [scalar.name, shownValue(row[scalar.column], scalar.type === 'boolean')]))
}

function refuseScoped(scopes: Scopes, { relations, components, zones }: Input): void {
  for (const [attribute] of relations) {
    if (attribute.kind === 'morphTo' || scopes.has(attribute.target))
      throw validationError(`Invalid key ${attribute.name}`, { key: attribute.name, path: null, source: 'body' })
  }
  for (const { input } of [...components.values(), ...zones.values()].flat()) refuseScoped(scopes, input)
}

/** @throws ApiError 400 if another document than `documentId` has one of the unique values */
export async function checkUniqueAttributes(
  { transaction, model }: AttributeWriting,
  type: ContentType,
  document: string,
  input: Input,
): Promise<void> {
  const claims = [...input.scalars].flatMap(([scalar, stored]): Claim[] => {
    if (!scalar.unique || stored === null || stored === '') return []
    return [{ path: [scalar.name], scalar, value: input.checked[scalar.name] ?? stored, places: [] }]
  })
  const taken = await createFindTaken(transaction, model, { type, document, locale: null, state: 'any' })(claims)
  const errors = claims.filter(({ path }) => taken.has(printPath(path)))
  if (errors.length > 0)
    throw attributeErrors(errors.map(({ path, value }) => ({ path, message: takenMessage, issue: { code: 'unique' }, value })))
}

/** Removes a row with its components and links. */
export async function removeRow(from: AttributeWriting, type: ContentType, id: number): Promise<void> {
  await removeRows(toRowContext(from, null), type, [id])
}
