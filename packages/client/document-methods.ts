// Methods of collection types and single types. The query determines the type of the result.
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
  /** Requests with the same key are executed once: `create`, `publish`, `unpublish` and `discard`. */
  readonly idempotencyKey?: string
}

/** Arguments after the parameters of a method. */
type Rest<Options> = [Options] extends [never] ? [] : [options?: Options]

/** The response for one document. */
export interface Response<Row> {
  readonly data: Row
  readonly meta: Readonly<Record<string, unknown>>
}

/** The response for a list. */
export interface ListResponse<Row, Pages = undefined> {
  readonly data: Row[]
  readonly meta: { readonly pagination: ResponsePagination<Pages> }
}

/** Pagination of a response, in pages or as an offset. */
export type ResponsePagination<Pages> = Pages extends { readonly start: number } | { readonly limit: number }
  ? { readonly start: number; readonly limit: number } & WithTotals<Pages, { readonly total: number }>
  : { readonly page: number; readonly pageSize: number } & WithTotals<Pages, { readonly total: number; readonly pageCount: number }>
type WithTotals<Pages, Totals> = Pages extends { readonly withCount: false } ? unknown : Totals

/** The status of the version that a write returns. */
type WrittenStatus<Status> = [Status] extends [undefined] ? 'published' : Status

/** The documents of a collection type. Every method throws an `ApiError` if the service refuses. */
export interface Collection<T extends ContentTypeShape, Options = RequestOptions, WriteOptions = ChangeOptions> {
  /** Returns a page of documents. */
  find<
    const Selected extends FieldsArgument<T> = undefined,
    const Populated extends PopulateArgument<T> = undefined,
    const Sorted extends SortArgument<T> = undefined,
    const Status extends StatusArgument = undefined,
    const Pages extends PaginationParameter | undefined = undefined,
  >(
    query?: ListQuery<T, Status, Selected, Populated, Sorted, Pages>,
    ...rest: Rest<Options>
  ): Promise<ListResponse<ApiRow<T, Status, Selected, Populated>, Pages>>
  findOne<
    const Selected extends FieldsArgument<T> = undefined,
    const Populated extends PopulateArgument<T> = undefined,
    const Status extends StatusArgument = undefined,
  >(
    documentId: string,
    query?: DocumentQuery<T, Status, Selected, Populated>,
    ...rest: Rest<Options>
  ): Promise<Response<ApiRow<T, Status, Selected, Populated>>>
  /** Creates a document, and publishes it unless `status` is `draft`. */
  create<
    const Selected extends FieldsArgument<T> = undefined,
    const Populated extends PopulateArgument<T> = undefined,
    const Status extends StatusArgument = undefined,
  >(
    data: CreateData<T, Status>,
    query?: VersionQuery<T, Status, Selected, Populated>,
    ...rest: Rest<WriteOptions>
  ): Promise<Response<RowIn<T, WrittenStatus<Status>, Selected, Populated>>>
  /** Changes what `data` names, and publishes the document unless `status` is `draft`. */
  update<
    const Selected extends FieldsArgument<T> = undefined,
    const Populated extends PopulateArgument<T> = undefined,
    const Status extends StatusArgument = undefined,
  >(
    documentId: string,
    data: UpdateData<T, Status>,
    query?: VersionQuery<T, Status, Selected, Populated>,
    ...rest: Rest<WriteOptions>
  ): Promise<Response<RowIn<T, WrittenStatus<Status>, Selected, Populated>>>
  /** Deletes the draft and the published version in one locale, or with `locale: '*'` in all. */
  delete(
    documentId: string,
    query?: { readonly locale?: string; readonly filters?: T['filters'] },
    ...rest: Rest<WriteOptions>
  ): Promise<void>
}

