// Traversal of the model: components of schemas, and owners of the tables between rows.
import { attributeTypes } from '../types/attribute-types.js'
import { fileType } from './link.js'
import type { Attribute, Component, ContentType, LinkStorage, Model, MorphTo, Relation, Scalar, Schema } from './types.js'

/** Empty unless it is a component attribute or a dynamic zone. */
export function getComponents(model: Model, attribute: Attribute): readonly Component[] {
  if (attribute.kind === 'component') return [model.components.get(attribute.component)!]
  return attribute.kind === 'dynamiczone' ? attribute.components.map((uid) => model.components.get(uid)!) : []
}

/** The schema and all components below it. */
export function collectSchemas(model: Model, shape: Schema): readonly Schema[] {
  const found = new Set<Schema>([shape])
  for (const one of found)
    for (const attribute of one.attributes.values()) for (const component of getComponents(model, attribute)) found.add(component)
  return [...found]
}

/** A relation that owns a link table, with its schema. */
export interface OwnedLink {
  readonly shape: Schema
  readonly relation: Relation
  readonly target: ContentType
  readonly storage: LinkStorage
}

/** A polymorphic relation with its schema. */
export interface OwnedMorph {
  readonly shape: Schema
  readonly name: string
  readonly storage: MorphTo['storage']
}

export interface ComponentHolder {
  readonly shape: Schema
  readonly componentTable: string
}

/** All content-types and components. */
export const allSchemas = ({ types, components }: Model): readonly Schema[] => [...types.values(), ...components.values()]

export function ownedLinks(model: Model): readonly OwnedLink[] {
  return allSchemas(model).flatMap((shape) =>
    [...shape.attributes.values()].flatMap((relation): OwnedLink[] => {
      if (relation.kind !== 'relation' || relation.storage.kind !== 'link' || !relation.storage.owner) return []
      return [{ shape, relation, target: model.types.get(relation.target)!, storage: relation.storage }]
    }),
  )
}

/** Null unless this side owns a link table. */
export function ownedLink(shape: Schema | undefined, name: string): LinkStorage | null {
  const attribute = shape?.attributes.get(name)
  return attribute?.kind === 'relation' && attribute.storage.kind === 'link' && attribute.storage.owner ? attribute.storage : null
}

/** The link table of a plugin's relation; an extension may rename its columns. @throws Error if there is none */
export function getPluginLinks({ types }: Model, uid: string, name: string): LinkStorage {
  const found = ownedLink(types.get(uid), name)
  if (found === null) throw new Error(`${uid}.${name} has no link table; Octavo needs that of the plugin`)
  return found
}

/** Except that of files, whose links are removed with the attributes that hold the files. */
export function ownedMorphs(model: Model): readonly OwnedMorph[] {
  return allSchemas(model)
    .filter(({ uid }) => uid !== fileType)
    .flatMap((shape) =>
      [...shape.attributes.values()].flatMap((attribute) =>
        attribute.kind === 'morphTo' ? [{ shape, name: attribute.name, storage: attribute.storage }] : [],
      ),
    )
}

export const componentHolders = (model: Model): readonly ComponentHolder[] =>
  allSchemas(model).flatMap((shape) => (shape.componentTable === null ? [] : [{ shape, componentTable: shape.componentTable }]))

/** A relation with `useJoinTable: false`, stored in a column of the schema's table. */
export type ColumnRelation = Relation & { readonly storage: Extract<Relation['storage'], { readonly kind: 'column' }> }

/** Excludes the creator and editor of a row. */
export const isColumnRelation = (attribute: Attribute): attribute is ColumnRelation =>
  attribute.kind === 'relation' && attribute.storage.kind === 'column' && attribute.source.useJoinTable === false

export const columnRelations = (attributes: readonly Attribute[]): readonly ColumnRelation[] => attributes.filter(isColumnRelation)

/** Booleans are not selective, the id has its own index, and the locale is the first column of others. */
export const isWorthAnIndex = ({ type, name }: Scalar): boolean =>
  attributeTypes[type].isLong !== true && type !== 'password' && type !== 'boolean' && name !== 'id' && name !== 'locale'
