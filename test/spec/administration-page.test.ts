// The page at /admin over HTTP, and sign-in without a password or code on the machine of a service in development.
import { request } from 'node:http'
import { afterAll, beforeAll, expect } from 'vitest'
import {
  addAdministrator,
  adminPassword,
  allowAdmins,
  pageHeaders,
  projectWithNotes,
  requestAdmin,
  rowsOf,
  type SignedIn,
  signInAdmin,
} from '../support/administration.js'
import { rule } from '../support/rule.js'
import { type Served, type ServeOptions, serveProject } from '../support/serve.js'
import { secrets } from './callers.js'

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

let served: Served
beforeAll(async () => {
  served = await serveProject(projectWithNotes)
})
afterAll(() => served?.close())

/** Serves a project for a test. */
async function serving(options: ServeOptions, work: (other: Served) => Promise<void>): Promise<void> {
  const other = await serveProject(projectWithNotes, options)
  try {
    await work(other)
  } finally {
    await other.close()
  }
}

const assetsOf = (text: string): readonly string[] => [...text.matchAll(/(?:src|href)="([^"]+\/assets\/[^"]+)"/g)].map(([, path]) => path!)

rule('administration-page.1', 'every address is the page, for browsers alone', async () => {
  for (const path of ['/admin', '/admin/', '/admin/content/api::note.note', '/admin/reset/abc', '/admin/index.html?x=1']) {
    const { status, headers, text } = await served.request(path, { headers: html })
    expect([path, status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      path,
      200,
      'text/html; charset=utf-8',
      'no-store',
    ])
    expect(text).toContain('<meta name="octavo-path" content="/admin"')
  }
  for (const path of ['/admin', '/admin/init', '/admin/users/me']) {
    const { status, body } = await served.request(path)
    expect([path, status, body.error.name]).toEqual([path, 404, 'NotFoundError'])
  }
  expect((await served.request('/admin', { method: 'POST', headers: html })).status).toBe(405)
})

rule('administration-page.1', 'the policy allows what the service itself has, and the page keeps to it', async () => {
  const { headers, text } = await served.request('/admin', { headers: html })
  const policy = headers.get('content-security-policy')!
  const parts = Object.fromEntries(policy.split('; ').map((part) => [part.split(' ')[0], part.split(' ').slice(1).join(' ')]))
  expect(parts).toMatchObject({
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'connect-src': "'self'",
    'frame-ancestors': "'none'",
    'base-uri': "'none'",
    'require-trusted-types-for': "'script'",
  })
  expect(policy).not.toMatch(/unsafe|\*|https?:/)
  expect(text).not.toMatch(/<style|style=|<script(?![^>]* src=)| on\w+=/)
})

rule('administration-page.2', 'files are cached for a year and compressed, and nothing else of the build is served', async () => {
  const { text } = await served.request('/admin', { headers: html })
  const assets = assetsOf(text)
  expect(assets.length).toBeGreaterThan(1)
  for (const path of assets) {
    const plain = await served.request(path)
    expect([path, plain.status, plain.headers.get('cache-control')]).toEqual([path, 200, 'public, max-age=31536000, immutable'])
    for (const coding of ['br', 'gzip']) {
      const { headers, text: unpacked } = await served.request(path, { headers: { 'accept-encoding': coding } })
      expect([path, headers.get('content-encoding'), headers.get('vary')?.includes('accept-encoding')]).toEqual([path, coding, true])
      expect(unpacked).toBe(plain.text)
    }
  }
  const [script = ''] = assets
  for (const path of [
    `${script}.br`,
    '/admin/assets/nothing.js',
    '/admin/assets/..%2findex.html',
    '/admin/assets/../.vite/manifest.json',
    '/admin/.vite/manifest.json',
  ])
    expect([path, (await served.request(path)).status]).toEqual([path, 404])
})

