// Tests do not compare a time with milliseconds that somebody wrote down: a busy machine takes longer. They count, or compare with a
// time that was taken beside.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

const here = dirname(fileURLToPath(import.meta.url))

/** Where it is done all the same, how often, and why. */
const allowed: Readonly<Record<string, { readonly times: number; readonly why: string }>> = {
  'attacks/large-bodies.test.ts': { times: 5, why: 'the pause of the event loop is what is tested; it is a tenth of the bound' },
  'attacks/refusals.test.ts': { times: 1, why: 'a hang in any of thousands of requests is to name the request; the bound is far off' },
  'engines/galera.test.ts': { times: 1, why: 'at least the time of a load: a busy machine only adds to it' },
  'faults/draining.test.ts': { times: 1, why: 'at least the time of drainDelay: a busy machine only adds to it' },
  'faults/listeners.test.ts': { times: 1, why: 'less than the drainTimeout that a hanging listener would take' },
  'faults/shutdown.test.ts': { times: 3, why: 'less than the limits of the service that it would wait for' },
  'faults/stalled-stop.test.ts': { times: 3, why: 'more or less than the limits of the service that the test sets' },
  'servers/faults.test.ts': { times: 1, why: 'less than the minutes for which a connection without any sign would be waited for' },
  'uploads/private.test.ts': { times: 2, why: 'the life of an address that the service has just signed, with a margin of fifteen seconds' },
}

/** Names that are times in what tests import of each other. */
const imported = ['after', 'milliseconds', 'slowest']
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
  const isRatio = (node: ts.Node): boolean =>
    ts.isBinaryExpression(node) && (node.operatorToken.kind === ts.SyntaxKind.SlashToken || isRatio(node.left) || isRatio(node.right))
  const found: string[] = []
  visit(tree, (node) => {
    if (ts.isBinaryExpression(node) && /^[<>]=?$/.test(node.operatorToken.getText(tree))) {
      if (isTime(node.left) && isNumber(node.right) && !isRatio(node.left)) found.push(node.getText(tree))
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
    if (isTime(subject!) && isNumber(node.arguments[0]!) && !isRatio(subject!)) found.push(node.getText(tree))
  })
  return found
}

test('no test compares a time with milliseconds, but for those with a reason', () => {
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
