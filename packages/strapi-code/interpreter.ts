// Follows the code of a project without running it: values are computed where the text shows them, and unknown values are used for the
// rest. It has no access to the process. Conditions that depend on unknown values are decided by the caller, who tries both results.
import type { Class, ObjectExpression, Pattern } from 'acorn'
import { addExport, assignName, createBlock, createScope, defineVar, file, type Scope, whole } from './scope.js'
import { type FunctionNode, getChildren, getName, type ModuleReader, type SyntaxNode } from './syntax.js'
import {
  type AnyFunction,
  absentError,
  addSpread,
  assign,
  callListMethod,
  codeError,
  count,
  createCore,
  createUnknown,
  define,
  derive,
  getSpreads,
  isCore,
  isEqual,
  isFunction,
  isOfCode,
  isPlain,
  isQuery,
  isUnknown,
  listMethods,
  maxLength,
  type PlainObject,
  parameters,
  shortened,
  startCounting,
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

/** In an exception that ends a function: its result. */
const returned: unique symbol = Symbol('returned')
const isReturned = (error: unknown): error is { readonly [returned]: unknown } =>
  typeof error === 'object' && error !== null && returned in error

const maxDepth = 60

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

/** A run through code, which evaluates each file once. */
export interface Run {
  readonly reader: ModuleReader
  readonly observer: Observer
  readonly modules: Map<string, { exports: unknown }>
  /** The last function that each node became. */
  readonly functions: Map<FunctionNode, AnyFunction>
  /** Files with statements that cannot be followed. */
  readonly unfollowed: Set<string>
  depth: number
}

/** Creates a run. */
export const createRun = (reader: ModuleReader, observer: Observer): Run => ({
  reader,
  observer,
  modules: new Map(),
  functions: new Map(),
  unfollowed: new Set(),
  depth: 0,
})

/** The default export of a file, or all that it exports; unknown if it cannot be read. */
export function load(path: string, run: Run): unknown {
  startCounting()
  return defaultOf(loadAll(path, run))
}

/** The result of a function of settings; any other value itself. @throws if it cannot be followed */
export function call(value: unknown): unknown {
  if (!isFunction(value)) return value
  try {
    return value(strapiArgument, strapiArgument, strapiArgument)
  } catch (error) {
    if (isOfCode(error)) return undefined
    throw error
  }
}

function evaluate(node: SyntaxNode, scope: Scope, run: Run): unknown {
  count()
  const handler = handlers[node.type] as ((node: SyntaxNode, scope: Scope, run: Run) => unknown) | undefined
  if (handler !== undefined) return handler(node, scope, run)
  if (node.type.startsWith('TS')) {
    const value = 'expression' in node ? evaluate(node.expression as SyntaxNode, scope, run) : computed
    if ((node.type as string) === 'TSExportAssignment') define(scope.module as PlainObject, 'exports', value)
    return value
  }
  // Everything inside, once.
  let last: unknown
  for (const child of getChildren(node)) last = evaluate(child, scope, run)
  return node.type === 'AwaitExpression' || node.type === 'SequenceExpression' ? last : computed
}

function isTrue(value: unknown, run: Run): boolean {
  return isUnknown(value) ? value.isGiven || run.observer.decide(value) : isCore(value) || Boolean(value)
}

function get(object: unknown, key: unknown, run: Run): unknown {
  if (object === undefined || object === null) throw absentError
  if (isUnknown(key)) return derive([object, key])
  const name = String(key)
  if (isUnknown(object)) {
    if (Object.hasOwn(object.known, name)) return object.known[name]
    if (name === 'length' && object.isGiven) return 1
    const member = createUnknown([...object.path, name], { parameters: object.parameters })
    run.observer.see({ kind: 'gets', of: member, keys: [name] })
    return member
  }
  if (Array.isArray(object) && listMethods.has(name))
    return (...given: unknown[]) => callListMethod(object, name, given, (callback, each) => invoke(callback, each, run))
  if (typeof object !== 'object' || isCore(object)) return computed
  if (Object.hasOwn(object, name)) return object[name as never]
  if (isPlain(object) && object[isQuery] === true) return parameters.includes(name) ? undefined : createUnknown(['request', 'query', name])
  return Array.isArray(object) || getSpreads(object as PlainObject).length > 0 || name in Object.prototype ? derive([object]) : undefined
}

function set(object: unknown, key: unknown, value: unknown, run: Run): void {
  if (object === undefined || object === null) throw absentError
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
  count()
  if (below.length > 0 && get(object, key, run) === undefined) set(object, key, {}, run)
  if (below.length > 0) setPath(get(object, key, run), below, value, run)
  else set(object, key, value, run)
}

/** The node without the types around it: `(value as Type)`. */
function withoutTypes<Node extends { readonly type: string }>(node: Node): Node {
  return node.type.startsWith('TS') && 'expression' in node ? withoutTypes(node.expression as Node) : node
}

/** Gives the names of a pattern their values: new names, or those that exist (`assignName`). */
function bind(typed: Pattern, value: unknown, scope: Scope, run: Run, give: typeof assignName = define): void {
  const pattern = withoutTypes(typed)
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
    const scope = createScope(outer)
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
    if (Array.isArray(spread)) count(spread.length)
    return Array.isArray(spread) ? spread : [derive([spread])]
  })
  return list.length > maxLength ? [derive(list)] : list
}

