// Webhooks: their content, receivers and order, and the effects of responses.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served, TestResponse } from '../support/serve.js'
import { goldenTokens, serveExisting, serveGolden } from '../support/serve.js'
import { patience } from '../support/until.js'
import { allEvents, headerOf, insertWebhook, ok, openReceiver, type Received, type Receiver, status } from '../webhooks/receiver.js'
import { replaceResolver } from '../webhooks/resolver.js'

const token = goldenTokens().full!
const json = { 'content-type': 'application/json' }
const main = join(import.meta.dirname, '..', '..', 'dist', 'main.js')

let served: Served
let receiver: Receiver
const limits = { webhookRetryDelay: 60, webhookMaxRetryDelay: 400, webhookAttempts: 3, webhookTimeout: 3_000 }
beforeAll(async () => {
  receiver = await openReceiver()
  served = await serveGolden({
    config: {
      limits,
      webhooks: { allowPrivateAddresses: ['127.0.0.1'], defaultHeaders: { 'X-Default': 'from-config', Authorization: 'default' } },
    },
  })
})
afterAll(async () => {
  await served?.close()
  await receiver?.close()
})
beforeEach(() => {
  receiver.received.length = 0
  receiver.respond = ok
})
afterEach(() => served.sql('delete from strapi_webhooks'))

const send = (method: string, path: string, data?: object): Promise<TestResponse> =>
  served.request(path, { method, token, ...(data === undefined ? {} : { headers: json, body: JSON.stringify({ data }) }) })
const addCity = async (name: string): Promise<string> => (await send('POST', '/api/cities', { name })).body.data.documentId
const addCityTo = (service: Served, name: string): Promise<TestResponse> =>
  service.request('/api/cities', { method: 'POST', token, headers: json, body: JSON.stringify({ data: { name } }) })
const webhook = (name: string, path: string, events: readonly string[] = allEvents, headers: Readonly<Record<string, string>> = {}) =>
  insertWebhook(served.sql, { name, url: `${receiver.origin}${path}`, events, headers })
const at = (path: string): readonly Received[] => receiver.received.filter(({ url }) => url === path)
const names = (path: string) => at(path).map(({ body }) => body.entry?.name ?? body.media?.name)

/** Runs `octavo` next to the service. */
const octavo = (...given: readonly string[]) => octavoBeside(served, ...given)

async function octavoBeside({ sameDatabase }: Served, ...given: readonly string[]) {
  const child = spawn(process.execPath, [main, ...given], { env: { ...process.env, ...sameDatabase, NODE_ENV: 'production' } })
  const [out, error, code] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    new Promise((resolve) => child.on('close', resolve)),
  ])
  return { status: code, out: out.trim(), error: error.trim() }
}

