// Reads under load: requests a second of every server, their latencies, and its memory at that time.

import { differences } from './equality.mjs'
import { load } from './load.mjs'
import { megabytes, printHeading, printTable, round, saveResult } from './report.mjs'
import { requests } from './requests.mjs'
import { isOnPostgres, octavoIsBuilt, startHandWritten, startOctavo, startSameBytes, startStrapi } from './servers.mjs'

/** Machines are noisy: every server is measured so often, in turn with the others, and the run in the middle counts. */
const rounds = 3

const targets = { timesStrapi: 10, timesStrapiWithTwoReaders: 15, shareOfHandWritten: 0.8, residentMegabytes: 120 }

/**
 * @typedef {'strapi' | 'sameBytes' | 'handWritten' | 'oneReader' | 'twoReaders'} Key
 * @typedef {Partial<Record<Key, import('./launch.mjs').Server>>} Servers
 */

/** @type {[Key, string][]} */
const columns = [
  ['strapi', 'Strapi'],
  ['sameBytes', 'same bytes'],
  ['handWritten', 'hand-written'],
  ['oneReader', 'Octavo 1 reader'],
  ['twoReaders', 'Octavo 2 readers'],
]

/** @param {{ seconds: number, connections: number, strapi: boolean, request?: string }} options `request`: only the one of this name */
export async function measureRead({ seconds, connections, strapi, request }) {
  printHeading(`Reads, ${connections} connections, ${rounds} times ${seconds} s each, in turn; the run in the middle`)
  const servers = await startAll(strapi)
  try {
    const unequal = await differences(Object.values(servers))
    if (unequal.length > 0) throw new Error(`The servers do not answer the same:\n  ${unequal.join('\n  ')}`)
    console.log(`${requests.length} requests answered equally by ${Object.keys(servers).length} servers\n`)

    const rows = []
    for (const { name, path } of requests.filter((each) => request === undefined || each.name === request)) {
      /** @type {Partial<Record<Key, import('./load.mjs').Load[]>>} */
      const turns = {}
      for (let round = 0; round < rounds; round++) {
        for (const [key, server] of /** @type {[Key, import('./launch.mjs').Server][]} */ (Object.entries(servers))) {
          await load(server.origin + path, { connections, seconds: 1 })
          const measured = await load(server.origin + path, { connections, seconds })
          if (measured.failures > 0) throw new Error(`${server.name} failed ${measured.failures} requests of "${name}"`)
          turns[key] = [...(turns[key] ?? []), measured]
        }
      }
      const loads = Object.fromEntries(Object.entries(turns).map(([key, of]) => [key, middle(of)]))
      rows.push({ name, path, loads, ...judge(loads) })
    }
    const resident = Object.fromEntries(Object.entries(servers).map(([key, server]) => [key, server.residentBytes()]))
    print(rows, resident)
    return saveResult('read', { seconds, rounds, connections, targets, rows, resident })
  } finally {
    await Promise.all(Object.values(servers).map((server) => server.stop()))
  }
}

/** @param {import('./load.mjs').Load[]} loads */
const middle = (loads) => [...loads].sort((left, right) => left.requestsPerSecond - right.requestsPerSecond)[Math.floor(loads.length / 2)]

/**
 * @param {boolean} strapi
 * @returns {Promise<Servers>}
 */
async function startAll(strapi) {
  /** @type {Servers} */
  const servers = {}
  try {
    if (strapi) servers.strapi = await startStrapi()
    if (!isOnPostgres()) servers.handWritten = await startHandWritten()
    if (octavoIsBuilt()) {
      servers.oneReader = await startOctavo({ readers: 1, indexes: true })
      if (!isOnPostgres()) servers.twoReaders = await startOctavo({ readers: 2, indexes: true })
    }
    const source = servers.oneReader ?? servers.strapi ?? servers.handWritten
    if (source !== undefined) servers.sameBytes = await startSameBytes(source.origin)
    return servers
  } catch (error) {
    await Promise.all(Object.values(servers).map((server) => server.stop()))
    throw error
  }
}

/** @param {Partial<Record<Key, import('./load.mjs').Load>>} loads */
function judge(loads) {
  const rate = (/** @type {Key} */ key) => loads[key]?.requestsPerSecond ?? null
  const ratio = (/** @type {Key} */ of, /** @type {Key} */ to) =>
    rate(of) !== null && rate(to) ? Number(rate(of)) / Number(rate(to)) : null
  const ratios = {
    timesStrapi: ratio('oneReader', 'strapi'),
    timesStrapiWithTwoReaders: ratio('twoReaders', 'strapi'),
    shareOfHandWritten: ratio('oneReader', 'handWritten'),
  }
  const missed = /** @type {(keyof typeof ratios)[]} */ (Object.keys(ratios)).filter((key) => (ratios[key] ?? Infinity) < targets[key])
  const judged = Object.values(ratios).some((value) => value !== null)
  return { ratios, missed, verdict: judged ? (missed.length === 0 ? 'pass' : 'FAIL') : null }
}

/**
 * @param {(ReturnType<typeof judge> & { name: string, loads: Partial<Record<Key, import('./load.mjs').Load>> })[]} rows
 * @param {Partial<Record<Key, number | null>>} resident
 */
function print(rows, resident) {
  const heads = columns.map(([, title]) => title)
  const times = (/** @type {number | null} */ value) => (value === null ? null : `${round(value)}×`)
  console.log('Requests a second')
  printTable(
    ['request', ...heads, '1 / Strapi', '2 / Strapi', '1 / hand-written', 'targets'],
    rows.map(({ name, loads, ratios, verdict }) => [
      name,
      ...columns.map(([key]) => round(loads[key]?.requestsPerSecond)),
      times(ratios.timesStrapi),
      times(ratios.timesStrapiWithTwoReaders),
      times(ratios.shareOfHandWritten),
      verdict,
    ]),
  )
  console.log(
    `Targets: with one reader ≥ ${targets.timesStrapi}× Strapi and ≥ ${targets.shareOfHandWritten}× hand-written, ` +
      `with two readers ≥ ${targets.timesStrapiWithTwoReaders}× Strapi\n`,
  )
  console.log('Latency in ms, p50 / p99')
  printTable(
    ['request', ...heads],
    rows.map(({ name, loads }) => [name, ...columns.map(([key]) => loads[key] && `${loads[key].p50} / ${loads[key].p99}`)]),
  )
  console.log(`Resident memory after the load in MB; target for Octavo: less than ${targets.residentMegabytes}`)
  const size = (/** @type {Key} */ key) => megabytes(resident[key] ?? null)
  const octavo = /** @type {Key[]} */ (['oneReader', 'twoReaders']).map(size).filter((value) => value !== null)
  const held = octavo.every((value) => value < targets.residentMegabytes)
  printTable(
    ['', ...heads, 'target'],
    [['memory', ...columns.map(([key]) => round(size(key))), octavo.length > 0 ? (held ? 'pass' : 'FAIL') : null]],
  )
}
