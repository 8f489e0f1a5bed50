// docs/guide/websites.md: its code compiles, and does what the page says, against a service whose drafts are closed.
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addToken, roleId, secrets } from '../spec/callers.js'
import { type Served, serveMagazine } from '../support/serve.js'
import { type Recipes, writeRecipes } from './recipes.js'

let served: Served
let recipes: Recipes
/** An article that is a draft only. */
let slug: string
const state: { isOn: boolean; tag?: string } = { isOn: false }
const secret = 'a secret of editors'
beforeAll(async () => {
  served = await serveMagazine({
    environment: secrets,
    config: { trustProxy: 1, api: { rest: { draftGrant: true } }, limits: { authRateLimit: 3 } },
  })
  await addToken(served, 'preview', {
    type: 'custom',
    actions: ['find', 'findOne', 'findDraft'].map((name) => `api::article.article.${name}`),
  })
  await addToken(served, 'full', { type: 'full-access' })
  const drafts = await served.request('/api/articles?status=draft&publicationFilter=never-published&fields=slug', { token: 'full' })
  slug = drafts.body.data[0].slug
  recipes = writeRecipes('docs/guide/websites.md')
  Object.assign(process.env, { OCTAVO_URL: served.origin, OCTAVO_PREVIEW_TOKEN: 'preview', PREVIEW_SECRET: secret })
  Object.assign(globalThis, { previewState: state })
})
afterAll(async () => {
  recipes?.close()
  for (const name of ['OCTAVO_URL', 'OCTAVO_PREVIEW_TOKEN', 'PREVIEW_SECRET', 'WEBHOOK_SECRET']) delete process.env[name]
  await served.close()
})

const link = (path: string, given = secret, more = '') =>
  `https://site.example/api/preview?secret=${encodeURIComponent(given)}&path=${encodeURIComponent(path)}${more}`

/** The text of an element and its descendants, without marks. */
const textOf = (node: unknown): string =>
  typeof node === 'string'
    ? node.replace(/[\u200b-\u200d\ufeff\u{e0000}-\u{e007f}]/gu, '')
    : ((node as { children?: unknown[] })?.children ?? []).map(textOf).join('')

test('the page has recipes for all three frameworks, and they compile', () => {
  expect(recipes.files).toEqual([
    'app/api/revalidate/route.ts',
    'lib/octavo.ts',
    'app/api/preview/route.ts',
    'app/articles/[slug]/page.tsx',
    'server/api/preview.get.ts',
    'server/api/articles/[slug].get.ts',
    'src/pages/preview.ts',
    'src/pages/articles/[slug].astro.ts',
    'lib/where.ts',
    'lib/connect.ts',
    'lib/sign-in.ts',
  ])
  expect(recipes.typeErrors()).toEqual([])
})

test('a signed webhook revalidates the pages of its type', async () => {
  const { POST } = await recipes.load<{ POST(request: Request): Promise<Response> }>('app/api/revalidate/route.ts')
  process.env.WEBHOOK_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const time = new Date()
  const body = JSON.stringify({ event: 'entry.publish', model: 'article' })
  const send = (signature: string) =>
    POST(
      new Request('https://site.example/api/revalidate', {
        method: 'POST',
        body,
        headers: {
          'webhook-id': 'evt_1',
          'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
          'webhook-signature': signature,
        },
      }),
    )
  await expect(send('v1,AAAA')).rejects.toThrow()
  const { status } = await send(new Webhook(process.env.WEBHOOK_SECRET).sign('evt_1', time, body))
  expect([status, state.tag]).toEqual([204, 'article'])
})

test('the public reads no drafts, and the token of the preview does', async () => {
  const { octavo } = await recipes.load<{ octavo(path: string, preview?: boolean): Promise<{ slug: string }[]> }>('lib/octavo.ts')
  expect(await octavo(`articles?filters[slug]=${slug}`)).toEqual([])
  expect(await octavo(`articles?filters[slug]=${slug}&fields=slug`, true)).toEqual([expect.objectContaining({ slug })])
  await expect(octavo('articles?sort=nothing')).rejects.toThrow('400 Invalid key nothing')
  expect((await served.request('/api/articles?status=draft')).status).toBe(403)
})

describe('Next.js', () => {
  type Route = { GET(request: Request): Promise<Response> }
  type Page = { default(props: { params: Promise<{ slug: string }> }): Promise<unknown> }
  const showing = async () => (await recipes.load<Page>('app/articles/[slug]/page.tsx')).default({ params: Promise.resolve({ slug }) })

  test('a link turns draft mode on, and the page shows the draft; another one turns it off', async () => {
    const { GET } = await recipes.load<Route>('app/api/preview/route.ts')
    await expect(showing()).rejects.toThrow('notFound')
    await expect(GET(new Request(link(`/articles/${slug}`)))).rejects.toMatchObject({ path: `/articles/${slug}` })
    expect(state.isOn).toBe(true)
    expect(textOf(await showing())).toMatch(/\S/)
    await expect(GET(new Request(link('/', secret, '&status=published')))).rejects.toMatchObject({ path: '/' })
    expect(state.isOn).toBe(false)
  })

  test('a link with another secret, or to another site, does nothing', async () => {
    const { GET } = await recipes.load<Route>('app/api/preview/route.ts')
    for (const [path, given] of [
      ['/x', 'wrong'],
      ['//elsewhere.example', secret],
      ['/\\elsewhere.example', secret],
      ['https://elsewhere.example', secret],
    ])
      expect([path, (await GET(new Request(link(path!, given)))).status]).toEqual([path, 401])
    expect(state.isOn).toBe(false)
  })
})