describe('requests', () => {
  rule(
    'webhooks.1',
    'an enabled webhook gets the events that it lists; one that is added or disabled by others does so at once',
    async () => {
      await addCity('before')
      await webhook('all', '/all?x=1')
      await webhook('publish', '/publish', ['entry.publish'])
      await insertWebhook(served.sql, { name: 'off', url: `${receiver.origin}/off`, events: allEvents, enabled: 0 })
      const { body } = await send('POST', '/api/tags', { name: 'published' })
      await expect
        .poll(() => at('/all?x=1').map((one) => headerOf(one, 'x-strapi-event')), patience)
        .toEqual(['entry.create', 'entry.publish'])
      await expect.poll(() => at('/publish').map(({ body: { event } }) => event), patience).toEqual(['entry.publish'])
      expect(receiver.received.every(({ method }) => method === 'POST')).toBe(true)
      await served.sql("update strapi_webhooks set enabled = false where name = 'all'")
      await send('DELETE', `/api/tags/${body.data.documentId}`)
      await send('POST', '/api/tags', { name: 'sent to one' })
      await expect.poll(() => at('/publish').length, patience).toBe(2)
      expect([at('/all?x=1').length, at('/off').length]).toEqual([2, 0])
      await served.sql('delete from strapi_webhooks')
      const [{ last }] = (await served.sql('select max(sequence) as last from octavo_outbox')) as [{ last: number }]
      await addCity('nobody listens')
      expect(await served.sql('select sequence from octavo_outbox where sequence > ?', last)).toEqual([])
    },
  )

  rule('webhooks.2', 'bodies have the keys of Strapi in its order; new users are sent; nothing private is in them', async () => {
    await webhook('all', '/bodies')
    const data = { title: 'Nothing private', internalNote: 'hush-note', secretCode: 'hush-code', author: 2 }
    expect((await send('POST', '/api/articles?status=draft', data)).status).toBe(201)
    const user = { username: 'newcomer', email: 'newcomer@example.test', password: 'secret-of-newcomer', role: 1 }
    expect((await served.request('/api/users', { method: 'POST', token, headers: json, body: JSON.stringify(user) })).status).toBe(201)
    const form = new FormData()
    form.set('fileInfo', JSON.stringify({ caption: 'a caption' }))
    expect((await served.request('/api/upload?id=1', { method: 'POST', token, body: form })).status).toBe(200)
    await expect.poll(() => at('/bodies').length, patience).toBe(3)
    const [article, person, file] = ['article', 'user', undefined].map((model) => at('/bodies').find(({ body }) => body.model === model)!)
    expect(Object.keys(article!.body)).toEqual(['event', 'createdAt', 'model', 'uid', 'entry'])
    expect(Object.keys(article!.body.entry).slice(0, 3)).toEqual(['id', 'documentId', 'title'])
    expect(article!.body.entry).toMatchObject({ title: 'Nothing private', author: { id: 2 } })
    expect(person!.body).toMatchObject({ event: 'entry.create', uid: 'plugin::users-permissions.user' })
    expect(person!.body.entry).toMatchObject({ username: 'newcomer', email: 'newcomer@example.test', role: { id: 1 } })
    expect(Object.keys(file!.body)).toEqual(['event', 'createdAt', 'media'])
    const hidden = /hush|secret-of-newcomer|\$2[aby]\$|"(password|pin|salary|secretCode|internalNote|resetPasswordToken|confirmationToken)"/
    for (const { text } of at('/bodies')) expect(text).not.toMatch(hidden)
  })

  rule('webhooks.3', 'headers in the order of Strapi; those of the connection are not for webhooks to set', async () => {
    await webhook('own', '/headers', allEvents, { 'X-Own': 'abc', authorization: 'own', 'Content-Length': '1', 'x-strapi-event': 'no' })
    await addCity('headers')
    await expect.poll(() => at('/headers').length, patience).toBe(1)
    const [one] = at('/headers')
    expect(one!.headers.map(([name]) => name)).toEqual([
      ...['host', 'connection', 'X-Default', 'authorization', 'X-Own', 'X-Strapi-Event', 'Content-Type'],
      ...['webhook-id', 'webhook-timestamp', 'webhook-signature', 'accept', 'user-agent', 'content-length'],
    ])
    expect(['X-Default', 'authorization', 'X-Own', 'X-Strapi-Event', 'Content-Type'].map((name) => headerOf(one!, name))).toEqual([
      ...['from-config', 'own', 'abc', 'entry.create', 'application/json'],
    ])
    expect(headerOf(one!, 'content-length')).toBe(String(Buffer.byteLength(one!.text)))
  })

  rule('webhooks.4', 'requests are signed by Standard Webhooks; after a rotation with both secrets', async () => {
    const { out: first } = await octavo(
      ...['webhooks', 'create', served.folder, '--name', 'signed', '--url', `${receiver.origin}/signed`],
      ...['--events', 'entry.create', '--header', 'X-Key: hush-header'],
    )
    expect(first).toMatch(/^whsec_/)
    await addCity('signed once')
    await expect.poll(() => at('/signed').length, patience).toBe(1)
    const { out: second } = await octavo('webhooks', 'secret', 'signed', served.folder, '--rotate')
    await addCity('signed twice')
    await expect.poll(() => at('/signed').length, patience).toBe(2)
    const verified = (one: Received, secret: string) => new Webhook(secret).verify(one.text, Object.fromEntries(one.headers))
    const [before, after] = at('/signed')
    expect(verified(before!, first)).toMatchObject({ event: 'entry.create' })
    expect(() => verified(before!, second)).toThrow()
    for (const secret of [first, second]) expect(verified(after!, secret)).toMatchObject({ entry: { name: 'signed twice' } })
    expect(new Set(at('/signed').map((one) => headerOf(one, 'webhook-id'))).size).toBe(2)
  })
})

