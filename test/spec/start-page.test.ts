// docs/spec/start-page.md, as far as the page itself says it: what it names, links and loads.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { type Served, serveMagazine } from '../support/serve.js'
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

rule('start-page.1', 'the page names what is public, and every request on it works', async () => {
  const { status, headers, text } = await production.ask('/')
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(text.indexOf('Collections')).toBeLessThan(text.indexOf('Single types'))
  for (const name of ['Article', 'Tag', 'Homepage']) expect(text).toContain(`<b>${name}</b>`)
  for (const attribute of ['readingMinutes', 'component shared.seo', 'relations to tag', 'enumeration: report, essay'])
    expect(text).toContain(attribute)
  const links = linksOf(text)
  expect(links.length).toBeGreaterThan(15)
  for (const link of links) expect([link, (await production.ask(link)).status]).toEqual([link, 200])
})

rule(
  'start-page.2',
  'in development closed types have the command that opens them; in production nothing says that they are there',
  async () => {
    const [here, there] = [(await development.ask('/')).text, (await production.ask('/')).text]
    const words = ['pitch', 'editorNote', '<dt>Contract', '<dt>Version', 'Closed to the public', 'id="token"', 'private']
    for (const word of words) expect([word, here.includes(word), there.includes(word)]).toEqual([word, true, false])
    expect(here).toContain(
      `<code>npx octavo roles grant public api::pitch.pitch.find,<wbr>api::pitch.pitch.findOne ${development.folder}</code>`,
    )
    expect(there).toContain('<b>en</b>, de')
  },
)

rule('start-page.2', 'the page changes with the permissions of the public', async () => {
  await grant(production, 'public', 'api::pitch.pitch.find')
  await revoke(production, 'public', 'plugin::i18n.locales.listLocales')
  await revoke(production, 'public', 'api::tag.tag.find')
  const { text } = await production.ask('/')
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

rule('start-page.7', 'the page loads its own files alone, and all is small', async () => {
  for (const served of [development, production]) {
    const { headers, text } = await served.ask('/')
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(text).not.toMatch(/<style|<script(?![^>]* src=)|\son\w+=|style=|https?:\/\//)
    const assets = new Set(assetsOf(text))
    expect(assets.size).toBe(3)
    let bytes = Buffer.byteLength(text)
    for (const path of assets) {
      const asset = await served.ask(path)
      expect([path, asset.status, asset.headers.get('cache-control')]).toEqual([path, 200, 'public, max-age=31536000, immutable'])
      bytes += Buffer.byteLength(asset.text)
    }
    expect(bytes).toBeLessThan(40_000)
  }
})

rule('start-page.8', 'long queries break before a parameter', async () => {
  const { text } = await production.ask('/')
  expect(text).toContain('?fields[0]=title<wbr>&#38;sort=title<wbr>&#38;pagination[pageSize]=5')
})

rule('start-page.9', 'the page can be turned off', async () => {
  const served = await serveMagazine({ config: { startPage: false }, environment: { NODE_ENV: 'development' } })
  const answers = await Promise.all(['/', '/favicon.svg', '/_octavo/start-page.js'].map((path) => served.ask(path)))
  const health = await served.ask('/_health')
  await served.close()
  expect(answers.map(({ status, body }) => [status, body.error.message])).toEqual(answers.map(() => [404, 'Not Found']))
  expect(health.status).toBe(204)
})

rule('start-page.10', 'there is a picture, and browsers that ask for another one get no error', async () => {
  const picture = await production.ask('/favicon.svg')
  expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  expect((await production.ask('/favicon.ico')).status).toBe(204)
})
