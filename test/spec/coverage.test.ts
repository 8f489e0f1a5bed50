// Every rule of docs/spec is named by a test, and every file of rules keeps its form.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const here = dirname(fileURLToPath(import.meta.url))
const folder = join(here, '..', '..', 'docs', 'spec')

const parts = readdirSync(folder)
  .filter((file) => file.endsWith('.md') && file !== 'README.md')
  .map((file) => file.replace('.md', ''))
const idsOf = (part: string): string[] =>
  [...readFileSync(join(folder, `${part}.md`), 'utf8').matchAll(/^\*\*([^*]+)\*\* /gm)].map(([, id]) => id!)

/** The ids that tests name, written out or listed before a loop. */
const named = new Set(
  ['spec', 'account', 'uploads', 'attacks'].flatMap((place) => {
    const tests = join(here, '..', place)
    return readdirSync(tests)
      .filter((file) => file.endsWith('.test.ts') && file !== 'coverage.test.ts')
      .flatMap((file) =>
        [...readFileSync(join(tests, file), 'utf8').matchAll(/(?:rule\(|^\s*\[)\s*'([a-z-]+\.\d+)'/gm)].map(([, id]) => id!),
      )
  }),
)

test('every rule is named by a test', () => {
  const rules = parts.flatMap(idsOf)
  expect(rules.filter((id) => !named.has(id))).toEqual([])
})

for (const part of parts) {
  test(`the rules of ${part} are numbered by their file, upwards, each once`, () => {
    const ids = idsOf(part)
    const numbers = ids.map((id) => Number(id.split('.')[1]))
    expect(ids.map((id) => id.split('.')[0])).toEqual(ids.map(() => part))
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
    expect(ids.length).toBeGreaterThan(0)
  })

  test(`${part} opens with a title and a sentence, and is linked by the overview`, () => {
    const [title, , sentence] = readFileSync(join(folder, `${part}.md`), 'utf8').split('\n')
    expect(title).toMatch(/^# \S/)
    expect(sentence).toMatch(/^[^*#].*\.$/)
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain(`(${part}.md)`)
  })
}