rule('administration-page.3', 'the page is below the path of PUBLIC_URL', async () => {
  await serving({ config: { url: 'https://site.test/cms' } }, async (below) => {
    const { text } = await below.request('/admin', { headers: html })
    expect(text).toContain('<meta name="octavo-path" content="/cms/admin"')
    for (const path of assetsOf(text)) expect(path).toMatch(/^\/cms\/admin\/assets\//)
    await addAdministrator(below, 'ada@admins.example')
    expect((await signInAdmin(below, 'ada@admins.example')).answer.headers.get('set-cookie')).toContain('Path=/cms/admin/api/session;')
  })
})

rule('administration-page.4', 'the page can be switched off; the start page leads to it otherwise', async () => {
  const link = /<a href="\/admin">/
  expect((await served.request('/')).text).toMatch(link)
  await serving({ config: { admin: { enabled: false } } }, async (without) => {
    expect((await without.request('/')).text).not.toMatch(link)
    for (const path of ['/admin', '/admin/content/x', assetsOf((await served.request('/admin', { headers: html })).text)[0]!])
      expect([path, (await without.request(path, { headers: html })).status]).toEqual([path, 404])
  })
})

interface Answered {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: responses of several shapes
  readonly body: any
}

/** Sends a request with any `Host`, as the page of that host. */
function ask(
  { origin }: Served,
  method: 'GET' | 'POST',
  path: string,
  given: Readonly<Record<string, string>> = {},
  body?: object,
): Promise<Answered> {
  const { port } = new URL(origin)
  const host = given.host ?? `localhost:${port}`
  const headers = { ...pageHeaders(`http://${host}`), host, ...given }
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path: `/admin/api${path}`, headers }, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('end', () => resolve({ status: response.statusCode!, body: JSON.parse(Buffer.concat(pieces).toString() || 'null') }))
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

const development = { ...secrets, NODE_ENV: 'development' }
const demo = { admin: { demo: true }, limits: { authRateLimit: 0 } }

/** Requests that do not come from a browser on the machine of the service. */
const strangers: readonly Readonly<Record<string, string>>[] = [
  { host: 'cms.test' },
  { host: 'localhost.cms.test' },
  { 'x-forwarded-for': '127.0.0.1' },
  { 'x-forwarded-host': 'localhost' },
  { 'x-real-ip': '127.0.0.1' },
  { forwarded: 'for=127.0.0.1' },
  { via: '1.1 proxy' },
]

/** Services on which no request is one of their own machine's development. */
const elsewhere: readonly ServeOptions[] = [
  { config: demo },
  { config: demo, environment: { ...secrets, NODE_ENV: 'test' } },
  { config: { ...demo, url: 'https://cms.test' }, environment: development },
]

const first = { email: 'eve@admins.example', firstname: 'Eve', password: adminPassword }

rule('administration-page.5', 'on the machine of a service in development the first administrator needs no code', async () => {
  await serving({ config: demo, environment: development }, async (local) => {
    for (const stranger of strangers) {
      expect([stranger, (await ask(local, 'GET', '/session/first', stranger)).body.data]).toMatchObject([stranger, { needsCode: true }])
      const refused = await ask(local, 'POST', '/session/first', stranger, first)
      expect([stranger, refused.status, refused.body.error.details.errors?.[0].path]).toEqual([stranger, 400, ['code']])
    }
    expect((await ask(local, 'POST', '/session/first', { origin: 'http://evil.test' }, first)).status).toBe(403)
    expect((await ask(local, 'GET', '/session/first')).body.data).toEqual({
      isMissing: true,
      needsCode: false,
      hasDemo: true,
      sendsEmails: false,
    })
    const wrong = await ask(local, 'POST', '/session/first', {}, { ...first, code: 'AAAA-AAAA-AAAA-AAAA' })
    expect(wrong.status).toBe(400)
    expect(await rowsOf(local, 'admin_users')).toEqual([])
    expect((await ask(local, 'POST', '/session/first', {}, first)).status).toBe(200)
    expect((await ask(local, 'POST', '/session/first', {}, { ...first, email: 'two@admins.example' })).status).toBe(400)
    expect(await rowsOf(local, 'admin_users')).toHaveLength(1)
  })
  for (const options of elsewhere)
    await serving(options, async (other) => {
      expect((await ask(other, 'GET', '/session/first')).body.data).toMatchObject({ needsCode: true, hasDemo: false })
      expect((await ask(other, 'POST', '/session/first', { origin: 'https://cms.test' }, first)).status).not.toBe(200)
      expect(await rowsOf(other, 'admin_users')).toEqual([])
    })
})

rule('administration-page.6', 'a demo administrator signs in on the machine of a service in development, where this is set', async () => {
  await serving({ config: demo, environment: development }, async (local) => {
    for (const stranger of strangers)
      expect([stranger, (await ask(local, 'POST', '/session/demo', stranger)).status]).toEqual([stranger, 404])
    expect((await ask(local, 'POST', '/session/demo', { origin: 'http://evil.test' })).status).toBe(403)
    expect(await rowsOf(local, 'admin_users')).toEqual([])
    for (let time = 0; time < 2; time++) {
      const { status, body } = await ask(local, 'POST', '/session/demo')
      expect(status).toBe(200)
      const { status: read, body: start } = await local.request('/admin/api/start', { token: body.data.accessToken })
      expect([read, start.data.me]).toMatchObject([200, { email: 'demo@example.com', isSuperAdmin: true }])
    }
    expect(await rowsOf(local, 'admin_users')).toMatchObject([{ email: 'demo@example.com', is_active: 1 }])
    await local.sql('UPDATE admin_users SET blocked = TRUE')
    expect((await ask(local, 'POST', '/session/demo')).status).toBe(400)
  })
  const without: readonly ServeOptions[] = [...elsewhere, { environment: development }]
  for (const options of without)
    await serving(options, async (other) => {
      expect(
        (await ask(other, 'POST', '/session/demo', options.config?.url === undefined ? {} : { origin: options.config.url })).status,
      ).toBe(404)
      expect(await rowsOf(other, 'admin_users')).toEqual([])
    })
})

rule(
  'administration-page.7',
  'the home screen has own drafts, changes by others and documents by state, by the rights to read',
  async () => {
    const attributes = { title: { type: 'string' } }
    const schemaOf = (name: string, draftAndPublish: boolean) => ({
      kind: 'collectionType',
      collectionName: `${name}s`,
      info: { singularName: name, pluralName: `${name}s`, displayName: name },
      options: { draftAndPublish },
      attributes,
    })
    const files = Object.fromEntries(
      (['story', 'memo'] as const).map((name) => [`src/api/${name}/content-types/${name}/schema.json`, schemaOf(name, name === 'story')]),
    )
    const local = await serveProject(files, { config: { limits: { authRateLimit: 0 } } })
    try {
      await addAdministrator(local, 'ada@admins.example')
      await addAdministrator(local, 'ben@admins.example', undefined, { firstname: 'Ben' })
      await addAdministrator(local, 'cleo@admins.example', ['reader'])
      await allowAdmins(local, 'reader', 'plugin::content-manager.explorer.read api::memo.memo')
      const [ada, ben, cleo] = await Promise.all(['ada', 'ben', 'cleo'].map((name) => signInAdmin(local, `${name}@admins.example`)))
      const write = async (by: SignedIn, path: string, method: string, body?: object, etag?: string) => {
        const headers: Record<string, string> = etag === undefined ? {} : { 'if-match': etag }
        const done = await requestAdmin(local, `/content/${path}`, { method, token: by.accessToken, body, headers })
        expect(done.status, done.text).toBeLessThan(300)
        return { id: done.body.data.documentId as string, etag: done.headers.get('etag')! }
      }
      const create = (by: SignedIn, type: string, title: string) => write(by, type, 'POST', { data: { title } })
      const story = 'api::story.story'
      await create(ada!, story, 'Mine')
      const shown = await create(ada!, story, 'Public')
      await write(ada!, `${story}/${shown.id}/publish`, 'POST', undefined, shown.etag)
      const changed = await create(ada!, story, 'Before')
      await write(ben!, `${story}/${changed.id}`, 'PATCH', { changes: { title: 'By Ben' } }, changed.etag)
      await create(ada!, 'api::memo.memo', 'A memo')
      const homeOf = async ({ accessToken: token }: SignedIn) => (await requestAdmin(local, '/home', { token })).body.data
      const namesIn = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name)
      const home = await homeOf(ada!)
      expect(namesIn(home.mine)).toEqual(['Mine'])
      expect(home.theirs).toMatchObject([{ name: 'By Ben', type: story, state: 'draft', updatedBy: { firstname: 'Ben' } }])
      expect(namesIn(home.recent).toSorted()).toEqual(['A memo', 'By Ben', 'Mine', 'Public'])
      expect(home.states).toMatchObject([{ type: story, draft: { total: 2 }, changed: { total: 0 }, published: { total: 1 } }])
      expect(namesIn((await homeOf(ben!)).mine)).toEqual(['By Ben'])
      const planned = await create(ben!, story, 'Planned')
      expect(namesIn((await homeOf(ben!)).mine)).toEqual(['Planned', 'By Ben'])
      const at = new Date(Date.now() + 3_600_000).toISOString()
      const scheduling = { method: 'PUT', token: ben!.accessToken, body: { action: 'publish', at } }
      expect((await requestAdmin(local, `/content/${story}/${planned.id}/schedule`, scheduling)).status).toBe(200)
      expect(namesIn((await homeOf(ben!)).mine)).toEqual(['By Ben'])
      const reader = await homeOf(cleo!)
      expect([reader.mine, reader.theirs, namesIn(reader.recent), reader.states]).toEqual([[], [], ['A memo'], []])
      expect(JSON.stringify(reader)).not.toContain('story')
    } finally {
      await local.close()
    }
  },
)

