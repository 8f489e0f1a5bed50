// The page at /docs: its responses, and its behaviour in a browser.
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { addToken, grant, secrets } from '../spec/callers.js'
import { type OpenBrowser, openBrowser } from '../support/browser.js'
import { describeWith } from '../support/describe-with.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject } from '../support/serve.js'
import { patience } from '../support/until.js'

const story = 'api::story.story'
const markup = '<img src=x onerror="document.title=\'run\'">'
const files = {
  'src/api/story/content-types/story/schema.json': {
    kind: 'collectionType',
    collectionName: 'stories',
    info: { singularName: 'story', pluralName: 'stories', displayName: `Story ${markup}` },
    attributes: {
      title: { type: 'string', required: true, default: markup },
      pages: { type: 'integer' },
      sequel: { type: 'relation', relation: 'oneToOne', target: story },
    },
  },
}

/** The elements that reach beyond the right edge. */
const wider = `[...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 80))`

let served: Served
beforeAll(async () => {
  const robots = { method: 'GET', path: '/robots.txt', base: 'root', auth: false, handle: () => new Response('Allow: /') } as const
  served = await serveProject(files, { environment: secrets, config: { events: { stream: true } }, code: { routes: [robots] } })
  await addToken(served, 'all', { type: 'full-access' })
  await grant(served, 'public', `${story}.find`)
  for (const title of ['First', `Second ${markup}`])
    await served.request('/api/stories', {
      method: 'POST',
      token: 'all',
      body: JSON.stringify({ data: { title, pages: 7 } }),
      headers: { 'content-type': 'application/json' },
    })
})
afterAll(() => served.close())

describe('response of /docs', () => {
  rule('openapi.11', 'a small page, a script and a style, under a strict policy', async () => {
    const [page, script, style] = await Promise.all(['', '/page.js', '/page.css'].map((path) => served.request(`/docs${path}`)))
    expect([page, script, style].map((answer) => answer!.status)).toEqual([200, 200, 200])
    expect([page, script, style].map((answer) => answer!.headers.get('content-type'))).toEqual(
      ['text/html', 'text/javascript', 'text/css'].map((type) => `${type}; charset=utf-8`),
    )
    expect([page, script, style].reduce((sum, answer) => sum + answer!.text.length, 0)).toBeLessThan(60_000)
    const policy = page!.headers.get('content-security-policy')!
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ]),
    )
    expect(policy).not.toMatch(/unsafe|http/)
    expect(page!.text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bon\w+=|https?:/)
    expect(script!.text).not.toMatch(/innerHTML|insertAdjacentHTML|\beval\b/)
    // Addresses of the files change with their contents, so browsers cache the files and revalidate the page.
    expect(page!.text).toMatch(/href="\/docs\/page\.css\?[\w-]{8}".*src="\/docs\/page\.js\?[\w-]{8}"/s)
    expect([page, script].map((answer) => answer!.headers.get('cache-control'))).toEqual([
      'no-cache',
      'public, max-age=31536000, immutable',
    ])
  })

  rule('openapi.11', 'the page knows where the API is, and the start page where the page is', async () => {
    expect((await served.request('/')).text).toContain('href="/docs"')
    const moved = await serveProject(files, { config: { api: { rest: { prefix: '/content' } } } })
    expect((await moved.request('/docs')).text).toContain('data-prefix="/content" data-description="/content/openapi.json"')
    await moved.close()
    const shadowed = await serveProject(files, { config: { api: { rest: { prefix: '/docs' } } } })
    expect((await shadowed.request('/')).text).not.toContain('href="/docs"')
    expect([(await shadowed.request('/docs')).status, (await shadowed.request('/docs/openapi.json')).status]).toEqual([404, 200])
    await shadowed.close()
  })
})

