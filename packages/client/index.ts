// The public interface of `octavo-client`, alias `octavo/client`, and the types that the file of `octavo types` uses.

export * from '../../src/foundation/public/content/blocks.js'
export * from '../../src/foundation/public/content/content-types.js'
export * from '../../src/foundation/public/content/inputs.js'
export * from '../../src/foundation/public/content/queries.js'
export * from '../../src/foundation/public/content/results.js'
export * from '../../src/foundation/public/content/selection.js'
export { createClient, stringifyQuery } from './client.js'
export type {
  ClientOptions,
  ClientUsers,
  FileProperties,
  Files,
  FileUploadOptions,
  OctavoClient,
  SignedIn,
  TokenSource,
} from './client-types.js'
export type { ChangeOptions, Collection, ListResponse, RequestOptions, Response, Single } from './document-methods.js'
export type { ApiErrorName } from './errors.js'
export { ApiError, isApiError } from './errors.js'
export type { TypedStrapiClient } from './typed-strapi.js'
export { typed } from './typed-strapi.js'