describe('effects of responses', () => {
  rule(
    'webhooks.5',
    'failures are sent again, with the same id and a new timestamp; refusals are not, and redirects are not followed',
    async () => {
      await webhook('all', '/responses', ['entry.create'])
      let failures = 0
      const responses: Readonly<Record<string, () => Parameters<typeof status>>> = {
        gone: () => [410],
        wrong: () => [422],
        missing: () => [404],
        redirected: () => [302, { location: `${receiver.origin}/elsewhere` }],
        recovers: () => (failures++ === 0 ? [500] : [204]),
      }
      receiver.respond = (one, response, socket) => status(...responses[one.body.entry.name]!())(one, response, socket)
      for (const name of Object.keys(responses)) await addCity(name)
      const counts = () => Object.keys(responses).map((name) => names('/responses').filter((own) => own === name).length)
      await expect.poll(counts, patience).toEqual([1, 1, 3, 3, 2])
      expect(at('/elsewhere')).toEqual([])
      const ids = at('/responses').filter(({ body }) => body.entry.name === 'missing')
      expect(new Set(ids.map((one) => headerOf(one, 'webhook-id'))).size).toBe(1)
      await expect.poll(() => served.log.filter((line) => line.includes('an event was not delivered')).length, patience).toBe(4)
      receiver.received.length = 0
      let refused = 0
      receiver.respond = (one, response, socket) =>
        refused++ === 0 ? status(429, { 'retry-after': '1' })(one, response, socket) : ok(one, response, socket)
      await addCity('too many')
      await expect.poll(() => names('/responses').length, patience).toBe(1)
      // Retry-After is bounded by the longest pause; the webhook as a whole waits for it.
      await addCity('waits too')
      await expect.poll(() => [...names('/responses')].sort(), patience).toEqual(['too many', 'too many', 'waits too'])
    },
  )

  rule('webhooks.6', 'events about one document come in order, and do not hold up others', async () => {
    await webhook('ordered', '/ordered', ['entry.create', 'entry.update'])
    // The first attempt ends when the others were delivered, and fails.
    let held: (() => void) | null = null
    receiver.respond = (one, response, socket) => {
      if (one.body.entry.name === 'slow 0' && held === null) held = () => status(503)(one, response, socket)
      else ok(one, response, socket)
      if (one.body.entry.name === 'other 3') held?.()
    }
    const slow = await addCity('slow 0')
    await expect.poll(() => held, patience).not.toBeNull()
    for (const index of [1, 2, 3]) await addCity(`other ${index}`)
    for (const index of [1, 2, 3]) await send('PUT', `/api/cities/${slow}`, { name: `slow ${index}` })
    await expect.poll(() => names('/ordered').filter((name) => name.startsWith('slow')).length, patience).toBe(5)
    const ofSlow = names('/ordered').filter((name) => name.startsWith('slow'))
    expect(ofSlow).toEqual(['slow 0', 'slow 0', 'slow 1', 'slow 2', 'slow 3'])
    expect(names('/ordered').lastIndexOf('slow 0')).toBeGreaterThan(names('/ordered').indexOf('other 3'))
  })

  rule(
    'webhooks.7',
    'pending deliveries of a stopped service are sent by the next one, and two services do not send the same',
    async () => {
      await webhook('kept', '/kept', ['entry.create'])
      receiver.respond = status(500)
      await addCity('kept 1')
      await expect.poll(() => at('/kept').length, patience).toBeGreaterThan(0)
      receiver.respond = ok
      const other = await serveExisting(served, { NODE_ENV: 'development' })
      try {
        await Promise.all([2, 3, 4, 5].map((index) => addCity(`kept ${index}`)))
        await expect.poll(() => [...new Set(names('/kept'))].sort(), patience).toEqual([1, 2, 3, 4, 5].map((index) => `kept ${index}`))
        expect(names('/kept').filter((name) => name !== 'kept 1')).toHaveLength(4)
      } finally {
        await other.close()
      }
    },
  )

  rule('webhooks.8', 'writes do not wait for receivers that hang, send without end, or break the connection off', async () => {
    await webhook('lies', '/lies', ['entry.create'])
    receiver.respond = ({ body }, response, socket) => {
      const kind = body.entry.name
      if (kind === 'endless') {
        response.writeHead(200)
        const more = setInterval(() => response.write('x'.repeat(1_000)), 1)
        response.on('close', () => clearInterval(more))
      } else if (kind === 'garbage') socket.end('no HTTP at all\r\n\r\n')
      else if (kind === 'early') socket.destroy()
      // Or it never responds.
    }
    for (const name of ['hangs', 'endless', 'garbage', 'early']) await addCity(name)
    const attempts = () =>
      served.sql('select status, error from octavo_webhook_attempts where sequence in (select max(sequence) - 3 from octavo_outbox)')
    await expect.poll(() => names('/lies').filter((name) => name === 'endless').length, patience).toBe(1)
    await expect.poll(() => names('/lies').length, patience).toBe(10)
    await expect
      .poll(async () => (await attempts()).map(({ error }) => error), patience)
      .toEqual([1, 2, 3].map(() => 'No response within 3000 milliseconds'))
  })

  rule('webhooks.8', 'a receiver that never ends its responses has no more connections than concurrent requests', async () => {
    await webhook('unended', '/unended', ['entry.create'])
    let [open, most] = [0, 0]
    receiver.respond = (_one, response) => {
      most = Math.max(most, ++open)
      response.on('close', () => open--)
      response.writeHead(200).write('more follows')
    }
    for (let index = 0; index < 15; index++) await addCity(`unended ${index}`)
    await expect.poll(() => new Set(names('/unended')).size, patience).toBe(15)
    await expect.poll(() => open, patience).toBe(0)
    expect(names('/unended')).toHaveLength(15)
    expect(most).toBeLessThanOrEqual(5)
  })
})

