// Disks that are full, broken or read-only, and descriptors that run out (R13, R14, R15): writes get 503,
// nothing is half done, reads go on, and writes work again without a restart.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { TestResponse } from '../support/serve.js'
import { goldenTokens } from '../support/serve.js'
import { patience } from '../support/until.js'
import { copyGolden, remove, start } from './child.js'
import type { Faulty } from './faulty.js'
import { clientOf, clientThrough, end, startFaulty } from './faulty.js'
import { canLimit, limit } from './limits.js'
import type { SendRequest } from './operations.js'
import { operations, send, shown } from './operations.js'
import { findings } from './sound.js'

const token = goldenTokens().full!
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** The refusal that says to try again. */
function expectBusy({ status, body, headers, text }: TestResponse): void {
  expect(status, text).toBe(503)
  expect(body).toMatchObject({ data: null, error: { status: 503, name: 'ServiceUnavailableError', details: {} } })
  expect(body.error.message).toMatch(/at the moment|busy/)
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
}

describe('statements that fail', () => {
  let folder: string
  let orders: string
  let service: Faulty
  let database: Database.Database
  const abouts = new Map<string, string>()
  beforeAll(async () => {
    folder = await copyGolden()
    orders = join(folder, 'faults')
    mkdirSync(orders)
    service = await startFaulty(folder, orders)
    for (const operation of operations) abouts.set(operation.name, await operation.prepare(service.request))
    database = new Database(join(folder, '.tmp', 'data.db'), { readonly: true })
  })
  afterAll(async () => {
    database.close()
    await end(service)
    await remove(folder)
  })
  const version = () => database.pragma('data_version', { simple: true })
  const tables = () => database.prepare("select name from sqlite_schema where type = 'table' order by name").pluck().all() as string[]
  const everything = () => tables().map((name) => [name, JSON.stringify(database.prepare(`select * from "${name}"`).all())])

  /** Runs an operation with a failing n-th statement, and returns the response, or null if there is no n-th. */
  async function fail(run: () => Promise<TestResponse>, n: number, code: string): Promise<TestResponse | null> {
    rmSync(join(orders, 'done'), { force: true })
    writeFileSync(join(orders, 'order'), JSON.stringify({ n, code }))
    const answer = await run()
    return existsSync(join(orders, 'done')) ? answer : null
  }

  test.each(operations.map((operation) => [operation.name, operation] as const))(
    'R13 %s: whichever statement finds the disk full, nothing is written, and the next attempt is',
    async (name, operation) => {
      const about = abouts.get(name)!
      const { request } = service
      const before = await shown(request, operation, about)
      // The first use of a token is recorded once; it is not part of the test.
      const rows = everything()
      let since = version()
      let n = 1
      for (; ; n++) {
        const code = n % 4 === 0 ? 'SQLITE_IOERR_WRITE' : 'SQLITE_FULL'
        const answer = await fail(() => operation.run(request, about), n, code)
        if (answer === null) break
        expectBusy(answer)
        // A log that is shrunk changes the version too.
        if (version() !== since) expect(everything(), `statement ${n}: ${readFileSync(join(orders, 'done'), 'utf8')}`).toEqual(rows)
        since = version()
      }
      expect(n).toBeGreaterThan(3)
      // The run without a failure has done it.
      expect(await shown(request, operation, about)).not.toBe(before)
      expect(await findings(folder)).toEqual([])
    },
  )
})

