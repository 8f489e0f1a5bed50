// Follows the code of a project without running it: values are computed where the text shows them, and unknown values are used for the
// rest. It has no access to the process. Conditions that depend on unknown values are decided by the caller, who tries both results.
import type { Class, ObjectExpression, Pattern } from 'acorn'
import type { ModuleReader } from './code-files.js'
import { type FunctionNode, getChildren, getName, type SyntaxNode } from './syntax.js'
import {
  type AnyFunction,
  addSpread,
  assign,
  createCore,
  createUnknown,
  define,
  derive,
  findUnknown,
  getSpreads,
  isCore,
  isFunction,
  isPlain,
  isQuery,
  isUnknown,
  type PlainObject,
  parameters,
  type Unknown,
  utilities,
} from './values.js'

/** A use of a value that is not known. */
export interface CodeEvent {
  /** `copies`: `{ ...value, key }`; `takes`: `{ key, ...rest } = value`. */
  readonly kind: 'gets' | 'sets' | 'deletes' | 'copies' | 'takes' | 'refuses'
  readonly of: Unknown
  readonly keys: readonly string[]
  /** The value that a member is set to. */
  readonly value?: unknown
}

export interface Observer {
  /** The request, for functions that are registered for requests. */
  readonly request: Unknown
  /** True if the condition holds in this run. */
  decide(condition: Unknown): boolean
  see(event: CodeEvent): void
  /** A call of an unknown function. Its result is the value of the call, unless it is undefined. */
  call(callee: Unknown, given: readonly unknown[]): unknown
}

/** The path of the file that a scope is in. */
const file: unique symbol = Symbol('file')
/** The names of a function or file; those around it are in its prototypes. */
type Scope = Record<PropertyKey, unknown> & { readonly [file]: string }

/** In an exception that ends a function: its result. */
const returned: unique symbol = Symbol('returned')
const isReturned = (error: unknown): error is { readonly [returned]: unknown } =>
  typeof error === 'object' && error !== null && returned in error
/** The code takes too many steps. */
export const tooLong = new Error('too many steps')

/** Of one file and the call of its function. */
const maxSteps = 30_000
const maxDepth = 60
/** Entries of lists and characters of texts; longer ones are not known. */
const maxLength = 5_000

const computed = createUnknown(['computed'])
/** `{ strapi }`, for functions that create code. */
export const strapiArgument = createUnknown(['arguments'], { known: { strapi: createUnknown(['strapi']) } })

export interface FunctionSource {
  readonly node: FunctionNode
  readonly path: string
}
const sources = new WeakMap<AnyFunction, FunctionSource>()
/** The text of a function; null for other values. */
export const getSource = (value: unknown): FunctionSource | null => (isFunction(value) ? (sources.get(value) ?? null) : null)

/** Methods of lists that are called; the results of others are not known. */
const listMethods = new Set(['join', 'push', 'concat', 'map', 'flatMap', 'forEach', 'slice'])

/** One run through code, in which each file is evaluated once. */
export interface Run {
  readonly reader: ModuleReader
  readonly observer: Observer
  readonly modules: Map<string, { exports: unknown }>
  /** The last function that each node became. */
  readonly functions: Map<FunctionNode, AnyFunction>
  steps: number
  depth: number
}

/** Creates a run. */
export const createRun = (reader: ModuleReader, observer: Observer): Run => ({
  reader,
  observer,
  modules: new Map(),
  functions: new Map(),
  steps: 0,
  depth: 0,
})

/** The default export of a file, or all that it exports; unknown if it cannot be read. */
export function load(path: string, run: Run): unknown {
  run.steps = 0
  return defaultOf(loadAll(path, run))
}

/** The result of a function of settings; any other value itself. */
export function call(value: unknown): unknown {
  if (!isFunction(value)) return value
  try {
    return value(strapiArgument, strapiArgument, strapiArgument)
  } catch {
    return undefined
  }
}

