// Heavy reads beside light ones (R54): who asks for little does not wait for who asks for much, and a read
// that would never end does not take its thread with it.
import { expect, test } from 'vitest'
import { serveGolden } from '../support/serve.js'
import { copyGolden, remove, start } from './child.js'
import { converse, type Exchange } from './connection.js'
import { grow } from './grow.js'

/** Every read goes to the threads. */
const uncached = { config: { limits: { cacheBytes: 0 } } }

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

const median = (exchanges: readonly Exchange[]): number => {
  const times = exchanges.map(({ milliseconds }) => milliseconds).sort((left, right) => left - right)
  return times[Math.floor(times.length / 2)]!
}

test('beside scans of sixty thousand articles a single document is found sooner than they are', async () => {
  const served = await serveGolden(uncached)
  try {
    expect(grow(served.database, 60_000)).toBeGreaterThanOrEqual(60_000)
    const list = await served.ask('/api/articles?fields=title&pagination[pageSize]=50')
    const ids = list.body.data.map(({ documentId }: { documentId: string }) => documentId) as readonly string[]
    let scans = 0
    const heavy = await converse(served.origin, () => `/api/articles?filters[body][$containsi]=zzzz${++scans}&locale=*`)
    const light = await Promise.all(
      [0, 1, 2].map((lane) => converse(served.origin, () => `/api/articles/${ids[(lane + Math.floor(Math.random() * 50)) % 50]}`)),
    )
    await pause(4_000)
    await Promise.all([heavy, ...light].map((connection) => connection.stop()))
    for (const connection of [heavy, ...light]) connection.close()
    expect(heavy.exchanges.length).toBeGreaterThan(3)
    expect(heavy.exchanges.map(({ status }) => status)).toEqual(heavy.exchanges.map(() => 200))
    const found = light.flatMap(({ exchanges }) => exchanges)
    expect(found.length).toBeGreaterThan(100)
    expect(found.filter(({ status }) => status !== 200)).toEqual([])
    // Behind the scan that is under way, each would take as long as a scan.
    expect(median(found)).toBeLessThan(median(heavy.exchanges) / 3)
  } finally {
    await served.close()
  }
})

test('reads that would take hours are ended: others are answered afterwards, and the service can stop', async () => {
  const folder = await copyGolden({ limits: { readTimeout: 700, cacheBytes: 0 } })
  const child = start(folder, { OCTAVO_DATABASE_READER_THREADS: '1', OCTAVO_DATABASE_MAX_READER_THREADS: '2' })
  try {
    const origin = await child.origin
    const deep = Array.from({ length: 18 }, (_, level) => (level % 2 === 0 ? '[author]' : '[articles]')).join('')
    for (const wave of [1, 2, 3]) {
      const endless = Array.from({ length: 4 }, (_, index) =>
        fetch(`${origin}/api/articles?filters${deep}[title][$containsi]=zzz${wave}${index}`),
      )
      for (const { status } of await Promise.all(endless)) expect([400, 503]).toContain(status)
    }
    for (let request = 0; request < 5; request++) {
      const { status } = await fetch(`${origin}/api/tags?pagination[pageSize]=${request + 1}`)
      expect(status, 'a light read after those that took too long').toBe(200)
    }
    child.signal('SIGTERM')
    const end = await Promise.race([child.ended, pause(5_000)])
    expect(end, 'how the process ended within five seconds').toMatchObject({ code: 0 })
  } finally {
    child.process.kill('SIGKILL')
    await child.ended
    await remove(folder)
  }
})

const deepFilter = 'filters[tags][articles][tags][articles][tags][articles][tags][articles][title][$contains]'

test('filters through eight relations take no longer than their links, and leave the threads to others', async () => {
  const served = await serveGolden(uncached)
  try {
    // Where they took minutes they were 503, and so was everybody else.
    const deep = await Promise.all(
      Array.from({ length: 9 }, (_, index) => served.ask(`/api/articles?${deepFilter}=zq${index}&pagination[pageSize]=1`)),
    )
    expect(deep.map(({ status, body }) => [status, body.meta.pagination.total])).toEqual(deep.map(() => [200, 0]))
    expect((await served.ask('/api/articles?pagination[pageSize]=1')).status).toBe(200)
  } finally {
    await served.close()
  }
})

test('reads whose clients have left are given up: a light one does not wait for them', async () => {
  const served = await serveGolden(uncached)
  try {
    grow(served.database, 60_000)
    const { body } = await served.ask('/api/articles?fields=title&pagination[pageSize]=1')
    const one = `/api/articles/${body.data[0].documentId}?fields=title`
    await served.ask(one)
    const scan = (index: number) => `${served.origin}/api/articles?filters[body][$containsi]=left${index}&locale=*&sort=body`
    const began = performance.now()
    await fetch(scan(0))
    const perScan = performance.now() - began
    const leaving = new AbortController()
    const left = Array.from({ length: 200 }, (_, index) => fetch(scan(index), { signal: leaving.signal }).catch(() => null))
    await pause(100)
    leaving.abort()
    await Promise.all(left)
    await pause(200)
    const asked = performance.now()
    expect((await served.ask(one)).status).toBe(200)
    // Two hundred were asked for.
    expect((performance.now() - asked) / perScan, `a scan takes ${Math.round(perScan)} ms`).toBeLessThan(30)
  } finally {
    await served.close()
  }
})

test('a read that is over its time gives its thread back', async () => {
  const served = await serveGolden({
    config: { limits: { readTimeout: 150, cacheBytes: 0 } },
    environment: { OCTAVO_DATABASE_MAX_READER_THREADS: '2' },
  })
  try {
    grow(served.database, 200_000)
    // Each row's sort key is found through three relations, of two hundred thousand rows.
    const endless = (index: number) =>
      served.ask(`/api/articles?sort=tags.articles.author.name&filters[body][$notContainsi]=z${index}&locale=*&pagination[pageSize]=1`)
    for (const wave of [1, 2, 3]) {
      const answers = await Promise.all([0, 1, 2].map((index) => endless(10 * wave + index)))
      // How many end in time depends on the machine; three at once on two threads do not.
      expect(answers.map(({ status }) => status)).toContain(503)
    }
    // One that has to wait for longer than readTimeout is 503 as well.
    expect((await served.ask('/api/tags?pagination[pageSize]=2')).status).toBe(200)
  } finally {
    await served.close()
  }
})
