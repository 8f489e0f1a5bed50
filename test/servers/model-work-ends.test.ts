// A change of the model is interrupted: the process is killed, its connection is lost, tables are in use, or another process was
// faster. On PostgreSQL the database is in its old or its new state; elsewhere another attempt resumes the change.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ModelWork } from '../../src/database/database.js'
import { elapsed } from '../../src/foundation/runtime/clock.js'
import { loadModel } from '../../src/model/schema/load.js'
import { unpackProject } from '../model-plans/recorded.js'
import { isThorough } from '../support/thorough.js'
import type { ClientMessage } from './messages.js'
import { layoutDifferences } from './model-layout.js'
import { allRows, cloneOf, copiedToSqlite, copyRows, resultOnSqlite, rowDifferences, type ShowValue, workOf } from './model-work.js'
import { openWorker } from './model-worker.js'
import { type Link, openProxy, type Way } from './proxy.js'
import { richChange } from './rich-change.js'
import { describeMariadb, describePostgres, describeServers, type ServerClient, type TestServer } from './server.js'

const folder = mkdtempSync(join(tmpdir(), 'octavo-model-ends-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const project = unpackProject(folder)
const from = await loadModel({ folder: project })
const { to, plan } = await richChange(project, folder, from, 'rich')

const isExecuted = ({ type }: ClientMessage): boolean => type === 'Q' || type === 'E'

/** A statement that only the connection of a change sends. */
const begins: Readonly<Record<ServerClient, RegExp>> = {
  postgres: /^begin isolation level read committed read write/,
  mysql: /^select get_lock/,
}

/** Calls `met` before each statement of the connection that carries out a change, and of it alone. */
function watchChange(way: Way, client: ServerClient, met: (number: number, message: ClientMessage, link: Link) => void): void {
  let changing: Link | null = null
  let count = 0
  way.watch = (message, link) => {
    if (!isExecuted(message)) return
    if (changing === null && begins[client].test(message.text)) changing = link
    if (changing === link) met(++count, message, link)
  }
}

async function withWorker<Result>(
  client: ServerClient,
  url: string,
  work: (worker: Awaited<ReturnType<typeof openWorker>>) => Promise<Result>,
): Promise<Result> {
  const worker = await openWorker(client, url)
  try {
    return await work(worker)
  } finally {
    await worker.close()
  }
}

/** Applies or resumes the change. */
const carryOut = (client: ServerClient, url: string, more: Partial<ModelWork> = {}, wait?: number): Promise<boolean> =>
  withWorker(client, url, async (worker) => {
    const progress = client === 'mysql' ? { progress: worker.progress } : {}
    return worker.carryOut(workOf(plan.steps, to, { ...progress, ...more }), wait)
  })

/** Runs the change in a separate process. */
function startChild(client: ServerClient, url: string) {
  const child = spawn(
    join(import.meta.dirname, '../../node_modules/.bin/jiti'),
    [join(import.meta.dirname, 'model-work-child.ts'), client, url, project],
    { stdio: 'ignore' },
  )
  return { child, ended: once(child, 'exit') }
}

/** A database with the rows of the project, and the same rows in a file. */
function openBase(server: () => TestServer) {
  const opened: { base: string; bytes: Buffer; clone(): Promise<string> } = {
    base: '',
    bytes: Buffer.alloc(0),
    clone: () => cloneOf(server(), opened.base),
  }
  beforeAll(async () => {
    opened.base = await server().createDatabase()
    await copyRows(join(project, 'content.db'), opened.base, from)
    opened.bytes = await copiedToSqlite(opened.base, from)
  })
  return opened
}

/** Makes the change without disturbance: how many statements it has, and the rows that it leads to. */
async function rehearse(client: ServerClient, server: TestServer, opened: ReturnType<typeof openBase>) {
  const url = await opened.clone()
  const way = await openProxy(url)
  let statements = 0
  watchChange(way, client, (number) => {
    statements = number
  })
  expect(await carryOut(client, way.url)).toBe(true)
  await way.close()
  expect(statements).toBeGreaterThan(100)
  expect(await layoutDifferences(server, url, to)).toEqual([])
  // SQLite has no such row for the setting that records progress.
  await server.run(url, `delete from strapi_core_store_settings where value = '${plan.steps.length}'`)
  expect(await rowDifferences(resultOnSqlite(opened.bytes, plan.steps, to), url)).toEqual({})
  return { url, statements }
}

describePostgres('a change of the model on PostgreSQL that is ended', (server) => {
  const opened = openBase(server)

  /** FAULTS=all takes every statement. */
  const points = (statements: number): readonly number[] => {
    const every = isThorough ? 1 : 16
    return Array.from({ length: Math.floor((statements - 1) / every) }, (_, index) => 1 + index * every)
  }

  /** Kills a process at a statement; the last one, which commits, is sent. Resolves to whether the rows are these afterwards. */
  async function killedAt(n: number, statements: number, expected: string): Promise<boolean> {
    const url = await opened.clone()
    const way = await openProxy(url)
    const { child, ended } = startChild('postgres', way.url)
    watchChange(way, 'postgres', (number, _, link) => {
      if (number !== n) return
      child.kill('SIGKILL')
      if (n === statements) link.mute()
      else link.cut()
    })
    expect((await ended)[1]).toBe('SIGKILL')
    // A commit that is under way changes tables while they are read.
    const isThere = async () => (await allRows(url).catch(() => '')) === expected
    for (let tries = 0; tries < 20 && !(await isThere()); tries++) await new Promise((resolve) => setTimeout(resolve, 100))
    await way.close()
    return isThere()
  }

  it('model-plans.19: is complete or without any effect, regardless of the statement at which the connection is lost or the process killed', async () => {
    const { url: made, statements } = await rehearse('postgres', server(), opened)
    const [before, after] = [await allRows(opened.base), await allRows(made)]
    const url = await opened.clone()
    const way = await openProxy(url)
    for (const n of points(statements)) {
      watchChange(way, 'postgres', (number, _, link) => number === n && link.cut())
      await expect(carryOut('postgres', way.url), `statement ${n}`).rejects.toMatchObject({ status: 503 })
      expect((await allRows(url)) === before, `statement ${n}`).toBe(true)
    }
    await way.close()
    for (const n of [2, Math.ceil(statements / 3), statements - 1, statements])
      expect(await killedAt(n, statements, n === statements ? after : before), `killed at ${n}`).toBe(true)
  })
})

describeMariadb('a change of the model on MariaDB that is ended', (server) => {
  const opened = openBase(server)

  /** All rows, without the numbers of authors: an aborted transaction leaves gaps in them. */
  async function rowsOf(url: string): Promise<string> {
    const authors = await server().run(url, "select id, concat(document_id, ' ', published_at is null) as name from authors")
    const names = new Map(authors.map(({ id, name }) => [Number(id), String(name)]))
    const keys = await server().run(
      url,
      "select table_name as `table`, column_name as `column` from information_schema.key_column_usage where table_schema = database() and referenced_table_name = 'authors'",
    )
    const references = new Set(keys.map(({ table, column }) => `${table}.${column}`))
    const show: ShowValue = (table, column, value) => {
      if (table === 'strapi_core_store_settings' && column === 'id') return null
      return (table === 'authors' && column === 'id') || references.has(`${table}.${column}`) ? (names.get(Number(value)) ?? value) : value
    }
    return allRows(url, show)
  }

  const finish = async (url: string): Promise<string> => {
    // Its last statement completes the change: once it was sent, no work remains.
    await carryOut('mysql', url)
    expect(await server().run(url, 'select count(*) as count from octavo_model_history')).toEqual([{ count: 1 }])
    expect(await layoutDifferences(server(), url, to)).toEqual([])
    await server().run(url, `delete from strapi_core_store_settings where value = '${plan.steps.length}'`)
    return rowsOf(url)
  }

  it('model-plans.22: is finished by repeated attempts, each of which loses its connection one statement later', async () => {
    const { url: made, statements } = await rehearse('mysql', server(), opened)
    const url = await opened.clone()
    const way = await openProxy(url)
    const done = () => withWorker('mysql', url, (worker) => worker.done())
    let [last, n, tries] = [0, 1, 0]
    // Every statement of each step; those before the first step take the lock and check if the change is outdated.
    for (; last < plan.steps.length; tries++) {
      let hasLost = false
      watchChange(way, 'mysql', (number, _, link) => {
        if (number !== n) return
        hasLost = true
        link.cut()
      })
      const outcome = await carryOut('mysql', way.url).catch((error: unknown) => error)
      if (!hasLost) break
      expect(outcome, `step ${last}, statement ${n}`).toMatchObject({ status: 503 })
      const now = await done()
      n = now === last ? n + 1 : 4
      last = now
    }
    expect(tries).toBeGreaterThan(statements / 2)
    await way.close()
    if (last < plan.steps.length) expect(await done()).toBe(plan.steps.length)
    else expect(await finish(url)).toBe(await rowsOf(made))
  })

  it('model-plans.22: is finished after its process was killed', async () => {
    const { url: made, statements } = await rehearse('mysql', server(), opened)
    const expected = await rowsOf(made)
    for (const n of [3, Math.ceil(statements / 4), Math.ceil(statements / 2), statements - 1]) {
      const url = await opened.clone()
      const way = await openProxy(url)
      const { child, ended } = startChild('mysql', way.url)
      watchChange(way, 'mysql', (number, _, link) => {
        if (number !== n) return
        child.kill('SIGKILL')
        // A statement that was sent is executed: table changes are not rolled back.
        if (n % 2 === 0) link.mute()
        else link.cut()
      })
      expect((await ended)[1]).toBe('SIGKILL')
      expect(await finish(url), `killed at ${n}`).toBe(expected)
      await way.close()
    }
  })
})

describeServers('a change of the model', (server, { client }) => {
  const opened = openBase(server)

  it('model-plans.19: changes nothing where it is outdated', async () => {
    const url = await opened.clone()
    const before = await allRows(url)
    expect(await carryOut(client, url, { isOutdated: sql`select 1 as later` })).toBe(false)
    expect((await allRows(url)) === before).toBe(true)
  })

  it('model-plans.19, model-plans.22: is applied once by two concurrent processes, and drops the indexes of Octavo on renamed columns', async () => {
    const url = await opened.clone()
    const indexed = [
      ['octavo_writers_by_email', 'writers (email)'],
      ['octavo_notes_by_amount', 'notes (amount)'],
    ] as const
    for (const [name, of] of indexed) await server().run(url, `create index ${name} on ${of}`)
    const made = await Promise.all([carryOut(client, url), carryOut(client, url)])
    expect(made.sort()).toEqual([false, true])
    expect(await layoutDifferences(server(), url, to)).toEqual([])
    const names =
      client === 'mysql'
        ? "select distinct index_name as name from information_schema.statistics where table_schema = database() and index_name like 'octavo%_by_%'"
        : "select indexname as name from pg_indexes where schemaname = current_schema() and indexname like 'octavo%_by_%'"
    const left = (await server().run(url, names)).map(({ name }) => name)
    expect(left).toContain('octavo_notes_by_amount')
    expect(left).not.toContain('octavo_writers_by_email')
  })

  it('model-plans.19, model-plans.22: waits for tables in use for a limited time, without blocking others', async () => {
    const url = await opened.clone()
    const before = await allRows(url)
    const release = await server().lockTable(url, 'notes')
    const outcome = carryOut(client, url, {}, 300).catch((error: unknown) => error)
    const began = elapsed()
    // On PostgreSQL the change has locked this one already.
    await server().run(url, 'select count(*) from components_shared_links')
    expect(elapsed() - began).toBeLessThan(1_000)
    expect(await outcome).toMatchObject({ status: 503, message: expect.stringContaining('in use') })
    await release()
    if (client === 'postgres') expect((await allRows(url)) === before).toBe(true)
    expect(await carryOut(client, url)).toBe(true)
    expect(await layoutDifferences(server(), url, to)).toEqual([])
  })
})
