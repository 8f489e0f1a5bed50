// Octavo's indexes on renamed and converted columns.
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { runModelSteps } from '../../src/database/sqlite/apply-change-thread.js'
import { createOctavoTables, createStatements } from '../../src/database/sqlite/create-tables.js'
import { planModelChange } from '../../src/model/diff/plan.js'
import { describeTables } from '../../src/model/tables/tables.js'
import { model, type } from './models.js'

test('model-plans.20: indexes on renamed or converted columns are dropped, others stay', () => {
  const from = model(type('note', { title: { type: 'string' }, body: { type: 'string' } }), type('memo', { title: { type: 'string' } }))
  const to = model(type('note', { title: { type: 'integer' }, body: { type: 'string' } }), type('letter', { title: { type: 'string' } }))
  const database = new Database(':memory:')
  for (const table of describeTables(from)) for (const statement of createStatements(table)) database.exec(statement)
  createOctavoTables(database)
  database.exec(`create index octavo_notes_by_title on notes (title, id); create index octavo_notes_by_body on notes (body, id);
    create index octavo_memos_by_title on memos (title, id)`)
  const { steps } = planModelChange(from, to, [{ kind: 'type', from: 'api::memo.memo', to: 'api::letter.letter' }])
  database.transaction(() => runModelSteps(database, steps, to))()
  const left = database.prepare("select name from sqlite_schema where type = 'index' and name like 'octavo%by%'").pluck().all()
  expect(left).toEqual(['octavo_notes_by_body'])
  database.close()
})
