// The example of the guide for projects of Strapi: it does what the guide says, and the guide shows its files.
import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addToken, grant, secrets } from '../spec/callers.js'
import { type Served, serveProject, type TestResponse } from '../support/serve.js'
import { patience } from '../support/until.js'

const root = join(import.meta.dirname, '..', '..')
const example = join(import.meta.dirname, 'from-strapi')
const guide = readFileSync(join(root, 'docs', 'guide', 'from-strapi.md'), 'utf8')
const [article, tag, note, order, product] = ['article', 'tag', 'note', 'order', 'product'].map((name) => `api::${name}.${name}`)

/** The files of the example, by their paths in it. */
const files = Object.fromEntries(
  readdirSync(example, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [relative(example, path), readFileSync(path, 'utf8')]),
)

let served: Served
let ann: string
let bob: string
beforeAll(async () => {
  process.env.EXAMPLE_CRON = '* * * * * *'
  served = await serveProject(files, { environment: secrets })
  for (const role of ['public', 'authenticated'])
    for (const action of ['find', 'findOne']) await grant(served, role, `${article}.${action}`)
  for (const action of ['find', 'findOne', 'create', 'update', 'delete']) await grant(served, 'authenticated', `${note}.${action}`)
  for (const action of ['find', 'findOne', 'create', 'checkout']) await grant(served, 'authenticated', `${order}.${action}`)
  await grant(served, 'authenticated', `${product}.find`)
  await grant(served, 'public', `${tag}.find`)
  await addToken(served, 'all', { type: 'full-access' })
  await addToken(served, 'author', { type: 'custom', actions: [`${article}.create`, `${article}.update`] })
  await addToken(served, 'exports', { type: 'custom', actions: [`${article}.export`, `${article}.find`] })
  ann = await signUp('ann')
  bob = await signUp('bob')
})
afterAll(() => served.close())