describe('the folder of uploads', () => {
  let folder: string
  let orders: string
  let service: Faulty
  beforeAll(async () => {
    folder = await copyGolden()
    orders = join(folder, 'faults')
    mkdirSync(orders)
    service = await startFaulty(folder, orders)
  })
  afterAll(async () => {
    await end(service)
    await remove(folder)
  })
  const rows = async (): Promise<readonly { readonly id: number; readonly hash: string }[]> =>
    (await service.request('/api/upload/files?sort=id', { token })).body

  function upload(text: string, query = ''): Promise<TestResponse> {
    const form = new FormData()
    form.append('files', new Blob([text]), 'notes.txt')
    return service.request(`/api/upload${query}`, { method: 'POST', token, body: form })
  }

  /** Lets every call on the uploads' disk fail from the n-th on, until the work is done without meeting one. */
  async function eachCall(
    code: string,
    work: () => Promise<TestResponse>,
    check: (answer: TestResponse, call: string) => Promise<void>,
  ): Promise<TestResponse> {
    for (let n = 1; ; n++) {
      rmSync(join(orders, 'done'), { force: true })
      writeFileSync(join(orders, 'disk'), JSON.stringify({ n, code }))
      const answer = await work()
      const call = existsSync(join(orders, 'done')) ? readFileSync(join(orders, 'done'), 'utf8') : null
      const change = await send(service.request, 'POST', '/api/cities', { name: `While the disk fails at call ${n}` })
      expect(change.status, change.text).toBe(201)
      rmSync(join(orders, 'disk'))
      if (call === null) return answer
      await check(answer, `call ${n}: ${call}`)
    }
  }

  test.each(['EROFS', 'EIO', 'ENOSPC'])(
    'R14 %s: uploads are 503 or done, documents are written, and then everything works',
    async (code) => {
      let before = await rows()
      let refused = 0
      const stored = await eachCall(
        code,
        () => upload('some text'),
        async (answer, call) => {
          const after = await rows()
          if (answer.status === 201) expect(after.length, call).toBe(before.length + 1)
          else {
            expectBusy(answer)
            expect(after, call).toEqual(before)
            refused++
          }
          before = after
        },
      )
      expect(stored.status, stored.text).toBe(201)
      expect(refused).toBeGreaterThan(4)
      expect(await findings(folder)).toEqual([])

      const [{ id, url }] = stored.body
      const content = async () => (await service.request(url)).text
      let [old, number] = ['some text', 0]
      const replaced = await eachCall(
        code,
        () => upload(`text ${++number}`, `?id=${id}`),
        async (answer, call) => {
          if (answer.status !== 200) expectBusy(answer)
          // Reads show a whole text: the old or the new one.
          const now = await content()
          expect([old, `text ${number}`], call).toContain(now)
          old = now
        },
      )
      expect(replaced.status, replaced.text).toBe(200)
      expect(await content()).toBe(`text ${number}`)
      const removed = await eachCall(
        code,
        () => service.request(`/api/upload/files/${id}`, { method: 'DELETE', token }),
        async (answer, call) => {
          if (answer.status === 503) expect(await content(), call).toBe(`text ${number}`)
        },
      )
      expect([200, 404], removed.text).toContain(removed.status)
      expect(await findings(folder)).toEqual([])
    },
  )

  test('R14 uploads received while the disk failed are cleaned up when it works', async () => {
    const { status, body } = await upload('another text')
    expect(status).toBe(201)
    expect((await service.request(`/api/upload/files/${body[0].id}`, { method: 'DELETE', token })).status).toBe(200)
    const workplaces = join(folder, 'uploads', '.octavo')
    const parts = readdirSync(workplaces)
      .flatMap((place) => readdirSync(join(workplaces, place)))
      .filter((name) => name.endsWith('.part'))
    expect(parts).toEqual([])
  })
})

