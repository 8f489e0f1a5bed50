// Failures of a project's code: log, response to the client, and continued service. The service is a separate process.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { type Child, copyGolden, remove, start } from '../faults/child.js'
import { rule } from '../support/rule.js'
import { goldenTokens } from '../support/serve.js'
import { patience } from '../support/until.js'

const token = goldenTokens().full!

/** Code that fails in the way that the name of the entry says. */
const config = `
const fail = (how) => {
  if (how === 'throw') throw new TypeError('a fault of the code')
  if (how === 'value') throw { not: 'an error' }
  if (how === 'later') Promise.resolve().then(() => { throw new Error('nobody awaits this') })
  if (how === 'much later') new Promise((resolve) => setTimeout(resolve, 20)).then(async () => { await null; throw new Error('nobody awaits this either') })
  if (how === 'service') documentsOf('api::city.city').create({ data: {} })
  if (how === 'timer') setTimeout(() => { throw new Error('thrown by a timer') }, 10)
}
let documentsOf
let scope = null
export default {
  events: { listeners: [function careless({ entry }) { if (entry?.name === 'listener later') fail('later') }] },
  hooks: [{
    name: 'the careless hook',
    types: ['api::city.city', 'api::tag.tag'],
    before: ({ data, documents }) => { documentsOf = documents; fail(/^before (.*)/.exec(data?.name)?.[1]) },
    after: ({ entries }) => fail(/^after (.*)/.exec(entries[0]?.name)?.[1]),
  }],
  types: {
    'api::tag.tag': {
      policies: { find: ({ query }) => { fail(query.policy); return true } },
      reads: { before: ({ query }) => fail(query.reads), after: ({ query }) => fail(query.after) },
    },
    'api::city.city': { scope: ({ caller }) => { if (caller.kind === 'public') fail('throw'); return true } },
  },
}`

let folder: string
let child: Child
beforeAll(async () => {
  folder = await copyGolden()
  rmSync(join(folder, 'octavo.config.json'))
  mkdirSync(join(folder, 'uploads'), { recursive: true })
  writeFileSync(join(folder, 'octavo.config.mjs'), config)
  child = start(folder, { LOG_LEVEL: 'info' })
  await child.origin
})
afterAll(async () => {
  child.process.kill('SIGKILL')
  await child.ended
  await remove(folder)
})

interface Line {
  readonly level: number
  readonly msg: string
  readonly requestId?: string
  readonly hook?: string
  readonly listener?: string
  readonly err?: { readonly message: string; readonly type: string }
}

let requests = 0
async function request(method: string, path: string, data?: object, as: string | null = token) {
  const requestId = `request-${++requests}`
  const response = await fetch((await child.origin) + path, {
    method,
    headers: {
      ...(as === null ? {} : { authorization: `Bearer ${as}` }),
      'x-request-id': requestId,
      ...(data === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(data === undefined ? {} : { body: JSON.stringify({ data }) }),
  })
  return { requestId, status: response.status, text: await response.text() }
}
const create = (name: string, type = 'cities') => request('POST', `/api/${type}`, { name })

const lines = (): readonly Line[] =>
  child
    .output()
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)

/** The errors that were logged for a request, once there is one. */
async function errorsOf(requestId: string): Promise<readonly Line[]> {
  const found = () => lines().filter((line) => line.level >= 50 && line.requestId === requestId)
  await expect.poll(() => found().length, patience).toBeGreaterThan(0)
  return found()
}

rule('project-code.1', 'a failure is logged once, with the request, and not shown', async () => {
  const failures: readonly (readonly [() => ReturnType<typeof request>, number])[] = [
    [() => create('before throw'), 500],
    [() => request('GET', '/api/tags?policy=throw'), 500],
    [() => request('GET', '/api/tags?reads=throw'), 500],
    [() => request('GET', '/api/tags?after=throw'), 500],
    [() => create('after throw'), 201],
    [() => request('GET', '/api/cities', undefined, null), 500],
  ]
  for (const [send, status] of failures) {
    const answer = await send()
    expect(answer.status, answer.text).toBe(status)
    expect(answer.text).not.toContain('a fault of the code')
  }
  // The same cause is logged once in a second: with the first of the requests, and the others name it.
  const ofHook = () => lines().find(({ hook }) => hook !== undefined)
  await expect.poll(ofHook, patience).toBeDefined()
  const all = lines().filter(({ level }) => level >= 50)
  const known = new Set(Array.from({ length: requests }, (_, index) => `request-${index + 1}`))
  for (const { requestId } of all) expect(known.has(requestId!)).toBe(true)
  const [first] = all
  expect(first!.err!.message).toMatch(/^the careless hook failed: a fault of the code/)
  expect(ofHook()).toMatchObject({ hook: 'the careless hook', msg: 'a hook failed', requestId: 'request-5' })
})

rule('project-code.4', 'a thrown value that is not an error is a failure', async () => {
  const { status, requestId } = await create('before value')
  expect(status).toBe(500)
  const [line] = await errorsOf(requestId)
  expect(line!.err!.message).toBe("the careless hook threw a value that is not an error: { not: 'an error' }")
})

rule('project-code.2', 'an unhandled rejection is logged with its code and its request, and nothing ends', async () => {
  const named = 'unhandled promise rejection in the careless hook'
  for (const [name, type, message] of [
    ['before later', 'cities', named],
    ['after much later', 'tags', named],
    ['before service', 'cities', named],
  ] as const) {
    const { status, requestId, text } = await create(name, type)
    expect(status, text).toBe(201)
    expect(await errorsOf(requestId)).toMatchObject([{ level: 50, msg: message }])
  }
  for (const [parameter, code] of [
    ['policy', 'the policy find of api::tag.tag'],
    ['reads', 'the hook before reads of api::tag.tag'],
    ['after', 'the hook after reads of api::tag.tag'],
  ] as const) {
    const { status, requestId } = await request('GET', `/api/tags?${parameter}=much%20later`)
    expect(status).toBe(200)
    expect(await errorsOf(requestId)).toMatchObject([{ msg: `unhandled promise rejection in ${code}` }])
  }
  expect((await create('listener later')).status).toBe(201)
  await expect.poll(() => lines().some(({ msg }) => msg === 'unhandled promise rejection in careless'), patience).toBe(true)
  expect((await fetch(`${await child.origin}/_health`)).status).toBe(204)
  expect(child.process.exitCode).toBeNull()
})

rule('project-code.3', 'an exception of a timer ends the process, after the responses to earlier requests', async () => {
  const under = Array.from({ length: 5 }, () => request('GET', '/api/articles?populate=*'))
  const { status, requestId } = await create('before timer')
  expect(status).toBe(201)
  expect(await Promise.all(under.map(async (one) => (await one).status))).toEqual([200, 200, 200, 200, 200])
  expect(await child.ended).toMatchObject({ code: 1 })
  const fatal = lines().filter(({ level }) => level === 60)
  expect(fatal).toMatchObject([
    { requestId, msg: 'uncaught exception in the careless hook; the service stops', err: { message: 'thrown by a timer' } },
  ])
})
