// The metrics of a real service, scraped over HTTP: they count completed work, and their labels stay few for any requests.
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { isOnPostgres, isOnServer } from '../support/databases.js'
import { managed, requestManagement, type Sample, scrape, sumOf } from '../support/management.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'
import { patience } from '../support/until.js'
import { insertWebhook, openReceiver } from '../webhooks/receiver.js'
import { openStream } from '../webhooks/stream.js'
import { access, contentType, plain, reading, seeded } from './library.js'

const token = 'a token that nobody guesses'
const project = {
  ...contentType('note', { name: { type: 'string', required: true }, code: { type: 'string', unique: true } }),
  ...seeded('note', plain({ first: { name: 'first' } })),
  ...access([
    ...reading('note'),
    'api::note.note.create',
    'api::note.note.delete',
    'plugin::upload.content-api.upload',
    'plugin::users-permissions.auth.callback',
  ]),
}

let served: Served
/** Called with each event; the first of them is received when this is fulfilled. */
let receive: () => void = () => {}
const received = new Promise<void>((resolve) => {
  receive = resolve
})
beforeAll(async () => {
  served = await serveProject(project, {
    config: {
      ...managed,
      events: { stream: true },
      limits: { authRateLimit: 3, bodyBytes: 2_000, queryComplexity: 20, requestTimeout: 3_000 },
    },
    code: { listeners: [() => received] },
  })
})
afterAll(async () => {
  receive()
  await served.close()
})

const send = (path: string, value: unknown, method = 'POST'): Promise<TestResponse> =>
  served.request(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) })

const requests = (samples: readonly Sample[], labels: Readonly<Record<string, string>>): number =>
  sumOf(samples, 'http_server_request_duration_seconds_count', labels) ?? 0

