// The list and edit settings that Strapi 5.54 stored for every type and component of the golden project, and those that we would add.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { checkLayout, defaultLayout } from '../../src/admin/layouts/layouts.js'
import { loadModel } from '../../src/model/schema/load.js'
import { goldenProject } from '../support/serve.js'

test('the settings of a type or component that has none are those that Strapi gives it, without columns of uids', async () => {
  const model = await loadModel({ folder: goldenProject })
  const database = new Database(gunzipSync(readFileSync(join(goldenProject, 'content.db.gz'))))
  const rows = database
    .prepare(
      "SELECT key, value FROM strapi_core_store_settings WHERE key LIKE 'plugin\\_content\\_manager\\_configuration\\_%' ESCAPE '\\'",
    )
    .all() as { key: string; value: string }[]
  database.close()
  let uids = 0
  const differences = rows.flatMap(({ key, value }) => {
    const { uid, settings, metadatas, layouts } = JSON.parse(value)
    const schema = model.types.get(uid) ?? model.components.get(uid)
    if (schema === undefined || !/^(?:api::|[^:]+$)/.test(uid)) return []
    const made = defaultLayout(model, schema)
    const isUid = (name: string) => schema.source.attributes[name]?.type === 'uid'
    const kept = layouts.list.filter((name: string) => !isUid(name))
    // Columns of uids are others here.
    const list = [...kept, ...made.layouts.list.slice(kept.length, layouts.list.length).filter((name) => !isUid(name))]
    uids += layouts.list.length - kept.length
    return JSON.stringify(made) === JSON.stringify({ settings, metadatas, layouts: { ...layouts, list } }) ? [] : [key]
  })
  expect(uids).toBeGreaterThan(0)
  expect(rows.length).toBeGreaterThan(30)
  expect(differences).toEqual([])
})

test('the settings that Strapi gives a type or component are accepted as they are', async () => {
  const model = await loadModel({ folder: goldenProject })
  const schemas = [...model.types.values(), ...model.components.values()]
  expect(schemas.length).toBeGreaterThan(30)
  for (const schema of schemas) expect(checkLayout(model, schema, defaultLayout(model, schema)), schema.uid).toEqual([])
})
