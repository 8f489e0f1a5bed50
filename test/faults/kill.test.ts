// kill -9 after the statements of a write (R01, R02, R03): afterwards the document is in its old or its
// new state, earlier acknowledged writes are there, and the doctor finds nothing. FAULTS=all takes every statement.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isBrief, isThorough } from '../support/thorough.js'
import { copyGolden, remove } from './child.js'
import { end, startFaulty } from './faulty.js'
import { everyStatement, openVictim, type Rehearsed } from './killing.js'
import type { Operation } from './operations.js'
import { operations, send, shown } from './operations.js'
import { findings } from './sound.js'

/** Writes of more statements than this are killed at some of them, and at the last two, unless FAULTS=all. */
const few = 6
const some = 2

/** The statements to be killed after: the last is the commit. */
function points(statements: number): readonly number[] {
  const every = everyStatement(statements)
  if (isBrief) return [statements % 2 === 0 ? statements : statements - 1]
  if (isThorough || statements <= few) return every
  const step = Math.floor(statements / some)
  return every.filter((n) => n > statements - 2 || n % step === 1)
}

let folder: string
let orders: string
const abouts = new Map<string, string>()
const outcomes = new Map<string, Rehearsed>()
const target = openVictim(() => startFaulty(folder, orders))

beforeAll(async () => {
  folder = await copyGolden()
  orders = join(folder, 'faults')
  mkdirSync(orders)
  await target.begin(async (request) => (await send(request, 'POST', '/api/cities', { name: 'Number 0' })).body.data.documentId)
  const request = await target.alive()
  for (const operation of operations) abouts.set(operation.name, await operation.prepare(request))
  await target.end()

  const copy = mkdtempSync(join(tmpdir(), 'octavo-fault-'))
  const counted = join(copy, 'faults')
  cpSync(folder, copy, { recursive: true })
  const rehearsal = await startFaulty(copy, counted)
  for (const operation of operations) {
    const about = abouts.get(operation.name)!
    writeFileSync(join(counted, 'order'), JSON.stringify({ n: 1_000_000 }))
    const { status, text } = await operation.run(rehearsal.request, about)
    expect(status, text).toBeLessThan(300)
    const statements = Number(readFileSync(join(counted, 'counted'), 'utf8'))
    outcomes.set(operation.name, { after: await shown(rehearsal.request, operation, about), statements })
  }
  await end(rehearsal)
  expect(await findings(copy)).toEqual([])
  await remove(copy)
})

afterAll(async () => {
  await target.end()
  await remove(folder)
})

/** Runs the operation until its n-th statement, and returns that statement. */
async function killAt(operation: Operation, about: string, n: number): Promise<string> {
  rmSync(join(orders, 'done'), { force: true })
  await target.kill(operation, about, n, () => writeFileSync(join(orders, 'order'), JSON.stringify({ n })))
  expect(existsSync(join(orders, 'order'))).toBe(false)
  return readFileSync(join(orders, 'done'), 'utf8')
}

test.each(operations.map((operation) => [operation.name, operation] as const))(
  '%s, killed after each statement, is done or was never begun',
  async (name, operation) => {
    const about = abouts.get(name)!
    const { after, statements } = outcomes.get(name)!
    const before = await shown(await target.alive(), operation, about)
    expect(before).not.toBe(after)
    expect(statements).toBeGreaterThan(2)
    for (const n of points(statements)) {
      const statement = await killAt(operation, about, n)
      expect(statement === 'commit', `statement ${n} of ${statements}: ${statement}`).toBe(n === statements)
      const request = await target.alive()
      // No response was sent: the write is done if the commit is on disk, and otherwise left no trace.
      expect(await shown(request, operation, about), `killed after statement ${n}: ${statement}`).toBe(n === statements ? after : before)
      await target.check()
      expect(await findings(folder), `killed after statement ${n}: ${statement}`).toEqual([])
    }
  },
)
