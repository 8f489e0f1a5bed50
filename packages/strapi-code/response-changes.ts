// Effects of code on responses, as its text shows them: removed and added attributes, refusals, use of the user, own responses.
import type { CallExpression, ObjectPattern, VariableDeclarator } from 'acorn'
import { calleeName } from './modules.js'
import { requestPath } from './query-changes.js'
import { getChildren, getName, isFunction, type Scope, type SyntaxNode, scopeOfFunction, walk } from './syntax.js'

/** The changes. */
export interface ResponseChanges {
  readonly removes: readonly string[]
  readonly adds: readonly string[]
  readonly refuses: boolean
  readonly looksAtUser: boolean
  /** It sets `ctx.body` or headers. */
  readonly responds: boolean
}

/** Errors and methods of a context that refuse a request. */
const refusals = new Set([
  'PolicyError',
  'ForbiddenError',
  'UnauthorizedError',
  'forbidden',
  'unauthorized',
  'notFound',
  'badRequest',
  'throw',
])
/** Names of what surrounds documents in responses. */
const envelopeNames = new Set([
  'data',
  'meta',
  'attributes',
  'pagination',
  'results',
  'body',
  'query',
  'status',
  'error',
  'message',
  'length',
])

/** Finds the changes of a function or file, nested functions included. Only names that `isAttribute` accepts count as removed. */
export function findResponseChanges(node: SyntaxNode, outer: Scope, isAttribute: (name: string) => boolean): ResponseChanges {
  const removes = new Set<string>()
  const adds = new Set<string>()
  const found = { refuses: false, looksAtUser: false, responds: false }
  const visit = (each: SyntaxNode, scope: Scope): void => {
    const inside = isFunction(each) ? scopeOfFunction(each, scope) : scope
    for (const name of findRemoved(each, inside)) if (isAttribute(name)) removes.add(name)
    for (const name of findAdded(each, inside)) if (!isAttribute(name) && !envelopeNames.has(name)) adds.add(name)
    found.refuses ||= refusesBy(each)
    found.looksAtUser ||= isUser(each, inside)
    found.responds ||= isResponse(each, inside)
    for (const child of getChildren(each)) visit(child, inside)
  }
  visit(node, outer)
  return { removes: [...removes], adds: [...adds].filter((name) => !removes.has(name)), ...found }
}

/** `delete entry.a`, `({ a, ...rest }) => rest`, `omit(entry, ['a'])`, `unset(entry, 'a')` */
function findRemoved(node: SyntaxNode, scope: Scope): readonly string[] {
  if (node.type === 'UnaryExpression' && node.operator === 'delete' && node.argument.type === 'MemberExpression')
    return isInRequest(node.argument, scope) ? [] : memberNames(node.argument)
  if (node.type === 'CallExpression' && /^(?:omit|unset)$/.test(calleeName(node.callee as SyntaxNode)))
    return getTexts(node).map((text) => text.split('.').at(-1)!)
  if (isFunction(node)) return node.params.flatMap((parameter) => (parameter.type === 'ObjectPattern' ? leftOut(parameter) : []))
  return node.type === 'VariableDeclarator' && node.id.type === 'ObjectPattern' && !isOfRequest(node, scope) ? leftOut(node.id) : []
}

const isInRequest = (node: SyntaxNode, scope: Scope): boolean => requestPath(node, scope)?.[0] === 'query'
const isOfRequest = ({ init }: VariableDeclarator, scope: Scope): boolean => init != null && requestPath(init, scope) !== null

const memberNames = (node: Extract<SyntaxNode, { type: 'MemberExpression' }>): readonly string[] => {
  if (!node.computed) return [getName(node.property)]
  return node.property.type === 'Literal' ? [String(node.property.value)] : []
}

/** The names that a pattern with a rest takes out of it. */
function leftOut({ properties }: ObjectPattern): readonly string[] {
  if (!properties.some(({ type }) => type === 'RestElement')) return []
  return properties.flatMap((property) => (property.type === 'Property' && !property.computed ? [getName(property.key)] : []))
}

function getTexts({ arguments: given }: CallExpression): readonly string[] {
  const texts: string[] = []
  for (const each of given.slice(1)) {
    walk(each as SyntaxNode, (node) => {
      if (node.type === 'Literal' && typeof node.value === 'string') texts.push(node.value)
    })
  }
  return texts
}

/** `entry.a = …` and `({ ...entry, a: … })` */
function findAdded(node: SyntaxNode, scope: Scope): readonly string[] {
  if (node.type === 'AssignmentExpression' && node.left.type === 'MemberExpression') {
    const base = getBase(node.left)
    const isOfModule = base.type === 'Identifier' && (base.name === 'module' || base.name === 'exports')
    return isOfModule || requestPath(node.left, scope) !== null ? [] : memberNames(node.left)
  }
  if (node.type !== 'ObjectExpression') return []
  const spread = node.properties.find((property) => property.type === 'SpreadElement')
  // Of constants and of the query no document comes.
  if (spread?.type !== 'SpreadElement' || spread.argument.type !== 'Identifier' || !isEntry(spread.argument.name, scope)) return []
  return node.properties.flatMap((property) => (property.type === 'Property' && !property.computed ? [getName(property.key)] : []))
}

/** True if a name may be a document: a parameter, but not the first of the outermost function, or the result of a call. */
function isEntry(name: string, scope: Scope): boolean {
  const binding = scope.find(name)
  if (binding === null || binding.kind === 'import' || binding.kind === 'function') return false
  if (binding.kind === 'value') return binding.node.type === 'AwaitExpression' || binding.node.type === 'CallExpression'
  return true
}

function getBase(node: SyntaxNode): SyntaxNode {
  return node.type === 'MemberExpression' ? getBase(node.object as SyntaxNode) : node
}

function refusesBy(node: SyntaxNode): boolean {
  if (node.type === 'ReturnStatement') return node.argument?.type === 'Literal' && node.argument.value === false
  if (node.type === 'ArrowFunctionExpression') return node.body.type === 'Literal' && node.body.value === false
  if (node.type === 'NewExpression') return refusals.has(calleeName(node.callee as SyntaxNode))
  return node.type === 'CallExpression' && node.callee.type === 'MemberExpression' && refusals.has(calleeName(node.callee))
}

const isUser = (node: SyntaxNode, scope: Scope): boolean => {
  const path = node.type === 'MemberExpression' || node.type === 'Identifier' ? requestPath(node, scope) : null
  return path !== null && /^state\.(?:user|auth|isAuthenticated)\b/.test(path.join('.'))
}

const isResponse = (node: SyntaxNode, scope: Scope): boolean => {
  if (node.type === 'CallExpression') return requestPath(node.callee as SyntaxNode, scope)?.join('.') === 'set'
  return (
    node.type === 'AssignmentExpression' &&
    /^(?:response\.)?body(?:\.|$)/.test(requestPath(node.left as SyntaxNode, scope)?.join('.') ?? '')
  )
}
