// The values of expressions that are known without running them: literals, and constants by name, through objects and files of the project.
import type { ObjectExpression } from 'acorn'
import { type FindModule, findExport, type Module, requiredBy } from './modules.js'
import { type Binding, getName, isFunction, type Scope, type SyntaxNode } from './syntax.js'

/** In place of a value that is only known when the code runs. */
export const unknown: unique symbol = Symbol('unknown')

/** The value of an expression; `unknown` if code has to run for it, or for anything in it. */
export function evaluate(node: SyntaxNode, location: Location): unknown {
  if (location.depth > maxDepth) return unknown
  const inner = (below: SyntaxNode): unknown => evaluate(below, deeper(location))
  switch (node.type) {
    case 'Literal':
      return node.regex === undefined && node.bigint == null ? node.value : unknown
    case 'TemplateLiteral': {
      const parts = node.expressions.map(inner)
      return parts.includes(unknown) ? unknown : node.quasis.map(({ value }, index) => `${value.cooked}${parts[index] ?? ''}`).join('')
    }
    case 'ArrayExpression':
      return evaluateList(node.elements as readonly (SyntaxNode | null)[], inner)
    case 'ObjectExpression':
      return evaluateObject(node, inner)
    case 'UnaryExpression': {
      const value = inner(node.argument)
      if (value === unknown) return unknown
      return node.operator === '-' ? -Number(value) : node.operator === '!' ? !value : unknown
    }
    case 'BinaryExpression': {
      const [left, right] = [inner(node.left as SyntaxNode), inner(node.right)]
      return node.operator === '+' && typeof left === 'string' && typeof right === 'string' ? left + right : unknown
    }
    case 'CallExpression':
      return evaluateCall(node.callee as SyntaxNode, node.arguments as readonly SyntaxNode[], inner)
    case 'Identifier':
    case 'MemberExpression': {
      if (node.type === 'Identifier' && node.name === 'undefined') return undefined
      const found = resolve(node, location)
      return found === null || found.node === node || isFunction(found.node) ? unknown : evaluate(found.node, deeper(found))
    }
    default:
      return unknown
  }
}

function evaluateList(elements: readonly (SyntaxNode | null)[], inner: (node: SyntaxNode) => unknown): unknown {
  const values: unknown[] = []
  for (const element of elements) {
    const value = element === null ? unknown : inner(element.type === 'SpreadElement' ? element.argument : element)
    if (value === unknown || (element?.type === 'SpreadElement' && !Array.isArray(value))) return unknown
    if (element?.type === 'SpreadElement') values.push(...(value as readonly unknown[]))
    else values.push(value)
  }
  return values
}

function evaluateObject({ properties }: ObjectExpression, inner: (node: SyntaxNode) => unknown): unknown {
  const found: Record<string, unknown> = {}
  for (const property of properties) {
    if (property.type === 'SpreadElement') {
      const value = inner(property.argument)
      if (value === unknown || typeof value !== 'object') return unknown
      Object.assign(found, value)
      continue
    }
    const key = property.computed ? inner(property.key) : getName(property.key)
    const value = property.kind === 'init' ? inner(property.value) : unknown
    if (value === unknown || typeof key !== 'string') return unknown
    Object.defineProperty(found, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return found
}

/** Calls that give their argument back: `Object.freeze(x)`, `structuredClone(x)`, `JSON.parse(JSON.stringify(x))`, and `[…].join(',')`. */
function evaluateCall(callee: SyntaxNode, given: readonly SyntaxNode[], inner: (node: SyntaxNode) => unknown): unknown {
  const name =
    callee.type === 'MemberExpression' && callee.object.type === 'Identifier'
      ? `${callee.object.name}.${getName(callee.property)}`
      : callee.type === 'Identifier'
        ? callee.name
        : ''
  if (['Object.freeze', 'structuredClone', 'JSON.parse', 'JSON.stringify', '_.cloneDeep', 'cloneDeep'].includes(name))
    return given[0] === undefined ? unknown : inner(given[0])
  if (callee.type !== 'MemberExpression' || getName(callee.property) !== 'join') return unknown
  const list = inner(callee.object as SyntaxNode)
  const separator = given[0] === undefined ? ',' : inner(given[0])
  return Array.isArray(list) && typeof separator === 'string' ? list.join(separator) : unknown
}

export interface Location {
  readonly scope: Scope
  readonly module: Module
  readonly findModule: FindModule
  /** Number of names and levels that were followed. */
  readonly depth: number
}

/** An expression with its place. */
export interface ResolvedExpression extends Location {
  readonly node: SyntaxNode
}

/** Expressions nested deeper than this, and chains of names longer than this, are not followed. */
const maxDepth = 60

/** One level or name further. */
const deeper = (location: Location): Location => ({ ...location, depth: location.depth + 1 })

/** Resolves an expression to the one that defines its value, which is itself unless it is a name; null if unknown. */
export function resolve(node: SyntaxNode, location: Location): ResolvedExpression | null {
  const { scope, module, findModule, depth } = location
  if (depth > maxDepth) return null
  const below = deeper(location)
  if (node.type === 'Identifier') {
    const binding = module.changed.has(node.name) ? null : scope.find(node.name)
    return binding === null ? null : resolveBinding(binding, below)
  }
  if (node.type === 'MemberExpression') {
    const key = node.computed ? evaluate(node.property as SyntaxNode, below) : getName(node.property)
    const object = resolve(node.object as SyntaxNode, below)
    return object === null || key === unknown || typeof key !== 'string' ? null : resolveMember(object, key)
  }
  const source = requiredBy(node)
  if (source === null) return { ...location, node }
  const found = findModule(module, source)
  return found === null ? null : resolveExport(found, null, below)
}

function resolveBinding(binding: Binding, location: Location): ResolvedExpression | null {
  switch (binding.kind) {
    case 'value':
      return resolve(binding.node, { ...location, scope: binding.scope })
    case 'function':
      return { ...location, node: binding.node, scope: binding.scope }
    case 'import': {
      const found = location.findModule(location.module, binding.source)
      return found === null ? null : resolveExport(found, binding.name === '*' ? null : binding.name, location)
    }
    case 'member': {
      const whole = resolveBinding(binding.of, location)
      return whole === null || binding.key === null ? null : resolveMember(whole, binding.key)
    }
    case 'parameter':
      return null
  }
}

function resolveMember(object: ResolvedExpression, key: string): ResolvedExpression | null {
  const { node, ...location } = object
  if (node.type === 'Program') return resolveExport(location.module, key, location)
  const property = node.type === 'ObjectExpression' ? findProperty(node, key) : null
  return property === null ? null : resolve(property, deeper(location))
}

/** The export of a file by its name; null: all exports, as `require` returns them. */
function resolveExport(from: Module, name: string | null, location: Location): ResolvedExpression | null {
  const inside = { ...deeper(location), module: from, scope: from.scope }
  const found = findExport(from.program, name)
  if (found !== null) return found.type === 'Program' ? { ...inside, node: found } : resolve(found, inside)
  // A named import from CommonJS is a property of the exported object.
  const whole = name === null || name === 'default' ? null : findExport(from.program, 'default')
  const object = whole === null ? null : resolve(whole, inside)
  return object === null || name === null ? null : resolveMember(object, name)
}

/** The value of a property of an object in the code; null if it has none by this name. The last one counts. */
export function findProperty({ properties }: ObjectExpression, key: string): SyntaxNode | null {
  const found = properties.findLast((property) => property.type === 'Property' && !property.computed && getName(property.key) === key)
  return found?.type === 'Property' ? found.value : null
}
