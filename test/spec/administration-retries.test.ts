// docs/spec/retries.md, the administration API: requests repeated with the same Idempotency-Key are executed once, also if they return a secret.
import { afterAll, beforeAll, expect } from 'vitest'
import { resources } from '../../src/http/admin/resources.js'
import { rowsOf } from '../support/administration.js'
import { isOnServer } from '../support/databases.js'
import { rule } from '../support/rule.js'
import { type Served, serveExisting, type TestResponse } from '../support/serve.js'
import { file, type Part, sample } from '../uploads/sending.js'
import { secrets } from './callers.js'
import { type AdminClient, giveRights, newsroomRoles, serveNewsroom, signInClient, story, writer } from './newsroom.js'

const rates = { authRateLimit: 0 }
const config = { limits: rates, webhooks: { allowPrivateAddresses: true } }

let served: Served
let ada: AdminClient
beforeAll(async () => {
  served = await serveNewsroom({ config })
  ada = await signInClient(served, 'ada@retries.example')
})
afterAll(() => served?.close())

async function ok(asked: Promise<TestResponse>): Promise<TestResponse> {
  const answer = await asked
  if (answer.status >= 300) throw new Error(answer.text)
  return answer
}
const post = (path: string, body: unknown, headers: Record<string, string> = {}, client = ada) => client.send('POST', path, body, headers)
const named = (key: string) => ({ 'idempotency-key': key })

/** A request: where to, what with, and which state of a document it means. */
interface Request {
  readonly path: string
  readonly body?: unknown
  readonly form?: readonly Part[]
  readonly headers?: Record<string, string>
}

const send = ({ path, body, form, headers = {} }: Request, key: string, client = ada): Promise<TestResponse> =>
  form === undefined ? post(path, body, { ...headers, ...named(key) }, client) : client.sendForm(path, form, named(key))

const newStory = async (title: string) => ok(post(`/content/${story}`, { data: { title } }))
const pathOf = ({ body }: TestResponse) => `/content/${story}/${body.data.documentId}`
const stateOf = (answer: TestResponse) => ({ 'if-match': answer.headers.get('etag') ?? '' })
const seen = (path: string) => ok(ada.get(path))
const picture = () => file(sample('large.jpg'), 'large.jpg', 'image/jpeg')
const upload = async (name: string) =>
  (await ok(ada.sendForm('/files', [file(sample('large.jpg'), name, 'image/jpeg')]))).body.data[0].id as number
const newWebhook = async (name: string) =>
  (await ok(post('/webhooks', { name, url: 'http://127.0.0.1:9/', events: ['entry.create'] }))).body.data.id as number

/** A change of a created document, with the revision read right before its request. */
async function acting(title: string, act: string, prepare: (path: string) => Promise<unknown> = async () => {}): Promise<Request> {
  const path = pathOf(await newStory(title))
  await prepare(path)
  return { path: `${path}/${act}`, headers: stateOf(await seen(path)) }
}
const publish = async (path: string) => ok(post(`${path}/publish`, undefined, stateOf(await seen(path))))
const change = async (path: string, changes: object) => ok(ada.send('PATCH', path, { changes }, stateOf(await seen(path))))

