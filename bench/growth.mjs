// How single requests grow with the number of articles: the median time of each at every size, and how much slower the
// largest is than the smallest.

import Database from 'better-sqlite3'
import { databaseWith, slugOf } from './data.mjs'
import { printHeading, printTable, round, saveResult } from './report.mjs'
import { octavoIsBuilt, startNamed } from './servers.mjs'
import { quantile, timeSequentially } from './timing.mjs'

const sizes = [1_000, 10_000, 100_000]
const largeSize = 1_000_000
const allowedGrowth = 3
const bounds = { most: 300, milliseconds: 3_000 }

/** @param {{ large: boolean, server: string }} options */
export async function measureGrowth({ large, server: name }) {
  printHeading(`Growth of single requests, one connection, ${name}`)
  if (name === 'octavo' && !octavoIsBuilt()) return null

  const measuredSizes = large ? [...sizes, largeSize] : sizes
  /** @type {Map<string, number[]>} */
  const medians = new Map()
  for (const size of measuredSizes) {
    const database = databaseWith(size)
    const server = await startNamed(name, { database })
    try {
      for (const [request, path] of requestsAt(size, database)) {
        const latencies = await timeSequentially(server.origin + path, bounds)
        medians.set(request, [...(medians.get(request) ?? []), quantile(latencies, 0.5)])
      }
    } finally {
      await server.stop()
    }
  }

  const rows = [...medians].map(([request, times]) => {
    const growth = times[times.length - 1] / times[0]
    return { request, times, growth, grows: growth > allowedGrowth }
  })
  console.log('Median in ms')
  printTable(
    ['request', ...measuredSizes.map((size) => `${size.toLocaleString('en')} articles`), 'last / first', `grows > ${allowedGrowth}×`],
    rows.map(({ request, times, growth, grows }) => [request, ...times.map(round), `${round(growth)}×`, grows ? 'GROWS' : '']),
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
  const deep = `filters[author][name]=${encodeURIComponent(String(author.get(known.id)))}&filters[tags][name]=${encodeURIComponent(String(tag.get()))}`
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
    ['deep filter', `/api/articles?${deep}&fields[0]=title`],
    ['deep filter, no count', `/api/articles?${deep}&fields[0]=title&${withoutCount}`],
    ['equal to an unindexed attribute', `/api/articles?filters[contact]=${encodeURIComponent(known.contact)}`],
    ['one document', `/api/articles/${known.documentId}`],
  ]
}
