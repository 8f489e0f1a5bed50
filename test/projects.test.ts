// Every file of tests belongs to a project of vitest.config.ts, and only kills are in two.
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { projects } from '../vitest.config.js'

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => file.replace('.test.ts', ''))

const matches = (patterns: readonly string[], file: string): boolean =>
  patterns.some((pattern) => {
    const expression = pattern
      .replaceAll(/\*+/g, (stars) => (stars === '**' ? '.+' : '[^/]*'))
      .replaceAll(/\{([^}]+)\}/g, (_, words: string) => `(?:${words.replaceAll(',', '|')})`)
    return new RegExp(`^${expression}$`).test(file)
  })

test('every file of tests belongs to one project', () => {
  const counts = files.map((file) => {
    const found = Object.values(projects).filter(({ files: named, except = [] }) => matches(named, file) && !matches(except, file))
    return [file, found.length] as const
  })
  expect(counts.filter(([, count]) => count !== 1)).toEqual([['faults/kill', 2]])
})

test('every pattern of a project is of a file that exists', () => {
  const patterns = Object.values(projects).flatMap(({ files: named, except = [] }) => [...named, ...except])
  const single = patterns.flatMap((pattern) => {
    const [, before, words, after] = /^(.*)\{(.+)\}(.*)$/.exec(pattern) ?? []
    return words === undefined ? [pattern] : words.split(',').map((word) => before! + word + after!)
  })
  expect(single.filter((pattern) => !files.some((file) => matches([pattern], file)))).toEqual([])
})