describe('stored deliveries', () => {
  rule('webhooks.10', 'attempts are listed, and events that were given up are sent again', async () => {
    await webhook('logged', '/logged', ['entry.create'], { 'X-Key': 'hush-header' })
    receiver.respond = (_one, response) => void response.writeHead(410).end('gone for good')
    await addCity('given up')
    await expect.poll(() => at('/logged').length, patience).toBe(1)
    const failed = async () => (await octavo('webhooks', 'deliveries', 'logged', served.folder, '--failed')).out
    await expect.poll(failed, patience).toMatch(/entry\.create +api::city\.city \w+ +1 +-/)
    const { out } = await octavo('webhooks', 'deliveries', 'logged', served.folder, '--json')
    expect(JSON.parse(out)).toMatchObject([{ event: 'entry.create', attempt: 1, status: 410, error: 'gone for good' }])
    receiver.respond = ok
    expect((await octavo('webhooks', 'resend', 'logged', served.folder, '--failed')).out).toBe('1 event will be sent again.')
    await expect.poll(() => at('/logged').length, patience).toBe(2)
    expect(new Set(at('/logged').map((one) => headerOf(one, 'webhook-id'))).size).toBe(1)
    const { out: list } = await octavo('webhooks', 'list', served.folder)
    expect(list).toMatch(/logged +enabled +http:\S+ +entry\.create +X-Key/)
    for (const text of [list, ...served.log]) expect(text).not.toMatch(/hush-header|gone for good/)
  })

  rule('webhooks.10', 'the log of attempts is bounded, also over processes that make few', async () => {
    const own = await serveGolden({ config: { limits: { ...limits, outboxEvents: 5 }, webhooks: { allowPrivateAddresses: true } } })
    const logged = async () => (await own.sql('select id from octavo_webhook_attempts')).length
    const others: Served[] = []
    try {
      await insertWebhook(own.sql, { name: 'few', url: `${receiver.origin}/few`, events: ['entry.create'] })
      for (let index = 0; index < 20; index++) await addCityTo(own, `few ${index}`)
      await expect.poll(() => at('/few').length, patience).toBe(20)
      await expect.poll(logged, patience).toBeGreaterThan(15)
      await own.service.close()
      others.push(await serveExisting(own, { NODE_ENV: 'development' }))
      await addCityTo(others[0]!, 'few 20')
      await expect.poll(() => at('/few').length, patience).toBe(21)
      await expect.poll(logged, patience).toBeLessThanOrEqual(6)
    } finally {
      for (const other of others) await other.close()
      await own.close()
    }
  })

  rule('webhooks.12', 'a webhook that is enabled gets the events from then on', async () => {
    await insertWebhook(served.sql, { name: 'later', url: `${receiver.origin}/later`, events: ['entry.create'], enabled: 0 })
    await webhook('other', '/other', ['entry.create'])
    await addCity('too early')
    expect(await octavo('webhooks', 'enable', 'later', served.folder)).toMatchObject({ status: 0, out: 'Enabled webhook "later".' })
    await addCity('in time')
    await expect.poll(() => names('/later'), patience).toEqual(['in time'])
    expect(await octavo('webhooks', 'disable', 'later', served.folder)).toMatchObject({ status: 0, out: 'Disabled webhook "later".' })
    await addCity('too late')
    await expect.poll(() => names('/other'), patience).toEqual(['too early', 'in time', 'too late'])
    expect(names('/later')).toEqual(['in time'])
  })

  rule('webhooks.13', 'commands report errors in a sentence', async () => {
    const create = (...more: string[]) => octavo('webhooks', 'create', served.folder, '--name', 'x', ...more)
    const all = ['--events', 'all']
    const wrong = await Promise.all([
      create('--url', 'nope', ...all),
      create('--url', 'http://127.0.0.1:1', '--events', 'entry.creat'),
      create('--url', 'http://10.0.0.1/hook', ...all),
      create('--url', 'http://127.0.0.1:1', ...all, '--header', 'hush'),
      octavo('webhooks', 'trigger', 'nobody', served.folder),
    ])
    expect(wrong.map(({ status: code, error }) => [code, error])).toEqual([
      [1, 'octavo: url must be a valid URL'],
      [1, 'octavo: Webhook event entry.creat is not supported. Did you mean entry.create?'],
      [1, "octavo: Url is not supported because it isn't reachable over the public internet"],
      [1, 'octavo: --header must look like "Name: value".'],
      [1, 'octavo: There is no webhook "nobody"'],
    ])
    await webhook('tested', '/tested', [])
    expect((await octavo('webhooks', 'trigger', 'tested', served.folder)).out).toMatch(/^Webhook "tested" responded 200 in \d+ ms\.$/)
    expect(Object.keys(at('/tested')[0]!.body)).toEqual(['event', 'createdAt'])
    expect(headerOf(at('/tested')[0]!, 'x-strapi-event')).toBe('trigger-test')
    receiver.respond = (_one, response) => void response.writeHead(500).end('broken')
    expect(await octavo('webhooks', 'trigger', 'tested', served.folder)).toMatchObject({
      status: 1,
      error: 'octavo: Webhook "tested" responded 500: broken',
    })
    expect((await octavo('webhooks', 'delete', 'tested', served.folder)).out).toBe('Deleted webhook "tested".')
  })
})

