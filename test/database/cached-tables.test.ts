// The tables that a cached result depends on, and those that a statement changes. Each table in turn loses its rows: a result that
// would be different afterwards is not returned from the cache. Without that table in its dependencies, it would be.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type Connection from 'better-sqlite3'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cacheReads } from '../../src/database/cache/cached-reads.js'
import { createResponseStore, type PlanTables } from '../../src/database/cache/response-store.js'
import { changedTables, createTableChanges, readTables, type TableChanges } from '../../src/database/cache/table-changes.js'
import type { PlanHandle, ReadDatabase } from '../../src/database/database.js'
import type { Statement } from '../../src/database/plan.js'
import type { Sink } from '../../src/database/response/write.js'
import { sqliteDialect } from '../../src/database/sqlite/dialect.js'
import { prepareRead } from '../../src/database/sqlite/execute.js'
import { createDependentTables } from '../../src/database/sqlite/main-connection.js'
import { openProjectFile } from '../../src/database/sqlite/project-file.js'
import { loadConfig } from '../../src/foundation/config/config.js'
import { fullAccess, grantsOf } from '../../src/foundation/grants.js'
import { loadModel } from '../../src/model/schema/load.js'
import { compileRead } from '../../src/query/compile/compile.js'
import { contracts } from '../../src/query/contract.js'
import { parseParameters } from '../../src/query/request.js'
import { readRequest } from '../../src/query/rest/read.js'
import { groups, type Recorded } from '../golden/plans/requests.js'
import { secrets } from '../spec/callers.js'
import { goldenProject } from '../support/serve.js'

const cacheBytes = 640_000_000
const folder = mkdtempSync(join(tmpdir(), 'octavo-cached-tables-'))
interface Asked {
  readonly name: string
  readonly handle: PlanHandle
  readonly values: readonly unknown[]
}

let database: Connection.Database
let reads: ReadDatabase
/** Every recorded read, and one of everything of each type, as they are executed. */
let asked: readonly Asked[]
let tables: readonly string[]

/** The reads of one connection, without threads, which include its uncommitted changes. */
const readsOf = (connection: Connection.Database): ReadDatabase => ({
  dialect: sqliteDialect,
  register: (plan) => ({ id: 0, plan }),
  unregister: () => {},
  execute: async ({ plan }, values) => {
    let text = ''
    const write = (piece: string | Uint8Array) => {
      text += typeof piece === 'string' ? piece : Buffer.from(piece).toString()
    }
    return prepareRead({ database: connection, signer: null }, plan, 'inside')(values, { write } as Sink) === false
      ? null
      : { bytes: Buffer.from(text), release: () => {} }
  },
  close: async () => {},
})

beforeAll(async () => {
  const filename = join(folder, 'data.db')
  writeFileSync(filename, gunzipSync(readFileSync(join(goldenProject, 'content.db.gz'))))
  const model = await loadModel({ folder: goldenProject })
  const config = await loadConfig(goldenProject, { ...secrets, DATABASE_FILENAME: filename })
  database = await openProjectFile(config, model, pino({ level: 'silent' }), async () => {})
  reads = readsOf(database)
  const everything = [...model.types.keys()].map((uid): Recorded => ({ name: `all of ${uid}`, uid, query: 'populate=*&status=draft' }))
  asked = [...Object.values(groups).flat(), ...everything].map(
    ({ name, uid, query, contract = 'specification', wanted, actions, draftGrant }, id) => {
      const context = {
        ...{ model, contract: contracts[contract], defaultLocale: 'en', pages: { defaultLimit: 25, maxLimit: 100, withCount: true } },
        ...{ limits: { filterRelations: 8, queryComplexity: 1000 }, strictParams: false, draftGrant: draftGrant === true },
      }
      const grants = actions === undefined ? fullAccess : grantsOf('some', new Set(actions))
      const read = { type: model.types.get(uid)!, mode: 'many', envelope: 'data', ...wanted } as const
      const request = readRequest(context, grants, read, parseParameters(query))
      return { name, handle: { id, plan: compileRead(request, sqliteDialect, context.contract, read.envelope) }, values: request.values }
    },
  )
  tables = database.prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite%'").pluck().all() as string[]
})
afterAll(() => {
  database.close()
  rmSync(folder, { recursive: true })
})

