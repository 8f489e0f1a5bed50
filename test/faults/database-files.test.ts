// The database's files deleted, moved, replaced, shortened or overwritten under the service (R12): writes that would be lost are not
// acknowledged, reads of a foreign file are refused, and health and the log report it.
import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { goldenTokens } from '../support/serve.js'
import { patience } from '../support/until.js'
import type { Child } from './child.js'
import { copyGolden, remove, start } from './child.js'
import { clientOf, type Faulty, startFaulty } from './faulty.js'
import type { SendRequest } from './operations.js'
import { send } from './operations.js'

const token = goldenTokens().full!

const faults: Readonly<Record<string, (file: string) => void>> = {
  'the database is deleted': (file) => rmSync(file),
  'all three files are deleted': (file) => {
    for (const ending of ['', '-wal', '-shm']) rmSync(file + ending)
  },
  'the log is deleted': (file) => rmSync(`${file}-wal`),
  'the shared memory is deleted': (file) => rmSync(`${file}-shm`),
  'the database is moved away': (file) => renameSync(file, `${file}.old`),
  'another file takes its place': (file) => {
    copyFileSync(`${file}.backup`, `${file}.new`)
    renameSync(`${file}.new`, file)
  },
  'a backup is written over it': (file) => writeFileSync(file, readFileSync(`${file}.backup`)),
  'it is cut in half': (file) => truncateSync(file, statSync(file).size / 2),
  'it is emptied': (file) => truncateSync(file, 0),
  'the log is emptied': (file) => truncateSync(`${file}-wal`, 0),
}

let folder: string
let file: string
let child: Child
let request: SendRequest
beforeEach(async () => {
  folder = await copyGolden()
  file = join(folder, '.tmp', 'data.db')
  cpSync(file, `${file}.backup`)
  child = start(folder)
  request = clientOf(await child.origin)
})
afterEach(async () => {
  child.process.kill('SIGKILL')
  await child.ended
  await remove(folder)
})

const write = (name: string) => send(request, 'POST', '/api/cities', { name })