describe('over restarts', () => {
  let own: Served
  const others: Served[] = []
  const hour = 3_600_000
  beforeAll(async () => {
    own = await serveGolden({
      config: { limits: { ...limits, webhookMaxRetryDelay: hour }, webhooks: { allowPrivateAddresses: ['127.0.0.1'] } },
    })
  })
  afterEach(() => own.sql('delete from strapi_webhooks'))
  afterAll(async () => {
    for (const other of others) await other.close()
    await own?.close()
  })
  const add = (name: string, path: string, events = ['entry.create']) =>
    insertWebhook(own.sql, { name, url: `${receiver.origin}${path}`, events })

  rule('webhooks.6', 'documents whose ids differ only in case do not wait for each other', async () => {
    await add('cased', '/cased')
    for (const name of ['waits', 'is due']) await addCityTo(own, name)
    await expect.poll(() => [...names('/cased')].sort(), patience).toEqual(['is due', 'waits'])
    const [[{ consumer }], [{ last }]] = (await Promise.all([
      own.sql("select name as consumer from octavo_consumers where name like 'webhook %'"),
      own.sql('select max(sequence) as last from octavo_outbox'),
    ])) as unknown as [[{ consumer: string }], [{ last: number }]]
    const wait = (sequence: number, key: string, due: number) =>
      own.sql(
        "insert into octavo_deliveries (consumer, sequence, ordering_key, state, attempts, due_at) values (?, ?, ?, 'waiting', 0, ?)",
        ...[consumer, sequence, `api::city.city ${key}`, due],
      )
    await wait(last - 1, 'ABC', Date.now() + hour)
    await wait(last, 'abc', 0)
    await expect.poll(() => names('/cased').filter((name) => name === 'is due').length, patience).toBe(2)
    expect(names('/cased')).toHaveLength(3)
  })

  rule('webhooks.5', 'a pause requested by a receiver holds after a restart too, until its end or a command; it is bounded', async () => {
    await add('quiet', '/quiet')
    await add('other', '/other')
    receiver.respond = (one, response, socket) =>
      (one.url === '/quiet' ? status(429, { 'retry-after': '1800' }) : ok)(one, response, socket)
    await addCityTo(own, 'first')
    const paused = () => own.sql('select name from octavo_consumers where paused_until > ?', Date.now() + hour / 3)
    await expect.poll(async () => (await paused()).length, patience).toBe(1)
    const { out: list } = await octavoBeside(own, 'webhooks', 'list', own.folder, '--json')
    const pauses = JSON.parse(list).map(({ name, pausedUntil }: { name: string; pausedUntil: number | null }) => [name, pausedUntil])
    expect(pauses).toEqual(
      expect.arrayContaining([
        ['quiet', expect.any(Number)],
        ['other', null],
      ]),
    )
    await own.service.close()
    const again = await serveExisting(own, { NODE_ENV: 'development' })
    others.push(again)
    await addCityTo(again, 'second')
    await expect.poll(() => names('/other'), patience).toEqual(['first', 'second'])
    expect(names('/quiet')).toEqual(['first'])
    receiver.respond = ok
    const [{ sequence }] = (await own.sql("select sequence from octavo_deliveries where state = 'waiting'")) as unknown as [
      { sequence: number },
    ]
    const { out } = await octavoBeside(own, 'webhooks', 'resend', 'quiet', own.folder, '--sequence', String(sequence))
    expect(out).toBe('1 event will be sent again.')
    await expect.poll(() => [...names('/quiet')].sort(), patience).toEqual(['first', 'first', 'second'])
    // No receiver can request such a delay: the clock was set back, or the limit was larger then.
    await own.sql('update octavo_consumers set paused_until = ?', Date.now() + 100 * hour)
    await addCityTo(again, 'third')
    await expect.poll(() => names('/quiet'), patience).toContain('third')
  })
})

