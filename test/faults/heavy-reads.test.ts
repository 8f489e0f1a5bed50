// Heavy and light reads at the same time (R54): small requests do not wait for large ones, and a read
// that would never end does not block its thread.
import { expect, test } from 'vitest'
import { cpuTimeOf } from '../support/cpu-time.js'
import { managed, scrape, sumOf } from '../support/management.js'
import { serveGolden } from '../support/serve.js'
import { until } from '../support/until.js'
import { copyGolden, remove, start } from './child.js'
import { converse, type Exchange } from './connection.js'
import { grow } from './grow.js'

/** Every read goes to the threads. */
const uncached = { config: { limits: { cacheBytes: 0 } } }

/** A hundred conditions on each article, of which none repeats in a scan with another number. */
const heavyFilter = (scan: number): string =>
  Array.from({ length: 100 }, (_, at) => `filters[$and][${at}][body][$notContainsi]=z${scan}x${at}`).join('&')

const endOf = ({ sent, milliseconds }: Exchange): number => sent + milliseconds

/** The number of exchanges that begin and end while another one runs. */
const countWithin = (outer: Exchange, exchanges: readonly Exchange[]): number =>
  exchanges.filter((one) => one.sent > outer.sent && endOf(one) < endOf(outer)).length

test('during scans of sixty thousand articles single documents are found', async () => {
  const served = await serveGolden(uncached)
  try {
    expect(grow(served.database, 60_000)).toBeGreaterThanOrEqual(60_000)
    const list = await served.request('/api/articles?fields=title&pagination[pageSize]=50')
    const ids = list.body.data.map(({ documentId }: { documentId: string }) => documentId) as readonly string[]
    let scans = 0
    const heavy = await converse(served.origin, () => `/api/articles?filters[body][$containsi]=zzzz${++scans}&locale=*`)
    const light = await Promise.all(
      [0, 1, 2].map((lane) => converse(served.origin, () => `/api/articles/${ids[(lane + Math.floor(Math.random() * 50)) % 50]}`)),
    )
    const lights = () => light.flatMap(({ exchanges }) => exchanges)
    await until('there are enough of both', () => heavy.exchanges.length > 6 && lights().length > 120)
    await Promise.all([heavy, ...light].map((connection) => connection.stop()))
    for (const connection of [heavy, ...light]) connection.close()
    expect(heavy.exchanges.length).toBeGreaterThan(3)
    expect(heavy.exchanges.map(({ status }) => status)).toEqual(heavy.exchanges.map(() => 200))
    const found = lights()
    expect(found.length).toBeGreaterThan(100)
    expect(found.filter(({ status }) => status !== 200)).toEqual([])
    // If they waited for the running scan, each lane would have one within a scan at most.
    const within = heavy.exchanges.map((scan) => countWithin(scan, found)).reduce((sum, count) => sum + count, 0)
    expect(within / heavy.exchanges.length).toBeGreaterThan(2 * light.length)
  } finally {
    await served.close()
  }
})

test('reads that would take hours are aborted: others succeed afterwards, and the service can stop', async () => {
  const folder = await copyGolden({ limits: { readTimeout: 3_000, cacheBytes: 0 } })
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
    expect(await child.ended).toMatchObject({ code: 0 })
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
    // Where they took minutes they were 503, and so were all others.
    const deep = await Promise.all(
      Array.from({ length: 9 }, (_, index) => served.request(`/api/articles?${deepFilter}=zq${index}&pagination[pageSize]=1`)),
    )
    expect(deep.map(({ status, body }) => [status, body.meta.pagination.total])).toEqual(deep.map(() => [200, 0]))
    expect((await served.request('/api/articles?pagination[pageSize]=1')).status).toBe(200)
  } finally {
    await served.close()
  }
})

test('reads whose clients have left are given up: a light one does not wait for them', async () => {
  const served = await serveGolden({ config: { ...managed, limits: { cacheBytes: 0, readTimeout: 600_000 } } })
  try {
    grow(served.database, 60_000)
    const { body } = await served.request('/api/articles?fields=title&pagination[pageSize]=1')
    const one = `/api/articles/${body.data[0].documentId}?fields=title`
    await served.request(one)
    const scan = (index: number) => `${served.origin}/api/articles?${heavyFilter(index)}&locale=*&sort=body&pagination[pageSize]=1`
    const perScan = await cpuTimeOf(() => fetch(scan(0)))
    const leaving = new AbortController()
    const left = Array.from({ length: 200 }, (_, index) => fetch(scan(index), { signal: leaving.signal }).catch(() => null))
    const active = async () => sumOf(await scrape(served), 'http_server_active_requests')!
    await until('most scans wait', async () => (await active()) > 100)
    const spent = await cpuTimeOf(async () => {
      leaving.abort()
      await Promise.all(left)
      await until('no request is left', async () => (await active()) === 0)
      expect((await served.request(one)).status).toBe(200)
      // Needs a thread for scans.
      expect((await fetch(scan(201))).status).toBe(200)
    })
    // Two hundred would be a hundred or more.
    expect(spent / perScan, `a scan takes ${Math.round(perScan)} ms`).toBeLessThan(30)
  } finally {
    await served.close()
  }
})

test('a read that is over its time gives its thread back', async () => {
  const served = await serveGolden({
    config: { limits: { readTimeout: 2_000, cacheBytes: 0 } },
    environment: { OCTAVO_DATABASE_MAX_READER_THREADS: '2' },
  })
  try {
    grow(served.database, 200_000)
    // The sort key of each of two hundred thousand rows is found through three relations.
    const endless = (index: number) =>
      served.request(`/api/articles?sort=tags.articles.author.name&${heavyFilter(index)}&locale=*&pagination[pageSize]=1`)
    for (const wave of [1, 2, 3]) {
      const answers = await Promise.all([0, 1, 2].map((index) => endless(10 * wave + index)))
      // The number that ends in time depends on the machine; three at once on two threads do not.
      expect(answers.map(({ status }) => status)).toContain(503)
    }
    // One that has to wait for longer than readTimeout is 503 as well.
    expect((await served.request('/api/tags?pagination[pageSize]=2')).status).toBe(200)
  } finally {
    await served.close()
  }
})
