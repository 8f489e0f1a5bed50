// Which schemas own rows of the tables between rows: links of relations, polymorphic links, entries of components.
import { fileType } from './link.js'
import type { Attribute, ContentType, LinkStorage, Model, MorphTo, Relation, Schema } from './types.js'

/** A relation that names a link table, and the schema whose rows own the links. */
export interface OwnedLink {
  readonly shape: Schema
  readonly relation: Relation
  readonly target: ContentType
  readonly storage: LinkStorage
}

/** A polymorphic relation, and the schema whose rows own its links. */
export interface OwnedMorph {
  readonly shape: Schema
  readonly name: string
  readonly storage: MorphTo['storage']
}

/** A schema whose rows hold components. */
export interface ComponentHolder {
  readonly shape: Schema
  readonly componentTable: string
}

/** All content-types and components. */
export const schemasOf = ({ types, components }: Model): readonly Schema[] => [...types.values(), ...components.values()]

/** Every relation that names a link table. */
export function ownedLinks(model: Model): readonly OwnedLink[] {
  return schemasOf(model).flatMap((shape) =>
    [...shape.attributes.values()].flatMap((relation): OwnedLink[] => {
      if (relation.kind !== 'relation' || relation.storage.kind !== 'link' || !relation.storage.owner) return []
      return [{ shape, relation, target: model.types.get(relation.target)!, storage: relation.storage }]
    }),
  )
}

/** The link table of a relation that this side owns; null where it has none. */
export function ownedLink(shape: Schema | undefined, name: string): LinkStorage | null {
  const attribute = shape?.attributes.get(name)
  return attribute?.kind === 'relation' && attribute.storage.kind === 'link' && attribute.storage.owner ? attribute.storage : null
}

/** The link table of a relation of a plugin, which an extension of its schema may give other columns. @throws Error where it has none */
export function linksOf({ types }: Model, uid: string, name: string): LinkStorage {
  const found = ownedLink(types.get(uid), name)
  if (found === null) throw new Error(`${uid}.${name} has no link table; Octavo needs that of the plugin`)
  return found
}

/** Every polymorphic relation, except that of files, whose links are removed with the attributes that hold the files. */
export function ownedMorphs(model: Model): readonly OwnedMorph[] {
  return schemasOf(model)
    .filter(({ uid }) => uid !== fileType)
    .flatMap((shape) =>
      [...shape.attributes.values()].flatMap((attribute) =>
        attribute.kind === 'morphTo' ? [{ shape, name: attribute.name, storage: attribute.storage }] : [],
      ),
    )
}

/** Every schema whose rows hold components. */
export const componentHolders = (model: Model): readonly ComponentHolder[] =>
  schemasOf(model).flatMap((shape) => (shape.componentTable === null ? [] : [{ shape, componentTable: shape.componentTable }]))

/** A relation that is a column of its own table, as a schema asks for it. */
export type ColumnRelation = Relation & { readonly storage: Extract<Relation['storage'], { readonly kind: 'column' }> }

/** Whether a relation is such a column; who created and changed a row is not. */
export const isColumnRelation = (attribute: Attribute): attribute is ColumnRelation =>
  attribute.kind === 'relation' && attribute.storage.kind === 'column' && attribute.source.useJoinTable === false

/** Those of some attributes that are columns. */
export const columnRelations = (attributes: readonly Attribute[]): readonly ColumnRelation[] => attributes.filter(isColumnRelation)
