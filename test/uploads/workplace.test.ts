// Several processes share a folder of uploads: uploads in progress belong to their process as long as it lives, paused or not, and
// regardless of clocks; a process that lost its work folder creates it again (R35, R48).
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Child, copyGolden, remove, start } from '../faults/child.js'
import { rule } from '../support/rule.js'
import { until } from '../support/until.js'
import { formOf, tokens } from './sending.js'

let folder: string
let children: Child[]
const workplaces = () => join(folder, 'uploads', '.octavo')
beforeEach(async () => {
  folder = await copyGolden()
  children = []
})
afterEach(async () => {
  for (const child of children) {
    child.process.kill('SIGKILL')
    await child.ended
  }
  await remove(folder)
})

async function run(environment: Readonly<Record<string, string>> = {}): Promise<{ readonly child: Child; readonly origin: string }> {
  const child = start(folder, { OCTAVO_DATABASE_READER_THREADS: '1', LOG_LEVEL: 'error', ...environment })
  children.push(child)
  return { child, origin: await child.origin }
}

/** A process whose clock is an hour ahead. */
function ahead(): Readonly<Record<string, string>> {
  const path = join(folder, 'ahead.mjs')
  writeFileSync(path, 'const now = Date.now; Date.now = () => now() + 3_600_000')
  return { NODE_OPTIONS: `--import ${path}` }
}

/** Apparent age of fresh files for a process whose clock is ahead. */
const age = () => {
  for (const place of readdirSync(workplaces())) utimesSync(join(workplaces(), place), 1, 1)
}

const upload = async (origin: string, query = ''): Promise<number> => {
  const body = formOf([['files', Buffer.from('some text'), 'text.txt']])
  return (await fetch(`${origin}/api/upload${query}`, { method: 'POST', headers: { authorization: `Bearer ${tokens.full}` }, body })).status
}

/** An upload that has sent only its first half so far. */
async function halfUpload(origin: string): Promise<{ readonly sending: ClientRequest; readonly end: () => Promise<IncomingMessage> }> {
  const form = Buffer.from(await new Response(formOf([['files', Buffer.alloc(400_000, 'x'), 'large.txt']])).arrayBuffer())
  const boundary = form.subarray(2, form.indexOf('\r\n')).toString()
  const headers = {
    authorization: `Bearer ${tokens.full}`,
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': form.length,
  }
  const sending = request(`${origin}/api/upload`, { method: 'POST', headers })
  const response = once(sending, 'response') as Promise<[IncomingMessage]>
  // There is none if the process is killed.
  response.catch(() => {})
  sending.write(form.subarray(0, form.length / 2))
  const isUnderWay = () => readdirSync(workplaces(), { recursive: true, encoding: 'utf8' }).some((name) => name.endsWith('original'))
  await until('the upload is being processed', isUnderWay)
  return {
    sending,
    end: async () => {
      sending.end(form.subarray(form.length / 2))
      return (await response)[0]
    },
  }
}

rule('uploads.12', 'a process that was paused for long uploads at once when it goes on', async () => {
  const first = await run()
  expect(await upload(first.origin)).toBe(201)
  const half = await halfUpload(first.origin)
  first.child.process.kill('SIGSTOP')
  age()
  const second = await run()
  expect(await upload(second.origin)).toBe(201)
  first.child.process.kill('SIGCONT')
  const response = await half.end()
  expect([response.statusCode, await text(response)]).toEqual([201, expect.any(String)])
  expect(await upload(first.origin)).toBe(201)
})

rule('uploads.12', 'the clock of a neighbour takes nothing from anybody', async () => {
  const first = await run()
  const half = await halfUpload(first.origin)
  age()
  const second = await run(ahead())
  const other = await halfUpload(second.origin)
  age()
  const third = await run()
  for (const { origin } of [first, second, third]) expect(await upload(origin)).toBe(201)
  for (const { end } of [half, other]) expect((await end()).statusCode).toBe(201)
  for (const { origin } of [first, second, third]) expect(await upload(origin)).toBe(201)
})

test('a process whose work folder is gone creates another at once, and no other process takes it', async () => {
  const { origin } = await run()
  for (const gone of [join(workplaces(), readdirSync(workplaces())[0]!), workplaces()]) {
    rmSync(gone, { recursive: true })
    expect(await Promise.all(Array.from({ length: 8 }, () => upload(origin)))).toEqual(Array.from({ length: 8 }, () => 201))
    age()
    const other = await run()
    expect(await upload(other.origin)).toBe(201)
    expect(await upload(origin)).toBe(201)
    other.child.signal('SIGTERM')
    await other.child.ended
  }
})

test('a missing folder of uploads is not recreated', async () => {
  const { origin } = await run()
  rmSync(join(folder, 'uploads'), { recursive: true })
  expect(await upload(origin)).toBe(503)
  expect(existsSync(join(folder, 'uploads'))).toBe(false)
  mkdirSync(join(folder, 'uploads'))
  expect(await upload(origin)).toBe(201)
})

rule('uploads.12', 'the next process removes the remains of a killed one at once', async () => {
  const first = await run()
  const { sending } = await halfUpload(first.origin)
  sending.on('error', () => {})
  first.child.process.kill('SIGKILL')
  await first.child.ended
  expect(readdirSync(workplaces(), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('original'))).toHaveLength(1)
  await run()
  expect(readdirSync(workplaces(), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('original'))).toEqual([])
  expect(readdirSync(workplaces())).toHaveLength(1)
})
