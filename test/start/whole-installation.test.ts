// A whole installation, as a new user makes it, over HTTP alone: an empty folder, one process that is started once, the first administrator,
// a model of every kind of attribute, access, content, and changes of all that.
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Child, start } from '../faults/child.js'
import { type AdminRequestOptions, adminPassword, requestAdmin } from '../support/administration.js'
import { createDatabase, isOnServer, removeDatabase } from '../support/databases.js'
import { rule } from '../support/rule.js'
import { type RequestOptions, requestAt, type TestResponse } from '../support/serve.js'
import { patience } from '../support/until.js'
import { octavo } from './command.js'
import { articleAttributes, articleSchema, everySchema, scalars } from './every-attribute.js'

let place: string
let database: Readonly<Record<string, string>>
let child: Child
let origin: string
/** The listening sockets of the process after its start. */
let sockets: readonly string[]
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'octavo-whole-'))
  database = isOnServer ? await createDatabase(false) : {}
  const folder = join(place, 'site')
  const { DATABASE_URL: url } = database
  const named = url === undefined ? [] : ['--database-url', url]
  const created = await octavo(['init', folder, '--template', 'blank', '--no-install', '--no-git', '--yes', ...named])
  expect(created, created.err).toMatchObject({ status: 0, err: '' })
  child = start(folder, { NODE_ENV: 'development' })
  origin = await child.origin
  sockets = listening()
})
afterAll(async () => {
  child?.signal('SIGKILL')
  await child?.ended
  rmSync(place, { recursive: true, force: true })
  if (database?.DATABASE_URL !== undefined) await removeDatabase(database)
})

/** The inodes of the process's listening sockets on Linux; empty on other systems. */
function listening(): readonly string[] {
  const own = `/proc/${child.process.pid}`
  if (process.platform !== 'linux') return []
  const held = new Set(
    readdirSync(`${own}/fd`).flatMap((name) => {
      try {
        return [readlinkSync(`${own}/fd/${name}`)]
      } catch {
        // Closed in the meantime.
        return []
      }
    }),
  )
  const rows = readFileSync(`${own}/net/tcp`, 'utf8').trim().split('\n').slice(1)
  const fields = rows.map((row) => row.trim().split(/\s+/))
  // `0A` is LISTEN; the tenth field is the inode.
  return fields.filter(([, , , state, , , , , , inode]) => state === '0A' && held.has(`socket:[${inode}]`)).map((row) => row[9]!)
}

const request = (path: string, asked?: RequestOptions) => requestAt(origin, path, asked)
const read = (path: string, token?: string) => request(path, token === undefined ? {} : { token })
const sent = (method: string, path: string, body: object, token: string, headers: Record<string, string> = {}): Promise<TestResponse> =>
  request(path, { method, token, body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } })

let session: string
const admin = (path: string, asked: AdminRequestOptions = {}) => requestAdmin({ origin, request }, path, { token: session, ...asked })

/** The value of a response that has to be successful. */
function ok({ status, text, body }: TestResponse) {
  expect(status, text).toBeLessThan(300)
  return body
}

/** Keys of API tokens and of a user, by permission. */
const keys: Record<string, string> = {}
/** The ids of documents. */
const ids: Record<string, string> = {}
/** The file of the library. */
let picture: { readonly id: number; readonly name: string }

rule('administration.11', 'the first administrator comes in with the code from the log', async () => {
  expect((await read('/api/articles')).status).toBe(404)
  await expect.poll(() => child.output(), patience).toContain('The code for the first one is')
  const [, code] = /The code for the first one is ([A-Z2-9-]{19}),/.exec(child.output())!
  const body = { email: 'ada@example.com', firstname: 'Ada', password: adminPassword, code }
  session = ok(await requestAdmin({ origin, request }, '/session/first', { method: 'POST', body })).data.accessToken
  expect(ok(await admin('/start')).data).toMatchObject({
    types: [{ uid: 'plugin::users-permissions.user' }],
    settings: { changesModel: true },
  })
  ok(await admin('/locales', { method: 'POST', body: { code: 'de', name: 'German' } }))
})

