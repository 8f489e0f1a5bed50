// A table of snippets for generated types, the client and documents(): what compiles, and where the compiler sees what is wrong.
import { describe, expect, test } from 'vitest'
import { goldenProject } from '../support/serve.js'
import { cases, preamble } from './cases.js'
import { compile, type Mistake, typesOf } from './compile.js'

const mark = '▸'
const fileOf = (index: number) => `case-${index}.ts`
const codeOf = (code: string) => `${preamble}\n${code}\nexport {}\n`

/** All snippets in one program. */
function compiled(): ReadonlyMap<string, readonly Mistake[]> {
  const files = Object.fromEntries(cases.map(({ code }, index) => [fileOf(index), codeOf(code.replace(mark, ''))]))
  const { mistakes } = compile({ 'octavo.d.ts': typesOf(goldenProject), ...files })
  const byFile = new Map<string, Mistake[]>()
  for (const mistake of mistakes) byFile.set(mistake.file, [...(byFile.get(mistake.file) ?? []), mistake])
  return byFile
}

let found: ReadonlyMap<string, readonly Mistake[]> | undefined

describe('generated types, the client and documents()', () => {
  test.each(cases.map(({ name, code }, index) => [name, code, fileOf(index)] as const))('%s', (_name, code, file) => {
    found ??= compiled()
    const mistakes = found.get(file) ?? []
    const place = codeOf(code).indexOf(mark)
    const messages = mistakes.map(({ message }) => message).join('\n')
    if (place === -1) expect(messages).toBe('')
    else expect(`${mistakes.map(({ start }) => start)} ${messages}`).toBe(`${place} ${messages}`)
  })

  test('nothing else is wrong, and there are sixty of them', () => {
    found ??= compiled()
    expect([...found.keys()].filter((file) => !file.startsWith('case-'))).toEqual([])
    expect(cases.length).toBeGreaterThanOrEqual(60)
  })
})