const textOf = async (from: ReadDatabase, { handle, values }: Asked): Promise<string | null> => {
  const answer = await from.execute(handle, values)
  return answer === null ? null : Buffer.from(answer.bytes).toString()
}
const textsOf = (from: ReadDatabase, of: readonly Asked[]): Promise<readonly (string | null)[]> =>
  Promise.all(of.map((one) => textOf(from, one)))

const cached = (changes: TableChanges): ReadDatabase => cacheReads(reads, { changes, look: () => true }, null, cacheBytes)

/** Empties a table for a while, alone or with the rows that depend on it. */
async function without(table: string, alone: boolean, work: () => Promise<void>): Promise<void> {
  database.pragma(`foreign_keys = ${alone ? 'off' : 'on'}`)
  database.exec('begin')
  try {
    database.exec(`delete from "${table}"`)
    await work()
  } finally {
    database.exec('rollback')
  }
}

/** The tables that SQLite opens for a statement, indexes counted as their tables. */
function openedBy({ sql, parameters }: Statement): readonly string[] {
  const pages = (
    database.prepare(`explain ${sql}`).all(...parameters.map(() => null)) as readonly { readonly opcode: string; readonly p2: number }[]
  )
    .filter(({ opcode }) => /^(?:OpenRead|ReopenIdx|OpenWrite)$/.test(opcode))
    .map(({ p2 }) => p2)
  const named = database.prepare('select tbl_name from sqlite_schema where rootpage = ?').pluck()
  return pages.map((page) => named.get(page) as string).filter((table) => table !== undefined && table !== 'sqlite_schema')
}

function* statementsOf(value: unknown): Generator<Statement> {
  if (typeof value !== 'object' || value === null) return
  if ('sql' in value) yield value as Statement
  else for (const inner of Object.values(value)) yield* statementsOf(inner)
}

test('a result depends on every table that SQLite opens for its plan', () => {
  const opened = new Set<string>()
  for (const { name, handle } of asked) {
    const tables = readTables(handle.plan)
    for (const statement of statementsOf(handle.plan)) {
      for (const table of openedBy(statement)) {
        opened.add(table)
        expect(tables.has(table), `${name} reads ${table}: ${statement.sql}`).toBe(true)
      }
    }
  }
  // Most of the model: otherwise this proves little.
  expect(opened.size).toBeGreaterThan(40)
})

test('the cache says what a read would say after a change of each table, and would not if that table were left out', async () => {
  const changes = createTableChanges(() => new Map())
  const sound = cached(changes)
  let unnoticed = 0
  for (const table of tables) {
    const of = asked.filter(({ handle }) => readTables(handle.plan).has(table))
    const blind = cached({ ...changes, lastOf: (named) => changes.lastOf(new Set([...named].filter((name) => name !== table))) })
    const before = await textsOf(reads, of)
    expect(await textsOf(sound, of), `before ${table}`).toEqual(before)
    await textsOf(blind, of)
    await without(table, true, async () => {
      changes.note([table])
      const after = await textsOf(reads, of)
      expect(await textsOf(sound, of), `after ${table}`).toEqual(after)
      if (after.every((text, index) => text === before[index])) return
      expect(await textsOf(blind, of), `blind for ${table}`).toEqual(before)
      unnoticed++
    })
    changes.note([table])
  }
  expect(unnoticed).toBeGreaterThan(40)
})

test('rows that a foreign key deletes or changes count as changed', async () => {
  const changes = createTableChanges(createDependentTables(database))
  const sound = cached(changes)
  for (const table of tables.filter((name) => !name.endsWith('_lnk'))) {
    const of = asked.filter(({ handle }) => readTables(handle.plan).has(table))
    await textsOf(sound, of)
    await without(table, false, async () => {
      changes.note([table])
      expect(await textsOf(sound, of), `after ${table}`).toEqual(await textsOf(reads, of))
    })
    changes.noteAll()
  }
})

