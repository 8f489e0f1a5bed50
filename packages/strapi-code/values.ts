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

/** Longer paths are not stored. */
const maxPath = 100

export const createUnknown = (path: readonly string[], more: Partial<Omit<Unknown, 'kind' | 'path'>> = {}): Unknown => ({
  kind: unknown,
  path: path.length > maxPath ? ['computed'] : path,
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

/** The code throws an exception. */
export const codeError = new Error('an exception of the code')
/** The code uses a value that is absent. */
export const absentError = new Error('a use of an absent value')
/** True for exceptions of the code; others are those of the interpreter. */
export const isOfCode = (error: unknown): boolean => error === codeError || error === absentError

/** Of one file and the call of its function. */
const maxSteps = 30_000
/** Entries of lists and characters of texts; longer ones are not known. */
export const maxLength = 5_000
/** Levels of objects and lists in each other. */
const maxNesting = 60

/** The code takes too many steps. */
export const tooLong = new Error('too many steps')

/** Steps since the start of a file. Code is followed one file at a time. */
let steps = 0
export const startCounting = (): void => {
  steps = 0
}
export const countedSteps = (): number => steps

/** Counts steps. @throws tooLong */
export function count(more = 1): void {
  steps += more
  if (steps > maxSteps) throw tooLong
}

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
export function addSpread(object: PlainObject, ...values: readonly Unknown[]): void {
  const all = new Set([...getSpreads(object), ...values])
  count(all.size)
  define(object, spreads, [...all])
}

const computed = createUnknown(['computed'])

/** All values in a value, each object once. */
function visit(value: unknown): readonly unknown[] {
  const all = [value]
  const seen = new Set<unknown>()
  // The list grows while it is read.
  for (const each of all) {
    if (typeof each !== 'object' || each === null || isUnknown(each) || isCore(each) || seen.has(each)) continue
    seen.add(each)
    for (const inner of getSpreads(each as PlainObject)) all.push(inner)
    for (const inner of Object.values(each)) all.push(inner)
  }
  return all
}

const unknownIn = (all: readonly unknown[]): readonly Unknown[] =>
  all.flatMap((each) => (isUnknown(each) ? [each] : isFunction(each) || isCore(each) ? [computed] : []))

/** All unknown values in a value; functions are such values, too. */
export const findUnknown = (value: unknown): readonly Unknown[] => unknownIn(visit(value))

/** A value that is computed from others. */
export function derive(from: readonly unknown[], path: readonly string[] = ['computed']): Unknown {
  const all = visit(from)
  // A visit takes a fraction of a step.
  count(all.length / 4)
  return createUnknown(path, { parameters: [...new Set(unknownIn(all).flatMap(({ parameters }) => parameters))] })
}

/** True for a value that is short as JSON: not for cycles, nor for doubled objects in doubled objects. */
export function isShort(value: unknown): boolean {
  let members = 0
  const isShortBelow = (each: unknown, level: number): boolean => {
    members += 1
    if (typeof each !== 'object' || each === null || isUnknown(each) || isCore(each)) return true
    return level < maxNesting && members < maxLength && Object.values(each).every((inner) => isShortBelow(inner, level + 1))
  }
  return isShortBelow(value, 0)
}

/** A value without the one of the request in it; undefined if another part of it is computed. */
export const knownValue = (value: unknown, parameter: string | null = null): unknown =>
  isShort(value) && findUnknown(value).every(({ parameters: names }) => parameter !== null && names.includes(parameter)) ? value : undefined

/** The value, unless it is too long. */
export function shortened(value: unknown): unknown {
  if (typeof value !== 'string' && !Array.isArray(value)) return value
  count(value.length / 64)
  return value.length > maxLength ? derive([value]) : value
}

/** The result of `==` and the like. */
export function isEqual(operator: string, left: unknown, right: unknown): unknown {
  const isNothing = (value: unknown): boolean => value === undefined || value === null
  if (left === right || (operator.length === 2 && isNothing(left) && isNothing(right))) return true
  const unknowns = [left, right].filter((each) => isUnknown(each))
  if (unknowns.some(({ isGiven }) => isGiven) && [left, right].some(isNothing)) return false
  return unknowns.length > 0 && derive([left, right])
}

/** Methods of lists that are called; the results of others are not known. */
export const listMethods: ReadonlySet<string> = new Set(['join', 'push', 'concat', 'map', 'flatMap', 'forEach', 'slice'])

/** Calls such a method. `invoke` calls functions that are not in the text. */
export function callListMethod(
  list: unknown[],
  name: string,
  given: readonly unknown[],
  invoke: (callback: unknown, given: readonly unknown[]) => unknown,
): unknown {
  count(list.length)
  if (list.length > maxLength) return derive([list])
  const [callback] = given
  const callEach = (): unknown[] =>
    list.map((entry, index) => (isFunction(callback) ? callback(entry, index, list) : invoke(callback, [entry])))
  switch (name) {
    case 'map':
      return callEach()
    case 'forEach':
      return void callEach()
    case 'flatMap':
      return concatenate(callEach())
    case 'concat':
      return concatenate([list, ...given])
    case 'push':
      return list.push(...given)
    case 'slice':
      return given.every((each) => typeof each === 'number') ? list.slice(...given) : derive([list, given])
    default:
      return join(list, given[0] === undefined ? ',' : given[0])
  }
}

function concatenate(parts: readonly unknown[]): unknown {
  const length = parts.reduce<number>((sum, each) => sum + (Array.isArray(each) ? each.length : 1), 0)
  if (length > maxLength) return derive(parts)
  count(length)
  return parts.flat()
}

function join(list: readonly unknown[], separator: unknown): unknown {
  const isText = (each: unknown): boolean => each === null || !['object', 'function'].includes(typeof each)
  return typeof separator === 'string' && list.every(isText) ? shortened(list.join(separator)) : derive([list, separator])
}

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
    const entries = Object.entries(source)
    count(entries.length)
    for (const [key, value] of entries) {
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
    if (!isPlain(object) || getSpreads(object).length > 0) return derive([object])
    const keys = Object.keys(object)
    count(keys.length)
    return keys
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
