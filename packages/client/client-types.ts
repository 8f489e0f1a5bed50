// Types of the client: options, content-types, files, users and sign-in.
import type { FileFormats, FocalPoint } from '../../src/foundation/public/content/blocks.js'
import type { ContentTypeShape, ContentTypes, IsUnknown, NameOf, TypeNamed } from '../../src/foundation/public/content/content-types.js'
import type { CriteriaQuery, FieldsArgument, PopulateArgument, SortArgument } from '../../src/foundation/public/content/queries.js'
import type { RowIn } from '../../src/foundation/public/content/results.js'
import type {
  ChangeOptions,
  Collection,
  CollectionExtras,
  ListResponse,
  PublicationMethods,
  RequestOptions,
  Response,
  Single,
} from './document-methods.js'

/** A token, or a function that returns the current one. */
export type TokenSource = string | null | undefined | (() => string | null | undefined | Promise<string | null | undefined>)

export interface ClientOptions {
  /** The URL of the API with its prefix: `https://cms.example.org/api`. */
  readonly url: string
  /** An API token or the JWT of a user, sent as `Authorization: Bearer`. */
  readonly token?: TokenSource
  /** Default: the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<globalThis.Response>
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A collection by its name. A wrong name is untyped, because the compiler reports it as the union of all names. */
export type CollectionNamed<Types, Name> =
  IsUnknown<Types, 'collectionType', Name> extends true
    ? UntypedCollection
    : TypeNamed<Types, 'collectionType', Name> extends infer T
      ? T extends ContentTypeShape
        ? Collection<T> & CollectionExtras<T> & (T['drafts'] extends true ? PublicationMethods<T, [documentId: string]> : unknown)
        : never
      : never

/** A single type by its name. */
export type SingleNamed<Types, Name> =
  IsUnknown<Types, 'singleType', Name> extends true
    ? UntypedSingle
    : TypeNamed<Types, 'singleType', Name> extends infer T
      ? T extends ContentTypeShape
        ? Single<T> & (T['drafts'] extends true ? PublicationMethods<T, []> : unknown)
        : never
      : never

/** Parameters of a project without generated types. */
export type UntypedQuery = Readonly<Record<string, unknown>>
/** A document of a project without generated types. */
export interface UntypedRow {
  readonly id: number
  readonly documentId: string
  // biome-ignore lint/suspicious/noExplicitAny: its attributes are unknown
  readonly [attribute: string]: any
}
type UntypedAction = (documentId: string, query?: UntypedQuery, options?: ChangeOptions) => Promise<Response<UntypedRow>>
type UntypedSingleAction = (query?: UntypedQuery, options?: ChangeOptions) => Promise<Response<UntypedRow>>

export interface UntypedCollection {
  find(query?: UntypedQuery, options?: RequestOptions): Promise<ListResponse<UntypedRow>>
  findOne(documentId: string, query?: UntypedQuery, options?: RequestOptions): Promise<Response<UntypedRow>>
  create(data: UntypedQuery, query?: UntypedQuery, options?: ChangeOptions): Promise<Response<UntypedRow>>
  update(documentId: string, data: UntypedQuery, query?: UntypedQuery, options?: ChangeOptions): Promise<Response<UntypedRow>>
  delete(documentId: string, query?: UntypedQuery, options?: ChangeOptions): Promise<void>
  pages(query?: UntypedQuery, options?: RequestOptions): AsyncGenerator<ListResponse<UntypedRow>, void, undefined>
  all(query?: UntypedQuery, options?: RequestOptions): AsyncGenerator<UntypedRow, void, undefined>
  readonly publish: UntypedAction
  readonly unpublish: UntypedAction
  readonly discard: UntypedAction
}

export interface UntypedSingle {
  find(query?: UntypedQuery, options?: RequestOptions): Promise<Response<UntypedRow>>
  update(data: UntypedQuery, query?: UntypedQuery, options?: ChangeOptions): Promise<Response<UntypedRow>>
  delete(query?: UntypedQuery, options?: ChangeOptions): Promise<void>
  readonly publish: UntypedSingleAction
  readonly unpublish: UntypedSingleAction
  readonly discard: UntypedSingleAction
}

/** A signed-in user with its tokens. */
export interface SignedIn<User = UntypedRow> {
  readonly jwt: string
  /** Absent with long-lived tokens, or if the service stores it in a cookie. */
  readonly refreshToken?: string
  readonly user: User
}

/** Sign-in and account recovery. These calls do not change the client: `client.with({ token: jwt })` creates one for the user. */
export interface ClientAuth<User> {
  signIn(credentials: { readonly identifier: string; readonly password: string }, options?: RequestOptions): Promise<SignedIn<User>>
  /** The response has no token if the address has to be confirmed first. */
  register(
    account: { readonly username: string; readonly email: string; readonly password: string; readonly [attribute: string]: unknown },
    options?: RequestOptions,
  ): Promise<{ readonly user: User } & Partial<SignedIn<User>>>
  /** Without a body, the refresh token is read from the cookie. */
  refresh(body?: { readonly refreshToken?: string }, options?: RequestOptions): Promise<Omit<SignedIn<User>, 'user'>>
  /** Ends the session; with `scope: 'all'` all sessions of the user. */
  signOut(body?: { readonly scope?: 'all'; readonly deviceId?: string }, options?: RequestOptions): Promise<{ readonly ok: true }>
  forgotPassword(body: { readonly email: string }, options?: RequestOptions): Promise<{ readonly ok: true }>
  resetPassword(
    body: { readonly code: string; readonly password: string; readonly passwordConfirmation: string },
    options?: RequestOptions,
  ): Promise<SignedIn<User>>
  changePassword(
    body: { readonly currentPassword: string; readonly password: string; readonly passwordConfirmation: string },
    options?: RequestOptions,
  ): Promise<SignedIn<User>>
  sendEmailConfirmation(body: { readonly email: string }, options?: RequestOptions): Promise<unknown>
}

/** Users, as rows with numeric ids; responses have no envelope. */
export interface ClientUsers<T extends ContentTypeShape> {
  /** Returns the user of the token. */
  me<const Selected extends FieldsArgument<T> = undefined, const Populated extends PopulateArgument<T> = undefined>(
    query?: UserQuery<T, Selected, Populated>,
    options?: RequestOptions,
  ): Promise<RowIn<T, 'any', Selected, Populated>>
  find<
    const Selected extends FieldsArgument<T> = undefined,
    const Populated extends PopulateArgument<T> = undefined,
    const Sorted extends SortArgument<T> = undefined,
  >(
    query?: Omit<CriteriaQuery<T, undefined, Selected, Populated, Sorted>, 'status'> & { readonly start?: number; readonly limit?: number },
    options?: RequestOptions,
  ): Promise<RowIn<T, 'any', Selected, Populated>[]>
  /** Undefined if the user does not exist. */
  findOne<const Selected extends FieldsArgument<T> = undefined, const Populated extends PopulateArgument<T> = undefined>(
    id: number,
    query?: UserQuery<T, Selected, Populated>,
    options?: RequestOptions,
  ): Promise<RowIn<T, 'any', Selected, Populated> | undefined>
  count(query?: { readonly filters?: T['filters'] }, options?: RequestOptions): Promise<number>
  create(data: Readonly<Record<string, unknown>>, options?: RequestOptions): Promise<T['fields']>
  update(id: number, data: Readonly<Record<string, unknown>>, options?: RequestOptions): Promise<T['fields']>
  delete(id: number, options?: RequestOptions): Promise<T['fields']>
}

interface UserQuery<T extends ContentTypeShape, Selected, Populated>
  extends Omit<CriteriaQuery<T, undefined, Selected, Populated, undefined>, 'sort' | 'status'> {}

/** Properties of a file that can be edited. */
export interface FileProperties {
  readonly name?: string
  readonly alternativeText?: string | null
  readonly caption?: string | null
  readonly focalPoint?: FocalPoint | null
}

export interface FileUploadOptions extends RequestOptions {
  /** Properties of the file, or of each file. */
  readonly info?: FileProperties | readonly FileProperties[]
  /** Links the files to a media attribute of a row: the uid of its type, its documentId or numeric id, and the attribute. */
  readonly link?: { readonly ref: string; readonly refId: number | string; readonly field: string }
}

/** Additional property in responses of the media library. */
interface Signed {
  readonly isUrlSigned: boolean
}

/** A file of a project without generated types. */
export interface UntypedFile {
  readonly id: number
  readonly documentId: string
  readonly name: string
  readonly url: string
  readonly mime: string
  readonly formats: FileFormats | null
  // biome-ignore lint/suspicious/noExplicitAny: the project may have added attributes
  readonly [attribute: string]: any
}

type FileRow<T extends ContentTypeShape> = [T] extends [never] ? UntypedFile : T['fields'] & Signed
type SelectedFile<T extends ContentTypeShape, Selected, Populated> = [T] extends [never]
  ? UntypedFile
  : RowIn<T, 'any', Selected, Populated> & Signed

/** The files of the media library. */
export interface Files<T extends ContentTypeShape> {
  find<
    const Selected extends FieldsArgument<T> = undefined,
    const Populated extends PopulateArgument<T> = undefined,
    const Sorted extends SortArgument<T> = undefined,
  >(
    query?: [T] extends [never]
      ? Readonly<Record<string, unknown>>
      : Omit<CriteriaQuery<T, undefined, Selected, Populated, Sorted>, 'status' | 'locale'> & {
          readonly start?: number
          readonly limit?: number
        },
    options?: RequestOptions,
  ): Promise<SelectedFile<T, Selected, Populated>[]>
  findOne(id: number, options?: RequestOptions): Promise<FileRow<T>>
  /** Uploads one file or several; a blob without a name takes the one in `info`. */
  upload(files: Blob | readonly Blob[], options?: FileUploadOptions): Promise<FileRow<T>[]>
  /** Changes the properties of a file. */
  update(id: number, info: FileProperties, options?: RequestOptions): Promise<FileRow<T>>
  /** Replaces the content of a file, which keeps its URL. */
  replace(id: number, file: Blob, options?: RequestOptions & { readonly info?: FileProperties }): Promise<FileRow<T>>
  delete(id: number, options?: RequestOptions): Promise<FileRow<T>>
}

export interface LocaleEntry {
  readonly id: number
  readonly documentId: string
  readonly code: string
  readonly name: string
  readonly isDefault: boolean
  readonly createdAt: string
  readonly updatedAt: string
  readonly publishedAt: string | null
}

interface UntypedUsers {
  me(query?: UntypedQuery, options?: RequestOptions): Promise<UntypedRow>
  find(query?: UntypedQuery, options?: RequestOptions): Promise<UntypedRow[]>
  findOne(id: number, query?: UntypedQuery, options?: RequestOptions): Promise<UntypedRow | undefined>
  count(query?: UntypedQuery, options?: RequestOptions): Promise<number>
  create(data: UntypedQuery, options?: RequestOptions): Promise<UntypedRow>
  update(id: number, data: UntypedQuery, options?: RequestOptions): Promise<UntypedRow>
  delete(id: number, options?: RequestOptions): Promise<UntypedRow>
}

type PluginType<Types, Uid> = Uid extends keyof Types
  ? Types[Uid] extends infer T
    ? T extends ContentTypeShape
      ? T
      : never
    : never
  : never
type UserRow<Types> = [PluginType<Types, 'plugin::users-permissions.user'>] extends [never]
  ? UntypedRow
  : PluginType<Types, 'plugin::users-permissions.user'>['fields']
type Users<Types> = [PluginType<Types, 'plugin::users-permissions.user'>] extends [never]
  ? UntypedUsers
  : ClientUsers<PluginType<Types, 'plugin::users-permissions.user'>>

/** A client of the API. `Types` default to `ContentTypes`, which the file of `octavo types` fills. */
export type OctavoClient<Types = ContentTypes> = Client<[keyof Types] extends [never] ? ContentTypes : Types>

interface Client<Types> {
  /** The documents of a collection type, by its name in URLs: `articles`. */
  collection<const Name extends NameOf<Types, 'collectionType'>>(name: Name): CollectionNamed<Types, Name>
  /** The document of a single type, by its name in URLs: `homepage`. */
  single<const Name extends NameOf<Types, 'singleType'>>(name: Name): SingleNamed<Types, Name>
  readonly files: Files<PluginType<Types, 'plugin::upload.file'>>
  readonly auth: ClientAuth<UserRow<Types>>
  readonly users: Users<Types>
  locales(options?: RequestOptions): Promise<readonly LocaleEntry[]>
  /** Sends any other request, for example to a custom route, and returns the body of the response. */
  request<Body = unknown>(
    method: string,
    path: string,
    sent?: { readonly query?: object; readonly body?: unknown },
    options?: ChangeOptions,
  ): Promise<Body>
  /** Returns a client with other options. */
  with(options: Partial<ClientOptions>): Client<Types>
}
