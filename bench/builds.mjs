// Compares this build with another one, both on SQLite with default settings: reads and writes in turn, and their ratio.

import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { launch, processorMilliseconds, temporaryFolder } from './launch.mjs'
import { load } from './load.mjs'
import { printHeading, printTable, round, saveResult } from './report.mjs'
import { requests } from './requests.mjs'
import { copyDatabase, octavoFolder } from './servers.mjs'
import { send } from './write.mjs'
import { writesOf } from './write-requests.mjs'

const rounds = 9
/** Number of starts of a service: two starts of the same build may differ by a fifth. */
const starts = 3
const writeConnections = 16

/**
 * A build in a checkout of the repository, on that checkout's golden project.
 * @param {string} name
 * @param {string} checkout
 * @param {string} [code] the project's octavo.config.mjs
 * @param {(path: string) => void} [prepare] changes the copy of the database before the start
 */
export function startBuild(name, checkout, code, prepare) {
  const folder = temporaryFolder()
  const project = join(folder, 'project')
  cpSync(join(checkout, 'test', 'golden', 'project'), project, { recursive: true })
  if (code !== undefined) {
    rmSync(join(project, 'octavo.config.json'), { force: true })
    writeFileSync(join(project, 'octavo.config.mjs'), code)
  }
  const database = copyDatabase(folder)
  prepare?.(database)
  return launch({
    name,
    command: [join(checkout, 'dist', 'main.js'), 'start', project],
    folder,
    environment: { DATABASE_FILENAME: database, UPLOADS_DIR: join(project, 'uploads') },
  })
}

/**
 * Starts both sides several times, in turn.
 * @param {() => Promise<import('./launch.mjs').Server>} ours
 * @param {() => Promise<import('./launch.mjs').Server>} theirs
 */
export async function startPairs(ours, theirs) {
  const pairs = []
  for (let start = 0; start < starts; start++) pairs.push(/** @type {const} */ ([await ours(), await theirs()]))
  return pairs
}

/** @param {Awaited<ReturnType<typeof startPairs>>} pairs */
export const stopPairs = (pairs) => Promise.all(pairs.flat().map((server) => server.stop()))

/**
 * Measures both sides in turn, each turn on the next pair of services, and compares the runs of each turn. `cost` is the processor time
 * of a request here, as a share of its time there: other work on the machine disturbs it less than a speed.
 * @param {Awaited<ReturnType<typeof startPairs>>} pairs this build's service, and the other's
 * @param {(server: import('./launch.mjs').Server) => Promise<import('./load.mjs').Load>} run
 */
export async function compare(pairs, run) {
  for (const server of pairs.flat()) await run(server)
  const spent = [0, 0]
  const answers = [0, 0]
  const turns = []
  for (let turn = 0; turn < rounds; turn++) {
    const pair = pairs[turn % pairs.length]
    // The second one finds a warmer machine.
    const order = turn % 2 === 0 ? [0, 1] : [1, 0]
    const found = /** @type {import('./load.mjs').Load[]} */ ([])
    for (const index of order) {
      const before = processorMilliseconds(pair[index].pid)
      found[index] = await run(pair[index])
      spent[index] += processorMilliseconds(pair[index].pid) - before
      answers[index] += found[index].answers
    }
    turns.push({ ours: found[0].requestsPerSecond, theirs: found[1].requestsPerSecond })
  }
  const ratios = turns.map(({ ours, theirs }) => ours / theirs).sort((one, other) => one - other)
  const middle = (/** @type {number[]} */ numbers) => [...numbers].sort((one, other) => one - other)[rounds >> 1]
  return {
    ours: middle(turns.map(({ ours }) => ours)),
    theirs: middle(turns.map(({ theirs }) => theirs)),
    ratio: ratios[rounds >> 1],
    cost: spent[0] / answers[0] / (spent[1] / answers[1]),
    from: ratios[1],
    to: ratios.at(-2),
  }
}

/** @param {{ seconds: number, connections: number, against: string | undefined }} options */
export async function measureBuilds({ seconds, connections, against }) {
  if (against === undefined) {
    console.log('The comparison of builds is left out: --against names the checkout of another build.\n')
    return null
  }
  printHeading(`This build and that of ${resolve(against)}, ${rounds} times ${seconds} s each, in turn`)
  const pairs = await startPairs(
    () => startBuild('this build', join(octavoFolder, '..')),
    () => startBuild('the other', against),
  )
  try {
    const rows = []
    for (const { name, path } of requests)
      rows.push({ name, ...(await compare(pairs, ({ origin }) => load(`${origin}${path}`, { connections, seconds }))) })
    for (const { name, requests: sent } of await writesOf(pairs[0][0]))
      rows.push({ name, ...(await compare(pairs, (server) => send(server, sent, { connections: writeConnections, seconds }))) })
    printTable(
      ['requests a second', 'this build', 'the other', 'ratio', 'its spread', 'processor time'],
      rows.map(({ name, ours, theirs, ratio, from, to, cost }) => [
        name,
        round(ours),
        round(theirs),
        round(ratio),
        `${round(from)} – ${round(to)}`,
        round(cost),
      ]),
    )
    return saveResult('builds', { against: resolve(against), seconds, connections, rounds, rows })
  } finally {
    await stopPairs(pairs)
  }
}
