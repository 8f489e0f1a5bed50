// Changes of the query of a request: parameters, values, and whether the values of the request remain.

import type { AssignmentExpression, CallExpression, IfStatement, ObjectExpression } from 'acorn'
import { evaluate, unknown } from './constants.js'
import { calleeName, type FindModule, type Module } from './modules.js'
import { type Binding, getChildren, getName, isFunction, type Scope, type SyntaxNode, scopeOfFunction } from './syntax.js'

/** The keys of a place in the query of a request: `ctx.query.populate` is ['populate']; null for anything else. */
export function queryPath(node: SyntaxNode, scope: Scope): readonly string[] | null {
  const path = requestPath(node, scope)
  if (path === null) return null
  const [first, second] = path
  // Middlewares of documents have the parameters of a call in `params`.
  if (first === 'query' || first === 'params') return path.slice(1)
  return first === 'request' && second === 'query' ? path.slice(2) : null
}

/** The keys from the first parameter of a function to a value; null for what does not come from there. */
export function requestPath(node: SyntaxNode, scope: Scope): readonly string[] | null {
  if (node.type === 'Identifier') {
    const binding = scope.find(node.name)
    return binding === null ? null : pathOfBinding(binding)
  }
  if (node.type === 'LogicalExpression' && node.operator !== '&&') return requestPath(node.left, scope)
  if (node.type === 'AwaitExpression') return requestPath(node.argument, scope)
  // Strapi's methods that return the query without forbidden parts.
  if (node.type === 'CallExpression' && /^(?:sanitize|validate)Query$/.test(calleeName(node.callee as SyntaxNode))) {
    const [request] = node.arguments
    return request !== undefined && requestPath(request as SyntaxNode, scope)?.length === 0 ? ['query'] : null
  }
  if (node.type !== 'MemberExpression') return null
  const literal = node.property.type === 'Literal' ? String(node.property.value) : null
  const key = node.computed ? literal : getName(node.property)
  const object = requestPath(node.object as SyntaxNode, scope)
  return object === null || key === null ? null : [...object, key]
}

function pathOfBinding(binding: Binding): readonly string[] | null {
  switch (binding.kind) {
    case 'parameter':
      return binding.index === 0 ? [] : null
    case 'value':
      return requestPath(binding.node, binding.scope)
    case 'member': {
      const whole = pathOfBinding(binding.of)
      return whole === null || binding.key === null ? null : [...whole, binding.key]
    }
    case 'import':
    case 'function':
      return null
  }
}

/** A change of one parameter. */
export interface QueryChange {
  readonly parameter: string
  /** `sets` overrides the request, `default` applies without a value in the request, `adds` extends the value of the request; `removes`. */
  readonly how: 'sets' | 'default' | 'adds' | 'removes'
  /** The value; `unknown` if it is computed. */
  readonly value: unknown
  /** It depends on something else than whether the request names the parameter. */
  readonly isConditional: boolean
}

/** The parameters of a query, and those of reads in code. */
const parameters = new Set([
  ...['populate', 'filters', 'fields', 'sort', 'locale', 'status', 'pagination', '_q', 'publicationFilter'],
  ...['start', 'limit', 'where', 'orderBy', 'select'],
])

type Condition = 'none' | 'absent' | 'other'

interface WrittenPlace {
  readonly scope: Scope
  readonly condition: Condition
}

interface QuerySearch {
  /** The value of an expression. */
  valueOf(node: SyntaxNode, scope: Scope): unknown
  /** True if a name is assigned to after its declaration. */
  isChanged(name: string): boolean
  /** Reads of this type in code count as changes of the request's query; null: none do. */
  readonly uid: string | null
  add(parameter: string, how: QueryChange['how'], value: unknown, place: WrittenPlace): void
}

/** The file that code is in. */
export interface ModuleContext {
  readonly module: Module
  readonly findModule: FindModule
}

/**
 * Finds the changes of a function or file, nested functions included. `uid`: for a controller of this type, arguments of reads of the type
 * are changes too.
 */
