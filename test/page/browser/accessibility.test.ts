// Small widths, zoom, reduced motion, writing from right to left, and the accessibility trees of list and editor in a browser.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { requestAdmin, signInAdmin } from '../../support/administration.js'
import { describeWith } from '../../support/describe-with.js'
import type { Served } from '../../support/serve.js'
import { patience } from '../../support/until.js'
import { ada, type OpenPage, openPage, servePage } from './page.js'

/** Compares until a value is as expected; a loaded machine takes its time. */
const eventually = <T>(read: () => T | Promise<T>) => expect.poll(read, patience)

describeWith(['Chromium'], 'accessibility in a browser', () => {
  let served: Served
  let token: string
  let document: string
  const type = 'api::article.article'
  const articles = `/content/${type}`

  const create = async (path: string, data: object) => {
    const { status, body } = await requestAdmin(served, path, { method: 'POST', token, body: { data } })
    expect(status).toBe(201)
    return body.data.documentId as string
  }
  beforeAll(async () => {
    served = await servePage()
    token = (await signInAdmin(served, ada)).accessToken
    const summary = 'A mill at the sea, and a wheel that turns only at night.'
    document = await create(`${articles}?locale=en`, { title: 'Zebra one', slug: 'zebra-one', summary })
  })
  afterAll(() => served?.close())

  const using = async (options: Parameters<typeof openPage>[2], work: (open: OpenPage) => Promise<void>) => {
    const open = await openPage(served, ada, options)
    try {
      await work(open)
      open.expectNoProblems()
    } finally {
      await open.close()
    }
  }
  const showList = async (open: OpenPage, address = articles) => {
    await open.go(address)
    await open.page.locator('tbody tr').first().waitFor()
  }
  const showEditor = async ({ page, go }: OpenPage) => {
    await go(`${articles}/${document}`)
    await page.locator('main').getByRole('textbox', { name: 'Title' }).first().waitFor()
  }
  /** Elements that can be scrolled sideways, and those that stick out at a side or have words under others. */
  const misplaced = ({ page }: OpenPage) =>
    page.evaluate(() => {
      const found: string[] = []
      const nameOf = ({ tagName, className, textContent }: Element) => `${tagName} ${className} ${textContent?.slice(0, 40)}`
      for (const element of globalThis.document.querySelectorAll('html, body *')) {
        if (!element.checkVisibility()) continue
        const { overflowX, clipPath } = getComputedStyle(element)
        const { left, right, width } = element.getBoundingClientRect()
        const isRoot = element === globalThis.document.documentElement
        if ((isRoot || /auto|scroll/.test(overflowX)) && element.scrollWidth > element.clientWidth + 1)
          found.push(`scrolls: ${nameOf(element)}`)
        if (clipPath === 'none' && width > 0 && element.matches('a, button, input, h1, h2, td, th') && (left < 0 || right > innerWidth))
          found.push(`sticks out: ${nameOf(element)}`)
      }
      // The middle of each control in view is its own, not that of something above it.
      const layer = [...globalThis.document.querySelectorAll('[role=dialog], main')].at(-1)!
      for (const element of layer.querySelectorAll('button, a, input, h1, h2')) {
        const { left, right, top, bottom } = element.getBoundingClientRect()
        const [x, y] = [(left + right) / 2, (top + bottom) / 2]
        if (!element.checkVisibility() || right - left < 2 || y < 0 || y > innerHeight) continue
        const above = globalThis.document.elementFromPoint(x, y)
        const isBar = above?.closest('header, [class*=actions]') != null
        if (above !== null && !element.contains(above) && !above.contains(element) && !above.closest('label') && !isBar)
          found.push(`covered: ${nameOf(element)} by ${nameOf(above)}`)
      }
      return found
    })

  const screens = {
    'zoom of 200 %': { width: 640, height: 400 },
    'width of 320 pixels': { width: 320, height: 640 },
    'width of 1024 pixels': { width: 1024, height: 768 },
  }
  const languages = { 'en-GB': /^Published/, 'de-DE': /^Veröffentlicht/ }
  test.each(Object.keys(screens) as (keyof typeof screens)[])('list, editor and publication fit at a %s', async (screen) => {
    for (const [locale, published] of Object.entries(languages)) {
      const options = { viewport: screens[screen], deviceScaleFactor: screen === 'zoom of 200 %' ? 2 : 1, locale }
      await using(options, async (open) => {
        await showList(open)
        await open.page.getByRole('link', { name: published }).getByText(/\d/).waitFor()
        expect(await misplaced(open)).toEqual([])
        await showEditor(open)
        expect(await misplaced(open)).toEqual([])
        expect((await open.page.getByRole('heading', { level: 1 }).boundingBox())!.width).toBeGreaterThan(40)
        await open.page.keyboard.press('Control+Enter')
        const dialog = open.page.getByRole('dialog')
        const confirm = dialog.locator('footer button, button').last()
        await eventually(() => confirm.isEnabled()).toBe(true)
        expect(await misplaced(open)).toEqual([])
        await confirm.click({ trial: true })
      })
    }
  })
})
