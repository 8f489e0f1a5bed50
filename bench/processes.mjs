// Gains and costs of several processes on one port: how node:cluster shares connections among them, Octavo with one and with two
// processes, and whether two do twice the work of one where each may use a share of a core only.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { limitedBy, limitTo } from './duty.mjs'
import { freePort } from './free-port.mjs'
import { processorMilliseconds } from './launch.mjs'
import { load } from './load.mjs'
import { machine, megabytes, printHeading, printTable, round, saveResult } from './report.mjs'
import { requests } from './requests.mjs'
import { octavoIsBuilt, startOctavo } from './servers.mjs'

const rounds = 3
/** The cheapest read, and one of the most expensive. */
const measured = ['flat list', 'list with relations']
/** Minimum number of cores that leaves one for the generator. */
const enoughCores = 4
const share = { running: 20, period: 100 }
const floor = join(fileURLToPath(new URL('.', import.meta.url)), 'floors', 'shared-port.mjs')

/** @param {readonly number[]} values */
const middle = (values) => [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0

/** @param {{ seconds: number, connections: number }} options */
export async function measureProcesses({ seconds, connections }) {
  if (!octavoIsBuilt()) return null
  const policies = []
  for (const policy of ['rr', 'none']) policies.push(await measurePolicy(policy, { seconds, connections }))
  printHeading(`Two processes of node:cluster that respond with their id, ${connections} connections`)
  printTable(
    [
      'connections are shared by',
      'share of the process with fewer %',
      'µs of the processor per request',
      'with a new connection each',
      'of that, the main process',
    ],
    policies.map(({ policy, fewer, kept, anew, main }) => [
      policy === 'rr' ? 'the main process (SCHED_RR)' : 'the system (SCHED_NONE)',
      round(100 * fewer),
      round(kept),
      round(anew),
      round(main),
    ]),
  )
  const results = await measureOctavo({ seconds, connections })
  return saveResult('processes', { seconds, connections, share, policies, results })
}

/**
 * @param {string} policy
 * @param {{ seconds: number, connections: number }} options
 */
async function measurePolicy(policy, { seconds, connections }) {
  const port = await freePort()
  const child = spawn(process.execPath, [floor, policy, '2'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout, 'data')
  /** @type {number[]} */
  const pids = JSON.parse(String(line))
  const origin = `http://127.0.0.1:${port}/`
  const spent = () => pids.map(processorMilliseconds)
  const cost = async (/** @type {Record<string, string>} */ headers) => {
    const before = spent()
    const { answers } = await load(origin, { connections, seconds, headers })
    return spent().map((milliseconds, index) => (1_000 * (milliseconds - (before[index] ?? 0))) / answers)
  }
  try {
    const shares = []
    for (let turn = 0; turn < 20; turn++) shares.push(await fewerOf(origin, connections))
    const kept = await cost({})
    const anew = await cost({ connection: 'close' })
    const sum = (/** @type {number[]} */ values) => values.reduce((left, right) => left + right, 0)
    return { policy, fewer: sum(shares) / shares.length, kept: sum(kept), anew: sum(anew), main: anew[0] ?? 0 }
  } finally {
    child.kill('SIGKILL')
  }
}

/**
 * Opens connections at once, and resolves to the share of them that the process with fewer has.
 * @param {string} origin
 * @param {number} connections
 */
async function fewerOf(origin, connections) {
  const agent = new Agent({ keepAlive: true })
  const pids = await Promise.all(
    Array.from({ length: connections }, async () => {
      const [response] = await once(get(origin, { agent }), 'response')
      return text(response)
    }),
  )
  agent.destroy()
  const first = pids.filter((pid) => pid === pids[0]).length
  return Math.min(first, connections - first) / connections
}

/** @param {{ seconds: number, connections: number }} options */
async function measureOctavo({ seconds, connections }) {
  const counts = [1, 2]
  const servers = await Promise.all(counts.map((count) => startOctavo({ readers: 1, environment: { OCTAVO_PROCESSES: String(count) } })))
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  try {
    const rows = []
    for (const { name, path } of requests.filter((request) => measured.includes(request.name))) {
      /** @type {{ whole: number[], cost: number[], limited: number[] }[]} */
      const runs = servers.map(() => ({ whole: [], cost: [], limited: [] }))
      for (let turn = 0; turn < rounds; turn++) {
        for (const [index, server] of servers.entries()) {
          const pids = servicesOf(server.pid, counts[index] ?? 1)
          const run = runs[index]
          await load(server.origin + path, { connections, seconds: 1 })
          const before = spentBy([server.pid, ...pids])
          const { requestsPerSecond, answers } = await load(server.origin + path, { connections, seconds })
          run?.whole.push(requestsPerSecond)
          run?.cost.push((spentBy([server.pid, ...pids]) - before) / answers)
          const end = limitTo(pids, share)
          run?.limited.push((await load(server.origin + path, { connections, seconds })).requestsPerSecond)
          await end()
        }
      }
      for (const [index, run] of runs.entries())
        rows.push({ name, processes: counts[index] ?? 0, whole: middle(run.whole), cost: middle(run.cost), limited: middle(run.limited) })
    }
    const resident = servers.map((server) => megabytes(server.residentBytes()))
    print(rows, resident, connections)
    return { rows, resident }
  } finally {
    for (const server of servers) await server.stop()
  }
}

/**
 * @param {readonly { name: string, processes: number, whole: number, cost: number, limited: number }[]} rows
 * @param {readonly (number | null)[]} resident
 * @param {number} connections
 */
function print(rows, resident, connections) {
  printHeading(
    `Octavo with one and with two processes, one reader thread each, ${connections} connections, ${rounds} runs in turn; the one in the middle`,
  )
  printTable(
    [
      'request',
      'processes',
      'requests/s',
      'ms of the processor per request',
      `requests/s with ${share.running} ms of each ${share.period} per process`,
      'of one',
    ],
    rows.map(({ name, processes, whole, cost, limited }, index) => [
      name,
      processes,
      round(whole),
      cost.toFixed(3),
      round(limited),
      processes === 1 ? null : `${round(limited / (rows[index - 1]?.limited ?? 1))}×`,
    ]),
  )
  console.log(`Resident memory: ${round(resident[0])} MB with one process, ${round(resident[1])} MB with two and the main process.`)
  if (machine.cores < enoughCores)
    console.log(
      `This machine has ${machine.cores} cores, which the generator shares with the service: requests/s of two processes say little here.\nThe processor time per request does, and the last column, where ${limitedBy()} keep each process to its share: 2× means that nothing makes one process wait for the other.\n`,
    )
}

/** The processes that serve. @param {number} pid @param {number} count */
function servicesOf(pid, count) {
  if (count === 1) return [pid]
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
  )
}

/** @param {readonly number[]} pids */
const spentBy = (pids) => [...new Set(pids)].reduce((sum, pid) => sum + processorMilliseconds(pid), 0)