rule('administration.20', 'a token for the model is created, and the model with it', async () => {
  keys.model = ok(await admin('/tokens', { method: 'POST', body: { name: 'Model', type: 'full-access' } })).key
  const made = ok(await sent('PUT', '/api/content-type-builder/schemas', { data: everySchema }, keys.model!))
  expect(made.data.schemas).toEqual(Object.keys(everySchema))
  expect(ok(await read('/api/articles?populate=*', keys.model)).data).toEqual([])
  expect((await read('/api/articles')).status).toBe(403)
  expect((await read('/api/home', keys.model)).status).toBe(404)
})

rule('administration.23', 'roles and tokens get what new types allow, and are in force at once', async () => {
  const actions = ok(await admin('/api-actions')).data as string[]
  for (const name of ['article', 'writer', 'tag', 'event', 'home']) expect(actions).toContain(`api::${name}.${name}.find`)
  const reading = actions.filter((name) => /^api::(?:article|writer|tag|event|home)\..*\.find(?:One)?$/.test(name))
  const open = ok(await admin('/api-roles')).data.find(({ type }: { type: string }) => type === 'public')
  ok(await admin(`/api-roles/${open.id}`, { method: 'PATCH', body: { actions: [...new Set([...open.actions, ...reading])] } }))
  const writing = ['create', 'update', 'find', 'findOne'].map((name) => `api::event.event.${name}`)
  const role = { name: 'Planner', description: 'Writes events', actions: [...writing, 'api::article.article.find'] }
  const planner = ok(await admin('/api-roles', { method: 'POST', body: role })).data.id
  const user = { username: 'grace', email: 'grace@example.com', password: 'Planner-Pass-1', role: planner }
  ok(await admin('/users', { method: 'POST', body: user }))
  const credentials = { identifier: 'grace@example.com', password: user.password }
  const headers = { 'content-type': 'application/json' }
  keys.planner = ok(await request('/api/auth/local', { method: 'POST', body: JSON.stringify(credentials), headers })).jwt
  const own = [...reading, 'api::article.article.create', 'api::profile.profile.find', 'api::profile.profile.create']
  keys.site = ok(await admin('/tokens', { method: 'POST', body: { name: 'Site', type: 'custom', actions: own } })).key
  expect((await read('/api/articles')).body.data).toEqual([])
  expect((await read('/api/profiles')).status).toBe(403)
  expect((await read('/api/profiles', keys.site)).body.data).toEqual([])
})

/** Creates a document as the administrator. */
async function written(name: string, data: object): Promise<string> {
  return ok(await admin(`/content/api::${name}.${name}`, { method: 'POST', body: { data } })).data.documentId
}

/** Does something with the draft of a document as it is now. */
async function acted(name: string, id: string | undefined, asked: AdminRequestOptions, act = '') {
  const path = `/content/api::${name}.${name}/${id}`
  const headers = { 'if-match': `"${ok(await admin(path)).data.revision}"` }
  return ok(await admin(path + act, { headers, ...asked })).data
}
const publish = (name: string, id: string) => acted(name, id, { method: 'POST', body: {} }, '/publish')

rule('administration-content.10', 'the administrator writes documents with every kind of attribute', async () => {
  const form = new FormData()
  form.append('files', new Blob([pixel], { type: 'image/png' }), 'pixel.png')
  picture = ok(await request('/api/upload', { method: 'POST', token: keys.model!, body: form }))[0]
  ids.logic = await written('tag', { name: 'logic' })
  ids.poetry = await written('tag', { name: 'poetry' })
  ids.ada = await written('writer', { name: 'Ada', favourite: ids.logic })
  ids.engines = await written('article', everything())
  // A polymorphic relation to one is written from its other side.
  await acted('tag', ids.poetry, { method: 'PATCH', body: { changes: { subjectOf: ids.engines } } })
  expect(await publish('article', ids.engines!)).toMatchObject({ state: 'published' })
  const german = { changes: { title: 'Maschinen', lead: 'Zahlen, die handeln.' } }
  const path = `/content/api::article.article/${ids.engines}?locale=de`
  ok(await admin(path, { method: 'PATCH', headers: { 'if-none-match': '*' }, body: german }))
  await publish('home', await written('home', { heading: 'Welcome', lead: ids.engines, shown: [ids.engines] }))
})

/** An image of one pixel. */
const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