describe('Nuxt', () => {
  interface Event {
    readonly query: object
    readonly params: object
    readonly cookies: Record<string, string>
    location?: string
  }
  type Handler = { default(event: Event): Promise<{ title: string }> }
  const event = (query: object, cookies = {}): Event => ({ query, params: { slug }, cookies })

  test('after a link sets the cookie, the server shows the draft', async () => {
    const preview = await recipes.load<Handler>('server/api/preview.get.ts')
    const article = await recipes.load<Handler>('server/api/articles/[slug].get.ts')
    await expect(article.default(event({}))).rejects.toMatchObject({ statusCode: 404 })
    await expect(article.default(event({}, { preview: 'wrong' }))).rejects.toMatchObject({ statusCode: 404 })
    const opened = event({ secret, path: `/articles/${slug}` })
    await preview.default(opened)
    expect(opened.location).toBe(`/articles/${slug}`)
    expect((await article.default(event({}, opened.cookies))).title).toMatch(/\S/)
    await preview.default(Object.assign(opened, { query: { secret, path: '/', status: 'published' } }))
    expect(opened.cookies).toEqual({})
    expect(() => preview.default(event({ secret: 'wrong', path: '/' }))).toThrow('not valid')
  })
})

describe('Astro', () => {
  const cookiesOf = (values: Map<string, string>) => ({
    get: (name: string) => (values.has(name) ? { value: values.get(name)! } : undefined),
    set: (name: string, value: string) => void values.set(name, value),
    delete: (name: string) => void values.delete(name),
  })

  test('after a link sets the cookie, the page shows the draft', async () => {
    const { GET } = await recipes.load<{ GET(context: object): Response }>('src/pages/preview.ts')
    const page = (
      await recipes.load<{ default(Astro: object): Promise<{ title?: string; status?: number }> }>('src/pages/articles/[slug].astro.ts')
    ).default
    const values = new Map<string, string>()
    const cookies = cookiesOf(values)
    const redirect = (path: string) => new Response(null, { status: 302, headers: { location: path } })
    expect((await page({ cookies, params: { slug } })).status).toBe(404)
    expect(GET({ url: new URL(link('/x', 'wrong')), cookies, redirect }).status).toBe(401)
    expect(GET({ url: new URL(link(`/articles/${slug}`)), cookies, redirect }).headers.get('location')).toBe(`/articles/${slug}`)
    expect((await page({ cookies, params: { slug } })).title).toMatch(/\S/)
    GET({ url: new URL(link('/', secret, '&status=published')), cookies, redirect })
    expect(values.size).toBe(0)
  })
})

test('texts of a preview say where they come from, and are plain again without their marks', async () => {
  const { octavo } = await recipes.load<{ octavo(path: string, preview?: boolean): Promise<{ title: string; documentId: string }[]> }>(
    'lib/octavo.ts',
  )
  const where = await recipes.load<{ sourceOf(text: string): URLSearchParams | null; plain(text: string): string }>('lib/where.ts')
  const [article] = await octavo(`articles?filters[slug]=${slug}&fields=title`, true)
  expect(Object.fromEntries(where.sourceOf(article!.title)!)).toMatchObject({
    documentId: article!.documentId,
    path: 'title',
    model: 'api::article.article',
  })
  const plain = where.plain(article!.title)
  expect([plain.length < article!.title.length, where.sourceOf(plain)]).toEqual([true, null])
})

test('pages of other origins may send the headers of a preview', async () => {
  const headers = { origin: 'https://site.example', 'access-control-request-method': 'GET' }
  const allowed = (await served.request('/api/articles', { method: 'OPTIONS', headers })).headers.get('access-control-allow-headers')
  for (const name of ['Strapi-Encode-Source-Maps', 'Strapi-Response-Format', 'Authorization']) expect(allowed!.split(',')).toContain(name)
})

test('a server that signs visitors in names their addresses, so that they do not lock each other out', async () => {
  const { signIn } = await recipes.load<{ signIn(identifier: string, password: string, address: string): Promise<string | null> }>(
    'lib/sign-in.ts',
  )
  const body = JSON.stringify({
    username: 'ida',
    email: 'ida@site.example',
    password: 'a password',
    confirmed: true,
    role: await roleId(served, 'authenticated'),
  })
  await served.request('/api/users', { method: 'POST', token: 'full', headers: { 'content-type': 'application/json' }, body })
  expect(await signIn('ida', 'a password', '203.0.113.1')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
  for (let attempt = 0; attempt < 3; attempt++) expect(await signIn('nobody', 'wrong', '203.0.113.1')).toBeNull()
  await expect(signIn('nobody', 'wrong', '203.0.113.1')).rejects.toThrow('429')
  expect(await signIn('nobody', 'wrong', '203.0.113.2')).toBeNull()
})
