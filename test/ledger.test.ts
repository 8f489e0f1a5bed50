// The size of each storey and the share of its prose that reads as translated. Numbers fall; a higher one needs a reason next to it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { proseOfComments, proseOfPages, proseOfTitles } from '../scripts/prose.mjs'

const root = join(import.meta.dirname, '..')

/** Limits: files, lines, and percent of comment lines with one of the constructions in scripts/prose.mjs. The aim is 3 % everywhere. */
const storeys: Readonly<Record<string, { readonly files: number; readonly lines: number; readonly prose: number }>> = {
  foundation: { files: 90, lines: 6858, prose: 16.7 },
  model: { files: 57, lines: 9278, prose: 3 },
  database: { files: 110, lines: 18247, prose: 2.1 },
  query: { files: 21, lines: 3675, prose: 1 },
  content: { files: 118, lines: 16280, prose: 1 },
  identity: { files: 30, lines: 3465, prose: 10.6 },
  project: { files: 60, lines: 5706, prose: 27 },
  operations: { files: 88, lines: 8012, prose: 24.8 },
  admin: { files: 43, lines: 7260, prose: 1 },
  // 380 lines more for the properties of resources of the administration, which were packed in spreads.
  http: { files: 79, lines: 13300, prose: 5.2 },
  // 9 lines more for one import of the administration, which is wrapped.
  service: { files: 57, lines: 6800, prose: 1 },
  packages: { files: 28, lines: 5060, prose: 1 },
}

/** Limits in percent of comment lines, and of titles. */
const others = { test: 28.3, scripts: 12.1, bench: 8.8, titles: 23 }

/** Limits in constructions per 1,000 words. The aim is 2 for README and guide, 4 for the others. */
const pages: Readonly<Record<string, number>> = {
  'README.md': 5.2,
  'other pages of the root': 10.7,
  guide: 7.2,
  spec: 13,
  decisions: 12.5,
  differences: 10.1,
}

test.each(Object.entries(storeys))('%s has no more files and lines than its ledger allows', (storey, { files, lines }) => {
  const folder = storey === 'packages' ? storey : join('src', storey)
  const sources = (readdirSync(join(root, folder), { recursive: true }) as string[]).filter(
    (file) => file.endsWith('.ts') && !/(^|[\\/])(node_modules|dist)[\\/]/.test(file),
  )
  const count = sources.reduce((sum, file) => sum + readFileSync(join(root, folder, file), 'utf8').split('\n').length - 1, 0)
  expect(sources.length).toBeLessThanOrEqual(files)
  expect(count).toBeLessThanOrEqual(lines)
})

test('every storey has its limits', () => {
  expect(Object.keys(storeys).sort()).toEqual([...readdirSync(join(root, 'src')), 'packages'].sort())
})

const comments = proseOfComments()

test.each(Object.keys(comments))('the comments of %s read as native English', (name) => {
  const { total, found } = comments[name]!
  const limit = storeys[name]?.prose ?? others[name as keyof typeof others]
  expect((100 * found.length) / total, found.slice(0, 50).join('\n')).toBeLessThanOrEqual(limit)
})

test('the titles of tests read as native English', () => {
  const { total, found } = proseOfTitles()
  expect((100 * found.length) / total, found.slice(0, 50).join('\n')).toBeLessThanOrEqual(others.titles)
})

test.each(Object.entries(proseOfPages()))('%s reads as native English', (name, { total, found }) => {
  expect((1000 * found.length) / total, found.slice(0, 50).join('\n')).toBeLessThanOrEqual(pages[name]!)
})
