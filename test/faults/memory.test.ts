// Memory after requests (R55): caches are bounded by their size, regardless of the requests of
// anonymous clients.
import { execFileSync } from 'node:child_process'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { goldenTokens } from '../support/serve.js'
import { patience } from '../support/until.js'
import { copyGolden, remove, start } from './child.js'
import { grow } from './grow.js'

const megabytes = (process: number): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(process)], { encoding: 'utf8' })) / 1024

test('cached plans do not fill the memory, however large and different they are', async () => {
  const folder = await copyGolden()
  const child = start(folder)
  try {
    const origin = await child.origin
    const request = async (levels: number, field: string) => {
      const chain = Array(levels).fill('mentor').join('.')
      const { status } = await fetch(`${origin}/api/authors?filters[id]=-1&fields=${field}&populate=${chain}`)
      expect([200, 400]).toContain(status)
    }
    await request(3, 'name')
    const before = megabytes(child.process.pid!)
    for (let levels = 100; levels < 150; levels++) for (const field of ['name', 'email', 'bio']) await request(levels, field)
    expect(megabytes(child.process.pid!) - before).toBeLessThan(250)
  } finally {
    child.process.kill('SIGKILL')
    await child.ended
    await remove(folder)
  }
})

test('plans that fall out of the cache while their reads wait are forgotten when these have ended', async () => {
  const folder = await copyGolden()
  const child = start(folder)
  try {
    const origin = await child.origin
    const names = ['name', 'awards', 'bio', 'born', 'active', 'height', 'createdAt', 'updatedAt', 'publishedAt']
    const request = async (shape: number) => {
      const fields = ['documentId', ...names.filter((_, index) => (shape >> index) & 1)].join(',')
      const query = `fields=${fields}&sort=${names[(shape >> 9) % names.length]}&pagination[pageSize]=1&populate[mentor][populate]=*`
      const { status } = await fetch(`${origin}/api/authors?${query}`, { headers: { authorization: `Bearer ${goldenTokens().full!}` } })
      expect(status).toBe(200)
    }
    const several = async (from: number, to: number) => {
      for (let shape = from; shape < to; shape += 100) await Promise.all(Array.from({ length: 100 }, (_, index) => request(shape + index)))
    }
    // More than are cached.
    await several(0, 1_200)
    const before = megabytes(child.process.pid!)
    await several(1_200, 4_600)
    // Each prepared plan takes some hundred kilobytes: if cached, they are hundreds of megabytes. A busy machine collects late.
    await expect.poll(() => megabytes(child.process.pid!) - before, patience).toBeLessThan(150)
  } finally {
    child.process.kill('SIGKILL')
    await child.ended
    await remove(folder)
  }
})

test('S125 responses to clients that do not read are bounded together and make room, so that others are served', async () => {
  const folder = await copyGolden({
    limits: { maxBufferedResponseBytes: 60_000_000, responseTimeout: 600_000 },
    api: { rest: { maxLimit: 100_000 } },
  })
  grow(join(folder, '.tmp', 'data.db'), 30_000)
  const child = start(folder)
  try {
    const origin = await child.origin
    const large = '/api/articles?pagination[pageSize]=20000&pagination[withCount]=false'
    const bytes = (await (await fetch(origin + large)).arrayBuffer()).byteLength
    const before = megabytes(child.process.pid!)
    // Clients that send requests and never read: together far more than the limit.
    const silent = Array.from({ length: 48 }, () => {
      const socket = connect(Number(new URL(origin).port), '127.0.0.1').pause()
      socket.on('error', () => undefined)
      socket.write(`GET ${large} HTTP/1.1\r\nHost: x\r\n\r\n`)
      return socket
    })
    for (let round = 0; round < 3; round++) {
      await expect.poll(async () => (await fetch(origin + large)).status, patience).toBe(200)
      expect((await fetch(`${origin}/api/tags`)).status).toBe(200)
    }
    expect(48 * bytes, 'what they would hold without a limit').toBeGreaterThan(300_000_000)
    // A busy machine collects late; without the limit the clients would hold all of it until responseTimeout.
    await expect.poll(() => megabytes(child.process.pid!) - before, patience).toBeLessThan(250)
    for (const socket of silent) socket.destroy()
    await expect.poll(async () => (await fetch(origin + large)).status, patience).toBe(200)
  } finally {
    child.process.kill('SIGKILL')
    await child.ended
    await remove(folder)
  }
})
