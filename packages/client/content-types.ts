// The methods of collection types and single types, with results typed by what a query selects and populates.
import type { ContentTypeShape } from '../../src/foundation/public/content/content-types.js'
import type {
  CreateData,
  DocumentQuery,
  FieldsArgument,
  ListQuery,
  PaginationParameter,
  PopulateArgument,
  SortArgument,
  StatusArgument,
  UpdateData,
  VersionQuery,
} from '../../src/foundation/public/content/queries.js'
import type { ApiRow, RowIn } from '../../src/foundation/public/content/results.js'

/** Options that `fetch` takes, such as `signal`, `cache` and `headers`. */
export interface RequestOptions extends Omit<RequestInit, 'method' | 'body'> {}

/** Options of requests that change something. */
export interface ChangeOptions extends RequestOptions {
  /** A request that is sent again with the same key is carried out once: for `create`, `publish`, `unpublish` and `discard`. */
  readonly idempotencyKey?: string
}

/** The arguments behind the parameters of a method. */
type Rest<Options> = [Options] extends [never] ? [] : [options?: Options]

/** The response for one document. */
export interface Response<Row> {
  readonly data: Row
  readonly meta: Readonly<Record<string, unknown>>
}

/** The response for a list. */
export interface ListResponse<Row, Pages = undefined> {
  readonly data: Row[]
  readonly meta: { readonly pagination: PaginationOf<Pages> }
}

/** What a response says of its part of the list: counted in pages, or as an offset. */
export type PaginationOf<Pages> = Pages extends { readonly start: number } | { readonly limit: number }
  ? { readonly start: number; readonly limit: number } & WithTotals<Pages, { readonly total: number }>
  : { readonly page: number; readonly pageSize: number } & WithTotals<Pages, { readonly total: number; readonly pageCount: number }>
type WithTotals<Pages, Totals> = Pages extends { readonly withCount: false } ? unknown : Totals

/** A write returns the version that it has written. */
type Written<Asked> = [Asked] extends [undefined] ? 'published' : Asked

/** The documents of a collection type. Every method throws an `ApiError` if the service refuses. */
export interface Collection<T extends ContentTypeShape, Options = RequestOptions, WriteOptionsOf = ChangeOptions> {
  /** Returns a page of documents. */
  find<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Sorted extends SortArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
    const Pages extends PaginationParameter | undefined = undefined,
  >(
    query?: ListQuery<T, Asked, Selected, Given, Sorted, Pages>,
    ...rest: Rest<Options>
  ): Promise<ListResponse<ApiRow<T, Asked, Selected, Given>, Pages>>
  findOne<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(
    documentId: string,
    query?: DocumentQuery<T, Asked, Selected, Given>,
    ...rest: Rest<Options>
  ): Promise<Response<ApiRow<T, Asked, Selected, Given>>>
  /** Creates a document, and publishes it unless `status` is `draft`. */
  create<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(
    data: CreateData<T, Asked>,
    query?: VersionQuery<T, Asked, Selected, Given>,
    ...rest: Rest<WriteOptionsOf>
  ): Promise<Response<RowIn<T, Written<Asked>, Selected, Given>>>
  /** Changes what `data` names, and publishes the document unless `status` is `draft`. */
  update<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(
    documentId: string,
    data: UpdateData<T, Asked>,
    query?: VersionQuery<T, Asked, Selected, Given>,
    ...rest: Rest<WriteOptionsOf>
  ): Promise<Response<RowIn<T, Written<Asked>, Selected, Given>>>
  /** Deletes the draft and the published version in one locale, or with `locale: '*'` in all. */
  delete(
    documentId: string,
    query?: { readonly locale?: string; readonly filters?: T['filters'] },
    ...rest: Rest<WriteOptionsOf>
  ): Promise<void>
}

/** What this client has beyond the methods of `Collection`. */
export interface CollectionExtras<T extends ContentTypeShape> {
  /** Yields the pages of a list from `pagination.page` on, of 100 documents unless `pagination.pageSize` says otherwise. */
  pages<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Sorted extends SortArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(
    query?: PagesQuery<T, Asked, Selected, Given, Sorted>,
    options?: RequestOptions,
  ): AsyncGenerator<ListResponse<ApiRow<T, Asked, Selected, Given>>, void, undefined>
  /** Yields all documents of a list, page by page. */
  all<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Sorted extends SortArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(
    query?: PagesQuery<T, Asked, Selected, Given, Sorted>,
    options?: RequestOptions,
  ): AsyncGenerator<ApiRow<T, Asked, Selected, Given>, void, undefined>
}

/** The parameters of a list that is read page by page. */
export type PagesQuery<T extends ContentTypeShape, Asked, Selected, Given, Sorted> = Omit<
  ListQuery<T, Asked, Selected, Given, Sorted, undefined>,
  'pagination'
> & { readonly pagination?: { readonly page?: number; readonly pageSize?: number } }

/** The publication of a document; `Subject` is the documentId, or nothing for a single type. */
export interface PublicationMethods<T extends ContentTypeShape, Subject extends readonly unknown[]> {
  /** Publishes the draft; returns the published version. */
  publish<const Selected extends FieldsArgument<T> = undefined, const Given extends PopulateArgument<T> = undefined>(
    ...given: [...Subject, query?: PublicationQuery<T, 'published', Selected, Given>, options?: ChangeOptions]
  ): Promise<Response<RowIn<T, 'published', Selected, Given>>>
  /** Removes the published version; returns the draft. */
  unpublish<const Selected extends FieldsArgument<T> = undefined, const Given extends PopulateArgument<T> = undefined>(
    ...given: [...Subject, query?: PublicationQuery<T, 'draft', Selected, Given>, options?: ChangeOptions]
  ): Promise<Response<RowIn<T, 'draft', Selected, Given>>>
  /** Replaces the draft by the published version; returns the draft. */
  discard<const Selected extends FieldsArgument<T> = undefined, const Given extends PopulateArgument<T> = undefined>(
    ...given: [...Subject, query?: PublicationQuery<T, 'draft', Selected, Given>, options?: ChangeOptions]
  ): Promise<Response<RowIn<T, 'draft', Selected, Given>>>
}

/** The result decides the status. */
type PublicationQuery<T extends ContentTypeShape, Asked, Selected, Given> = Omit<VersionQuery<T, Asked, Selected, Given>, 'status'>

/** The document of a single type. */
export interface Single<T extends ContentTypeShape, Options = RequestOptions, WriteOptionsOf = ChangeOptions> {
  find<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(query?: DocumentQuery<T, Asked, Selected, Given>, ...rest: Rest<Options>): Promise<Response<ApiRow<T, Asked, Selected, Given>>>
  /** Changes what `data` names, or creates the document; publishes it unless `status` is `draft`. */
  update<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(
    data: UpdateData<T, Asked>,
    query?: VersionQuery<T, Asked, Selected, Given>,
    ...rest: Rest<WriteOptionsOf>
  ): Promise<Response<RowIn<T, Written<Asked>, Selected, Given>>>
  /** Deletes the document in one locale, or with `locale: '*'` in all. */
  delete(query?: { readonly locale?: string }, ...rest: Rest<WriteOptionsOf>): Promise<void>
}
