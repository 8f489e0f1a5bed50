// Relations whose target type is written in each row: as rows of a table of their own, or as two columns.
import { sql } from 'kysely'
import type { Transaction } from '../database/database.js'
import { validationError } from '../errors.js'
import { fileType } from '../model/link.js'
import type { ContentType, Model, MorphTo } from '../model/types.js'
import type { Reference, RelationInput } from './input.js'
import type { Resolving } from './references.js'
import { resolveReferences } from './references.js'
import type { Owner } from './relations.js'
import { insertRows, type Stored, updateRow } from './rows.js'

interface Pointer {
  readonly id: number
  readonly type: string
}

/**
 * Writes what `input` says about `morph` of `owner`.
 * @throws ApiError 400 for a `__type` that is missing or unknown, and for targets that do not exist
 */
export async function writeMorph(
  transaction: Transaction,
  model: Model,
  owner: Owner,
  morph: MorphTo,
  input: RelationInput,
  resolving: Resolving,
): Promise<void> {
  if (input.set === null && input.connect.length === 0 && input.disconnect.length === 0) return
  const resolve = (references: readonly Reference[]) => pointers(transaction, model, morph, references, resolving)
  const wanted = input.set === null ? null : await resolve(input.set)
  const connected = await resolve(input.connect)
  const gone = new Set((await resolve(input.disconnect)).map(keyOf))
  const present = wanted === null ? await pointersOf(transaction, owner, morph) : []
  const rest = present.filter((one) => !gone.has(keyOf(one)) && !connected.some((other) => keyOf(other) === keyOf(one)))
  setPointers(transaction, model, owner, morph, wanted ?? [...rest, ...connected])
}

const keyOf = ({ id, type }: Pointer): string => `${type} ${id}`

async function pointers(
  transaction: Transaction,
  model: Model,
  morph: MorphTo,
  references: readonly Reference[],
  resolving: Resolving,
): Promise<readonly Pointer[]> {
  const found: Pointer[] = []
  for (const reference of references) {
    const target = model.types.get(reference.type ?? '')
    if (target === undefined)
      throw validationError(`Relations of ${morph.name} need a known content-type in __type, got ${JSON.stringify(reference.type ?? null)}`)
    const resolved = await resolveReferences(transaction, target, [reference], resolving)
    found.push(...resolved.flatMap(({ rows }) => rows.map((id) => ({ id, type: target.uid }))))
  }
  return morph.many ? [...new Map(found.map((one) => [keyOf(one), one])).values()] : found.slice(-1)
}

async function pointersOf(transaction: Transaction, owner: Owner, { storage }: MorphTo): Promise<readonly Pointer[]> {
  const [id, type] = [sql.id(storage.id), sql.id(storage.type)]
  if (storage.kind === 'columns') {
    return transaction.rows<Pointer>(
      sql`select ${id} as id, ${type} as type from ${sql.table(owner.shape.table)} where id = ${owner.id} and ${id} is not null`,
    )
  }
  return transaction.rows<Pointer>(
    sql`select ${id} as id, ${type} as type from ${sql.table(storage.table)} where ${sql.id(storage.here)} = ${owner.id} order by ${sql.id(storage.order)}`,
  )
}

function setPointers(transaction: Transaction, model: Model, owner: Owner, { name, storage }: MorphTo, wanted: readonly Pointer[]): void {
  if (storage.kind === 'columns') {
    const last = wanted.at(-1)
    updateRow(transaction, owner.shape.table, owner.id, { [storage.id]: last?.id ?? null, [storage.type]: last?.type ?? null })
    return
  }
  transaction.follow(sql`delete from ${sql.table(storage.table)} where ${sql.id(storage.here)} = ${owner.id}`)
  insertRows(
    transaction,
    storage.table,
    wanted.map(
      ({ id, type }, index): Record<string, Stored> => ({
        [storage.here]: owner.id,
        [storage.id]: id,
        [storage.type]: type,
        field: fieldOf(model.types.get(type)!, owner, name),
        [storage.order]: index + 1,
      }),
    ),
  )
}

/** The attribute of the target that shows the relation from the other side. */
function fieldOf(target: ContentType, owner: Owner, name: string): string | null {
  const back = [...target.attributes.values()].find(
    (attribute) => attribute.kind === 'morphFrom' && attribute.target === owner.shape.uid && attribute.by === name,
  )
  return back?.name ?? null
}

/** Gives `to` the targets that `from` has. */
export async function copyMorphs(
  transaction: Transaction,
  model: Model,
  from: Owner,
  to: Owner,
  morphs: readonly MorphTo[],
): Promise<void> {
  for (const morph of morphs) setPointers(transaction, model, to, morph, await pointersOf(transaction, from, morph))
}

/** Removes what points at rows of `type` that are removed. */
export function forgetPointers(transaction: Transaction, model: Model, type: ContentType, ids: readonly number[]): void {
  for (const { table, storage } of morphsOf(model)) {
    const isGone = sql`${sql.id(storage.id)} in (${sql.join(ids)}) and ${sql.id(storage.type)} = ${type.uid}`
    if (storage.kind === 'table') transaction.follow(sql`delete from ${sql.table(storage.table)} where ${isGone}`)
    else
      transaction.follow(sql`update ${sql.table(table)} set ${sql.id(storage.id)} = null, ${sql.id(storage.type)} = null where ${isGone}`)
  }
}

/** The relations of the model whose targets vary, but for those of files: these are removed with their attributes. */
function morphsOf(model: Model): readonly { readonly table: string; readonly storage: MorphTo['storage'] }[] {
  return [...model.types.values(), ...model.components.values()]
    .filter(({ uid }) => uid !== fileType)
    .flatMap(({ table, attributes }) =>
      [...attributes.values()].flatMap((attribute) => (attribute.kind === 'morphTo' ? [{ table, storage: attribute.storage }] : [])),
    )
}
