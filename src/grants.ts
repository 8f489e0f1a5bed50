// The permissions of a caller as a value: access creates it, documents and query check it. It contains actions, not users.

/** The permissions of one caller. An action that is absent is refused; anonymous callers have grants too, never null. */
export interface Grants {
  /** Equal for callers with exactly the same permissions and scopes; part of the key of every cached plan. */
  readonly key: string
  /** True if the caller may perform `action`, e.g. `api::article.article.find`. */
  may(action: string): boolean
  /**
   * By uid, the filters that a version of a document fulfils if it exists for the caller, as in the `filters` of a request; null: none does.
   * A type that is absent has no scope.
   */
  readonly scopes: Scopes
  /** True for code of the project: its conditions and sort keys may name private attributes, which nobody else may compare. */
  readonly comparesPrivate?: true
}

/** See `Grants.scopes`. */
export type Scopes = ReadonlyMap<string, Readonly<Record<string, unknown>> | null>

/** All documents exist. */
export const noScopes: Scopes = new Map()

/** Returns grants for a fixed set of actions. */
export function grantsOf(key: string, actions: ReadonlySet<string>): Grants {
  return { key, may: (action) => actions.has(action), scopes: noScopes }
}

/** Returns the same permissions within these scopes. */
export function withinScopes({ key, may }: Grants, scopes: Scopes): Grants {
  return { key: `${key} ${JSON.stringify([...scopes])}`, may, scopes }
}

/** Grants for every action: for full-access tokens and the service itself. */
export const fullAccess: Grants = { key: 'everything', may: () => true, scopes: noScopes }

/** Grants for every action, for code of the project. */
export const projectAccess: Grants = { ...fullAccess, key: 'the project', comparesPrivate: true }
