// The public types of custom routes: `routes` in octavo.config.
import type { CallerContentService, CodeLog, ContentService } from './content-service.js'
import type { OperationCaller } from './documents.js'

/** The methods that a route can have. A GET also responds to HEAD, and every path to OPTIONS. */
export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A request as it came. */
export interface RouteRequest {
  /** In the log, and in the header `X-Request-Id` of the response. */
  readonly id: string
  readonly method: string
  /** The path with its query string. */
  readonly url: string
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The client's IP address; with `trustProxy` the one that the proxy states. */
  readonly ip: string
}

/** The argument of a route. `documents`, `transaction` and `upload` do what the caller may do: permissions, scopes and policies hold. */
export interface RouteCall<Params = Readonly<Record<string, string>>, Query = Readonly<Record<string, unknown>>, Body = unknown>
  extends CallerContentService {
  /** Values of the `:name` parameters of the path. */
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly caller: OperationCaller
  /** True if the caller may perform an action, e.g. `api::article.article.publish`. */
  may(action: string): boolean
  /** The same without any restriction. */
  readonly unrestricted: ContentService
  readonly request: RouteRequest
  readonly log: CodeLog
  /** Aborted after `limits.routeTimeout`, and when the client closes the connection, also while a stream is sent. */
  readonly signal: AbortSignal
  /** Aborted when the service stops. A stream without an end ends itself then. */
  readonly stopping: AbortSignal
}

/** Format of the body. */
export type RouteBody = StandardSchema | 'json' | 'raw' | 'stream' | undefined

/** The names that follow a colon in a path. */
type ParameterNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParameterNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** The parameters of a path: `{ documentId: string }` for `/orders/:documentId`. */
export type PathParameters<Path extends string> = string extends Path
  ? Readonly<Record<string, string>>
  : { readonly [Name in ParameterNames<Path>]: string }

/** The output of a schema; `Otherwise` without one. */
type OutputOf<Schema, Otherwise> = Schema extends StandardSchema<unknown, infer Output> ? Output : Otherwise

/** The body as a route gets it. */
export type BodyOf<Body extends RouteBody> = Body extends 'json'
  ? unknown
  : Body extends 'raw'
    ? Buffer
    : Body extends 'stream'
      ? AsyncIterable<Uint8Array>
      : OutputOf<Body, undefined>

interface RouteBase<Path extends string, Params, Query, Body> {
  readonly method: RouteMethod
  /** `/orders/:documentId/checkout`. The first part is a name, the others are names or `:parameter`s. */
  readonly path: Path
  /** The base of the path: the prefix of the API (`api`, the default) or the root (`root`). */
  readonly base?: 'api' | 'root'
  /** Validates the parameters of the path, which are texts. */
  readonly params?: Params
  /** Validates the query string, parsed into objects and lists of texts. */
  readonly query?: Query
  /**
   * A schema that validates a JSON or form body; `json`: the body without validation; `raw`: its bytes, at most `limits.bodyBytes`; `stream`:
   * its bytes as they arrive, at most `limits.uploadBytes`. Without it, the body is not read.
   */
  readonly body?: Body
  /** For descriptions of the API: one line. */
  readonly summary?: string
  /** For descriptions of the API: further sentences. */
  readonly description?: string
  /** The groups of descriptions that the route is shown in; default: `routes`. The singular name of a content-type is its group. */
  readonly tags?: readonly string[]
  /** The response for descriptions of the API; responses are not validated. Default: status 200 with any body. */
  readonly response?: RouteResponse
}

/**
 * A response: JSON Schema, or a schema of a library that has a JSON Schema. The `contentMediaType` of a text is the media type of the
 * response, which is JSON otherwise. Several responses are an object of these by status; null: a response without a body.
 */
export type RouteResponse = StandardSchema | JsonSchema | ResponsesByStatus

/** Responses by status: `{ 201: order, 204: null }`. */
export type ResponsesByStatus = Readonly<Record<number, StandardSchema | JsonSchema | null>>

/** Callers of a route: those with permission for an action, or all. */
type RouteAccess =
  | {
      /** The action that a role or a token is granted, e.g. `api::order.order.checkout`. Several routes may have the same. */
      readonly action: string
      readonly auth?: true
    }
  | {
      readonly action?: undefined
      /** False: everybody may call the route. Credentials are not looked at, and the caller is always the public. */
      readonly auth: false
    }

/** A route with the types of its parameters, query and body. */
export type RouteDefinition<
  Path extends string,
  Params extends StandardSchema | undefined,
  Query extends StandardSchema | undefined,
  Body extends RouteBody,
> = RouteBase<Path, Params, Query, Body> &
  RouteAccess & {
    /**
     * Returns the response: a value, which is sent as JSON; a `Response`; an async iterable or stream of texts or bytes; or nothing, for 204. It
     * may throw an `ApiError`, or an error with the name of one, to be the response.
     */
    handle(
      call: RouteCall<OutputOf<Params, PathParameters<Path>>, OutputOf<Query, Readonly<Record<string, unknown>>>, BodyOf<Body>>,
    ): unknown
  }

/** A route of the project. `defineRoute` gives its parameters, query and body their types. */
export type CustomRoute = RouteBase<string, StandardSchema | undefined, StandardSchema | undefined, RouteBody> &
  RouteAccess & { handle(call: RouteCall): unknown }

/** The result of a validation. */
export type SchemaResult<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] }

/** Why a value is invalid, and where. */
export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** A JSON Schema (2020-12), as OpenAPI 3.1 has it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The part of a library's schema that is Standard JSON Schema. */
export interface JsonSchemaConverter {
  input(options: JsonSchemaOptions): Record<string, unknown>
  output(options: JsonSchemaOptions): Record<string, unknown>
}

/** Options of a conversion. */
export interface JsonSchemaOptions {
  readonly target: 'draft-2020-12'
  readonly libraryOptions?: Record<string, unknown> | undefined
}

/** A schema of any library that implements the interface. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    /** Converts the schema to JSON Schema, for descriptions of the API: its input, and its output. Not every library has it. */
    readonly jsonSchema?: JsonSchemaConverter | undefined
    /** Never there: it only carries the types. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}
