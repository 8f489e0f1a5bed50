// What code of the project is told of a request, and what it does around reads.
import type { ReadAnswer } from '../../../database/database.js'
import type { Grants } from '../../../foundation/grants.js'
import type { OperationCaller } from '../../../foundation/public/documents.js'
import type { ApiAction, ReadResponse } from '../../../foundation/public/type-settings.js'
import type { ContentType } from '../../../model/schema/types.js'
import type { Parameters } from '../../../query/rest/parameters.js'

/** Who asks over the API, and by which request. */
export interface Asker {
  readonly caller: OperationCaller
  readonly requestId: string | null
}

/** A request of the API that its caller has the permission for. */
export interface AskedOperation extends Asker {
  readonly type: ContentType
  readonly action: ApiAction
  readonly grants: Grants
  readonly documentId: string | null
  readonly parameters: Parameters
  /** Null: the action takes none. */
  readonly data: unknown
}

/** What of a project is around the reads of one type. */
export interface AroundReads {
  /** Returns the parameters to read with. @throws ApiError as the response */
  before(asked: AskedOperation): Promise<Parameters>
  /** Returns the response as the project wants it; null: it leaves responses as they are. */
  readonly after: ((asked: AskedOperation, answer: ReadAnswer, format: ReadResponse['format']) => Promise<ReadAnswer>) | null
}

/** Finds what is around the reads of a type; null: nothing. */
export type FindAroundReads = (uid: string) => AroundReads | null

/** The policies of the project. */
export interface Policies {
  /** @throws ApiError 403 if a policy refuses, or what it throws; Error if it returns neither true nor false */
  check(asked: AskedOperation): Promise<void>
  /** True if a type has a policy for this action. */
  has(action: ApiAction): boolean
}
