// Nothing is measured before all servers are known to answer the same: what differs is a fault, not a speed.

import { isDeepStrictEqual } from 'node:util'
import { requests } from './requests.mjs'
import { get } from './timing.mjs'

/**
 * Compares every answer with that of the first server. The order of keys is free.
 * @param {readonly import('./launch.mjs').Server[]} servers
 * @returns {Promise<string[]>} one line for each difference
 */
export async function differences(servers) {
  const found = []
  for (const { name, path } of requests) {
    const [first, ...others] = await Promise.all(servers.map((server) => answerOf(server, path)))
    if (first.status !== 200) found.push(`${name}: ${servers[0].name} answers ${first.status}`)
    for (const [index, other] of others.entries()) {
      const different = firstDifference(first, other, '')
      if (!different) continue
      const [left, right] = different.values.map((value) => String(JSON.stringify(value)).slice(0, 80))
      found.push(`${name}: ${different.path} is ${left} at ${servers[0].name}, ${right} at ${servers[index + 1].name}`)
    }
  }
  return found
}

/**
 * @param {import('./launch.mjs').Server} server
 * @param {string} path
 */
async function answerOf(server, path) {
  const { status, body } = await get(server.origin + path)
  const text = body.toString()
  try {
    return { status, body: JSON.parse(text) }
  } catch {
    return { status, body: text }
  }
}

/**
 * @param {any} left
 * @param {any} right
 * @param {string} path
 * @returns {{ path: string, values: [any, any] } | null}
 */
function firstDifference(left, right, path) {
  if (isDeepStrictEqual(left, right) || isSameInteger(left, right)) return null
  /** @type {[any, any]} */
  const both = [left, right]
  if (both.some((value) => typeof value !== 'object' || value === null)) return { path, values: both }
  for (const key of new Set(both.flatMap(Object.keys))) {
    const different = firstDifference(left[key], right[key], `${path}/${key}`)
    if (different) return different
  }
  return null
}

/**
 * Strapi rounds big integers to doubles; the exact digits are as good.
 * @param {unknown} left
 * @param {unknown} right
 */
function isSameInteger(left, right) {
  return [left, right].every((value) => typeof value === 'string' && /^-?\d{16,}$/.test(value)) && Number(left) === Number(right)
}
