// Types of the project's code around reads: its view of a request, policies and hooks.
import type { ReadResult } from '../../../database/database.js'
import type { Grants } from '../../../foundation/grants.js'
import type { OperationCaller } from '../../../foundation/public/documents.js'
import type { ApiAction, ReadResponse } from '../../../foundation/public/type-settings.js'
import type { ContentType } from '../../../model/schema/types.js'
import type { Parameters } from '../../../query/rest/parameters.js'

/** A caller of the API, and its request. */
export interface ReadCaller {
  readonly caller: OperationCaller
  readonly requestId: string | null
}

/** A request of the API that its caller has the permission for. */
export interface CodeRequest extends ReadCaller {
  readonly type: ContentType
  readonly action: ApiAction
  readonly grants: Grants
  readonly documentId: string | null
  readonly parameters: Parameters
  /** Null: the action takes none. */
  readonly data: unknown
}

/** The project's code around the reads of one type. */
export interface TypeReadHooks {
  /** Returns the parameters to read with. @throws ApiError as the response */
  before(asked: CodeRequest): Promise<Parameters>
  /** Returns the response as the project wants it; null: it leaves responses as they are. */
  readonly after: ((asked: CodeRequest, answer: ReadResult, format: ReadResponse['format']) => Promise<ReadResult>) | null
}

/** Finds the code around the reads of a type; null: none. */
export type FindReadHooks = (uid: string) => TypeReadHooks | null

/** The policies of the project. */
export interface Policies {
  /** @throws ApiError 403 if a policy refuses, or its error; Error if it returns neither true nor false */
  check(asked: CodeRequest): Promise<void>
  /** True if a type has a policy for this action. */
  has(action: ApiAction): boolean
}
