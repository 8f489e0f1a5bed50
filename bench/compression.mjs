// Costs and savings of compression: none, gzip and brotli in turn: bytes of each response, milliseconds of CPU time
// that the server spends on one, and requests a second under load.

import { processorMilliseconds } from './launch.mjs'
import { load } from './load.mjs'
import { printHeading, printTable, round, saveResult } from './report.mjs'
import { requests } from './requests.mjs'
import { octavoIsBuilt, startOctavo } from './servers.mjs'

const rounds = 3
const codings = /** @type {const} */ (['identity', 'gzip', 'br'])

/** @typedef {typeof codings[number]} Coding */

/** @param {{ seconds: number, connections: number }} options */
export async function measureCompression({ seconds, connections }) {
  printHeading(`Compressed responses, ${connections} connections, ${rounds} times ${seconds} s each, in turn; the run in the middle`)
  if (!octavoIsBuilt()) return null
  const server = await startOctavo({ readers: 2, indexes: true })
  try {
    const rows = []
    for (const { name, path } of requests) {
      const url = server.origin + path
      /** @type {Record<Coding, import('./load.mjs').Load[]>} */
      const turns = { identity: [], gzip: [], br: [] }
      const spent = { identity: 0, gzip: 0, br: 0 }
      for (let round = 0; round < rounds; round++)
        for (const coding of codings) {
          const before = processorMilliseconds(server.pid)
          turns[coding].push(await load(url, { connections, seconds, headers: { 'accept-encoding': coding } }))
          spent[coding] += processorMilliseconds(server.pid) - before
        }
      const cost = codings.map((coding) => spent[coding] / turns[coding].reduce((sum, { answers }) => sum + answers, 0))
      const alone = await Promise.all(codings.map((coding) => bytesOf(url, coding)))
      const under = codings.map((coding) => middle(turns[coding]))
      rows.push({
        name,
        bytes: alone,
        cost,
        requestsPerSecond: under.map((one) => one.requestsPerSecond),
        p50: under.map((one) => one.p50),
      })
    }
    printTable(
      ['request', 'bytes', 'gzip', 'br', 'CPU ms', 'gzip', 'br', 'requests/s', 'gzip', 'br', 'p50 ms', 'gzip', 'br'],
      rows.map(({ name, bytes, cost, requestsPerSecond, p50 }) => [
        name,
        bytes[0],
        ...bytes.slice(1).map((compressed) => `${compressed} (${Math.round((100 * compressed) / bytes[0])} %)`),
        ...cost.map((one) => round(one)),
        ...requestsPerSecond.map((one) => round(one)),
        ...p50.map((one) => round(one)),
      ]),
    )
    return saveResult('compression', { seconds, connections, rows })
  } finally {
    await server.stop()
  }
}

/** @param {import('./load.mjs').Load[]} loads */
const middle = (loads) => loads.toSorted((a, b) => a.requestsPerSecond - b.requestsPerSecond)[Math.floor(loads.length / 2)]

/**
 * @param {string} url
 * @param {Coding} coding
 */
async function bytesOf(url, coding) {
  const response = await fetch(url, { method: 'HEAD', headers: { 'accept-encoding': coding } })
  return Number(response.headers.get('content-length'))
}
