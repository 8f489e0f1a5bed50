// The content model as one immutable value: content-types, components and their attributes. Columns, link tables and flags are resolved
// once when the model is built.

import type { ScalarType } from '../../foundation/public/attribute-types.js'

interface AttributeBase {
  readonly name: string
  /** Never part of a response: `private: true`, or listed in `options.privateAttributes`. */
  readonly private: boolean
  /** True if the attribute has a separate value in every locale; otherwise all locales of a document share it. */
  readonly localized: boolean
  readonly required: boolean
  /** The attribute as in schema.json: constraints, defaults, plugin options. */
  readonly source: AttributeSource
}

/** A value in a column of the type's own table. */
export interface Scalar extends AttributeBase {
  readonly kind: 'scalar'
  readonly type: ScalarType
  readonly column: string
  readonly unique: boolean
  readonly searchable: boolean
  /** True for id, documentId, dates and locale, which are not defined in the schema. */
  readonly system: boolean
}

/** Columns are named from the side of this attribute. */
export type RelationStorage =
  /** A `_lnk` table. `order` sorts the targets of one owner, `inverseOrder` the owners of one target. */
  | {
      readonly kind: 'link'
      readonly table: string
      readonly here: string
      readonly there: string
      readonly order: string | null
      readonly inverseOrder: string | null
      /** True on the side that owns the table; the other side only reads it. */
      readonly owner: boolean
    }
  /** A column of this type's own table contains the target's `references`. */
  | { readonly kind: 'column'; readonly column: string; readonly references: string }
  /** A column of the target's table contains this row's id. */
  | { readonly kind: 'inverseColumn'; readonly column: string }
  /** The rows of the same document in other locales, same publication state. */
  | { readonly kind: 'localizations' }

/** The columns of a link table, seen from one side of it. */
export type LinkStorage = Extract<RelationStorage, { readonly kind: 'link' }>

/** A link table that its relation does not use from this side, because another relation replaces it or it is its own other side. */
export interface SpareLink {
  readonly uid: string
  readonly name: string
  readonly target: string
  readonly storage: LinkStorage
}

export type RelationKind = 'oneToOne' | 'oneToMany' | 'manyToOne' | 'manyToMany' | 'morphToOne' | 'morphToMany' | 'morphOne' | 'morphMany'

/** A relation to one named type. */
export interface Relation extends AttributeBase {
  readonly kind: 'relation'
  readonly relation: RelationKind
  readonly target: string
  readonly many: boolean
  readonly storage: RelationStorage
  /** The attribute of the target for the other side, or null. */
  readonly inverse: string | null
}

/** A polymorphic relation, whose target type is stored in each row (morphToOne, morphToMany). */
export interface MorphTo extends AttributeBase {
  readonly kind: 'morphTo'
  readonly many: boolean
  readonly storage:
    | { readonly kind: 'columns'; readonly id: string; readonly type: string }
    | {
        readonly kind: 'table'
        readonly table: string
        readonly here: string
        readonly id: string
        readonly type: string
        readonly order: string
      }
}

/** The other side of a morphTo (morphOne, morphMany). */
export interface MorphFrom extends AttributeBase {
  readonly kind: 'morphFrom'
  readonly many: boolean
  readonly target: string
  /** The morphTo attribute of the target. */
  readonly by: string
  readonly storage: MorphTo['storage']
}

/** One file or a list of files from the media library, linked through `files_related_mph`. */
export interface Media extends AttributeBase {
  readonly kind: 'media'
  readonly many: boolean
}

export interface ComponentAttribute extends AttributeBase {
  readonly kind: 'component'
  readonly component: string
  readonly repeatable: boolean
}

/** A list of components of several kinds. */
export interface DynamicZone extends AttributeBase {
  readonly kind: 'dynamiczone'
  readonly components: readonly string[]
}

export type Attribute = Scalar | Relation | MorphTo | MorphFrom | Media | ComponentAttribute | DynamicZone

interface SchemaBase {
  readonly uid: string
  readonly table: string
  /** The table `<table>_cmps` for component and dynamic-zone entries; null if there are none. */
  readonly componentTable: string | null
  /** The snake_case name of this side in link tables. */
  readonly linkName: string
  readonly displayName: string
  /** In the order of the schema, system attributes last. Includes private ones. */
  readonly attributes: ReadonlyMap<string, Attribute>
  /** Relations without a table, which Strapi has none for either: `populate` and bodies may name them, without effect. */
  readonly unstored: ReadonlySet<string>
  readonly source: SchemaSource
}

export interface ContentType extends SchemaBase {
  readonly kind: 'contentType'
  readonly singleType: boolean
  readonly singularName: string
  readonly pluralName: string
  readonly draftAndPublish: boolean
  readonly localized: boolean
  /** True for types in `src/api`, which are served at /api/. Types of plugins have their own endpoints. */
  readonly exposed: boolean
}

export interface Component extends SchemaBase {
  readonly kind: 'component'
  readonly category: string
  readonly name: string
}

export type Schema = ContentType | Component

export interface Model {
  /** A hash of the model; part of every plan key. */
  readonly version: string
  readonly types: ReadonlyMap<string, ContentType>
  readonly components: ReadonlyMap<string, Component>
  /** Types by the lower-case name in the path: the plural name of collection types, the singular name of single types. */
  readonly paths: ReadonlyMap<string, ContentType>
  /** Link tables that Strapi creates and no relation uses from the side that creates them. */
  readonly spareLinks: readonly SpareLink[]
  /** Relations without an owner, without a table or with two owners, as sentences; also part of `warnings`. */
  readonly relationRemarks: readonly string[]
  /** Relations to types of plugins that are not available, as `uid.attribute (target)`. They are not attributes of this model. */
  readonly skippedRelations: readonly string[]
  readonly warnings: readonly string[]
}

/** The type of a custom field. A symbol, so that it is not serialized. */
export const fieldType: unique symbol = Symbol('the type of a custom field')

export interface AttributeSource {
  readonly type: string
  readonly [fieldType]?: ScalarType
  readonly [option: string]: unknown
}

/** A content-type or component as in its file, with the uid derived from its path. */
export interface SchemaSource {
  readonly uid: string
  readonly kind: 'collectionType' | 'singleType' | 'component'
  readonly collectionName?: string
  readonly info: {
    readonly singularName?: string
    readonly pluralName?: string
    readonly displayName?: string
    readonly [key: string]: unknown
  }
  readonly options?: { readonly draftAndPublish?: boolean; readonly privateAttributes?: readonly string[]; readonly [key: string]: unknown }
  readonly pluginOptions?: { readonly i18n?: { readonly localized?: boolean }; readonly [key: string]: unknown }
  readonly attributes: Readonly<Record<string, AttributeSource>>
  readonly [key: string]: unknown
}

export type SchemaSources = ReadonlyMap<string, SchemaSource>

/** Exhaustiveness check for switches over a union: a missing case is a compile error. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value ${JSON.stringify(value)}`)
}
