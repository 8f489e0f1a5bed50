// What a change of the model hides from readers, and what in it cannot be done while serving. Everything else only adds.

import { describeTables } from '../database/schema/tables.js'
import { schemasOf } from '../model/owners.js'
import type { Attribute, ContentType, Model, Relation, RelationStorage, Schema } from '../model/types.js'

/** Content that no attribute shows any more. It stays in the database and comes back with an attribute or type of the same name. */
export interface Removal {
  /** `api::note.note`, `shared.seo`, `api::note.note.body`, or `api::note.note.parts(shared.quote)` for a component of a dynamic zone. */
  readonly name: string
  /** Where the values are, to count them; null: nowhere of its own. */
  readonly values: StoredValues | null
}

/** Rows of a table; with `column` those that have a value in it. */
export interface StoredValues {
  readonly table: string
  readonly column: string | null
}

/** Something that cannot be done while serving. */
export interface Obstacle {
  /** A sentence without its full stop. */
  readonly message: string
  /** It is none as long as this table has at most so many rows; null: it always is. */
  readonly unless: { readonly table: string; readonly rows: number } | null
}

/** How one model differs from another in what is stored. */
export interface ModelDifferences {
  readonly removals: readonly Removal[]
  readonly obstacles: readonly Obstacle[]
}

/** Compares the models of one project before and after a change. */
export function compareModels(from: Model, to: Model): ModelDifferences {
  const columnTypes = [columnTypesOf(from), columnTypesOf(to)] as const
  const removals: Removal[] = []
  const obstacles: Obstacle[] = []
  const after = new Map(schemasOf(to).map((schema) => [schema.uid, schema]))
  for (const before of schemasOf(from)) {
    const now = after.get(before.uid)
    if (now === undefined || now.kind !== before.kind) {
      removals.push({ name: before.uid, values: { table: before.table, column: null } })
      continue
    }
    obstacles.push(...obstaclesOfSchema(before, now))
    for (const attribute of before.attributes.values()) {
      const next = now.attributes.get(attribute.name)
      if (next === undefined || next.kind !== attribute.kind) {
        if (!isShownByAnother(attribute, now)) removals.push(removalOf(before, attribute))
        continue
      }
      removals.push(...removedComponents(before, attribute, next))
      const message = obstacleBetween(attribute, next)
      if (message !== null) obstacles.push({ message: `${before.uid}.${attribute.name} ${message}`, unless: null })
    }
  }
  obstacles.push(...changedColumns(...columnTypes))
  return { removals, obstacles }
}

type ColumnTypes = ReadonlyMap<string, ReadonlyMap<string, string>>

const columnTypesOf = (model: Model): ColumnTypes =>
  new Map(describeTables(model).map(({ name, columns }) => [name, new Map(columns.map((column) => [column.name, column.type]))]))

/** The columns that are there and would have to hold another kind of values. */
function changedColumns(from: ColumnTypes, to: ColumnTypes): readonly Obstacle[] {
  return [...from].flatMap(([table, columns]) => {
    const next = to.get(table)
    return [...columns].flatMap(([column, type]) => {
      const now = next?.get(column)
      if (now === undefined || now === type) return []
      return [{ message: `${table}.${column} holds ${type} and would have to hold ${now}`, unless: null }]
    })
  })
}

function obstaclesOfSchema(before: Schema, now: Schema): readonly Obstacle[] {
  if (before.table !== now.table)
    return [{ message: `${before.uid} would move from the table ${before.table} to ${now.table}`, unless: null }]
  if (before.kind !== 'contentType' || now.kind !== 'contentType') return []
  const { uid, table } = before
  return [
    ...switched(before, now, 'draftAndPublish', 'Draft & Publish'),
    ...switched(before, now, 'localized', 'localization'),
    ...(now.singleType && !before.singleType
      ? [{ message: `${uid} would become a single type, which has one document`, unless: { table, rows: 1 } }]
      : []),
  ]
}

function switched(before: ContentType, now: ContentType, key: 'draftAndPublish' | 'localized', name: string): readonly Obstacle[] {
  if (before[key] === now[key]) return []
  return [{ message: `${name} of ${before.uid} would be switched ${now[key] ? 'on' : 'off'}`, unless: { table: before.table, rows: 0 } }]
}

/** Whether another attribute of the changed schema has the same column, as `secretCode` and `secret_code` have. */
const isShownByAnother = (attribute: Attribute, now: Schema): boolean =>
  attribute.kind === 'scalar' && [...now.attributes.values()].some((other) => other.kind === 'scalar' && other.column === attribute.column)

function removalOf(schema: Schema, attribute: Attribute): Removal {
  return { name: `${schema.uid}.${attribute.name}`, values: valuesOf(schema, attribute) }
}

function valuesOf({ table }: Schema, attribute: Attribute): StoredValues | null {
  if (attribute.kind === 'scalar') return { table, column: attribute.column }
  if (attribute.kind === 'relation') {
    const { storage } = attribute
    if (storage.kind === 'link') return { table: storage.table, column: storage.there }
    return storage.kind === 'column' ? { table, column: storage.column } : null
  }
  if (attribute.kind !== 'morphTo') return null
  const { storage } = attribute
  return storage.kind === 'columns' ? { table, column: storage.id } : { table: storage.table, column: null }
}

function removedComponents({ uid }: Schema, before: Attribute, now: Attribute): readonly Removal[] {
  if (before.kind !== 'dynamiczone' || now.kind !== 'dynamiczone') return []
  return before.components
    .filter((component) => !now.components.includes(component))
    .map((component) => ({ name: `${uid}.${before.name}(${component})`, values: null }))
}

/** Why an attribute of the same kind cannot become the other while serving; null: it can. */
function obstacleBetween(before: Attribute, now: Attribute): string | null {
  if (before.kind === 'scalar' && now.kind === 'scalar') {
    if (before.column !== now.column) return `would move from the column ${before.column} to ${now.column}`
    // What was readable must not become a password unhashed, nor a hash readable.
    return (before.type === 'password') === (now.type === 'password') ? null : `would change from ${before.type} to ${now.type}`
  }
  if (before.kind === 'component' && now.kind === 'component' && before.component !== now.component)
    return `would change from the component ${before.component} to ${now.component}`
  if (before.kind === 'relation' && now.kind === 'relation') return relationObstacle(before, now)
  if (before.kind === 'morphTo' && now.kind === 'morphTo' && JSON.stringify(before.storage) !== JSON.stringify(now.storage))
    return 'would be stored in another way'
  if (before.kind === 'morphFrom' && now.kind === 'morphFrom' && (before.target !== now.target || before.by !== now.by))
    return 'would refer to another attribute'
  return null
}

function relationObstacle(before: Relation, now: Relation): string | null {
  if (before.target !== now.target) return `would change its target from ${before.target} to ${now.target}`
  if (placeOf(before.storage) !== placeOf(now.storage)) return 'would keep its links in another place'
  return before.many && !now.many ? 'would have one target instead of many' : null
}

/** Where links are: the same for both sides of a relation, whatever they are sorted by. */
function placeOf(storage: RelationStorage): string {
  if (storage.kind !== 'link') return JSON.stringify(storage)
  return JSON.stringify([storage.table, ...[storage.here, storage.there].sort()])
}
