// Light requests next to a heavy one: a scan that finds nothing, or a response of many megabytes, repeated on one
// connection, must not stall the documents that others read.

import Database from 'better-sqlite3'
import { databaseWith } from './data.mjs'
import { load } from './load.mjs'
import { megabytes, printHeading, printTable, round, saveResult } from './report.mjs'
import { octavoIsBuilt, startNamed } from './servers.mjs'
import { getGood, quantile, timePaced } from './timing.mjs'

const targetMilliseconds = 50
const light = { connections: 4, every: 20 }
const lightDocuments = 200

/** Levels of articles with everything on the last: what the golden articles on page 1 are linked to. */
const linked = (/** @type {number} */ levels, path = 'populate') =>
  levels === 0 ? [`${path}=*`] : ['related', 'relatedTo'].flatMap((relation) => linked(levels - 1, `${path}[${relation}][populate]`))
const pageOf = (/** @type {number} */ size, /** @type {number} */ levels) =>
  `/api/articles?pagination[pageSize]=${size}&${linked(levels).join('&')}`

const heavyRequests = [
  { name: 'a scan that finds nothing', path: '/api/articles?filters[body][$containsi]=nowhere-to-be-found&fields[0]=title' },
  { name: 'an answer of 10 MB', path: pageOf(100, 2) },
  { name: 'an answer of 50 MB', path: pageOf(24, 4) },
]

/**
 * @typedef {object} Result
 * @property {string} name
 * @property {number} count light requests answered
 * @property {number} p50 milliseconds, as the next two
 * @property {number} p99
 * @property {number} max
 * @property {{ alone: number, bytes: number, answers: number } | null} heavy milliseconds and bytes of one heavy response, and their number during the run
 */

/** @param {{ articles: number, seconds: number, server: string }} options */
export async function measureBeside({ articles, seconds, server: name }) {
  printHeading(
    `Light requests beside heavy ones, ${articles.toLocaleString('en')} articles, ${light.connections} connections, ` +
      `one request each ${light.every} ms, ${seconds} s, ${name}`,
  )
  if (name === 'octavo' && !octavoIsBuilt()) return null

  const database = databaseWith(articles)
  const server = await startNamed(name, { database })
  try {
    const urls = lightUrls(database, server.origin)
    const alone = await timePaced(urls, { ...light, milliseconds: 1_000 }).then(() => timeLight(urls, seconds))
    /** @type {Result[]} */
    const results = [{ name: 'alone', ...alone, heavy: null }]
    for (const heavy of heavyRequests) {
      const url = server.origin + heavy.path
      const { milliseconds, body } = await getGood(url)
      const repeated = load(url, { connections: 1, seconds: seconds + 1 })
      const latencies = await timeLight(urls, seconds)
      const { answers } = await repeated
      results.push({ name: `beside ${heavy.name}`, ...latencies, heavy: { alone: milliseconds, bytes: body.length, answers } })
      // A server may still work on what the load generator no longer waits for.
      await getGood(urls[0])
    }
    const resident = server.residentBytes()
    print(results, resident)
    return saveResult('beside', { server: name, articles, seconds, light, targetMilliseconds, results, resident })
  } finally {
    await server.stop()
  }
}

/**
 * @param {string} path
 * @param {string} origin
 */
function lightUrls(path, origin) {
  const database = new Database(path, { readonly: true })
  const last = Number(database.prepare('SELECT max(id) FROM articles').pluck().get())
  const near = database.prepare(
    `SELECT document_id FROM articles WHERE id >= ? AND locale = 'en' AND published_at IS NOT NULL ORDER BY id LIMIT 1`,
  )
  const urls = Array.from({ length: lightDocuments }, (_, index) => {
    const documentId = near.pluck().get(Math.floor((index * last) / lightDocuments))
    return `${origin}/api/articles/${documentId}?fields[0]=title`
  })
  database.close()
  return urls
}

/**
 * @param {readonly string[]} urls
 * @param {number} seconds
 */
async function timeLight(urls, seconds) {
  const latencies = await timePaced(urls, { ...light, milliseconds: seconds * 1_000 })
  return {
    count: latencies.length,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    max: latencies[latencies.length - 1],
  }
}

/**
 * @param {Result[]} results
 * @param {number | null} resident
 */
function print(results, resident) {
  printTable(
    [
      'light requests',
      'count',
      'p50 ms',
      'p99 ms',
      'max ms',
      'heavy alone ms',
      'heavy MB',
      'heavy answers',
      `target p99 < ${targetMilliseconds} ms`,
    ],
    results.map(({ name, count, p50, p99, max, heavy }) => [
      name,
      count,
      round(p50),
      round(p99),
      round(max),
      round(heavy?.alone),
      heavy && megabytes(heavy.bytes)?.toFixed(2),
      heavy?.answers,
      p99 < targetMilliseconds ? 'pass' : 'FAIL',
    ]),
  )
  console.log(`Resident memory afterwards: ${round(megabytes(resident)) ?? '—'} MB\n`)
}
