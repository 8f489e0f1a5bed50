// Growth of single requests with the number of articles: the median time of each at every size, and the ratio of the
// largest to the smallest.

import Database from 'better-sqlite3'
import { databaseWith, slugOf } from './data.mjs'
import { printHeading, printTable, round, saveResult } from './report.mjs'
import { isOnPostgres, octavoIsBuilt, startNamed } from './servers.mjs'
import { getGood, quantile, timeSequentially } from './timing.mjs'

const sizes = [1_000, 10_000, 100_000]
const largeSize = 1_000_000
/** PostgreSQL gets more articles than these as copies of them. */
const mostCopied = 100_000
const allowedGrowth = 3
const bounds = { most: 300, milliseconds: 3_000 }

/** @param {{ large: boolean, server: string }} options */
export async function measureGrowth({ large, server: name }) {
  printHeading(`Growth of single requests, one connection, ${name}`)
  if (name === 'octavo' && !octavoIsBuilt()) return null

  const measuredSizes = large ? [...sizes, largeSize] : sizes
  /** @type {Map<string, { time: number, answered: number }[]>} */
  const measured = new Map()
  for (const size of measuredSizes) {
    const times = isOnPostgres() && size > mostCopied ? size / mostCopied : 1
    const database = databaseWith(size / times)
    const server = await startNamed(name, { database, times })
    try {
      for (const [request, path] of requestsAt(size, database)) {
        const url = server.origin + path
        const { data } = JSON.parse((await getGood(url)).body.toString())
        const latencies = await timeSequentially(url, bounds)
        const one = { time: quantile(latencies, 0.5), answered: Array.isArray(data) ? data.length : 1 }
        measured.set(request, [...(measured.get(request) ?? []), one])
      }
    } finally {
      await server.stop()
    }
  }

  const rows = [...measured].map(([request, results]) => {
    const [first, last] = [results[0], results[results.length - 1]]
    const growth = last.time / first.time
    const page = first.answered === last.answered ? `${last.answered}` : `${first.answered} to ${last.answered}`
    const grows = growth <= allowedGrowth ? '' : first.answered === last.answered ? 'GROWS' : 'with the page'
    return { request, times: results.map(({ time }) => time), page, growth, grows }
  })
  console.log('Median in ms')
  printTable(
    [
      'request',
      'rows of the page',
      ...measuredSizes.map((size) => `${size.toLocaleString('en')} articles`),
      'last / first',
      `grows > ${allowedGrowth}×`,
    ],
    rows.map(({ request, page, times, growth, grows }) => [request, page, ...times.map(round), `${round(growth)}×`, grows]),
  )
  return saveResult('growth', { server: name, sizes: measuredSizes, allowedGrowth, rows })
}

/**
 * The same requests at every size; only the documents they name and the last page differ.
 * @param {number} size
 * @param {string} path
 * @returns {[string, string][]}
 */
function requestsAt(size, path) {
  const database = new Database(path, { readonly: true })
  const known = /** @type {{ id: number, documentId: string, contact: string }} */ (
    database
      .prepare('SELECT id, document_id AS documentId, contact FROM articles WHERE slug = ? AND published_at IS NOT NULL')
      .get(slugOf(500))
  )
  const author = database
    .prepare('SELECT name FROM authors WHERE id = (SELECT author_id FROM articles_author_lnk WHERE article_id = ?)')
    .pluck()
  const tag = database.prepare('SELECT name FROM tags WHERE published_at IS NOT NULL ORDER BY id LIMIT 1').pluck()
  const tagged = `filters[tags][name]=${encodeURIComponent(String(tag.get()))}&fields[0]=title`
  const byBoth = `filters[author][name]=${encodeURIComponent(String(author.get(known.id)))}&${tagged}`
  database.close()

  const withoutCount = 'pagination[withCount]=false'
  const page = Math.min(1_000, Math.ceil(size / 25))
  const populated = 'populate[0]=author&populate[1]=tags&populate[2]=category&populate[3]=cover&populate[4]=seo'
  return [
    ['flat list, page 1', '/api/articles'],
    ['flat list, page 1, no count', `/api/articles?${withoutCount}`],
    ['flat list, page 1000 or last', `/api/articles?pagination[page]=${page}`],
    ['sorted by title', '/api/articles?sort=title'],
    ['sorted by title, no count', `/api/articles?sort=title&${withoutCount}`],
    ['list with relations', `/api/articles?${populated}`],
    ['filter through a relation', `/api/articles?${tagged}`],
    ['filter through a relation, newest first', `/api/articles?${tagged}&sort=publishedAt:desc`],
    ['the same, no count', `/api/articles?${tagged}&sort=publishedAt:desc&${withoutCount}`],
    // One article in a thousand: the page is full from some 27,000 articles on.
    ['filter through two relations', `/api/articles?${byBoth}`],
    ['filter through two relations, no count', `/api/articles?${byBoth}&${withoutCount}`],
    ['found by what it is linked to', `/api/categories?filters[articles][slug]=${slugOf(500)}`],
    ['a filter of numbers, sorted by title', `/api/articles?filters[views][$gt]=9000000&sort=title&${withoutCount}`],
    ['drafts, last changed first', '/api/articles?status=draft&sort=updatedAt:desc'],
    ['a draft by its slug', `/api/articles?status=draft&filters[slug]=${slugOf(500)}`],
    ['equal to an unindexed attribute', `/api/articles?filters[contact]=${encodeURIComponent(known.contact)}`],
    ['one document', `/api/articles/${known.documentId}`],
  ]
}
