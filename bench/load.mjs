// Load from many connections, made by autocannon in a process of its own, so that the generator never shares an event
// loop with what it measures.

import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'

const autocannon = createRequire(import.meta.url).resolve('autocannon')

/**
 * @typedef {object} Load
 * @property {number} requestsPerSecond answers with 2xx a second
 * @property {number} answers answers with 2xx
 * @property {number} failures errors, timeouts and other answers
 * @property {number} bytesPerSecond
 * @property {number} p50 milliseconds
 * @property {number} p99 milliseconds
 */

/**
 * @param {string} url
 * @param {{ connections: number, seconds: number, headers?: Readonly<Record<string, string>> }} options
 * @returns {Promise<Load>}
 */
export async function load(url, { connections, seconds, headers = {} }) {
  const words = [autocannon, '--connections', String(connections), '--duration', String(seconds), '--timeout', '120', '--json']
  for (const [name, value] of Object.entries(headers)) words.push('--headers', `${name}=${value}`)
  words.push(url)
  try {
    return figuresOf(await generate(words, { seconds, errors: 'ignore' }))
  } catch (error) {
    throw new Error(`The load generator gave no result for ${url}`, { cause: error })
  }
}

/**
 * What autocannon's result says.
 * @param {any} result
 * @returns {Load}
 */
export const figuresOf = (result) => ({
  requestsPerSecond: result['2xx'] / result.duration,
  answers: result['2xx'],
  failures: result.non2xx + result.errors,
  bytesPerSecond: result.throughput.average,
  p50: result.latency.p50,
  p99: result.latency.p99,
})

/**
 * Runs a generator and reads the JSON that it prints.
 * @param {readonly string[]} words
 * @param {{ seconds: number, input?: string, errors?: 'ignore' | 'inherit' }} options
 * @returns {Promise<any>}
 */
export function generate(words, { seconds, input = '', errors = 'inherit' }) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', errors], timeout: (seconds + 150) * 1_000 })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text
    })
    child.once('error', reject)
    child.once('close', () => {
      try {
        resolve(JSON.parse(output))
      } catch (error) {
        reject(error)
      }
    })
    child.stdin.end(input)
  })
}
