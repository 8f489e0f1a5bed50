// The values of expressions that are known without running them: literals, and constants by name, through objects and files of the project.
import type { ObjectExpression } from 'acorn'
import { exportOf, type FindModule, type Module, requiredBy } from './modules.js'
import type { SyntaxNode } from './parse.js'
import { type Binding, isFunction, nameOf, type Scope } from './scope.js'

/** In place of a value that is only known when the code runs. */
export const unknown: unique symbol = Symbol('unknown')

/** The value of an expression; `unknown` if code has to run for it, or for anything in it. */
export function evaluate(node: SyntaxNode, location: Location): unknown {
  if (location.depth > deepest) return unknown
  const inner = (below: SyntaxNode): unknown => evaluate(below, deeper(location))
  switch (node.type) {
    case 'Literal':
      return node.regex === undefined && node.bigint == null ? node.value : unknown
    case 'TemplateLiteral': {
      const parts = node.expressions.map(inner)
      return parts.includes(unknown) ? unknown : node.quasis.map(({ value }, index) => `${value.cooked}${parts[index] ?? ''}`).join('')
    }
    case 'ArrayExpression':
      return listOf(node.elements as readonly (SyntaxNode | null)[], inner)
    case 'ObjectExpression':
      return objectOf(node, inner)
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
      return callOf(node.callee as SyntaxNode, node.arguments as readonly SyntaxNode[], inner)
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

function listOf(elements: readonly (SyntaxNode | null)[], inner: (node: SyntaxNode) => unknown): unknown {
  const values: unknown[] = []
  for (const element of elements) {
    const value = element === null ? unknown : inner(element.type === 'SpreadElement' ? element.argument : element)
    if (value === unknown || (element?.type === 'SpreadElement' && !Array.isArray(value))) return unknown
    if (element?.type === 'SpreadElement') values.push(...(value as readonly unknown[]))
    else values.push(value)
  }
  return values
}

function objectOf({ properties }: ObjectExpression, inner: (node: SyntaxNode) => unknown): unknown {
  const found: Record<string, unknown> = {}
  for (const property of properties) {
    if (property.type === 'SpreadElement') {
      const value = inner(property.argument)
      if (value === unknown || typeof value !== 'object') return unknown
      Object.assign(found, value)
      continue
    }
    const key = property.computed ? inner(property.key) : nameOf(property.key)
    const value = property.kind === 'init' ? inner(property.value) : unknown
    if (value === unknown || typeof key !== 'string') return unknown
    Object.defineProperty(found, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return found
}

/** Calls that give their argument back: `Object.freeze(x)`, `structuredClone(x)`, `JSON.parse(JSON.stringify(x))`, and `[…].join(',')`. */
function callOf(callee: SyntaxNode, given: readonly SyntaxNode[], inner: (node: SyntaxNode) => unknown): unknown {
  const name =
    callee.type === 'MemberExpression' && callee.object.type === 'Identifier'
      ? `${callee.object.name}.${nameOf(callee.property)}`
      : callee.type === 'Identifier'
        ? callee.name
        : ''
  if (['Object.freeze', 'structuredClone', 'JSON.parse', 'JSON.stringify', '_.cloneDeep', 'cloneDeep'].includes(name))
    return given[0] === undefined ? unknown : inner(given[0])
  if (callee.type !== 'MemberExpression' || nameOf(callee.property) !== 'join') return unknown
  const list = inner(callee.object as SyntaxNode)
  const separator = given[0] === undefined ? ',' : inner(given[0])
  return Array.isArray(list) && typeof separator === 'string' ? list.join(separator) : unknown
}

/** Where an expression is. */
export interface Location {
  readonly scope: Scope
  readonly module: Module
  readonly findModule: FindModule
  /** How many names and levels led here. */
  readonly depth: number
}

/** An expression with its place. */
export interface ResolvedExpression extends Location {
  readonly node: SyntaxNode
}

/** Expressions nested deeper than this, and chains of names longer than this, are not followed. */
const deepest = 60

/** One level or name further. */
const deeper = (location: Location): Location => ({ ...location, depth: location.depth + 1 })

/** Finds the expression that an expression stands for, itself if it is no name; null if it is not known. */
export function resolve(node: SyntaxNode, location: Location): ResolvedExpression | null {
  const { scope, module, findModule, depth } = location
  if (depth > deepest) return null
  const below = deeper(location)
  if (node.type === 'Identifier') {
    const binding = module.changed.has(node.name) ? null : scope.find(node.name)
    return binding === null ? null : resolveBinding(binding, below)
  }
  if (node.type === 'MemberExpression') {
    const key = node.computed ? evaluate(node.property as SyntaxNode, below) : nameOf(node.property)
    const object = resolve(node.object as SyntaxNode, below)
    return object === null || key === unknown || typeof key !== 'string' ? null : memberOf(object, key)
  }
  const source = requiredBy(node)
  if (source === null) return { ...location, node }
  const found = findModule(module, source)
  return found === null ? null : exported(found, null, below)
}

function resolveBinding(binding: Binding, location: Location): ResolvedExpression | null {
  switch (binding.kind) {
    case 'value':
      return resolve(binding.node, { ...location, scope: binding.scope })
    case 'function':
      return { ...location, node: binding.node, scope: binding.scope }
    case 'import': {
      const found = location.findModule(location.module, binding.source)
      return found === null ? null : exported(found, binding.name === '*' ? null : binding.name, location)
    }
    case 'member': {
      const whole = resolveBinding(binding.of, location)
      return whole === null || binding.key === null ? null : memberOf(whole, binding.key)
    }
    case 'parameter':
      return null
  }
}

function memberOf(object: ResolvedExpression, key: string): ResolvedExpression | null {
  const { node, ...location } = object
  if (node.type === 'Program') return exported(location.module, key, location)
  const property = node.type === 'ObjectExpression' ? propertyOf(node, key) : null
  return property === null ? null : resolve(property, deeper(location))
}

/** What a file exports by a name; null: all of it, as `require` gives it. */
function exported(from: Module, name: string | null, location: Location): ResolvedExpression | null {
  const inside = { ...deeper(location), module: from, scope: from.scope }
  const found = exportOf(from.program, name)
  if (found !== null) return found.type === 'Program' ? { ...inside, node: found } : resolve(found, inside)
  // A named import of a CommonJS file takes a property of what it exports.
  const whole = name === null || name === 'default' ? null : exportOf(from.program, 'default')
  const object = whole === null ? null : resolve(whole, inside)
  return object === null || name === null ? null : memberOf(object, name)
}

/** The value of a property of an object in the code; null if it has none by this name. The last one counts. */
export function propertyOf({ properties }: ObjectExpression, key: string): SyntaxNode | null {
  const found = properties.findLast((property) => property.type === 'Property' && !property.computed && nameOf(property.key) === key)
  return found?.type === 'Property' ? found.value : null
}