function evaluate(node: SyntaxNode, scope: Scope, run: Run): unknown {
  run.steps += 1
  if (run.steps > maxSteps) throw tooLong
  const handler = handlers[node.type] as ((node: SyntaxNode, scope: Scope, run: Run) => unknown) | undefined
  if (handler !== undefined) return handler(node, scope, run)
  if (node.type.startsWith('TS')) return 'expression' in node ? evaluate(node.expression as SyntaxNode, scope, run) : computed
  // Blocks and the rest: everything inside, once.
  let last: unknown
  for (const child of getChildren(node)) last = evaluate(child, scope, run)
  return node.type === 'AwaitExpression' || node.type === 'SequenceExpression' ? last : computed
}

function isTrue(value: unknown, run: Run): boolean {
  return isUnknown(value) ? value.isGiven || run.observer.decide(value) : isCore(value) || Boolean(value)
}

function get(object: unknown, key: unknown, run: Run): unknown {
  if (object === undefined || object === null) throw new TypeError(`${String(key)} of nothing`)
  if (isUnknown(key)) return derive([object, key])
  const name = String(key)
  if (isUnknown(object)) {
    if (Object.hasOwn(object.known, name)) return object.known[name]
    if (name === 'length' && object.isGiven) return 1
    const member = createUnknown([...object.path, name], { parameters: object.parameters })
    run.observer.see({ kind: 'gets', of: member, keys: [name] })
    return member
  }
  if (Array.isArray(object) && listMethods.has(name)) {
    run.steps += object.length
    const isKnown = object.length <= maxLength && (name !== 'join' || findUnknown(object).length === 0)
    return isKnown
      ? (...given: unknown[]) => shortened((object[name as never] as AnyFunction).apply(object, given))
      : () => derive([object])
  }
  if (typeof object !== 'object' || isCore(object)) return computed
  if (Object.hasOwn(object, name)) return object[name as never]
  if (isPlain(object) && object[isQuery] === true) return parameters.includes(name) ? undefined : createUnknown(['request', 'query', name])
  return Array.isArray(object) || getSpreads(object as PlainObject).length > 0 || name in Object.prototype ? derive([object]) : undefined
}

/** The value, unless it is too long. */
const shortened = (value: unknown): unknown =>
  (typeof value === 'string' || Array.isArray(value)) && value.length > maxLength ? derive([value]) : value

function set(object: unknown, key: unknown, value: unknown, run: Run): void {
  if (object === undefined || object === null) throw new TypeError(`${String(key)} of nothing`)
  if (isUnknown(key)) {
    if (isPlain(object)) addSpread(object, derive([key, value]))
  } else if (isUnknown(object)) {
    // A query that is computed from the present one may have all of it.
    if (Object.hasOwn(object.known, String(key))) object.known[String(key)] = isUnknown(value) ? object.known[String(key)] : value
    else run.observer.see({ kind: 'sets', of: object, keys: [String(key)], value })
  } else if (isPlain(object)) define(object, String(key), value)
}

/** `_.set(object, 'a.b', value)` */
function setPath(object: unknown, [key, ...below]: readonly string[], value: unknown, run: Run): void {
  if (below.length > 0 && get(object, key, run) === undefined) set(object, key, {}, run)
  if (below.length > 0) setPath(get(object, key, run), below, value, run)
  else set(object, key, value, run)
}