describe.skipIf(!canLimit)('the first use without descriptors', () => {
  let folder: string
  let child: ReturnType<typeof start>
  let origin: string
  beforeAll(async () => {
    folder = await copyGolden({ admin: { model: 'always' }, docs: { enabled: true } })
    child = start(folder, { OCTAVO_DATABASE_READER_THREADS: '1', SMTP_URL: 'smtp://127.0.0.1:1' })
    origin = await child.origin
  })
  afterAll(async () => {
    child.process.kill('SIGKILL')
    await child.ended
    await remove(folder)
  })

  test('R15 the first use of any part of the service without a descriptor is 503 or works, and works later', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const request = clientThrough(agent, origin)
    const json = { 'content-type': 'application/json' }
    const own = { ...json, origin, 'octavo-admin': '1' }
    const part = (name: string, content: string) =>
      `--b\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\n\r\n${content}\r\n--b--\r\n`
    const form = (name: string, content: string) => ({
      ...{ method: 'POST', token, body: part(name, content) },
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    })
    const plain = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
    const schema = { kind: 'collectionType', info: { singularName: 'late', pluralName: 'lates', displayName: 'Late' }, attributes: {} }
    const file = readdirSync(join(folder, 'uploads')).find((name) => !name.startsWith('.'))!
    const change = (method: string, path: string) => ({
      path: `/api/content-type-builder/${path}`,
      asked: { method, token, headers: json, body: JSON.stringify({ data: { 'api::late.late': schema } }) },
      status: 200,
    })
    const uses: readonly { readonly path: string; readonly asked?: object; readonly status: number }[] = [
      { path: '/', status: 200 },
      { path: '/_octavo/start-page.js', status: 200 },
      { path: '/favicon.svg', status: 200 },
      { path: '/_octavo/new-password', status: 200 },
      { path: '/docs', status: 200 },
      { path: '/admin/api/openapi.json', status: 401 },
      {
        path: '/admin/api/session',
        asked: { method: 'POST', headers: own, body: '{"email":"a@b.example","password":"none"}' },
        status: 400,
      },
      { path: '/api/openapi.json', asked: { token }, status: 200 },
      { path: `/uploads/${encodeURIComponent(file)}`, status: 200 },
      { path: '/api/auth/forgot-password', asked: { method: 'POST', headers: json, body: '{"email":"a@b.example"}' }, status: 200 },
      change('POST', 'plan'),
      { path: '/api/upload', asked: form('a.txt', 'text'), status: 201 },
      { path: '/api/upload', asked: form('a.svg', plain), status: 201 },
      { path: '/api/upload', asked: form('a.bin', 'a\0b'), status: 201 },
      change('PUT', 'schemas'),
    ]
    expect((await request('/api/tags')).status).toBe(200)
    const taken = new Set(readdirSync(`/proc/${child.process.pid}/fd`).map(Number))
    let next = 0
    while (taken.has(next)) next++
    limit(child.process.pid!, 'nofile', next)
    const statuses: number[] = []
    for (const { path, asked } of uses) {
      const answer = await request(path, asked)
      if (answer.status >= 500) expectBusy(answer)
      statuses.push(answer.status)
    }
    expect(statuses).toContain(503)
    limit(child.process.pid!, 'nofile', 4096)
    for (const { path, asked, status } of uses) {
      const answer = await request(path, asked)
      expect(answer.status, `${path}: ${answer.text.slice(0, 200)}`).toBe(status)
    }
    expect(child.output()).not.toContain('a request failed')
    agent.destroy()
  })
})