rule(
  'webhooks.14',
  'names that are not resolved delay no other webhook; a few are resolved at once, and the slow ones in turn',
  async () => {
    const own = await serveGolden({
      config: {
        limits: { ...limits, webhookTimeout: 2_000, webhookAttempts: 1_000 },
        webhooks: { allowPrivateAddresses: ['127.0.0.1'] },
      },
    })
    const resolver = replaceResolver({ 'good.test': '127.0.0.1', 'inside.test': '127.0.0.2' })
    const add = (name: string) => insertWebhook(own.sql, { name, url: `http://${name}:${receiver.port}/${name}`, events: ['entry.create'] })
    const late = async (name: string) =>
      (await own.sql('select error from octavo_webhook_attempts where error = ?', `${name} was not resolved within 1200 milliseconds`))
        .length
    try {
      for (const name of ['silent-0.test', 'good.test', 'inside.test']) await add(name)
      await addCityTo(own, 'one')
      await expect.poll(() => names('/good.test'), patience).toEqual(['one'])
      expect(resolver.waiting()).toEqual(['silent-0.test'])
      await expect.poll(() => late('silent-0.test'), patience).toBeGreaterThan(0)
      const silent = [0, 1, 2, 3, 4].map((index) => `silent-${index}.test`)
      for (const name of silent.slice(1)) await add(name)
      await addCityTo(own, 'two')
      // Each of them is slow once, and holds up others until the system has ended.
      const slow = new Set<string>()
      const slowOnes = async (): Promise<number> => {
        for (const name of silent) {
          if (slow.has(name) || (await late(name)) === 0) continue
          slow.add(name)
          resolver.fail(name)
        }
        return slow.size
      }
      await expect.poll(slowOnes, patience).toBe(silent.length)
      await expect.poll(() => names('/good.test'), patience).toEqual(['one', 'two'])
      await expect.poll(() => resolver.waiting().length, patience).toBe(1)
      await addCityTo(own, 'three')
      await expect.poll(() => names('/good.test'), patience).toEqual(['one', 'two', 'three'])
      expect(resolver.waiting()).toHaveLength(1)
      expect(resolver.most()).toBeLessThanOrEqual(3)
      const refused = await own.sql(
        "select error from octavo_webhook_attempts where error like 'inside.test leads to the private address%'",
      )
      expect(refused.length).toBeGreaterThan(0)
    } finally {
      resolver.restore()
      await own.close()
    }
  },
)

