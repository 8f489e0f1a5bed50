// The size of each storey and the share of its prose that reads as translated. Numbers fall; a higher one needs a reason next to it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { proseOfComments, proseOfPages, proseOfTitles } from '../scripts/prose.mjs'

const root = join(import.meta.dirname, '..')

/** Limits: files, lines, and percent of comment lines with one of the constructions in scripts/prose.mjs. The aim is 3 % everywhere. */
const storeys: Readonly<Record<string, { readonly files: number; readonly lines: number; readonly prose: number }>> = {
  // Up: errors with codes, events, presence, views, writes by entries and previews for the page of editors.
  // Up by 190: the settings and secrets of Strapi's config/ with the meaning of one in octavo.config, in a file of their own.
  // Up by 14: a limit of streams per address is a setting again, and refusals of limits that follow from others within bounds say by which rule.
  foundation: { files: 54, lines: 7208, prose: 3 },
  model: { files: 60, lines: 9557, prose: 3 },
  // Up by 8: a failed transaction waits for the commits that its error may be about.
  // Up by 2: the wait of a change of the model follows from `readTimeout`, within bounds.
  database: { files: 104, lines: 17227, prose: 3 },
  // Up by 2: `strictParams` refuses with the details of Strapi. Up by 1: pages without a largest size.
  query: { files: 13, lines: 3707, prose: 3 },
  // Up by 3: errors of users show the body as it would be stored. Up by 2: a required file that is connected on creation is missing.
  // Up by 13: new files have defaults, as users, whose code for them moved here.
  // Up by 3: the time for an image and the attempts of listeners follow from other limits.
  // Up by 29: entries without values in parts that are not writable can be removed, and brought back.
  content: { files: 106, lines: 16079, prose: 3 },
  // Up by 30: the errors of users have codes and parameters.
  identity: { files: 20, lines: 3395, prose: 3 },
  project: { files: 31, lines: 5386, prose: 3 },
  // Up by 5: the length of a line in an archive follows from `archiveBytes`. Up by 3: the checks have at least 30 seconds.
  operations: { files: 38, lines: 7616, prose: 3 },
  // Up by 600: publications at a later time. Up by 54: lists and the home screen know them.
  // Up by 3: links are described without uids. Up by 123: awaited drafts and changes by day on the home screen.
  // Up by 7: the locales of the rights to a type. Up by 3: a publication keeps the links that wait.
  admin: { files: 62, lines: 10732, prose: 3 },
  // Up by 3: the same. Up by 11: the times without traffic and for uploads follow from other limits.
  // Up by 3: they cover images and hooks, and streams per address are a setting.
  http: { files: 78, lines: 13105, prose: 3 },
  // Up by two files and 14 lines: the declarations of commands, which had more than 500 lines.
  service: { files: 59, lines: 6731, prose: 3 },
  // Up by 155: previews. Up by 70: the code of Strapi projects is followed within bounds of steps, since `octavo adopt` writes what it finds.
  packages: { files: 29, lines: 5232, prose: 3 },
  // The page for editors, in admin/. Up by 154: F8 leads through both columns in the order of the screen; links to errors of other languages.
  // Up by 40: directions of texts of all types. Up by 114: what a new editor stumbled over, such as the way to "Create" by keys, and a schedule that is left after publishing.
  // Up by 34: nothing is offered that a role's languages and fields refuse. Up by 9: unpublishing without languages says so in other words, and files of a wrong kind are named.
  // Up by 65: restored values keep their rows, texts without the expected form are told so in words, boxes of the home screen appear
  // together, and empty lists lead to other languages.
  // Up by 26: empty lists have the total of each other language. Up by 18: marks of restored values have the focus, and schedules
  // that were cancelled are removed where the document cannot be loaded. Up by 10, and a file: both toolbars move the focus by arrows.
  // Up by 26: the panel for links is next to its text, and closes with its focus.
  // Up by 51: entries whose fields a role may write in part are copied, added and removed where the service takes it.
  // Up by 6: values that were never written are told apart as in the service.
  // Up by 43: stops of toolbars that are disabled, one sentence for the languages with results, and names of the marks of restored values.
  page: { files: 228, lines: 23262, prose: 3 },
}

/** Limits in percent of comment lines, and of titles. */
const others = { test: 3, scripts: 3, bench: 3, titles: 3 }

/** Limits in constructions per 1,000 words. The aim is 2 for README and guide, 4 for the others. */
const pages: Readonly<Record<string, number>> = {
  'README.md': 2,
  'other pages of the root': 4,
  guide: 2,
  spec: 4,
  decisions: 4,
  differences: 4,
}

test.each(Object.entries(storeys))('%s has no more files and lines than its ledger allows', (storey, { files, lines }) => {
  const folder = storey === 'packages' ? storey : storey === 'page' ? 'admin' : join('src', storey)
  const sources = (readdirSync(join(root, folder), { recursive: true }) as string[]).filter(
    (file) => /(?<!\.d)\.tsx?$/.test(file) && !/(^|[\\/])(node_modules|dist)[\\/]/.test(file),
  )
  const count = sources.reduce((sum, file) => sum + readFileSync(join(root, folder, file), 'utf8').split('\n').length - 1, 0)
  expect(sources.length).toBeLessThanOrEqual(files)
  expect(count).toBeLessThanOrEqual(lines)
})

test('every storey has its limits', () => {
  expect(Object.keys(storeys).sort()).toEqual([...readdirSync(join(root, 'src')), 'packages', 'page'].sort())
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
