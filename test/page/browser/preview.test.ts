// Previews in a browser: pages of another origin next to the form, their clicks, and messages that are not theirs.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { addToken, secrets } from '../../spec/callers.js'
import { requestAdmin, signInAdmin } from '../../support/administration.js'
import { describeWith } from '../../support/describe-with.js'
import { rule } from '../../support/rule.js'
import type { Served } from '../../support/serve.js'
import { until } from '../../support/until.js'
import { ada, expectAccessible, expectNoSidewaysScrolling, type OpenPage, openPage, servePage } from './page.js'

const type = 'api::article.article'
const author = 'api::author.author'
/** The audit of accessibility sends messages to frames, as if they were of the same origin. */
const ofAudit = /^Failed to execute 'postMessage' on 'DOMWindow'/

/** Begins a server on a free port, and resolves to its origin. */
async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The page's own part, as websites for Strapi have it. */
const asForStrapi = (origin: string) => `
  addEventListener('message', ({ origin, data }) => {
    if (origin !== '${origin}') return
    if (data.type === 'strapiUpdate') document.body.dataset.updates = Number(document.body.dataset.updates ?? 0) + 1
    else if (data.type === 'strapiScript') document.head.append(Object.assign(document.createElement('script'), { textContent: data.payload.script }))
  })
  parent.postMessage({ type: 'previewReady' }, '*')`

