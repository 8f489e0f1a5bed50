// Effects of a function on requests and responses, from runs through its code: with and without parameters in the request, and for both
// results of each condition that is not known.
import { isDeepStrictEqual } from 'node:util'
import { type CodeEvent, call, createRun, load, type Observer, type Run, strapiArgument } from './interpreter.js'
import type { ModuleReader } from './syntax.js'
import {
  type AnyFunction,
  absentError,
  assign,
  countedSteps,
  createUnknown,
  define,
  derive,
  findUnknown,
  isCore,
  isFunction,
  isOfCode,
  isPlain,
  isQuery,
  isShort,
  isUnknown,
  knownValue,
  type PlainObject,
  parameters,
  type Unknown,
} from './values.js'

/** A change of one parameter. */
export interface QueryChange {
  readonly parameter: string
  /** `sets` overrides the request, `default` applies without a value in the request, `adds` extends the value of the request; `removes`. */
  readonly how: 'sets' | 'default' | 'adds' | 'removes'
  /** The value; absent if it is computed. */
  readonly value?: unknown
  /** It depends on something else than whether the request names the parameter. */
  readonly isConditional: boolean
}

/** The effects of a piece of code. */
export interface Effects {
  readonly changes: readonly QueryChange[]
  /** Attributes that it removes from responses. */
  readonly removes: readonly string[]
  readonly adds: readonly string[]
  readonly refuses: boolean
  readonly looksAtUser: boolean
  /** It sets `ctx.body` or headers. */
  readonly responds: boolean
  /** False if a run took too long or failed; there may be more effects. */
  readonly isFollowed: boolean
}

export const noEffects: Effects = {
  changes: [],
  removes: [],
  adds: [],
  refuses: false,
  looksAtUser: false,
  responds: false,
  isFollowed: true,
}

/** Code to examine. */
export interface Subject {
  /** Finds the function in a run. */
  find(run: Run): unknown
  /** Of a controller: reads of this type in code count as changes of the request's query. */
  readonly uid?: string | null
  /** The function gets `{ strapi }`, not a request. */
  readonly isStart?: boolean
}

/** Methods that read documents. */
const reads = new Set(['find', 'findOne', 'findMany', 'findFirst', 'findPage'])
/** Errors and methods of a context that refuse a request. */
const refusals = new Set([
  ...['PolicyError', 'ForbiddenError', 'UnauthorizedError', 'forbidden', 'unauthorized', 'notFound', 'badRequest', 'throw'],
])
/** Names of what surrounds documents in responses. */
const envelopeNames = new Set([
  ...['data', 'meta', 'attributes', 'pagination', 'results', 'body', 'query', 'status', 'error', 'message', 'length'],
])

/** Runs through one function, and their steps; the rest of the branches is left out, and its changes are conditional. */
const maxRuns = 64
const maxStepsOfRuns = 200_000

/** The query at the end of a run. */
interface Outcome {
  readonly query: PlainObject
  /** Additions that the code makes to parameters of the request in place. */
  readonly added: ReadonlyMap<string, unknown>
  /** False if a part of the files could not be followed. */
  readonly isFollowed: boolean
}

interface Findings {
  readonly removes: Set<string>
  readonly adds: Set<string>
  refuses: boolean
  looksAtUser: boolean
  responds: boolean
}

/** Finds the effects of a function. Only names that `isAttribute` accepts count as removed. */
export function findEffects(reader: ModuleReader, subject: Subject, isAttribute: (name: string) => boolean): Effects {
  const found: Findings = { removes: new Set(), adds: new Set(), refuses: false, looksAtUser: false, responds: false }
  const see = (event: CodeEvent): void => note(event, found, isAttribute)
  const [absent, present] = [false, true].map((isGiven) => explore((decide) => runOnce(reader, subject, { isGiven, decide, see, found })))
  const changes = parameters.flatMap((parameter) => findChange(parameter, absent!, present!))
  const adds = [...found.adds].filter((name) => !found.removes.has(name))
  return { ...found, changes, removes: [...found.removes], adds, isFollowed: absent!.isFollowed && present!.isFollowed }
}

interface Explored {
  readonly outcomes: readonly Outcome[]
  readonly isComplete: boolean
  readonly isFollowed: boolean
}

