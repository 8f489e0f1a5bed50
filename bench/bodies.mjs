// Time for which a single body within the limits blocks the event loop, and with it all other requests.

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from './launch.mjs'
import { printHeading, printTable, round, saveResult } from './report.mjs'
import { goldenProject, octavoIsBuilt, startOctavo } from './servers.mjs'

const token = JSON.parse(readFileSync(join(goldenProject, 'tokens.json'), 'utf8')).full
/** Milliseconds for which one body may block the event loop, as the minimum of all rounds: other load on the machine is excluded. */
const atMost = 50
const rounds = 5

/**
 * @template Value
 * @param {number} count
 * @param {(index: number) => Value} of
 */
const many = (count, of) => Array.from({ length: count }, (_, index) => of(index))
const keys = (/** @type {number} */ count) => Object.fromEntries(many(count, (index) => [`k${index}`, 1]))
const paragraph = { type: 'paragraph', children: [{ type: 'text', text: 'x' }] }
const article = (/** @type {object} */ rest) => JSON.stringify({ data: { title: 'A large one', ...rest } })
const author = (/** @type {object} */ rest) => JSON.stringify({ data: { name: 'A large one', ...rest } })

/** Bodies sent in every round: the largest accepted one of each kind, and refused ones. */
const bodies = [
  {
    name: '2,000 components',
    path: '/api/authors',
    body: author({ links: many(2_000, (i) => ({ label: `l${i}`, url: 'https://example.org' })) }),
  },
  {
    name: '2,000 entries with relations',
    path: '/api/articles',
    body: article({ blocks: many(2_000, () => ({ __component: 'blocks.quote', text: 'x', person: 1 })) }),
  },
  { name: '15,000 components', path: '/api/authors', body: author({ links: many(15_000, (i) => ({ label: `l${i}`, url: 'u' })) }) },
  { name: '10,000 paragraphs', path: '/api/articles', body: article({ content: many(10_000, () => paragraph) }) },
  {
    name: '10,000 wrong paragraphs',
    path: '/api/articles',
    body: article({ content: many(10_000, () => ({ type: 'paragraph', children: [{ type: 'x' }] })) }),
  },
  { name: '5,000 targets', path: '/api/articles', body: article({ tags: many(5_000, (i) => i + 1) }) },
  { name: '5,000 targets to connect', path: '/api/articles', body: article({ tags: { connect: many(5_000, (i) => ({ id: i + 1 })) } }) },
  { name: '10,000 keys of JSON', path: '/api/articles', body: article({ metadata: keys(10_000) }) },
  { name: '9 times 10,000 keys of JSON', path: '/api/articles', body: article({ metadata: many(9, () => keys(9_990)) }) },
  { name: '99,000 numbers', path: '/api/articles', body: article({ metadata: many(99_000, () => 1) }) },
  { name: '49,000 lists', path: '/api/articles', body: article({ metadata: many(49_000, () => []) }) },
  { name: '400,000 numbers', path: '/api/articles', body: article({ metadata: many(400_000, () => 1) }) },
  { name: '10,000 unknown keys', path: '/api/authors', body: JSON.stringify({ data: keys(9_990) }) },
  { name: 'brackets 490 deep', path: '/api/articles', body: article({ metadata: JSON.parse('['.repeat(490) + ']'.repeat(490)) }) },
  { name: 'wrong lists 400 deep', path: '/api/articles', body: article({ content: JSON.parse('['.repeat(400) + ']'.repeat(400)) }) },
  {
    name: 'texts of lists 400 deep',
    path: '/api/articles',
    body: article({ title: many(50, () => JSON.parse(`${'['.repeat(400)}"x"${']'.repeat(400)}`)) }),
  },
  { name: 'a text of 1 MB', path: '/api/articles', body: article({ body: 'x'.repeat(1_040_000) }) },
  { name: 'a text of 1 MB in escapes', path: '/api/articles', body: `{"data":{"title":"x","body":"${'\\u00e9'.repeat(170_000)}"}}` },
  {
    name: 'a form of 1 MB',
    path: '/api/auth/local',
    type: 'application/x-www-form-urlencoded',
    body: many(40_000, (i) => `a[b${i}]=some%20value`).join('&'),
  },
  { name: 'a suspicious list', path: '/api/articles', body: `{"a":[${'1,'.repeat(90_000)}1],"b":"__proto__"}` },
]

export async function measureBodies() {
  printHeading('Bodies: how long one holds the event loop')
  if (!octavoIsBuilt()) return null
  const folder = temporaryFolder()
  const file = join(folder, 'loop')
  const watch = fileURLToPath(new URL('./loop-watch.mjs', import.meta.url))
  const server = await startOctavo({ readers: 1, environment: { LOOP_WATCH: file, NODE_OPTIONS: `--import=${watch}` } })
  try {
    const rows = []
    for (const one of bodies) {
      const held = []
      let status = 0
      for (let round = 0; round < rounds; round++) {
        await longest(server.pid, file)
        status = await send(server.origin, one)
        held.push(await longest(server.pid, file))
      }
      const least = Math.min(...held)
      rows.push({
        name: one.name,
        bytes: one.body.length,
        status,
        milliseconds: least,
        verdict: least < atMost && status < 500 ? 'pass' : 'FAIL',
      })
    }
    printTable(
      ['body', 'bytes', 'status', `held, ms (least of ${rounds})`, `< ${atMost}`],
      rows.map(({ name, bytes, status, milliseconds, verdict }) => [name, bytes, status, round(milliseconds), verdict]),
    )
    return saveResult('bodies', { rounds, atMost, rows })
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * @param {string} origin
 * @param {{ path: string, body: string, type?: string }} request
 */
async function send(origin, { path, body, type = 'application/json' }) {
  const answer = await fetch(origin + path, { method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': type }, body })
  await answer.arrayBuffer()
  return answer.status
}

/**
 * Milliseconds that the loop was held at most since this was asked the last time.
 * @param {number} pid
 * @param {string} file
 */
async function longest(pid, file) {
  rmSync(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  while (!existsSync(file)) await wait(2)
  return Number(readFileSync(file, 'utf8'))
}
