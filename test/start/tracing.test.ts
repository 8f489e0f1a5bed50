// Traces of a real process, collected by a real SDK that is loaded ahead of the service.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { type Child, copyGolden, remove, start } from '../faults/child.js'
import { rule } from '../support/rule.js'
import { goldenTokens, requestAt, type TestResponse } from '../support/serve.js'
import { runStatement } from '../support/statements.js'
import { patience } from '../support/until.js'
import { headerOf, insertWebhook, openReceiver, type Receiver } from '../webhooks/receiver.js'
import { root } from './command.js'

/** A span as the SDK exports it. */
interface Exported {
  readonly name: string
  /** 0: internal, 1: server, 2: client. */
  readonly kind: number
  readonly trace: string
  readonly id: string
  readonly parent?: string
  readonly attributes: Readonly<Record<string, string | number>>
  readonly failed: boolean
}

const token = goldenTokens().full!
const traceId = 'af7651916cd43dd8448eb211c80319c1'
const parentId = 'b7ad6b7169203331'

/** Registers an SDK that writes each span to a file. */
const collector = (file: string) => `
const load = require('node:module').createRequire(${JSON.stringify(join(root, 'package.json'))})
const { NodeTracerProvider, SimpleSpanProcessor } = load('@opentelemetry/sdk-trace-node')
const { appendFileSync } = require('node:fs')
const { isMainThread } = require('node:worker_threads')
const line = (span) => {
  const { name, kind, attributes, status, parentSpanContext } = span
  const { traceId, spanId } = span.spanContext()
  return JSON.stringify({ name, kind, attributes, failed: status.code === 2, parent: parentSpanContext?.spanId, trace: traceId, id: spanId }) + '\\n'
}
const exporter = {
  export: (spans, done) => { for (const span of spans) appendFileSync(${JSON.stringify(file)}, line(span)); done({ code: 0 }) },
  shutdown: async () => {},
}
if (isMainThread) new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register()
`

let place: string
let folder: string
let child: Child
let receiver: Receiver
let origin: string
beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'octavo-traces-'))
  writeFileSync(join(place, 'otel.cjs'), collector(join(place, 'spans.jsonl')))
  receiver = await openReceiver()
  folder = await copyGolden({ webhooks: { allowPrivateAddresses: ['127.0.0.1'] } })
  child = start(folder, { NODE_OPTIONS: `--require ${join(place, 'otel.cjs')}`, OCTAVO_TRUST_PROXY: '1' })
  origin = await child.origin
})
afterAll(async () => {
  child?.process.kill('SIGKILL')
  await child?.ended
  await receiver?.close()
  await remove(folder)
  rmSync(place, { recursive: true, force: true })
})

const spans = (): readonly Exported[] => {
  const file = join(place, 'spans.jsonl')
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as Exported)
}
const logged = (): readonly Readonly<Record<string, unknown>>[] =>
  child
    .output()
    .split('\n')
    .filter((line) => line.includes('"msg":"request"'))
    .map((line) => JSON.parse(line))

/** Asks, and resolves to the spans of that request once its own has ended. */
async function traced(
  path: string,
  headers: Record<string, string> = {},
  more: object = {},
): Promise<readonly [TestResponse, readonly Exported[]]> {
  const before = new Set(spans().map(({ id }) => id))
  const answer = await requestAt(origin, path, { headers, token, ...more })
  return vi.waitFor(() => {
    const found = spans().filter(({ id }) => !before.has(id))
    const own = found.find(({ kind }) => kind === 1)
    expect(own).toBeDefined()
    return [answer, found.filter(({ trace }) => trace === own!.trace)]
  }, patience)
}

rule('operations.18', 'a request is a span with its parts below it, and a write has its transaction', async () => {
  const [answer, found] = await traced('/api/articles?filters[title][$contains]=Unheard-of&populate=author')
  expect(answer.status).toBe(200)
  const server = found.find(({ kind }) => kind === 1)!
  expect(server).toMatchObject({ name: 'GET /api/articles', failed: false })
  expect(server.parent).toBeUndefined()
  expect(server.attributes).toEqual({
    'http.request.method': 'GET',
    'http.route': '/api/articles',
    'http.response.status_code': 200,
    'url.scheme': 'http',
    'network.protocol.version': '1.1',
    'octavo.type': 'api::article.article',
  })
  for (const name of ['auth', 'plan', 'db query']) expect(found.map((span) => span.name)).toContain(name)
  const query = found.find(({ name, attributes }) => name === 'db query' && attributes['octavo.purpose'] === 'read')!
  expect(query).toMatchObject({ kind: 2, parent: server.id, trace: server.trace })
  expect(query.attributes['db.query.text']).toMatch(/^select /i)
  expect(query.attributes['db.operation.name']).toBe('SELECT')
  expect(query.attributes['db.system.name']).toMatch(/^(sqlite|postgresql|mysql)$/)

  const body = JSON.stringify({ data: { name: 'Unheard-of' } })
  const [written, ofWrite] = await traced('/api/tags', { 'content-type': 'application/json' }, { method: 'POST', body })
  expect(written.status).toBe(201)
  expect(ofWrite.find(({ name }) => name === 'db transaction')?.attributes['octavo.purpose']).toBe('write')
  const [unknown, ofUnknown] = await traced('/somewhere/Unheard-of', {}, { method: 'PROPFIND' })
  expect(unknown.status).toBeGreaterThanOrEqual(400)
  expect(ofUnknown.find(({ kind }) => kind === 1)?.name).toBe('_OTHER (none)')
  // No value of a request, and no token, is anywhere.
  expect(readFileSync(join(place, 'spans.jsonl'), 'utf8')).not.toMatch(new RegExp(`unheard|${token}`, 'i'))
})

