// `typed`: gives Strapi's own client the types of a project.
import type { ContentTypeShape, ContentTypes, IsUnknown, NameOf, TypeNamed } from '../../src/foundation/public/content/content-types.js'
import type { Collection, Single } from './document-methods.js'

/** The methods of `@strapi/client` that get types. */
interface StrapiClient {
  collection(resource: string): unknown
  single(resource: string): unknown
}

/** A client of `@strapi/client` with the project's types, or unchanged without generated types. */
export type TypedStrapiClient<Client extends StrapiClient, Types = ContentTypes> = [keyof Types] extends [never]
  ? Client
  : WithTypes<Client, Types>

type WithTypes<Client extends StrapiClient, Types> = Omit<Client, 'collection' | 'single'> & {
  collection<const Name extends NameOf<Types, 'collectionType'>>(
    name: Name,
  ): IsUnknown<Types, 'collectionType', Name> extends true
    ? ReturnType<Client['collection']>
    : StrapiCollection<TypeNamed<Types, 'collectionType', Name>>
  single<const Name extends NameOf<Types, 'singleType'>>(
    name: Name,
  ): IsUnknown<Types, 'singleType', Name> extends true ? ReturnType<Client['single']> : StrapiSingle<TypeNamed<Types, 'singleType', Name>>
}

/** Strapi's methods take no request options. */
type StrapiCollection<T> = T extends ContentTypeShape ? Collection<T, never, never> : never
type StrapiSingle<T> = T extends ContentTypeShape ? Single<T, never, never> : never

/** Returns the same client with types: `typed(strapi({ baseURL }))`. */
export const typed = <Client extends StrapiClient, Types = ContentTypes>(client: Client): TypedStrapiClient<Client, Types> =>
  client as unknown as TypedStrapiClient<Client, Types>