export function findQueryChanges(
  node: SyntaxNode,
  outer: Scope,
  { module, findModule }: ModuleContext,
  uid: string | null = null,
): readonly QueryChange[] {
  const found: QueryChange[] = []
  const search: QuerySearch = {
    uid,
    isChanged: (name) => module.changed.has(name),
    valueOf: (each, scope) => evaluate(each, { scope, module, findModule, depth: 0 }),
    add(parameter, how, value, { condition }) {
      if (!parameters.has(parameter)) return
      const isDefault = condition === 'absent' && how === 'sets'
      found.push({ parameter, how: isDefault ? 'default' : how, value, isConditional: condition === 'other' })
    },
  }
  visit(node, { scope: outer, condition: 'none' }, search)
  return found
}

function visit(node: SyntaxNode, place: WrittenPlace, search: QuerySearch): void {
  if (isFunction(node)) visitBody(node.body as SyntaxNode, { ...place, scope: scopeOfFunction(node, place.scope) }, search)
  else if (node.type === 'BlockStatement') visitBody(node, place, search)
  else if (node.type === 'IfStatement') visitIf(node, place, search)
  else {
    if (node.type === 'AssignmentExpression') assign(node, place, search)
    else if (node.type === 'CallExpression') call(node, place, search)
    else if (node.type === 'UnaryExpression' && node.operator === 'delete') {
      const path = queryPath(node.argument, place.scope)
      if (path?.length === 1) search.add(path[0]!, 'removes', undefined, place)
    }
    const isBranch = ['ConditionalExpression', 'SwitchStatement', 'LogicalExpression'].includes(node.type)
    for (const child of getChildren(node)) visit(child, isBranch ? { ...place, condition: 'other' } : place, search)
  }
}

function visitIf({ test, consequent, alternate }: IfStatement, place: WrittenPlace, search: QuerySearch): void {
  visit(test, place, search)
  const about = testedBy(test, place.scope)
  const inside = (condition: Condition): WrittenPlace => ({ ...place, condition: place.condition === 'other' ? 'other' : condition })
  visit(consequent, inside(about === 'absent' ? 'absent' : 'other'), search)
  if (alternate != null) visit(alternate, inside(about === 'present' ? 'absent' : 'other'), search)
}

function visitBody(body: SyntaxNode, place: WrittenPlace, search: QuerySearch): void {
  if (body.type !== 'BlockStatement') {
    visit(body, place, search)
    return
  }
  let { condition } = place
  for (const statement of body.body as readonly SyntaxNode[]) {
    visit(statement, { ...place, condition }, search)
    // After `if (…) return`, the condition is inverted.
    if (statement.type === 'IfStatement' && leaves(statement.consequent) && condition !== 'other')
      condition = testedBy(statement.test, place.scope) === 'present' ? 'absent' : 'other'
  }
}

const leaves = (node: SyntaxNode): boolean =>
  node.type === 'ReturnStatement' ||
  node.type === 'ThrowStatement' ||
  (node.type === 'BlockStatement' && node.body.length > 0 && leaves(node.body.at(-1) as SyntaxNode))

/** True if a test depends on the query alone: on the presence or absence of a value. */
function testedBy(test: SyntaxNode, scope: Scope): 'absent' | 'present' | 'other' {
  const isQuery = (node: SyntaxNode): boolean => queryPath(unwrapMeasure(node), scope) !== null
  if (test.type === 'UnaryExpression' && test.operator === '!') return isQuery(test.argument) ? 'absent' : 'other'
  if (isQuery(test)) return 'present'
  if (test.type !== 'BinaryExpression' || !/^===?$/.test(test.operator)) return 'other'
  const sides = [test.left as SyntaxNode, test.right]
  return sides.some(isNothing) && sides.some(isQuery) ? 'absent' : 'other'
}

