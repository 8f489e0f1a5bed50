// Parses JavaScript and TypeScript into a syntax tree, and the files of a project with their imports.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
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
import { isCode } from './code-files.js'

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

/** Files beyond this size are bundles, and are not read; bytes. */
const maxFileBytes = 1_000_000

const extensions = ['js', 'ts', 'cjs', 'mjs', 'cts', 'mts']

/** Parses files of a project, each once. */
export interface ModuleReader {
  /** Null for a file that cannot be read or is not valid. */
  read(path: string): Program | null
  /** The file that an import of another file names; null for packages and missing files. */
  find(from: string, source: string): string | null
}

/** Creates a reader of the project in `folder`. */
export function createModuleReader(folder: string): ModuleReader {
  const known = new Map<string, Program | null>()
  const parseFile = (path: string): Program | null => {
    try {
      const file = join(folder, path)
      return statSync(file).size > maxFileBytes ? null : parse(path, readFileSync(file, 'utf8'))
    } catch {
      return null
    }
  }
  return {
    read(path) {
      if (!known.has(path)) known.set(path, parseFile(path))
      return known.get(path)!
    },
    find(from, source) {
      const path = posix.join(posix.dirname(from), source)
      if (!source.startsWith('.') || path.startsWith('..')) return null
      // Imports of TypeScript may name the file that it is compiled to.
      const names = [path, path.replace(/\.js$/, '.ts'), ...extensions.flatMap((each) => [`${path}.${each}`, `${path}/index.${each}`])]
      return names.find((name) => isCode(name) && existsSync(join(folder, name))) ?? null
    },
  }
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