rule('webhooks.11', 'the outbox keeps events that a webhook waits for, up to a limit, and reports losses', async () => {
  const own = await serveGolden({
    config: {
      limits: { ...limits, webhookAttempts: 1_000, outboxEvents: 5 },
      webhooks: { allowPrivateAddresses: true },
    },
  })
  try {
    receiver.respond = status(500)
    await insertWebhook(own.sql, { name: 'behind', url: `${receiver.origin}/behind`, events: ['entry.create'] })
    for (let index = 1; index <= 15; index++) await addCityTo(own, `behind ${index}`)
    expect((await own.sql('select min(sequence) as first from octavo_outbox'))[0]).toEqual({ first: 1 })
    for (let index = 16; index <= 60; index++) await addCityTo(own, `behind ${index}`)
    const [{ first }] = (await own.sql('select min(sequence) as first from octavo_outbox')) as [{ first: number }]
    expect(first).toBeGreaterThan(25)
    receiver.respond = ok
    await expect.poll(() => names('/behind'), patience).toContain('behind 60')
    await expect.poll(() => own.log.filter((line) => line.includes('deleted from the outbox')).length, patience).toBeGreaterThan(0)
  } finally {
    await own.close()
  }
})

rule('webhooks.9', 'private addresses in any notation are refused in production', async () => {
  const own = await serveGolden({ config: { limits: { ...limits, webhookAttempts: 1 } } })
  try {
    const hosts = [
      ...['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0.0.0.0', 'localhost', 'a.localhost', '[::1]', '[::ffff:127.0.0.1]', '[::]'],
      ...[
        '169.254.169.254',
        '10.1.2.3',
        '172.16.0.1',
        '192.168.1.1',
        '100.64.0.1',
        '[fd00::1]',
        '[fe80::1]',
        '[64:ff9b::7f00:1]',
        '224.0.0.1',
      ],
    ]
    for (const host of hosts)
      await insertWebhook(own.sql, { name: host, url: `http://${host}:${receiver.port}/private`, events: ['entry.create'] })
    for (const url of [`http://user:word@127.0.0.1:${receiver.port}/private`, 'file:///etc/passwd', 'gopher://127.0.0.1', 'nonsense'])
      await insertWebhook(own.sql, { name: url, url, events: ['entry.create'] })
    expect((await addCityTo(own, 'private')).status).toBe(201)
    const attempts = () => own.sql('select status, error from octavo_webhook_attempts order by webhook_id')
    await expect.poll(async () => (await attempts()).length, patience).toBe(hosts.length + 4)
    const errors = (await attempts()).map(({ status: code, error }) => `${code} ${error}`)
    expect(errors.slice(0, hosts.length).filter((error) => !/^0 .* leads to .*private address/.test(error))).toEqual([])
    expect(errors.slice(hosts.length)).toEqual([
      '0 The URL contains a user name or password; use a header',
      ...[1, 2, 3].map(() => '0 The URL is not valid'),
    ])
    expect(receiver.received).toEqual([])
  } finally {
    await own.close()
  }
})