/** Methods of this client that Strapi's does not have. */
export interface CollectionExtras<T extends ContentTypeShape> {
  /** Yields the pages of a list from `pagination.page` on, of 100 documents unless `pagination.pageSize` says otherwise. */
  pages<
    const Selected extends FieldsArgument<T> = undefined,
    const Populated extends PopulateArgument<T> = undefined,
    const Sorted extends SortArgument<T> = undefined,
    const Status extends StatusArgument = undefined,
  >(
    query?: PagesQuery<T, Status, Selected, Populated, Sorted>,
    options?: RequestOptions,
  ): AsyncGenerator<ListResponse<ApiRow<T, Status, Selected, Populated>>, void, undefined>
  /** Yields all documents of a list, page by page. */
  all<
    const Selected extends FieldsArgument<T> = undefined,
    const Populated extends PopulateArgument<T> = undefined,
    const Sorted extends SortArgument<T> = undefined,
    const Status extends StatusArgument = undefined,
  >(
    query?: PagesQuery<T, Status, Selected, Populated, Sorted>,
    options?: RequestOptions,
  ): AsyncGenerator<ApiRow<T, Status, Selected, Populated>, void, undefined>
}

/** The parameters of a list that is read page by page. */
export type PagesQuery<T extends ContentTypeShape, Status, Selected, Populated, Sorted> = Omit<
  ListQuery<T, Status, Selected, Populated, Sorted, undefined>,
  'pagination'
> & { readonly pagination?: { readonly page?: number; readonly pageSize?: number } }

/** The publication of a document; `Subject` is the documentId, or nothing for a single type. */
export interface PublicationMethods<T extends ContentTypeShape, Subject extends readonly unknown[]> {
  /** Publishes the draft; returns the published version. */
  publish<const Selected extends FieldsArgument<T> = undefined, const Populated extends PopulateArgument<T> = undefined>(
    ...args: [...Subject, query?: PublicationQuery<T, 'published', Selected, Populated>, options?: ChangeOptions]
  ): Promise<Response<RowIn<T, 'published', Selected, Populated>>>
  /** Removes the published version; returns the draft. */
  unpublish<const Selected extends FieldsArgument<T> = undefined, const Populated extends PopulateArgument<T> = undefined>(
    ...args: [...Subject, query?: PublicationQuery<T, 'draft', Selected, Populated>, options?: ChangeOptions]
  ): Promise<Response<RowIn<T, 'draft', Selected, Populated>>>
  /** Replaces the draft by the published version; returns the draft. */
  discard<const Selected extends FieldsArgument<T> = undefined, const Populated extends PopulateArgument<T> = undefined>(
    ...args: [...Subject, query?: PublicationQuery<T, 'draft', Selected, Populated>, options?: ChangeOptions]
  ): Promise<Response<RowIn<T, 'draft', Selected, Populated>>>
}

/** The method determines the status. */
type PublicationQuery<T extends ContentTypeShape, Status, Selected, Populated> = Omit<
  VersionQuery<T, Status, Selected, Populated>,
  'status'
>

/** The document of a single type. */
export interface Single<T extends ContentTypeShape, Options = RequestOptions, WriteOptions = ChangeOptions> {
  find<
    const Selected extends FieldsArgument<T> = undefined,
    const Populated extends PopulateArgument<T> = undefined,
    const Status extends StatusArgument = undefined,
  >(
    query?: DocumentQuery<T, Status, Selected, Populated>,
    ...rest: Rest<Options>
  ): Promise<Response<ApiRow<T, Status, Selected, Populated>>>
  /** Changes what `data` names, or creates the document; publishes it unless `status` is `draft`. */
  update<
    const Selected extends FieldsArgument<T> = undefined,
    const Populated extends PopulateArgument<T> = undefined,
    const Status extends StatusArgument = undefined,
  >(
    data: UpdateData<T, Status>,
    query?: VersionQuery<T, Status, Selected, Populated>,
    ...rest: Rest<WriteOptions>
  ): Promise<Response<RowIn<T, WrittenStatus<Status>, Selected, Populated>>>
  /** Deletes the document in one locale, or with `locale: '*'` in all. */
  delete(query?: { readonly locale?: string }, ...rest: Rest<WriteOptions>): Promise<void>
}
