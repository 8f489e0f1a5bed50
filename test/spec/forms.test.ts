// Bodies as multipart forms: documents, accounts, users and uploads read them as Strapi 5.54 was seen to do, and nothing is 200 without effect.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { serveProject } from '../support/serve.js'
import { addToken, addUser, grant, secrets } from './callers.js'
import { access, contentType } from './library.js'

let served: Served
beforeAll(async () => {
  served = await serveProject(
    {
      ...contentType('tag', {
        name: { type: 'string' },
        weight: { type: 'integer' },
        flag: { type: 'boolean' },
        pic: { type: 'media', multiple: false },
        others: { type: 'relation', relation: 'manyToMany', target: 'api::tag.tag' },
      }),
      ...access([]),
    },
    {
      config: { limits: { authRateLimit: 0, bodyBytes: 100_000 }, api: { rest: { contract: 'strapi' } } },
      code: {
        routes: [
          {
            method: 'POST',
            path: '/echo',
            handle: async ({ body }) => ({ body }),
            body: 'json',
            action: 'api::echo.echo.echo',
          },
        ],
      },
      environment: { ...secrets },
    },
  )
  await addToken(served, 'full', { type: 'full-access' })
  for (const name of ['callback', 'register', 'forgotPassword']) await grant(served, 'public', `plugin::users-permissions.auth.${name}`)
  await addUser(served, 'alice', 'authenticated')
})
afterAll(() => served.close())

type Fields = readonly (readonly [string, string | Blob, string?])[]

function send(path: string, fields: Fields, { method = 'POST', token = 'full' }: { method?: string; token?: string | undefined } = {}) {
  const body = new FormData()
  for (const [name, value, filename] of fields)
    typeof value === 'string' ? body.append(name, value) : body.append(name, value, filename ?? 'file')
  return served.request(path, { method, body, ...(token === '' ? {} : { token }) })
}

rule('forms.1', 'a document is written by a form with fields in brackets; data as one text is refused', async () => {
  const made = await send('/api/tags', [
    ['data[name]', 'x'],
    ['data[weight]', '5'],
    ['data[flag]', 'true'],
  ])
  expect([made.status, made.body.data]).toMatchObject([201, { name: 'x', weight: 5, flag: true }])
  const path = `/api/tags/${made.body.data.documentId}`
  const connected = await send('/api/tags?populate=others', [['data[others][connect][0]', made.body.data.documentId]])
  expect(connected.body.data.others).toMatchObject([{ name: 'x' }])
  expect((await send(path, [['data[name]', 'y']], { method: 'PUT' })).body.data).toMatchObject({ name: 'y', weight: 5 })
  const file = new Blob(['text'])
  const refused: readonly (readonly [Fields, number, string])[] = [
    [[['name', 'dot']], 400, 'Missing "data" payload in the request body'],
    [[['data.name', 'dot']], 400, 'Missing "data" payload in the request body'],
    [[['data', '{"name":"x"}']], 400, 'Missing "data"'],
    [
      [
        ['data', '{"name":"x"}'],
        ['files.pic', file, 'a.txt'],
      ],
      400,
      'Missing "data"',
    ],
    [
      [
        ['data', '{"name":"a"}'],
        ['data[weight]', '8'],
      ],
      400,
      '',
    ],
    [
      [
        ['data[name]', 'a'],
        ['data[name]', 'b'],
      ],
      400,
      'name must be a `string` type',
    ],
    [
      [
        ['data[name]', 'a'],
        ['files.pic', file, 'a.txt'],
      ],
      400,
      'Upload files first',
    ],
    [Array.from({ length: 201 }, (_, index) => [`data[a${index}]`, ''] as const), 413, '200 fields'],
    [[['data[name]', 'x'.repeat(100_000)]], 413, ''],
  ]
  const total = async () => (await served.request('/api/tags', { token: 'full' })).body.meta.pagination.total
  const before = await total()
  for (const [fields, status, message] of refused) {
    const { status: is, body } = await send('/api/tags', fields)
    expect([fields[0]![0], is, body.error.message]).toEqual([fields[0]![0], status, expect.stringContaining(message)])
  }
  const surrogate = `--b\r\ncontent-disposition: form-data; name="identifier"\r\ncontent-type: text/plain; charset=utf-16le\r\n\r\n`
  const halves = Buffer.concat([Buffer.from(surrogate), Buffer.from([0, 0xd8, 0x61, 0]), Buffer.from('\r\n--b--\r\n')])
  const half = await served.request('/api/auth/local', {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: halves as never,
  })
  expect(half.status).toBe(400)
  const bare = await served.request('/api/tags', {
    method: 'POST',
    token: 'full',
    headers: { 'content-type': 'multipart/form-data' },
    body: 'x',
  })
  expect([bare.status, bare.body.error.message]).toEqual([400, 'Malformed multipart body'])
  expect(await total()).toBe(before)
  // A file input of a page without a chosen file.
  expect(
    (
      await send('/api/tags', [
        ['data[name]', 'z'],
        ['files.pic', new Blob([]), ''],
      ])
    ).status,
  ).toBe(201)
})

