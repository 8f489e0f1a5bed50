// The frame of the page in a browser: menu, palette, keys, preferences, and the home screen.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../../support/describe-with.js'
import type { Served } from '../../support/serve.js'
import { patience } from '../../support/until.js'
import { expectAccessible, expectNoSidewaysScrolling, type OpenPage, openPage, servePage } from './page.js'

describeWith(['Chromium'], 'the shell in a browser', () => {
  let served: Served
  let open: OpenPage
  beforeAll(async () => {
    served = await servePage()
    open = await openPage(served)
  })
  afterAll(async () => {
    await open?.close()
    await served?.close()
  })

  const focused = () => open.page.evaluate(() => document.activeElement?.getAttribute('data-region') ?? document.activeElement?.tagName)

  test('the home screen shows latest changes and documents by status, and fits a narrow screen', async () => {
    await open.go('/')
    await open.page.getByRole('link', { name: /^Articles.*published/ }).waitFor()
    await expectAccessible(open.page)
    await expectNoSidewaysScrolling(open.page, 320)
    await open.page.setViewportSize({ width: 1280, height: 800 })
    await open.page.getByRole('button', { name: 'Hide “Recently changed”' }).press('Enter')
    await open.page.getByRole('heading', { name: 'Recently changed' }).waitFor({ state: 'detached' })
    await open.page.getByRole('button', { name: 'Hidden sections' }).press('Enter')
    await open.page.getByRole('menuitem', { name: 'Recently changed' }).press('Enter')
    await open.page.getByRole('heading', { name: 'Recently changed' }).waitFor()
    open.expectNoProblems()
  })

  test('the boxes of the home screen appear together, so that none moves another, whatever comes first', async () => {
    const boxes = open.page.locator('main section')
    const places = () =>
      Promise.all(['My unfinished work', 'Recently changed'].map((name) => open.page.getByRole('region', { name }).boundingBox()))
    for (const [late, early] of [
      ['schedule', 'home'],
      ['home', 'schedule'],
    ] as const) {
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      const isPath = (name: string) => (url: URL) => url.pathname === `/admin/api/${name}`
      await open.page.route(isPath(late), async (route) => {
        await held
        await route.continue()
      })
      const arrived = open.page.waitForResponse((response) => isPath(early)(new URL(response.url())))
      await open.go('/')
      await (await arrived).finished()
      expect(await boxes.count()).toBe(0)
      release()
      await boxes.first().waitFor()
      const first = await places()
      expect(first).not.toContain(null)
      await open.page.getByRole('link', { name: /^Articles.*published/ }).waitFor()
      expect(await places()).toEqual(first)
      await open.page.unroute(isPath(late))
    }
    open.expectNoProblems()
  })

  test('the home screen has its other boxes while the schedule cannot be read', async () => {
    const schedule = '**/admin/api/schedule'
    await open.page.route(schedule, (route) => route.abort())
    await open.go('/')
    await open.page.getByRole('region', { name: 'Recently changed' }).waitFor()
    // The page tries again as long as it is open.
    await open.go('/content/api::tag.tag')
    await open.page.unroute(schedule)
    open.expectNoProblems(/Failed to load resource/)
  })

  test('the home screen has changes by day, and drafts that public documents link to', async () => {
    const title = 'The Ferry Timetable as Literature'
    const [draft] = await served.sql('SELECT document_id FROM articles WHERE title = ?', title)
    const document = draft!.document_id as string
    await served.sql('UPDATE articles SET updated_at = ? WHERE document_id = ?', Date.now(), document)
    await served.sql(
      `INSERT INTO octavo_pending_links (link_table, owner_id, target_type, target_document, target_locale)
        VALUES ('articles_related_lnk', 1, 'api::article.article', ?, 'en') RETURNING id`,
      document,
    )
    await open.go('/')
    const box = (name: string) => open.page.getByRole('region', { name })
    const days = box('Changes in the last 14 days').getByRole('listitem')
    await expect.poll(() => days.last().textContent(), patience).toContain('0 published, 0 changed, 1 draft')
    expect(await days.count()).toBe(14)
    await expectAccessible(open.page)
    await box('Drafts that public documents link to').getByRole('link', { name: title }).press('Enter')
    await expect.poll(() => new URL(open.page.url()).pathname, patience).toBe(`/admin/content/api::article.article/${document}`)
    open.expectNoProblems()
  })

  test('the palette opens a file itself, in another tab', async () => {
    await open.go('/')
    const [file] = await served.sql("SELECT name, url FROM files WHERE mime LIKE 'image/%' ORDER BY id LIMIT 1")
    await open.page.keyboard.press('Control+k')
    await open.page.getByRole('combobox').fill(String(file!.name))
    const opened = open.page.waitForEvent('popup')
    await open.page
      .getByRole('option', { name: String(file!.name) })
      .first()
      .click()
    const tab = await opened
    await expect.poll(() => new URL(tab.url()).pathname, patience).toBe(file!.url)
    await tab.close()
    open.expectNoProblems()
  })

  test('the palette finds a document and a type, with keys alone', async () => {
    await open.go('/')
    await open.page.keyboard.press('Control+k')
    const field = open.page.getByRole('combobox')
    await field.waitFor()
    await expectAccessible(open.page)
    await field.fill('lett')
    await open.page.getByRole('option', { name: 'Letters', exact: true }).waitFor()
    await field.press('Enter')
    await expect.poll(() => new URL(open.page.url()).pathname).toBe('/admin/content/api::letter.letter')
    await open.page.keyboard.press('Control+k')
    await field.fill('the mill that')
    await open.page.getByRole('option', { name: /The Mill That Waits/ }).waitFor()
    await field.press('Enter')
    await expect.poll(() => new URL(open.page.url()).pathname).toMatch(/^\/admin\/content\/api::article\.article\/\w+$/)
    open.expectNoProblems()
  })

  test('a key goes through the regions, and the skip link leads to the content', async () => {
    await open.go('/')
    await open.page.keyboard.press('Tab')
    expect(await open.page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to content')
    await open.page.keyboard.press('Enter')
    expect(await focused()).toBe('content')
    await open.page.keyboard.press('F6')
    expect(await focused()).toBe('menu')
    await open.page.keyboard.press('Shift+F6')
    expect(await focused()).toBe('content')
    await open.page.keyboard.press('?')
    await open.page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await expectAccessible(open.page, [1280])
    await open.page.keyboard.press('Escape')
    open.expectNoProblems()
  })

  test('appearance and language are chosen in the menu of the account, on a phone in its drawer', async () => {
    await open.page.setViewportSize({ width: 390, height: 800 })
    await open.go('/')
    await open.page.getByRole('button', { name: 'Open the menu' }).press('Enter')
    await open.page.getByRole('button', { name: 'Close the menu' }).waitFor()
    await expectAccessible(open.page, [390])
    // The tooltip of the button with the focus would stay under the menu.
    expect(await open.page.getByRole('tooltip').count()).toBe(0)
    await open.page.keyboard.press('Escape')
    await open.page.setViewportSize({ width: 1280, height: 800 })
    await open.page.getByRole('button', { name: /Ada Lovelace/ }).press('Enter')
    await open.page.getByRole('menuitemradio', { name: 'Dark' }).press('Enter')
    expect(await open.page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark')
    await open.page.getByRole('button', { name: /Ada Lovelace/ }).press('Enter')
    await open.page.getByRole('menuitemradio', { name: 'Deutsch' }).press('Enter')
    await open.page.getByRole('heading', { name: 'Guten Tag, Ada' }).waitFor()
    expect(await open.page.evaluate(() => document.documentElement.lang)).toBe('de')
    open.expectNoProblems()
  })
})
