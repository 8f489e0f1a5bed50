// Memory that requests leave behind (reliability: R55): what is kept for later requests is bounded by its size, whatever
// anonymous callers ask for.
import { execFileSync } from 'node:child_process'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyGolden, remove, start } from './child.js'
import { grow } from './grow.js'

const megabytes = (process: number): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(process)], { encoding: 'utf8' })) / 1024

test('plans that are kept for later do not fill the memory, however large and different they are', async () => {
  const folder = copyGolden()
  const child = start(folder)
  try {
    const origin = await child.origin
    const ask = async (levels: number, field: string) => {
      const chain = Array(levels).fill('mentor').join('.')
      const { status } = await fetch(`${origin}/api/authors?filters[id]=-1&fields=${field}&populate=${chain}`)
      expect([200, 400]).toContain(status)
    }
    await ask(3, 'name')
    const before = megabytes(child.process.pid!)
    for (let levels = 100; levels < 150; levels++) for (const field of ['name', 'email', 'bio']) await ask(levels, field)
    expect(megabytes(child.process.pid!) - before).toBeLessThan(250)
  } finally {
    child.process.kill('SIGKILL')
    await child.ended
    remove(folder)
  }
})

test('S125 answers that clients do not take are bounded together: 503 for one more, and none is refused when they are gone', async () => {
  const folder = copyGolden({ limits: { unsentBytes: 60_000_000 }, api: { rest: { maxLimit: 100_000 } } })
  grow(join(folder, '.tmp', 'data.db'), 30_000)
  const child = start(folder)
  try {
    const origin = await child.origin
    const large = '/api/articles?pagination[pageSize]=20000&pagination[withCount]=false'
    // Whoever asks and never reads.
    const silent = [0, 1, 2, 3, 4, 5].map(() => {
      const socket = connect(Number(new URL(origin).port), '127.0.0.1').pause()
      socket.write(`GET ${large} HTTP/1.1\r\nHost: x\r\n\r\n`)
      return socket
    })
    await expect.poll(async () => (await fetch(origin + large)).status, { timeout: 20_000 }).toBe(503)
    expect((await fetch(`${origin}/api/tags`)).status).toBe(200)
    for (const socket of silent) socket.destroy()
    await expect.poll(async () => (await fetch(origin + large)).status, { timeout: 20_000 }).toBe(200)
  } finally {
    child.process.kill('SIGKILL')
    await child.ended
    remove(folder)
  }
})
