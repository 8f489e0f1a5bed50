// The code in docs/guide/typescript-and-openapi.md compiles with the types of the example, but for the lines that say that they do not.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../start/command.js'
import { compile, typesOf } from './compile.js'

/** The blocks of TypeScript in a page. */
const blocksOf = (page: string): readonly string[] => [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code!)

test('the guide shows code that compiles, and errors that the compiler finds', () => {
  const blocks = blocksOf(readFileSync(join(root, 'docs', 'guide', 'typescript-and-openapi.md'), 'utf8'))
  const files = Object.fromEntries(blocks.map((code, index) => [`block-${index}.ts`, `${code}export {}\n`]))
  const { mistakes } = compile({ 'types/octavo.d.ts': typesOf(join(root, 'examples', 'magazine')), ...files })
  const lineAt = (file: string, start: number) => (files[file] ?? '').slice(0, start).split('\n').length
  const seen = mistakes.map(({ file, start, message }) => ({ place: `${file}:${lineAt(file, start)}`, message }))
  const expected = Object.entries(files).flatMap(([file, code]) =>
    code.split('\n').flatMap((line, index) => (line.endsWith('// error') ? [`${file}:${index + 1}`] : [])),
  )
  expect(seen.filter(({ place }) => !expected.includes(place))).toEqual([])
  expect([...new Set(seen.map(({ place }) => place))].sort()).toEqual(expected.sort())
  expect([blocks.length, expected.length]).toEqual([expect.toSatisfy((count: number) => count > 7), 9])
})