rule('operations.7', 'GET /metrics is in the format of Prometheus, and with a token only for those who have it', async () => {
  const open = await requestManagement(served, '/metrics')
  expect(open.status).toBe(200)
  expect(open.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(open.text).toMatch(/^# TYPE process_cpu_seconds_total counter$/m)
  const samples = await scrape(served)
  expect(samples.find(({ name }) => name === 'octavo_build_info')).toMatchObject({
    labels: { version: expect.stringMatching(/^\d+\.\d+\.\d+/), node: process.versions.node },
    value: 1,
  })
  for (const name of ['process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds', 'nodejs_heap_size_used_bytes'])
    expect(sumOf(samples, name), name).toBeGreaterThanOrEqual(0)
  const closed = await serveProject(project, { environment: { OCTAVO_MANAGEMENT_PORT: '0', OCTAVO_MANAGEMENT_TOKEN: token } })
  for (const asked of [{}, { token: 'another' }, { headers: { authorization: `Basic ${token}` } }]) {
    const { status, headers, text } = await requestManagement(closed, '/metrics', asked)
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect(text).not.toContain('octavo_')
  }
  expect((await requestManagement(closed, '/metrics', { token })).status).toBe(200)
  expect((await requestManagement(closed, '/ready')).status).toBe(200)
  await closed.close()
  const weak = serveProject(project, { environment: { OCTAVO_MANAGEMENT_PORT: '0', OCTAVO_MANAGEMENT_TOKEN: 'aaaa' } })
  await expect(weak).rejects.toThrow(/OCTAVO_MANAGEMENT_TOKEN is too weak/)
})

rule('operations.9', 'metrics count completed work, and nothing that was refused', async () => {
  const before = await scrape(served)
  const difference = async (name: string, labels: Readonly<Record<string, string>>) =>
    (sumOf(await scrape(served), name, labels) ?? 0) - (sumOf(before, name, labels) ?? 0)
  const notes = { http_route: '/api/notes' }

  await Promise.all(Array.from({ length: 5 }, () => served.request('/api/notes')))
  const { body } = await send('/api/notes', { data: { name: 'second' } })
  expect((await send('/api/notes', { data: {} })).status).toBe(400)
  expect((await served.request(`/api/notes/${body.data.documentId}`)).status).toBe(200)
  expect((await served.request('/_health')).status).toBe(204)
  const form = new FormData()
  form.append('files', new Blob(['x'.repeat(1_234)], { type: 'text/plain' }), 'a.txt')
  expect((await served.request('/api/upload', { method: 'POST', body: form })).status).toBe(201)
  expect(await difference('octavo_image_processing_duration_seconds_count', {})).toBe(0)
  // The response arrives shortly before its connection is counted.
  await vi.waitFor(async () => expect(requests(await scrape(served), { http_route: '/api/upload' })).toBe(1), patience)

  const scraped = await scrape(served)
  expect(requests(scraped, { ...notes, http_request_method: 'GET', http_response_status_code: '200' })).toBe(5)
  expect(requests(scraped, { ...notes, http_request_method: 'POST', http_response_status_code: '201' })).toBe(1)
  expect(requests(scraped, { ...notes, http_request_method: 'POST', http_response_status_code: '400' })).toBe(1)
  expect(requests(scraped, { http_route: '/api/notes/:documentId' })).toBe(1)
  expect(requests(scraped, { http_route: '/_health' })).toBe(0)
  expect(sumOf(scraped, 'http_server_active_requests')).toBe(0)
  expect(await difference('http_server_response_body_size_bytes_sum', { ...notes, http_request_method: 'GET' })).toBeGreaterThan(500)
  expect(await difference('http_server_request_body_size_bytes_sum', notes)).toBe(JSON.stringify({ data: { name: 'second' } }).length + 11)
  expect(await difference('octavo_documents_written_total', {})).toBe(1)
  expect(await difference('octavo_documents_written_total', { type: 'api::note.note', action: 'create' })).toBe(1)
  expect(await difference('octavo_uploads_total', { result: 'success' })).toBe(1)
  expect(await difference('octavo_uploads_bytes_total', {})).toBe(1_234)
  for (const octavo_purpose of ['read', 'write', 'uploads'])
    expect(await difference('db_client_operation_duration_seconds_count', { octavo_purpose }), octavo_purpose).toBeGreaterThan(0)
  for (const db_operation_name of ['SELECT', 'transaction'])
    expect(await difference('db_client_operation_duration_seconds_count', { db_operation_name }), db_operation_name).toBeGreaterThan(0)
  expect(sumOf(scraped, 'octavo_schema_version')).toBe(0)
  expect(sumOf(scraped, 'octavo_schema_load_duration_seconds')).toBeGreaterThan(0)
  expect(sumOf(scraped, 'octavo_ready')).toBe(1)
  // The listener has received none of the events: the document, and the file.
  expect(sumOf(scraped, 'octavo_outbox_pending')).toBe(2)
  expect(sumOf(scraped, 'octavo_outbox_oldest_age_seconds')).toBeGreaterThan(0)
  if (isOnServer) {
    expect(sumOf(scraped, 'db_client_connection_max')).toBeGreaterThan(2)
    expect(sumOf(scraped, 'db_client_connection_count')).toBeGreaterThan(0)
    expect(sumOf(scraped, 'db_client_connection_wait_time_seconds_count', { pool: 'read' })).toBeGreaterThan(0)
    expect(sumOf(scraped, 'octavo_db_transactions_retried_total')).not.toBeNull()
  } else expect(sumOf(scraped, 'octavo_sqlite_wal_bytes')).toBeGreaterThan(0)
  receive()
  await vi.waitFor(async () => expect(sumOf(await scrape(served), 'octavo_outbox_pending')).toBe(0), patience)
})

rule('operations.7', 'a management port that other machines can reach without a token is warned of once', async () => {
  const warnings = async (management: { readonly host: string; readonly token?: string }): Promise<number> => {
    const open = await serveProject(project, { config: { management: { port: 0, ...management } } })
    await open.close()
    return open.log.filter((line) => line.includes('other machines can read /metrics')).length
  }
  expect(await warnings({ host: '0.0.0.0' })).toBe(1)
  expect(await warnings({ host: '0.0.0.0', token })).toBe(0)
  expect(await warnings({ host: '127.0.0.1' })).toBe(0)
})

rule('operations.9', 'bytes of bodies are counted as received, regardless of the headers', async () => {
  const route = { http_route: '/api/notes', http_request_method: 'POST' }
  const received = async () => sumOf(await scrape(served), 'http_server_request_body_size_bytes_sum', route) ?? 0
  const before = await received()
  const count = requests(await scrape(served), route)
  const { port } = new URL(served.origin)
  const head = 'POST /api/notes HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(`${head}Content-Length: 1900\r\n\r\n{"data":`)
  await vi.waitFor(async () => expect(sumOf(await scrape(served), 'http_server_active_requests')).toBe(1), patience)
  socket.destroy()
  const chunked = connect(Number(port), '127.0.0.1')
  chunked.write(`${head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\n\r\n`)
  await once(chunked.resume(), 'close')
  await vi.waitFor(async () => expect(requests(await scrape(served), route) - count).toBe(2), patience)
  expect((await received()) - before).toBe('{"data":'.length + '{}'.length)
})

rule('operations.9', 'event streams are counted apart from durations, and a response to HEAD has no bytes', async () => {
  const before = await scrape(served)
  const stream = await openStream(`${served.origin}/api/events`)
  expect(stream.status).toBe(200)
  expect((await served.request('/api/events?events=unheard-of')).status).toBe(400)
  expect((await served.request('/api/notes', { method: 'HEAD' })).status).toBe(200)
  stream.close()
  await vi.waitFor(async () => {
    const scraped = await scrape(served)
    const difference = (name: string, labels: Readonly<Record<string, string>>) =>
      (sumOf(scraped, name, labels) ?? 0) - (sumOf(before, name, labels) ?? 0)
    const [streams, heads] = [{ http_route: '/api/events' }, { http_route: '/api/notes', http_request_method: 'HEAD' }]
    expect(difference('octavo_event_streams_total', streams)).toBe(1)
    expect(difference('http_server_request_duration_seconds_count', streams)).toBe(1)
    expect(difference('http_server_request_duration_seconds_count', { ...streams, http_response_status_code: '400' })).toBe(1)
    expect(difference('http_server_request_duration_seconds_count', heads)).toBe(1)
    expect(difference('http_server_response_body_size_bytes_sum', heads)).toBe(0)
    expect(sumOf(scraped, 'http_server_active_requests')).toBe(0)
  }, patience)
})

rule('operations.15', 'reads are counted by cache hits of results and plans, and 304s', async () => {
  // Right after a write the commits may not be known in time.
  await vi.waitFor(async () => {
    const hits = async () => sumOf(await scrape(served), 'octavo_cache_requests_total', { result: 'hit' }) ?? 0
    const earlier = await hits()
    for (const _ of [1, 2]) await served.request('/api/notes')
    if (!isOnServer) expect(await hits()).toBeGreaterThan(earlier)
  }, patience)
  const before = await scrape(served)
  const difference = async (name: string, result: string) =>
    (sumOf(await scrape(served), name, { result }) ?? 0) - (sumOf(before, name, { result }) ?? 0)
  const path = '/api/notes?filters[name][$eq]=counted'
  const first = await served.request(path)
  expect(first.status).toBe(200)
  expect((await served.request(path)).status).toBe(200)
  const known = await served.request(path, { headers: { 'if-none-match': first.headers.get('etag')! } })
  expect(known.status).toBe(304)
  expect((await served.request(path.replace('counted', 'other'))).status).toBe(200)
  expect(await difference('octavo_cache_requests_total', 'not_modified')).toBe(1)
  expect(await difference('octavo_plan_cache_requests_total', 'miss')).toBe(1)
  expect(await difference('octavo_plan_cache_requests_total', 'hit')).toBe(3)
  const scraped = await scrape(served)
  expect(sumOf(scraped, 'octavo_plan_cache_entries')).toBeGreaterThan(0)
  if (isOnPostgres) expect(sumOf(scraped, 'octavo_cache_validation_duration_seconds_count')).toBeGreaterThan(0)
  // The response cache needs to know of all commits, which not every database reports in time.
  if (isOnServer) return
  expect(await difference('octavo_cache_requests_total', 'hit')).toBe(2)
  expect(await difference('octavo_cache_requests_total', 'miss')).toBe(2)
  // Two reads were executed, each with a statement for the documents and one for their total.
  const nodes = (counted: string) =>
    (sumOf(scraped, `octavo_plan_nodes_${counted}`) ?? 0) - (sumOf(before, `octavo_plan_nodes_${counted}`) ?? 0)
  expect([nodes('count'), nodes('sum')]).toEqual([2, 4])
  expect(sumOf(scraped, 'octavo_cache_entries')).toBeGreaterThanOrEqual(2)
  expect(sumOf(scraped, 'octavo_cache_bytes')).toBeGreaterThan(2 * Number(first.headers.get('content-length')))
  // Values that are too long for a key.
  const long = `/api/notes?${Array.from({ length: 3 }, () => `filters[$or][][name][$eq]=${'x'.repeat(1_500)}`).join('&')}`
  expect((await served.request(long)).status).toBe(200)
  expect(await difference('octavo_cache_requests_total', 'bypass')).toBe(1)
  const small = await serveProject(project, { config: { ...managed, limits: { cacheBytes: 64_000 } } })
  for (let index = 0; index < 400; index++) await small.request(`/api/notes?filters[name][$ne]=${index % 200}`)
  const full = await scrape(small)
  expect(sumOf(full, 'octavo_cache_evictions_total')).toBeGreaterThan(0)
  expect(sumOf(full, 'octavo_cache_bytes')).toBeLessThanOrEqual(64_000)
  await small.close()
})

rule('operations.16', 'failures of the database are counted by class, refusals are not; attempts of webhooks by result', async () => {
  const receiver = await openReceiver()
  const statuses = [500, 200, 410]
  receiver.respond = (_received, response) => void response.writeHead(statuses.shift() ?? 200).end()
  const own = await serveProject(project, {
    config: { ...managed, webhooks: { allowPrivateAddresses: true }, limits: { webhookRetryDelay: 10 } },
  })
  await insertWebhook(own.sql, { name: 'receiver', url: receiver.origin, events: ['entry.create'], headers: {} })
  const write = (value: unknown) =>
    own.request('/api/notes', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data: value }) })
  const delivered = async (result: string) => sumOf(await scrape(own), 'octavo_webhook_deliveries_total', { result })
  // The first of each is an increase.
  for (const result of ['delivered', 'failed', 'given_up']) expect(await delivered(result)).toBe(0)
  await vi.waitFor(async () => {
    expect((await write({ name: 'delivered' })).status).toBe(201)
    expect(await delivered('delivered')).toBeGreaterThan(0)
  }, patience)
  expect(await delivered('failed')).toBeGreaterThan(0)
  expect((await write({ name: 'given up' })).status).toBe(201)
  await vi.waitFor(async () => expect(await delivered('given_up')).toBe(1), patience)
  expect(sumOf(await scrape(own), 'octavo_webhook_duration_seconds_count', { result: 'given_up' })).toBe(1)
  await receiver.close()

  expect((await write({})).status).toBe(400)
  expect(sumOf(await scrape(own), 'octavo_db_errors_total')).toBe(0)
  expect(sumOf(await scrape(own), 'octavo_db_commit_unknown_total')).toBe(0)
  if (isOnServer) expect(sumOf(await scrape(own), 'db_client_connection_timeouts_total')).toBe(0)
  await own.sql('alter table notes rename to notes_away')
  expect((await own.request('/api/notes?filters[name]=nobody')).status).toBe(503)
  const failed = { http_response_status_code: '503', error_type: 'ServiceUnavailableError' }
  await vi.waitFor(async () => expect(requests(await scrape(own), failed)).toBe(1), patience)
  expect(sumOf(await scrape(own), 'octavo_db_errors_total', { class: 'schema_drift' })).toBe(1)
  await own.close()
})