/** Gives the names of a pattern their values: new names, or those that exist (`assignName`). */
function bind(pattern: Pattern, value: unknown, scope: Scope, run: Run, give: typeof assignName = define): void {
  const inner = (below: Pattern, each: unknown): void => bind(below, each, scope, run, give)
  if (pattern.type === 'Identifier') give(scope, pattern.name, value)
  else if (pattern.type === 'MemberExpression')
    set(evaluate(pattern.object as SyntaxNode, scope, run), keyOf(pattern, scope, run), value, run)
  else if (pattern.type === 'AssignmentPattern') inner(pattern.left, value === undefined ? evaluate(pattern.right, scope, run) : value)
  else if (pattern.type === 'RestElement') inner(pattern.argument, value)
  else if (pattern.type === 'ArrayPattern') {
    for (const [index, element] of pattern.elements.entries()) if (element !== null) inner(element, get(value, index, run))
  } else {
    const taken: string[] = []
    for (const property of pattern.properties) {
      if (property.type === 'RestElement') {
        inner(
          property.argument,
          isUnknown(value) ? createUnknown([...value.path, '...'], { parameters: value.parameters }) : assign({}, [value]),
        )
        if (isUnknown(value)) run.observer.see({ kind: 'takes', of: value, keys: taken })
      } else {
        const key = property.computed ? computed : getName(property.key)
        if (typeof key === 'string') taken.push(key)
        inner(property.value, get(value, key, run))
      }
    }
  }
}

function keyOf({ computed: isComputed, property }: Extract<SyntaxNode, { type: 'MemberExpression' }>, scope: Scope, run: Run): unknown {
  return isComputed ? evaluate(property as SyntaxNode, scope, run) : getName(property)
}

function createFunction(node: FunctionNode, outer: Scope, run: Run): AnyFunction {
  const created: AnyFunction = (...given) => {
    if (run.depth > maxDepth) return derive(given)
    run.depth += 1
    const scope = Object.create(outer) as Scope
    try {
      for (const [index, parameter] of node.params.entries()) bind(parameter, given[index], scope, run)
      if (node.body.type !== 'BlockStatement') return getResult(node.body as SyntaxNode, scope, run)
      evaluate(node.body, scope, run)
      return undefined
    } catch (error) {
      if (isReturned(error)) return error[returned]
      throw error
    } finally {
      run.depth -= 1
    }
  }
  run.functions.set(node, created)
  sources.set(created, { node, path: outer[file] })
  return created
}

/** A result that is written as `false` refuses a request. */
function getResult(node: SyntaxNode | null | undefined, scope: Scope, run: Run): unknown {
  if (node?.type === 'Literal' && node.value === false) run.observer.see({ kind: 'refuses', of: computed, keys: [] })
  return node == null ? undefined : evaluate(node, scope, run)
}

function createObject({ properties }: ObjectExpression, scope: Scope, run: Run): unknown {
  const object: PlainObject = {}
  for (const property of properties) {
    if (property.type === 'SpreadElement') assign(object, [evaluate(property.argument, scope, run)])
    else {
      const value = property.kind === 'init' ? evaluate(property.value, scope, run) : computed
      set(object, property.computed ? evaluate(property.key, scope, run) : getName(property.key), value, run)
    }
  }
  const [copied] = getSpreads(object)
  if (copied !== undefined) run.observer.see({ kind: 'copies', of: copied, keys: Object.keys(object) })
  return object
}

/** The methods and plain members of a class, as of the object that `new` creates. */
function createInstance({ body }: Class, scope: Scope, run: Run): PlainObject {
  const instance: PlainObject = {}
  for (const member of body.body) {
    if (member.type === 'StaticBlock' || member.computed || (member.type === 'MethodDefinition' && member.kind !== 'method')) continue
    define(instance, getName(member.key), member.value == null ? undefined : evaluate(member.value, scope, run))
  }
  return instance
}

function listOf(nodes: readonly (SyntaxNode | null)[], scope: Scope, run: Run): unknown[] {
  const list = nodes.flatMap((node) => {
    if (node?.type !== 'SpreadElement') return [node === null ? undefined : evaluate(node, scope, run)]
    const spread = evaluate(node.argument, scope, run)
    return Array.isArray(spread) ? spread : [derive([spread])]
  })
  run.steps += list.length
  return list.length > maxLength ? [derive(list)] : list
}

