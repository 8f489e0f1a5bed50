// The checked input of a write: the vocabulary shared by reading a body and writing rows.
import type { MomentFault, Stored } from '../../../database/portable-sql.js'
import type { PatternCheck, PatternChecks } from '../../../model/schema/patterns.js'
import type {
  Component,
  ComponentAttribute,
  DynamicZone,
  Media,
  Model,
  MorphFrom,
  MorphTo,
  Relation,
  Scalar,
} from '../../../model/schema/types.js'
import type { Contract } from '../../../query/contract.js'

/** A checked body in storage form: only attributes that the caller gave, and defaults on creation. */
export interface Input {
  /** json and blocks as the layout keeps them, datetimes in milliseconds, booleans 0 and 1; passwords are still plain text. */
  readonly scalars: ReadonlyMap<Scalar, Stored>
  /** Single components have one entry, or none where null removes it. */
  readonly components: ReadonlyMap<ComponentAttribute, readonly ComponentInput[]>
  readonly zones: ReadonlyMap<DynamicZone, readonly ComponentInput[]>
  readonly relations: ReadonlyMap<Relation | MorphTo | MorphFrom, RelationInput>
  readonly media: ReadonlyMap<Media, RelationInput>
  /** The data as it was checked, defaults filled in: errors show their values from here. */
  readonly checked: Readonly<Record<string, unknown>>
}

/** One entry of a component attribute or zone. Without an id it is a new one; an id that is no row id is -1. */
export interface ComponentInput {
  readonly component: Component
  readonly id: number | null
  readonly input: Input
}

/** A row or a document that a relation names. Where both are given, the documentId counts. */
export interface Reference {
  readonly id?: number
  readonly documentId?: string
  readonly locale?: string | null
  readonly status?: string
  /** `__type`: the target's uid, in relations whose target varies. */
  readonly type?: string
  readonly position?: Position
}

/** The position of a connected target among its siblings; a sibling is named by its documentId or row id. */
export interface Position {
  /** `__type`: the sibling's uid, in relations whose target varies. */
  readonly type?: string
  readonly before?: string | number
  readonly after?: string | number
  readonly start?: true
  readonly end?: true
  /** The version of the sibling; absent: the version that the entry asks for. */
  readonly status?: string
  readonly locale?: string
}

/** `set`, unless null, replaces all; nothing at all is no change. */
export interface RelationInput {
  readonly set: readonly Reference[] | null
  /** Targets connected or disconnected in the same value as `set`: they must exist, but have no effect, as in Strapi. */
  readonly besideSet: readonly Reference[]
  readonly connect: readonly Reference[]
  readonly disconnect: readonly Reference[]
}

export interface InputContext {
  readonly model: Model
  readonly contract: Contract
  /** Required relations and files are enforced (`api.documents.strictRelations`); absent: they are not. */
  readonly strictRelations?: boolean
  /** Why the database does not give a moment back as it was written; absent: it always does. */
  readonly momentFault?: MomentFault | undefined
  /** Patterns that need a deadline, over all checks of one request; absent: over one check. */
  readonly trials?: PatternChecks
  /** Called for a value in place of `blocks` that is written as null, because the contract says so; `uid`: the type that is written. */
  readonly reportDropped?: ((uid: string, path: ValuePath) => void) | null
  readonly uid?: string
}

/** One thing that is wrong with one value. Without `value` the answer has no such key. */
export interface AttributeError {
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly value?: unknown
}

/** A possible error about one value. With `depends` it is an error only if the value is taken, or if the text does not match. */
export interface PossibleError extends AttributeError {
  readonly depends?: Claim | PatternCheck
}

/** Finds the taken values among claims, as printed paths. */
export type FindTaken = (claims: readonly Claim[]) => Promise<ReadonlySet<string>>

/** A value that must be unique, and the components that contain it. */
export interface Claim {
  readonly path: ValuePath
  readonly scalar: Scalar
  readonly value: unknown
  readonly places: readonly ComponentStep[]
}

/** A step from a shape into a component that it holds. */
export interface ComponentStep {
  readonly field: string
  readonly component: string
}

/** The strictness of checks, and their context. */
export interface Checking extends InputContext {
  /** Drafts may lack required values and violate formats and minima. */
  readonly isDraft: boolean
  /** Applies defaults, and refuses absent required values. */
  readonly isCreation: boolean
  readonly publishes?: boolean
  /** A stored document, whose relations and passwords are kept as they are. */
  readonly isStored: boolean
  /** Attributes of the document itself that are taken from another locale. */
  readonly inherited?: ReadonlySet<string>
  /** The components above the current level; null below the components of a zone, where nothing is unique. */
  readonly places: readonly ComponentStep[] | null
  readonly isInZone?: boolean
  /** Below an attribute that its condition hides: only what no column can hold is wrong. */
  readonly isHidden?: boolean
  /** The stored values of this level, for conditions on values that the body leaves out; absent or null: none. */
  readonly stored?: Body | null
}

/** A value after casting and defaults, with all that is or may be wrong with it. */
export interface Checked {
  readonly value: unknown
  readonly errors: readonly PossibleError[]
}

export type ValuePath = readonly (string | number)[]

/** The data of a write, or an object in it. */
export type Body = Readonly<Record<string, unknown>>
