// Scopes of the project decide which documents exist for a caller. They are evaluated once per request, as part of its grants.
import { ApiError, ConfigError } from '../../../foundation/errors/errors.js'
import { type Grants, withinScopes } from '../../../foundation/grants.js'
import type { ScopeResult, TypeSettings } from '../../../foundation/public/type-settings.js'
import { named, withTimeout } from '../../../foundation/runtime/project-code.js'
import type { Model } from '../../../model/schema/types.js'
import type { TypeCodeOptions } from '../code/policies.js'
import type { ReadCaller } from '../read/plans.js'

export interface ProjectScopes {
  /**
   * Restricts grants to the caller's scopes.
   * @throws Error if a scope fails or returns an invalid value: the request sees nothing. ApiError 503 on timeout
   */
  apply(asker: ReadCaller, grants: Grants): Promise<Grants>
  /** Hides all documents of types with a scope, without evaluating scopes. */
  hideAll(grants: Grants): Grants
}

type ScopeFunction = NonNullable<TypeSettings['scope']>

/** Returns null if there are none, so that they cost nothing. */
export function createScopes(
  types: Readonly<Record<string, TypeSettings>>,
  { hookTimeout, documents }: TypeCodeOptions,
): ProjectScopes | null {
  const asked = Object.entries(types).flatMap(([uid, { scope }]) => (scope === undefined ? [] : [[uid, scope] as const]))
  if (asked.length === 0) return null
  const whole = (result: ScopeResult): boolean => result === true

  async function apply({ caller, requestId }: ReadCaller, grants: Grants): Promise<Grants> {
    const call = { caller, may: grants.may, documents: documents(requestId) }
    const results: (readonly [string, ScopeResult])[] = []
    await withTimeout(hookTimeout, 'a scope', async (signal) => {
      for (const [uid, scope] of asked) results.push([uid, await runScope(uid, scope, { ...call, uid, signal }, requestId)])
    })
    const scopes = results.flatMap(([uid, result]) => (whole(result) ? [] : [[uid, result === false ? null : result] as const]))
    return scopes.length === 0 ? grants : withinScopes(grants, new Map(scopes as [string, Record<string, unknown> | null][]))
  }

  const nothing = new Map(asked.map(([uid]) => [uid, null] as const))
  return { apply, hideAll: (grants) => withinScopes(grants, nothing) }
}

/**
 * Evaluates a scope to plain data. Returning undefined is an error: the scope lacks a case.
 * @throws Error also for an error thrown by the scope, which is not a response; ApiError 503 if the database is unavailable
 */
async function runScope(
  uid: string,
  scope: ScopeFunction,
  call: Parameters<ScopeFunction>[0],
  requestId: string | null,
): Promise<ScopeResult> {
  const result: unknown = await Promise.resolve()
    .then(() => named({ name: `the scope of ${uid}`, requestId }, () => scope(call)))
    .catch((error: unknown) => {
      throw error instanceof ApiError && error.status === 503 ? error : new Error(`The scope of ${uid} failed`, { cause: error })
    })
  if (typeof result === 'boolean') return result
  if (typeof result !== 'object' || result === null || Array.isArray(result))
    throw new Error(`The scope of ${uid} returned neither filters nor true or false`)
  return toPlainFilter(uid, result, '') as Record<string, unknown>
}

/** Copies as plain data. @throws Error for values that would drop a condition or change its meaning */
function toPlainFilter(uid: string, value: unknown, path: string): unknown {
  const at = path === '' ? '' : ` at ${path}`
  if (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return value
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString()
  const below = (inner: unknown, key: string | number) => toPlainFilter(uid, inner, path === '' ? `${key}` : `${path}.${key}`)
  const isList = Array.isArray(value)
  if (!isList && !isPlainObject(value))
    throw new Error(`The scope of ${uid} compares with ${describeValue(value)}${at}; "no value" is { $null: true }`)
  const entries = Object.entries(value)
  if (entries.length === 0 && !/\$(in|notIn)$/.test(path))
    throw new Error(`The scope of ${uid} has no condition${at}; return true for all documents`)
  return isList ? value.map(below) : Object.fromEntries(entries.map(([key, inner]) => [key, below(inner, key)]))
}

const isPlainObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null)

const describeValue = (value: unknown): string =>
  value === null || value === undefined || typeof value === 'number' ? String(value) : `a value of type ${typeof value}`

/** @throws ConfigError for settings of types that the model lacks, or that cannot have a scope */
export function checkTypes(types: Readonly<Record<string, TypeSettings>>, model: Model): void {
  for (const [uid, settings] of Object.entries(types)) {
    if (!model.types.has(uid)) throw new ConfigError(`Invalid configuration (octavo.config): types: there is no type ${uid}.`)
    if (Object.keys(settings).length > 0 && !uid.startsWith('api::'))
      throw new ConfigError(`Invalid configuration (octavo.config): types: ${uid} cannot have settings; the project's own types can.`)
  }
}
