// The public types of hooks: code of a project around every write.

import type { ContentTypeShape, ShapeOf, Uid } from './content/content-types.js'
import type { UpdateData } from './content/queries.js'
import type { RowIn } from './content/results.js'
import type { CodeLog, ContentService } from './content-service.js'
import type { Data, Document, HookAction, KnownUid, OperationCaller } from './documents.js'

/** `documents`, `transaction`, `upload` and `mail` are without restrictions. A write by a hook is a separate operation with its own hooks. */
interface HookCall extends ContentService {
  readonly action: HookAction
  readonly uid: string
  /** `*` for all locales; null for types that are not localized. */
  readonly locale: string | null
  /** `published` if a create or update publishes; always `published` for types without Draft & Publish. */
  readonly status: 'draft' | 'published'
  /** Null for a script or another hook. */
  readonly caller: OperationCaller | null
  readonly log: CodeLog
  /** Aborted after `limits.hookTimeout`. */
  readonly signal: AbortSignal
}

/** The argument of a before-hook, which runs before the transaction. */
export interface BeforeCall extends HookCall {
  /** Null for a create, and for a single type requested without its id. */
  readonly documentId: string | null
  /** The data to write, not validated yet; may be changed or replaced. Null if the action writes no data. */
  data: Record<string, unknown> | null
}

/** The argument of an after-hook, which runs after the commit. */
export interface AfterCall extends HookCall {
  readonly documentId: string
  /** The data to write. */
  readonly data: Data | null
  /** The versions that were written, published, deleted …; several if the operation affects several locales. */
  readonly entries: readonly Document[]
}

/** Project code that runs once for every operation on documents, by requests, scripts and other hooks. */
export interface Hook {
  /** The name in the log. */
  readonly name?: string
  /** Default: all types. */
  readonly types?: readonly string[]
  /** Default: all actions. */
  readonly actions?: readonly HookAction[]
  /** Runs before the transaction. An `ApiError`, or an error with the name of one, becomes the response; any other error is logged as 500. */
  readonly before?: (call: BeforeCall) => unknown
  /** Runs after the commit, before the response. Errors are logged. */
  readonly after?: (call: AfterCall) => unknown
}

/** The actions that write data. */
type WritingAction = 'create' | 'update'

/** The shape of a type; never if `octavo types` has not described it. */
type TypeOf<Type extends string> = Type extends Uid ? Extract<ShapeOf<Type>, ContentTypeShape> : never

/** Types of plugins are not written as documents. */
type IsDescribed<Type extends string> = [TypeOf<Type>['hookData']] extends [never] ? false : true
/** A create names no document, and a write to a single type need not. */
type NamedDocument<Type extends string, Action> = Action extends 'create'
  ? null
  : IsDescribed<Type> extends true
    ? TypeOf<Type>['kind'] extends 'collectionType'
      ? string
      : string | null
    : string | null
/** The data of a write as hooks see it. */
type HookData<Type extends string> = IsDescribed<Type> extends true ? TypeOf<Type>['hookData'] : Record<string, unknown>
/** A replacement. */
type HookInput<Type extends string> = HookData<Type> | (IsDescribed<Type> extends true ? UpdateData<TypeOf<Type>, 'draft'> : never)

/** The state of the versions that an action is about, where it is always the same. */
type StateAfter<Action> = Action extends 'publish' ? 'published' : Action extends 'discardDraft' ? 'draft' : 'any'
/** The versions that a hook gets of a type, also as records. */
type EntryOf<Type extends string, Action> = [TypeOf<Type>] extends [never]
  ? Document
  : RowIn<TypeOf<Type>, StateAfter<Action>, undefined, undefined> extends infer Row
    ? { readonly [Name in keyof Row]: Row[Name] }
    : never

/**
 * The argument of a before-hook for one type and one action. Values of `data` are `unknown`, because they are not validated yet, and only those
 * of the right type can be assigned.
 */
interface TypedBeforeCall<Type extends string, Action extends HookAction> extends Omit<BeforeCall, 'data'> {
  readonly uid: Type
  readonly action: Action
  readonly documentId: NamedDocument<Type, Action>
  /** The data to write, not validated yet; may be changed or replaced. Null if the action writes no data. */
  get data(): Action extends WritingAction ? HookData<Type> : null
  set data(replaced: Action extends WritingAction ? HookInput<Type> : null)
}

/** The argument of an after-hook for one type and one action. */
interface TypedAfterCall<Type extends string, Action extends HookAction> extends Omit<AfterCall, 'data' | 'entries'> {
  readonly uid: Type
  readonly action: Action
  /** The data to write, as it was given: `'5'` may have been written as 5. `entries` have the stored values. */
  readonly data: Action extends WritingAction ? Readonly<HookData<Type>> : null
  readonly entries: readonly EntryOf<Type, Action>[]
}

/** The argument of a before-hook for some types and actions: one of them, discriminated by `uid` and `action`. */
export type BeforeCallOf<Type extends string, Action extends HookAction = HookAction> = Type extends unknown
  ? Action extends unknown
    ? TypedBeforeCall<Type, Action>
    : never
  : never

/** The same of an after-hook. */
export type AfterCallOf<Type extends string, Action extends HookAction = HookAction> = Type extends unknown
  ? Action extends unknown
    ? TypedAfterCall<Type, Action>
    : never
  : never

/** A hook whose calls have the types of its content-types and actions, if `octavo types` has described the project: then the names must exist. */
export interface HookOf<Type extends string, Action extends HookAction = HookAction>
  extends Omit<Hook, 'types' | 'actions' | 'before' | 'after'> {
  /** Default: all types. */
  readonly types?: readonly (Type & KnownUid<Type>)[]
  /** Default: all actions. */
  readonly actions?: readonly Action[]
  /** See `Hook`. */
  readonly before?: (call: BeforeCallOf<Type, Action>) => unknown
  /** See `Hook`. */
  readonly after?: (call: AfterCallOf<Type, Action>) => unknown
}
