// Values of code that is read and not run: plain data, functions, and values that are only known when the code runs.

/** A value that is only known when the code runs. */
export interface Unknown {
  readonly kind: typeof unknown
  /** The names that lead to it: ['request', 'state', 'user']. A call adds `()` and the texts of its arguments. */
  readonly path: readonly string[]
  /** The parameters of the request that it depends on. */
  readonly parameters: readonly string[]
  /** It is a parameter that the request has. */
  readonly isGiven: boolean
  /** Members that are known. */
  readonly known: Record<string, unknown>
}
const unknown: unique symbol = Symbol('unknown')

export const createUnknown = (path: readonly string[], more: Partial<Omit<Unknown, 'kind' | 'path'>> = {}): Unknown => ({
  kind: unknown,
  path,
  parameters: more.parameters ?? [],
  isGiven: more.isGiven ?? false,
  known: more.known ?? {},
})

/** The result of `createCoreController` and the like. */
export interface Core {
  readonly kind: typeof core
  readonly uid: string | null
  /** The second argument, or the value that it returns. */
  readonly extension: unknown
}
const core: unique symbol = Symbol('core')

export const createCore = (uid: string | null, extension: unknown): Core => ({ kind: core, uid, extension })

const isOfKind = (value: unknown, kind: symbol): boolean =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === kind
export const isUnknown = (value: unknown): value is Unknown => isOfKind(value, unknown)
export const isCore = (value: unknown): value is Core => isOfKind(value, core)

export type AnyFunction = (...given: readonly unknown[]) => unknown
export type PlainObject = Record<PropertyKey, unknown>

/** The parameters of a query, and those of reads in code. */
export const parameters = [
  ...['populate', 'filters', 'fields', 'sort', 'locale', 'status', 'pagination', '_q', 'publicationFilter'],
  ...['start', 'limit', 'where', 'orderBy', 'select'],
]

/** The unknown values whose members an object has as well. */
const spreads: unique symbol = Symbol('spreads')
/** Marks the query of a request, which may have members with other names than those of parameters. */
export const isQuery: unique symbol = Symbol('query')

export const isFunction = (value: unknown): value is AnyFunction => typeof value === 'function'
export const isPlain = (value: unknown): value is PlainObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isUnknown(value) && !isCore(value)

export const getSpreads = (value: PlainObject): readonly Unknown[] => (value[spreads] as readonly Unknown[] | undefined) ?? []
export const addSpread = (object: PlainObject, ...values: readonly Unknown[]): void =>
  define(object, spreads, [...getSpreads(object), ...values])

/** All unknown values in a value. */
export function findUnknown(value: unknown, seen = new Set<unknown>()): readonly Unknown[] {
  if (isUnknown(value)) return [value]
  if (typeof value !== 'object' || value === null || isCore(value) || seen.has(value)) return []
  seen.add(value)
  return [...getSpreads(value as PlainObject), ...Object.values(value).flatMap((each) => findUnknown(each, seen))]
}

/** A value that is computed from others. */
export const derive = (from: readonly unknown[], path: readonly string[] = ['computed']): Unknown =>
  createUnknown(path, { parameters: [...new Set(findUnknown(from).flatMap(({ parameters }) => parameters))] })

/** Sets a member of an object; `__proto__` is one like any other. */
export const define = (object: object, key: PropertyKey, value: unknown): void =>
  void Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })

/** `Object.assign`. `isDeep`: objects are merged; `isDefault`: members that exist remain. */
export function assign(target: unknown, sources: readonly unknown[], { isDeep = false, isDefault = false } = {}): unknown {
  if (!isPlain(target)) return derive([target, ...sources])
  for (const source of sources) {
    if (isUnknown(source)) addSpread(target, source)
    if (!isPlain(source)) continue
    if (source[isQuery] === true) define(target, isQuery, true)
    if (getSpreads(source).length > 0) addSpread(target, ...getSpreads(source))
    for (const [key, value] of Object.entries(source)) {
      const own = Object.hasOwn(target, key) ? target[key] : undefined
      if (isDeep && isPlain(own) && isPlain(value)) define(target, key, assign({}, isDefault ? [value, own] : [own, value], { isDeep }))
      else if (!isDefault || own === undefined) define(target, key, value)
    }
  }
  return target
}

const first: AnyFunction = (value) => value

/** Functions of JavaScript and of lodash, by name. */
export const utilities: Readonly<Record<string, AnyFunction>> = {
  'Object.keys': (object) => {
    if (isUnknown(object) && object.isGiven) return [derive([object])]
    return isPlain(object) && getSpreads(object).length === 0 ? Object.keys(object) : derive([object])
  },
  'Object.freeze': first,
  'JSON.parse': first,
  'JSON.stringify': first,
  structuredClone: first,
  cloneDeep: first,
  assign: (target, ...sources) => assign(target, sources),
  merge: (target, ...sources) => assign(target, sources, { isDeep: true }),
  defaults: (target, ...sources) => assign(target, sources, { isDefault: true }),
  defaultsDeep: (target, ...sources) => assign(target, sources, { isDeep: true, isDefault: true }),
}
