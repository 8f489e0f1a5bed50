// The write-ahead log after a foreign reader that took long: once it has gone and nothing is written, the log is small again.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test, vi } from 'vitest'
import { patience } from '../support/until.js'
import { copyGolden, remove, start } from './child.js'
import { clientOf } from './faulty.js'
import { send } from './operations.js'

test('a log enlarged by a long read is truncated after its end', async () => {
  const folder = await copyGolden()
  const file = join(folder, '.tmp', 'data.db')
  const child = start(folder)
  const request = clientOf(await child.origin)
  const reader = new Database(file, { readonly: true })
  try {
    reader.exec('begin')
    reader.prepare('select count(*) from articles').get()
    for (let number = 0; number < 10; number++)
      expect((await send(request, 'POST', '/api/articles', { title: `Large ${number}`, body: 'x'.repeat(500_000) })).status).toBe(201)
    const size = () => statSync(`${file}-wal`).size
    expect(size()).toBeGreaterThan(8_000_000)
    reader.exec('commit')
    await vi.waitFor(() => expect(size()).toBeLessThan(100_000), patience)
    expect((await request('/_health')).status).toBe(204)
    expect((await send(request, 'POST', '/api/cities', { name: 'afterwards' })).status).toBe(201)
    expect((await request('/_health')).status).toBe(204)
  } finally {
    reader.close()
    child.process.kill('SIGKILL')
    await child.ended
    await remove(folder)
  }
})
