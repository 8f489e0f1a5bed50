// Cost of a scope: the same requests for articles with a scope that leaves all of them, and without one, in turn.

import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { startBuild } from './builds.mjs'
import { processorMilliseconds } from './launch.mjs'
import { printHeading, printTable, round, saveResult } from './report.mjs'
import { goldenProject, octavoFolder, octavoIsBuilt } from './servers.mjs'

const allowedRatio = 0.8
/** Milliseconds of load before the other caller has its turn. */
const slice = 200

const tokens = JSON.parse(readFileSync(join(goldenProject, 'tokens.json'), 'utf8'))

/** The caller with the scope, and the one who sees all articles. */
const callers = /** @type {const} */ ([tokens.alice, tokens.bob])
const scopedUser = JSON.parse(Buffer.from(tokens.alice.split('.')[1], 'base64url').toString()).id

/** One service for both callers: two processes of the same build differ by more than a scope costs. */
const config = (/** @type {string} */ scope) => `export default {
  api: { rest: { contract: 'strapi' } },
  types: {
    'api::article.article': { scope: ({ caller }) => caller.id === ${scopedUser} ? (${scope}) : true },
    'api::product.product': { scope: ({ caller }) => caller.id !== ${scopedUser} },
  },
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
 * @param {string} url
 * @param {string} token
 * @param {Agent} agent
 * @returns {Promise<string>}
 */
const ask = (url, token, agent) =>
  new Promise((resolve, reject) => {
    const request = get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      const chunks = /** @type {Buffer[]} */ ([])
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve(Buffer.concat(chunks).toString())
        else reject(new Error(`${url} has status ${response.statusCode}`))
      })
    })
    request.on('error', reject)
  })

/**
 * Load from one caller for a slice: its requests, their milliseconds, and those of the service's processors.
 * @param {import('./launch.mjs').Server} server
 * @param {string} path
 * @param {string} token
 * @param {{ agent: Agent, connections: number }} options
 */
async function sliceOf(server, path, token, { agent, connections }) {
  const [began, spent] = [performance.now(), processorMilliseconds(server.pid)]
  let answers = 0
  const work = async () => {
    while (performance.now() - began < slice) {
      await ask(server.origin + path, token, agent)
      answers++
    }
  }
  await Promise.all(Array.from({ length: connections }, work))
  return { answers, milliseconds: performance.now() - began, spent: processorMilliseconds(server.pid) - spent }
}

/**
 * Fails unless the scopes are in force for the first caller alone: it sees no products.
 * @param {import('./launch.mjs').Server} server
 */
async function checkScopes(server) {
  const agent = new Agent()
  const totals = await Promise.all(
    callers.map(async (token) => JSON.parse(await ask(`${server.origin}/api/products`, token, agent)).meta.pagination.total),
  )
  if (totals[0] !== 0 || totals[1] === 0) throw new Error(`The callers see ${totals.join(' and ')} products: the scope is not in force`)
}

/**
 * Both callers in turn, `seconds` each.
 * @param {import('./launch.mjs').Server} server
 * @param {string} path
 * @param {{ seconds: number, connections: number }} options
 */
async function compareCallers(server, path, { seconds, connections }) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const [one, other] = await Promise.all(callers.map((token) => ask(server.origin + path, token, agent)))
  if (one !== other) throw new Error(`${path}: the scope leaves out some of the articles`)
  const sums = callers.map(() => ({ answers: 0, milliseconds: 0, spent: 0 }))
  const ratios = []
  const turns = Math.ceil((seconds * 1_000) / slice)
  for (let turn = -5; turn < turns; turn++) {
    const speeds = [0, 0]
    for (const index of turn % 2 === 0 ? [0, 1] : [1, 0]) {
      const found = await sliceOf(server, path, callers[index], { agent, connections })
      speeds[index] = found.answers / found.milliseconds
      // The first turns make the plans and warm the machine.
      if (turn < 0) continue
      sums[index].answers += found.answers
      sums[index].milliseconds += found.milliseconds
      sums[index].spent += found.spent
    }
    if (turn >= 0) ratios.push(speeds[0] / speeds[1])
  }
  agent.destroy()
  ratios.sort((one, other) => one - other)
  const quantile = (/** @type {number} */ share) => ratios[Math.floor(share * (ratios.length - 1))]
  const [ours, theirs] = sums.map(({ answers, milliseconds }) => (answers / milliseconds) * 1_000)
  const [spent, spentWithout] = sums.map((sum) => sum.spent / sum.answers)
  return { ours, theirs, ratio: quantile(0.5), from: quantile(0.25), to: quantile(0.75), cost: spent / spentWithout }
}

/** @param {{ seconds: number, connections: number }} options */
export async function measureScopes({ seconds, connections }) {
  printHeading(`Articles for a caller with a scope and for one without, ${seconds} s each, in turns of ${slice} ms on one service`)
  if (!octavoIsBuilt()) return null
  const checkout = join(octavoFolder, '..')
  const rows = []
  for (const [scope, code] of scopes) {
    const server = await startBuild(`a scope ${scope}`, checkout, config(code), fillArticles)
    try {
      await checkScopes(server)
      for (const [name, path] of requests) rows.push({ scope, name, ...(await compareCallers(server, path, { seconds, connections })) })
    } finally {
      await server.stop()
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
