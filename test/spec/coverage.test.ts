// Every rule of docs/spec is named by a test, every attack and every fault that tests cite is listed there, and its files keep their form.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const here = dirname(fileURLToPath(import.meta.url))
const folder = join(here, '..', '..', 'docs', 'spec')

/** Tables of tested behaviour in addition to the rules. */
const lists = ['attacks', 'faults']
const parts = readdirSync(folder)
  .filter((file) => file.endsWith('.md') && file !== 'README.md')
  .map((file) => file.replace('.md', ''))
  .filter((part) => !lists.includes(part))
const idsOf = (part: string): string[] =>
  [...readFileSync(join(folder, `${part}.md`), 'utf8').matchAll(/^\*\*([^*]+)\*\* /gm)].map(([, id]) => id!)

/** The ids that tests name, written out or listed before a loop. */
const named = new Set(
  [
    'spec',
    'administration',
    'account',
    'uploads',
    'archive',
    'backup',
    'attacks',
    'browser',
    'page',
    'page/browser',
    'start',
    'types',
    'clients',
    'description',
    'content-type-builder',
    'live-model',
    'model-plans',
    'servers',
    'postgres',
    'engines',
    'instances',
    'deploy',
  ].flatMap((place) => {
    const tests = join(here, '..', place)
    return readdirSync(tests)
      .filter((file) => file.endsWith('.test.ts') && file !== 'coverage.test.ts')
      .flatMap((file) => {
        const text = readFileSync(join(tests, file), 'utf8')
        const titles = [
          ...text.matchAll(/(?:\b(?:test|it)(?:\.(?:each|runIf)\(\w+\))?\('|\brule: ')((?:[a-z-]+\.\d+(?:, )?)+)[:']/g),
        ].flatMap(([, ids]) => ids!.split(', '))
        return [...[...text.matchAll(/(?:rule\(|^\s*\[)\s*'([a-z-]+\.\d+)'/gm)].map(([, id]) => id!), ...titles]
      })
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
}

for (const part of [...parts, ...lists]) {
  test(`${part} opens with a title and a sentence, and is linked by the overview`, () => {
    const [title, , sentence] = readFileSync(join(folder, `${part}.md`), 'utf8').split('\n')
    expect(title).toMatch(/^# \S/)
    expect(sentence).toMatch(/^[^*#].*\.$/)
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain(`(${part}.md)`)
  })
}

/** The tests that cite each attack and each fault, by their paths below test/. */
function citations(): Readonly<Record<string, readonly string[]>> {
  const tests = join(here, '..')
  const cited: Record<string, string[]> = {}
  for (const file of (readdirSync(tests, { recursive: true }) as string[]).sort()) {
    if (!file.endsWith('.test.ts')) continue
    // Every text that looks like an id at the beginning of a title is one.
    const ids = readFileSync(join(tests, file), 'utf8').matchAll(/\b(?:S[01]\d\d|[OR]\d\d)\b|(?<=['"`])[A-Z]{1,2}\d{1,3}(?=:? )/g)
    for (const id of new Set([...ids].map(([found]) => found))) cited[id] = [...(cited[id] ?? []), file.replaceAll('\\', '/')]
  }
  return cited
}

test('every attack and every fault that a test cites is a row, and every row names the tests that cite it', () => {
  const rows = lists.flatMap((list) => [
    ...readFileSync(join(folder, `${list}.md`), 'utf8').matchAll(/^\| ([A-Z]\d+) \| [^|]+ \| [^|]+ \| ([^|]+) \|$/gm),
  ])
  const listed = rows.map(([, id, files]) => [id, [...files!.matchAll(/`([^`]+)`/g)].map(([, file]) => file)] as const)
  expect(new Set(listed.map(([id]) => id)).size).toBe(listed.length)
  expect(Object.fromEntries(listed)).toEqual(citations())
})
