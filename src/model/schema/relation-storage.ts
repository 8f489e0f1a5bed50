// Storage of relations by Strapi's rule: a relation with `inversedBy`, or with neither key, creates the table, and shares it with the
// attribute that `inversedBy` names. `mappedBy` only prevents a table. If several share one, the last in loading order counts.
import * as names from './names.js'
import type { AttributeSource, LinkStorage, RelationKind, RelationStorage, SchemaSource, SchemaSources, SpareLink } from './types.js'

/** The storage of a relation, and the attribute of its target for the same links. */
interface StoredRelation {
  readonly storage: RelationStorage
  readonly inverse: string | null
}

export interface RelationStorages {
  /** Null: the relation has no table. */
  get(uid: string, name: string): StoredRelation | null
  readonly spare: readonly SpareLink[]
  /** Relations without a table and unused tables, as sentences. */
  readonly remarks: readonly string[]
}

export const ownTable = (schema: SchemaSource): string => names.tableName(names.collectionName(schema))

/** The name of this side in link tables: the singular name of a type, or the file name of a component. */
export const linkName = (schema: SchemaSource): string =>
  schema.kind === 'component' ? schema.uid.slice(schema.uid.indexOf('.') + 1) : (schema.info.singularName ?? schema.uid)

interface RelationSide {
  readonly schema: SchemaSource
  readonly name: string
  readonly source: AttributeSource
  readonly target: SchemaSource
}

/** A column takes precedence over a table. */
interface StorageCandidates {
  column?: StoredRelation
  link?: StoredRelation
}

/** `schemas` are in loading order. */
export function storeRelations(schemas: readonly SchemaSource[], sources: SchemaSources): RelationStorages {
  const sides = schemas.flatMap((schema) => getSides(schema, sources))
  const byPath = new Map(sides.map((side) => [getPath(side), side]))
  const given = new Map<string, StorageCandidates>()
  const made: SpareLink[] = []
  const give = (path: string, relation: StoredRelation): void => {
    const kind = relation.storage.kind === 'link' ? 'link' : 'column'
    given.set(path, { ...given.get(path), [kind]: relation })
  }
  for (const side of sides) {
    const storage = isOwner(side) ? ownedStorage(side) : null
    if (storage === null) continue
    const other = otherSide(side, side.source.inversedBy, byPath)
    const path = getPath(side)
    give(path, { storage, inverse: other?.name ?? null })
    if (storage.kind === 'link') made.push({ uid: side.schema.uid, name: side.name, target: side.target.uid, storage })
    if (other === side) give(path, { storage: { ...(invertStorage(storage) as LinkStorage), owner: true }, inverse: side.name })
    else if (other !== null) give(getPath(other), { storage: invertStorage(storage), inverse: side.name })
  }
  const counting = new Map([...given].map(([path, { column, link }]) => [path, (column ?? link)!]))
  // Strapi omits these, although they can be shown: the links of the other side, without an order.
  const shown = new Map<string, StoredRelation>()
  for (const side of sides) {
    const owner = otherSide(side, side.source.mappedBy, byPath)
    const theirs = owner === null ? undefined : counting.get(getPath(owner))?.storage
    if (owner !== null && theirs !== undefined && isOwned(theirs) && !counting.has(getPath(side)))
      shown.set(getPath(side), { storage: invertStorage(theirs), inverse: owner.name })
  }
  const of = (path: string): StoredRelation | null => counting.get(path) ?? shown.get(path) ?? null
  const spare = made.filter(({ uid, name, storage }) => {
    const used = of(`${uid}.${name}`)!.storage
    return used.kind !== 'link' || used.table !== storage.table || used.here !== storage.here
  })
  return {
    get: (uid, name) => withInverse(byPath.get(`${uid}.${name}`), of),
    spare,
    remarks: [
      ...sides.filter((side) => of(getPath(side)) === null).map(missingTableRemark),
      ...spare
        .filter(({ uid, name, storage }) => storageName(of(`${uid}.${name}`)!.storage) !== storage.table)
        .map((link) => unusedTableRemark(link, of, byPath)),
      ...sides.flatMap((side) => twoOwnersRemarks(side, of, byPath)),
    ],
  }
}

const getPath = ({ schema, name }: Pick<RelationSide, 'schema' | 'name'>): string => `${schema.uid}.${name}`

function getSides(schema: SchemaSource, sources: SchemaSources): readonly RelationSide[] {
  return Object.entries(schema.attributes).flatMap(([name, source]) => {
    const target = source.type === 'relation' && isPlain(source.relation) ? sources.get(String(source.target)) : undefined
    return target === undefined ? [] : [{ schema, name, source, target }]
  })
}

const isPlain = (relation: unknown): relation is RelationKind => typeof relation === 'string' && !relation.startsWith('morph')

const isNamed = (name: unknown): name is string => typeof name === 'string' && name !== ''

/** As in Strapi, an empty `mappedBy` counts. */
const isOwner = ({ source }: RelationSide): boolean =>
  source.relation === 'manyToOne' || Object.hasOwn(source, 'inversedBy') || !Object.hasOwn(source, 'mappedBy')

/** Null unless that attribute refers back. */
function otherSide({ schema, target }: RelationSide, name: unknown, sides: ReadonlyMap<string, RelationSide>): RelationSide | null {
  const other = isNamed(name) ? sides.get(`${target.uid}.${name}`) : undefined
  return other?.target.uid === schema.uid ? other : null
}

