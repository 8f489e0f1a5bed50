// What the names in a file stand for: values, imports, parameters of functions, and parts of these.
import type { ArrowFunctionExpression, FunctionDeclaration, FunctionExpression, Pattern, Program, VariableDeclaration } from 'acorn'
import { childrenOf, type SyntaxNode } from './parse.js'

/** Any function. */
export type FunctionNode = FunctionDeclaration | FunctionExpression | ArrowFunctionExpression

/** What a name stands for. */
export type Binding =
  | { readonly kind: 'value'; readonly node: SyntaxNode; readonly scope: Scope }
  /** The member `key` of another expression, taken out of it by a pattern; a null key: it cannot be known. */
  | { readonly kind: 'member'; readonly of: Binding; readonly key: string | null }
  | { readonly kind: 'import'; readonly source: string; readonly name: string }
  | { readonly kind: 'parameter'; readonly function: FunctionNode; readonly index: number }
  | { readonly kind: 'function'; readonly node: FunctionNode; readonly scope: Scope }

/** The names that are known in a place. */
export interface Scope {
  readonly find: (name: string) => Binding | null
}

const empty: Scope = { find: () => null }

/** The names of a file. */
export const scopeOfProgram = (program: Program): Scope =>
  below(empty, (scope, add) => declare(program.body as readonly SyntaxNode[], scope, add))

/** The names inside a function: its parameters and what its body declares. */
export function scopeOfFunction(node: FunctionNode, outer: Scope): Scope {
  return below(outer, (scope, add) => {
    for (const [index, parameter] of node.params.entries()) bind(parameter, { kind: 'parameter', function: node, index }, add)
    declare([node.body], scope, add)
  })
}

type Add = (name: string, binding: Binding) => void

function below(outer: Scope, fill: (scope: Scope, add: Add) => void): Scope {
  const names = new Map<string, Binding>()
  const scope: Scope = { find: (name) => names.get(name) ?? outer.find(name) }
  fill(scope, (name, binding) => {
    // A name that is declared twice in blocks beside each other is known as the first of them.
    if (!names.has(name)) names.set(name, binding)
  })
  return scope
}

/** Adds what statements declare, those in blocks included, those in functions not. */
function declare(nodes: readonly SyntaxNode[], scope: Scope, add: Add): void {
  for (const node of nodes) {
    if (node.type === 'VariableDeclaration') declareVariables(node, scope, add)
    else if (node.type === 'ImportDeclaration') {
      for (const one of node.specifiers) {
        const imported = one.type === 'ImportSpecifier' ? nameOf(one.imported) : one.type === 'ImportDefaultSpecifier' ? 'default' : '*'
        add(one.local.name, { kind: 'import', source: String(node.source.value), name: imported })
      }
    } else if (node.type === 'FunctionDeclaration') {
      if (node.id !== null) add(node.id.name, { kind: 'function', node: node as FunctionDeclaration, scope })
      continue
    }
    if (!isFunction(node)) declare(childrenOf(node), scope, add)
  }
}

function declareVariables({ declarations }: VariableDeclaration, scope: Scope, add: Add): void {
  for (const { id, init } of declarations) if (init != null) bind(id, { kind: 'value', node: init, scope }, add)
}

/** Adds the names of a pattern, which takes a value apart. */
function bind(pattern: Pattern, binding: Binding, add: Add): void {
  if (pattern.type === 'Identifier') add(pattern.name, binding)
  else if (pattern.type === 'AssignmentPattern') bind(pattern.left, binding, add)
  else if (pattern.type === 'ObjectPattern') {
    for (const property of pattern.properties) {
      if (property.type === 'RestElement') bind(property.argument, { kind: 'member', of: binding, key: null }, add)
      else bind(property.value, { kind: 'member', of: binding, key: property.computed ? null : nameOf(property.key) }, add)
    }
  } else if (pattern.type === 'ArrayPattern') {
    for (const [index, element] of pattern.elements.entries())
      if (element !== null) bind(element, { kind: 'member', of: binding, key: String(index) }, add)
  }
}

/** True for functions of any form. */
export const isFunction = (node: SyntaxNode): node is FunctionNode =>
  node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression'

/** The name that a key or identifier has; null if it is computed. */
export function nameOf(node: SyntaxNode): string {
  if (node.type === 'Identifier') return node.name
  return node.type === 'Literal' ? String(node.value) : ''
}
