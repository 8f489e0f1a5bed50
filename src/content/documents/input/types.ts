// The checked input of a write, shared by reading bodies and writing rows.
import type { MomentFault, Stored } from '../../../database/portable-sql.js'
import type { Issue } from '../../../foundation/errors/issues.js'
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

/** A checked body in storage form: given attributes, and defaults on creation. */
export interface Input {
  /** json and blocks in the stored layout, datetimes in milliseconds, booleans as 0 and 1; passwords in plain text. */
  readonly scalars: ReadonlyMap<Scalar, Stored>
  /** A single component has one entry; none removes it. */
  readonly components: ReadonlyMap<ComponentAttribute, readonly ComponentInput[]>
  readonly zones: ReadonlyMap<DynamicZone, readonly ComponentInput[]>
  readonly relations: ReadonlyMap<Relation | MorphTo | MorphFrom, RelationInput>
  readonly media: ReadonlyMap<Media, RelationInput>
  /** The checked data with defaults, whose values errors show. */
  readonly checked: Readonly<Record<string, unknown>>
}

/** An entry of a component or zone. A new one has no id; an invalid id is -1. */
export interface ComponentInput {
  readonly component: Component
  readonly id: number | null
  readonly input: Input
}

/** A referenced row or document. The documentId takes precedence. */
export interface Reference {
  readonly id?: number
  readonly documentId?: string
  readonly locale?: string | null
  readonly status?: string
  /** `__type`: uid of the target, in polymorphic relations. */
  readonly type?: string
  readonly position?: Position
}

/** Position of a connected target; siblings are referenced by documentId or row id. */
export interface Position {
  /** `__type`: uid of the sibling, in polymorphic relations. */
  readonly type?: string
  readonly before?: string | number
  readonly after?: string | number
  readonly start?: true
  readonly end?: true
  /** Version of the sibling; defaults to that of the entry. */
  readonly status?: string
  readonly locale?: string
}

/** `set` replaces all targets unless it is null. Empty lists change nothing. */
export interface RelationInput {
  readonly set: readonly Reference[] | null
  /** Targets connected or disconnected along with `set`: they must exist, but have no effect, as in Strapi. */
  readonly besideSet: readonly Reference[]
  readonly connect: readonly Reference[]
  readonly disconnect: readonly Reference[]
}

export interface InputContext {
  readonly model: Model
  readonly contract: Contract
  /** Enforces required relations and files (`api.documents.strictRelations`). */
  readonly strictRelations?: boolean
  /** Why the database cannot return a datetime as it was written; absent: it always can. */
  readonly momentFault?: MomentFault | undefined
  /** Patterns that need a deadline, shared by all checks of a request; absent: a deadline for each check. */
  readonly trials?: PatternChecks
  /** Reports a value stored as null instead of `blocks`, as the contract permits; `uid`: the written type. */
  readonly reportDropped?: ((uid: string, path: ValuePath) => void) | null
  readonly uid?: string
}

/** An error about one value. Without `value`, the response has no such key. */
export interface AttributeError {
  readonly path: readonly (string | number)[]
  readonly message: string
  /** Absent: any error that only the message describes. */
  readonly issue?: Issue
  readonly value?: unknown
}

/** A possible error. With `depends`, an error only if the value is taken, or the text does not match. */
export interface PossibleError extends AttributeError {
  readonly depends?: Claim | PatternCheck
}

/** Finds the taken values, as printed paths. */
export type FindTaken = (claims: readonly Claim[]) => Promise<ReadonlySet<string>>

/** A value that must be unique, and the components around it. */
export interface Claim {
  readonly path: ValuePath
  readonly scalar: Scalar
  readonly value: unknown
  readonly places: readonly ComponentStep[]
}

/** A step from a shape into a component. */
interface ComponentStep {
  readonly field: string
  readonly component: string
}

/** Strictness of checks, and their context. */
export interface Checking extends InputContext {
  /** Drafts may lack required values and violate formats and minima. */
  readonly isDraft: boolean
  /** Applies defaults, and refuses absent required values. */
  readonly isCreation: boolean
  readonly publishes?: boolean
  /** A stored document: its relations and passwords are not checked. */
  readonly isStored: boolean
  /** Attributes of the document itself that are inherited from another locale. */
  readonly inherited?: ReadonlySet<string>
  /** Components above the current level; null in components of a zone, where nothing is unique. */
  readonly places: readonly ComponentStep[] | null
  readonly isInZone?: boolean
  /** In a hidden attribute: checks only the limits of its column. */
  readonly isHidden?: boolean
  /** Stored values of this level, for conditions on values that the body omits. */
  readonly stored?: Body | null
}

/** A value after casting and defaults, with certain and possible errors. */
export interface Checked {
  readonly value: unknown
  readonly errors: readonly PossibleError[]
}

export type ValuePath = readonly (string | number)[]

export type Body = Readonly<Record<string, unknown>>
