// A table of snippets for generated types, the client and documents(): some compile, and the compiler finds the error in others.
import { describe, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import { goldenProject } from '../support/serve.js'
import { general, hooks, looseCode, preamble, transactions, wrongNames } from './cases.js'
import { compile, type Mistake, typesOf } from './compile.js'

const mark = '▸'
const fileOf = (index: number) => `case-${index}.ts`
const codeOf = (code: string) => `${preamble}\n${code}\nexport {}\n`

const isWrong = ({ code }: { readonly code: string }): boolean => code.includes(mark)
const rules = [
  ['types.3', general.filter((one) => !isWrong(one))],
  ['types.4', general.filter(isWrong)],
  ['types.12', transactions],
  ['types.13', hooks],
  ['types.14', wrongNames],
] as const
const cases = rules.flatMap(([id, list]) => list.map((one) => ({ ...one, id })))

/** All snippets in one program. */
function compiled(): ReadonlyMap<string, readonly Mistake[]> {
  const files = Object.fromEntries(cases.map(({ code }, index) => [fileOf(index), codeOf(code.replace(mark, ''))]))
  const { mistakes } = compile({ 'octavo.d.ts': typesOf(goldenProject), ...files })
  const byFile = new Map<string, Mistake[]>()
  for (const mistake of mistakes) byFile.set(mistake.file, [...(byFile.get(mistake.file) ?? []), mistake])
  return byFile
}

let found: ReadonlyMap<string, readonly Mistake[]> | undefined

function check(code: string, file: string): void {
  found ??= compiled()
  const mistakes = found.get(file) ?? []
  const place = codeOf(code).indexOf(mark)
  const messages = mistakes.map(({ message }) => message).join('\n')
  if (place === -1) expect(messages).toBe('')
  else expect(`${mistakes.map(({ start }) => start)} ${messages}`).toBe(`${place} ${messages}`)
}

describe('generated types, the client and documents()', () => {
  for (const [index, { id, name, code }] of cases.entries()) rule(id, name, () => check(code, fileOf(index)))

  rule('types.14', 'the error is one line that says what there is', () => {
    found ??= compiled()
    const index = cases.findIndex(({ code }) => code.includes("collection(▸'article').find"))
    expect(found.get(fileOf(index))!.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^Argument of type '"article"' is not assignable to parameter of type '"articles" \| [^\n]*'\.$/),
    ])
  })

  rule('types.15', 'without the file of octavo types, any name and any data compiles', () => {
    expect(compile({ 'loose.ts': looseCode }).mistakes).toEqual([])
  })

  test('nothing else is wrong, and there are sixty of them', () => {
    found ??= compiled()
    expect([...found.keys()].filter((file) => !file.startsWith('case-'))).toEqual([])
    expect(cases.length).toBeGreaterThanOrEqual(60)
  })
})
