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
  /** True for code of the project: only its conditions and sort keys may name private attributes. */
  readonly comparesPrivate?: true
  /** For administrators: which attributes and locales. Absent: all that are not private, in every locale. */
  readonly content?: ContentRights
}

/** Permissions of an administrator for documents of the types that `may` allows. */
export interface ContentRights {
  /** By uid, the attributes that are shown, private ones too; none of a type that is absent. Passwords are never shown. */
  readonly readable: ReadonlyMap<string, AttributeGrants>
  /** The rights to do `action`, such as `update` or `discardDraft`, to documents of a type; it may be done where one of them holds. */
  toWrite(uid: string, action: string): readonly ContentRight[]
  /** The files that a write may link to, as the scope of their type. */
  readonly linkableFiles: Scopes
}

/** One right to do one thing to documents of a type. */
export interface ContentRight {
  /** The attributes that may be given, or are shown. */
  readonly attributes: AttributeGrants
  /** In these locales; null: in all, or the type has none. */
  readonly locales: readonly string[] | null
  /** Filters of the versions that the right applies to; null: none. */
  readonly scope: Readonly<Record<string, unknown>> | null
}

/** Attributes of a type or a component: all, or those named, and of the components in them what is named below. */
export type AttributeGrants = 'all' | ReadonlyMap<string, AttributeGrants>

/** No attribute. */
export const noAttributes: AttributeGrants = new Map()

export const isGranted = (attributes: AttributeGrants, name: string): boolean => attributes === 'all' || attributes.has(name)

/** The attributes of the component at `name`. */
export const grantedBelow = (attributes: AttributeGrants, name: string): AttributeGrants =>
  attributes === 'all' ? 'all' : (attributes.get(name) ?? noAttributes)

/** The attributes of both. */
export function unionOf(one: AttributeGrants, other: AttributeGrants): AttributeGrants {
  if (one === 'all' || other === 'all') return 'all'
  const below = (name: string) => unionOf(one.get(name) ?? noAttributes, other.get(name) ?? noAttributes)
  return new Map([...new Set([...one.keys(), ...other.keys()])].map((name) => [name, below(name)]))
}

/** The attributes that are in both. */
export function intersectionOf(one: AttributeGrants, other: AttributeGrants): AttributeGrants {
  if (one === 'all') return other
  if (other === 'all') return one
  return new Map([...one].flatMap(([name, below]) => (other.has(name) ? [[name, intersectionOf(below, other.get(name)!)]] : [])))
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
