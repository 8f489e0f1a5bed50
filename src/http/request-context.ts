// The context of a request, its reply, and the definition of a route. Routes are rows of tables that server.ts registers.
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DocumentReads, ReadBytes } from '../content/documents/read/find.js'
import type { ReadCaller } from '../content/documents/read/hooks.js'
import type { DocumentWrites } from '../content/documents/write.js'
import type { Library } from '../content/media/library.js'
import type { AddSourceMaps } from '../content/source-maps.js'
import type { Config } from '../foundation/config/config.js'
import type { Metrics } from '../foundation/runtime/metrics.js'
import type { AccessState } from '../identity/access/access-state.js'
import type { AccountSettings } from '../identity/access/account-settings.js'
import type { Caller } from '../identity/access/identify.js'
import { strangerAt } from '../identity/access/rate-limit.js'
import type { AccountContext } from '../identity/accounts/context.js'
import type { Installation } from '../project/installation.js'
import type { ModelChanges } from '../project/model-changes/builder-request.js'
import type { IncomingBody } from './memory-budgets.js'

/** Everything that a route needs to handle a request. */
export interface RequestContext {
  readonly caller: Caller
  readonly access: AccessState
  /** The installation for the whole request; `documents`, `writes` and `accounts` belong to it. */
  readonly installation: Installation
  /** Releases the installation before a change of the model, which waits for all requests. It must not be used afterwards. */
  readonly leaveInstallation: () => void
  readonly documents: DocumentReads
  readonly writes: DocumentWrites
  readonly accounts: AccountContext
  readonly config: Config
  readonly modelChanges: ModelChanges
  /** The client's IP address; with trusted proxies, the one they send. */
  readonly address: string
  readonly library: Library
  /** True if every file in a response states whether its URL is signed. */
  readonly signsAddresses: boolean
  readonly params: Readonly<Record<string, string>>
  /** The raw query string without the question mark. */
  readonly query: string
  readonly format: 'flat' | 'nested'
  /** Adds source maps to a response; null if the client did not ask for them. */
  readonly markSources: AddSourceMaps | null
  /** Null: nothing is measured. */
  readonly metrics: Metrics | null
  /** The caller and the request, as code of the project gets them. */
  readonly asker: ReadCaller
  /** The request itself, for routes that read its headers, address or stream. */
  readonly request: IncomingMessage
  /** When the request arrived (`elapsed`). */
  readonly since: number
  /** True once the client has closed the connection. */
  isGone(): boolean
  /** Adds headers to the response, also where it is an error. */
  addHeaders(headers: Readonly<Record<string, string>>): void
  /** Starts to count the memory of an incomplete body. */
  beginBody(): IncomingBody
  /** Reads and parses the body; `undefined` if there is none. @throws ApiError 400, 408, 413, 499, 503 */
  body(): Promise<unknown>
}

export interface ByteSource {
  /** The next piece; null after the last one. Called once at a time. */
  next(): Promise<Uint8Array | null>
  /** Ends it: `next` is not called again. Never throws. */
  cancel(): void
}

/** A reply with bytes, which are JSON unless the headers say otherwise, a value to serialize as JSON, a stream, or no content. */
export interface Reply {
  readonly status: number
  readonly bytes?: ReadBytes
  readonly source?: ByteSource
  readonly value?: unknown
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** Ids of created or changed rows that are not in the path: each has a line in the audit log. */
  readonly changed?: readonly number[]
}

/** A refused request, possibly before its route was called. */
export interface RefusedRequest {
  readonly error: unknown
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly config: Config
  settings(): Promise<AccountSettings>
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path below the prefix of the API; `:name` matches one segment. */
  readonly path: string
  /** The action that the caller must be granted. */
  readonly action: string
  /** It does not use content, so scopes are not applied, and documents of types with a scope do not exist for it. */
  readonly isContentless?: boolean
  /** True: a GET changes something. HEAD does not handle it. */
  readonly changes?: boolean
  /** Responds to a refusal in another form than JSON. @throws the error that stays as it is */
  readonly refuse?: (refused: RefusedRequest) => Promise<FastifyReply>
  readonly handle: (context: RequestContext) => Promise<Reply>
}

/** A reply with status 200 and JSON bytes. */
export const okBytes = (bytes: ReadBytes): Reply => ({ status: 200, bytes })
/** A reply with status 201 and JSON bytes. */
export const created = (bytes: ReadBytes): Reply => ({ status: 201, bytes })
/** A reply with status 200 and a value. */
export const ok = (value: unknown): Reply => ({ status: 200, value })
/** A reply with status 204. */
export const noContent: Reply = { status: 204 }

/** The caller of a request, without its grants. */
export function toAsker(caller: Caller, requestId: string): ReadCaller {
  const { kind } = caller
  return { caller: kind === 'public' ? { kind } : { kind, id: caller.id }, requestId }
}

/** The name of a caller in the log, such as `user 7`. */
export const getCallerName = ({ caller }: ReadCaller): string => (caller.kind === 'public' ? caller.kind : `${caller.kind} ${caller.id}`)

/** The name under which a caller waits for turns. Callers without credentials are distinguished by their addresses. */
export const getTurnName = ({ asker, address }: Pick<RequestContext, 'asker' | 'address'>): string =>
  asker.caller.kind === 'public' ? strangerAt(address) : getCallerName(asker)

/** The account operations of a request, whose passwords wait for the turns of its caller. */
export const withTurns = (context: Pick<RequestContext, 'accounts' | 'asker' | 'address'>): AccountContext => {
  const { accounts } = context
  return { ...accounts, passwords: accounts.passwords.of(getTurnName(context)) }
}
