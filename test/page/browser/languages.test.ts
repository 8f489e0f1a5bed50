// The editor of documents with two languages next to each other in a browser: errors, steps, and keys of either.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { addAdministrator, requestAdmin, signInAdmin } from '../../support/administration.js'
import { describeWith } from '../../support/describe-with.js'
import type { Served } from '../../support/serve.js'
import { patience } from '../../support/until.js'
import { ada, type OpenPage, openPage, servePage } from './page.js'

const type = 'api::article.article'

describeWith(['Chromium'], 'two languages in a browser', () => {
  let served: Served
  let open: OpenPage
  let page: Page
  let token: string

  beforeAll(async () => {
    served = await servePage()
    open = await openPage(served)
    page = open.page
    page.setDefaultTimeout(patience.timeout)
  })
  afterAll(async () => {
    await open?.close()
    await served?.close()
  })
  beforeEach(async () => {
    token = (await signInAdmin(served, ada)).accessToken
  })

  const api = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    requestAdmin(served, path, { method, token, body, headers })
  /** Creates a document in both languages. */
  const create = async (english: object, german: object): Promise<string> => {
    const slug = `mill-${Date.now()}`
    const data = { title: 'The mill that waits', slug, ...english }
    const { documentId } = (await api('POST', `/content/${type}?locale=en`, { data })).body.data
    const changes = { title: 'Die Mühle', slug: `${slug}-de`, ...german }
    const { status } = await api('PATCH', `/content/${type}/${documentId}?locale=de`, { changes }, { 'if-none-match': '*' })
    expect(status).toBe(200)
    return documentId
  }
  const german = () => page.getByRole('region', { name: 'German' })
  const field = (name: string, within = page.locator('main')) => within.getByRole('textbox', { name }).first()
  const openBoth = async (document: string) => {
    await page.goto(`${served.origin}/admin/content/${type}/${document}?beside=de`)
    await field('Title', german()).waitFor()
  }
  /** Waits until the focus is in a field, whose entries have no numbers here. */
  const expectFocus = (path: string) => {
    const focused = () =>
      page.evaluate(() => document.activeElement?.closest('[id^="field-"], [id^="beside-"]')?.id.replaceAll(/#\d+/g, ''))
    return expect.poll(focused, patience).toBe(path)
  }

  test('the key F8 leads through the errors of both languages in folded entries and texts, and links of the publication to either', async () => {
    const extras = [
      { __component: 'block.text', heading: 'Without text' },
      { __component: 'block.fact-box', title: 'Facts', facts: [{ label: 'Wheels', value: 'One' }, { label: 'Sails' }] },
    ]
    const document = await create({ summary: 'Short', seo: { noIndex: true }, extras }, { summary: 'Kurz', extras })
    await openBoth(document)
    const dialog = page.getByRole('dialog')
    const check = async () => {
      await page.getByRole('button', { name: 'Publish', exact: true }).first().click()
      await dialog.getByText('3 corrections needed').waitFor()
    }
    await check()
    await dialog.getByRole('button', { name: 'Seo › Meta title' }).click()
    await expectFocus('field-seo/metaTitle')
    const stops = ['field-summary', 'field-extras/block.text/body', 'field-extras/block.fact-box/facts//value', 'field-seo/metaTitle']
    const others = stops.slice(0, -1).map((path) => path.replace('field', 'beside'))
    for (const path of [...others, ...stops]) {
      await page.keyboard.press('F8')
      await expectFocus(path)
    }
    for (const path of [...stops.slice(0, -1).reverse(), others.at(-1)!]) {
      await page.keyboard.press('Shift+F8')
      await expectFocus(path)
    }
    // From a field without an error, to the next one on the screen.
    await field('Kicker').focus()
    await page.keyboard.press('Shift+F8')
    await expectFocus(others.at(-1)!)
    await check()
    await dialog.getByRole('group', { name: 'Also publish' }).getByRole('button', { name: 'Summary' }).click()
    await expectFocus('beside-summary')
    await page.goto(`${served.origin}/admin/content/${type}/${document}`)
    await field('Title').waitFor()
    await check()
    await dialog.getByRole('group', { name: 'Also publish' }).getByRole('button', { name: 'Extras' }).click()
    await page.waitForURL(/locale=de/)
    await expectFocus('field-extras/block.text/body')
    await page.keyboard.press('F8')
    await expectFocus('field-extras/block.fact-box/facts//value')
    open.expectNoProblems()
  })

  test('whoever types keeps the text while another person publishes, and sees it without a reload; a refused value holds back no other language', async () => {
    const summary = 'A mill at the sea, and a wheel that turns only at night.'
    const document = await create({ summary, kicker: 'Water' }, { summary })
    const draftOf = async (locale: string) => (await api('GET', `/content/${type}/${document}?locale=${locale}`)).body.data.draft
    await addAdministrator(served, 'ben@example.com', undefined, { firstname: 'Ben' })
    const other = await openPage(served, 'ben@example.com')
    try {
      await openBoth(document)
      const english = page.getByRole('region', { name: 'English' })
      const head = page.locator('[data-column="second"]')
      await other.go(`/content/${type}/${document}?locale=de`)
      await other.page.getByRole('textbox', { name: 'Kicker' }).focus()
      await head.getByText('Viewing: Ben').waitFor()
      await german().getByText('Editing: Ben').waitFor()
      let release = () => {}
      const published = new Promise<void>((resolve) => {
        release = resolve
      })
      const isSave = (url: URL) => url.pathname.includes('/admin/api/content/')
      await page.route(isSave, async (route) => {
        if (route.request().method() === 'PATCH') await published
        await route.continue()
      })
      await field('Kicker', english).fill('Typed meanwhile')
      await other.page.keyboard.press('Control+Enter')
      const dialog = other.page.getByRole('dialog')
      await dialog.getByText('Ready to publish').waitFor()
      await dialog.getByText('English').first().click()
      await dialog.getByRole('button', { name: 'Publish 2 languages' }).click()
      await head.getByText('Published').waitFor()
      release()
      await expect.poll(async () => (await draftOf('en')).kicker, patience).toBe('Typed meanwhile')
      await page.unrouteAll({ behavior: 'wait' })
      expect(await field('Kicker', english).inputValue()).toBe('Typed meanwhile')
      const side = page.getByRole('complementary')
      await side.getByText('1 field differs from the public version').waitFor()
      await side.getByText('Changed').waitFor()
      await page.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('menuitem', { name: 'Discard changes' }).waitFor()
      await page.keyboard.press('Escape')
      await field('Kicker', german()).fill('k'.repeat(61))
      await german().getByText('At most 60 characters: 1 too many.').first().waitFor()
      await field('Kicker', english).fill('Typed afterwards')
      await field('Title', german()).fill('Die andere Mühle')
      await expect.poll(async () => (await draftOf('en')).kicker, patience).toBe('Typed afterwards')
      await expect.poll(async () => (await draftOf('de')).title, patience).toBe('Die andere Mühle')
      // Refused requests are reported by the browser itself.
      open.expectNoProblems(/400|412/)
      other.expectNoProblems()
    } finally {
      await other.close()
    }
  })

  test('the buttons of the head have the steps of the column with the focus, and keys in a list of choices act on its column', async () => {
    await openBoth(await create({ kicker: 'Water' }, { kicker: 'Wasser' }))
    const [undo, redo] = ['Undo', 'Redo'].map((name) => page.getByRole('button', { name, exact: true }))
    const expectSteps = (...expected: readonly boolean[]) =>
      expect.poll(() => Promise.all([undo!.isEnabled(), redo!.isEnabled()]), patience).toEqual(expected)
    await field('Kicker').fill('One')
    await expectSteps(true, false)
    await field('Kicker', german()).focus()
    await expectSteps(false, false)
    await field('Kicker', german()).fill('Eins')
    await expectSteps(true, false)
    await german()
      .getByRole('button', { name: /Format/ })
      .click()
    await page.getByRole('listbox').waitFor()
    await page.keyboard.press('Control+z')
    await expect.poll(() => field('Kicker', german()).inputValue(), patience).toBe('Wasser')
    await page.keyboard.press('Escape')
    await expectSteps(false, true)
    expect(await field('Kicker').inputValue()).toBe('One')
    open.expectNoProblems()
  })
})
