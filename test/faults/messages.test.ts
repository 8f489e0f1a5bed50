// Time runs out, or the thread dies, at every message between the service and its threads, for every kind of write and for reads:
// clients get 503 or success, and the same operation works right afterwards, without a restart.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestResponse } from '../support/serve.js'
import { goldenTokens } from '../support/serve.js'
import { copyGolden, remove } from './child.js'
import type { Faulty } from './faulty.js'
import { end, startFaulty } from './faulty.js'
import type { Operation, SendRequest } from './operations.js'
import { operations, shown } from './operations.js'
import { findings } from './sound.js'

/** A write may take less than this: milliseconds, and what a message is late by. */
const [timeout, by] = [900, 950]

let folder: string
let orders: string
let service: Faulty

/** Prepares a separate project for each fault. */
function onProject(): void {
  beforeAll(async () => {
    folder = await copyGolden({ limits: { writeTimeout: timeout } })
    orders = join(folder, 'faults')
    mkdirSync(orders)
    service = await startFaulty(folder, orders)
  })
  afterAll(async () => {
    await end(service)
    await remove(folder)
  })
}

/** Repeats a request if a write takes too long on a busy machine. */
const patient: SendRequest = async (path, asked) => {
  let answer = await service.request(path, asked)
  for (let turn = 0; answer.status === 503 && turn < 20; turn++) answer = await service.request(path, asked)
  return answer
}

type Fault = { readonly what: 'late' | 'die'; readonly with: 'writer' | 'readers' }

/** Runs something that the n-th message strikes; `struck` says what that was, or null where there was no n-th. */
async function strike(
  run: () => Promise<TestResponse>,
  n: number,
  fault: Fault,
): Promise<{ readonly answer: TestResponse; readonly struck: string | null }> {
  rmSync(join(orders, 'done'), { force: true })
  writeFileSync(join(orders, 'message'), JSON.stringify({ n, by, ...fault }))
  const answer = await run()
  rmSync(join(orders, 'message'), { force: true })
  const done = join(orders, 'done')
  return { answer, struck: existsSync(done) ? readFileSync(done, 'utf8') : null }
}

/** Strikes each message of the operation in turn. @returns which of them was the last. */
async function everyMessage(operation: Operation, fault: Fault): Promise<number> {
  const strangers: string[] = []
  let about = await operation.prepare(patient)
  let before = await shown(patient, operation, about)
  for (let n = 1; ; n++) {
    const { answer, struck } = await strike(() => operation.run(service.request, about), n, fault)
    if (struck === null) {
      const { status, text } = answer.status === 503 ? await operation.run(patient, about) : answer
      expect(status, text).toBeLessThan(300)
      return n
    }
    const told = `message ${n}: ${struck}\n${answer.text}`
    expect(answer.status === 503 || answer.status < 300, told).toBe(true)
    // The outcome of a write is open if the thread dies while the commit is on disk: here it is done.
    if (answer.status >= 300 && (await shown(patient, operation, about)) === before) continue
    if (n > 1) return n
    // No write of these takes one message only: this one belonged to a write of the service itself.
    strangers.push(told)
    expect(strangers.length, strangers.join('\n')).toBeLessThan(3)
    about = await operation.prepare(patient)
    before = await shown(patient, operation, about)
    n = 0
  }
}

const writes = operations.map((operation) => [operation.name, operation] as const)

describe('a message that is late', () => {
  onProject()
  test.each(writes)('%s: is refused or done, and possible right afterwards', async (_name, operation) => {
    expect(await everyMessage(operation, { what: 'late', with: 'writer' })).toBeGreaterThan(1)
    expect(await findings(folder)).toEqual([])
  })
})

describe('a thread that dies', () => {
  onProject()
  test.each(writes)('%s: is refused or done, whenever it was, and possible right afterwards', async (_name, operation) => {
    expect(await everyMessage(operation, { what: 'die', with: 'writer' })).toBeGreaterThan(1)
    expect(await findings(folder)).toEqual([])
  })

  const reads = [
    '/api/articles?populate=*',
    '/api/articles?pagination[pageSize]=100&populate=*&status=draft',
    '/api/homepage',
    '/api/tags/none',
  ]
  test.each(reads)('%s: is read or refused, and read by the next thread', async (path) => {
    const token = goldenTokens().full!
    const before = await service.request(path, { token })
    for (let n = 1; ; n++) {
      const { answer, struck } = await strike(() => service.request(path, { token }), n, { what: 'die', with: 'readers' })
      if (answer.status !== 503) expect([answer.status, answer.text], `message ${n}: ${struck}`).toEqual([before.status, before.text])
      const again = await service.request(path, { token })
      expect([again.status, again.text], `after message ${n}: ${struck}`).toEqual([before.status, before.text])
      if (struck === null) break
    }
  })
})
