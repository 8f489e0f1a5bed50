// Floods of reads (O02): conditions through many relations, scans beyond their time, and responses of many megabytes do not delay
// small requests, and leave nothing when their clients are gone.
import { afterEach, expect, test } from 'vitest'
import { serveMagazine } from '../support/serve.js'
import { type Child, copyGolden, remove, start } from './child.js'
import { grow } from './grow.js'

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const deep = 'filters[tags][articles][tags][articles][tags][articles][tags][articles][title][$contains]'

let folder: string | null = null
let child: Child | null = null
afterEach(async () => {
  child?.process.kill('SIGKILL')
  await child?.ended
  if (folder !== null) await remove(folder)
  folder = child = null
})

async function up(limits: object, articles = 0): Promise<string> {
  folder = await copyGolden({ limits: { ...limits, cacheBytes: 0 }, api: { rest: { maxLimit: 100_000 } } })
  if (articles > 0) grow(`${folder}/.tmp/data.db`, articles)
  child = start(folder)
  return child.origin
}

/** Reads three tags, which must succeed: waiting for longer than readTimeout is 503. */
async function light(origin: string, when?: string): Promise<void> {
  expect((await fetch(`${origin}/api/tags?pagination[pageSize]=3`)).status, when).toBe(200)
}

/** A scan that finds nothing and takes seconds: each row is looked through 240 times. */
const scan = (index: number) =>
  `/api/articles?locale=*&${Array.from({ length: 240 }, (_, at) => `filters[$or][${at % 60}][$or][${Math.floor(at / 60)}][body][$contains]=z${index}q${at}`).join('&')}`

test('nine lists filtered through eight relations are found, and a concurrent light read too', async () => {
  const origin = await up({})
  const lists = Array.from({ length: 9 }, (_, index) => fetch(`${origin}/api/articles?${deep}=zq${index}`))
  await light(origin)
  for (const { status } of await Promise.all(lists)) expect(status).toBe(200)
  const magazine = await serveMagazine()
  try {
    const { status, body } = await magazine.request(`/api/articles?${deep}=e&locale=*`)
    expect([status, body.data?.length > 0]).toEqual([200, true])
  } finally {
    await magazine.close()
  }
})

test('scans beyond their time are 503, their threads are free at once, and the process ends when it is stopped', async () => {
  const origin = await up({ readTimeout: 2_000 }, 300_000)
  const scans = Array.from({ length: 12 }, (_, index) => fetch(origin + scan(index)).then(({ status }) => status))
  await pause(200)
  await light(origin, 'beside the scans')
  expect(new Set(await Promise.all(scans))).toEqual(new Set([503]))
  await light(origin, 'after the scans')
  // The heavy share is free again: a long read within its time succeeds.
  const { status } = await fetch(`${origin}/api/articles?pagination[pageSize]=500&pagination[withCount]=false`)
  expect(status).toBe(200)
  for (let index = 20; index < 30; index++) fetch(origin + scan(index)).catch(() => undefined)
  await pause(300)
  child!.signal('SIGTERM')
  expect(await child!.ended).toMatchObject({ code: 0 })
})

test('light reads go on next to sixty clients of thirty megabytes each', async () => {
  const origin = await up({ readTimeout: 8_000 }, 60_000)
  const large = '/api/articles?pagination[pageSize]=90000&pagination[withCount]=false&locale=*'
  let open = 60
  const clients = Array.from({ length: 60 }, async (_, index) => {
    const response = await fetch(`${origin}${large}&sort=${index % 2 === 0 ? 'rank' : 'title'}`)
    for await (const _bytes of response.body ?? []) await pause(1)
    open--
    return response.status
  })
  for (let request = 0; request < 30; request++) {
    await pause(50)
    await light(origin)
  }
  expect(open, 'large answers that are still on their way').toBeGreaterThan(0)
  const statuses = await Promise.all(clients)
  expect(statuses).toContain(200)
  for (const status of statuses) expect([200, 503]).toContain(status)
})