/** Repeats runs until each condition had both results; a run that takes too long or fails is the last one. */
function explore(run: (decide: (condition: Unknown) => boolean) => Outcome | null): Explored {
  const outcomes: Outcome[] = []
  const decisions: boolean[] = []
  let steps = 0
  for (let count = 0; ; count += 1) {
    let next = 0
    // A name has the same value throughout a run.
    const known = new Map<string, boolean>()
    const decide = ({ path }: Unknown): boolean => {
      const name = path.every((part) => /^\w+$/.test(part)) && path.length > 1 ? path.join('.') : ''
      const before = known.get(name)
      if (name !== '' && before !== undefined) return before
      if (next === decisions.length) decisions.push(true)
      const decision = decisions[next]!
      next += 1
      known.set(name, decision)
      return decision
    }
    try {
      const outcome = run(decide)
      if (outcome !== null) outcomes.push(outcome)
    } catch {
      return { outcomes, isComplete: false, isFollowed: false }
    }
    steps += countedSteps()
    while (decisions.at(-1) === false) decisions.pop()
    const isFollowed = outcomes.every((outcome) => outcome.isFollowed)
    if (decisions.length === 0) return { outcomes, isComplete: isFollowed, isFollowed }
    decisions[decisions.length - 1] = false
    if (count === maxRuns || steps > maxStepsOfRuns) return { outcomes, isComplete: false, isFollowed }
  }
}

interface RunOptions {
  readonly isGiven: boolean
  readonly found: Findings
  decide(condition: Unknown): boolean
  see(event: CodeEvent): void
}

/** Runs a function once; null if the code fails because the request lacks a value. */
function runOnce(
  reader: ModuleReader,
  { find, uid = null, isStart }: Subject,
  { isGiven, found, decide, see }: RunOptions,
): Outcome | null {
  const query: PlainObject = isGiven
    ? Object.fromEntries(parameters.map((name) => [name, createUnknown(['request', 'query', name], { parameters: [name], isGiven: true })]))
    : {}
  define(query, isQuery, true)
  const request = createRequest(query)
  const added = new Map<string, unknown>()
  const run = createRun(reader, {
    request,
    decide,
    see(event) {
      const [parameter] = event.of.path[0] === 'request' ? event.of.parameters : []
      if (event.kind === 'sets' && parameter !== undefined) added.set(parameter, event.value)
      else see(event)
    },
    call(callee, given) {
      const name = callee.path.at(callee.path.at(-1) === 'new' ? -2 : -1)!
      if (refusals.has(name) && callee.path.length > 1) found.refuses = true
      if (name === 'set' && callee.path[0] === 'request' && callee.path.length === 2) found.responds = true
      // Strapi's methods that return the query without forbidden parts.
      if (/^(?:sanitize|validate)Query$/.test(name) && given[0] === request) return request.known.query
      if (/^(?:omit|unset)$/.test(name))
        see({ kind: 'takes', of: createUnknown(['entry']), keys: isShort(given) ? textsIn(given.slice(1)) : [] })
      if (uid !== null && reads.has(name) && isOfType(callee, given, uid)) addRead(request.known, given)
      return undefined
    },
  })
  try {
    let code = find(run)
    // A middleware is created by a function of its settings.
    for (let level = 0; isFunction(code) && level < 3; level += 1)
      code = isStart ? code(strapiArgument) : code(request, createUnknown(['next']), strapiArgument)
  } catch (error) {
    if (!isOfCode(error)) throw error
    if (error === absentError && run.unfollowed.size === 0) return null
  }
  return { query: isPlain(request.known.query) ? request.known.query : {}, added, isFollowed: run.unfollowed.size === 0 }
}

const ignoring: Observer = {
  request: createUnknown(['request']),
  decide: () => true,
  see() {},
  call: () => undefined,
}

/** A run that takes unknown conditions as true. */
export const createReadingRun = (reader: ModuleReader): Run => createRun(reader, ignoring)

/** The functions that a file exports, by name: those of an object, a controller, or of what an exported function returns. */
export function methodsOf(run: Run, path: string): readonly (readonly [name: string, method: AnyFunction])[] {
  const exported = load(path, run)
  const whole = isCore(exported) ? exported.extension : call(exported)
  const methods = isPlain(whole)
    ? Object.entries(whole).flatMap(([name, value]) => (isFunction(value) ? [[name, value] as const] : []))
    : []
  return methods.length === 0 && isFunction(exported) ? [['default', exported]] : methods
}

/** The arguments of the calls of `….owner.name()` by the exported functions of a file. */
export function findCalls(reader: ModuleReader, path: string, [owner, name]: readonly [string, string]): readonly (readonly unknown[])[] {
  const found: (readonly unknown[])[] = []
  explore((decide) => {
    const noteCall = ({ path: names }: Unknown, given: readonly unknown[]): void =>
      void (names.at(-1) === name && names.at(-2) === owner && found.push(given))
    const run = createRun(reader, { ...ignoring, decide, call: noteCall })
    for (const [, method] of methodsOf(run, path)) call(method)
    return null
  })
  return found
}

/** The context of a request. Middlewares of documents have the parameters of a call in `params`. */
function createRequest(query: PlainObject): Unknown {
  const known = {
    query,
    get params() {
      return known.query
    },
    set params(value) {
      known.query = value
    },
    request: {} as unknown,
  }
  known.request = createUnknown(['request', 'request'], { known })
  return createUnknown(['request'], { known })
}

