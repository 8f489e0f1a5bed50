// What a scope costs: the same requests for articles with a scope that leaves all of them, and without one, in turn.

import { join } from 'node:path'
import { compare, startBuild } from './builds.mjs'
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

/** @param {{ seconds: number, connections: number }} options */
export async function measureScopes({ seconds, connections }) {
  printHeading(`Articles with a scope and without, ${seconds} s each, in turn`)
  if (!octavoIsBuilt()) return null
  const checkout = join(octavoFolder, '..')
  const plain = await startBuild('without', checkout, config('true'))
  const rows = []
  try {
    for (const [scope, code] of scopes) {
      const scoped = await startBuild(`a scope ${scope}`, checkout, config(code))
      try {
        for (const [name, path] of requests)
          rows.push({ scope, name, ...(await compare([scoped, plain], ({ origin }) => load(origin + path, { connections, seconds }))) })
      } finally {
        await scoped.stop()
      }
    }
  } finally {
    await plain.stop()
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
