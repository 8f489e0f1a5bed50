// Which documents exist for a caller: the scopes of the project, asked once for each request, as part of its grants.
import { ConfigError } from '../errors/errors.js'
import { type Grants, withinScopes } from '../grants.js'
import type { Model } from '../model/types.js'
import type { DocumentService, OperationCaller } from '../public/documents.js'
import type { ScopeResult, TypeSettings } from '../public/type-settings.js'
import { withTimeout } from '../runtime/timeout.js'

/** What scopes use. */
export interface ScopeOptions {
  /** Milliseconds for all scopes of a request. */
  readonly hookTimeout: number
  /** The document service that scopes get. */
  readonly documents: DocumentService
}

/**
 * Returns the grants of a caller within the scopes of the project.
 * @throws Error if a scope fails or returns what is no scope: the request sees nothing then. ApiError 503 if it takes too long
 */
export type ApplyScopes = (caller: OperationCaller, grants: Grants) => Promise<Grants>

type Ask = NonNullable<TypeSettings['scope']>

/** Opens the scopes of the project; null if it has none, so that they cost nothing. */
export function openScopes(types: Readonly<Record<string, TypeSettings>>, { hookTimeout, documents }: ScopeOptions): ApplyScopes | null {
  const asked = Object.entries(types).flatMap(([uid, { scope }]) => (scope === undefined ? [] : [[uid, scope] as const]))
  if (asked.length === 0) return null
  const whole = (result: ScopeResult): boolean => result === true

  return async (caller, grants) => {
    const call = { caller, may: grants.may, documents }
    const results: (readonly [string, ScopeResult])[] = []
    await withTimeout(hookTimeout, 'a scope', async (signal) => {
      for (const [uid, scope] of asked) results.push([uid, await resultOf(uid, scope, { ...call, uid, signal })])
    })
    const scopes = results.flatMap(([uid, result]) => (whole(result) ? [] : [[uid, result === false ? null : result] as const]))
    return scopes.length === 0 ? grants : withinScopes(grants, new Map(scopes as [string, Record<string, unknown> | null][]))
  }
}

/** What a scope returns, as plain data. A scope that returns nothing shows nothing: it has forgotten a case. */
async function resultOf(uid: string, scope: Ask, call: Parameters<Ask>[0]): Promise<ScopeResult> {
  const result: unknown = await scope(call)
  if (typeof result === 'boolean') return result
  if (typeof result !== 'object' || result === null || Array.isArray(result))
    throw new Error(`The scope of ${uid} returned neither filters nor true or false`)
  const problem = problemIn(result)
  if (problem !== null) throw new Error(`The scope of ${uid} ${problem}`)
  return JSON.parse(JSON.stringify(result)) as Record<string, unknown>
}

/** What would make a condition vanish or mean something else than it seems to; null: nothing. */
function problemIn(value: unknown, path = ''): string | null {
  const at = path === '' ? '' : ` at ${path}`
  if (value === undefined || value === null) return `compares with ${value}${at}; "no value" is { $null: true }`
  if (typeof value !== 'object' || value instanceof Date) return null
  const entries = Object.entries(value)
  if (entries.length === 0 && !/\.?\$(in|notIn)$/.test(path)) return `has no condition${at}; return true for all documents`
  for (const [key, inner] of entries) {
    const problem = problemIn(inner, path === '' ? key : `${path}.${key}`)
    if (problem !== null) return problem
  }
  return null
}

/** Checks the types that have settings. @throws ConfigError if the model lacks one, or if it cannot have a scope */
export function checkTypes(types: Readonly<Record<string, TypeSettings>>, model: Model): void {
  for (const [uid, { scope, defaults }] of Object.entries(types)) {
    if (!model.types.has(uid)) throw new ConfigError(`octavo.config is not right: types: there is no type ${uid}.`)
    if ((scope !== undefined || defaults !== undefined) && !uid.startsWith('api::'))
      throw new ConfigError(`octavo.config is not right: types: ${uid} cannot have settings; the project's own types can.`)
  }
}