describe.each(Object.entries(faults))('%s', (_what, fault) => {
  test.each([
    ['which has written', true],
    ['which has only read', false],
  ])('under a service %s: writes and reads are refused at once, health and the log say so', async (_which, hasWritten) => {
    if (hasWritten) for (const number of [1, 2, 3]) expect((await write(`city ${number}`)).status).toBe(201)
    expect((await request('/api/cities', { token })).status).toBe(200)
    expect((await request('/_health')).status).toBe(204)
    fault(file)
    // Not even the first one after it is acknowledged, where the thread of writes has known the files before.
    if (hasWritten) expect((await write('lost')).status).toBe(503)
    const sick = async () => {
      const { status, body, headers } = await request('/_health')
      expect(status).toBe(503)
      expect(body.error.message).toMatch(/data\.db(-wal|-shm)? (is gone|was )/)
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    await vi.waitFor(sick, patience)
    expect((await write('lost')).status).toBe(503)
    expect((await request('/api/cities', { token })).status).toBe(503)
    await vi.waitFor(() => expect(child.output()).toMatch(/"level":50.*is no longer the one that was opened.*copy them first/), patience)
    child.signal('SIGTERM')
    expect(await child.ended).toMatchObject({ code: 0 })
  })
})

test('writes of another process, its checkpoints included, are none of that', async () => {
  const other = start(folder)
  try {
    const askOther = clientOf(await other.origin)
    for (let number = 0; number < 40; number++) {
      const data = { name: `city ${number}`, mayor: 'x'.repeat(200) }
      expect((await send(number % 2 === 0 ? request : askOther, 'POST', '/api/cities', { name: data.name })).status).toBe(201)
      const body = { title: `Large ${number}`, body: 'y'.repeat(400_000) }
      expect((await send(askOther, 'POST', '/api/articles', body)).status).toBe(201)
    }
    expect(statSync(file).size).toBeGreaterThan(10_000_000)
    for (const each of [request, askOther]) {
      expect((await each('/_health')).status).toBe(204)
      expect((await send(each, 'POST', '/api/cities', { name: 'after all that' })).status).toBe(201)
    }
  } finally {
    other.process.kill('SIGKILL')
    await other.ended
  }
})

test('a checkpoint that was killed, or failed on a full disk, is none of that', async () => {
  for (const number of [1, 2, 3]) expect((await write(`city ${number}`)).status).toBe(201)
  // The state that such a process leaves: the log unchanged, and some of its pages in the file.
  const [log, pageBytes] = [readFileSync(`${file}-wal`), 4096]
  const frames = Array.from({ length: Math.floor((log.length - 32) / (pageBytes + 24)) }, (_, index) => 32 + index * (pageBytes + 24))
  const [lowest] = frames.toSorted((one, other) => log.readUInt32BE(one) - log.readUInt32BE(other))
  const database = openSync(file, 'r+')
  writeSync(database, log, lowest! + 24, pageBytes, (log.readUInt32BE(lowest!) - 1) * pageBytes)
  closeSync(database)
  for (let look = 0; look < 6; look++) {
    await new Promise((resolve) => setTimeout(resolve, 250))
    expect((await request('/_health')).status).toBe(204)
    expect((await write(`city ${4 + look}`)).status).toBe(201)
  }
  expect((await request('/api/cities', { token })).status).toBe(200)
})

test('a service whose database is deleted before its first write leaves no empty one there', async () => {
  for (const ending of ['', '-wal', '-shm']) rmSync(file + ending)
  expect((await write('lost')).status).toBe(503)
  expect(existsSync(file)).toBe(false)
})

test('a request that names what SQLite says of damage is refused, and nothing is damaged', async () => {
  for (const text of ['file is not a database', 'database disk image is malformed', 'disk I/O error', 'SQLITE_CORRUPT']) {
    expect((await send(request, 'POST', '/api/cities', { [text]: 1 })).status).toBe(400)
    expect((await send(request, 'PUT', `/api/cities/${encodeURIComponent(text)}`, { name: 'x' })).status).toBe(404)
    expect((await request(`/api/cities?filters[${encodeURIComponent(text)}]=1`, { token })).status).toBe(400)
  }
  expect((await request('/_health')).status).toBe(204)
  expect(child.output()).not.toContain('"level":50')
})

describe('damage that a statement meets', () => {
  let faulty: Faulty
  let orders: string
  beforeEach(async () => {
    orders = join(folder, 'faults')
    mkdirSync(orders)
    faulty = await startFaulty(folder, orders)
  })
  afterEach(async () => {
    faulty.child.process.kill('SIGKILL')
    await faulty.child.ended
  })

  test.each([
    ['a read', 'SQLITE_CORRUPT', () => faulty.request('/api/cities', { token })],
    ['a read', 'SQLITE_NOTADB', () => faulty.request('/api/cities', { token })],
    ['a write', 'SQLITE_CORRUPT', () => send(faulty.request, 'POST', '/api/cities', { name: 'x' })],
    ['a write', 'SQLITE_IOERR_READ', () => send(faulty.request, 'POST', '/api/cities', { name: 'x' })],
  ])('%s that meets %s is 503, and health and the log say so; others go on', async (_what, code, act) => {
    expect((await act()).status).toBeLessThan(300)
    writeFileSync(join(orders, 'damaged'), JSON.stringify({ text: '"cities"', code }))
    expect((await act()).status).toBe(503)
    expect((await faulty.request('/_health')).status).toBe(503)
    expect((await faulty.request('/api/tags', { token })).status).toBe(200)
    await vi.waitFor(() => expect(faulty.child.output()).toMatch(/"level":50/), patience)
  })

  test('a look at the commits that meets SQLITE_IOERR_READ is 503, and health says so', async () => {
    expect((await faulty.request('/api/cities', { token })).status).toBe(200)
    writeFileSync(join(orders, 'damaged'), JSON.stringify({ text: 'pragma_data_version', code: 'SQLITE_IOERR_READ' }))
    expect((await faulty.request('/api/cities', { token })).status).toBe(503)
    expect((await faulty.request('/_health')).status).toBe(503)
  })
})
