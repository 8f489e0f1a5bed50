// The length of a request's path, measured: the files of src/ that it runs, from socket to socket.
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { goldenTokens } from '../support/serve.js'
import { common, type Measured, type Run, startMeasured, without } from './measure.js'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

const paths = {
  'GET of a populated list, again': { goal: 20, budget: 19 },
  'GET of a populated list, again, compressed': { goal: 23, budget: 20 },
  'GET of a populated list, first': { goal: 40, budget: 40 },
  'POST of a draft': { goal: 55, budget: 55 },
  'POST of a published document': { goal: 60, budget: 60 },
} as const

/** In this time every timer that could run in a request runs at least once. */
const maxTimerMs = 4_000

let measured: Measured
let idle: Run
let author: string
let tags: readonly string[]
beforeAll(async () => {
  measured = await startMeasured()
  const idsAt = async (path: string): Promise<readonly string[]> =>
    (JSON.parse(await sendRequest(path)) as { data: { documentId: string }[] }).data.map(({ documentId }) => documentId)
  author = (await idsAt('/api/authors?sort=id'))[0]!
  tags = (await idsAt('/api/tags?sort=id')).slice(0, 2)
  // Starts the thread that writes.
  for (const status of ['draft', 'published']) await post(`status=${status}&fields[]=slug&fields[]=day`)
  await measured.taken()
  await setTimeout(maxTimerMs)
  idle = await measured.taken()
})
afterAll(() => measured?.close())

interface Asked {
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request with no header but those that are named: fetch would accept compressed responses. */
function sendRequest(path: string, { body, headers = {} }: Asked = {}): Promise<string> {
  const all = {
    authorization: `Bearer ${goldenTokens().full}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  }
  return new Promise((resolve, reject) => {
    const sent = request(measured.origin + encodeURI(path), { method: body === undefined ? 'GET' : 'POST', headers: all }, (response) => {
      expect(response.statusCode, path).toBeLessThan(300)
      text(response).then(resolve, reject)
    })
    sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
  })
}

let posts = 0
const post = (query: string) => sendRequest(`/api/articles?${query}`, { body: { data: { title: `Measured ${++posts}`, author, tags } } })

const list = (field: string) =>
  `/api/articles?populate[author][fields][0]=name&populate[tags]=true&populate[cover]=true&filters[title][$contains]=a&sort=title` +
  `&fields[0]=title&fields[1]=${field}&pagination[pageSize]=25`

/** Fields with which four requests of one kind need four plans. */
const fields = ['slug', 'summary', 'rating', 'rank', 'day'] as const

const requests: Readonly<Record<keyof typeof paths, (field: string) => Promise<string>>> = {
  'GET of a populated list, again': () => sendRequest(list('body')),
  'GET of a populated list, again, compressed': () => sendRequest(list('body'), { headers: { 'accept-encoding': 'gzip, br' } }),
  'GET of a populated list, first': (field) => sendRequest(list(field)),
  'POST of a draft': (field) => post(`status=draft&fields[0]=title&fields[1]=${field}`),
  'POST of a published document': (field) => post(`fields[0]=title&fields[1]=${field}`),
}

/** The code that one request runs each time. */
async function pathOf(send: (field: string) => Promise<string>): Promise<Run> {
  const runs: Run[] = []
  for (const field of fields) {
    await measured.taken()
    await send(field)
    runs.push(await measured.taken())
  }
  return without(common(runs), idle)
}

const linesOf = (file: string): number => readFileSync(join(root, file), 'utf8').split('\n').length
const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)

test.each(Object.keys(paths) as (keyof typeof paths)[])('%s keeps its budget', async (name) => {
  if (name.includes('again')) await sendRequest(list('body'))
  const run = await pathOf(requests[name])
  const { goal, budget } = paths[name]
  const found = {
    files: run.size,
    functions: sum([...run.values()].map((of) => of.functions.size)),
    lines: sum([...run.values()].map((of) => of.lines.size)),
  }
  process.stdout.write(
    `${name}: ${found.files} files (budget ${budget}, goal ${goal}) of ${sum([...run.keys()].map(linesOf))} lines; ` +
      `${found.functions} functions, ${found.lines} lines run\n`,
  )
  // With OCTAVO_PATHS=1, file by file.
  if (process.env.OCTAVO_PATHS !== undefined) {
    for (const [file, of] of [...run].sort()) process.stdout.write(`  ${file}: ${of.functions.size} functions, ${of.lines.size} lines\n`)
  }
  expect(found.files, [...run.keys()].sort().join('\n')).toBeLessThanOrEqual(budget)
})
