// Parses JavaScript and TypeScript into a syntax tree without types, and resolves its names.
import { tsPlugin } from '@sveltejs/acorn-typescript'
import {
  type AnyNode,
  type ArrowFunctionExpression,
  type FunctionDeclaration,
  type FunctionExpression,
  type Options,
  Parser,
  type Pattern,
  type Program,
  type VariableDeclaration,
} from 'acorn'

/** A node of the tree. */
export type SyntaxNode = AnyNode

const TypeScript = Parser.extend(tsPlugin())

const options: Options = { ecmaVersion: 'latest', sourceType: 'module', allowReturnOutsideFunction: true, allowHashBang: true }

/** Parses the text of a file; null if it is not valid. */
export function parse(path: string, text: string): Program | null {
  const isTypeScript = /\.[cm]?ts$/.test(path)
  const attempts: readonly (() => Program)[] = isTypeScript
    ? [() => TypeScript.parse(text, { ...options, locations: true })]
    : [() => Parser.parse(text, options), () => Parser.parse(text, { ...options, sourceType: 'script' })]
  for (const attempt of attempts) {
    try {
      return withoutTypes(attempt())
    } catch {
      // The next attempt, or none, can read it.
    }
  }
  return null
}

/** TypeScript expressions that wrap another expression. */
const wrappers = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
  'ChainExpression',
  'ParenthesizedExpression',
])
/** Keys that hold types only. */
const typeKeys = new Set([
  'typeAnnotation',
  'returnType',
  'typeParameters',
  'typeArguments',
  'superTypeParameters',
  'implements',
  'decorators',
])

type Loose = Record<string, unknown> & { readonly type: string }

const isNode = (value: unknown): value is Loose => typeof value === 'object' && value !== null && typeof (value as Loose).type === 'string'

/** Takes away types, and the wrappers of expressions. Optional chains and calls become plain ones. */
function withoutTypes<Tree>(tree: Tree): Tree {
  let node: unknown = tree
  while (isNode(node) && wrappers.has(node.type)) node = node.expression
  if (Array.isArray(node)) return node.map(withoutTypes) as Tree
  if (!isNode(node)) return node as Tree
  for (const [key, value] of Object.entries(node))
    if (typeof value === 'object' && value !== null) node[key] = typeKeys.has(key) ? undefined : withoutTypes(value)
  return node as unknown as Tree
}

/** The nodes right below a node. */
export function getChildren(node: SyntaxNode): readonly SyntaxNode[] {
  const found: SyntaxNode[] = []
  for (const value of Object.values(node)) {
    for (const each of Array.isArray(value) ? value : [value]) if (isNode(each)) found.push(each as unknown as SyntaxNode)
  }
  return found
}

/** Calls `visit` for a node and all below it. */
export function walk(node: SyntaxNode, visit: (node: SyntaxNode) => void): void {
  visit(node)
  for (const child of getChildren(node)) walk(child, visit)
}

/** Any function. */
export type FunctionNode = FunctionDeclaration | FunctionExpression | ArrowFunctionExpression

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
    // Of two declarations in sibling blocks, the first counts.
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
        const imported = one.type === 'ImportSpecifier' ? getName(one.imported) : one.type === 'ImportDefaultSpecifier' ? 'default' : '*'
        add(one.local.name, { kind: 'import', source: String(node.source.value), name: imported })
      }
    } else if (node.type === 'FunctionDeclaration') {
      if (node.id !== null) add(node.id.name, { kind: 'function', node: node as FunctionDeclaration, scope })
      continue
    }
    if (!isFunction(node)) declare(getChildren(node), scope, add)
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
      else bind(property.value, { kind: 'member', of: binding, key: property.computed ? null : getName(property.key) }, add)
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
export function getName(node: SyntaxNode): string {
  if (node.type === 'Identifier') return node.name
  return node.type === 'Literal' ? String(node.value) : ''
}
