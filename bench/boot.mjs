// Duration of a start: from spawning the process to its first 200 on a content request, polled every 5 ms.

import { printHeading, printTable, round, saveResult } from './report.mjs'
import { octavoIsBuilt, startOctavo, startStrapi } from './servers.mjs'

const targetMilliseconds = 600
const options = { readyPath: '/api/articles?pagination[pageSize]=1&fields[0]=title', pollEvery: 5 }

/** @param {{ strapi: boolean }} choice */
export async function measureBoot({ strapi }) {
  printHeading('Boot, from spawn to the first 200')
  const rows = []
  if (octavoIsBuilt()) rows.push({ name: 'Octavo', times: await boots(() => startOctavo(options), 5), target: targetMilliseconds })
  if (strapi) rows.push({ name: 'Strapi', times: await boots(() => startStrapi(options), 2), target: null })
  const results = rows.map((row) => ({ ...row, median: median(row.times) }))
  printTable(
    ['server', 'median ms', 'starts', 'fastest ms', 'slowest ms', `target < ${targetMilliseconds} ms`],
    results.map(({ name, median, times, target }) => [
      name,
      round(median),
      times.length,
      round(Math.min(...times)),
      round(Math.max(...times)),
      target === null ? null : median < target ? 'pass' : 'FAIL',
    ]),
  )
  return saveResult('boot', { targetMilliseconds, results })
}

/**
 * @param {() => Promise<import('./launch.mjs').Server>} start
 * @param {number} count
 */
async function boots(start, count) {
  const times = []
  for (let turn = 0; turn < count; turn++) {
    const server = await start()
    times.push(server.bootMilliseconds)
    await server.stop()
  }
  return times
}

/** @param {readonly number[]} values */
function median(values) {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
