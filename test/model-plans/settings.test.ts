// Strapi's stored settings of types: written in Strapi's form, so that its next start repeats nothing.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Database from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { storedContentType, storedTypesKey } from '../../src/model/diff/strapi-settings.js'
import { loadModel } from '../../src/model/schema/load.js'
import { modelAfter, recordedChanges, runPlan, unpackProject } from './recorded.js'

const folder = mkdtempSync(join(tmpdir(), 'octavo-settings-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const project = unpackProject(folder)
const from = await loadModel({ folder: project })

const setting = (database: Database.Database, key: string) =>
  JSON.parse(database.prepare('select value from strapi_core_store_settings where key = ?').pluck().get(key) as string)

test("model-plans.17: types are stored in Strapi's form", () => {
  const stored = setting(runPlan(project, from, from, []).database, storedTypesKey)
  const own = [...from.types.values()].filter(({ exposed }) => exposed)
  expect(own).toHaveLength(7)
  for (const type of own) expect(JSON.stringify(storedContentType(type))).toBe(JSON.stringify(stored[type.uid]))
})

test('model-plans.17: after a change they are the new ones', async () => {
  const change = (name: string) => recordedChanges.find((each) => each.name === name)!
  const off = runPlan(project, from, await modelAfter(change('draft-publish-off'), project, folder), [])
  expect(setting(off.database, storedTypesKey)['api::note.note'].options.draftAndPublish).toBe(false)
  const gone = runPlan(project, from, await modelAfter(change('delete-type'), project, folder), [])
  expect(setting(gone.database, storedTypesKey)['api::lonely.lonely']).toBeUndefined()
})

test('model-plans.4: a renamed attribute keeps its place in the content manager and in permissions', async () => {
  const change = recordedChanges.find(({ name }) => name === 'rename-attribute')!
  const renames = [{ kind: 'attribute' as const, schema: 'api::note.note', from: 'text', to: 'headline' }]
  const { database, plan } = runPlan(project, from, await modelAfter(change, project, folder), renames)
  expect(plan.losses).toEqual([])
  const { settings, metadatas, layouts } = setting(database, 'plugin_content_manager_configuration_content_types::api::note.note')
  expect(settings).toMatchObject({ mainField: 'headline', defaultSortBy: 'headline' })
  expect(metadatas.headline.list.label).toBe('headline')
  expect(metadatas.text).toBeUndefined()
  expect(layouts.list).toEqual(['id', 'headline', 'amount', 'number'])
  expect(layouts.edit[0][0].name).toBe('headline')
  const fields = database.prepare("select properties from admin_permissions where subject = 'api::note.note'").pluck().all() as string[]
  expect(fields.filter((text) => text.includes('"text"'))).toEqual([])
  expect(database.prepare('select headline from notes where id = 1').pluck().get()).toBe('same')
})
