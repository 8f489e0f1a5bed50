// Runs a server as a child process on a free port of 127.0.0.1: waits until it answers, reads its memory, stops it. No
// server outlives the run, however it ends.

import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from './free-port.mjs'

/**
 * @typedef {object} Launch
 * @property {string} name
 * @property {string[]} command arguments for this very node
 * @property {string} folder temporary folder of the server, removed when it stops
 * @property {Record<string, string>} environment variables in addition to PATH, HOME and PORT
 * @property {string} [workingFolder]
 * @property {string} [readyPath] answers 2xx once the server is ready
 * @property {number} [pollEvery] milliseconds between two checks
 * @property {number} [patience] milliseconds until it must be ready
 */

/**
 * @typedef {object} Server
 * @property {string} name
 * @property {string} origin
 * @property {string} database path of its database; empty for servers without one
 * @property {number} pid
 * @property {number} bootMilliseconds from spawn to the first good answer
 * @property {() => number | null} residentBytes memory of the process and all its children; null where /proc is missing
 * @property {() => Promise<void>} stop
 */

/** @type {Map<import('node:child_process').ChildProcess, string>} */
const running = new Map()

process.on('exit', () => {
  for (const [child, folder] of running) {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
})
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, () => process.exit(130))

export const temporaryFolder = () => mkdtempSync(join(tmpdir(), 'octavo-bench-'))

/**
 * @param {Launch} launch
 * @returns {Promise<Server>}
 */
export async function launch({
  name,
  command,
  folder,
  environment,
  workingFolder,
  readyPath = '/_health',
  pollEvery = 25,
  patience = 60_000,
}) {
  const port = await freePort()
  const log = join(folder, 'server.log')
  const output = openSync(log, 'w')
  const { PATH = '', HOME = '' } = process.env
  const begun = performance.now()
  const child = spawn(process.execPath, command, {
    cwd: workingFolder ?? folder,
    env: { PATH, HOME, PORT: String(port), HOST: '127.0.0.1', NODE_ENV: 'production', ...environment },
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  running.set(child, folder)
  const ended = new Promise((resolve) => child.once('close', resolve))
  const origin = `http://127.0.0.1:${port}`

  async function stop() {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), 3_000)
    if (child.exitCode === null && child.signalCode === null) await ended
    clearTimeout(timer)
    running.delete(child)
    rmSync(folder, { recursive: true, force: true })
  }

  while (!(await answers(origin + readyPath))) {
    const gone = child.exitCode !== null || child.signalCode !== null
    if (gone || performance.now() - begun > patience) {
      const said = readFileSync(log, 'utf8').slice(-2_000)
      await stop()
      throw new Error(`${name} ${gone ? 'ended while starting' : `was not ready within ${patience / 1_000} s`}:\n${said}`)
    }
    await wait(pollEvery)
  }
  const bootMilliseconds = performance.now() - begun
  const database = environment.DATABASE_FILENAME ?? ''
  return {
    name,
    origin,
    database,
    pid: /** @type {number} */ (child.pid),
    bootMilliseconds,
    residentBytes: () => residentBytes(/** @type {number} */ (child.pid)),
    stop,
  }
}

/**
 * @param {string} url
 * @returns {Promise<boolean>}
 */
const answers = (url) =>
  new Promise((resolve) => {
    request(url, { agent: false, timeout: 5_000 }, (answer) => {
      answer.resume().once('end', () => resolve(Math.floor((answer.statusCode ?? 500) / 100) === 2))
    })
      .once('timeout', () => resolve(false))
      .once('error', () => resolve(false))
      .end()
  })

/**
 * @param {number} pid
 * @returns {number | null}
 */
function residentBytes(pid) {
  if (!existsSync(`/proc/${pid}/status`)) return null
  const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) => {
    const list = `/proc/${pid}/task/${task}/children`
    return existsSync(list) ? readFileSync(list, 'utf8').trim().split(' ').filter(Boolean).map(Number) : []
  })
  return children.reduce((sum, child) => sum + (residentBytes(child) ?? 0), kilobytes * 1024)
}

/**
 * CPU time of a process and its threads, in ticks of 10 milliseconds; 0 if /proc is missing.
 * @param {number} pid
 */
export function processorMilliseconds(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
    return 10 * (Number(fields[11]) + Number(fields[12]))
  } catch {
    return 0
  }
}
