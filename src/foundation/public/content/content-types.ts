// What `octavo types` writes for a project: one shape for each content-type and component, and the interface that collects them.

/**
 * The content-types of the project by uid. Empty here; the file that `octavo types` writes fills it, and the client, scripts and hooks are
 * typed by it from then on.
 */
// biome-ignore lint/suspicious/noEmptyInterface: generated files add to it
export interface ContentTypes {}

/** Common parts of content-types and components. */
export interface ContentShape {
  readonly uid: string
  /** Attributes of a published version without `populate`. */
  readonly fields: object
  /** Attributes for `populate`: relations, media, components and dynamic zones. */
  readonly links: object
  readonly filters: object
}

/** A content-type. */
export interface ContentTypeShape extends ContentShape {
  readonly kind: 'collectionType' | 'singleType'
  /** Its name in the URL: the plural name of a collection type, the singular name of a single type. */
  readonly path: string
  /** True if it has Draft & Publish. */
  readonly drafts: boolean
  /** Attributes to create a published version with. */
  readonly input: object
  /** Attributes to create or change a draft with. */
  readonly draftInput: object
  /** The data of a write before validation: hooks may read any value, and assign valid ones. */
  readonly hookData: object
  /** The project's defaults of reads (`types` in octavo.config). */
  readonly defaults: object
}

/** A relation to one document. */
export interface ToOne<Target> {
  readonly link: 'relation'
  readonly many: false
  readonly target: Target
}

/** A relation to many documents. */
export interface ToMany<Target> {
  readonly link: 'relation'
  readonly many: true
  readonly target: Target
}

/** One file. */
export interface OneFile<Target> {
  readonly link: 'media'
  readonly many: false
  readonly target: Target
}

/** A list of files. */
export interface ManyFiles<Target> {
  readonly link: 'media'
  readonly many: true
  readonly target: Target
}

/** One component, or null. */
export interface OneComponent<Target> {
  readonly link: 'component'
  readonly many: false
  readonly target: Target
}

/** One component that every published version has. */
export interface RequiredComponent<Target> extends OneComponent<Target> {
  readonly required: true
}

/** A list of one component. */
export interface ManyComponents<Target> {
  readonly link: 'component'
  readonly many: true
  readonly target: Target
}

/** A list of components of several kinds: `Target` is the union of them. */
export interface ZoneOf<Target> {
  readonly link: 'zone'
  readonly many: true
  readonly target: Target
}

/** A relation to one document of any of several types: `Target` is the union of them. */
export interface ToAny<Target> {
  readonly link: 'any'
  readonly many: false
  readonly target: Target
}

/** A relation to many documents of several types: `Target` is the union of them. */
export interface ToManyOfAny<Target> {
  readonly link: 'any'
  readonly many: true
  readonly target: Target
}

/** The uids of the project's content-types. */
export type Uid = keyof ContentTypes & string

/** The shape of a content-type, named by its uid or given as it is. */
export type ShapeOf<Type> = Type extends ContentShape
  ? Type
  : Type extends keyof ContentTypes
    ? Extract<ContentTypes[Type], ContentShape>
    : never

/** The content-types of one kind, exposed by the API, by their names in URLs. */
export type ByPath<Types, Kind> = {
  [Type in keyof Types as Types[Type] extends {
    readonly kind: Kind
    readonly path: infer Path extends string
    readonly uid: `api::${string}`
  }
    ? Path
    : never]: Extract<Types[Type], ContentTypeShape>
}

/** The names in URLs of one kind; any if the project has not been described by `octavo types`. */
export type NameOf<Types, Kind> = [keyof Types] extends [never] ? string : keyof ByPath<Types, Kind> & string

/** The content-type with this name in URLs. */
export type TypeNamed<Types, Kind, Name> = Name extends keyof ByPath<Types, Kind> ? ByPath<Types, Kind>[Name] : never

/** True where a name says nothing: the project has not been described, has no such type, or the name stands for all that there are. */
export type IsUnknown<Types, Kind, Name> = [keyof Types] extends [never]
  ? true
  : [NameOf<Types, Kind>] extends [Name]
    ? [Name] extends [never]
      ? true
      : IsSeveral<Name>
    : false
type IsSeveral<Name, One = Name> = [One extends unknown ? ([Name] extends [One] ? false : true) : never] extends [false] ? false : true