/** One request to each resource that takes a key, by its path in the table. */
const requests: Readonly<Record<string, () => Promise<Request>>> = {
  '/content/:type': async () => ({ path: `/content/${story}`, body: { data: { title: 'Created once' } } }),
  '/content/:type/:document/clone': async () => ({
    path: `${pathOf(await newStory('To copy'))}/clone`,
    body: { data: { title: 'Copied once' } },
  }),
  '/content/:type/:document/publish': () => acting('To publish', 'publish'),
  '/content/:type/:document/unpublish': () => acting('To unpublish', 'unpublish', publish),
  '/content/:type/:document/discard': () =>
    acting('To discard', 'discard', async (path) => {
      await publish(path)
      await change(path, { title: 'Changed' })
    }),
  '/content/:type/:document/fill': async () => {
    const path = pathOf(await newStory('To fill from'))
    const german = await ok(ada.send('PATCH', `${path}?locale=de`, { changes: { title: 'Deutsch' } }, { 'if-none-match': '*' }))
    return { path: `${path}/fill?locale=de`, body: { from: 'en', fields: ['title'] }, headers: stateOf(german) }
  },
  '/content/:type/:document/history/:id/restore': async () => {
    const path = pathOf(await newStory('To restore'))
    await publish(path)
    await change(path, { title: 'Later' })
    const [version] = (await seen(`${path}/history`)).body.data.slice(-1)
    return { path: `${path}/history/${version.id}/restore`, body: {}, headers: stateOf(await seen(path)) }
  },
  '/bulk': async () => ({
    path: '/bulk',
    body: { action: 'publish', type: story, documents: [(await newStory('In bulk')).body.data.documentId] },
  }),
  '/files': async () => ({ path: '/files', form: [file('hello', 'one.txt', 'text/plain'), file('there', 'two.txt', 'text/plain')] }),
  '/files/bulk': async () => ({ path: '/files/bulk', body: { action: 'delete', files: [await upload('gone.jpg')] } }),
  '/files/:id/replace': async () => ({ path: `/files/${await upload('replaced.jpg')}/replace`, form: [picture()] }),
  '/files/:id/crop': async () => ({ path: `/files/${await upload('cropped.jpg')}/crop`, body: { x: 0, y: 0, width: 20, height: 20 } }),
  '/folders': async () => ({ path: '/folders', body: { name: 'Made once' } }),
  '/admins': async () => ({ path: '/admins', body: { email: 'new@retries.example', firstname: 'New', roles: [], sendsEmail: false } }),
  '/admins/:id/invitation': async () => {
    const body = { email: 'again@retries.example', firstname: 'Again', roles: [], sendsEmail: false }
    const { id } = (await ok(post('/admins', body))).body.data
    return { path: `/admins/${id}/invitation`, body: { sendsEmail: false } }
  },
  '/roles': async () => ({ path: '/roles', body: { name: 'Role made once' } }),
  '/tokens': async () => ({ path: '/tokens', body: { name: 'Token made once', type: 'read-only' } }),
  '/tokens/:id/regenerate': async () => {
    const { id } = (await ok(post('/tokens', { name: 'To regenerate', type: 'read-only' }))).body.data
    return { path: `/tokens/${id}/regenerate`, body: {} }
  },
  '/api-roles': async () => ({ path: '/api-roles', body: { name: 'API role made once', actions: [] } }),
  '/users': async () => {
    const [role] = await rowsOf(served, 'up_roles')
    return { path: '/users', body: { username: 'once', email: 'once@users.example', password: 'Secret-horse-7', role: Number(role!.id) } }
  },
  '/locales': async () => ({ path: '/locales', body: { code: 'fr' } }),
  '/webhooks': async () => ({ path: '/webhooks', body: { name: 'Made once', url: 'http://127.0.0.1:9/', events: [] } }),
  '/views': async () => ({ path: '/views', body: { name: 'View made once', type: story, query: 'state=draft', visibility: 'mine' } }),
  '/webhooks/:id/secret': async () => ({ path: `/webhooks/${await newWebhook('With a secret')}/secret`, body: {} }),
  '/webhooks/:id/resend': async () => {
    const id = await newWebhook('To resend to')
    await newStory('An event')
    return { path: `/webhooks/${id}/resend`, body: { after: 0 } }
  },
}

/** POSTs that change nothing, or have another way to be sent again. */
const others = [
  ...['', '/refresh', '/password', '/first', '/forgot', '/reset', '/invitation/:code', '/change-password', '/demo'].map(
    (path) => `/session${path}`,
  ),
  ...['/uid/:type/:attribute', '/model/plan', '/model/apply', '/model/undo', '/model/restore', '/webhooks/:id/test', '/presence'],
]

const acts = async () => (await rowsOf(served, 'octavo_activity')).length

rule('retries.7', 'every POST that changes something takes a key, and the description says so', async () => {
  const posts = resources.filter(({ method }) => method === 'POST').map(({ path }) => path)
  expect([...Object.keys(requests), ...others].sort()).toEqual([...posts].sort())
  const { body } = await ok(ada.get('/openapi.json'))
  const taking = posts.filter((path) =>
    body.paths[path.replaceAll(/:(\w+)/g, '{$1}')].post.parameters.some(({ name }: { name: string }) => name === 'Idempotency-Key'),
  )
  expect(taking.sort()).toEqual(Object.keys(requests).sort())
})

for (const [path, prepare] of Object.entries(requests))
  rule('retries.7', `POST ${path} is done once per key`, async () => {
    const request = await prepare()
    const key = `once-${path.replaceAll(/\W+/g, '-')}`
    const before = await acts()
    const first = await ok(send(request, key))
    const done = await acts()
    expect(done).toBeGreaterThan(before)
    const again = await send(request, key)
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([first.status, first.text, first.headers.get('etag')])
    expect(await acts()).toBe(done)
    const other = { ...request, path: `${request.path}${request.path.includes('?') ? '&' : '?'}other=1` }
    const conflict = await send(other, key)
    // A resource whose query is checked refuses the parameter first.
    expect([400, 422]).toContain(conflict.status)
    expect(await acts()).toBe(done)
  })

