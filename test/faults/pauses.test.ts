// A paused process and a locked database: requests that wait are not refused for a pause, and a refusal has SQLite's code in
// the log.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, expect, test, vi } from 'vitest'
import { goldenTokens } from '../support/serve.js'
import { patience } from '../support/until.js'
import { type Child, copyGolden, remove, start } from './child.js'
import { clientOf } from './faulty.js'
import { send } from './operations.js'

let folder: string
let child: Child
afterEach(async () => {
  child.process.kill('SIGKILL')
  await child.ended
  await remove(folder)
})

test('a pause of the process counts for no deadline', async () => {
  folder = await copyGolden({ limits: { writeTimeout: 4_000, readTimeout: 4_000, hookTimeout: 4_000 } })
  child = start(folder)
  const request = clientOf(await child.origin)
  expect((await send(request, 'POST', '/api/cities', { name: 'before' })).status).toBe(201)
  const token = goldenTokens().full!
  const waiting = Array.from({ length: 120 }, (_, index) =>
    index % 3 === 0
      ? send(request, 'POST', '/api/cities', { name: `city ${index}` })
      : request(`/api/tags?filters[name][$ne]=${index}`, { token }),
  )
  await waiting[0]
  child.signal('SIGSTOP')
  await new Promise((resolve) => setTimeout(resolve, 6_000))
  child.signal('SIGCONT')
  const answers = await Promise.all(waiting)
  expect(answers.filter(({ status }) => status >= 300).map(({ text }) => text)).toEqual([])
})

test('a write that finds the database locked is 503, with the code of SQLite in the log', async () => {
  folder = await copyGolden({ database: { busyTimeout: 50 } })
  child = start(folder)
  const request = clientOf(await child.origin)
  expect((await send(request, 'POST', '/api/cities', { name: 'before' })).status).toBe(201)
  const other = new Database(join(folder, '.tmp', 'data.db'))
  other.exec('begin immediate')
  expect((await send(request, 'POST', '/api/cities', { name: 'locked' })).status).toBe(503)
  other.exec('rollback')
  other.close()
  expect((await send(request, 'POST', '/api/cities', { name: 'after' })).status).toBe(201)
  await vi.waitFor(() => expect(child.output()).toMatch(/"level":50.*SQLITE_BUSY/), patience)
})