describeWith(['Chromium'], 'previews in a browser', () => {
  let served: Served
  let open: OpenPage
  let page: Page
  let token: string
  let document: string
  let slug: string
  let connect: string
  let foreign: string
  const servers: Server[] = []

  /** A website that renders an article for each request. */
  const website = createServer((request, response) => {
    void (async () => {
      const [, way, name = ''] = new URL(request.url!, 'http://site.test').pathname.split('/')
      const query = `filters[slug]=${name}&status=draft&fields=title,summary&populate[extras][populate]=*`
      const headers = { 'strapi-encode-source-maps': 'true', authorization: 'Bearer full' }
      const found = (await (await fetch(`${served.origin}/api/articles?${query}`, { headers })).json()) as {
        data: { title: string; summary: string; extras: { text?: string }[] }[]
      }
      const [article] = found.data
      const own = { connected: `(${connect})({ origin: '${served.origin}' })`, strapi: asForStrapi(served.origin), plain: '' }[way!] ?? ''
      response.setHeader('content-type', 'text/html; charset=utf-8')
      response.end(`<!doctype html><html lang="en"><title>Site</title><main><h1>${article?.title}</h1><p>${article?.summary}</p>
        ${article?.extras.map(({ text }) => `<blockquote>${text ?? ''}</blockquote>`).join('')}
        <a href="#there">${article?.title}</a><iframe title="advertisement" src="${foreign}"></iframe></main><script>${own}</script></html>`)
    })()
  })
  /** A page of somebody else in the website. */
  const advertisement = createServer((_, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(`<!doctype html><title>Ad</title><script>setInterval(() =>
      top.postMessage({ type: 'octavoField', source: 'documentId=${document}&path=kicker' }, '*'), 50)</script>`)
  })

  const api = (method: string, path: string, body?: unknown) => requestAdmin(served, path, { method, token, body })
  const field = (name: string) => page.locator('main').getByRole('textbox', { name }).first()
  const site = () => page.frameLocator('iframe[title="Preview"]')
  const isFocused = (name: string) => field(name).evaluate((element) => element.ownerDocument.activeElement === element)
  const openPreview = async (uid: string, id: string) => {
    await page.goto(`${served.origin}/admin/content/${uid}/${id}`)
    await page.locator('main').getByRole('textbox').first().waitFor()
    await page.keyboard.press('Control+Shift+P')
    await page.locator('iframe[title="Preview"]').waitFor()
  }

  beforeAll(async () => {
    const { connectPreview } = (await import(pathToFileURL('dist/client-preview.js').href)) as { connectPreview: () => void }
    connect = String(connectPreview)
    const origin = await listen(website)
    foreign = await listen(advertisement)
    servers.push(website, advertisement)
    served = await servePage({
      environment: secrets,
      config: { admin: { preview: { url: { [type]: `${origin}/{kicker}/{slug}`, [author]: '/own/{slug}' } } } },
      code: {
        routes: [
          {
            method: 'GET',
            path: '/own/:name',
            base: 'root',
            auth: false,
            handle: () =>
              new Response(
                `<!doctype html><html lang="en"><title>Own</title><p>?</p><script>
                  let found = 'refused'
                  try { found = parent.document.title } catch {}
                  document.querySelector('p').textContent = found + ', ' + origin
                </script></html>`,
                { headers: { 'content-type': 'text/html', 'content-security-policy': "script-src 'unsafe-inline'" } },
              ),
          },
        ],
      },
    })
    await addToken(served, 'full', { type: 'full-access' })
    open = await openPage(served)
    page = open.page
  })
  afterAll(async () => {
    await open?.close()
    await served?.close()
    for (const server of servers) server.close()
  })
  beforeEach(async () => {
    token = (await signInAdmin(served, ada)).accessToken
    slug = `mill-${Date.now()}`
  })

  /** Creates an article whose preview is of a kind. */
  const make = async (way: string) => {
    const quotes = ['Nobody looks.', 'Everybody looks.'].map((text) => ({ __component: 'block.quote', text }))
    const data = { title: 'The mill that waits', slug, summary: 'A mill at the sea.', kicker: way, extras: quotes }
    const { body, text } = await api('POST', `/content/${type}?locale=en`, { data })
    if (body.data === null) throw new Error(text)
    document = body.data.documentId
    await openPreview(type, document)
  }

  rule('administration-preview.10', 'a click on a text goes to its field, also in a folded entry; links keep their clicks', async () => {
    await make('connected')
    await site().getByRole('heading', { name: 'The mill that waits' }).click()
    await until('the focus is in Title', () => isFocused('Title'))
    await site().getByText('Everybody looks.').click()
    await until('the focus is in the second quote', () =>
      page.evaluate(() => (globalThis.document.activeElement as HTMLTextAreaElement).value === 'Everybody looks.'),
    )
    await site().getByRole('link').click()
    expect(await isFocused('Title')).toBe(false)
    await site()
      .getByRole('link')
      .click({ modifiers: ['Alt'] })
    await until('the focus is in Title', () => isFocused('Title'))
    open.expectNoProblems()
  })

  rule('administration-preview.8', 'each save is shown, and with another address the page is another one', async () => {
    await make('connected')
    await site().getByRole('heading', { name: 'The mill that waits' }).waitFor()
    await field('Title').fill('The mill that waited')
    await site().getByRole('heading', { name: 'The mill that waited' }).waitFor()
    await field('Slug').fill(`${slug}-2`)
    await page.locator(`iframe[src$="${slug}-2"]`).waitFor()
    await site().getByRole('heading', { name: 'The mill that waited' }).waitFor()
    open.expectNoProblems()
  })

  rule(
    'administration-preview.9',
    'a page for Strapi gets the script and is told of saves; one without a script is loaded again',
    async () => {
      await make('strapi')
      const heading = site().getByRole('heading', { name: 'The mill that waits' })
      await until('the script is there', async () => {
        await heading.click()
        return isFocused('Title')
      })
      await field('Title').fill('The mill of Strapi')
      await site().locator('body[data-updates="1"]').waitFor()
      slug += '-plain'
      await make('plain')
      await site().getByRole('heading', { name: 'The mill that waits' }).waitFor()
      await field('Title').fill('The mill without script')
      await site().getByRole('heading', { name: 'The mill without script' }).waitFor()
      open.expectNoProblems()
    },
  )

  rule('administration-preview.10', 'messages of others do nothing, and neither do messages of another form', async () => {
    await make('connected')
    await site().getByRole('heading', { name: 'The mill that waits' }).click()
    await until('the focus is in Title', () => isFocused('Title'))
    const frame = page.frames().find((one) => one.url().includes(`/connected/${slug}`))!
    await frame.evaluate((id) => {
      const source = `documentId=${id}&path=kicker`
      for (const message of [
        null,
        'octavoField',
        { type: 'octavoField' },
        { type: 'octavoField', source: { path: 'kicker' } },
        { type: 'octavoField', source: `${source}&x=${'x'.repeat(5_000)}` },
        { type: 'octavoField', source: `documentId=${id}&path=kicker"]` },
        { type: 'octavoField', source: `documentId=${id}&path=${Array(60).fill('kicker').join('.')}` },
        { type: 'octavoField', source: 'documentId=another&path=kicker' },
      ])
        parent.postMessage(message, '*')
    }, document)
    await page.getByText('This text belongs to another document or language.').waitFor()
    // The advertisement has sent its message many times.
    expect(await isFocused('Title')).toBe(true)
    expect(await isFocused('Kicker')).toBe(false)
    await frame.evaluate((id) => parent.postMessage({ type: 'octavoField', source: `documentId=${id}&path=kicker` }, '*'), document)
    await until('the focus is in Kicker', () => isFocused('Kicker'))
    open.expectNoProblems()
  })

  rule('administration-preview.8', 'a page of the service itself has no origin in its frame', async () => {
    const found = await api('GET', `/content/${author}?limit=1`)
    await openPreview(author, found.body.data[0].documentId)
    await site().getByText('refused, null').waitFor()
    open.expectNoProblems(/Blocked a frame with origin/)
  })

  rule('administration-preview.8', 'the preview is accessible, and a window over a narrow page', async () => {
    await make('plain')
    await page.getByRole('button', { name: 'Tablet' }).click()
    await page.locator('iframe[data-width="tablet"]').waitFor()
    open.expectNoProblems()
    await expectAccessible(page, [1280])
    await page.getByRole('button', { name: 'Close the preview' }).click()
    await page.locator('iframe[title="Preview"]').waitFor({ state: 'detached' })
    await page.setViewportSize({ width: 390, height: 800 })
    await page.getByRole('button', { name: 'Preview', exact: true }).first().click()
    await page.getByRole('dialog').locator('iframe[title="Preview"]').waitFor()
    open.expectNoProblems(ofAudit)
    await expectAccessible(page, [390])
    await expectNoSidewaysScrolling(page, 390)
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).first().click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.setViewportSize({ width: 1280, height: 800 })
    open.expectNoProblems(ofAudit)
  })
})
