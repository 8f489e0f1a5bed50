// Parses JavaScript and TypeScript into a syntax tree.
import { tsPlugin } from '@sveltejs/acorn-typescript'
import {
  type AnyNode,
  type ArrowFunctionExpression,
  type FunctionDeclaration,
  type FunctionExpression,
  type Options,
  Parser,
  type Program,
} from 'acorn'

/** A node of the tree; those of types begin with TS. */
export type SyntaxNode = AnyNode

/** Any function. */
export type FunctionNode = FunctionDeclaration | FunctionExpression | ArrowFunctionExpression

const TypeScript = Parser.extend(tsPlugin())

const options: Options = { ecmaVersion: 'latest', sourceType: 'module', allowReturnOutsideFunction: true, allowHashBang: true }

/** Parses the text of a file; null if it is not valid. */
export function parse(path: string, text: string): Program | null {
  const attempts: readonly (() => Program)[] = /\.[cm]?ts$/.test(path)
    ? [() => TypeScript.parse(text, { ...options, locations: true })]
    : [() => Parser.parse(text, options), () => Parser.parse(text, { ...options, sourceType: 'script' })]
  for (const attempt of attempts) {
    try {
      return attempt()
    } catch {
      // The next attempt, or none, can read it.
    }
  }
  return null
}

const isNode = (value: unknown): value is SyntaxNode => typeof value === 'object' && value !== null && 'type' in value

/** The nodes right below a node; functions with names come first, as their names are known before they are reached. */
export function getChildren(node: SyntaxNode): readonly SyntaxNode[] {
  const children = Object.values(node).flat().filter(isNode)
  const isEarly = ({ type }: SyntaxNode): boolean => type === 'FunctionDeclaration'
  return [...children.filter(isEarly), ...children.filter((child) => !isEarly(child))]
}

/** The name of a key or identifier; empty if it is computed. */
export const getName = (node: SyntaxNode): string =>
  node.type === 'Identifier' ? node.name : node.type === 'Literal' ? String(node.value) : ''