describeWith(['Chromium'], 'in a browser', () => {
  let opened: OpenBrowser
  const elsewhere: string[] = []
  beforeAll(async () => {
    opened = await openBrowser({ viewport: { width: 1280, height: 900 } })
    opened.page.setDefaultTimeout(60_000)
    opened.page.on('request', (request) => {
      if (!request.url().startsWith(served.origin)) elsewhere.push(request.url())
    })
  })
  afterAll(() => opened?.close())

  /** Errors on the page, and requests to other origins. Responses with errors appear in the console as well. */
  const troubles = () => [...opened.problems.filter((one) => !one.startsWith('Failed to load resource')), ...elsewhere]

  const links = () => opened.page.locator('#list a').allTextContents()
  const visit = async (hash = '') => {
    // The same address with another hash would not be loaded again.
    await opened.page.goto('about:blank')
    await opened.page.goto(`${served.origin}/docs${hash}`)
    await opened.page.waitForSelector('#list details', { state: 'attached' })
  }

  rule('openapi.12', 'a visitor finds an operation with the keyboard, sends it and sees the response', async () => {
    const { page } = opened
    await visit()
    await page.keyboard.press('/')
    await page.keyboard.type('get stor')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.send')
    expect(await page.locator('h2').textContent()).toBe('List stories')
    await page.getByRole('button', { name: 'pages', exact: true }).first().click()
    await page.getByRole('button', { name: 'Add a condition' }).click()
    await page.getByLabel('Attribute').fill('title')
    await page.getByLabel('Operator').selectOption('$startsWith')
    await page.getByLabel('Value').fill('Second')
    const curl = await page.locator('.console pre').first().textContent()
    expect(curl).toBe(`curl -g '${served.origin}/api/stories?fields=pages&filters[title][$startsWith]=Second'`)
    await page.keyboard.press('Control+Enter')
    await page.waitForSelector('.console .good')
    const shown = JSON.parse((await page.locator('.console pre').nth(1).textContent())!)
    expect(shown).toMatchObject({ data: [{ pages: 7 }], meta: { pagination: { total: 1 } } })
    await page.getByRole('button', { name: 'fetch' }).click()
    expect(await page.locator('.console pre').first().textContent()).toContain('await fetch("')
    expect(troubles()).toEqual([])
  })

  rule('openapi.12', 'a token shows more, is used for requests, and can be forgotten', async () => {
    const { page } = opened
    await visit(`#${encodeURIComponent('story/post/stories')}`)
    await page.getByText('If it needs a token, enter one above').waitFor()
    const open = await links()
    expect([open.includes('GET /stories'), open.includes('POST /stories')]).toEqual([true, false])
    await page.getByLabel('Token').fill('all')
    await page.getByLabel('Token').press('Enter')
    await expect.poll(async () => (await links()).length, patience).toBeGreaterThan(open.length + 20)
    await page.goto(`${served.origin}/docs#${encodeURIComponent('story/post/stories')}`)
    await page.waitForSelector('textarea')
    expect(JSON.parse(await page.locator('textarea').inputValue())).toMatchObject({ data: { title: markup, pages: 1 } })
    await page.locator('textarea').fill('{ "data": { "title": "From the page" } }')
    expect(await page.locator('.console pre').first().textContent()).toContain('-H "Authorization: Bearer $TOKEN"')
    await page.getByRole('button', { name: 'Send POST' }).click()
    await page.waitForSelector('.console .good')
    expect((await served.request('/api/stories?filters[title]=From the page')).body.data).toHaveLength(1)
    await page.reload()
    await page.waitForSelector('textarea')
    await page.getByRole('button', { name: 'Forget' }).click()
    await expect.poll(links, patience).toEqual(open)
    expect(await page.evaluate('[sessionStorage.length, localStorage.length, document.cookie]')).toEqual([0, 0, ''])
    await page.getByLabel('Token').fill('wrong')
    await page.getByLabel('Token').press('Enter')
    await page.getByRole('alert').waitFor()
    await page.getByRole('button', { name: 'Forget' }).click()
    await page.waitForSelector('#list a', { state: 'attached' })
  })

  rule('openapi.12', 'a stream of events is shown as they arrive', async () => {
    const { page } = opened
    await visit(`#${encodeURIComponent('events/get/events')}`)
    await page.getByRole('button', { name: 'Send GET' }).click()
    await page.getByRole('button', { name: 'Close the stream' }).waitFor()
    const shown = page.locator('.console pre').nth(1)
    await expect.poll(() => shown.textContent(), patience).toContain('retry:')
    await served.request('/api/stories', {
      ...{ method: 'POST', token: 'all', body: JSON.stringify({ data: { title: 'While you wait' } }) },
      headers: { 'content-type': 'application/json' },
    })
    await expect.poll(() => shown.textContent(), patience).toContain('While you wait')
    await page.getByRole('button', { name: 'Close the stream' }).click()
    await page.getByRole('button', { name: 'Close the stream' }).waitFor({ state: 'hidden' })
    expect(troubles()).toEqual([])
  })

  rule('openapi.12', 'texts read well: no title twice, and names in responses are code', async () => {
    const { page } = opened
    await visit()
    expect([await page.locator('h1').textContent(), await page.locator('h2').textContent()]).toEqual(['Octavo', 'Overview'])
    expect(await page.title()).toBe('API · Octavo')
    await visit(`#${encodeURIComponent('story/get/stories')}`)
    await page.waitForSelector('.responses')
    const responses = (await page.locator('.responses').textContent())!
    expect(responses).toContain('details says where')
    expect(responses).not.toContain('`')
    expect(await page.locator('.responses code', { hasText: 'details' }).count()).toBe(1)
  })

  rule('openapi.18', 'a route below nothing is requested where it is', async () => {
    const { page } = opened
    await visit(`#${encodeURIComponent('root-routes/get/robots.txt')}`)
    await page.getByRole('button', { name: 'Send GET' }).click()
    await page.waitForSelector('.console .good')
    expect(await page.locator('.console pre').first().textContent()).toBe(`curl -g '${served.origin}/robots.txt'`)
    expect(await page.locator('.console pre').nth(1).textContent()).toBe('Allow: /')
  })

  rule('openapi.12', 'markup in schemas and responses is text', async () => {
    const { page } = opened
    await visit(`#${encodeURIComponent('story/get/stories')}`)
    await page.getByRole('button', { name: 'Send GET' }).click()
    await page.waitForSelector('.console .good')
    expect(await page.locator('.console pre').nth(1).textContent()).toContain('Second <img src=x')
    expect([await page.locator('main img, nav img').count(), await page.title()]).toEqual([0, expect.not.stringMatching(/^run$/)])
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    await page.waitForSelector('.tree code')
    expect(await page.locator('main img, nav img').count()).toBe(0)
    expect(troubles()).toEqual([])
  })

  rule('openapi.12', 'a phone shows it without scrolling sideways', async () => {
    const { page } = opened
    await page.setViewportSize({ width: 360, height: 740 })
    for (const hash of ['', `#${encodeURIComponent('story/get/stories')}`]) {
      await visit(hash)
      await page.waitForSelector('h2')
      // The style may load after the contents.
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth'), patience).toBeLessThanOrEqual(0)
      expect(await page.evaluate(wider)).toEqual([])
    }
    // The Send button is reachable at the top of the page, and its response is in sight.
    const send = page.getByRole('button', { name: 'Send GET' })
    expect(await page.evaluate('scrollY')).toBe(0)
    expect((await send.boundingBox())!.y).toBeLessThan(740)
    await send.click()
    await page.waitForSelector('.console .good')
    const top = async () => (await page.locator('.console .good').boundingBox())!.y
    await expect.poll(top, patience).toBeLessThan(740)
    await page.setViewportSize({ width: 1280, height: 900 })
  })
})
