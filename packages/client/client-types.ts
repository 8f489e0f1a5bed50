// The client: its options, and what it offers for the content-types of a project.
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
} from './content-types.js'
import type { Files } from './files.js'
import type { ClientOptions } from './options.js'

/** The documents of the collection type with this name. After a wrong name nothing is checked: the compiler takes it for all names at once. */
export type CollectionNamed<Types, Name> =
  IsUnknown<Types, 'collectionType', Name> extends true
    ? UntypedCollection
    : TypeNamed<Types, 'collectionType', Name> extends infer T
      ? T extends ContentTypeShape
        ? Collection<T> & CollectionExtras<T> & (T['drafts'] extends true ? PublicationMethods<T, [documentId: string]> : unknown)
        : never
      : never

/** The document of the single type with this name. */
export type SingleNamed<Types, Name> =
  IsUnknown<Types, 'singleType', Name> extends true
    ? UntypedSingle
    : TypeNamed<Types, 'singleType', Name> extends infer T
      ? T extends ContentTypeShape
        ? Single<T> & (T['drafts'] extends true ? PublicationMethods<T, []> : unknown)
        : never
      : never

/** Parameters of a project that has not been described. */
export type UntypedQuery = Readonly<Record<string, unknown>>
/** A document of a project that has not been described. */
export interface UntypedRow {
  readonly id: number
  readonly documentId: string
  // biome-ignore lint/suspicious/noExplicitAny: nothing is known of its attributes
  readonly [attribute: string]: any
}
type UntypedAct = (documentId: string, query?: UntypedQuery, options?: ChangeOptions) => Promise<Response<UntypedRow>>
type UntypedSingleAct = (query?: UntypedQuery, options?: ChangeOptions) => Promise<Response<UntypedRow>>

export interface UntypedCollection {
  find(query?: UntypedQuery, options?: RequestOptions): Promise<ListResponse<UntypedRow>>
  findOne(documentId: string, query?: UntypedQuery, options?: RequestOptions): Promise<Response<UntypedRow>>
  create(data: UntypedQuery, query?: UntypedQuery, options?: ChangeOptions): Promise<Response<UntypedRow>>
  update(documentId: string, data: UntypedQuery, query?: UntypedQuery, options?: ChangeOptions): Promise<Response<UntypedRow>>
  delete(documentId: string, query?: UntypedQuery, options?: ChangeOptions): Promise<void>
  pages(query?: UntypedQuery, options?: RequestOptions): AsyncGenerator<ListResponse<UntypedRow>, void, undefined>
  all(query?: UntypedQuery, options?: RequestOptions): AsyncGenerator<UntypedRow, void, undefined>
  readonly publish: UntypedAct
  readonly unpublish: UntypedAct
  readonly discard: UntypedAct
}

export interface UntypedSingle {
  find(query?: UntypedQuery, options?: RequestOptions): Promise<Response<UntypedRow>>
  update(data: UntypedQuery, query?: UntypedQuery, options?: ChangeOptions): Promise<Response<UntypedRow>>
  delete(query?: UntypedQuery, options?: ChangeOptions): Promise<void>
  readonly publish: UntypedSingleAct
  readonly unpublish: UntypedSingleAct
  readonly discard: UntypedSingleAct
}

/** A user that has signed in, with its token. */
export interface SignedIn<User = UntypedRow> {
  readonly jwt: string
  /** Absent with long-lived tokens, and if it is in a cookie. */
  readonly refreshToken?: string
  readonly user: User
}

/** Sign-in and what belongs to it. None of these changes the client: `client.with({ token: jwt })` is one for the user. */
export interface ClientAuth<User> {
  signIn(credentials: { readonly identifier: string; readonly password: string }, options?: RequestOptions): Promise<SignedIn<User>>
  /** Without a token if the address has to be confirmed first. */
  register(
    account: { readonly username: string; readonly email: string; readonly password: string; readonly [attribute: string]: unknown },
    options?: RequestOptions,
  ): Promise<{ readonly user: User } & Partial<SignedIn<User>>>
  /** Takes the refresh token, or with a cookie nothing. */
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
  me<const Selected extends FieldsArgument<T> = undefined, const Given extends PopulateArgument<T> = undefined>(
    query?: UserQuery<T, Selected, Given>,
    options?: RequestOptions,
  ): Promise<RowIn<T, 'any', Selected, Given>>
  find<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Sorted extends SortArgument<T> = undefined,
  >(
    query?: Omit<CriteriaQuery<T, undefined, Selected, Given, Sorted>, 'status'> & { readonly start?: number; readonly limit?: number },
    options?: RequestOptions,
  ): Promise<RowIn<T, 'any', Selected, Given>[]>
  /** Undefined if there is none. */
  findOne<const Selected extends FieldsArgument<T> = undefined, const Given extends PopulateArgument<T> = undefined>(
    id: number,
    query?: UserQuery<T, Selected, Given>,
    options?: RequestOptions,
  ): Promise<RowIn<T, 'any', Selected, Given> | undefined>
  count(query?: { readonly filters?: T['filters'] }, options?: RequestOptions): Promise<number>
  create(data: Readonly<Record<string, unknown>>, options?: RequestOptions): Promise<T['fields']>
  update(id: number, data: Readonly<Record<string, unknown>>, options?: RequestOptions): Promise<T['fields']>
  delete(id: number, options?: RequestOptions): Promise<T['fields']>
}

interface UserQuery<T extends ContentTypeShape, Selected, Given>
  extends Omit<CriteriaQuery<T, undefined, Selected, Given, undefined>, 'sort' | 'status'> {}

/** A locale of the installation. */
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
type UserOf<Types> = [PluginType<Types, 'plugin::users-permissions.user'>] extends [never]
  ? UntypedRow
  : PluginType<Types, 'plugin::users-permissions.user'>['fields']
type UsersOf<Types> = [PluginType<Types, 'plugin::users-permissions.user'>] extends [never]
  ? UntypedUsers
  : ClientUsers<PluginType<Types, 'plugin::users-permissions.user'>>

/** A client of the API. `Types` are those that `octavo types` has written; without any, those of `ContentTypes`. */
export type OctavoClient<Types = ContentTypes> = ClientOf<[keyof Types] extends [never] ? ContentTypes : Types>

interface ClientOf<Types> {
  /** The documents of a collection type, by its name in URLs: `articles`. */
  collection<const Name extends NameOf<Types, 'collectionType'>>(name: Name): CollectionNamed<Types, Name>
  /** The document of a single type, by its name in URLs: `homepage`. */
  single<const Name extends NameOf<Types, 'singleType'>>(name: Name): SingleNamed<Types, Name>
  readonly files: Files<PluginType<Types, 'plugin::upload.file'>>
  readonly auth: ClientAuth<UserOf<Types>>
  readonly users: UsersOf<Types>
  locales(options?: RequestOptions): Promise<readonly LocaleEntry[]>
  /** Sends any other request, such as one to a route of the project, and returns the body of the response. */
  request<Body = unknown>(
    method: string,
    path: string,
    sent?: { readonly query?: object; readonly body?: unknown },
    options?: ChangeOptions,
  ): Promise<Body>
  /** Returns a client with other options. */
  with(options: Partial<ClientOptions>): ClientOf<Types>
}