function callUnknown(callee: Unknown, given: readonly unknown[], run: Run): unknown {
  const { path } = callee
  const name = path.at(-1)!.split('/').at(-1)!
  if (/^createCore(?:Controller|Service|Router)$/.test(name)) {
    const [uid, extension] = given
    return createCore(typeof uid === 'string' ? uid : null, isFunction(extension) ? extension(strapiArgument) : extension)
  }
  const result = run.observer.call(callee, given)
  if (result !== undefined) return result
  const isUtility = !['request', 'strapi', 'super', 'this'].includes(path[0]!)
  const utility = [path.join('.'), name].find((each) => Object.hasOwn(utilities, each))
  if (isUtility && utility !== undefined) return utilities[utility]!(...given)
  if (isUtility && name === 'set' && typeof given[1] === 'string') setPath(given[0], given[1].split('.'), given[2], run)
  // Functions that are passed to unknown ones may be called.
  const first = name === 'use' || name === 'subscribe' ? run.observer.request : createUnknown(['entry'])
  for (const each of given.flatMap((value) => (isPlain(value) ? Object.values(value) : [value])))
    if (getSource(each) !== null) (each as AnyFunction)(first, computed, computed)
  const texts = given.filter((value) => typeof value === 'string')
  return derive(isUtility ? given : [], [...path, `()${texts.join()}`])
}

function importFrom(scope: Scope, source: unknown, run: Run): unknown {
  const path = typeof source === 'string' ? run.reader.find(scope[file], source) : null
  return path === null ? createUnknown(['import', String(source)]) : loadAll(path, run)
}

function loadAll(path: string, run: Run): unknown {
  const loaded = run.modules.get(path)
  if (loaded !== undefined) return loaded.exports
  const program = run.reader.read(path)
  const module = { exports: program === null ? createUnknown(['import', path]) : ({} as unknown) }
  run.modules.set(path, module)
  if (program === null) return module.exports
  const scope = Object.assign(Object.create(null), { [file]: path, module, exports: module.exports }) as Scope
  define(scope, 'require', (source: unknown) => importFrom(scope, source, run))
  // A statement that cannot be followed does not hide the others.
  for (const statement of getChildren(program)) call(() => evaluate(statement, scope, run))
  return module.exports
}

/** A named import from CommonJS is a member of the exported object. */
const memberOf = (whole: unknown, name: string, run: Run): unknown =>
  get(isPlain(whole) && !Object.hasOwn(whole, name) ? defaultOf(whole) : whole, name, run)
const defaultOf = (whole: unknown): unknown => (isPlain(whole) && Object.hasOwn(whole, 'default') ? whole.default : whole)

function assignName(scope: Scope, name: string, value: unknown): void {
  let holder: Scope | null = scope
  while (holder !== null && !Object.hasOwn(holder, name)) holder = Object.getPrototypeOf(holder) as Scope | null
  if (holder !== null) define(holder, name, value)
}

const addExport = (scope: Scope, name: string, value: unknown): void => {
  const { exports } = scope.module as { exports: unknown }
  if (isPlain(exports)) define(exports, name, value)
}

function isEqual(operator: string, left: unknown, right: unknown): unknown {
  const isNothing = (value: unknown): boolean => value === undefined || value === null
  if (left === right || (operator.length === 2 && isNothing(left) && isNothing(right))) return true
  const unknowns = [left, right].filter((each) => isUnknown(each))
  if (unknowns.some(({ isGiven }) => isGiven) && [left, right].some(isNothing)) return false
  return unknowns.length > 0 && derive([left, right])
}

/** The value of `a || b`, `a && b` or `a ?? b`. */
function getLogical(operator: string, left: unknown, right: () => unknown, run: Run): unknown {
  const holds = operator === '??' && !isUnknown(left) ? left !== undefined && left !== null : isTrue(left, run)
  return holds === (operator !== '&&') ? left : right()
}

type Handlers = {
  readonly [Type in SyntaxNode['type']]?: (node: Extract<SyntaxNode, { type: Type }>, scope: Scope, run: Run) => unknown
}

function forEach({ left, right, body }: { left: SyntaxNode; right: SyntaxNode; body: SyntaxNode }, scope: Scope, run: Run): void {
  const entry = derive([evaluate(right, scope, run)], ['entry'])
  const pattern = left.type === 'VariableDeclaration' ? left.declarations[0]!.id : (left as Pattern)
  bind(pattern, entry, scope, run)
  evaluate(body, scope, run)
}

