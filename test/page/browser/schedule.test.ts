// Publication at a later time in a browser: scheduled, changed, cancelled, carried out and refused while the document is open.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { requestAdmin, signInAdmin } from '../../support/administration.js'
import { describeWith } from '../../support/describe-with.js'
import type { Served } from '../../support/serve.js'
import { patience } from '../../support/until.js'
import { ada, expectAccessible, expectNoSidewaysScrolling, type OpenPage, openPage, servePage } from './page.js'

const type = 'api::article.article'
const summary = 'A mill at the sea, and a wheel that turns only at night.'

describeWith(['Chromium'], 'publication at a later time in a browser', () => {
  let served: Served
  let open: OpenPage
  let page: Page
  let token: string
  let document: string

  const api = (method: string, path: string, body?: unknown) => requestAdmin(served, path, { method, token, body })
  const create = async (data: object): Promise<string> =>
    (await api('POST', `/content/${type}?locale=en`, { data: { slug: `later-${Date.now()}`, summary, ...data } })).body.data.documentId
  const read = async () => (await api('GET', `/content/${type}/${document}?locale=en`)).body.data
  const openDocument = async () => {
    await page.goto(`${served.origin}/admin/content/${type}/${document}`)
    await page.getByRole('main').getByRole('textbox', { name: 'Summary' }).first().waitFor()
  }
  const schedule = (id: string) =>
    api('PUT', `/content/${type}/${id}/schedule?locale=en`, { action: 'publish', at: new Date(Date.now() + 86_400_000).toISOString() })
  /** Lets the time of an action come, and the process look at it. */
  const comeDue = async () => {
    await served.sql('UPDATE octavo_scheduled_actions SET due_at = 1 WHERE document_id = ?', document)
    await schedule(await create({ title: 'Another one' }))
  }
  const mark = (text: RegExp) => page.getByRole('banner').or(page.locator('header')).getByRole('button', { name: text }).first()

  beforeAll(async () => {
    served = await servePage()
    open = await openPage(served)
    page = open.page
  })
  afterAll(async () => {
    await open?.close()
    await served?.close()
  })
  beforeEach(async () => {
    await served.sql('DELETE FROM octavo_scheduled_actions')
    token = (await signInAdmin(served, ada)).accessToken
    document = await create({ title: 'The mill that waits' })
  })

  test('a publication is scheduled from the dialog, shown in the head and cancelled there', async () => {
    await openDocument()
    await page.keyboard.press('Control+Enter')
    await page.getByRole('button', { name: 'Publish later…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Publish later' })
    const time = dialog.getByLabel('When')
    await time.fill('2020-01-01T09:00')
    await dialog.getByText('This time has passed.').waitFor()
    expect(await dialog.getByRole('button', { name: 'Schedule', exact: true }).isDisabled()).toBe(true)
    const year = new Date().getFullYear() + 1
    await time.fill(`${year}-12-03T09:00`)
    await expectAccessible(page)
    await expectNoSidewaysScrolling(page, 390)
    await page.setViewportSize({ width: 1280, height: 800 })
    await dialog.getByRole('button', { name: 'Schedule', exact: true }).click()
    await mark(/^Scheduled for 3 Dec/).waitFor()
    const at = await page.evaluate((text) => new Date(text).toISOString(), `${year}-12-03T09:00`)
    expect((await read()).scheduled).toMatchObject([{ action: 'publish', locale: 'en', at, error: null }])
    await openDocument()
    await mark(/^Scheduled for 3 Dec/).waitFor()
    await expectAccessible(page)
    await mark(/^Scheduled for 3 Dec/).click()
    // It is no longer shown, even if the document cannot be read again.
    await page.route(
      (url) => url.pathname.startsWith('/admin/api/') && url.pathname.endsWith(document),
      (route) => route.abort(),
    )
    await dialog.getByRole('button', { name: /^Cancel schedule: English: Scheduled for/ }).click()
    await page.getByText('No longer scheduled.').waitFor()
    await dialog.waitFor({ state: 'detached' })
    await mark(/^Scheduled for/).waitFor({ state: 'detached' })
    expect((await read()).scheduled).toEqual([])
    await open.go('/')
    await page.unrouteAll()
    open.expectNoProblems(/Failed to load resource/)
  })

  test('what is published now is no longer scheduled, unless it should be', async () => {
    await schedule(document)
    await openDocument()
    await mark(/^Scheduled for/).waitFor()
    const publishNow = async (keeps: boolean) => {
      await page.keyboard.press('Control+Enter')
      const cancels = page.getByRole('checkbox', { name: /^Cancel the publication scheduled for/ })
      await cancels.waitFor()
      if (keeps) await cancels.uncheck({ force: true })
      await page.getByRole('button', { name: 'Publish now' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await publishNow(true)
    expect((await read()).scheduled).toHaveLength(1)
    await page.getByRole('main').getByRole('textbox', { name: 'Title' }).first().fill('The mill that waited')
    await publishNow(false)
    // The message about the first publication is gone.
    await page.getByText('“The mill that waited” was published.').first().waitFor()
    expect(await page.getByText('“The mill that waits” was published.').count()).toBe(0)
    await mark(/^Scheduled for/).waitFor({ state: 'detached' })
    expect((await read()).scheduled).toEqual([])
    open.expectNoProblems()
  })

  test('lists and the home screen have a clock for what is scheduled', async () => {
    await page.goto(`${served.origin}/admin/content/${type}?q=mill+that+waits`)
    const row = page.getByRole('row', { name: /The mill that waits/ }).first()
    await row.getByText('English: Draft.').waitFor()
    expect(await row.getByRole('img', { name: /^Scheduled for/ }).count()).toBe(0)
    await schedule(document)
    await page.getByRole('img', { name: /^Scheduled for/ }).waitFor()
    await page.getByText(/^English: Draft\. Scheduled for/).waitFor()
    await expectAccessible(page)
    await page.goto(`${served.origin}/admin`)
    const box = (name: string) => page.getByRole('region', { name }).getByRole('link', { name: 'The mill that waits' })
    await box('Scheduled').waitFor()
    await box('Recently changed').first().waitFor()
    // Not twice: the document of this test is finished, those of the others are not.
    const unfinished = await box('My unfinished work').count()
    await api('DELETE', `/content/${type}/${document}/schedule?locale=en`)
    await expect.poll(() => box('My unfinished work').count(), patience).toBe(unfinished + 1)
  })

  test('the open document shows that it was published', async () => {
    await schedule(document)
    await openDocument()
    await mark(/^Scheduled for/).waitFor()
    await comeDue()
    await page.locator('header').getByText('Published').waitFor()
    await mark(/^Scheduled for/).waitFor({ state: 'detached' })
    open.expectNoProblems()
  })

  test('a refused publication is shown in the document and at home, with what to correct', async () => {
    document = await create({ title: null })
    await schedule(document)
    await openDocument()
    await comeDue()
    await mark(/^Publishing failed on/).click()
    const dialog = page.getByRole('dialog', { name: 'Publish later' })
    await dialog.getByText('1 correction needed').waitFor()
    await expectAccessible(page)
    await open.go('/')
    const box = page.getByRole('region', { name: 'Scheduled' })
    await box.getByText(/^Publishing failed on/).waitFor()
    await box.getByRole('link', { name: 'Another one' }).waitFor()
    await expectAccessible(page)
    await expectNoSidewaysScrolling(page, 390)
    await page.setViewportSize({ width: 1280, height: 800 })
    open.expectNoProblems()
  })
})