rule('administration-page.8', 'the home screen has changes by day, and drafts that links of public documents wait for', async () => {
  const schemaOf = (name: string, attributes: object) => ({
    kind: 'collectionType',
    collectionName: `${name}s`,
    info: { singularName: name, pluralName: `${name}s`, displayName: name },
    options: { draftAndPublish: true },
    attributes: { title: { type: 'string' }, ...attributes },
  })
  const quote = { sources: { type: 'relation', relation: 'oneToMany', target: 'api::source.source' } }
  const local = await serveProject({
    'src/api/story/content-types/story/schema.json': schemaOf('story', {
      quote: { type: 'component', component: 'shared.quote' },
      lead: { type: 'relation', relation: 'oneToOne', target: 'api::source.source', inversedBy: 'story' },
    }),
    'src/api/source/content-types/source/schema.json': schemaOf('source', {
      story: { type: 'relation', relation: 'oneToOne', target: 'api::story.story', mappedBy: 'lead' },
    }),
    'src/components/shared/quote.json': { collectionName: 'quotes', info: { displayName: 'Quote' }, attributes: quote },
  })
  try {
    const story = 'api::story.story'
    const source = 'api::source.source'
    await addAdministrator(local, 'ada@admins.example')
    for (const [role, ...types] of [
      ['sources', source],
      ['stories', story],
      ['both', source, story],
      ['own', source, story],
    ] as const) {
      await addAdministrator(local, `${role}@admins.example`, [role])
      await allowAdmins(local, role!, ...types.map((type) => `plugin::content-manager.explorer.read ${type}`))
    }
    const tokenOf = async (name: string) => (await signInAdmin(local, `${name}@admins.example`)).accessToken
    const ofRole = '(SELECT permission_id FROM admin_permissions_role_lnk WHERE role_id = (SELECT id FROM admin_roles WHERE code = ?))'
    const conditions = '["admin::is-creator"]'
    await local.sql(`UPDATE admin_permissions SET conditions = ? WHERE subject = ? AND id IN ${ofRole}`, conditions, story, 'own')
    const [token, sources, stories, both, own] = await Promise.all(['ada', 'sources', 'stories', 'both', 'own'].map(tokenOf))
    const homeOf = async (by: string | undefined, query = '') => (await requestAdmin(local, `/home${query}`, { token: by! })).body.data
    const create = async (type: string, data: object): Promise<string> => {
      const made = await requestAdmin(local, `/content/${type}`, { method: 'POST', token: token!, body: { data } })
      expect(made.status, made.text).toBe(201)
      return made.body.data.documentId
    }
    const act = async (path: string) => {
      const headers = { 'if-match': (await requestAdmin(local, `/content/${path}`, { token: token! })).headers.get('etag')! }
      const done = await requestAdmin(local, `/content/${path}/publish`, { method: 'POST', token: token!, headers })
      expect(done.status, done.text).toBeLessThan(300)
    }
    const lead = await create(source, { title: 'Lead' })
    const quoted = await create(source, { title: 'Quoted' })
    await create(source, { title: 'Nobody links to it' })
    const shown = await create(story, { title: 'Shown', lead, quote: { sources: [quoted] } })
    const namesIn = async (by: string | undefined) => (await homeOf(by)).waiting.map(({ name }: { name: string }) => name).toSorted()
    expect(await namesIn(token)).toEqual([])
    await act(`${story}/${shown}`)
    expect(await namesIn(token)).toEqual(['Lead', 'Quoted'])
    expect(await namesIn(both)).toEqual(['Lead', 'Quoted'])
    for (const one of [sources, stories, own]) expect(await namesIn(one)).toEqual([])
    await act(`${source}/${lead}`)
    expect(await namesIn(token)).toEqual(['Quoted'])

    const dayOf = () => new Date().toISOString().slice(0, 10)
    const before = dayOf()
    const { days } = await homeOf(token)
    expect(days).toHaveLength(14)
    expect(days.at(-1)).toEqual({ day: expect.any(String), draft: 2, changed: 0, published: 2, exact: true })
    expect([before, dayOf()]).toContain(days.at(-1).day)
    expect((await homeOf(stories)).days.at(-1)).toMatchObject({ draft: 0, published: 1 })
    const day = 86_400_000
    const noon = Math.floor(Date.now() / day) * day + day / 2
    const move = (document: string, time: number) =>
      local.sql('UPDATE sources SET updated_at = ? WHERE document_id = ? AND published_at IS NULL', time, document)
    await move(lead, noon - 3 * day)
    await move(quoted, noon - 14 * day)
    const counts = (found: readonly { readonly draft: number; readonly published: number }[]) =>
      found.map(({ draft, published }) => draft + published)
    expect(counts((await homeOf(sources)).days)).toEqual([...Array<number>(10).fill(0), 1, 0, 0, 1])
    await move(lead, noon - 3 * day + day / 2 - 1)
    const dated = new Date(noon - 2 * day).toISOString().slice(0, 10)
    const onThatDay = (found: readonly { readonly day: string }[]) => found.find((one) => one.day === dated)
    expect(onThatDay((await homeOf(sources, '?offset=-60')).days)).toMatchObject({ draft: 0, published: 1 })
    expect(onThatDay((await homeOf(sources)).days)).toMatchObject({ draft: 0, published: 0 })
    const then = noon - 2 * day
    const rows = Array.from({ length: 501 }, (_, index) => [`many${index}`, 'Many', then, then])
    const places = rows.map(() => '(?, ?, ?, ?)').join(', ')
    await local.sql(`INSERT INTO sources (document_id, title, created_at, updated_at) VALUES ${places}`, ...rows.flat())
    const many = (await homeOf(sources)).days
    expect(many.map(({ exact }: { exact: boolean }) => exact)).toEqual([...Array<boolean>(12).fill(false), true, true])
    expect(many[11].draft).toBe(499)
    for (const offset of ['x', '841', '-841', '1.5'])
      expect([offset, (await requestAdmin(local, `/home?offset=${offset}`, { token: token! })).status]).toEqual([offset, 400])
  } finally {
    await local.close()
  }
})
