// `documents(uid)` of a type that `octavo types` has described: the same methods, with types for parameters and results.
import type { Entries } from '../write-results.js'
import type { ContentTypeShape } from './content-types.js'
import type { ListOf, NamedBy, SelectionOf, StateOf, VersionsOf } from './document-parameters.js'
import type {
  CreateData,
  CriteriaQuery,
  FieldsArgument,
  PopulateArgument,
  ShownAttributes,
  SortArgument,
  StatusArgument,
  UpdateData,
  VersionQuery,
} from './queries.js'
import type { RowIn, VersionState } from './results.js'

/** Writes to versions of a document, with results of one state. */
type VersionsMethod<T extends ContentTypeShape, State extends VersionState> = <
  const Selected extends FieldsArgument<T> = undefined,
  const Given extends PopulateArgument<T> = undefined,
>(
  parameters: VersionsOf<T, Selected, Given>,
) => Promise<Entries<RowIn<T, State, Selected, Given>>>

/** See `Documents`. Without `status`, reads return drafts and writes change the draft, in which nothing is required. */
export interface TypedDocuments<T extends ContentTypeShape> {
  findMany<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Sorted extends SortArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(parameters?: ListOf<T, Asked, Selected, Given, Sorted>): Promise<RowIn<T, StateOf<Asked>, Selected, Given>[]>
  findFirst<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Sorted extends SortArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(parameters?: CriteriaQuery<T, Asked, Selected, Given, Sorted>): Promise<RowIn<T, StateOf<Asked>, Selected, Given> | null>
  findOne<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(parameters: NamedBy<T> & VersionQuery<T, Asked, Selected, Given>): Promise<RowIn<T, StateOf<Asked>, Selected, Given> | null>
  count(
    parameters?: Pick<CriteriaQuery<T, StatusArgument, undefined, undefined, undefined>, 'filters' | 'locale' | 'status' | '_q'>,
  ): Promise<number>
  /** Creates a draft, and publishes it with `status: 'published'`. */
  create<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(
    parameters: VersionQuery<T, Asked, Selected, Given> & { readonly data: CreateData<T, StateOf<Asked>> },
  ): Promise<RowIn<T, StateOf<Asked>, Selected, Given>>
  /** Changes the draft, and publishes it with `status: 'published'`. Null if there is no such document. */
  update<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(
    parameters: NamedBy<T> & VersionQuery<T, Asked, Selected, Given> & { readonly data: UpdateData<T, StateOf<Asked>> },
  ): Promise<RowIn<T, StateOf<Asked>, Selected, Given> | null>
  /** Deletes the versions in one locale, or with `*` in all. */
  readonly delete: VersionsMethod<T, 'any'>
  /** Publishes the draft in one locale, or with `*` in all. This and the next two are only for types with Draft & Publish. */
  readonly publish: VersionsMethod<T, 'published'>
  readonly unpublish: VersionsMethod<T, 'any'>
  /** Replaces the draft by the published version. */
  readonly discardDraft: VersionsMethod<T, 'draft'>
  /** Creates a document for each entry of `data`, all of them or none; in the order of `data`. */
  createMany<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(
    parameters: VersionQuery<T, Asked, Selected, Given> & { readonly data: readonly CreateData<T, StateOf<Asked>>[] },
  ): Promise<RowIn<T, StateOf<Asked>, Selected, Given>[]>
  /** Changes several documents in the same way, all of them or none. */
  updateMany<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(
    parameters: SelectionOf<T> & VersionQuery<T, Asked, Selected, Given> & { readonly data: UpdateData<T, StateOf<Asked>> },
  ): Promise<RowIn<T, StateOf<Asked>, Selected, Given>[]>
  /** Deletes several documents, all of them or none. */
  deleteMany<const Selected extends FieldsArgument<T> = undefined, const Given extends PopulateArgument<T> = undefined>(
    parameters: SelectionOf<T> & ShownAttributes<T, Selected, Given> & { readonly locale?: string },
  ): Promise<Entries<RowIn<T, 'any', Selected, Given>>[]>
}