const isOfType = ({ path }: Unknown, given: readonly unknown[], uid: string): boolean => {
  const named = [path.join(' '), ...given.filter((each) => typeof each === 'string')].join(' ').match(/(?:api|plugin|admin)::[\w.-]+/)
  return named === null || named[0] === uid
}

const isSame = (one: unknown, other: unknown): boolean => one === other || (isShort(one) && isShort(other) && isDeepStrictEqual(one, other))

/** `strapi.documents(uid).findMany({ … })`, `strapi.entityService.findMany(uid, { … })` and the like; `super.find({ query: { … } })`. */
function addRead(known: Record<string, unknown>, given: readonly unknown[]): void {
  const query = assign({}, [known.query]) as PlainObject
  for (const each of given) {
    if (!isPlain(each)) continue
    for (const [name, value] of Object.entries(isPlain(each.query) ? each.query : each)) {
      const before = query[name]
      const isOther = before !== undefined && !(isUnknown(before) && before.isGiven) && !isSame(before, value)
      if (parameters.includes(name) && value !== undefined) define(query, name, isOther ? derive([before, value]) : value)
    }
  }
  known.query = query
}

const textsIn = (values: readonly unknown[]): readonly string[] =>
  values.flatMap((value) => (Array.isArray(value) ? textsIn(value) : typeof value === 'string' ? [value.split('.').at(-1)!] : []))

/** True for a value that may be a document of a response. */
const isDocument = ({ path, parameters: { length } }: Unknown): boolean =>
  length === 0 && path[0] !== 'request' && (path[0] === 'entry' || path.some((name) => name.startsWith('()')))

function note({ kind, of, keys }: CodeEvent, found: Findings, isAttribute: (name: string) => boolean): void {
  const path = of.path.slice(1)
  const isOfRequest = of.path[0] === 'request'
  if (kind === 'refuses') found.refuses = true
  if (kind === 'gets' && isOfRequest && path[0] === 'state' && /^(?:user|auth|isAuthenticated)$/.test(path[1] ?? ''))
    found.looksAtUser = true
  if (kind === 'sets' && isOfRequest && /^(?:response\.)?body(?:\.|$)/.test([...path, ...keys].join('.'))) found.responds = true
  const isQueryOrSettings = of.parameters.length > 0 || (isOfRequest && (kind === 'takes' || path[0] === 'query'))
  if ((kind === 'deletes' || kind === 'takes') && !isQueryOrSettings)
    for (const name of keys) if (isAttribute(name)) found.removes.add(name)
  if ((kind === 'sets' || kind === 'copies') && isDocument(of))
    for (const name of keys) if (!isAttribute(name) && !envelopeNames.has(name)) found.adds.add(name)
}

/** The change of a parameter over all runs, if any. */
function findChange(parameter: string, absent: Explored, present: Explored): readonly QueryChange[] {
  const own = (value: unknown): boolean => isUnknown(value) && value.isGiven && value.parameters.includes(parameter)
  const valueIn = ({ query, added }: Outcome): unknown => added.get(parameter) ?? query[parameter]
  const isAdded = (outcome: Outcome): boolean =>
    outcome.added.has(parameter) || findUnknown(outcome.query[parameter]).some(({ parameters: names }) => names.includes(parameter))
  const changed = present.outcomes.filter((outcome) => valueIn(outcome) !== undefined && !own(valueIn(outcome)))
  const adding = changed.filter(isAdded)
  const removing = present.outcomes.filter(({ query }) => query[isQuery] === true && query[parameter] === undefined)
  const set = absent.outcomes.filter((outcome) => valueIn(outcome) !== undefined)
  const isOnAll = (some: readonly Outcome[], { outcomes, isComplete }: Explored): boolean => isComplete && some.length === outcomes.length
  const change = (how: QueryChange['how'], outcomes: readonly Outcome[], isConditional: boolean): readonly QueryChange[] => {
    const values = outcomes.map((outcome) => knownValue(valueIn(outcome), how === 'adds' ? parameter : null))
    const isSame = values.every((value) => value !== undefined && isDeepStrictEqual(value, values[0]))
    return [{ parameter, how, isConditional, ...(isSame && how !== 'removes' ? { value: values[0] } : {}) }]
  }
  if (adding.length > 0) return change('adds', adding, !isOnAll(adding, present))
  if (changed.length > 0) return change('sets', [...changed, ...set], !isOnAll(changed, present) || !isOnAll(set, absent))
  if (set.length > 0) return change('default', set, !isOnAll(set, absent))
  return removing.length > 0 ? change('removes', [], !isOnAll(removing, present)) : []
}