const send = (method: string, path: string, token?: string, body?: object): Promise<TestResponse> =>
  served.request(`/api/${path}`, {
    method,
    ...(token === undefined ? {} : { token }),
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
const make = async (path: string, data: object, token = 'all'): Promise<string> => {
  const { status, text, body } = await send('POST', path, token, { data })
  expect(status, text).toBe(201)
  return body.data.documentId
}

async function signUp(username: string): Promise<string> {
  const { status, text, body } = await send('POST', 'auth/local/register', undefined, {
    ...{ username, email: `${username}@users.example`, password: 'a long password' },
  })
  expect(status, text).toBe(200)
  return body.jwt
}

test('articles have their tags, a slug and minutes; members only and featured ones are for those who may', async () => {
  const rivers = await make('tags', { name: 'Rivers', color: '#00f' })
  const long = 'word '.repeat(450).trim()
  const created = await send('POST', 'articles', 'all', { data: { title: 'Zebra & Crossing', text: long, tags: [rivers], featured: true } })
  expect(created.body.data.slug, created.text).toBe('zebra-crossing')
  await make('articles', { title: 'Antelope', audience: 'members' })
  const shown = (await send('GET', 'articles')).body.data
  expect(shown).toMatchObject([{ title: 'Zebra & Crossing', minutes: 3, tags: [{ name: 'Rivers' }] }])
  expect(shown[0].tags[0]).not.toHaveProperty('color')
  const titles = (await send('GET', 'articles', 'all')).body.data.map(({ title }: { title: string }) => title)
  expect(titles).toEqual(['Antelope', 'Zebra & Crossing'])
  for (const featured of [true, 'true', 1]) {
    const refused = await send('POST', 'articles', 'author', { data: { title: 'Mine', featured } })
    expect([refused.status, refused.body.error.name]).toEqual([403, 'PolicyError'])
  }
  const { documentId: zebra } = shown[0]
  expect((await send('PUT', `articles/${zebra}`, 'author', { data: { featured: true } })).body.error.name).toBe('PolicyError')
  expect((await send('POST', 'articles', 'author', { data: { title: 'Mine' } })).status).toBe(201)
})

test('everybody has their own notes', async () => {
  const { body } = await send('POST', 'notes', ann, { data: { text: 'of Ann', ownerId: 4711 } })
  expect(body.data).toMatchObject({ text: 'of Ann' })
  expect((await send('GET', 'notes', ann)).body.data).toHaveLength(1)
  expect((await send('GET', 'notes', bob)).body.data).toEqual([])
  expect((await send('GET', `notes/${body.data.documentId}`, bob)).status).toBe(404)
  expect((await send('PUT', `notes/${body.data.documentId}`, bob, { data: { text: 'of Bob' } })).status).toBe(404)
  expect((await send('GET', 'notes', 'all')).body.data).toHaveLength(1)
})

test('routes list featured products, and export in reading order', async () => {
  const featured = await send('GET', 'articles/featured')
  expect(featured.body.data.map(({ title }: { title: string }) => title)).toEqual(['Zebra & Crossing'])
  expect((await send('GET', 'articles/export')).status).toBe(403)
  const exported = await send('GET', 'articles/export', 'exports')
  expect([exported.status, exported.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
  expect(exported.text.split('\n').slice(0, 2)).toEqual(['title,slug', '"Zebra & Crossing",zebra-crossing'])
})

test('an order is paid once, by its customer or by the payment service, and takes from the stock', async () => {
  const kiln = await make('products', { name: 'Kiln', price: 20, stock: 3 })
  const stock = async () => (await served.service.documents(product!).findOne({ documentId: kiln }))!.stock
  const mine = await make('orders', { product: kiln, amount: 2 }, ann)
  const checkOut = (documentId: string, token: string, body: object) => send('POST', `orders/${documentId}/checkout`, token, body)
  expect((await checkOut(mine, bob, { number: 'P1' })).status).toBe(404)
  const invalid = await checkOut(mine, ann, {})
  expect([invalid.status, invalid.body.error.details]).toEqual([
    400,
    { source: 'body', errors: [{ path: ['number'], message: 'number must be a text', name: 'ValidationError' }] },
  ])
  const paid = await checkOut(mine, ann, { number: 'P1' })
  expect([paid.status, paid.body.data], paid.text).toEqual([200, expect.objectContaining({ state: 'paid', total: 40 })])
  expect(served.log.some((line) => line.includes('"msg":"an order was paid"') && line.includes(mine))).toBe(true)
  // The same payment again, and another one for an order that is paid.
  const again = await checkOut(mine, ann, { number: 'P1' })
  expect([again.status, again.body], again.text).toEqual([200, paid.body])
  await served.service.documents(product!).update({ documentId: kiln, data: { stock: 5 } })
  const twice = await checkOut(mine, ann, { number: 'P0' })
  expect([twice.status, twice.body.error.name]).toEqual([409, 'ConflictError'])
  expect(await stock()).toBe(5)
  await served.service.documents(product!).update({ documentId: kiln, data: { stock: 1 } })
  expect(await stock()).toBe(1)
  const large = await make('orders', { product: kiln, amount: 2 }, bob)
  const refused = await checkOut(large, bob, { number: 'P2' })
  expect([refused.status, refused.body.error]).toEqual([
    409,
    { status: 409, name: 'ConflictError', message: 'Out of stock', details: { left: 1 } },
  ])

  const small = await make('orders', { product: kiln, amount: 1 }, bob)
  const body = JSON.stringify({ orderId: small, number: 'P3' })
  const notify = (signature: string) =>
    served.request('/webhooks/payments', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-signature': signature },
      body,
    })
  expect((await notify('00')).status).toBe(401)
  const signature = createHmac('sha256', 'secret').update(body).digest('hex')
  for (let delivery = 0; delivery < 2; delivery++) expect((await notify(signature)).status).toBe(204)
  expect((await send('GET', `orders/${small}`, bob)).body.data).toMatchObject({ state: 'paid', total: 20 })
  expect(await stock()).toBe(0)
  expect((await send('GET', 'payments', 'all')).body.meta.pagination.total).toBe(2)
})

test('writes are refused while the project is closed', async () => {
  process.env.EXAMPLE_CLOSED = 'true'
  const closed = await send('POST', 'tags', 'all', { data: { name: 'Closed' } })
  expect([closed.status, closed.body.error.message]).toEqual([503, 'Closed for an hour'])
  process.env.EXAMPLE_CLOSED = ''
  expect((await send('GET', 'tags', 'all')).body.data.map(({ name }: { name: string }) => name)).not.toContain('Closed')
})

test('a schedule removes articles that are visible no longer', async () => {
  const gone = await make('articles', { title: 'Yesterday', visibleUntil: new Date(Date.now() - 1_000).toISOString() })
  const stays = await make('articles', { title: 'Tomorrow', visibleUntil: new Date(Date.now() + 1e9).toISOString() })
  await expect.poll(async () => (await send('GET', `articles/${gone}`, 'all')).status, patience).toBe(404)
  expect((await send('GET', `articles/${stays}`, 'all')).status).toBe(200)
})

test('a script does what bootstrap does', async () => {
  mkdirSync(join(served.folder, 'node_modules'), { recursive: true })
  symlinkSync(root, join(served.folder, 'node_modules', 'octavo'))
  const environment = { ...process.env, ...secrets, ...served.sameDatabase, LOG_LEVEL: 'silent' }
  const run = () => execFileSync(process.execPath, [join(served.folder, 'bootstrap.mjs')], { env: environment, encoding: 'utf8' })
  expect(run()).toContain('1 tags were added')
  expect(run()).toContain('0 tags were added')
  const names = (await send('GET', 'tags?sort=name', 'all')).body.data.map(({ name }: { name: string }) => name)
  expect(names).toEqual(['Mountains', 'Rivers'])
})

test('the guide shows the files of the example', () => {
  const shown = [...guide.matchAll(/^```js\n\/\/ ((?:code\/)?[\w-]+(?:\.config)?\.mjs)\n([\s\S]*?)^```/gm)].map(
    ([, path, text]) => [path!, text!] as const,
  )
  expect(shown.map(([path]) => path)).toEqual(
    expect.arrayContaining(['octavo.config.mjs', ...Object.keys(files).filter((path) => path.endsWith('.mjs'))]),
  )
  for (const [path, text] of shown) {
    if (files[path] === undefined) continue
    // The first line of a file is its purpose, in the guide its name.
    const whole = files[path].replace(/^\/\/.*\n/, '')
    for (const part of text.split(/^ *\/\/ …\n/m)) expect(whole.includes(part), `${path}:\n${part}`).toBe(true)
  }
  expect(Object.keys(files)).toContain('bootstrap.mjs')
})
