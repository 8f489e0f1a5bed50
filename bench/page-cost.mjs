// The cost of the page for editors to a service that also serves content: memory while nobody has opened it, compared with a build without
// its files, and processor time and speed of content requests while somebody follows the events of the page, compared with nobody.
// Run: node bench/page-cost.mjs [--rounds 24] [--seconds 1]
import { cpSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { processorMilliseconds, temporaryFolder } from './launch.mjs'
import { load } from './load.mjs'
import { createAdministrator, pageHeaders, startPage } from './panel.mjs'
import { median } from './report.mjs'
import { copyDatabase, octavoFolder } from './servers.mjs'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '24' }, seconds: { type: 'string', default: '1' } } })
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const memoryRounds = Math.min(rounds, 5)
const path = '/api/articles?sort=title&pagination[pageSize]=25'

/** @param {readonly number[]} numbers */
const spread = (numbers) => `${Math.min(...numbers).toFixed(2)} to ${Math.max(...numbers).toFixed(2)}`

const folder = temporaryFolder()
const without = join(folder, 'dist')
cpSync(octavoFolder, without, { recursive: true })
rmSync(join(without, 'admin'), { recursive: true })
cpSync(join(octavoFolder, '..', 'package.json'), join(folder, 'package.json'))
symlinkSync(join(octavoFolder, '..', 'node_modules'), join(folder, 'node_modules'))

/** Resident megabytes after content requests, a second of rest later. @param {string} build */
async function memoryOf(build) {
  const server = await startPage(copyDatabase(temporaryFolder()), { build })
  for (let request = 0; request < 300; request++) await (await fetch(server.origin + path)).arrayBuffer()
  await setTimeout(1_000)
  const bytes = server.residentBytes() ?? 0
  await server.stop()
  return bytes / 1_048_576
}

const memory = []
for (let round = 0; round < memoryRounds; round++) memory.push([await memoryOf(octavoFolder), await memoryOf(without)])
// The least of the rounds: collections of garbage come when they come.
const [own = 0, other = 0] = [0, 1].map((side) => Math.min(...memory.map((pair) => /** @type {number} */ (pair[side]))))
console.log('| what | with | without | difference |\n| --- | --- | --- | --- |')
console.log(
  `| least resident memory of ${memoryRounds}, page unopened (MB) | ${own.toFixed(1)} | ${other.toFixed(1)} | ${(own - other).toFixed(1)} |`,
)

// One service, in turns.
const database = copyDatabase(temporaryFolder())
createAdministrator(database)
const server = await startPage(database)
const headers = await pageHeaders(server.origin)

/** Follows the events, as an open page does; returns how to leave. */
async function follow() {
  const controller = new AbortController()
  const { signal } = controller
  const response = await fetch(`${server.origin}/admin/api/events`, { headers, signal })
  if (response.status !== 200 || response.body === null) throw new Error(`The stream of events is ${response.status}`)
  const reading = (async () => {
    for await (const _ of /** @type {AsyncIterable<Uint8Array>} */ (/** @type {unknown} */ (response.body)));
  })().catch(() => {})
  return async () => {
    controller.abort()
    await reading
  }
}

/** Requests a second, and processor microseconds of the service for each. */
async function measure() {
  const before = processorMilliseconds(server.pid)
  const { requestsPerSecond, answers } = await load(server.origin + path, { connections: 8, seconds })
  return { speed: requestsPerSecond, cost: (1_000 * (processorMilliseconds(server.pid) - before)) / answers }
}

await measure()
const pairs = []
for (let round = 0; round < rounds; round++) {
  // In either order, so that neither gains from what the machine does.
  const isFirst = round % 2 === 0
  const alone = isFirst ? await measure() : null
  const leave = await follow()
  const open = await measure()
  await leave()
  pairs.push({ open, alone: alone ?? (await measure()) })
}
await server.stop()
const speeds = pairs.map(({ open, alone }) => open.speed / alone.speed)
const costs = pairs.map(({ open, alone }) => open.cost / alone.cost)
const of = (/** @type {'open' | 'alone'} */ side, /** @type {'speed' | 'cost'} */ what) =>
  median(pairs.map((pair) => pair[side][what])).toFixed(0)
console.log('\n| what | a page is open | none | ratio |\n| --- | --- | --- | --- |')
console.log(
  `| content requests a second | ${of('open', 'speed')} | ${of('alone', 'speed')} | ${median(speeds).toFixed(2)} (${spread(speeds)}) |`,
)
console.log(
  `| processor time of one (µs) | ${of('open', 'cost')} | ${of('alone', 'cost')} | ${median(costs).toFixed(2)} (${spread(costs)}) |`,
)
rmSync(folder, { recursive: true, force: true })
