// docs/spec/start-page.md, checked in the page's text: its names, links and resources.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { type Served, serveMagazine, serveProject } from '../support/serve.js'
import { grant, revoke } from './callers.js'

let development: Served
let production: Served
beforeAll(async () => {
  development = await serveMagazine({ environment: { NODE_ENV: 'development' } })
  production = await serveMagazine()
})
afterAll(() => Promise.all([development, production].map((served) => served.close())))

const unescaped = (text: string): string => text.replaceAll('&#38;', '&').replaceAll('&#34;', '"')
const linksOf = (html: string): readonly string[] =>
  [...html.matchAll(/<a class="request" data-request href="([^"]+)"/g)].map(([, href]) => unescaped(href!))
const assetsOf = (html: string): readonly string[] =>
  [...html.matchAll(/(?:href|src)="(\/(?:_octavo|favicon)[^"]*)"/g)].map(([, href]) => href!)

rule('start-page.1', 'the page lists public types, and all its requests work', async () => {
  const { status, headers, text } = await production.request('/')
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(text.indexOf('Collections')).toBeLessThan(text.indexOf('Single types'))
  for (const name of ['Article', 'Tag', 'Homepage']) expect(text).toContain(`<b>${name}</b>`)
  for (const attribute of ['readingMinutes', 'component shared.seo', 'relations to tag', 'enumeration: report, essay'])
    expect(text).toContain(attribute)
  const links = linksOf(text)
  expect(links.length).toBeGreaterThan(15)
  for (const link of links) expect([link, (await production.request(link)).status]).toEqual([link, 200])
})

rule('start-page.2', 'in development closed types have the command that opens them; in production they are hidden', async () => {
  const [here, there] = [(await development.request('/')).text, (await production.request('/')).text]
  const words = ['pitch', 'editorNote', '<dt>Version', 'Closed to the public', 'id="token"', 'private']
  for (const word of words) expect([word, here.includes(word), there.includes(word)]).toEqual([word, true, false])
  expect(here).toContain(
    `<code>npx octavo roles grant public api::pitch.pitch.find,<wbr>api::pitch.pitch.findOne ${development.folder}</code>`,
  )
  expect(there).toContain('<b>en</b>, de')
  // The contract is a word of projects of Strapi.
  for (const page of [here, there])
    expect(['<dt>Contract', '<meta name="description"'].map((word) => page.includes(word))).toEqual([false, true])
})

rule('start-page.2', 'the page changes with the permissions of the public', async () => {
  await grant(production, 'public', 'api::pitch.pitch.find')
  await revoke(production, 'public', 'plugin::i18n.locales.listLocales')
  await revoke(production, 'public', 'api::tag.tag.find')
  const { text } = await production.request('/')
  await revoke(production, 'public', 'api::pitch.pitch.find')
  await grant(production, 'public', 'plugin::i18n.locales.listLocales')
  await grant(production, 'public', 'api::tag.tag.find')
  expect(['<b>Pitch</b>', '<b>Tag</b>', 'relations to tag', 'Locales'].map((word) => text.includes(word))).toEqual([
    true,
    false,
    false,
    false,
  ])
})

rule('start-page.7', 'the page loads only its own small files', async () => {
  for (const served of [development, production]) {
    const { headers, text } = await served.request('/')
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(text).not.toMatch(/<style|<script(?![^>]* src=)|\son\w+=|style=|https?:\/\//)
    const assets = new Set(assetsOf(text))
    expect(assets.size).toBe(3)
    let bytes = Buffer.byteLength(text)
    for (const path of assets) {
      const asset = await served.request(path)
      expect([path, asset.status, asset.headers.get('cache-control')]).toEqual([path, 200, 'public, max-age=31536000, immutable'])
      bytes += Buffer.byteLength(asset.text)
    }
    expect(bytes).toBeLessThan(40_000)
  }
})

rule('start-page.8', 'long queries break before a parameter', async () => {
  const { text } = await production.request('/')
  expect(text).toContain('?fields[0]=title<wbr>&#38;populate[0]=cover<wbr>&#38;sort=title<wbr>&#38;pagination[pageSize]=5')
})

rule('start-page.9', 'the page can be turned off', async () => {
  const served = await serveMagazine({ config: { startPage: false }, environment: { NODE_ENV: 'development' } })
  const answers = await Promise.all(['/', '/favicon.svg', '/_octavo/start-page.js'].map((path) => served.request(path)))
  const health = await served.request('/_health')
  await served.close()
  expect(answers.map(({ status, body }) => [status, body.error.message])).toEqual(answers.map(() => [404, 'Not Found']))
  expect(health.status).toBe(204)
})

rule('start-page.10', 'the page has an icon, and requests for other icons do not fail', async () => {
  const picture = await production.request('/favicon.svg')
  expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  expect((await production.request('/favicon.ico')).status).toBe(204)
})

const schema = (singularName: string, more: object = {}) => ({
  ...{ kind: 'collectionType', info: { singularName, pluralName: `${singularName}s`, displayName: 'New' } },
  attributes: { title: { type: 'string' } },
  ...more,
})

/** Sends a schema as a program would that may set every header; resolves to the status. */
function sendSchema(served: Served, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const own = { origin: served.origin, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request(`${served.origin}/_octavo/content-types`, { method: 'POST', headers: { ...own, ...headers } }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!))
    })
    sent.on('error', reject).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
}

