// Tests do not compare times on the clock with numbers, nor with each other: a busy machine takes longer. They count, wait for conditions
// (`support/until.ts`), or compare CPU times (`support/cpu-time.ts`).
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

const here = dirname(fileURLToPath(import.meta.url))

/** Exceptions, with their number and reason. */
const allowed: Readonly<Record<string, { readonly times: number; readonly why: string }>> = {
  'engines/galera.test.ts': { times: 1, why: 'at least the time of a load: a busy machine only adds to it' },
  'faults/draining.test.ts': { times: 1, why: 'at least the time of drainDelay: a busy machine only adds to it' },
  'faults/stalled-stop.test.ts': { times: 1, why: 'at least a fifth of drainTimeout: a busy machine only adds to it' },
}

/** Names of times in what tests import from each other. */
const imported = ['after', 'milliseconds']
const clock = /\b(?:performance|Date)\.now\(\)\s*-|-\s*(?:performance|Date)\.now\(\)/
const returnsTime = /return (?:performance|Date)\.now\(\) - /

/** The comparisons of times with numbers in a file. */
function comparisons(text: string): readonly string[] {
  const tree = ts.createSourceFile('', text, ts.ScriptTarget.Latest, true)
  const times = new Set(imported)
  const numbers = new Set<string>()
  const isTime = (node: ts.Node): boolean =>
    clock.test(node.getText(tree)) || [...times].some((name) => new RegExp(`(?<![\\w'"\`])${name}\\b(?!['"\`:])`).test(node.getText(tree)))
  const visit = (node: ts.Node, see: (node: ts.Node) => void): void => {
    see(node)
    node.forEachChild((child) => visit(child, see))
  }
  visit(tree, (node) => {
    if (ts.isFunctionDeclaration(node) && returnsTime.test(node.getText(tree))) times.add(node.name!.text)
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer !== undefined) {
      const made = node.initializer.getText(tree)
      if (ts.isNumericLiteral(node.initializer)) numbers.add(node.name.text)
      if (made.includes('=>') ? returnsTime.test(made) : clock.test(made)) times.add(node.name.text)
    }
    const isAssigned = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken && ts.isIdentifier(node.left)
    if (isAssigned && clock.test(node.right.getText(tree))) times.add((node.left as ts.Identifier).text)
  })
  const isNumber = (node: ts.Node): boolean =>
    ts.isNumericLiteral(node) ||
    (ts.isIdentifier(node) && numbers.has(node.text)) ||
    (ts.isBinaryExpression(node) && isNumber(node.left) && isNumber(node.right))
  const found: string[] = []
  visit(tree, (node) => {
    if (ts.isBinaryExpression(node) && /^[<>]=?$/.test(node.operatorToken.getText(tree))) {
      if (isTime(node.left) && isNumber(node.right)) found.push(node.getText(tree))
      return
    }
    if (
      !ts.isCallExpression(node) ||
      !ts.isPropertyAccessExpression(node.expression) ||
      !/^toBe(?:Less|Greater)Than/.test(node.expression.name.text)
    )
      return
    const expected = node.expression.expression
    if (!ts.isCallExpression(expected) || expected.arguments.length === 0 || node.arguments.length === 0) return
    const [subject] = expected.arguments
    if (isTime(subject!) && isNumber(node.arguments[0]!)) found.push(node.getText(tree))
  })
  return found
}

test('no test compares times on the clock, except for a reason', () => {
  const found = (readdirSync(here, { recursive: true }) as string[])
    .filter((file) => file.endsWith('.test.ts'))
    .sort()
    .map((file) => [file.replaceAll('\\', '/'), comparisons(readFileSync(join(here, file), 'utf8'))] as const)
    .filter(([, times]) => times.length > 0)
  const counts = found.map(([file, times]) => [file, times.length])
  expect(Object.fromEntries(counts), found.flatMap(([file, times]) => times.map((one) => `${file}: ${one}`)).join('\n')).toEqual(
    Object.fromEntries(Object.entries(allowed).map(([file, { times }]) => [file, times])),
  )
})
