// The policies of the project: whether a caller may do what its permissions allow, by the request itself.
import { ApiError } from '../errors/errors.js'
import type { DocumentService } from '../public/documents.js'
import type { PolicyCall, TypeSettings } from '../public/type-settings.js'
import { withTimeout } from '../runtime/timeout.js'
import { answerOf } from './code-errors.js'
import type { AskedOperation } from './read/around.js'

/** What the code of a project around requests uses. */
export interface TypeCodeOptions {
  /** Milliseconds for each function. */
  readonly hookTimeout: number
  /** The document service that it gets. */
  readonly documents: DocumentService
}

/** @throws ApiError 403 if a policy refuses, or what it throws; Error if it returns neither true nor false */
export type CheckPolicies = (asked: AskedOperation) => Promise<void>

/** Opens the policies of the project; null if it has none, so that they cost nothing. */
export function openPolicies(types: Readonly<Record<string, TypeSettings>>, options: TypeCodeOptions): CheckPolicies | null {
  const known = new Map(Object.entries(types).flatMap(([uid, { policies }]) => (policies === undefined ? [] : [[uid, policies] as const])))
  if (known.size === 0) return null
  return async (asked) => {
    const policy = known.get(asked.type.uid)?.[asked.action]
    if (policy === undefined) return
    const name = `the policy ${asked.action} of ${asked.type.uid}`
    // A policy looks: what it changes in the request, nobody sees.
    const call = {
      ...callOf(asked, options),
      query: structuredClone(asked.parameters),
      data: structuredClone(asked.data) as PolicyCall['data'],
    }
    let allows: unknown
    try {
      allows = await withTimeout(options.hookTimeout, name, (signal) => policy({ ...call, signal }))
    } catch (error) {
      throw answerOf(name, error)
    }
    if (typeof allows !== 'boolean') throw new Error(`${name} returned neither true nor false`)
    if (!allows) throw new ApiError('PolicyError', 'Policy Failed')
  }
}

/** What every function of a project around requests is told. */
export const callOf = ({ type, action, caller, grants, documentId }: AskedOperation, { documents }: TypeCodeOptions) => ({
  ...{ uid: type.uid, action, documentId, caller, documents },
  may: grants.may,
})
