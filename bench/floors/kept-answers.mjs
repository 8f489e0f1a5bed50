// The answers of another server to the bench requests, which the ceilings repeat.

import { requests } from '../requests.mjs'

/** Headers that belong to one connection or one moment, not to the answer. */
const momentary = new Set(['connection', 'content-encoding', 'date', 'keep-alive', 'transfer-encoding', 'content-length'])

/**
 * Sends all of them to the server at this origin; resolves to its responses, by path.
 * @param {string} origin
 */
export async function answersOf(origin) {
  /** @type {Map<string | undefined, { status: number, headers: Record<string, string | number>, body: Buffer }>} */
  const answers = new Map()
  for (const { path } of requests) {
    const answer = await fetch(`${origin}${path}`, { headers: { 'accept-encoding': 'identity' } })
    const body = Buffer.from(await answer.arrayBuffer())
    const headers = Object.fromEntries([...answer.headers].filter(([name]) => !momentary.has(name)))
    answers.set(path, { status: answer.status, headers: { ...headers, 'content-length': body.length }, body })
  }
  return answers
}
