// kill -9 after each statement of a write that has an Idempotency-Key (R03, R36): the client sends it again, and there is
// one document, regardless of the outcome of the first attempt.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { goldenTokens } from '../support/serve.js'
import { copyGolden, remove } from './child.js'
import { end, type Faulty, startFaulty } from './faulty.js'

const token = goldenTokens().full!
let folder: string
let orders: string
let running: Faulty
beforeAll(async () => {
  folder = await copyGolden()
  orders = join(folder, 'faults')
  mkdirSync(orders)
  running = await startFaulty(folder, orders)
})
afterAll(async () => {
  await end(running)
  await remove(folder)
})

const create = (name: string) =>
  running.request('/api/cities', {
    method: 'POST',
    token,
    headers: { 'content-type': 'application/json', 'idempotency-key': name.replaceAll(' ', '-') },
    body: JSON.stringify({ data: { name } }),
  })

test('a write that was killed after any of its statements is done once when it is sent again', async () => {
  expect((await create('before')).status).toBe(201)
  for (let n = 1; ; n++) {
    const name = `killed at ${n}`
    writeFileSync(join(orders, 'order'), JSON.stringify({ n }))
    const first = await create(name).catch(() => null)
    if (first === null) {
      expect((await running.child.ended).signal).toBe('SIGKILL')
      running = await startFaulty(folder, orders)
    }
    const again = await create(name)
    expect(again.status, again.text).toBe(201)
    const { body } = await running.request(`/api/cities?filters[name]=${encodeURIComponent(name)}`, { token })
    expect(body.data.map(({ documentId }: { documentId: string }) => documentId)).toEqual([again.body.data.documentId])
    if (first === null) continue
    expect(again.text).toBe(first.text)
    expect(n).toBeGreaterThan(4)
    break
  }
})