rule('operations.9', 'events that wait for a receiver that is down are pending, and have an age', async () => {
  const receiver = await openReceiver()
  receiver.respond = (_received, response) => void response.writeHead(503).end()
  const own = await serveProject(project, {
    config: { ...managed, webhooks: { allowPrivateAddresses: true }, limits: { webhookRetryDelay: 60_000 } },
  })
  await insertWebhook(own.sql, { name: 'receiver', url: receiver.origin, events: ['entry.create'], headers: {} })
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ data: { name: 'waits' } })
  await vi.waitFor(async () => {
    expect((await own.request('/api/notes', { method: 'POST', headers, body })).status).toBe(201)
    expect(receiver.received.length).toBeGreaterThan(0)
  }, patience)
  // The cursor has passed all of them.
  const beyond = 'select sequence from octavo_outbox where sequence > (select min(sequence) from octavo_consumers)'
  await vi.waitFor(async () => expect(await own.sql(beyond)).toEqual([]), patience)
  const waiting = await own.sql("select sequence from octavo_deliveries where state = 'waiting'")
  expect(waiting.length).toBeGreaterThan(0)
  const scraped = await scrape(own)
  expect(sumOf(scraped, 'octavo_outbox_pending')).toBe(waiting.length)
  expect(sumOf(scraped, 'octavo_outbox_oldest_age_seconds')).toBeGreaterThan(0)
  await receiver.close()
  await own.close()
})

