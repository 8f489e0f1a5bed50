// `octavo compare --proxy`: what passes through it is unchanged and not delayed, and Octavo gets reads only.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse, request as send } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { project, root } from '../start/command.js'
import type { Report } from './compared.js'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

async function serve(handler: Handler): Promise<{ readonly origin: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    if (request.url === '/_health') response.writeHead(204).end()
    else if (request.url!.includes('/content-type-builder/')) response.writeHead(403).end()
    else handler(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

interface Proxy {
  readonly origin: string
  /** Ends it as Ctrl+C does, and resolves to its report. */
  end(): Promise<Report>
  /** What it said so far. */
  said(): string
}

async function proxy(strapi: string, octavo: string, ...words: string[]): Promise<Proxy> {
  const command = [
    join(root, 'dist', 'main.js'),
    'compare',
    strapi,
    octavo,
    '--proxy',
    '0',
    '--json',
    '--rate',
    '10000',
    '--project',
    '/tmp',
    ...words,
  ]
  const child: ChildProcess = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] })
  open.push(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr!.on('data', (bytes) => {
    said += bytes
  })
  const out = text(child.stdout!)
  while (!/from (http:\S+),/.test(said)) {
    if (child.exitCode !== null) throw new Error(said)
    await once(child.stderr!, 'data')
  }
  const [, origin] = /from (http:\S+),/.exec(said)!
  return {
    origin: origin!,
    said: () => said,
    async end() {
      child.kill('SIGINT')
      const [status] = await once(child, 'close')
      return { ...(JSON.parse(await out) as Report), status, err: said }
    },
  }
}

const json = (response: ServerResponse, body: unknown, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))

const list = (name: string) => ({ data: [{ id: 1, documentId: 'a', name }], meta: {} })

