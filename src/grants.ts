// What a caller may do, as a value: auth makes it, documents and query ask it. It knows actions, not users.

/** The permissions of one caller. Absence of an action is a refusal; there is no anonymous null. */
export interface Grants {
  /** Equal for callers that may do exactly the same: part of the key of every cached plan. */
  readonly key: string
  /** True if the caller may perform `action`, e.g. `api::article.article.find`. */
  may(action: string): boolean
}

/** Grants of a fixed set of actions. */
export function grantsOf(key: string, actions: ReadonlySet<string>): Grants {
  return { key, may: (action) => actions.has(action) }
}

/** Everything: full-access tokens, and the service itself. */
export const fullAccess: Grants = { key: 'everything', may: () => true }