rule('operations.16', 'on PostgreSQL, connections that were waited for in vain are counted by pool', async () => {
  if (!isOnPostgres) return
  const own = await serveProject(project, {
    config: managed,
    environment: { DATABASE_POOL_MAX: '2', DATABASE_CONNECTION_TIMEOUT: '300' },
  })
  const locked = own.sql('do $$ begin lock table notes; perform pg_sleep(3); end $$')
  const timeouts = async () => sumOf(await scrape(own), 'db_client_connection_timeouts_total', { pool: 'read' }) ?? 0
  let salt = 0
  await vi.waitFor(async () => {
    await Promise.all(Array.from({ length: 4 }, () => own.request(`/api/notes?filters[name]=${salt++}`)))
    expect(await timeouts()).toBeGreaterThan(0)
  }, patience)
  expect(sumOf(await scrape(own), 'db_client_connection_wait_time_seconds_sum', { pool: 'read' })).toBeGreaterThan(0.3)
  expect(sumOf(await scrape(own), 'octavo_db_errors_total', { class: 'overload' })).toBeGreaterThan(0)
  expect(sumOf(await scrape(own), 'octavo_requests_rejected_total', { reason: 'pool_timeout' })).toBeGreaterThan(0)
  await locked
  await own.close()
})

rule('operations.16', 'values that must be unique and are taken are counted, and images that are processed', async () => {
  const own = await serveProject(project, { config: managed })
  const create = (data: unknown) =>
    own.request('/api/notes', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) })
  const conflicts = async () => sumOf(await scrape(own), 'octavo_unique_conflicts_total')
  expect((await create({ name: 'one', code: 'same' })).status).toBe(201)
  expect((await create({ code: 'another' })).status).toBe(400)
  expect(await conflicts()).toBe(0)
  expect((await create({ name: 'two', code: 'same' })).status).toBe(400)
  expect(await conflicts()).toBe(1)
  const form = new FormData()
  const gif = Buffer.from('R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=', 'base64')
  form.append('files', new Blob([gif], { type: 'image/gif' }), 'a.gif')
  expect((await own.request('/api/upload', { method: 'POST', body: form })).status).toBe(201)
  expect(sumOf(await scrape(own), 'octavo_image_processing_duration_seconds_count')).toBe(1)
  await own.close()
})