const isOwned = (storage: RelationStorage): boolean => storage.kind === 'column' || (storage.kind === 'link' && storage.owner)

/** An inverse with other links is dropped. */
function withInverse(side: RelationSide | undefined, of: (path: string) => StoredRelation | null): StoredRelation | null {
  if (side === undefined) return null
  const stored = of(getPath(side))
  if (stored === null || stored.inverse === null) return stored
  const theirs = of(`${side.target.uid}.${stored.inverse}`)?.storage
  return theirs !== undefined && storageName(theirs) === storageName(stored.storage) ? stored : { ...stored, inverse: null }
}

const storageName = (storage: RelationStorage): string =>
  storage.kind === 'link' ? storage.table : storage.kind === 'localizations' ? '' : `.${storage.column}`

function invertStorage(storage: RelationStorage): RelationStorage {
  if (storage.kind === 'column') return { kind: 'inverseColumn', column: storage.column }
  if (storage.kind !== 'link') return storage
  const { here, there, order, inverseOrder } = storage
  return { ...storage, here: there, there: here, order: inverseOrder, inverseOrder: order, owner: false }
}

/** Custom names for a link table. Strapi 5.54 neither creates nor reads such tables; the names are used as written. */
interface JoinTable {
  readonly name?: string
  readonly joinColumn?: { readonly name?: string }
  readonly inverseJoinColumn?: { readonly name?: string }
  readonly orderColumnName?: string
  readonly inverseOrderColumnName?: string
}

/** With Strapi's names (decision 001); null if Strapi creates none. */
function ownedStorage({ schema, name, source, target }: RelationSide): RelationStorage | null {
  const { relation } = source
  const toMany = relation === 'oneToMany' || relation === 'manyToMany'
  if (source.useJoinTable === false) {
    if (toMany) return null
    const joinColumn = source.joinColumn as { name?: string; referencedColumn?: string } | undefined
    return { kind: 'column', column: joinColumn?.name ?? names.idColumn(name), references: joinColumn?.referencedColumn ?? 'id' }
  }
  const [ours, theirs] = [linkName(schema), linkName(target)]
  const here = names.idColumn(ours)
  const there = names.idColumn(theirs) === here ? names.inverseIdColumn(theirs) : names.idColumn(theirs)
  const fromMany = isNamed(source.inversedBy) && (relation === 'manyToOne' || relation === 'manyToMany')
  const order = toMany ? names.orderColumn(theirs) : null
  const inverseName = names.orderColumn(ours)
  const inverseOrder = fromMany ? (inverseName === order ? names.inverseOrderColumn(ours) : inverseName) : null
  const custom = source.joinTable as JoinTable | undefined
  return {
    kind: 'link',
    table: custom?.name ?? names.linkTable(ownTable(schema), name),
    here: custom?.joinColumn?.name ?? here,
    there: custom?.inverseJoinColumn?.name ?? there,
    order: custom === undefined ? order : (custom.orderColumnName ?? null),
    inverseOrder: custom === undefined ? inverseOrder : (custom.inverseOrderColumnName ?? null),
    owner: true,
  }
}

function missingTableRemark(side: RelationSide): string {
  const path = getPath(side)
  const consequence = 'it is left out of responses, and bodies cannot set it'
  if (isOwner(side)) return `${path} has no table: useJoinTable: false is for oneToOne and manyToOne; ${consequence}`
  const { mappedBy } = side.source
  return `${path} has no owner: it has mappedBy, and no attribute of ${side.target.uid} has inversedBy: "${side.name}"; ${consequence}. Write inversedBy instead of mappedBy on one side (${path}, or "${String(mappedBy)}" of ${side.target.uid})`
}

function unusedTableRemark(
  { uid, name, storage }: SpareLink,
  of: (path: string) => StoredRelation | null,
  sides: ReadonlyMap<string, RelationSide>,
): string {
  const path = `${uid}.${name}`
  const used = of(path)!
  const other = `${sides.get(path)!.target.uid}.${used.inverse ?? ''}`
  return `${path} has two owners, itself and ${other}: ${describeStorage(used.storage)} counts, and the table ${storage.table} is not used. Write mappedBy: "${used.inverse ?? ''}" for ${path}, without inversedBy`
}

/** An owner whose other side uses the links of another owner. */
function twoOwnersRemarks(
  side: RelationSide,
  of: (path: string) => StoredRelation | null,
  sides: ReadonlyMap<string, RelationSide>,
): readonly string[] {
  const other = otherSide(side, side.source.inversedBy, sides)
  const own = of(getPath(side))
  const seen = other === null ? null : of(getPath(other))
  if (other === null || other === side || own === null || seen === null) return []
  const isUsed = isOwned(own.storage) && seen.inverse !== side.name && !isOwned(seen.storage)
  if (!isUsed) return []
  const counting = `${side.schema.uid}.${seen.inverse ?? ''}`
  return [
    `${getPath(other)} has two owners, ${getPath(side)} and ${counting}: ${describeStorage(seen.storage)} counts. Write inversedBy: "${other.name}" for one of them only`,
  ]
}

const describeStorage = (storage: RelationStorage): string =>
  storage.kind === 'link' ? `the table ${storage.table}` : `the column ${(storage as { readonly column: string }).column}`
