// What code does to the query of a request: which parameters it sets, to which values, and whether the request's own ones are kept.
import type { AssignmentExpression, CallExpression, IfStatement, ObjectExpression } from 'acorn'
import { evaluate, unknown } from './constants.js'
import { calleeName, type FindModule, type Module } from './modules.js'
import { childrenOf, type SyntaxNode } from './parse.js'
import { queryPath, requestPath } from './query-path.js'
import { isFunction, nameOf, type Scope, scopeOfFunction } from './scope.js'

/** A change of one parameter. */
export interface QueryChange {
  readonly parameter: string
  /** `sets`: whatever the request says; `default`: only if the request says nothing; `adds`: to what the request says; `removes`. */
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
  /** Whether a name gets another value after it was declared. */
  isChanged(name: string): boolean
  /** Reads of this type in code count as changes of the request's query; null: none do. */
  readonly uid: string | null
  add(parameter: string, how: QueryChange['how'], value: unknown, place: WrittenPlace): void
}

/** The file that code is in. */
export interface In {
  readonly module: Module
  readonly findModule: FindModule
}

/**
 * Finds the changes that a function or a file makes, those in functions inside it included. `uid`: for a controller of this type, what it passes on
 * to reads of the type is a change too.
 */
export function queryChangesOf(
  node: SyntaxNode,
  outer: Scope,
  { module, findModule }: In,
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
    for (const child of childrenOf(node)) visit(child, isBranch ? { ...place, condition: 'other' } : place, search)
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
    // After `if (…) return`, what follows depends on the opposite.
    if (statement.type === 'IfStatement' && leaves(statement.consequent) && condition !== 'other')
      condition = testedBy(statement.test, place.scope) === 'present' ? 'absent' : 'other'
  }
}

const leaves = (node: SyntaxNode): boolean =>
  node.type === 'ReturnStatement' ||
  node.type === 'ThrowStatement' ||
  (node.type === 'BlockStatement' && node.body.length > 0 && leaves(node.body.at(-1) as SyntaxNode))

/** Whether a test is about the query alone: that it has something, or lacks it. */
function testedBy(test: SyntaxNode, scope: Scope): 'absent' | 'present' | 'other' {
  const isQuery = (node: SyntaxNode): boolean => queryPath(measured(node), scope) !== null
  if (test.type === 'UnaryExpression' && test.operator === '!') return isQuery(test.argument) ? 'absent' : 'other'
  if (isQuery(test)) return 'present'
  if (test.type !== 'BinaryExpression' || !/^===?$/.test(test.operator)) return 'other'
  const sides = [test.left as SyntaxNode, test.right]
  return sides.some(isNothing) && sides.some(isQuery) ? 'absent' : 'other'
}

const isNothing = (node: SyntaxNode): boolean =>
  (node.type === 'Literal' && (node.value === 0 || node.value === null)) || (node.type === 'Identifier' && node.name === 'undefined')

/** `Object.keys(x).length` is about x. */
function measured(node: SyntaxNode): SyntaxNode {
  if (node.type === 'MemberExpression' && nameOf(node.property) === 'length') return measured(node.object as SyntaxNode)
  const isKeys = node.type === 'CallExpression' && calleeName(node.callee as SyntaxNode) === 'keys' && node.arguments.length === 1
  return isKeys ? (node.arguments[0] as SyntaxNode) : node
}

function assign({ left, operator, right }: AssignmentExpression, place: WrittenPlace, search: QuerySearch): void {
  const path = queryPath(left as SyntaxNode, place.scope)
  if (path === null) return
  const [parameter, ...below] = path
  const value = () => search.valueOf(right, place.scope)
  if (parameter === undefined) setQuery(right, place, search)
  else if (below.length > 0) search.add(parameter, 'adds', nested(below, value()), place)
  else if (operator === '||=' || operator === '??=') search.add(parameter, 'default', value(), place)
  else addValue(parameter, right, place, search, 'sets')
}

/** Adds a value of a parameter: it is a default if the request's own comes first, an addition if that is inside it. */
function addValue(parameter: string, given: SyntaxNode, place: WrittenPlace, search: QuerySearch, how: 'sets' | 'default'): void {
  const { valueOf: value, add } = search
  const { node, scope } = declared(given, place.scope, search)
  const isOwn = (each: SyntaxNode): boolean => {
    const path = queryPath(each, scope)
    return path?.length === 1 && path[0] === parameter && each.type !== 'LogicalExpression'
  }
  const has = (each: SyntaxNode): boolean => isOwn(each) || childrenOf(each).some(has)
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
function declared(node: SyntaxNode, scope: Scope, { isChanged }: QuerySearch): { readonly node: SyntaxNode; readonly scope: Scope } {
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
    else if (!property.computed) addValue(nameOf(property.key), property.value, place, search, how)
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
    const query = each.properties.find((property) => property.type === 'Property' && nameOf(property.key) === 'query')
    if (query?.type === 'Property') setQuery(query.value, place, search)
    else addObject(each, place, search)
  }
}

const textsIn = (node: SyntaxNode): readonly string[] =>
  node.type === 'Literal' ? [String(node.value)] : isFunction(node) ? [] : childrenOf(node).flatMap(textsIn)

/** `_.set(ctx, 'query.populate', …)` */
function setByPath(object: SyntaxNode, at: SyntaxNode, node: SyntaxNode, place: WrittenPlace, { valueOf: value, add }: QuerySearch): void {
  const path = value(at, place.scope)
  if (typeof path !== 'string') return
  const keys = [...(requestPath(object, place.scope) ?? ['']), ...path.split('.')]
  const [root, parameter, ...below] = keys
  if (root !== 'query' || parameter === undefined) return
  const set = value(node, place.scope)
  if (below.length === 0) add(parameter, 'sets', set, place)
  else add(parameter, 'adds', nested(below, set), place)
}

const nested = (keys: readonly string[], value: unknown): unknown =>
  value === unknown ? unknown : keys.reduceRight<unknown>((below, key) => ({ [key]: below }), value)