describe.skipIf(!canLimit)('a process with limits', () => {
  let folder: string
  let child: ReturnType<typeof start>
  let origin: string
  let request: SendRequest
  beforeAll(async () => {
    folder = await copyGolden()
    // The first start writes; this one does not.
    const first = start(folder, { OCTAVO_DATABASE_READER_THREADS: '1' })
    await first.origin
    first.process.kill('SIGTERM')
    await first.ended
    child = start(folder, { OCTAVO_DATABASE_READER_THREADS: '1' })
    origin = await child.origin
    request = clientOf(origin)
  })
  afterAll(async () => {
    child.process.kill('SIGKILL')
    await child.ended
    await remove(folder)
  })
  const descriptors = () => readdirSync(`/proc/${child.process.pid}/fd`).map(Number)
  /** The next one that the process would get. */
  const nextDescriptor = () => {
    const taken = new Set(descriptors())
    let next = 0
    while (taken.has(next)) next++
    return next
  }

  test('R15 a first write without a descriptor for its connection to the database is 503, and works later', async () => {
    // All on one connection: another would need a descriptor itself.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const askThere = clientThrough(agent, origin)
    const { status } = await askThere('/api/tags')
    expect(status).toBe(200)
    limit(child.process.pid!, 'nofile', nextDescriptor())
    expectBusy(await send(askThere, 'POST', '/api/tags', { name: 'without a descriptor' }))
    limit(child.process.pid!, 'nofile', 4096)
    const answer = await send(askThere, 'POST', '/api/tags', { name: 'without a descriptor' })
    expect(answer.status, answer.text).toBe(201)
    agent.destroy()
  })

  test('R15 with 64 descriptors and 200 connections the process lives, and answers all when they are gone', async () => {
    limit(child.process.pid!, 'nofile', 64)
    const sockets = Array.from({ length: 200 }, () => connect(Number(new URL(origin).port), '127.0.0.1'))
    for (const socket of sockets) socket.on('error', () => undefined)
    await pause(300)
    expect(descriptors().length).toBeLessThan(100)
    expect(child.process.exitCode).toBeNull()
    for (const socket of sockets) socket.destroy()
    await vi.waitFor(() => expect(descriptors().length).toBeLessThan(40), patience)
    const answers = await Promise.all(Array.from({ length: 20 }, () => request('/api/tags?pagination[pageSize]=1')))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect((await send(request, 'POST', '/api/tags', { name: 'after the flood' })).status).toBe(201)
    limit(child.process.pid!, 'nofile', 4096)
  })

  test('R13 wherever the disk ends, the write is 503 and nothing of it is there; then there is room and it works', async () => {
    const made = await send(request, 'POST', '/api/articles', {
      title: 'On a full disk',
      seo: { metaTitle: 'Before' },
      sections: [{ heading: 'Before' }],
    })
    const path = `/api/articles/${made.body.data.documentId}`
    const look = async () => (await request(`${path}?populate[seo]=true&populate[sections]=true`, { token })).text
    const before = await look()
    const data = {
      title: 'Room again',
      body: 'x'.repeat(30_000),
      seo: { metaTitle: 'After' },
      sections: [{ heading: 'After' }, { heading: 'More' }],
    }
    const wal = join(folder, '.tmp', 'data.db-wal')
    let refused = 0
    for (let room = 0; ; room += 4120) {
      limit(child.process.pid!, 'fsize', statSync(wal).size + room)
      const answer = await send(request, 'PUT', path, data)
      if (answer.status === 200) break
      refused++
      expectBusy(answer)
      expect(await look()).toBe(before)
    }
    expect(refused).toBeGreaterThan(5)
    limit(child.process.pid!, 'fsize', 'unlimited')
    expect(JSON.parse(await look()).data).toMatchObject({
      title: 'Room again',
      seo: { metaTitle: 'After' },
      sections: [{ heading: 'After' }, { heading: 'More' }],
    })
    expect((await send(request, 'POST', '/api/tags', { name: 'with room' })).status).toBe(201)
    expect(await findings(folder)).toEqual([])
  })

  test('R13 an upload without room on the disk is 503 and leaves nothing', async () => {
    const files = () => readdirSync(join(folder, 'uploads')).sort()
    const before = files()
    const rows = (await request('/api/upload/files', { token })).body.length
    const upload = (content: Uint8Array<ArrayBuffer>, name: string) => {
      const form = new FormData()
      form.append('files', new Blob([content]), name)
      return request('/api/upload', { method: 'POST', token, body: form })
    }
    const large = new Uint8Array(8_000_000)
    limit(child.process.pid!, 'fsize', 1_000_000)
    expectBusy(await upload(large, 'large.bin'))
    // The disk has room for the picture, but not for its variants: they are larger after encoding.
    const noise = { type: 'gaussian' as const, mean: 128, sigma: 60 }
    const picture = sharp({ create: { width: 900, height: 900, channels: 3, noise, background: '#000' } })
    const small = new Uint8Array(await picture.jpeg({ quality: 1 }).toBuffer())
    limit(child.process.pid!, 'fsize', small.length + 1000)
    expectBusy(await upload(small, 'picture.jpg'))
    expect(files()).toEqual(before)
    expect((await request('/api/upload/files', { token })).body).toHaveLength(rows)
    limit(child.process.pid!, 'fsize', 'unlimited')
    expect((await upload(large, 'large.bin')).status).toBe(201)
    expect((await upload(small, 'picture.jpg')).status).toBe(201)
    expect(await findings(folder)).toEqual([])
  })

  test('R13 every upload to a full disk is 503, regardless of the part that notices first, and the log has the cause', async () => {
    const lines = () =>
      child
        .output()
        .split('\n')
        .filter((line) => line.includes('"level":50'))
    const before = lines().length
    limit(child.process.pid!, 'fsize', 100_000)
    // Of several sizes, one file and several: the parser and the disk notice in either order.
    const answers = await Promise.all(
      [150_000, 300_000, 1_000_000, 5_000_000].flatMap((bytes) =>
        [1, 3].flatMap((count) =>
          Array.from({ length: 4 }, () => {
            const form = new FormData()
            for (let i = 0; i < count; i++) form.append('files', new Blob([new Uint8Array(bytes)]), `${i}.bin`)
            return request('/api/upload', { method: 'POST', token, body: form })
          }),
        ),
      ),
    )
    for (const answer of answers) expectBusy(answer)
    limit(child.process.pid!, 'fsize', 'unlimited')
    // If the previous test has just logged the same cause, its repetitions are summed up a second later.
    const told = () => lines().slice(before)
    await vi.waitFor(() => expect(told().join('\n')).toContain('EFBIG'), patience)
    // The same cause once a second, not with every request.
    expect(told().length).toBeLessThan(answers.length)
    const form = new FormData()
    form.append('files', new Blob([new Uint8Array(1_000_000)]), 'later.bin')
    expect((await request('/api/upload', { method: 'POST', token, body: form })).status).toBe(201)
    expect(await findings(folder)).toEqual([])
  })
})
