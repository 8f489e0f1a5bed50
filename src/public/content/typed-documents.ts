// `documents(uid)` of a type that `octavo types` has described: the same methods, with types for parameters and results.
import type { ContentTypeShape } from './content-types.js'
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
import type { RowIn } from './results.js'

/** Scripts and hooks read drafts unless they say otherwise. */
type StateOf<Asked> = [Asked] extends [undefined] ? 'draft' : Asked

/** Names a document. A single type has only one. */
type Named<T extends ContentTypeShape> = T['kind'] extends 'singleType' ? { readonly documentId?: string } : { readonly documentId: string }

/** The parameters of a list: criteria, and the part of it. */
type ListOf<T extends ContentTypeShape, Asked, Selected, Given, Sorted> = CriteriaQuery<T, Asked, Selected, Given, Sorted> & {
  /** Number of documents to skip. */
  readonly start?: number
  /** Maximum number of documents; default: all. */
  readonly limit?: number
  /** The same as pages, counted from 1, or as offsets. */
  readonly pagination?: { readonly page?: number; readonly pageSize?: number } | { readonly start?: number; readonly limit?: number }
}

/** Names the versions in one locale, or with `*` in all. */
type VersionsOf<T extends ContentTypeShape, Selected, Given> = Named<T> & ShownAttributes<T, Selected, Given> & { readonly locale?: string }

/** Several documents: these, or those that match filters. See `DocumentSelection`. */
type SelectionOf<T extends ContentTypeShape> =
  | { readonly documentIds: readonly string[]; readonly filters?: never }
  | { readonly documentIds?: never; readonly filters: T['filters'] }

/** The versions that an operation affected. */
interface Affected<Row> {
  readonly documentId: string
  readonly entries: readonly Row[]
}

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
  >(parameters: Named<T> & VersionQuery<T, Asked, Selected, Given>): Promise<RowIn<T, StateOf<Asked>, Selected, Given> | null>
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
    parameters: Named<T> & VersionQuery<T, Asked, Selected, Given> & { readonly data: UpdateData<T, StateOf<Asked>> },
  ): Promise<RowIn<T, StateOf<Asked>, Selected, Given> | null>
  /** Deletes the versions in one locale, or with `*` in all. */
  delete<const Selected extends FieldsArgument<T> = undefined, const Given extends PopulateArgument<T> = undefined>(
    parameters: VersionsOf<T, Selected, Given>,
  ): Promise<Affected<RowIn<T, 'any', Selected, Given>>>
  /** Publishes the draft in one locale, or with `*` in all. This and the next two are only for types with Draft & Publish. */
  publish<const Selected extends FieldsArgument<T> = undefined, const Given extends PopulateArgument<T> = undefined>(
    parameters: VersionsOf<T, Selected, Given>,
  ): Promise<Affected<RowIn<T, 'published', Selected, Given>>>
  unpublish<const Selected extends FieldsArgument<T> = undefined, const Given extends PopulateArgument<T> = undefined>(
    parameters: VersionsOf<T, Selected, Given>,
  ): Promise<Affected<RowIn<T, 'any', Selected, Given>>>
  /** Replaces the draft by the published version. */
  discardDraft<const Selected extends FieldsArgument<T> = undefined, const Given extends PopulateArgument<T> = undefined>(
    parameters: VersionsOf<T, Selected, Given>,
  ): Promise<Affected<RowIn<T, 'draft', Selected, Given>>>
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
  ): Promise<Affected<RowIn<T, 'any', Selected, Given>>[]>
}