const isNothing = (node: SyntaxNode): boolean =>
  (node.type === 'Literal' && (node.value === 0 || node.value === null)) || (node.type === 'Identifier' && node.name === 'undefined')

/** `Object.keys(x).length` is about x. */
function unwrapMeasure(node: SyntaxNode): SyntaxNode {
  if (node.type === 'MemberExpression' && getName(node.property) === 'length') return unwrapMeasure(node.object as SyntaxNode)
  const isKeys = node.type === 'CallExpression' && calleeName(node.callee as SyntaxNode) === 'keys' && node.arguments.length === 1
  return isKeys ? (node.arguments[0] as SyntaxNode) : node
}

function assign({ left, operator, right }: AssignmentExpression, place: WrittenPlace, search: QuerySearch): void {
  const path = queryPath(left as SyntaxNode, place.scope)
  if (path === null) return
  const [parameter, ...below] = path
  const value = () => search.valueOf(right, place.scope)
  if (parameter === undefined) setQuery(right, place, search)
  else if (below.length > 0) search.add(parameter, 'adds', nestValue(below, value()), place)
  else if (operator === '||=' || operator === '??=') search.add(parameter, 'default', value(), place)
  else addValue(parameter, right, place, search, 'sets')
}

/** Adds a value of a parameter: it is a default if the request's own comes first, an addition if that is inside it. */
function addValue(parameter: string, given: SyntaxNode, place: WrittenPlace, search: QuerySearch, how: 'sets' | 'default'): void {
  const { valueOf: value, add } = search
  const { node, scope } = resolveDeclaration(given, place.scope, search)
  const isOwn = (each: SyntaxNode): boolean => {
    const path = queryPath(each, scope)
    return path?.length === 1 && path[0] === parameter && each.type !== 'LogicalExpression'
  }
  const has = (each: SyntaxNode): boolean => isOwn(each) || getChildren(each).some(has)
  if (isOwn(node)) return
  if (node.type === 'LogicalExpression' && node.operator !== '&&' && isOwn(node.left))
    add(parameter, 'default', value(node.right, scope), place)
  else if (node.type === 'ConditionalExpression' && isOwn(node.test))
    add(parameter, 'default', value(isOwn(node.consequent) ? node.alternate : node.consequent, scope), place)
  else if (node.type === 'ObjectExpression' && has(node)) {
    const rest: ObjectExpression = { ...node, properties: node.properties.filter((property) => !has(property as SyntaxNode)) }
    add(parameter, 'adds', value(rest, scope), place)
  } else if (has(node)) add(parameter, 'adds', unknown, place)
  else add(parameter, how, value(node, scope), place)
}

/** The expression that a name of the function was declared with, if it may have the request's own value in it. */
function resolveDeclaration(
  node: SyntaxNode,
  scope: Scope,
  { isChanged }: QuerySearch,
): { readonly node: SyntaxNode; readonly scope: Scope } {
  const binding = node.type === 'Identifier' && !isChanged(node.name) ? scope.find(node.name) : null
  const isComposed =
    binding?.kind === 'value' && ['ObjectExpression', 'LogicalExpression', 'ConditionalExpression'].includes(binding.node.type)
  return isComposed ? { node: binding.node, scope: binding.scope } : { node, scope }
}

const joining = ['assign', 'merge']
const defaulting = ['defaults', 'defaultsDeep']

/** The whole query is replaced: by its own parameters and others, or by others only. */
function setQuery(node: SyntaxNode, place: WrittenPlace, search: QuerySearch): void {
  if (node.type === 'CallExpression' && joining.includes(calleeName(node.callee as SyntaxNode)))
    joinAll(node.arguments as readonly SyntaxNode[], place, search)
  else if (node.type === 'ObjectExpression') addObject(node, place, search)
  else addEach(node, 'sets', place, search)
}

/** Adds the parameters of a constant object. */
function addEach(node: SyntaxNode, how: 'sets' | 'default', place: WrittenPlace, { valueOf: value, add }: QuerySearch): void {
  const found = value(node, place.scope)
  if (typeof found === 'object' && found !== null) for (const [name, each] of Object.entries(found)) add(name, how, each, place)
}