rule('retries.7', 'another body is another request, also another file in a form of the same shape', async () => {
  const letter = (text: string): Request => ({ path: '/files', form: [file(text, 'letter.txt', 'text/plain')] })
  await ok(send(letter('first'), 'files'))
  expect((await send(letter('other'), 'files')).status).toBe(422)
  expect((await send({ path: '/files', form: [file('first', 'other.txt', 'text/plain')] }, 'files')).status).toBe(422)
  const { path, headers } = await acting('By its state', 'publish')
  await ok(send({ path, headers: headers! }, 'state'))
  // The expected state is not part of the request: the first one has changed it.
  expect((await send({ path, headers: { 'if-match': '"another"' } }, 'state')).status).toBe(200)
  expect((await send({ path }, 'bad key')).status).toBe(400)
})

rule('retries.7', 'while the first request is under way, the second is 409, and nothing is done twice', async () => {
  const request = { path: '/folders', body: { name: 'At once' } }
  const answers = await Promise.all(Array.from({ length: 8 }, () => send(request, 'at-once')))
  for (const { status, headers } of answers) if (status !== 201) expect([status, headers.get('retry-after')]).toEqual([409, '1'])
  expect((await ok(send(request, 'at-once'))).body).toEqual(answers.find(({ status }) => status === 201)!.body)
  const beside = await serveExisting(served, secrets)
  try {
    const elsewhere = ada.at(beside)
    for (let number = 0; number < 8; number++) {
      const body = { name: `By two processes ${number}` }
      const [here, there] = await Promise.all([
        send({ path: '/roles', body }, `two-${number}`),
        send({ path: '/roles', body }, `two-${number}`, elsewhere),
      ])
      expect([here.status, here.text]).toEqual([201, there.text])
    }
    expect((await rowsOf(served, 'admin_roles')).filter(({ name }) => String(name).startsWith('By two'))).toHaveLength(8)
  } finally {
    await beside.close()
  }
})

rule('retries.7', 'a refusal leaves no key, and a failed action leaves neither effects nor its key', async () => {
  const kept = async (key: string) => served.sql('SELECT id FROM octavo_idempotency_keys WHERE "key" = ?', key)
  await ok(post('/roles', { name: 'Taken' }))
  expect((await send({ path: '/roles', body: { name: 'Taken' } }, 'refused')).status).toBe(400)
  const { path, headers } = await acting('To be changed meanwhile', 'publish')
  await change(path.replace('/publish', ''), { title: 'Meanwhile' })
  expect((await send({ path, headers: headers! }, 'refused')).status).toBe(412)
  expect(await kept('refused')).toEqual([])
  const made = async () => (await rowsOf(served, 'admin_roles')).filter(({ name }) => name === 'Not made').length
  if (!isOnServer)
    await withoutKeys('', async () => {
      // No resource declares this status.
      await expect(send({ path: '/roles', body: { name: 'Not made' } }, 'refused')).rejects.toThrow('POST /roles (/roles) is 500')
    })
  expect(await made()).toBe(0)
  expect((await send({ path: '/roles', body: { name: 'Not made' } }, 'refused')).status).toBe(201)
  expect(await made()).toBe(1)
})

/** Does something while the database refuses keys, or only those that a condition is true for. */
async function withoutKeys(condition: string, work: () => Promise<void>): Promise<void> {
  await served.sql(`CREATE TRIGGER no_keys BEFORE INSERT ON octavo_idempotency_keys ${condition} BEGIN SELECT RAISE(ABORT, 'no keys'); END`)
  try {
    await work()
  } finally {
    await served.sql('DROP TRIGGER no_keys')
  }
}