rule('forms.2', 'users, sign-ins and custom routes accept forms too; an unsupported body is 415 and never 200', async () => {
  const made = await send(
    '/api/auth/local/register',
    [
      ['username', 'multi'],
      ['email', 'multi@example.test'],
      ['password', 'secret-123'],
    ],
    { token: '' },
  )
  expect([made.status, made.body.user.username]).toEqual([200, 'multi'])
  const signIn = [
    ['identifier', 'multi'],
    ['password', 'secret-123'],
  ] as const
  const { jwt } = (await send('/api/auth/local', signIn, { token: '' })).body
  expect((await served.request('/api/users/me', { token: jwt })).status).not.toBe(401)
  expect((await send('/api/auth/forgot-password', [['email', 'multi@example.test']], { token: '' })).body).toEqual({ ok: true })
  const path = `/api/users/${made.body.user.id}`
  const put = await send(
    path,
    [
      ['email', 'new@example.test'],
      ['role[connect][0][id]', '2'],
    ],
    { method: 'PUT' },
  )
  expect([put.status, put.body]).toMatchObject([200, { email: 'new@example.test', role: { id: 2 } }])
  const read = (await served.request(path, { token: 'full' })).body
  expect(read.email).toBe('new@example.test')
  for (const type of ['text/plain', 'application/xml']) {
    const refused = await served.request(path, {
      method: 'PUT',
      token: 'full',
      headers: { 'content-type': type },
      body: '{"email":"no@example.test"}',
    })
    expect([type, refused.status, refused.body.error.name]).toEqual([type, 415, 'UnsupportedMediaTypeError'])
  }
  const withFile = await send(path, [['avatar', new Blob(['x']), 'a.txt']], { method: 'PUT' })
  expect([withFile.status, withFile.body.error.message]).toEqual([400, expect.stringContaining('"avatar"')])
  expect((await send('/api/users-permissions/roles', [['name', 'By a form']])).body).toEqual({ ok: true })
  expect((await send('/api/echo', [['a[b][]', 'c']])).body).toEqual({ body: { a: { b: ['c'] } } })
})

rule('forms.3', 'file information can be sent as fields in brackets', async () => {
  const file = (name: string) => ['files', new Blob([name]), `${name}.txt`] as const
  const one = await send('/api/upload', [
    file('a'),
    ['fileInfo[name]', 'bracket'],
    ['fileInfo[caption]', 'cap'],
    ['fileInfo[alternativeText]', 'alt'],
  ])
  expect([one.status, one.body]).toMatchObject([201, [{ name: 'bracket', caption: 'cap', alternativeText: 'alt' }]])
  const two = await send('/api/upload', [file('b'), file('c'), ['fileInfo[0][name]', 'b0'], ['fileInfo[1][name]', 'c1']])
  expect([two.status, two.body]).toMatchObject([201, [{ name: 'b0' }, { name: 'c1' }]])
  const listed = await send('/api/upload', [file('d'), file('e'), ['fileInfo[]', '{"name":"d0"}'], ['fileInfo[]', '{"name":"e1"}']])
  expect([listed.status, listed.body]).toMatchObject([201, [{ name: 'd0' }, { name: 'e1' }]])
  const changed = await send(`/api/upload?id=${one.body[0].id}`, [['fileInfo[name]', 'renamed']])
  expect([changed.status, changed.body]).toMatchObject([200, { name: 'renamed', caption: 'cap' }])
  for (const fields of [
    [file('f'), ['fileInfo', '{"name":"js"}'], ['fileInfo[caption]', 'mix']],
    [file('g'), file('h'), ['fileInfo[name]', 'b0'], ['fileInfo[name]', 'b1']],
  ] as const)
    expect((await send('/api/upload', fields)).status).toBe(400)
})

rule('forms.4', 'names have at most 20 levels, and a form with too many fields is refused early', async () => {
  const deep = await send('/api/tags', [[`data${'[a]'.repeat(21)}`, 'x']])
  expect([deep.status, deep.body.error.message]).toEqual([400, expect.stringMatching(/^The name of a field has at most 20 levels/)])
  expect((await send('/api/tags', [[`data${'[a]'.repeat(20)}`, 'x']])).body.error.message).toBe('Invalid key a')
  const many = Array.from({ length: 1_000 }, (_, index) => [`a${index}`, 'x'] as const)
  for (const [path, token] of [
    ['/api/tags', 'full'],
    ['/api/auth/local', ''],
  ] as const)
    expect((await send(path, many, { token })).status).toBe(413)
  // Bodies of several pieces are read whole.
  const long = await send('/api/echo', [
    ['data[name]', 'x'.repeat(90_000)],
    ['data[weight]', '5'],
  ])
  expect([long.status, long.text.length > 90_000, long.text.includes('"weight":"5"')]).toEqual([200, true, true])
})
