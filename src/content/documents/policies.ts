// The policies of the project: whether a caller may do what its permissions allow, by the request itself.
import { ApiError } from '../../foundation/errors/errors.js'
import type { DocumentService } from '../../foundation/public/documents.js'
import type { PolicyCall, TypeSettings } from '../../foundation/public/type-settings.js'
import { runCode } from '../../foundation/runtime/project-code.js'
import { answerOf } from './code-errors.js'
import type { AskedOperation, Policies } from './read/around.js'

/** What the code of a project around requests uses. */
export interface TypeCodeOptions {
  /** Milliseconds for each function. */
  readonly hookTimeout: number
  /** Returns the document service that it gets, for a request. */
  documents(requestId: string | null): DocumentService
}

/** Opens the policies of the project; null if it has none, so that they cost nothing. */
export function openPolicies(types: Readonly<Record<string, TypeSettings>>, options: TypeCodeOptions): Policies | null {
  const known = new Map(Object.entries(types).flatMap(([uid, { policies }]) => (policies === undefined ? [] : [[uid, policies] as const])))
  if (known.size === 0) return null
  async function check(asked: AskedOperation): Promise<void> {
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
      allows = await runCode({ name, requestId: asked.requestId }, options.hookTimeout, (signal) => policy({ ...call, signal }))
    } catch (error) {
      throw answerOf(name, error)
    }
    if (typeof allows !== 'boolean') throw new Error(`${name} returned neither true nor false`)
    if (!allows) throw new ApiError('PolicyError', 'Policy Failed')
  }
  return { check, has: (action) => [...known.values()].some((policies) => policies[action] !== undefined) }
}

/** What every function of a project around requests is told. */
export const callOf = ({ type, action, caller, requestId, grants, documentId }: AskedOperation, { documents }: TypeCodeOptions) => ({
  ...{ uid: type.uid, action, documentId, caller, documents: documents(requestId) },
  may: grants.may,
})