rule('retries.8', 'rights are checked first, and an administrator whose rights changed gets the current state', async () => {
  await giveRights(served, 'publisher', newsroomRoles.editor!)
  const bob = await signInClient(served, 'bob@retries.example', ['publisher'])
  const made = await ok(send({ path: `/content/${story}`, body: { data: { title: 'Of Bob' } } }, 'bob-1', bob))
  await change(pathOf(made), { title: 'Changed by Ada' })
  const ofPublisher = `IN (SELECT l.permission_id FROM admin_permissions_role_lnk l JOIN admin_roles r ON r.id = l.role_id WHERE r.code = 'publisher')`
  const again = () => send({ path: `/content/${story}`, body: { data: { title: 'Of Bob' } } }, 'bob-1', bob)
  expect((await ok(again())).body).toEqual(made.body)
  await served.sql(`DELETE FROM admin_permissions WHERE action LIKE '%explorer.delete' AND id ${ofPublisher}`)
  expect((await ok(again())).body.data.draft.title).toBe('Changed by Ada')
  await served.sql(`DELETE FROM admin_permissions WHERE action LIKE '%explorer.create' AND id ${ofPublisher}`)
  expect((await again()).status).toBe(403)
  expect((await send({ path: '/roles', body: { name: 'Taken' } }, 'bob-2', bob)).status).toBe(403)
})

rule('retries.8', 'a secret is shown again, and is nowhere in the database; also where the process ended before its response', async () => {
  const secretOf: Readonly<Record<string, (body: TestResponse['body']) => string>> = {
    '/tokens': ({ key }) => key,
    '/tokens/:id/regenerate': ({ key }) => key,
    '/webhooks': ({ secret }) => secret,
    '/admins': ({ invitation }) => invitation.link.split('/').at(-1),
    '/admins/:id/invitation': ({ data }) => data.link.split('/').at(-1),
  }
  const bodies: Readonly<Record<string, unknown>> = {
    '/tokens': { name: 'Another token', type: 'read-only' },
    '/webhooks': { name: 'Another webhook', url: 'http://127.0.0.1:9/', events: [] },
    '/admins': { email: 'other@retries.example', firstname: 'Other', roles: [], sendsEmail: false },
  }
  let invited = 0
  let token = 0
  for (const [path, secret] of Object.entries(secretOf)) {
    const request = { path: path.replace(':id', String(path.startsWith('/admins') ? invited : token)), body: bodies[path] ?? {} }
    const key = `secret-${path}`
    const first = await ok(send(request, key))
    if (path === '/tokens') token = first.body.data.id
    if (path === '/admins') invited = first.body.data.id
    const shown = secret(first.body)
    expect(shown.length).toBeGreaterThan(20)
    // Webhooks are signed with theirs.
    const tables = ['octavo_idempotency_keys', 'octavo_activity', 'strapi_api_tokens', 'admin_users', 'octavo_one_time_tokens']
    for (const table of tables) expect(textOf(await rowsOf(served, table)), `${path} ${table}`).not.toContain(shown)
    // With another hash of the rights, as if the response was not stored, it is rebuilt from the record of the transaction.
    await served.sql(`UPDATE octavo_idempotency_keys SET grants = 'others' WHERE "key" = ?`, key)
    const again = await ok(send(request, key))
    expect([again.status, again.body]).toEqual([first.status, first.body])
  }
})

rule('retries.8', 'a repeated request succeeds even if the response could not be stored', async () => {
  if (isOnServer) return
  const request = { path: '/tokens', body: { name: 'Without a response', type: 'read-only' } }
  let first: TestResponse | undefined
  // The record of the transaction is shorter than this with the key of the token, the response stored after it is longer.
  await withoutKeys('WHEN length(NEW.answer) > 400', async () => {
    first = await ok(send(request, 'unkept'))
  })
  const [{ bytes } = { bytes: 0 }] = await served.sql(
    'SELECT length(answer) AS bytes FROM octavo_idempotency_keys WHERE "key" = ?',
    'unkept',
  )
  expect(bytes).toBeLessThan(400)
  expect((await ok(send(request, 'unkept'))).body).toEqual(first?.body)
})

/** Rows as a text with readable bytes. */
const textOf = (rows: readonly object[]): string =>
  rows
    .map((row) => Object.values(row).map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value))))
    .join('\n')

rule('retries.8', 'a response that is too large is rebuilt, and an action on many documents records the result for each', async () => {
  const small = await serveNewsroom({ config: { limits: { ...rates, idempotencyBytes: 64_000 } } })
  try {
    const client = await signInClient(small, 'ada@small.example')
    const request = { path: `/content/${writer}`, body: { data: { name: 'x'.repeat(200), phone: '1'.repeat(200) } } }
    const story1 = { path: `/content/${story}`, body: { data: { title: 'Large', summary: 'x'.repeat(5_000) } } }
    for (const [key, one] of [['small', request] as const, ['large', story1] as const]) {
      const first = await ok(send(one, key, client))
      expect((await ok(send(one, key, client))).body).toEqual(first.body)
    }
  } finally {
    await small.close()
  }
})
