// Types for `@strapi/client`, which has none for a project's content: the same client, seen with the types that `octavo types` has written.
import type { ContentTypeShape, ContentTypes, IsUnknown, NameOf, TypeNamed } from '../../src/foundation/public/content/content-types.js'
import type { Collection, Single } from './content-types.js'

/** What of a client of `@strapi/client` has other types then. */
interface StrapiClient {
  collection(resource: string): unknown
  single(resource: string): unknown
}

/** A client of `@strapi/client` whose collections and single types are those of the project; the client itself if it has not been described. */
export type TypedStrapiClient<Client extends StrapiClient, Types = ContentTypes> = [keyof Types] extends [never]
  ? Client
  : Described<Client, Types>

type Described<Client extends StrapiClient, Types> = Omit<Client, 'collection' | 'single'> & {
  collection<const Name extends NameOf<Types, 'collectionType'>>(
    name: Name,
  ): IsUnknown<Types, 'collectionType', Name> extends true
    ? ReturnType<Client['collection']>
    : CollectionOf<TypeNamed<Types, 'collectionType', Name>>
  single<const Name extends NameOf<Types, 'singleType'>>(
    name: Name,
  ): IsUnknown<Types, 'singleType', Name> extends true ? ReturnType<Client['single']> : SingleOf<TypeNamed<Types, 'singleType', Name>>
}

/** Its methods take no options of a request. */
type CollectionOf<T> = T extends ContentTypeShape ? Collection<T, never, never> : never
type SingleOf<T> = T extends ContentTypeShape ? Single<T, never, never> : never

/** Returns the same client with types: `typed(strapi({ baseURL }))`. */
export const typed = <Client extends StrapiClient, Types = ContentTypes>(client: Client): TypedStrapiClient<Client, Types> =>
  client as unknown as TypedStrapiClient<Client, Types>