rule('start-page.11', 'in development the page creates a content-type, whose schema is checked', async () => {
  const served = await serveProject({ 'src/api/.gitkeep': '' }, { environment: { NODE_ENV: 'development' } })
  const api = join(served.folder, 'src', 'api')
  expect((await served.request('/')).text).toContain('Create the first content-type')
  for (const [body, status] of [
    [schema('../outside'), 400],
    [schema('a/b'), 400],
    [schema('Upper'), 400],
    [schema('user'), 400],
    [schema('made', { attributes: { x: { type: 'strnig' } } }), 400],
    [schema('made', { attributes: { x: { type: 'relation', relation: 'oneToOne', target: 'api::gone.gone' } } }), 400],
    [schema('made', { kind: 'component' }), 400],
    [[], 400],
    ['{', 400],
    ['', 400],
    [' '.repeat(1_100_000), 413],
  ] as const)
    expect([body, await sendSchema(served, body)]).toEqual([body, status])
  expect(readdirSync(api)).toEqual(['.gitkeep'])
  expect(await sendSchema(served, schema('made'))).toBe(201)
  const file = join(api, 'made', 'content-types', 'made', 'schema.json')
  expect([readdirSync(join(api, 'made')), JSON.parse(readFileSync(file, 'utf8'))]).toEqual([['content-types'], schema('made')])
  expect((await served.request('/')).text).toContain('api::made.made.find')
  expect((await served.request('/api/mades')).status).toBe(403)
  // Nothing is written over, also where a folder has no schema.
  mkdirSync(join(api, 'taken'))
  for (const name of ['made', 'taken']) expect(await sendSchema(served, schema(name, { attributes: {} }))).toBe(409)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(schema('made'))
  await served.close()
})

rule('start-page.12', 'only the page in a local browser can create types, and never in production', async () => {
  const { port } = new URL(development.origin)
  for (const [headers, status] of [
    [{ origin: 'http://elsewhere.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: '' }, 403],
    [{ origin: `http://localhost:${port}` }, 403],
    [{ host: `elsewhere.example:${port}`, origin: `http://elsewhere.example:${port}` }, 403],
    [{ host: `localhost.elsewhere.example:${port}`, origin: `http://localhost.elsewhere.example:${port}` }, 403],
    [{ 'x-forwarded-for': '203.0.113.7' }, 403],
    [{ forwarded: 'for=203.0.113.7' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'content-type': 'text/plain' }, 415],
    [{ 'content-type': 'application/x-www-form-urlencoded' }, 415],
  ] as const)
    expect([headers, await sendSchema(development, schema('made'), headers)]).toEqual([headers, status])
  expect(await sendSchema(production, schema('made'))).toBe(405)
  const unset = await serveProject({ 'src/api/.gitkeep': '' }, { environment: { NODE_ENV: '' } })
  const locked = await serveProject(
    { 'src/api/.gitkeep': '' },
    { environment: { NODE_ENV: 'development' }, config: { admin: { model: 'never' } } },
  )
  for (const served of [unset, locked]) {
    expect(await sendSchema(served, schema('made'))).toBe(405)
    expect((await served.request('/')).text).not.toContain('Create the first content-type')
    expect(existsSync(join(served.folder, 'src', 'api', 'made'))).toBe(false)
    await served.close()
  }
})
