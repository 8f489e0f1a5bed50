// The regular expressions of the sources, found by the parser of TypeScript, and which of them are bounded by their form alone.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type AST, parseRegExpLiteral } from '@eslint-community/regexpp'
import ts from 'typescript'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

export interface Expression {
  /** Path below `src`, or from `packages`. */
  readonly file: string
  /** Its pattern; null if the file alone does not determine it. */
  readonly pattern: string | null
  readonly flags: string
  /** As the file has it. */
  readonly text: string
}

/** All literals and all calls of `RegExp`, with or without `new`. */
export function expressionsOfSources(): Expression[] {
  const files = ['src', 'packages'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path).replaceAll('\\', '/')),
  )
  return files
    .filter((path) => path.endsWith('.ts') && !/\/(?:dist|node_modules)\//.test(path))
    .flatMap((path) => expressionsIn(path.replace(/^src\//, ''), readFileSync(join(root, path), 'utf8')))
}

/** @param file its name; @param text its content */
export function expressionsIn(file: string, text: string): Expression[] {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const found: Expression[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      found.push({ file, pattern: node.text.slice(1, end), flags: node.text.slice(end + 1), text: node.text })
    }
    if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && /^(?:globalThis\.)?RegExp$/.test(node.expression.getText())) {
      const [pattern, flags] = node.arguments ?? []
      const known = flags === undefined ? '' : constantOf(flags, tree)
      found.push({
        file,
        pattern: pattern === undefined || known === null ? null : constantOf(pattern, tree),
        flags: known ?? '',
        text: node.getText(),
      })
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

/** The text that an expression of the file always has; null where it depends on more than the file's own constants. */
function constantOf(node: ts.Expression, tree: ts.SourceFile): string | null {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isIdentifier(node)) {
    const constant = tree.statements
      .filter(ts.isVariableStatement)
      .filter(({ declarationList }) => declarationList.flags & ts.NodeFlags.Const)
      .flatMap(({ declarationList }) => [...declarationList.declarations])
      .find(({ name }) => name.getText() === node.text)
    return constant?.initializer === undefined ? null : constantOf(constant.initializer, tree)
  }
  if (!ts.isTemplateExpression(node)) return null
  const parts = node.templateSpans.map(({ expression, literal }) => {
    const value = constantOf(expression, tree)
    return value === null ? null : value + literal.text
  })
  return parts.includes(null) ? null : node.head.text + parts.join('')
}

/** More ways than this through one expression from one place are not "bounded by form". */
const mostWays = 10_000

/**
 * True if the form of an expression guarantees linear time: the number of ways to match from one position is small, because
 * no part of it repeats without limit, or one part of one character does, once, and only from the beginning of the text.
 */
export function isBounded(pattern: string, flags: string): boolean {
  const { alternatives } = parseRegExpLiteral(new RegExp(pattern, flags)).pattern
  const endless: AST.Quantifier[] = []
  const ways = waysOf(alternatives, endless)
  if (ways > mostWays) return false
  if (endless.length === 0) return true
  const [first] = alternatives[0]!.elements
  const isAnchored = alternatives.length === 1 && first?.type === 'Assertion' && first.kind === 'start' && !flags.includes('m')
  // Inside a group it could be repeated itself, so only a part of the outermost sequence counts.
  return isAnchored && endless.length === 1 && endless[0]!.parent === alternatives[0] && isCharacter(endless[0]!.element)
}

const isCharacter = ({ type }: AST.QuantifiableElement) => type === 'Character' || type === 'CharacterClass' || type === 'CharacterSet'

/** Maximum number of paths of a backtracking engine; an unlimited part counts as one and is noted. */
function waysOf(alternatives: readonly AST.Alternative[], endless: AST.Quantifier[]): number {
  const one = (element: AST.Element): number => {
    if (element.type === 'Backreference' || element.type === 'ExpressionCharacterClass') return Infinity
    if (element.type === 'Quantifier') return repeated(element, endless, one(element.element))
    return 'alternatives' in element ? waysOf(element.alternatives as AST.Alternative[], endless) : 1
  }
  return alternatives.reduce((sum, { elements }) => sum + elements.reduce((product, element) => product * one(element), 1), 0)
}

function repeated(quantifier: AST.Quantifier, endless: AST.Quantifier[], ways: number): number {
  const { min, max } = quantifier
  if (max === Infinity) {
    endless.push(quantifier)
    return 1
  }
  if (ways === 1) return max - min + 1
  let sum = 0
  for (let times = min; times <= max && sum <= mostWays; times++) sum += ways ** times
  return sum
}