test('reads are compared in the background, by the callers that made them; writes and what changes something never reach Octavo', async () => {
  const got: string[] = []
  const theirs = await serve((request, response) => {
    request.resume()
    json(response, list('Strapi'), request.method === 'POST' ? 201 : 200)
  })
  const ours = await serve((request, response) => {
    got.push(`${request.method} ${request.url} ${request.headers.authorization} ${request.headers['x-http-method-override']}`)
    json(response, list(request.url!.includes('same') ? 'Strapi' : 'Octavo'))
  })
  const record = join(project({}), 'recorded.jsonl')
  const through = await proxy(theirs.origin, ours.origin, '--as', 'site=a-known-token', '--record', record)
  const ask = async (path: string, options: RequestInit = {}) => (await fetch(through.origin + path, options)).json()
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}`, 'x-http-method-override': 'DELETE' } })
  expect(await ask('/api/tags?same', bearer('a-known-token'))).toEqual(list('Strapi'))
  expect(await ask('/api/tags', bearer('an-unknown-token'))).toEqual(list('Strapi'))
  await ask('/api/tags')
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH'])
    expect(await ask('/api/tags', { method, body: method === 'DELETE' ? null : '{}' })).toEqual(list('Strapi'))
  for (const path of [
    '/admin/init',
    '/api/auth/email-confirmation?confirmation=x',
    '/api/%61uth/email-confirmation?x',
    '/api/connect/github',
  ])
    await ask(path)
  const found = await through.end()
  expect(got.sort()).toEqual([
    'GET /api/tags Bearer an-unknown-token undefined',
    'GET /api/tags undefined undefined',
    'GET /api/tags?same Bearer a-known-token undefined',
  ])
  expect(found).toMatchObject({ same: 1, different: 2, status: 1 })
  expect(found.groups[0]!.examples.map(({ path, as }) => [path, as]).sort()).toEqual([
    ['/api/tags', 'caller-1'],
    ['/api/tags', 'public'],
  ])
  expect(through.said()).toContain('Values differ: GET /api/tags')
  const recorded = readFileSync(record, 'utf8')
  expect(
    recorded
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).as)
      .sort(),
  ).toEqual(['caller-1', 'public', 'site'])
  for (const secret of ['a-known-token', 'an-unknown-token']) expect(recorded + found.err + JSON.stringify(found)).not.toContain(secret)
})

test('status, headers and bodies pass unchanged: repeated headers, large bodies both ways, HEAD, no body at all', async () => {
  const bytes = randomBytes(5_000_000)
  const theirs = await serve(async (request, response) => {
    if (request.url === '/empty')
      return void response.writeHead(204, 'Nothing', ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Odd', 'ä']).end()
    if (request.method === 'HEAD') return void response.writeHead(200, { 'content-length': '123' }).end()
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const seen = Object.fromEntries(
      ['host', 'content-type', 'cookie', 'x-forwarded-for', 'content-length'].map((name) => [name, request.headers[name]]),
    )
    response.writeHead(201, { 'x-seen': JSON.stringify(seen) })
    response.end(Buffer.concat(chunks))
  })
  const ours = await serve((_, response) => json(response, {}))
  const through = await proxy(theirs.origin, ours.origin)
  const empty = await fetch(`${through.origin}/empty`)
  expect([empty.status, empty.statusText, empty.headers.getSetCookie(), empty.headers.get('x-odd')]).toEqual([
    204,
    'Nothing',
    ['a=1', 'b=2'],
    'ä',
  ])
  const head = await fetch(`${through.origin}/api/tags`, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-length')]).toEqual([200, '123'])
  const host = new URL(through.origin).host
  for (const [headers, duplex] of [
    [{ 'content-length': String(bytes.length) }, {}],
    [{}, { duplex: 'half' }],
  ] as const) {
    const sent = send(`${through.origin}/api/upload`, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=x', cookie: 'c=d', ...headers },
    })
    sent.end(bytes)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk)
    expect(answer.statusCode).toBe(201)
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true)
    const seen = JSON.parse(answer.headers['x-seen'] as string)
    expect(seen).toMatchObject({ host, cookie: 'c=d', 'content-type': 'multipart/form-data; boundary=x', 'x-forwarded-for': '127.0.0.1' })
    if (!('duplex' in duplex)) expect(seen['content-length']).toBe(String(bytes.length))
  }
})

test('a response is streamed as it comes, and an upgrade becomes a connection', async () => {
  const waiting: ServerResponse[] = []
  const theirs = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    response.write('first ')
    waiting.push(response)
  })
  theirs.server.on('upgrade', (request: IncomingMessage, socket, head) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\n`)
    socket.write(head)
    socket.pipe(socket)
  })
  const ours = await serve((_, response) => json(response, {}))
  const through = await proxy(theirs.origin, ours.origin)
  const answer = await fetch(`${through.origin}/api/slow`)
  const reader = answer.body!.getReader()
  expect(Buffer.from((await reader.read()).value!).toString()).toBe('first ')
  waiting[0]!.end('last')
  expect(Buffer.from((await reader.read()).value!).toString()).toBe('last')
  const socket = connect(Number(new URL(through.origin).port), '127.0.0.1')
  open.push(() => socket.destroy())
  socket.write('GET /socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello')
  let said = ''
  while (!said.endsWith('hello')) said += String((await once(socket, 'data'))[0])
  expect(said).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n[\s\S]*Upgrade: echo\r\n/)
})

test('an Octavo that does not respond delays nothing; what cannot wait is dropped and counted', async () => {
  const theirs = await serve((_, response) => json(response, list('Strapi')))
  const ours = await serve(() => {})
  const through = await proxy(theirs.origin, ours.origin, '--timeout', '600000', '--concurrency', '1')
  for (let round = 0; round < 26; round++) {
    const answers = await Promise.all(Array.from({ length: 25 }, async () => (await fetch(`${through.origin}/api/tags`)).json()))
    for (const answer of answers) expect(answer).toEqual(list('Strapi'))
  }
  const { leftOut, same, different } = await through.end()
  expect([same, different]).toEqual([0, 0])
  const { 'the queue was full': dropped = 0, 'not compared before the end': waiting = 0 } = leftOut
  expect([dropped, waiting]).toEqual([650 - 501, 500])
})

test('without Strapi the answer is 502, and a client that leaves ends its request to Strapi', async () => {
  let closed: () => void = () => {}
  const gone = new Promise<void>((resolve) => {
    closed = resolve
  })
  const theirs = await serve((request) => {
    request.socket.once('close', () => closed())
  })
  const ours = await serve((_, response) => json(response, {}))
  const through = await proxy(theirs.origin, ours.origin)
  const left = send(`${through.origin}/api/slow`).on('error', () => {})
  left.end()
  await once(theirs.server, 'request')
  left.destroy()
  await gone
  theirs.server.close()
  theirs.server.closeAllConnections()
  const answer = await fetch(`${through.origin}/api/tags`)
  expect([answer.status, await answer.text()]).toEqual([502, 'Strapi cannot be reached.\n'])
})
