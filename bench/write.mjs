// Writes under load compared with Strapi, both with a commit on disk before the response, and light reads during writes.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { differenceOfWrites } from './equality.mjs'
import { generate } from './load.mjs'
import { printHeading, printTable, round, saveResult } from './report.mjs'
import { goldenProject, isOnPostgres, octavoFolder, octavoIsBuilt, startOctavo, startStrapi } from './servers.mjs'
import { writesOf } from './write-requests.mjs'

const generator = fileURLToPath(new URL('./write-load.mjs', import.meta.url))
const token = JSON.parse(readFileSync(join(goldenProject, 'tokens.json'), 'utf8')).full

const writeConnections = 16
/** Milliseconds in which pending requests should be over after a run without any response. */
const longestLeft = 10_000
const rounds = 3
/** Minimum rate of light reads during writes relative to reads alone, and the load of that measurement. */
const beside = { share: 0.5, readConnections: 4, writeConnections: 4, writesPerSecond: 200 }
const lightRead = { method: 'GET', path: '/api/articles?fields[0]=title&sort=id&pagination[pageSize]=5', body: null }

let jobs = 0

/** @param {{ seconds: number, strapi: boolean }} options */
export async function measureWrite({ seconds, strapi }) {
  printHeading(`Writes, ${writeConnections} connections, ${rounds} times ${seconds} s each, in turn`)
  if (!octavoIsBuilt()) return null
  const octavo = await startOctavo({ readers: 1, indexes: true })
  const opponent = strapi ? await startStrapi() : null
  const servers = opponent ? [octavo, opponent] : [octavo]
  try {
    const durable = isOnPostgres() ? { synchronous: 'the default' } : await durability(octavo)
    const all = await writesOf(octavo)
    const writes = opponent ? await compared(all, octavo, opponent) : all
    const rows = []
    for (const write of writes) rows.push(await measure(write, servers, seconds))
    const reads = []
    for (const server of servers) reads.push(await readsBeside(server, writes, seconds))
    print(rows, reads)
    return saveResult('write', { seconds, rounds, writeConnections, durable, rows, reads })
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}

/**
 * Reads the durability settings of a connection that the built writer thread opens on the server's database.
 * @param {import('./launch.mjs').Server} server
 */
async function durability({ database }) {
  const thread = new Worker(join(octavoFolder, 'writer-thread.js'), {
    workerData: {
      signing: null,
      sqlite: { filename: database, busyTimeout: 5_000, mmapBytes: 0, cacheKibibytes: 2_000 },
      files: null,
      writtenBytes: 1_000_000,
      counts: false,
    },
  })
  const ask = (/** @type {string} */ sql) =>
    new Promise((resolve, reject) => {
      thread.once('message', ([{ rows, message }]) => (rows ? resolve(Object.values(rows[0])[0]) : reject(new Error(message))))
      thread.postMessage([{ id: 1, kind: 'rows', text: -1, told: sql, parameters: [] }])
    })
  const found = { journal: await ask('pragma journal_mode'), synchronous: await ask('pragma synchronous') }
  thread.postMessage([{ kind: 'close' }])
  if (found.journal !== 'wal' || found.synchronous !== 2) throw new Error(`The writer is set to ${JSON.stringify(found)}`)
  console.log('The writer has journal_mode = wal and synchronous = 2 (FULL)\n')
  return found
}

/**
 * The writes with those requests that both answer. Strapi answers some updates of the golden articles with 500.
 * @param {readonly import('./write-requests.mjs').Write[]} writes
 * @param {import('./launch.mjs').Server} octavo
 * @param {import('./launch.mjs').Server} strapi
 * @returns {Promise<readonly import('./write-requests.mjs').Write[]>}
 */
async function compared(writes, octavo, strapi) {
  const differences = []
  const equal = writes.map((write) => ({ ...write, requests: /** @type {typeof write.requests[number][]} */ ([]) }))
  for (const [index, { requests }] of writes.entries()) {
    for (const request of requests) {
      const difference = await differenceOfWrites(request, octavo, strapi, token)
      if (difference === null) equal[index].requests.push(request)
      else if (difference !== 'not answered') differences.push(`${request.method} ${request.path}: ${difference}`)
    }
  }
  if (differences.length > 0) throw new Error(`The servers do not answer the same:\n  ${differences.join('\n  ')}`)
  const count = (/** @type {typeof writes} */ of) => of.reduce((sum, { requests }) => sum + requests.length, 0)
  console.log(
    `${count(equal)} of ${count(writes)} writes, and what is read of them afterwards, answered equally; Strapi answered 500 to the others\n`,
  )
  return equal
}

/**
 * @param {import('./write-requests.mjs').Write} write
 * @param {readonly import('./launch.mjs').Server[]} servers
 * @param {number} seconds
 */
async function measure({ name, timesStrapi, requests }, servers, seconds) {
  /** @type {import('./load.mjs').Load[][]} */
  const loads = servers.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, server] of servers.entries()) {
      if (round === 0) await sendAlone(server, requests, 1)
      loads[index].push(await sendAlone(server, requests, seconds))
    }
  }
  const [octavo, strapi] = loads.map((all) => median(all))
  const ratio = strapi && strapi.answers > 0 ? octavo.requestsPerSecond / strapi.requestsPerSecond : null
  return {
    name,
    octavo,
    strapi: strapi ?? null,
    ratio,
    target: timesStrapi,
    verdict: ratio === null ? null : ratio >= timesStrapi ? 'pass' : 'FAIL',
  }
}

