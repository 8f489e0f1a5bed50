// docs/spec/start-page.md, in a real browser.
import { afterAll, beforeAll, expect } from 'vitest'
import { addToken, secrets } from '../spec/callers.js'
import { versions } from '../spec/magazine.js'
import { faintTexts, type OpenBrowser, openBrowser } from '../support/browser.js'
import { describeWith } from '../support/describe-with.js'
import { rule } from '../support/rule.js'
import { type Served, serveMagazine, serveProject } from '../support/serve.js'
import { patience } from '../support/until.js'

let development: Served
let production: Served
beforeAll(async () => {
  development = await serveMagazine({ environment: { ...secrets, NODE_ENV: 'development' } })
  production = await serveMagazine()
  await addToken(development, 'full', { type: 'full-access' })
})
afterAll(() => Promise.all([development, production].map((served) => served.close())))

describeWith(['Chromium'], 'in a browser', () => {
  let browser: OpenBrowser
  beforeAll(async () => {
    browser = await openBrowser({ viewport: { width: 1280, height: 900 } })
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: development.origin })
  })
  afterAll(() => browser?.close())

  /** Opens the page and waits for the response to its first request. */
  async function open(served: Served): Promise<OpenBrowser['page']> {
    const { page } = browser
    await page.goto(served.origin)
    await page.locator('#status b').waitFor()
    return page
  }

  const copied = () => browser.page.evaluate('navigator.clipboard.readText()')

  rule('start-page.3', 'requests are answered in place, as a tree', async () => {
    const page = await open(development)
    const [first] = versions('article').toSorted((a, b) => (a.title < b.title ? -1 : 1))
    expect(await page.locator('#status').textContent()).toMatch(/^200 OK \d+ ms \(service: [\d.]+ ms\) · \d/)
    expect(await page.locator('#body').textContent()).toContain(`title: "${first!.title}"`)
    // Files that have a small picture show it.
    await expect
      .poll(() => page.evaluate("[...document.querySelectorAll('#body img')].filter((one) => one.naturalWidth > 0).length"), patience)
      .toBeGreaterThan(0)
    await page.getByText('Three articles with their author').click()
    await page.locator('#address').filter({ visible: true }).waitFor()
    await expect.poll(() => page.locator('#address').inputValue(), patience).toContain('populate[0]=author')
    await page.locator('#body .branch:not([open]) > summary').first().click()
    await expect.poll(() => page.locator('#body .branch[open]').count(), patience).toBeGreaterThan(2)
  })

  rule('start-page.3', 'requests can be edited, and errors and hints are shown', async () => {
    const page = await open(development)
    await page.locator('#address').fill('/api/articles?filters[autor][name]=x')
    await page.locator('#send').click()
    await page.getByText('400 Bad Request').waitFor()
    expect(await page.locator('#hint').textContent()).toContain('Did you mean "author"?')
    await page.locator('#address').fill('/api/articles?filter[title]=x')
    await page.locator('#address').press('Enter')
    await page.getByText('200 OK').waitFor()
    expect(await page.locator('#hint').textContent()).toContain('did you mean filters?')
    await page.locator('#address').fill('https://elsewhere.example/api')
    await page.locator('#send').click()
    await page.getByText('its own service only').waitFor()
  })

  rule('start-page.3', 'requests are copied as curl and fetch', async () => {
    const page = await open(development)
    await page.getByRole('button', { name: 'curl' }).click()
    await expect
      .poll(copied, patience)
      .toBe(`curl -g '${development.origin}/api/articles?fields[0]=title&populate[0]=cover&sort=title&pagination[pageSize]=5'`)
    await page.getByRole('button', { name: 'fetch' }).click()
    await expect.poll(copied, patience).toContain(`await fetch("${development.origin}/api/articles?fields[0]=title`)
  })

  rule('start-page.3', 'a documentId of a list leads to its document', async () => {
    const page = await open(development)
    const documentId = await page.locator('#body a').first().textContent()
    await page.locator('#body a').first().click()
    await expect.poll(() => page.locator('#address').inputValue(), patience).toBe(`/api/articles/${documentId}?populate=*`)
    await expect.poll(() => page.locator('#body').textContent(), patience).toContain('author: {')
  })

  rule('start-page.4', 'collections show the number of their published documents', async () => {
    const page = await open(production)
    const numberOf = (type: string) => page.locator(`[data-list="/api/${type}"] .count`).textContent()
    await expect.poll(() => numberOf('articles'), patience).toBe(`${versions('article').length} published`)
    await expect.poll(() => numberOf('tags'), patience).toBe(`${versions('tag').length} documents`)
  })

  rule('start-page.2', 'closed types show the command that opens them', async () => {
    const page = await open(development)
    await page.locator('summary > b', { hasText: 'Pitch' }).click()
    const command = `npx octavo roles grant public api::pitch.pitch.find,api::pitch.pitch.findOne ${development.folder}`
    expect(await page.locator('.command > code').textContent()).toBe(command)
    await page.locator('.command > button').click()
    await expect.poll(copied, patience).toBe(command)
  })

  rule('start-page.5', 'a token is sent, and not copied', async () => {
    const page = await open(development)
    await page.locator('#address').fill('/api/pitches?fields=title')
    await page.locator('#send').click()
    await page.getByText('403 Forbidden').waitFor()
    await page.locator('#token').fill('full')
    await page.locator('#send').click()
    await page.getByText('200 OK').waitFor()
    await page.getByRole('button', { name: 'curl' }).click()
    await expect.poll(copied, patience).toBe(`curl -g -H "Authorization: Bearer $TOKEN" '${development.origin}/api/pitches?fields=title'`)
  })

  rule('start-page.5', 'the pages share a token with /docs, in both directions', async () => {
    const page = await open(development)
    expect(await page.locator('#token').inputValue()).toBe('full')
    await page.getByRole('link', { name: 'API documentation' }).click()
    await page.getByText('Showing operations of your token').waitFor()
    await page.getByRole('button', { name: 'Forget' }).click()
    await page.getByText('Showing public operations').waitFor()
    await page.getByRole('link', { name: 'Start page' }).click()
    await page.locator('#status b').waitFor()
    expect(await page.locator('#token').inputValue()).toBe('')
    await page.goto(`${development.origin}/docs`)
    await page.locator('#token').fill('Bearer full')
    await page.getByRole('button', { name: 'Use' }).click()
    await page.getByText('Showing operations of your token').waitFor()
    await open(development)
    expect(await page.locator('#token').inputValue()).toBe('full')
    await page.locator('#token').fill('')
  })

  rule('start-page.8', 'text has enough contrast, in light and dark', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await browser.page.emulateMedia({ colorScheme })
      const page = await open(development)
      await page.locator('.attributes > summary').first().click()
      await page.locator('#address').fill('/api/articles?filters[autor][name]=x')
      await page.locator('#send').click()
      await page.getByText('400 Bad Request').waitFor()
      expect([colorScheme, await page.evaluate(faintTexts)]).toEqual([colorScheme, []])
    }
  })

  rule('start-page.8', 'on a phone nothing is wider than the screen', async () => {
    await browser.page.setViewportSize({ width: 360, height: 760 })
    const page = await open(development)
    const widths = () => page.evaluate('[document.documentElement.scrollWidth, innerWidth]')
    expect(await widths()).toEqual([360, 360])
    await page
      .locator('#address')
      .fill(`/api/articles?filters[$and][0][title][$containsi]=a&${'filters[$and][1][slug][$containsi]=a&'.repeat(5)}`)
    await page.locator('#send').click()
    await page.locator('summary > b', { hasText: 'Pitch' }).click()
    expect(await widths()).toEqual([360, 360])
    await browser.page.setViewportSize({ width: 1280, height: 900 })
  })

  rule('start-page.11', 'the page of an empty project creates the first type, and follows the model when it gets the focus', async () => {
    const empty = await serveProject({ 'src/api/.gitkeep': '' }, { environment: { NODE_ENV: 'development' } })
    const { page } = browser
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(empty.origin)
    expect(await page.locator('#answer').isVisible()).toBe(false)
    await page.getByText('Paste a schema').click()
    await page.locator('#schema').fill('{ "info": {} }')
    await page.getByRole('button', { name: 'Create the type' }).click()
    await page.getByRole('alert').getByText('info.singularName must be').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await page.getByRole('button', { name: 'Article title, slug' }).click()
    await page.getByText('Created src/api/article').first().waitFor()
    expect(await page.locator('.type').count()).toBe(1)
    expect(await page.locator('#address').inputValue()).toBe('/api/articles')
    expect(await page.locator('.note + .command > code').textContent()).toContain('tokens create --name Desk --type full-access')
    expect(await page.locator('.type .command > code').textContent()).toContain('roles grant public api::article.article.find,')
    expect(await page.getByRole('link', { name: 'Write the first document' }).getAttribute('href')).toBe('/docs#article%2Fpost%2Farticles')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await empty.request('/_octavo/content-types', {
      ...{ method: 'POST', headers: { 'content-type': 'application/json', origin: empty.origin } },
      body: JSON.stringify({
        kind: 'collectionType',
        info: { singularName: 'bird', pluralName: 'birds', displayName: 'Bird' },
        attributes: {},
      }),
    })
    await page.evaluate("dispatchEvent(new Event('focus'))")
    await page.locator('.type b', { hasText: 'Bird' }).waitFor()
    await page.setViewportSize({ width: 1280, height: 900 })
    await empty.close()
  })

  rule('start-page.7', 'nothing that the page does violates its policy', async () => {
    // Refused requests are reported too, and are what those tests are about.
    expect(browser.problems.filter((problem) => !/status of (?:400|403)/.test(problem))).toEqual([])
  })

  rule('start-page.6', 'without JavaScript the page is a list of links', async () => {
    const plain = await openBrowser({ javaScriptEnabled: false })
    await plain.page.goto(production.origin)
    await plain.page.getByText('Five articles, by title').click()
    await plain.page.waitForURL('**/api/articles?*')
    const text = await plain.page.locator('body').textContent()
    await plain.close()
    expect(text).toContain('"documentId"')
  })
})
