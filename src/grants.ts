// The permissions of a caller as a value: access creates it, documents and query check it. It contains actions, not users.

/** The permissions of one caller. An action that is absent is refused; anonymous callers have grants too, never null. */
export interface Grants {
  /** Equal for callers with exactly the same permissions; part of the key of every cached plan. */
  readonly key: string
  /** True if the caller may perform `action`, e.g. `api::article.article.find`. */
  may(action: string): boolean
}

/** Returns grants for a fixed set of actions. */
export function grantsOf(key: string, actions: ReadonlySet<string>): Grants {
  return { key, may: (action) => actions.has(action) }
}

/** Grants for every action: for full-access tokens and the service itself. */
export const fullAccess: Grants = { key: 'everything', may: () => true }