/** The body of a loop runs once or not at all: its effects are conditional. */
function repeat({ body }: { body: SyntaxNode }, scope: Scope, run: Run): void {
  if (isTrue(computed, run)) evaluate(body, scope, run)
}

const handlers: Handlers = {
  Literal: ({ value, regex }) => (regex === undefined && typeof value !== 'bigint' ? value : computed),
  TemplateLiteral({ expressions, quasis }, scope, run) {
    const values = listOf(expressions, scope, run)
    if (values.some((value) => typeof value === 'object')) return derive(values)
    return shortened(quasis.map(({ value }, index) => `${value.cooked}${values[index] ?? ''}`).join(''))
  },
  Identifier: ({ name }, scope) => (name in scope ? scope[name] : name === 'undefined' ? undefined : createUnknown([name])),
  ThisExpression: () => createUnknown(['this']),
  Super: () => createUnknown(['super']),
  ArrayExpression: ({ elements }, scope, run) => listOf(elements as readonly (SyntaxNode | null)[], scope, run),
  ObjectExpression: createObject,
  FunctionExpression: createFunction,
  ArrowFunctionExpression: createFunction,
  UnaryExpression({ operator, argument }, scope, run) {
    if (operator === 'delete' && argument.type === 'MemberExpression') {
      const [object, key] = [evaluate(argument.object as SyntaxNode, scope, run), keyOf(argument, scope, run)]
      if (isUnknown(object)) run.observer.see({ kind: 'deletes', of: object, keys: [String(key)] })
      return isPlain(object) && delete object[String(key)]
    }
    const value = evaluate(argument, scope, run)
    return operator === '!' ? !isTrue(value, run) : operator === '-' && typeof value === 'number' ? -value : derive([value])
  },
  UpdateExpression: ({ argument }, scope, run) => bind(argument as Pattern, computed, scope, run, assignName),
  BinaryExpression({ operator, left, right }, scope, run) {
    const [one, other] = [evaluate(left as SyntaxNode, scope, run), evaluate(right, scope, run)]
    if (operator === '+' && typeof one === 'string' && typeof other === 'string') return shortened(one + other)
    if (!/^[=!]==?$/.test(operator)) return derive([one, other])
    const result = isEqual(operator, one, other)
    return operator.startsWith('=') || isUnknown(result) ? result : !result
  },
  LogicalExpression: ({ operator, left, right }, scope, run) =>
    getLogical(operator, evaluate(left, scope, run), () => evaluate(right, scope, run), run),
  ConditionalExpression: ({ test, consequent, alternate }, scope, run) =>
    evaluate(isTrue(evaluate(test, scope, run), run) ? consequent : alternate, scope, run),
  AssignmentExpression({ operator, left, right }, scope, run) {
    const value = (): unknown => evaluate(right, scope, run)
    const before = (): unknown => evaluate(left as SyntaxNode, scope, run)
    const isLogical = /^(?:\|\||&&|\?\?)=$/.test(operator)
    const result =
      operator === '=' ? value() : isLogical ? getLogical(operator.slice(0, -1), before(), value, run) : derive([before(), value()])
    bind(left, result, scope, run, assignName)
    return result
  },
  MemberExpression: (node, scope, run) => get(evaluate(node.object as SyntaxNode, scope, run), keyOf(node, scope, run), run),
  ChainExpression({ expression }, scope, run) {
    try {
      return evaluate(expression, scope, run)
    } catch (error) {
      if (error instanceof TypeError) return undefined
      throw error
    }
  },
  CallExpression({ callee, arguments: nodes }, scope, run) {
    const called = evaluate(callee as SyntaxNode, scope, run)
    const given = listOf(nodes as readonly SyntaxNode[], scope, run)
    if (isFunction(called)) return called(...given)
    if (isUnknown(called)) return callUnknown(called, given, run)
    throw new TypeError(`${getName(callee as SyntaxNode)} is not a function`)
  },
  NewExpression({ callee, arguments: given }, scope, run) {
    const created = evaluate(callee as SyntaxNode, scope, run)
    const values = listOf(given as readonly SyntaxNode[], scope, run)
    if (isUnknown(created)) run.observer.call(createUnknown([...created.path, 'new']), values)
    return isPlain(created) ? created : derive(values)
  },
  ImportExpression: ({ source }, scope, run) => importFrom(scope, evaluate(source, scope, run), run),
  VariableDeclaration({ declarations }, scope, run) {
    for (const { id, init } of declarations) bind(id, init == null ? undefined : evaluate(init, scope, run), scope, run)
  },
  FunctionDeclaration: (node, scope, run) => {
    const created = createFunction(node as FunctionNode, scope, run)
    if (node.id != null) define(scope, node.id.name, created)
    return created
  },
  ClassExpression: createInstance,
  ClassDeclaration(node, scope, run) {
    const instance = createInstance(node, scope, run)
    if (node.id != null) define(scope, node.id.name, instance)
    return instance
  },
  ReturnStatement({ argument }, scope, run) {
    throw { [returned]: getResult(argument, scope, run) }
  },
  ThrowStatement({ argument }, scope, run) {
    evaluate(argument, scope, run)
    throw new Error('an exception of the code')
  },
  IfStatement({ test, consequent, alternate }, scope, run) {
    const branch = isTrue(evaluate(test, scope, run), run) ? consequent : alternate
    if (branch != null) evaluate(branch, scope, run)
  },
  SwitchStatement({ discriminant, cases }, scope, run) {
    const value = derive([evaluate(discriminant, scope, run)])
    for (const { consequent } of cases) if (isTrue(value, run)) for (const statement of consequent) evaluate(statement, scope, run)
  },
  TryStatement({ block, handler, finalizer }, scope, run) {
    let end: unknown = null
    try {
      evaluate(block, scope, run)
    } catch (error) {
      if (handler == null || error === tooLong) throw error
      end = error
    }
    // The exception may come at the end of the block.
    if (handler != null && ((end !== null && !isReturned(end)) || isTrue(computed, run))) evaluate(handler.body, scope, run)
    else if (end !== null) throw end
    if (finalizer != null) evaluate(finalizer, scope, run)
  },
  ForStatement: repeat,
  WhileStatement: repeat,
  DoWhileStatement: repeat,
  ForOfStatement: forEach,
  ForInStatement: forEach,
  ImportDeclaration({ source, specifiers }, scope, run) {
    const whole = importFrom(scope, source.value, run)
    for (const one of specifiers) {
      const isNamed = one.type === 'ImportSpecifier'
      const value = isNamed ? memberOf(whole, getName(one.imported), run) : one.type === 'ImportDefaultSpecifier' ? defaultOf(whole) : whole
      define(scope, one.local.name, value)
    }
  },
  ExportNamedDeclaration({ declaration, specifiers, source }, scope, run) {
    if (declaration != null) evaluate(declaration as SyntaxNode, scope, run)
    if (declaration != null && declaration.type !== 'VariableDeclaration') addExport(scope, declaration.id.name, scope[declaration.id.name])
    if (declaration?.type === 'VariableDeclaration')
      for (const { id } of declaration.declarations) if (id.type === 'Identifier') addExport(scope, id.name, scope[id.name])
    const from = source == null ? scope : importFrom(scope, source.value, run)
    for (const { local, exported } of specifiers)
      addExport(scope, getName(exported), source == null ? scope[getName(local)] : memberOf(from, getName(local), run))
  },
  ExportAllDeclaration: ({ source }, scope, run) =>
    assign((scope.module as { exports: unknown }).exports, [importFrom(scope, source.value, run)]),
  ExportDefaultDeclaration: ({ declaration }, scope, run) => addExport(scope, 'default', evaluate(declaration as SyntaxNode, scope, run)),
}