test.each<[string, readonly string[] | null]>([
  ['insert into "articles" ("title") values (?)', ['articles']],
  ['insert or replace into "articles" select * from "tags"', ['articles']],
  ['update "articles" set "title" = (select "name" from "tags")', ['articles']],
  ['delete from "up_users" where "id" in (select 1)', ['up_users']],
  ['with "a" as (insert into "one" select 1 returning *) update "public"."two" set "x" = 1 from "a"', ['one', 'two']],
  ['insert into "strange""name" values (1)', ['strange"name']],
  ['insert ignore into `my``table` values (1)', ['my`table']],
  ['select * from "articles" for update', []],
  ['with "a" as (select 1) select * from "a"', []],
  ['savepoint octavo', []],
  ['create table "x" ("id" integer)', null],
  ['truncate "articles"', null],
  ['pragma foreign_keys = off', null],
])('%s changes %j', (statement, changed) => {
  expect(changedTables(statement)).toEqual(changed)
})

test('the cache has a maximum size, and single requests do not evict frequent ones', () => {
  const changes = createTableChanges(() => new Map())
  const store = createResponseStore(changes, { cacheBytes: 100_000, cachedResponseBytes: 20_000 })
  const from = { source: { tables: new Set(['a']) }, since: 0 }
  const answer = (bytes: number) => ({ bytes: Buffer.alloc(bytes), release: () => {} })
  expect(store.add('large', answer(20_000), from, false)).toBeUndefined()
  for (let number = 0; number < 9; number++) store.add(`often ${number}`, answer(10_000), from, false)
  for (let number = 0; number < 50; number++) store.add(`once ${number}`, answer(10_000), from, false)
  const isKept = (key: string): boolean => {
    const answer = store.get(key)
    answer?.release()
    return answer !== undefined
  }
  expect(Array.from({ length: 9 }, (_, number) => isKept(`often ${number}`))).not.toContain(false)
  for (let number = 0; number < 50; number++) for (const _ of [1, 2]) store.add(`twice ${number}`, answer(10_000), from, false)
  const kept = Array.from({ length: 50 }, (_, number) => isKept(`twice ${number}`)).filter((is) => is)
  expect(kept.length).toBeGreaterThan(0)
  expect(kept.length).toBeLessThan(10)
  changes.noteAll()
  expect(store.get('twice 49')).toBeUndefined()
})

test('an answer that several wait for is copied for them, kept or not, and none is returned for a plan that is forgotten', () => {
  const changes = createTableChanges(() => new Map())
  const store = createResponseStore(changes, { cacheBytes: 50_000, cachedResponseBytes: 1_000_000 })
  const source: PlanTables = { tables: new Set(['a']) }
  let released = 0
  const answer = (bytes: number) => ({ bytes: Buffer.alloc(bytes), release: () => void released++ })
  changes.note(['a'])
  expect(store.add('outdated', answer(10), { source, since: 0 }, false)).toBeUndefined()
  expect(released).toBe(0)
  expect(store.add('outdated', answer(10), { source, since: 0 }, true)?.()?.bytes.length).toBe(10)
  expect(released).toBe(1)
  expect(store.get('outdated')).toBeUndefined()
  // Larger than the whole cache.
  expect(store.add('large', answer(60_000), { source, since: 1 }, true)).toBeUndefined()
  store.add('kept', answer(10), { source, since: 1 }, false)
  source.tables = null
  changes.note(['b'])
  expect(store.get('kept')).toBeUndefined()
})

test('another form of a result counts too', () => {
  const store = createResponseStore(
    createTableChanges(() => new Map()),
    { cacheBytes: 50_000, cachedResponseBytes: 40_000 },
  )
  const from = { source: { tables: new Set(['a']) }, since: 0 }
  const first = store.add('first', { bytes: Buffer.alloc(10_000), release: () => {} }, from, false)!()!
  store.add('second', { bytes: Buffer.alloc(10_000), release: () => {} }, from, false)
  first.cached!.store('br', Buffer.alloc(39_000))
  expect(store.get('first')?.cached?.form('br'), 'beyond what one answer may take').toBeUndefined()
  first.cached!.store('gzip', Buffer.alloc(29_000))
  expect(store.get('first')?.cached?.form('gzip')?.bytes.length).toBe(29_000)
  expect(store.get('second')).toBeUndefined()
})
