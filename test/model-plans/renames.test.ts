// Declared renames on a database of Strapi's: everything follows, nothing is lost, and the reverse rename restores the database.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runModelSteps } from '../../src/database/sqlite/apply-change-thread.js'
import { planModelChange } from '../../src/model/diff/plan.js'
import type { Rename } from '../../src/model/diff/types.js'
import { loadModel } from '../../src/model/schema/load.js'
import { contentOf, layoutIn, modelAfter, runPlan, unpackProject } from './recorded.js'

const folder = mkdtempSync(join(tmpdir(), 'octavo-renames-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const project = unpackProject(folder)
const from = await loadModel({ folder: project })

const schemas = (readdirSync(join(project, 'src'), { recursive: true, withFileTypes: true }) as { name: string; parentPath: string }[])
  .filter(({ name, parentPath }) => name === 'schema.json' || /components\/\w+$/.test(parentPath))
  .filter(({ name }) => name.endsWith('.json'))
  .map(({ name, parentPath }) => relative(project, join(parentPath, name)))

type Words = readonly (readonly [string, string])[]
const inWords = (text: string, words: Words): string => words.reduce((all, [before, after]) => all.replaceAll(before, after), text)

/** The project with other words in its schemas and their paths. */
const renamedModel = (name: string, words: Words) =>
  modelAfter(
    {
      name,
      filesDeleted: schemas,
      filesAfter: Object.fromEntries(
        schemas.map((path) => [inWords(path, words), inWords(readFileSync(join(project, path), 'utf8'), words)]),
      ),
    },
    project,
    folder,
  )

/** Content of a database, without the order of tables and columns. */
const dumpOf = (content: ReturnType<typeof contentOf>): string =>
  JSON.stringify(
    Object.entries(content)
      .map(([table, rows]) => [table, rows.map((row) => Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1)))] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
    null,
    1,
  )

const cases: readonly { readonly what: string; readonly words: Words; readonly rows: Words; readonly renames: readonly Rename[] }[] = [
  {
    what: 'a type with everything',
    words: [
      ['api/story/content-types/story', 'api/tale/content-types/tale'],
      ['api::story.story', 'api::tale.tale'],
      ['"singularName": "story"', '"singularName": "tale"'],
      ['"pluralName": "stories"', '"pluralName": "tales"'],
      ['"collectionName": "stories"', '"collectionName": "tales"'],
    ],
    rows: [
      ['"stories', '"tales'],
      ['"story_', '"tale_'],
      ['"inv_story_', '"inv_tale_'],
      ['api::story.story', 'api::tale.tale'],
    ],
    renames: [{ kind: 'type', from: 'api::story.story', to: 'api::tale.tale' }],
  },
  {
    what: 'the category of a component',
    words: [
      ['components/shared/', 'components/common/'],
      ['"shared.', '"common.'],
    ],
    rows: [['"shared.', '"common.']],
    renames: ['link', 'seo', 'quote', 'og'].map((name) => ({ kind: 'component', from: `shared.${name}`, to: `common.${name}` })),
  },
  {
    what: 'a component and its table',
    words: [
      ['components/shared/quote.json', 'components/shared/saying.json'],
      ['shared.quote', 'shared.saying'],
      ['components_shared_quotes', 'components_shared_sayings'],
    ],
    rows: [
      ['components_shared_quotes', 'components_shared_sayings'],
      ['"quote_id"', '"saying_id"'],
      ['shared.quote', 'shared.saying'],
    ],
    renames: [{ kind: 'component', from: 'shared.quote', to: 'shared.saying' }],
  },
  {
    what: 'attributes of every kind',
    words: [
      ['"teaser"', '"lead"'],
      ['"gallery"', '"pictures"'],
      ['"links"', '"references"'],
      ['"zone"', '"parts"'],
      ['"labels": {', '"tags": {'],
      ['"mappedBy": "labels"', '"mappedBy": "tags"'],
      ['"keeper"', '"owner"'],
      ['"og"', '"graph"'],
      ['"displayName": "graph"', '"displayName": "og"'],
    ],
    rows: [
      ['"teaser"', '"lead"'],
      ['"gallery"', '"pictures"'],
      ['"links"', '"references"'],
      ['"zone"', '"parts"'],
      ['stories_labels_lnk', 'stories_tags_lnk'],
      ['notes_keeper_lnk', 'notes_owner_lnk'],
      ['"og"', '"graph"'],
    ],
    renames: [
      ...Object.entries({ teaser: 'lead', gallery: 'pictures', links: 'references', zone: 'parts', labels: 'tags' }).map(
        ([before, after]): Rename => ({ kind: 'attribute', schema: 'api::story.story', from: before, to: after }),
      ),
      { kind: 'attribute', schema: 'api::note.note', from: 'keeper', to: 'owner' },
      { kind: 'attribute', schema: 'shared.seo', from: 'og', to: 'graph' },
    ],
  },
]

const uidAfter = (renames: readonly Rename[], uid: string): string =>
  renames.find((rename) => rename.kind !== 'attribute' && rename.from === uid)?.to ?? uid

test.each(cases)('model-plans.4: $what', async ({ what, words, rows, renames }) => {
  const to = await renamedModel(what, words)
  const unchanged = runPlan(project, from, from, []).database
  const [before, layout] = [contentOf(unchanged), layoutIn(unchanged)]
  const { plan, database } = runPlan(project, from, to, renames)
  expect(plan.losses).toEqual([])
  const renamedDump = JSON.parse(inWords(dumpOf(before), rows)) as [string, [string, unknown][][]][]
  const dump = Object.fromEntries(renamedDump.map(([table, all]) => [table, all.map((row) => Object.fromEntries(row))]))
  expect(dumpOf(contentOf(database))).toBe(dumpOf(dump))
  const backwards = renames.map((rename): Rename => {
    if (rename.kind !== 'attribute') return { ...rename, from: rename.to, to: rename.from }
    return { ...rename, schema: uidAfter(renames, rename.schema), from: rename.to, to: rename.from }
  })
  const back = planModelChange(to, from, backwards, { number: 2 })
  database.transaction(() => runModelSteps(database, back.steps, from))()
  expect(dumpOf(contentOf(database))).toBe(dumpOf(before))
  expect(layoutIn(database)).toEqual(layout)
  expect(database.pragma('foreign_key_check')).toEqual([])
})