/** An article with a value of every attribute. */
const everything = () => ({
  ...{ ...scalars, stamp: '2026-11-25T12:30:00.000Z', secret: 'never shown', cover: picture.id, gallery: [picture.id] },
  seo: { heading: 'Engines', image: picture.id },
  links: [{ label: 'one', writer: ids.ada }, { label: 'two' }],
  sections: [
    { __component: 'block.quote', text: 'Said', tags: [ids.poetry, ids.logic] },
    { __component: 'block.gallery', pictures: [picture.id], links: [{ label: 'deep' }] },
  ],
  ...{ author: ids.ada, tags: [ids.logic, ids.poetry] },
  mentions: [
    { __type: 'api::writer.writer', documentId: ids.ada },
    { __type: 'api::tag.tag', documentId: ids.logic },
  ],
})

rule('rights.1', 'content API clients write at the same time as the administrator, each within its permissions', async () => {
  const second = { title: 'Sonnets', slug: 'sonnets', pages: 3, author: ids.ada, tags: [ids.poetry], related: [ids.engines] }
  ids.sonnets = ok(await sent('POST', '/api/articles', { data: second }, keys.site!)).data.documentId
  ids.profile = ok(await sent('POST', '/api/profiles', { data: { bio: 'Countess', writer: ids.ada } }, keys.site!)).data.documentId
  const event = { data: { place: 'London', article: ids.engines } }
  expect((await sent('POST', '/api/events', event, keys.site!)).status).toBe(403)
  ids.event = ok(await sent('POST', '/api/events', event, keys.planner!)).data.documentId
  ok(await sent('PUT', `/api/events/${ids.event}`, { data: { place: 'Turin' } }, keys.planner!))
  expect((await sent('POST', '/api/articles', { data: second }, keys.planner!)).status).toBe(403)
})

/** Reads that the public and the token may do, with what both get; `lead` is the name of that attribute. */
async function checkReads(lead: string, hasEvents: boolean): Promise<void> {
  const { lead: text, ...others } = scalars
  // PostgreSQL returns a time without the zeros of its milliseconds, as with Strapi.
  const engines = { ...others, [lead]: text, hour: expect.stringMatching(/^12:30:00(?:\.000)?$/) }
  const callers = { public: undefined, site: keys.site }
  for (const [caller, token] of Object.entries(callers)) {
    const data = async (path: string) => ok(await read(path, token)).data
    const [article, ...more] = await data(`/api/articles?populate=*&filters[${lead}][$contains]=act&sort=pages:desc`)
    expect(more).toEqual([])
    expect(article, caller).toMatchObject({
      ...{ ...engines, locale: 'en', author: { name: 'Ada' }, tags: [{ name: 'logic' }, { name: 'poetry' }] },
      ...{ seo: { heading: 'Engines' }, links: [{ label: 'one' }, { label: 'two' }], subject: { name: 'poetry' } },
      mentions: [{ __type: 'api::writer.writer' }, { __type: 'api::tag.tag' }],
      sections: [{ text: 'Said' }, { __component: 'block.gallery' }],
      ...{ stamp: expect.anything(), cover: { name: picture.name }, gallery: [{ id: picture.id }] },
    })
    expect(article).not.toHaveProperty('secret')
    expect('events' in article && article.events[0].place === 'Turin').toBe(hasEvents)
    const titles = async (query: string) => (await data(`/api/articles?fields=title&${query}`)).map(({ title }: { title: string }) => title)
    expect(await titles('sort=pages')).toEqual(['Sonnets', 'Engines'])
    expect(await titles(`sort=${lead}&filters[${lead}][$notNull]=true`)).toEqual(['Engines'])
    expect(await titles('filters[tags][name]=poetry&sort[0]=author.name&sort[1]=title:desc')).toEqual(['Sonnets', 'Engines'])
    expect(await titles(`filters[related][${lead}][$startsWith]=Numbers`)).toEqual(['Sonnets'])
    const zone = 'populate[sections][on][block.quote][populate][tags][fields]=name&populate[sections][on][block.gallery][populate]=*'
    expect((await data(`/api/articles/${ids.engines}?${zone}&populate[links][populate]=writer`)).sections).toMatchObject([
      { text: 'Said', tags: [{ name: 'poetry' }, { name: 'logic' }] },
      { links: [{ label: 'deep' }], pictures: [{ name: picture.name }] },
    ])
    const [writer] = await data(
      `/api/writers?populate[articles][sort]=pages&populate[articles][filters][${lead}][$notNull]=true&populate[mentionedIn]=true&populate[favourite]=true`,
    )
    expect(writer).toMatchObject({ articles: [{ title: 'Engines' }], mentionedIn: [{ title: 'Engines' }], favourite: { name: 'logic' } })
    expect(await data('/api/tags?filters[name]=poetry&populate=subjectOf')).toMatchObject([{ subjectOf: { [lead]: text } }])
    expect(await data('/api/home?populate=*')).toMatchObject({ lead: { [lead]: text }, shown: [{ title: 'Engines' }] })
  }
  expect(ok(await read('/api/profiles?populate=writer', keys.site)).data).toMatchObject([{ bio: 'Countess', writer: { name: 'Ada' } }])
  const german = ok(await read(`/api/articles?locale=de&status=draft&populate=author`, keys.model)).data
  expect(german).toMatchObject([{ title: 'Maschinen', [lead]: 'Zahlen, die handeln.', documentId: ids.engines }])
}

