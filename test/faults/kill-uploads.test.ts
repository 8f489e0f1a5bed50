// kill -9 after every call on the disk of uploads (R06, R07): each row has its file, reads return the old
// or the new file, and the next start removes files without a row.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestResponse } from '../support/serve.js'
import { goldenTokens } from '../support/serve.js'
import { copyGolden, remove } from './child.js'
import type { Faulty } from './faulty.js'
import { end, startFaulty } from './faulty.js'
import type { SendRequest } from './operations.js'
import { findings } from './sound.js'

const token = goldenTokens().full!
/** Timeout of a test in milliseconds; each kill needs a start. */
const long = 300_000
let folder: string
let orders: string
let running: Faulty | null = null
beforeAll(async () => {
  folder = await copyGolden()
  orders = join(folder, 'faults')
  mkdirSync(orders)
})
afterAll(async () => {
  if (running !== null) await end(running)
  await remove(folder)
})

async function alive(): Promise<SendRequest> {
  running ??= await startFaulty(folder, orders)
  return running.request
}

const upload = (request: SendRequest, text: string, query = ''): Promise<TestResponse> => {
  const form = new FormData()
  form.append('files', new Blob([text]), 'killed.txt')
  return request(`/api/upload${query}`, { method: 'POST', token, body: form })
}

interface Stored {
  readonly id: number
  readonly hash: string
  readonly url: string
}
const rows = async (request: SendRequest): Promise<readonly Stored[]> =>
  (await request('/api/upload/files?filters[name][$contains]=killed', { token })).body
const served = () => readdirSync(join(folder, 'uploads')).filter((name) => /^killed|^\../.test(name) && name !== '.octavo')

/** Kills the service after the n-th call on the disk; null where the work was done with fewer. */
async function killAt(n: number, work: (request: SendRequest) => Promise<TestResponse>): Promise<string | null> {
  const request = await alive()
  rmSync(join(orders, 'done'), { force: true })
  writeFileSync(join(orders, 'disk'), JSON.stringify({ n }))
  const answer = await work(request).catch(() => null)
  rmSync(join(orders, 'disk'))
  if (!existsSync(join(orders, 'done'))) {
    expect(answer!.status, answer!.text).toBeLessThan(300)
    return null
  }
  expect((await running!.child.ended).signal).toBe('SIGKILL')
  running = null
  return readFileSync(join(orders, 'done'), 'utf8').replace(folder, '')
}

async function expectSound(call: string): Promise<SendRequest> {
  expect(await findings(folder), call).toEqual([])
  const request = await alive()
  const named = (await rows(request)).map(({ hash }) => `${hash}.txt`)
  expect(served().sort(), call).toEqual([...named].sort())
  return request
}

test(
  'R06 a new file',
  async () => {
    let calls = 0
    for (let n = 1; ; n++) {
      const call = await killAt(n, (request) => upload(request, 'a text'))
      if (call === null) break
      calls++
      const request = await expectSound(`call ${n}: ${call}`)
      for (const { url } of await rows(request)) expect((await request(url)).text).toBe('a text')
    }
    expect(calls).toBeGreaterThan(5)
  },
  long,
)

test(
  'R07 new content for a file',
  async () => {
    const [{ id, url }] = (await upload(await alive(), 'text 0')).body
    let old = 'text 0'
    for (let n = 1; ; n++) {
      const call = await killAt(n, (request) => upload(request, `text ${n}`, `?id=${id}`))
      if (call === null) break
      const now = (await (await expectSound(`call ${n}: ${call}`))(url)).text
      expect([old, `text ${n}`], call).toContain(now)
      old = now
    }
    expect(old).not.toBe('text 0')
  },
  long,
)

test(
  'R06 a file that goes',
  async () => {
    for (let n = 1; ; n++) {
      const [{ id }] = (await upload(await alive(), 'to be removed')).body
      const call = await killAt(n, (request) => request(`/api/upload/files/${id}`, { method: 'DELETE', token }))
      if (call === null) break
      await expectSound(`call ${n}: ${call}`)
    }
    expect((await rows(await alive())).length).toBeGreaterThan(0)
  },
  long,
)
