// Parses a file of a project, JavaScript or TypeScript, into a syntax tree without types.
import { tsPlugin } from '@sveltejs/acorn-typescript'
import { type AnyNode, type Options, Parser, type Program } from 'acorn'

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

/** Expressions of TypeScript that stand for the one inside. */
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
export function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  const found: SyntaxNode[] = []
  for (const value of Object.values(node)) {
    for (const each of Array.isArray(value) ? value : [value]) if (isNode(each)) found.push(each as unknown as SyntaxNode)
  }
  return found
}

/** Calls `visit` for a node and all below it. */
export function walk(node: SyntaxNode, visit: (node: SyntaxNode) => void): void {
  visit(node)
  for (const child of childrenOf(node)) walk(child, visit)
}