test('the public and the token read what both wrote: populated, filtered, sorted', () => checkReads('lead', true))

/** Sends a change of the model. */
const change = (data: object, renames: readonly object[] = [], agree = '') =>
  sent('PUT', '/api/content-type-builder/schemas', { data, renames }, keys.model!, agree === '' ? {} : { 'octavo-agree': agree })

rule('live-model.12', 'an attribute that is renamed keeps its content for every caller', async () => {
  const { lead, ...others } = articleAttributes
  const renames = [{ kind: 'attribute', schema: 'api::article.article', from: 'lead', to: 'teaser' }]
  const made = ok(await change({ 'api::article.article': articleSchema({ ...others, teaser: lead }) }, renames))
  expect(made.data.losses).toEqual([])
  for (const token of [undefined, keys.site]) expect((await read('/api/articles?sort=lead', token)).status).toBe(400)
  await checkReads('teaser', true)
  const shown = ok(await admin(`/content/api::article.article/${ids.engines}`)).data
  expect(shown.draft).toMatchObject({ teaser: scalars.lead, title: 'Engines' })
  const changes = { 'seo/heading': 'New', teaser: scalars.lead }
  const changed = await acted('article', ids.engines, { method: 'PATCH', body: { changes } })
  expect(changed).toMatchObject({ state: 'changed', draft: { seo: { heading: 'New' } }, published: { seo: { heading: 'Engines' } } })
})

rule('live-model.5', 'a type that is removed is gone for every caller, and the others stay', async () => {
  const post = (path: string) => sent('POST', path, { data: { place: 'x' } }, keys.planner!)
  const { lead, events: _gone, ...others } = articleAttributes
  const data = { 'api::event.event': null, 'api::article.article': articleSchema({ ...others, teaser: lead }) }
  const refused = await change(data)
  expect(refused.status, refused.text).toBe(409)
  const names = refused.body.error.details.losses.map(({ name }: { name: string }) => name)
  expect(names).toContain('api::event.event')
  expect((await read('/api/events')).status).toBe(200)
  ok(await change(data, [], names.join(',')))
  for (const token of [undefined, keys.site, keys.planner, keys.model]) expect((await read('/api/events', token)).status).toBe(404)
  const [gone, never] = [await post('/api/events'), await post('/api/nevers')]
  expect([gone.status, gone.body]).toEqual([never.status, never.body])
  expect((await admin('/content/api::event.event')).status).toBe(404)
  expect((await read('/api/articles?populate=events')).status).toBe(400)
  await checkReads('teaser', false)
  const roles = ok(await admin('/api-roles')).data as { readonly id: number; readonly name: string; readonly actions: string[] }[]
  const planner = roles.find(({ name }) => name === 'Planner')!
  const kept = planner.actions.filter((name) => !name.startsWith('api::event.'))
  ok(await admin(`/api-roles/${planner.id}`, { method: 'PATCH', body: { actions: kept } }))
  expect((await read('/api/articles', keys.planner)).status).toBe(200)
})

test('one process did all of this, on the sockets of its start', () => {
  expect([child.process.exitCode, child.process.signalCode]).toEqual([null, null])
  expect(listening()).toEqual(sockets)
  if (process.platform === 'linux') expect(sockets).toHaveLength(1)
  expect(child.output().match(/Octavo serves/g)).toHaveLength(1)
  expect(child.output()).not.toMatch(/"level":[56]0/)
})
