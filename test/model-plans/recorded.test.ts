// Recorded changes of a model, planned and run on the database that Strapi changed: tables, columns, indexes, foreign keys and rows are
// Strapi's afterwards, but for what Strapi loses or leaves mixed. Differences are named with the rule that wants them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { runModelSteps } from '../../src/database/sqlite/apply-change-thread.js'
import { planModelChange } from '../../src/model/diff/plan.js'
import { withRestoration } from '../../src/model/diff/restoration.js'
import type { ArchivedContent } from '../../src/model/diff/types.js'
import { loadModel } from '../../src/model/schema/load.js'
import {
  contentOf,
  differences,
  isPlain,
  layoutDifferences,
  modelAfter,
  others,
  type RecordedChange,
  recordedChanges,
  refused,
  runPlan,
  unpackProject,
} from './recorded.js'

const folder = mkdtempSync(join(tmpdir(), 'octavo-plans-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const project = unpackProject(folder)
const from = await loadModel({ folder: project })

/** Reasons for differing rows, and their tables. All other recordings end as in Strapi. */
const wanted: readonly { readonly rule: string; readonly applies: (change: RecordedChange) => boolean; readonly tables: RegExp }[] = [
  { rule: 'model-plans.8', applies: ({ group }) => group === 'retype', tables: /^notes$/ },
  { rule: 'model-plans.10', applies: ({ group }) => group === 'relation-change', tables: /^(labels_stories_lnk|stories_writer_lnk)$/ },
  {
    rule: 'model-plans.7, model-plans.15',
    applies: ({ name }) => /component|zone/.test(name),
    tables: /^(stories_cmps|components_shared_quotes(_by_lnk)?)$/,
  },
  {
    rule: 'model-plans.13',
    applies: ({ name }) => name.startsWith('draft-publish'),
    tables: /^(writers|notes_keeper_lnk|stories_writer_lnk|writers_mentor_lnk)$/,
  },
  { rule: 'model-plans.17', applies: ({ group }) => group === 'delete', tables: /^remarks_about_mph$/ },
  {
    rule: 'model-plans.12, model-plans.14',
    applies: ({ name }) => /(draft-publish.*|i18n)-off/.test(name),
    tables: /^(fronts_featured_lnk|components_shared_links_target_lnk|stories_labels_lnk)$/,
  },
  { rule: 'model-plans.5', applies: ({ name }) => name === 'disk-collection-name', tables: /^memos/ },
]

/** Counts the content in the archive that a loss names. */
function countKept(database: Database.Database, { kind, table, name, as }: ArchivedContent): number {
  if (kind === 'values') return database.prepare(`select count(*) from "${as}" where "${name}" is not null`).pluck().get() as number
  const within = kind === 'column' ? `"${table}" where "${as}" is not null` : `"${table}" where field = '${as}'`
  const isThere = database.prepare('select 1 from sqlite_schema where name = ?').get(kind === 'rows' ? as : table) !== undefined
  if (kind === 'rows' && !isThere) return 0
  return database
    .prepare(`select count(*) from ${kind === 'table' || kind === 'rows' ? `"${as}"` : within}`)
    .pluck()
    .get() as number
}

test.each(recordedChanges.filter(isPlain).filter(({ name }) => !others.has(name)))('$group: $name', async (change) => {
  const loading = modelAfter(change, project, folder)
  if (refused.has(change.name)) {
    await expect(loading).rejects.toThrow()
    return
  }
  const { plan, database, counts } = runPlan(project, from, await loading, [])
  // model-plans.17
  const layout = layoutDifferences(project, change, database)
  // Strapi forgets the foreign key of a target that changes.
  const extra = change.name === 'change-relation-many-to-one-target-changed' ? [{ octavo: ['label_id → labels.id CASCADE'] }] : []
  expect(layout).toMatchObject(extra)
  expect(layout).toHaveLength(extra.length)
  expect(database.pragma('foreign_key_check')).toEqual([])
  const tables = Object.keys(differences(project, change, database))
  const expected = wanted.filter(({ applies }) => applies(change))
  expect(tables.filter((table) => !expected.some((each) => each.tables.test(table)))).toEqual([])
  // model-plans.2, model-plans.3: the counted content of a loss is in the archive that it names.
  for (const { name, kept, stays } of plan.losses) {
    if (stays) continue
    const found = kept.reduce((sum, place) => sum + countKept(database, place), 0)
    expect(found, name).toBeGreaterThanOrEqual(counts[name]!)
  }
})

test('the differences that are named occur', async () => {
  const found = new Set<string>()
  for (const change of recordedChanges.filter(isPlain)) {
    const candidates = wanted.filter(({ rule, applies }) => !found.has(rule) && applies(change))
    if (candidates.length === 0 || refused.has(change.name) || others.has(change.name)) continue
    const { database } = runPlan(project, from, await modelAfter({ ...change, name: `${change.name} again` }, project, folder), [])
    const tables = Object.keys(differences(project, change, database))
    for (const { rule, tables: named } of candidates) if (tables.some((table) => named.test(table))) found.add(rule)
  }
  expect([...found].sort()).toEqual(wanted.map(({ rule }) => rule).sort())
})

/** Changes that archive data, each of a different kind. */
const restorable = [
  'remove-attribute',
  'remove-component-attribute',
  'remove-dynamic-zone',
  'remove-relation-owner-side',
  'delete-type-pointed-at',
  'draft-publish-off-localized',
  'i18n-off-label',
]

test.each(restorable)('model-plans.18: content archived by %s is restored', async (name) => {
  const change = recordedChanges.find((each) => each.name === name)!
  const to = await modelAfter({ ...change, name: `${name} and back` }, project, folder)
  const before = contentOf(runPlan(project, from, from, []).database)
  const { plan, database } = runPlan(project, from, to, [])
  const back = planModelChange(to, from, [], { number: 2 })
  const isThere = ({ kind, as }: ArchivedContent) =>
    kind !== 'rows' || database.prepare('select 1 from sqlite_schema where name = ?').get(as) !== undefined
  const steps = withRestoration(back.steps, back.restoreBefore, from, plan.kept.filter(isThere))
  database.transaction(() => runModelSteps(database, steps, from))()
  const after = contentOf(database)
  const sortedRow = (row: object) =>
    Object.fromEntries(
      Object.entries(row)
        .filter(([column]) => !column.startsWith('octavo_kept_'))
        .sort(),
    )
  const own = (content: typeof before) => Object.keys(content).filter((table) => !table.startsWith('octavo_'))
  expect(own(after)).toEqual(own(before))
  for (const table of own(before)) expect([table, after[table]!.map(sortedRow)]).toEqual([table, before[table]!.map(sortedRow)])
})

test('model-plans.12: documents that were never published can be published instead', async () => {
  const change = recordedChanges.find(({ name }) => name === 'draft-publish-off')!
  const to = await modelAfter({ ...change, name: 'published' }, project, folder)
  const without = runPlan(project, from, to, []).database
  const { database, counts } = runPlan(project, from, to, [], { neverPublished: 'publish' })
  const notes = (each: Database.Database) =>
    each.prepare('select document_id, published_at from notes').all() as { published_at: unknown }[]
  const more = (runPlan(project, from, to, []).counts as Record<string, number>)['api::note.note:drafts']!
  expect(Object.keys(counts)).toEqual(['api::note.note:changes'])
  expect(more).toBeGreaterThan(0)
  expect(notes(database)).toHaveLength(notes(without).length + more)
  expect(notes(database).filter(({ published_at }) => published_at === null)).toEqual([])
})
