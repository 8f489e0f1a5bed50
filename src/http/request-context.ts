// What a route sees of a request, and what it answers. Routes are rows of tables; server.ts wires them up.
import type { IncomingMessage } from 'node:http'
import type { AccessState } from '../access/access-state.js'
import type { Caller } from '../access/identify.js'
import type { AccountContext } from '../accounts/context.js'
import type { Config } from '../config/config.js'
import type { Documents, ReadBytes } from '../documents/read/find.js'
import type { DocumentWrites } from '../documents/write.js'
import type { Installation } from '../installation.js'
import type { AddSourceMaps } from '../source-maps/source-maps.js'
import type { Library } from '../uploads/library.js'
import type { IncomingBody } from './incoming-bodies.js'

export interface RequestContext {
  readonly caller: Caller
  readonly access: AccessState
  /** What the whole request is answered by; `documents`, `writes` and `accounts` are its own. */
  readonly installation: Installation
  readonly documents: Documents
  readonly writes: DocumentWrites
  /** What acts on accounts need. */
  readonly accounts: AccountContext
  readonly config: Config
  /** The address of the caller's side of the connection; behind configured proxies, the one they tell. */
  readonly address: string
  readonly library: Library
  /** Every file in an answer says whether its address is signed. */
  readonly signsAddresses: boolean
  readonly params: Readonly<Record<string, string>>
  /** The query string as it came, without the question mark. */
  readonly query: string
  readonly format: 'flat' | 'nested'
  /** Writes into an answer where its texts come from; null where nobody asked for that. */
  readonly markSources: AddSourceMaps | null
  /** The request itself, for routes that read its headers, address or stream. */
  readonly request: IncomingMessage
  /** True once the client's connection is closed: nobody waits for the answer. */
  isGone(): boolean
  /** Begins to count what is kept of a body until it is whole. */
  coming(): IncomingBody
  /** Reads the parsed body; `undefined` where there is none. @throws ApiError 400, 408, 413, 499, 503 */
  body(): Promise<unknown>
}

/** JSON bytes, or a value to write as JSON; neither: no content. */
export interface Reply {
  readonly status: number
  readonly bytes?: ReadBytes
  readonly value?: unknown
  readonly headers?: Readonly<Record<string, string | string[]>>
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below the prefix of the API; `:name` matches one part of the path. */
  readonly path: string
  /** What the caller must be granted. */
  readonly action: string
  readonly handle: (context: RequestContext) => Promise<Reply>
}

export const okBytes = (bytes: ReadBytes): Reply => ({ status: 200, bytes })
export const created = (bytes: ReadBytes): Reply => ({ status: 201, bytes })
export const ok = (value: unknown): Reply => ({ status: 200, value })
export const noContent: Reply = { status: 204 }
