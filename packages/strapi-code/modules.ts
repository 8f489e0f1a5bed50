// Files of a project: parsed once, with their exports as ES modules or CommonJS.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Program } from 'acorn'
import { isCode } from './code-files.js'
import { getName, parse, type Scope, type SyntaxNode, scopeOfProgram, walk } from './syntax.js'

/** A file with its names. */
export interface Module {
  readonly path: string
  readonly program: Program
  readonly scope: Scope
  /** Names whose values change after they were declared: they are no constants. */
  readonly changed: ReadonlySet<string>
}

/** Finds the file that an import names; null for packages and files that cannot be read. */
export type FindModule = (from: Module, source: string) => Module | null

/** The module that `require('…')` names; null for other expressions. */
export function requiredBy(node: SyntaxNode): string | null {
  if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier' || node.callee.name !== 'require') return null
  const [source] = node.arguments
  return source?.type === 'Literal' && typeof source.value === 'string' ? source.value : null
}

/** The expression that a file exports by a name; without a name what `module.exports` is, or the whole file. */
export function findExport(program: Program, name: string | null): SyntaxNode | null {
  const statements = program.body as readonly SyntaxNode[]
  for (const statement of statements) {
    const assigned = assignedExport(statement)
    if (assigned !== null && assigned.name === (name === 'default' ? null : name)) return assigned.value
    if (statement.type === 'ExportDefaultDeclaration' && (name === 'default' || name === null)) return statement.declaration as SyntaxNode
    if (statement.type === 'ExportNamedDeclaration' && name !== null) {
      const found = namedExport(statement, name)
      if (found !== null) return found
    }
  }
  const hasNames =
    statements.some(({ type }) => type === 'ExportNamedDeclaration') || statements.some((one) => assignedExport(one) !== null)
  return name === null && hasNames ? program : null
}

type NamedExport = Extract<SyntaxNode, { type: 'ExportNamedDeclaration' }>

function namedExport({ declaration, specifiers }: NamedExport, name: string): SyntaxNode | null {
  if (declaration?.type === 'VariableDeclaration') {
    const found = declaration.declarations.find(({ id }) => id.type === 'Identifier' && id.name === name)
    if (found?.init != null) return found.init
  }
  if (declaration?.type === 'FunctionDeclaration' && declaration.id?.name === name) return declaration
  const specifier = specifiers.find(({ exported }) => getName(exported) === name)
  return specifier?.local.type === 'Identifier' ? specifier.local : null
}

/** `module.exports = …` (name null), `module.exports.x = …`, `exports.x = …` and `exports.default = …`. */
function assignedExport(statement: SyntaxNode): { readonly name: string | null; readonly value: SyntaxNode } | null {
  if (statement.type !== 'ExpressionStatement' || statement.expression.type !== 'AssignmentExpression') return null
  const { left, right } = statement.expression
  if (left.type !== 'MemberExpression') return null
  const text = (node: SyntaxNode): string =>
    node.type === 'MemberExpression' ? `${text(node.object as SyntaxNode)}.${getName(node.property)}` : getName(node)
  const path = text(left)
  if (path === 'module.exports') return { name: null, value: right }
  const [, name] = /^(?:module\.)?exports\.(\w+)$/.exec(path) ?? []
  return name === undefined ? null : { name: name === 'default' ? null : name, value: right }
}

/** Wraps a parsed file. */
export const createModule = (path: string, program: Program): Module => ({
  path,
  program,
  scope: scopeOfProgram(program),
  changed: changedIn(program),
})

/** The names that are assigned to, or whose members are. */
function changedIn(program: Program): ReadonlySet<string> {
  const found = new Set<string>()
  const note = (node: SyntaxNode): void => {
    let base = node
    while (base.type === 'MemberExpression') base = base.object as SyntaxNode
    if (base.type === 'Identifier') found.add(base.name)
  }
  walk(program, (node) => {
    if (node.type === 'AssignmentExpression') note(node.left as SyntaxNode)
    if (node.type === 'UpdateExpression' || (node.type === 'UnaryExpression' && node.operator === 'delete')) note(node.argument)
    if (
      node.type === 'CallExpression' &&
      /^(?:assign|merge|set|push|unset|defaults)$/.test(calleeName(node.callee as SyntaxNode)) &&
      node.arguments[0]
    )
      note(
        node.callee.type === 'MemberExpression' && getName(node.callee.property) === 'push'
          ? (node.callee.object as SyntaxNode)
          : (node.arguments[0] as SyntaxNode),
      )
  })
  found.delete('module')
  found.delete('exports')
  return found
}

/** The last name of a callee. */
export const calleeName = (callee: SyntaxNode): string => (callee.type === 'MemberExpression' ? getName(callee.property) : getName(callee))

/** Files beyond this size are bundles, and are not read; bytes. */
const maxFileBytes = 1_000_000

/** Reads and parses files of a project, each once; null for a file that cannot be read or is not valid. */
export interface ModuleReader {
  readonly read: (path: string) => Module | null
  readonly find: FindModule
}

/** Opens a reader. */
export function createModuleReader(folder: string): ModuleReader {
  const known = new Map<string, Module | null>()
  const read = (path: string): Module | null => {
    const found = known.get(path)
    if (found !== undefined) return found
    const program = parseFile(join(folder, path), path)
    const module = program === null ? null : createModule(path, program)
    known.set(path, module)
    return module
  }
  return {
    read,
    find(from, source) {
      if (!source.startsWith('.')) return null
      const place = posix.join(posix.dirname(from.path), source)
      if (place.startsWith('..')) return null
      // Imports of TypeScript may name the file that it is compiled to.
      const candidates = [
        place,
        place.replace(/\.js$/, '.ts'),
        ...extensions.flatMap((each) => [`${place}.${each}`, `${place}/index.${each}`]),
      ]
      const file = candidates.find((path) => isCode(path) && existsSync(join(folder, path)))
      return file === undefined ? null : read(file)
    },
  }
}

const extensions = ['js', 'ts', 'cjs', 'mjs', 'cts', 'mts']

function parseFile(file: string, path: string) {
  try {
    return statSync(file).size > maxFileBytes ? null : parse(path, readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}