function invoke(callee: unknown, given: readonly unknown[], run: Run): unknown {
  if (isFunction(callee)) return callee(...given)
  if (isUnknown(callee)) return callUnknown(callee, given, run)
  throw absentError
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
  const inside = given.flatMap((value) => (isPlain(value) ? Object.values(value) : [value]))
  count(inside.length / 4)
  for (const each of inside) if (getSource(each) !== null) (each as AnyFunction)(first, computed, computed)
  const texts = given.filter((value) => typeof value === 'string' && value.length < 200)
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
  const scope = createScope(null, { [file]: path, module, exports: module.exports })
  define(scope, 'require', (source: unknown) => importFrom(scope, source, run))
  // A statement that cannot be followed does not hide the others.
  for (const statement of getChildren(program)) {
    try {
      evaluate(statement, scope, run)
    } catch (error) {
      if (!isReturned(error) && !isOfCode(error)) run.unfollowed.add(path)
    }
  }
  return module.exports
}

/** A named import from CommonJS is a member of the exported object. */
const memberOf = (all: unknown, name: string, run: Run): unknown =>
  get(isPlain(all) && !Object.hasOwn(all, name) ? defaultOf(all) : all, name, run)
const defaultOf = (all: unknown): unknown => (isPlain(all) && Object.hasOwn(all, 'default') ? all.default : all)

/** The value of `a || b`, `a && b` or `a ?? b`. */
function getLogical(operator: string, left: unknown, right: () => unknown, run: Run): unknown {
  const holds = operator === '??' && !isUnknown(left) ? left !== undefined && left !== null : isTrue(left, run)
  return holds === (operator !== '&&') ? left : right()
}

type Handlers = {
  readonly [Type in SyntaxNode['type']]?: (node: Extract<SyntaxNode, { type: Type }>, scope: Scope, run: Run) => unknown
}

function forEach({ left, right, body }: { left: SyntaxNode; right: SyntaxNode; body: SyntaxNode }, outer: Scope, run: Run): void {
  const entry = derive([evaluate(right, outer, run)], ['entry'])
  if (!isTrue(computed, run)) return
  const scope = createBlock(outer)
  if (left.type === 'VariableDeclaration') bind(left.declarations[0]!.id, entry, scope, run, left.kind === 'var' ? defineVar : define)
  else bind(left as Pattern, entry, scope, run, assignName)
  evaluate(body, scope, run)
}

/** The body of a loop runs once or not at all: its effects are conditional. */
function repeat({ body }: { body: SyntaxNode }, scope: Scope, run: Run): void {
  if (isTrue(computed, run)) evaluate(body, createBlock(scope), run)
}

