// What content is: the vocabulary of content-types, components and their attributes, as one immutable value.
// Everything that later rooms need about a name (column, link table, localized, private) is resolved here, once.

/** The scalar attribute types of schema.json, one row each in attributes.ts. */
export type ScalarType =
  | 'string'
  | 'text'
  | 'richtext'
  | 'email'
  | 'uid'
  | 'enumeration'
  | 'password'
  | 'integer'
  | 'biginteger'
  | 'float'
  | 'decimal'
  | 'boolean'
  | 'date'
  | 'time'
  | 'datetime'
  | 'timestamp'
  | 'json'
  | 'blocks'

/** What every attribute carries: its name in the API and who may see it. */
interface AttributeBase {
  readonly name: string
  /** Never leaves the server: `private: true`, or named by `options.privateAttributes`. */
  readonly private: boolean
  /** Has its own value in every locale; shared between the locales of a document otherwise. */
  readonly localized: boolean
  readonly required: boolean
  /** The attribute as schema.json wrote it: constraints, defaults, plugin options. */
  readonly source: AttributeSource
}

/** A value in a column of the type's own table. */
export interface Scalar extends AttributeBase {
  readonly kind: 'scalar'
  readonly type: ScalarType
  readonly column: string
  readonly unique: boolean
  readonly searchable: boolean
  /** id, documentId, dates and locale: made by the service, not by the author of the schema. */
  readonly system: boolean
}

/** Where the pairs of a relation stand. Every column is seen from the side that owns the attribute. */
export type Storage =
  /** A `_lnk` table. `order` sorts the targets of one owner, `inverseOrder` the owners of one target. */
  | {
      readonly kind: 'link'
      readonly table: string
      readonly here: string
      readonly there: string
      readonly order: string | null
      readonly inverseOrder: string | null
      /** True on the side that names the table; the other side only reads it. */
      readonly owner: boolean
    }
  /** A column of this type's own table holds the target's `references`. */
  | { readonly kind: 'column'; readonly column: string; readonly references: string }
  /** A column of the target's table holds this row's id. */
  | { readonly kind: 'inverseColumn'; readonly column: string }
  /** The rows of the same document in other locales, same publication state. */
  | { readonly kind: 'localizations' }

export type RelationKind = 'oneToOne' | 'oneToMany' | 'manyToOne' | 'manyToMany' | 'morphToOne' | 'morphToMany' | 'morphOne' | 'morphMany'

/** A relation to one named type. */
export interface Relation extends AttributeBase {
  readonly kind: 'relation'
  readonly relation: RelationKind
  readonly target: string
  readonly many: boolean
  readonly storage: Storage
  /** The attribute of the target that shows the same pairs from the other side, if there is one. */
  readonly inverse: string | null
}

/** A relation whose target type is written in each row (morphToOne, morphToMany). */
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

/** A component, or a list of one component. */
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

/** The part that content-types and components have in common: a table with attributes. */
interface Shape {
  readonly uid: string
  readonly table: string
  /** `<table>_cmps`, where component and zone attributes keep their entries; null where there are none. */
  readonly componentTable: string | null
  /** snake_case name that link tables use for this side. */
  readonly linkName: string
  readonly displayName: string
  /** In the order of the schema, system attributes last. Includes private ones. */
  readonly attributes: ReadonlyMap<string, Attribute>
  readonly source: SchemaSource
}

export interface ContentType extends Shape {
  readonly kind: 'contentType'
  readonly singleType: boolean
  readonly singularName: string
  readonly pluralName: string
  readonly draftAndPublish: boolean
  readonly localized: boolean
  /** Served under /api/: types of `src/api`. Plugin types have endpoints of their own. */
  readonly exposed: boolean
}

export interface Component extends Shape {
  readonly kind: 'component'
  readonly category: string
  readonly name: string
}

/** The whole content model. Never changed: a new model is built beside it and swapped in. */
export interface Model {
  /** Different for every model that is not the same: part of the key of every cached plan. */
  readonly version: string
  readonly types: ReadonlyMap<string, ContentType>
  readonly components: ReadonlyMap<string, Component>
  /** Types by the lower-case name in the path: the plural name of collection types, the singular name of single types. */
  readonly paths: ReadonlyMap<string, ContentType>
  /** Relations to types of plugins that are not here, as `uid.attribute (target)`: no attributes of this model. */
  readonly leftOut: readonly string[]
  /** What may be a mistake in the schemas, as sentences. */
  readonly warnings: readonly string[]
}

/** An attribute as schema.json writes it. */
export interface AttributeSource {
  readonly type: string
  readonly [option: string]: unknown
}

/** A content-type or component as its file writes it, with the uid that its place gives it. */
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

/** Exhaustiveness check for switches over a union: the compiler complains when a case is missing. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value ${JSON.stringify(value)}`)
}
