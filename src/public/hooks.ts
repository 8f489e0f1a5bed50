// The public types of hooks: code of a project around every write.
import type { CodeLog } from './code-log.js'
import type { ContentTypeShape, ShapeOf, Uid } from './content/content-types.js'
import type { RowIn } from './content/results.js'
import type { ContentService } from './content-service.js'
import type { Data, Document, HookAction, KnownUid, OperationCaller } from './documents.js'

/** `documents`, `transaction` and `upload` are without restrictions. A write by a hook is a separate operation with its own hooks. */
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

/** The versions that a hook gets of a type. */
type EntryOf<Type extends string> = Type extends Uid
  ? ShapeOf<Type> extends infer T
    ? T extends ContentTypeShape
      ? RowIn<T, 'any', undefined, undefined>
      : never
    : never
  : Document

/** A hook for named types: if `octavo types` has described the project, the names must exist, and `entries` have their types. */
export interface HookOf<Type extends string> extends Omit<Hook, 'types' | 'before' | 'after'> {
  readonly types: readonly (Type & KnownUid<Type>)[]
  readonly before?: (call: BeforeCall & { readonly uid: Type }) => unknown
  readonly after?: (call: Omit<AfterCall, 'entries'> & { readonly uid: Type; readonly entries: readonly EntryOf<Type>[] }) => unknown
}
