// What a scope costs: the same requests for articles with a scope that leaves all of them, and without one, in turn.

import { join } from 'node:path'
import Database from 'better-sqlite3'
import { compare, startBuild, startPairs, stopPairs } from './builds.mjs'
import { load } from './load.mjs'
import { printHeading, printTable, round, saveResult } from './report.mjs'
import { octavoFolder, octavoIsBuilt } from './servers.mjs'

const allowedRatio = 0.8

const config = (/** @type {string} */ scope) => `export default {
  api: { rest: { contract: 'strapi' } },
  types: { 'api::article.article': { scope: () => (${scope}) } },
}`

/** @type {readonly (readonly [string, string])[]} */
const scopes = [
  ['of an attribute', '{ slug: { $notNull: true } }'],
  ['of a relation', '{ author: { id: { $gt: 0 } } }'],
]

/** @type {readonly (readonly [string, string])[]} */
const requests = [
  ['flat list', '/api/articles'],
  ['list with relations', '/api/articles?populate[0]=author&populate[1]=tags&populate[2]=category'],
  ['filter and sort', '/api/articles?filters[author][id][$gt]=0&sort=title'],
  ['behind another type', '/api/categories?populate=articles&pagination[pageSize]=5'],
]

/**
 * Gives each article a slug and an author, so that the scopes leave all of them and both services send the same bytes.
 * @param {string} path
 */
function fillArticles(path) {
  const database = new Database(path)
  database.exec(`update articles set slug = 'article-' || id where slug is null`)
  database.exec(`insert into articles_author_lnk (article_id, author_id)
    select a.id, (select min(o.id) from authors as o where (o.published_at is null) = (a.published_at is null))
      from articles as a where not exists (select 1 from articles_author_lnk as l where l.article_id = a.id)`)
  database.close()
}

/**
 * @param {string} path
 * @param {readonly import('./launch.mjs').Server[]} servers
 */
async function checkEqual(path, servers) {
  const [one, other] = await Promise.all(servers.map(async ({ origin }) => await (await fetch(origin + path)).text()))
  if (one !== other) throw new Error(`${path}: the scope leaves out some of the articles`)
}

/** @param {{ seconds: number, connections: number }} options */
export async function measureScopes({ seconds, connections }) {
  printHeading(`Articles with a scope and without, ${seconds} s each, in turn`)
  if (!octavoIsBuilt()) return null
  const checkout = join(octavoFolder, '..')
  const rows = []
  for (const [scope, code] of scopes) {
    const pairs = await startPairs(
      () => startBuild(`a scope ${scope}`, checkout, config(code), fillArticles),
      () => startBuild('without', checkout, config('true'), fillArticles),
    )
    try {
      for (const [name, path] of requests) {
        await checkEqual(path, pairs[0])
        rows.push({ scope, name, ...(await compare(pairs, ({ origin }) => load(origin + path, { connections, seconds }))) })
      }
    } finally {
      await stopPairs(pairs)
    }
  }
  printTable(
    ['requests a second', 'scope', 'with it', 'without', `ratio, at least ${allowedRatio}`, 'its spread', 'processor time', ''],
    rows.map(({ scope, name, ours, theirs, ratio, from, to, cost }) => [
      name,
      scope,
      round(ours),
      round(theirs),
      round(ratio),
      `${round(from)} – ${round(to)}`,
      round(cost),
      ratio < allowedRatio ? 'FAIL' : '',
    ]),
  )
  return saveResult('scopes', { seconds, connections, rows })
}
