// Nothing is measured before all servers are known to answer the same: what differs is a fault, not a speed.

import { isDeepStrictEqual } from 'node:util'
import { requests } from './requests.mjs'
import { isOnPostgres } from './servers.mjs'
import { ask, get } from './timing.mjs'

/**
 * Populated lists by id: Strapi gives equals no order there, and PostgreSQL gives them one by its statistics.
 * @param {any} value
 * @param {number} depth
 * @returns {any}
 */
function withoutTies(value, depth) {
  if (Array.isArray(value)) {
    const list = value.map((one) => withoutTies(one, depth + 1))
    return depth > 1 && list.every((one) => typeof one?.id === 'number') ? list.sort((one, other) => one.id - other.id) : list
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withoutTies(one, depth + 1)]))
}

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
    return { status, body: isOnPostgres() ? withoutTies(JSON.parse(text), 0) : JSON.parse(text) }
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
 * Without other articles, which Strapi may have refused to update, and without polymorphic relations: in Strapi a comment loses the
 * published version of its subject when that is published again.
 */
const populated = 'author category cover gallery reviewer seo.populate=* sections.populate=* blocks.populate=* tags'
  .split(' ')
  .map((name) => (name.includes('.') ? `populate[${name.replace('.populate=*', '][populate]=*')}` : `populate[${name}]=true`))
  .join('&')

/**
 * Sends one write to both servers and reads back, as published and as draft, all that the document has.
 * @param {{ method: string, path: string, body: object }} request
 * @param {import('./launch.mjs').Server} left
 * @param {import('./launch.mjs').Server} right
 * @param {string} token
 * @returns {Promise<string | null>} the first difference, apart from what servers make up themselves; `not answered` where the
 *   second answers 500
 */
export async function differenceOfWrites({ method, path, body }, left, right, token) {
  const text = JSON.stringify(body).replaceAll('{n}', 'compared')
  const answers = await Promise.all(
    [left, right].map(async ({ origin }) => {
      const written = await ask(method, origin + path, token, text)
      const documentId = written.body?.data?.documentId
      const collection = path.split('/').slice(0, 3).join('/')
      const reads = []
      for (const status of ['published', 'draft']) {
        reads.push(await ask('GET', `${origin}${collection}/${documentId}?status=${status}&${populated}`, token))
      }
      return withoutMadeUp({ written, reads })
    }),
  )
  if (answers[0].written.status >= 300) return `answers ${answers[0].written.status}`
  if (answers[1].written.status === 500) return 'not answered'
  const different = firstDifference(answers[0], answers[1], '')
  return different && `${different.path} is ${different.values.map((value) => String(JSON.stringify(value)).slice(0, 80)).join(' and ')}`
}

const madeUp = new Set(['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt'])

/**
 * @param {any} value
 * @returns {any} the value with a type's name in place of every id and date
 */
function withoutMadeUp(value) {
  if (Array.isArray(value)) return value.map(withoutMadeUp)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, below]) => [key, madeUp.has(key) && below !== null ? typeof below : withoutMadeUp(below)]),
  )
}

/**
 * Strapi rounds big integers to doubles; the exact digits are as good.
 * @param {unknown} left
 * @param {unknown} right
 */
function isSameInteger(left, right) {
  return [left, right].every((value) => typeof value === 'string' && /^-?\d{16,}$/.test(value)) && Number(left) === Number(right)
}