rule(
  'operations.19',
  'a request continues the trace of its traceparent, a malformed one is ignored, and the log has both ids',
  async () => {
    const [, found] = await traced('/api/tags', { traceparent: `00-${traceId}-${parentId}-01`, tracestate: 'vendor=1' })
    const server = found.find(({ kind }) => kind === 1)!
    expect(server).toMatchObject({ trace: traceId, parent: parentId })
    await vi.waitFor(() => expect(logged().at(-1)).toMatchObject({ trace_id: traceId, span_id: server.id }), patience)
    for (const traceparent of [
      `00-${traceId}-${parentId}`,
      `00-${'0'.repeat(32)}-${parentId}-01`,
      'nonsense',
      `ff-${traceId}-${parentId}-01`,
    ]) {
      const [answer, own] = await traced('/api/tags?x=1', { traceparent })
      expect([answer.status, own.find(({ kind }) => kind === 1)!.parent], traceparent).toEqual([200, undefined])
      expect(own[0]!.trace).not.toBe(traceId)
    }
    // Requests that the sender does not sample have no spans, but their ids in the log.
    await requestAt(origin, '/api/tags', { headers: { traceparent: `00-${'a'.repeat(32)}-${parentId}-00` }, token })
    await vi.waitFor(() => expect(logged().at(-1)).toMatchObject({ trace_id: 'a'.repeat(32) }), patience)
    expect(spans().some(({ trace }) => trace === 'a'.repeat(32))).toBe(false)
  },
)

rule('operations.18', 'the scheme of a span is http or https, with any header of a proxy', async () => {
  for (const [sent, scheme] of [
    ['https', 'https'],
    ['http', 'http'],
    ['Unheard-of', 'http'],
  ] as const) {
    const [answer, found] = await traced('/api/articles', { 'x-forwarded-proto': sent })
    expect(answer.status).toBe(200)
    expect(found.find(({ kind }) => kind === 1)!.attributes['url.scheme']).toBe(scheme)
  }
})

rule('operations.20', 'a delivery to a webhook is a separate trace, which the receiver can continue', async () => {
  const env = join(folder, '.env')
  const [, url] = /^DATABASE_URL=(.*)$/m.exec(existsSync(env) ? readFileSync(env, 'utf8') : '') ?? []
  const sql = (text: string, ...values: (string | number)[]) => runStatement(url ?? join(folder, '.tmp', 'data.db'), text, values)
  await insertWebhook(sql, { name: 'receiver', url: receiver.origin, events: ['entry.create'], headers: { traceparent: 'own' } })
  await vi.waitFor(async () => {
    const body = JSON.stringify({ data: { name: 'for a webhook' } })
    await requestAt(origin, '/api/tags', { method: 'POST', token, headers: { 'content-type': 'application/json' }, body })
    expect(receiver.received.length).toBeGreaterThan(0)
  }, patience)
  const sent = headerOf(receiver.received[0]!, 'traceparent')!
  const span = await vi.waitFor(() => {
    const [, trace, id] = sent.split('-')
    const found = spans().find((one) => one.trace === trace && one.id === id)
    expect(found).toBeDefined()
    return found!
  }, patience)
  expect(span).toMatchObject({ name: 'POST webhook', kind: 2, failed: false })
  expect(span.parent).toBeUndefined()
  expect(span.attributes).toMatchObject({ 'http.response.status_code': 200, 'octavo.event': 'entry.create' })
})

rule(
  'operations.18',
  'without an SDK there are no traces and no ids in the log; a setting that wants some is warned of, one that wants none holds',
  async () => {
    const own = await copyGolden()
    try {
      for (const [environment, isWarned] of [
        [{}, false],
        [{ OCTAVO_TRACING: 'true' }, true],
        [{ OCTAVO_TRACING: 'false', NODE_OPTIONS: `--require ${join(place, 'otel.cjs')}` }, false],
      ] as const) {
        const before = spans().length
        const plain = start(own, environment)
        const at = await plain.origin
        const traceparent = `00-${'b'.repeat(32)}-${parentId}-01`
        expect((await requestAt(at, '/api/tags', { headers: { traceparent }, token })).status).toBe(200)
        plain.signal('SIGTERM')
        await plain.ended
        expect(plain.output()).toContain('"msg":"request"')
        expect(plain.output()).not.toMatch(/"span_id"/)
        expect(plain.output().includes('there are no traces')).toBe(isWarned)
        expect(spans().some(({ trace }) => trace === 'b'.repeat(32))).toBe(false)
        expect(spans().length).toBe(before)
      }
    } finally {
      await remove(own)
    }
  },
)
