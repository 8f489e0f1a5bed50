// Times single requests over connections that stay open: one after the other as fast as they come, or paced from several
// connections.

import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * @param {string} url
 * @param {Agent} [agent]
 * @returns {Promise<{ status: number, body: Buffer, milliseconds: number }>}
 */
export function get(url, agent) {
  return new Promise((resolve, reject) => {
    const begun = performance.now()
    const sent = request(url, { agent: agent ?? false, timeout: 120_000 }, (answer) => {
      /** @type {Buffer[]} */
      const chunks = []
      answer.on('data', (chunk) => chunks.push(chunk))
      answer.once('error', reject)
      answer.once('end', () => {
        resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks), milliseconds: performance.now() - begun })
      })
    })
    sent.once('timeout', () => sent.destroy(new Error(`No answer within 120 s: ${url}`)))
    sent.once('error', reject).end()
  })
}

/**
 * Sends one request with a token; the body of the answer is read as JSON.
 * @param {string} method
 * @param {string} url
 * @param {string} token
 * @param {string} [body] JSON
 * @returns {Promise<{ status: number, body: any }>}
 */
export async function ask(method, url, token, body) {
  const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  const answer = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
}

/**
 * The answer of `get`, or an error unless it is a 200.
 * @type {typeof get}
 */
export async function getGood(url, agent) {
  const answer = await get(url, agent)
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}: ${answer.body.toString().slice(0, 300)}`)
  return answer
}

/**
 * Sends one request after the other and returns the latencies, sorted.
 * @param {string} url
 * @param {{ most: number, milliseconds: number }} bounds ends at the first of both
 */
export async function timeSequentially(url, { most, milliseconds }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const warmUntil = performance.now() + milliseconds / 10
  for (let sent = 0; sent < most / 10 && performance.now() < warmUntil; sent++) await getGood(url, agent)
  const latencies = []
  const until = performance.now() + milliseconds
  while (latencies.length < most && (latencies.length === 0 || performance.now() < until)) {
    latencies.push((await getGood(url, agent)).milliseconds)
  }
  agent.destroy()
  return latencies.sort((left, right) => left - right)
}

/**
 * Every connection sends a request each `every` milliseconds. Latencies of requests that were due while the connection still waited count
 * from their due time: a stall affects all requests that would have come in it, not only one.
 * @param {readonly string[]} urls
 * @param {{ connections: number, every: number, milliseconds: number }} options
 */
export async function timePaced(urls, { connections, every, milliseconds }) {
  /** @type {number[]} */
  const latencies = []
  const start = performance.now()
  const connection = async (/** @type {number} */ number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let turn = 0; performance.now() < start + milliseconds; turn++) {
      const due = start + turn * every + (number * every) / connections
      const early = due - performance.now()
      if (early > 0) await wait(early)
      const begun = early > 0 ? performance.now() : due
      await getGood(urls[(turn * connections + number) % urls.length], agent)
      latencies.push(performance.now() - begun)
    }
    agent.destroy()
  }
  await Promise.all(Array.from({ length: connections }, (_, number) => connection(number)))
  return latencies.sort((left, right) => left - right)
}

/**
 * @param {readonly number[]} sorted
 * @param {number} share between 0 and 1
 */
export const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
