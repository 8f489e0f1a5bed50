// A change of the model that is ended meanwhile: the process is killed, its connection is lost, tables are in use, another process was
// faster. On PostgreSQL the database is as it was or as it was to become; elsewhere another try goes on with it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isFollowed } from '../../src/live-model/change-log.js'
import { loadModel } from '../../src/model/load.js'
import { planModelChange } from '../../src/model-plans/plan.js'
import { elapsed } from '../../src/runtime/clock.js'
import { unpackProject } from '../model-plans/recorded.js'
import type { ClientMessage } from './messages.js'
import { layoutDifferences } from './model-layout.js'
import { allRows, cloneOf, copiedToSqlite, copyRows, resultOnSqlite, rowDifferences, workOf } from './model-work.js'
import { openWorker } from './model-worker.js'
import { type Link, openProxy, type Way } from './proxy.js'
import { richChange, withoutDrafts } from './rich-change.js'
import { describePostgres, type TestServer } from './server.js'

const folder = mkdtempSync(join(tmpdir(), 'octavo-model-ends-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const project = unpackProject(folder)
const from = await loadModel(project)
const { to, plan } = await richChange(project, folder, from, 'rich')

const isExecuted = ({ type }: ClientMessage): boolean => type === 'Q' || type === 'E'

/** Calls `met` before each statement of the connection that carries out a change. */
function watchChange(way: Way, begins: RegExp, met: (number: number, message: ClientMessage, link: Link) => void): void {
  let changing: Link | null = null
  let count = 0
  way.watch = (message, link) => {
    if (!isExecuted(message)) return
    if (changing === null && begins.test(message.text)) changing = link
    if (changing === link) met(++count, message, link)
  }
}

async function withWorker<Result>(url: string, work: (worker: Awaited<ReturnType<typeof openWorker>>) => Promise<Result>): Promise<Result> {
  const worker = await openWorker('postgres', url)
  try {
    return await work(worker)
  } finally {
    await worker.close()
  }
}

/** FAULTS=all takes every statement. */
const points = (statements: number): readonly number[] => {
  const every = process.env.FAULTS === 'all' ? 1 : 8
  return Array.from({ length: Math.floor((statements - 1) / every) }, (_, index) => 1 + index * every)
}

const begins = /^begin isolation level read committed read write/

describePostgres('a change of the model on PostgreSQL', (server) => {
  let base: string
  let bytes: Buffer
  beforeAll(async () => {
    base = await server().createDatabase()
    await copyRows(join(project, 'content.db'), base, from)
    bytes = await copiedToSqlite(base, from)
  }, 120_000)

  const carryOut = (url: string, steps = plan.steps, more = {}) => withWorker(url, (worker) => worker.carryOut(workOf(steps, to, more)))

  /** The change without disturbance: how many statements it has, and all rows before and after it. */
  async function rehearse(on: TestServer) {
    const url = await cloneOf(on, base)
    const before = await allRows(url)
    const way = await openProxy(url)
    let statements = 0
    watchChange(way, begins, (number) => {
      statements = number
    })
    expect(await carryOut(way.url)).toBe(true)
    await way.close()
    expect(await layoutDifferences(on, url, to)).toEqual([])
    expect(await rowDifferences(resultOnSqlite(bytes, plan.steps, to), url)).toEqual({})
    return { before, after: await allRows(url), statements }
  }

  it('model-plans.19: is made or never begun, whichever statement its connection is lost at, and its process killed', async () => {
    const { before, after, statements } = await rehearse(server())
    expect(statements).toBeGreaterThan(60)
    const url = await cloneOf(server(), base)
    const way = await openProxy(url)
    for (const n of points(statements)) {
      watchChange(way, begins, (number, _, link) => number === n && link.cut())
      await expect(carryOut(way.url), `statement ${n}`).rejects.toMatchObject({ status: 503 })
      expect((await allRows(url)) === before, `statement ${n}`).toBe(true)
    }
    await way.close()
    for (const n of [2, Math.ceil(statements / 3), statements - 1, statements])
      expect(await killedAt(await cloneOf(server(), base), n, statements, n === statements ? after : before), `killed at ${n}`).toBe(true)
  }, 240_000)

  /** Kills a process at a statement; the last one, which commits, is sent. Resolves to whether the rows are these afterwards. */
  async function killedAt(url: string, n: number, statements: number, expected: string): Promise<boolean> {
    const way = await openProxy(url)
    const child = spawn(
      join(import.meta.dirname, '../../node_modules/.bin/jiti'),
      [join(import.meta.dirname, 'model-work-child.ts'), 'postgres', way.url, project],
      { stdio: 'ignore' },
    )
    const ended = once(child, 'exit')
    watchChange(way, begins, (number, _, link) => {
      if (number !== n) return
      child.kill('SIGKILL')
      if (n === statements) link.mute()
      else link.cut()
    })
    expect((await ended)[1]).toBe('SIGKILL')
    const isThere = await untilRows(url, expected)
    await way.close()
    return isThere
  }

  /** Waits for what is committed without anybody who waits for it; whether the rows are these. */
  async function untilRows(url: string, expected: string): Promise<boolean> {
    for (let tries = 0; tries < 20; tries++) {
      if ((await allRows(url)) === expected) return true
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return false
  }

  it('model-plans.13: makes drafts with deep copies of components, their links and files', async () => {
    const off = await withoutDrafts(project, folder, 'off')
    const [there, back] = [planModelChange(from, off, []), planModelChange(off, from, [], { number: 2 })]
    const url = await cloneOf(server(), base)
    await withWorker(url, async (worker) => {
      expect(await worker.carryOut(workOf(there.steps, off))).toBe(true)
      expect(await worker.carryOut(workOf(back.steps, from, { isOutdated: isFollowed(1), make: sql`select 1` }))).toBe(true)
    })
    expect(await layoutDifferences(server(), url, from)).toEqual([])
    expect(await rowDifferences(resultOnSqlite(bytes, [...there.steps, ...back.steps], from), url)).toEqual({})
  })

  it('model-plans.19: changes nothing where it is outdated', async () => {
    const url = await cloneOf(server(), base)
    const before = await allRows(url)
    expect(await carryOut(url, plan.steps, { isOutdated: sql`select 1 as later` })).toBe(false)
    expect((await allRows(url)) === before).toBe(true)
  })

  it('model-plans.19: waits for tables in use for a bounded time, and lets others through meanwhile', async () => {
    const url = await cloneOf(server(), base)
    const before = await allRows(url)
    const release = await server().lockTable(url, 'notes')
    const change = withWorker(url, (worker) => worker.carryOut(workOf(plan.steps, to), 300))
    const outcome = change.catch((error: unknown) => error)
    // Whoever wants a table that the change has locked already.
    const began = elapsed()
    await server().run(url, 'select count(*) from components_shared_links')
    expect(elapsed() - began).toBeLessThan(1_000)
    expect(await outcome).toMatchObject({ status: 503, message: expect.stringContaining('in use') })
    await release()
    expect((await allRows(url)) === before).toBe(true)
    expect(await carryOut(url)).toBe(true)
  })
})