/**
 * A run that leaves nothing when it is over: requests pending at its end would go on in the server during the next measurement.
 * @param {import('./launch.mjs').Server} server
 * @param {readonly { method: string, path: string, body: object | null }[]} requests
 * @param {number} seconds
 */
async function sendAlone(server, requests, seconds) {
  const load = await send(server, requests, { connections: writeConnections, seconds })
  await setTimeout(load.answers === 0 ? longestLeft : load.p99)
  return load
}

/**
 * The same light read alone, during as many writes as the server can take, and during a given number of writes a second.
 * @param {import('./launch.mjs').Server} server
 * @param {readonly import('./write-requests.mjs').Write[]} writes
 * @param {number} seconds
 */
async function readsBeside(server, writes, seconds) {
  const reading = { connections: beside.readConnections, seconds }
  const writing = writes.flatMap(({ requests }) => requests.slice(0, 3))
  await send(server, [lightRead], { ...reading, seconds: 1 })
  const runs = []
  for (let round = 0; round < rounds; round++) {
    const alone = await send(server, [lightRead], reading)
    const [read, written] = await Promise.all([
      send(server, [lightRead], reading),
      send(server, writing, { connections: beside.writeConnections, seconds, rate: beside.writesPerSecond }),
    ])
    runs.push({ alone, read, written, share: read.requestsPerSecond / alone.requestsPerSecond })
  }
  const { alone, read, written, share } = runs.sort((left, right) => left.share - right.share)[Math.floor(runs.length / 2)]
  return { name: server.name, alone, read, written, share, verdict: share >= beside.share ? 'pass' : 'FAIL' }
}

/** @param {import('./load.mjs').Load[]} loads */
const median = (loads) => [...loads].sort((left, right) => left.requestsPerSecond - right.requestsPerSecond)[Math.floor(loads.length / 2)]

/**
 * @param {import('./launch.mjs').Server} server
 * @param {readonly { method: string, path: string, body: object | null }[]} requests
 * @param {{ connections: number, seconds: number, rate?: number }} options
 * @returns {Promise<import('./load.mjs').Load>}
 */
export async function send(server, requests, options) {
  const job = { origin: server.origin, token, prefix: `${process.pid}-${++jobs}`, requests, ...options }
  const load = await generate([generator], { seconds: options.seconds, input: JSON.stringify(job) })
  if (load.failures > 0) {
    const what = `${server.name} failed ${load.failures} of ${load.failures + load.answers} requests: ${load.refused.join(', ')}`
    if (server.name !== 'Strapi') throw new Error(what)
    // Its rate is that of the others.
    console.log(what)
  }
  return load
}

/**
 * @param {Awaited<ReturnType<typeof measure>>[]} rows
 * @param {Awaited<ReturnType<typeof readsBeside>>[]} reads
 */
function print(rows, reads) {
  console.log('Writes a second, and latency in ms (p50 / p99); the run in the middle')
  const latency = (/** @type {import('./load.mjs').Load | null} */ load) => load && `${load.p50} / ${load.p99}`
  printTable(
    ['write', 'Strapi', 'Octavo', 'Octavo / Strapi', 'target', '', 'Strapi ms', 'Octavo ms'],
    rows.map(({ name, octavo, strapi, ratio, target, verdict }) => [
      name,
      round(strapi?.requestsPerSecond),
      round(octavo.requestsPerSecond),
      ratio === null ? strapi && 'Strapi has no answer' : `${round(ratio)}×`,
      `≥ ${target}×`,
      verdict,
      latency(strapi),
      latency(octavo),
    ]),
  )
  console.log(
    `Light reads on ${beside.readConnections} connections, alone and beside up to ${beside.writesPerSecond} writes a second on ${beside.writeConnections} others; at least ${beside.share} of the reads must remain`,
  )
  printTable(
    ['server', 'reads alone', 'beside writes', 'share', 'p99 alone ms', 'p99 beside ms', 'writes a second', ''],
    reads.map(({ name, alone, read, written, share, verdict }) => [
      name,
      round(alone.requestsPerSecond),
      round(read.requestsPerSecond),
      round(share),
      alone.p99,
      read.p99,
      round(written.requestsPerSecond),
      verdict,
    ]),
  )
}
