// Gains and costs of the response cache: cached responses compared with Strapi, with the same bytes from the memory of a bare server,
// and of one that is built on Fastify and logs its requests; 304, uncached reads compared with a service without a cache, and the memory of a
// full cache.

import { load } from './load.mjs'
import { median, megabytes, printHeading, printTable, round, saveResult } from './report.mjs'
import { requests } from './requests.mjs'
import { octavoIsBuilt, startFastify, startOctavo, startSameBytes, startStrapi } from './servers.mjs'

const targets = { timesStrapi: 60, shareOfSameBytes: 0.6, missShare: 0.95, residentMegabytes: 190 }
const rounds = 3
const cacheBytes = 64_000_000
/** Seconds without requests before memory is measured again. */
const rest = 35

/** @param {{ seconds: number, connections: number, strapi: boolean }} options */
export async function measureCached({ seconds, connections, strapi }) {
  if (!octavoIsBuilt()) return null
  printHeading(`Answers from memory, ${connections} connections, ${rounds} times ${seconds} s each, in turn; the run in the middle`)
  const cached = await startOctavo({ readers: 2, indexes: true, cacheBytes })
  const without = await startOctavo({ readers: 2, indexes: true })
  const same = await startSameBytes(cached.origin)
  const throughFastify = await startFastify(cached.origin)
  const other = strapi ? await startStrapi() : null
  try {
    const rows = []
    for (const { name, path } of requests) {
      const tag = (await fetch(cached.origin + path)).headers.get('etag') ?? ''
      /** @type {[string, string, Record<string, string>][]} */
      const loads = [
        ['same', same.origin, {}],
        ['fastify', throughFastify.origin, {}],
        ['hit', cached.origin, {}],
        ['unchanged', cached.origin, { 'if-none-match': tag }],
        ...(other === null ? [] : [/** @type {[string, string, Record<string, string>]} */ (['strapi', other.origin, {}])]),
      ]
      /** @type {Record<string, number[]>} */
      const rates = {}
      for (let round_ = 0; round_ < rounds; round_++) {
        for (const [key, origin, headers] of loads) {
          await load(origin + path, { connections, seconds: 1, headers })
          const { requestsPerSecond, failures, answers } = await load(origin + path, { connections, seconds, headers })
          // 304 is no 2xx.
          rates[key] = [...(rates[key] ?? []), key === 'unchanged' ? failures / seconds : requestsPerSecond]
          if (key === 'unchanged' && answers > 0) throw new Error(`${answers} answers of "${name}" were not 304`)
        }
      }
      const of = (/** @type {string} */ key) => (rates[key] === undefined ? null : median(rates[key]))
      rows.push({ name, same: of('same'), fastify: of('fastify'), hit: of('hit'), unchanged: of('unchanged'), strapi: of('strapi') })
    }
    const misses = await measureMisses(cached.origin, without.origin)
    await fill(cached.origin)
    const filled = megabytes(cached.residentBytes())
    await new Promise((resolve) => setTimeout(resolve, rest * 1_000))
    const resident = { filled, rested: megabytes(cached.residentBytes()) }
    print(rows, misses, resident)
    return saveResult('cached', { seconds, rounds, connections, targets, rows, misses, resident })
  } finally {
    await Promise.all([cached, without, same, throughFastify, other].map((server) => server?.stop()))
  }
}

/**
 * Reads that were never requested before, of two services in turn; resolves to milliseconds for each read.
 * @param {string} withCache
 * @param {string} without
 */
async function measureMisses(withCache, without) {
  let salt = 0
  const reads = 300
  const time = async (/** @type {string} */ origin) => {
    const started = performance.now()
    for (let lane = 0; lane < reads; lane += 4) {
      await Promise.all(
        [0, 1, 2, 3].map(async () => {
          const path = `/api/articles?populate=*&pagination[pageSize]=25&filters[id][$gt]=-${++salt}`
          await (await fetch(origin + path)).arrayBuffer()
        }),
      )
    }
    return (performance.now() - started) / reads
  }
  /** @type {number[][]} */
  const times = [[], []]
  for (let turn = 0; turn < 7; turn++) {
    times[0].push(await time(withCache))
    times[1].push(await time(without))
  }
  return { cached: median(times[0]), without: median(times[1]) }
}

/**
 * Asks for more different answers than have room.
 * @param {string} origin
 */
async function fill(origin) {
  for (const _ of [1, 2]) {
    for (let number = 0; number < 500; number++) {
      await (await fetch(`${origin}/api/articles?populate=*&pagination[pageSize]=25&filters[id][$gt]=-${10_000 + number}`)).arrayBuffer()
    }
  }
}

/**
 * @param {{ name: string, same: number | null, fastify: number | null, hit: number | null, unchanged: number | null, strapi: number | null }[]} rows
 * @param {{ cached: number, without: number }} misses
 * @param {{ filled: number | null, rested: number | null }} resident
 */
function print(rows, misses, resident) {
  const ratio = (/** @type {number | null} */ of, /** @type {number | null} */ to) => (of === null || to === null ? null : of / to)
  printTable(
    ['request', 'Strapi', 'same bytes', 'by Fastify', 'hit', '304', 'hit / Strapi', 'Fastify / same', 'hit / same', 'targets'],
    rows.map(({ name, same, fastify, hit, unchanged, strapi }) => {
      const [times, share] = [ratio(hit, strapi), ratio(hit, same)]
      const isReached = (times ?? Infinity) >= targets.timesStrapi && (share ?? 0) >= targets.shareOfSameBytes
      return [
        name,
        round(strapi),
        round(same),
        round(fastify),
        round(hit),
        round(unchanged),
        round(times),
        round(ratio(fastify, same)),
        round(share),
        isReached ? 'pass' : 'FAIL',
      ]
    }),
  )
  console.log(`Targets: a hit ≥ ${targets.timesStrapi}× Strapi and ≥ ${targets.shareOfSameBytes} of the same bytes\n`)
  const share = misses.without / misses.cached
  console.log(
    `A read of 209 kB that is not kept takes ${misses.cached.toFixed(2)} ms with the cache and ${misses.without.toFixed(2)} ms without: ` +
      `${share.toFixed(2)} of its speed (target ${targets.missShare}): ${share >= targets.missShare ? 'pass' : 'FAIL'}`,
  )
  console.log(
    `Resident memory with ${cacheBytes / 1_000_000} MB of answers: ${round(resident.filled)} MB right after they were read, ` +
      `${round(resident.rested)} MB after ${rest} s of rest (target < ${targets.residentMegabytes}): ` +
      `${(resident.rested ?? 0) < targets.residentMegabytes ? 'pass' : 'FAIL'}`,
  )
}