/** Adds the parameters of an object: those before `...ctx.query` are defaults. */
function addObject({ properties }: ObjectExpression, place: WrittenPlace, search: QuerySearch): void {
  const own = properties.findIndex(
    (property) => property.type === 'SpreadElement' && queryPath(property.argument, place.scope)?.length === 0,
  )
  for (const [index, property] of properties.entries()) {
    const how = index < own ? 'default' : 'sets'
    if (index === own) continue
    if (property.type === 'SpreadElement') addEach(property.argument, how, place, search)
    else if (!property.computed) addValue(getName(property.key), property.value, place, search, how)
  }
}

/** `Object.assign(query, { … })` sets, `Object.assign({}, { … }, query)` gives defaults. */
function joinAll(given: readonly SyntaxNode[], place: WrittenPlace, search: QuerySearch): void {
  const own = given.findIndex((each) => queryPath(each, place.scope)?.length === 0)
  for (const [index, each] of given.entries()) if (index !== own) addEach(each, index < own ? 'default' : 'sets', place, search)
}

function call({ callee, arguments: given }: CallExpression, place: WrittenPlace, search: QuerySearch): void {
  const [first, ...more] = given as readonly SyntaxNode[]
  if (first === undefined) return
  const name = calleeName(callee as SyntaxNode)
  const isQuery = queryPath(first, place.scope)?.length === 0
  if (joining.includes(name) && isQuery) joinAll(given as readonly SyntaxNode[], place, search)
  else if (defaulting.includes(name) && isQuery) for (const each of more) addEach(each, 'default', place, search)
  else if (name === 'set' && more.length === 2) setByPath(first, more[0]!, more[1]!, place, search)
  else if (search.uid !== null && reading.has(name)) addRead(callee as SyntaxNode, given as readonly SyntaxNode[], place, search)
}

const reading = new Set(['find', 'findOne', 'findMany', 'findFirst', 'findPage'])

/** `strapi.documents(uid).findMany({ … })`, `strapi.entityService.findMany(uid, { … })` and the like; `super.find({ query: { … } })`. */
function addRead(callee: SyntaxNode, given: readonly SyntaxNode[], place: WrittenPlace, search: QuerySearch): void {
  const texts = [...textsIn(callee), ...given.flatMap((each) => (each.type === 'Literal' ? [String(each.value)] : []))]
  const named = texts.find((text) => /^(?:api|plugin|admin)::/.test(text))
  if (named !== undefined && named !== search.uid) return
  for (const each of given) {
    if (each.type !== 'ObjectExpression') continue
    const query = each.properties.find((property) => property.type === 'Property' && getName(property.key) === 'query')
    if (query?.type === 'Property') setQuery(query.value, place, search)
    else addObject(each, place, search)
  }
}

const textsIn = (node: SyntaxNode): readonly string[] =>
  node.type === 'Literal' ? [String(node.value)] : isFunction(node) ? [] : getChildren(node).flatMap(textsIn)

/** `_.set(ctx, 'query.populate', …)` */
function setByPath(object: SyntaxNode, at: SyntaxNode, node: SyntaxNode, place: WrittenPlace, { valueOf: value, add }: QuerySearch): void {
  const path = value(at, place.scope)
  if (typeof path !== 'string') return
  const keys = [...(requestPath(object, place.scope) ?? ['']), ...path.split('.')]
  const [root, parameter, ...below] = keys
  if (root !== 'query' || parameter === undefined) return
  const set = value(node, place.scope)
  if (below.length === 0) add(parameter, 'sets', set, place)
  else add(parameter, 'adds', nestValue(below, set), place)
}

const nestValue = (keys: readonly string[], value: unknown): unknown =>
  value === unknown ? unknown : keys.reduceRight<unknown>((below, key) => ({ [key]: below }), value)