const handlers: Handlers = {
  Literal: ({ value, regex }) => (regex === undefined && typeof value !== 'bigint' ? value : computed),
  TemplateLiteral({ expressions, quasis }, scope, run) {
    const values = listOf(expressions, scope, run)
    if (values.some((value) => typeof value === 'object' || isFunction(value))) return derive(values)
    return shortened(quasis.map(({ value }, index) => `${value.cooked}${values[index] ?? ''}`).join(''))
  },
  Identifier: ({ name }, scope) => (name in scope ? scope[name] : name === 'undefined' ? undefined : createUnknown([name])),
  ThisExpression: () => createUnknown(['this']),
  Super: () => createUnknown(['super']),
  ArrayExpression: ({ elements }, scope, run) => listOf(elements as readonly (SyntaxNode | null)[], scope, run),
  ObjectExpression: createObject,
  FunctionExpression: createFunction,
  ArrowFunctionExpression: createFunction,
  UnaryExpression({ operator, argument: typed }, scope, run) {
    const argument = withoutTypes(typed)
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
      if (error === absentError) return undefined
      throw error
    }
  },
  CallExpression({ callee, arguments: nodes }, scope, run) {
    const called = evaluate(callee as SyntaxNode, scope, run)
    const given = listOf(nodes as readonly SyntaxNode[], scope, run)
    return invoke(called, given, run)
  },
  NewExpression({ callee, arguments: given }, scope, run) {
    const created = evaluate(callee as SyntaxNode, scope, run)
    const values = listOf(given as readonly SyntaxNode[], scope, run)
    if (isUnknown(created)) run.observer.call(createUnknown([...created.path, 'new']), values)
    return isPlain(created) ? created : derive(values)
  },
  ImportExpression: ({ source }, scope, run) => importFrom(scope, evaluate(source, scope, run), run),
  BlockStatement(node, outer, run) {
    const scope = createBlock(outer)
    for (const statement of getChildren(node)) evaluate(statement, scope, run)
  },
  VariableDeclaration({ kind, declarations }, scope, run) {
    for (const { id, init } of declarations) {
      // A `var` without a value keeps the present one.
      if (kind === 'var' && init == null && id.type === 'Identifier' && Object.hasOwn(scope[whole], id.name)) continue
      bind(id, init == null ? undefined : evaluate(init, scope, run), scope, run, kind === 'var' ? defineVar : define)
    }
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
    throw codeError
  },
  IfStatement({ test, consequent, alternate }, scope, run) {
    const branch = isTrue(evaluate(test, scope, run), run) ? consequent : alternate
    if (branch != null) evaluate(branch, scope, run)
  },
  SwitchStatement({ discriminant, cases }, outer, run) {
    const scope = createBlock(outer)
    const value = derive([evaluate(discriminant, scope, run)])
    for (const { consequent } of cases) if (isTrue(value, run)) for (const statement of consequent) evaluate(statement, scope, run)
  },
  TryStatement({ block, handler, finalizer }, scope, run) {
    let end: unknown = null
    try {
      evaluate(block, scope, run)
    } catch (error) {
      if (handler == null || !(isReturned(error) || isOfCode(error))) throw error
      end = error
    }
    // The exception may come at the end of the block.
    if (handler != null && ((end !== null && !isReturned(end)) || isTrue(computed, run))) {
      const inner = createBlock(scope)
      if (handler.param != null) bind(handler.param, createUnknown(['error']), inner, run)
      evaluate(handler.body, inner, run)
    } else if (end !== null) throw end
    if (finalizer != null) evaluate(finalizer, scope, run)
  },
  ForStatement: repeat,
  WhileStatement: repeat,
  DoWhileStatement: repeat,
  ForOfStatement: forEach,
  ForInStatement: forEach,
  ImportDeclaration({ source, specifiers }, scope, run) {
    const all = importFrom(scope, source.value, run)
    for (const one of specifiers) {
      const isNamed = one.type === 'ImportSpecifier'
      const value = isNamed ? memberOf(all, getName(one.imported), run) : one.type === 'ImportDefaultSpecifier' ? defaultOf(all) : all
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
