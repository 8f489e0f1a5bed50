// The writes of a transaction to a type that `octavo types` has described: parameters and results as those of `documents(uid)`.
import type { Entries, PendingCreate, PendingWrite } from '../write-results.js'
import type { ContentTypeShape } from './content-types.js'
import type { NamedBy, StateOf, VersionsOf } from './document-parameters.js'
import type { CreateData, FieldsArgument, PopulateArgument, StatusArgument, UpdateData, VersionQuery } from './queries.js'
import type { RowIn, VersionState } from './results.js'

/** What has to hold for a document when its write is executed. See `WriteCondition`. */
interface ConditionOf<T extends ContentTypeShape> {
  readonly filters?: T['filters']
}

/** The versions that a write affects, if its document fulfils a condition. */
type ConditionalVersions<T extends ContentTypeShape, Selected, Given> = VersionsOf<T, Selected, Given> & ConditionOf<T>

/** Describes a write to versions of a document, whose results are of one state. */
type VersionsWrite<T extends ContentTypeShape, State extends VersionState> = <
  const Selected extends FieldsArgument<T> = undefined,
  const Given extends PopulateArgument<T> = undefined,
>(
  parameters: ConditionalVersions<T, Selected, Given>,
) => PendingWrite<Entries<RowIn<T, State, Selected, Given>>>

/** See `TransactionWrites`. Without `status`, a draft is written, in which nothing is required. */
export interface TypedTransactionWrites<T extends ContentTypeShape> {
  /** Creates a draft, and publishes it with `status: 'published'`. */
  create<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(
    parameters: VersionQuery<T, Asked, Selected, Given> & { readonly data: CreateData<T, StateOf<Asked>> },
  ): PendingCreate<RowIn<T, StateOf<Asked>, Selected, Given>>
  /** Changes the draft, and publishes it with `status: 'published'`. */
  update<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(
    parameters: NamedBy<T> & ConditionOf<T> & VersionQuery<T, Asked, Selected, Given> & { readonly data: UpdateData<T, StateOf<Asked>> },
  ): PendingWrite<RowIn<T, StateOf<Asked>, Selected, Given>>
  /** Deletes the versions in one locale, or with `*` in all. */
  readonly delete: VersionsWrite<T, 'any'>
  /** Publishes the draft in one locale, or with `*` in all. This and the next two are only for types with Draft & Publish. */
  readonly publish: VersionsWrite<T, 'published'>
  readonly unpublish: VersionsWrite<T, 'any'>
  /** Replaces the draft by the published version. */
  readonly discardDraft: VersionsWrite<T, 'draft'>
}