rule('operations.15', 'stale cached responses are counted when they are requested', async () => {
  if (isOnServer) return
  const own = await serveProject(project, { config: managed })
  const stale = async () => sumOf(await scrape(own), 'octavo_cache_stale_prevented_total')
  const names = async () => (await own.request('/api/notes')).body.data.length
  await vi.waitFor(async () => {
    const hits = async () => sumOf(await scrape(own), 'octavo_cache_requests_total', { result: 'hit' }) ?? 0
    const earlier = await hits()
    for (const _ of [1, 2]) expect(await names()).toBe(1)
    expect(await hits()).toBeGreaterThan(earlier)
  }, patience)
  const before = await stale()
  const body = JSON.stringify({ data: { name: 'new' } })
  expect((await own.request('/api/notes', { method: 'POST', headers: { 'content-type': 'application/json' }, body })).status).toBe(201)
  await vi.waitFor(async () => {
    expect(await names()).toBe(2)
    expect(await stale()).toBe(before! + 1)
  }, patience)
  await own.close()
})

rule('operations.17', 'differences between the database and the model are counted by kind', async () => {
  const own = await serveProject(project, { config: managed })
  await own.sql('alter table notes add column forgotten integer')
  await own.sql('create table left_over (id integer)')
  const found = await scrape(own)
  const kinds = ['types', 'columns', 'tables'].map((kind) => sumOf(found, 'octavo_schema_drift', { kind }))
  expect(kinds).toEqual([0, 1, 1])
  await own.close()
})

