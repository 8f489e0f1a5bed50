// The editor of documents with two languages next to each other in a browser: errors, steps, and keys of either.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { requestAdmin, signInAdmin } from '../../support/administration.js'
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

  test('F8 leads through the errors of both languages in folded entries and texts, and links of the publication to either', async () => {
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
