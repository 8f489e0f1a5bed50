// The project's policies, which refuse requests in addition to permissions, and conversion of errors thrown by project code.
import { ApiError, type ErrorName } from '../../../foundation/errors/errors.js'
import type { DocumentService } from '../../../foundation/public/documents.js'
import type { PolicyCall, TypeSettings } from '../../../foundation/public/type-settings.js'
import { failureOf, runCode } from '../../../foundation/runtime/project-code.js'
import type { CodeRequest, Policies } from '../read/plans.js'

export interface TypeCodeOptions {
  /** Time limit of each function, in milliseconds. */
  readonly hookTimeout: number
  /** The document service for functions, for a request. */
  documents(requestId: string | null): DocumentService
}

/** Returns null if there are none, so that they cost nothing. */
export function createPolicies(types: Readonly<Record<string, TypeSettings>>, options: TypeCodeOptions): Policies | null {
  const known = new Map(Object.entries(types).flatMap(([uid, { policies }]) => (policies === undefined ? [] : [[uid, policies] as const])))
  if (known.size === 0) return null
  async function check(asked: CodeRequest): Promise<void> {
    const policy = known.get(asked.type.uid)?.[asked.action]
    if (policy === undefined) return
    const name = `the policy ${asked.action} of ${asked.type.uid}`
    // Copies, because policies must not change the request.
    const call = {
      ...toCodeCall(asked, options),
      query: structuredClone(asked.parameters),
      data: structuredClone(asked.data) as PolicyCall['data'],
    }
    let allows: unknown
    try {
      allows = await runCode({ name, requestId: asked.requestId }, options.hookTimeout, (signal) => policy({ ...call, signal }))
    } catch (error) {
      throw toResponseError(name, error)
    }
    if (typeof allows !== 'boolean') throw new Error(`${name} returned neither true nor false`)
    if (!allows) throw new ApiError('PolicyError', 'Policy Failed')
  }
  return { check, has: (action) => [...known.values()].some((policies) => policies[action] !== undefined) }
}

/** Describes a request to project functions. */
export const toCodeCall = ({ type, action, caller, requestId, grants, documentId }: CodeRequest, { documents }: TypeCodeOptions) => ({
  uid: type.uid,
  action,
  documentId,
  caller,
  documents: documents(requestId),
  may: grants.may,
})

/** Errors that become responses. Built-in errors have other names: those are bugs. */
const responseErrors: ReadonlySet<string> = new Set<ErrorName>([
  'ApplicationError',
  'BadRequestError',
  'ValidationError',
  'UnauthorizedError',
  'ForbiddenError',
  'PolicyError',
  'NotFoundError',
  'ConflictError',
  'PayloadTooLargeError',
  'UnprocessableEntityError',
  'RateLimitError',
  'NotImplementedError',
  'ServiceUnavailableError',
])

/** Converts an error of project code to a response or, if it is a bug, to an error that names the code. */
export function toResponseError(code: string, error: unknown): Error {
  if (error instanceof ApiError) return error
  if (!(error instanceof Error) || !responseErrors.has(error.name)) return failureOf(code, error)
  const { details } = error as { details?: unknown }
  const isDetails = typeof details === 'object' && details !== null
  return new ApiError(error.name as ErrorName, error.message, isDetails ? (details as Record<string, unknown>) : {})
}