rule('operations.10', 'requests that were refused are counted by reason, and attempts to sign in by result', async () => {
  const before = await scrape(served)
  for (let attempt = 0; attempt < 5; attempt++)
    expect((await send('/api/auth/local', { identifier: 'nobody', password: 'a wrong one' })).status).toBe(attempt < 3 ? 400 : 429)
  expect((await send('/api/notes', { data: { name: 'x'.repeat(5_000) } })).status).toBe(413)
  const conditions = Array.from({ length: 30 }, (_, index) => `filters[$or][${index}][name][$eq]=x`).join('&')
  expect((await served.request(`/api/notes?${conditions}`)).status).toBe(400)
  await vi.waitFor(async () => {
    const scraped = await scrape(served)
    const difference = (name: string, labels: Readonly<Record<string, string>>) =>
      (sumOf(scraped, name, labels) ?? 0) - (sumOf(before, name, labels) ?? 0)
    expect(difference('octavo_requests_rejected_total', { reason: 'rate_limit' })).toBe(2)
    expect(difference('octavo_requests_rejected_total', { reason: 'too_large' })).toBe(1)
    expect(difference('octavo_requests_rejected_total', { reason: 'too_complex' })).toBe(1)
    expect(difference('octavo_rate_limited_total', { limiter: 'address' })).toBe(2)
    expect(difference('octavo_auth_attempts_total', { kind: 'local', result: 'refused' })).toBe(5)
  }, patience)
})

rule('operations.10', 'headers that are too large or too slow are counted, and a connection without a request is not', async () => {
  const reasons = async () => {
    const scraped = await scrape(served)
    return ['too_large', 'timeout'].map((reason) => sumOf(scraped, 'octavo_requests_rejected_total', { reason }) ?? 0)
  }
  const [large, late] = await reasons()
  const sent = async (text: string): Promise<string> => {
    const socket = connect(Number(new URL(served.origin).port), '127.0.0.1')
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk)).write(text)
    await once(socket, 'close')
    return Buffer.concat(chunks).toString()
  }
  const head = 'GET /api/notes HTTP/1.1\r\nHost: a\r\n'
  const answers = await Promise.all([sent(`${head}X: ${'x'.repeat(100_000)}\r\n\r\n`), sent(head), sent('')])
  expect(answers.map((answer) => answer.slice(9, 12))).toEqual(['431', '408', '408'])
  expect(await reasons()).toEqual([large! + 1, late! + 1])
})

rule('operations.8', 'labels stay few when thousands of unknown paths and methods are requested', async () => {
  await served.request('/api/notes')
  const before = (await scrape(served)).length
  const strange = (index: number): readonly string[] => [
    `/api/unknown-${index}`,
    `/api/unknown-${index}/${index}`,
    `/api/notes/document-${index}`,
    `/unknown/${index}?query=${index}`,
    `/uploads/${index}.png`,
    `/api/notes?filters[field${index}][$eq]=1`,
    `/%ff${index}`,
  ]
  for (let index = 0; index < 420; index += 30)
    await Promise.all(Array.from({ length: 30 }, (_, each) => strange(index + each).map((path) => served.request(path))).flat())
  await Promise.all(['PATCH', 'PROPFIND', 'LINK'].map((method) => served.request('/api/notes', { method })))
  const scraped = await scrape(served)
  // One series of durations for each route and status that was new: each has as many lines as there are buckets.
  expect(scraped.length - before).toBeLessThan(400)
  const routes = new Set(scraped.flatMap(({ labels }) => labels.http_route ?? []))
  expect([...routes].filter((route) => /\d|unknown|query|%/.test(route))).toEqual([])
  expect(routes.size).toBeLessThan(15)
  const methods = new Set(scraped.flatMap(({ labels }) => labels.http_request_method ?? []))
  expect([...methods].filter((method) => !['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', '_OTHER'].includes(method))).toEqual(
    [],
  )
})
