// The editor of documents in a browser: publication, errors, undo, two languages, history, also without a mouse.
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { addAdministrator, allowAdmins, requestAdmin, signInAdmin } from '../../support/administration.js'
import { describeWith } from '../../support/describe-with.js'
import type { Served } from '../../support/serve.js'
import { patience, until } from '../../support/until.js'
import { ada, expectAccessible, expectNoSidewaysScrolling, type OpenPage, openPage, servePage } from './page.js'

const type = 'api::article.article'
const summary = 'A mill at the sea, and a wheel that turns only at night.'

describeWith(['Chromium'], 'the editor in a browser', () => {
  let served: Served
  let open: OpenPage
  let page: Page
  let token: string
  let document: string

  const api = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    requestAdmin(served, path, { method, token, body, headers })
  const read = async (locale = 'en') => (await api('GET', `/content/${type}/${document}?locale=${locale}`)).body.data
  const revision = async () => (await api('GET', `/content/${type}/${document}?locale=en`)).headers.get('etag')!
  /** Gives the document a German version. */
  const translate = async (values: object) => {
    const changes = { slug: `muehle-${Date.now()}`, ...values }
    const { status } = await api('PATCH', `/content/${type}/${document}?locale=de`, { changes }, { 'if-none-match': '*' })
    expect(status).toBe(200)
  }
  const field = (name: string, within = page.locator('main')) => within.getByRole('textbox', { name }).first()
  const openDocument = async (search = '') => {
    await page.goto(`${served.origin}/admin/content/${type}/${document}${search}`)
    await field('Title').waitFor()
  }

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
    token = (await signInAdmin(served, ada)).accessToken
    const data = { title: 'The mill that waits', slug: `mill-${Date.now()}`, summary, kicker: 'Water' }
    document = (await api('POST', `/content/${type}?locale=en`, { data })).body.data.documentId
  })

  test('the palette has the actions of the open document', async () => {
    await openDocument()
    const run = async (text: string, name: RegExp) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('combobox').fill(text)
      await page.getByRole('option', { name }).waitFor()
      await page.keyboard.press('Enter')
    }
    await run('publ', /^Publish Ctrl/)
    await page.getByRole('dialog').getByText('Ready to publish').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await run('second', /^Second column: German/)
    await page.waitForURL(/beside=de/)
    await run('no second', /^No second column/)
    await page.waitForURL((url) => url.searchParams.get('beside') === null)
    await run('dupl', /^Duplicate/)
    await page.waitForURL((url) => !url.pathname.endsWith(document))
    await field('Title').waitFor()
    await run('delete', /^Delete…/)
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
    open.expectNoProblems()
  })

  test('Ctrl+Enter shows what becomes public, and Enter publishes it', async () => {
    await openDocument()
    await page.keyboard.press('Control+Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Ready to publish').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await read()).toMatchObject({ state: 'draft' })
    await page.keyboard.press('Control+Enter')
    await dialog.getByText('Ready to publish').waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('“The mill that waits” was published.').waitFor()
    expect(await read()).toMatchObject({ state: 'published', published: { title: 'The mill that waits' } })
    await field('Title').fill('The mill that waited')
    await page.getByText('1 field differs from the public version').waitFor()
    await until('the draft is saved', async () => (await read()).state === 'changed')
    await page.getByRole('main').getByText('Changed').first().waitFor()
    open.expectNoProblems()
  })

  test('what is missing is listed before a publication, and each link and F8 go to its field', async () => {
    await translate({ title: 'Die Mühle' })
    const { documentId } = (await api('POST', `/content/${type}?locale=en`, { data: { title: 'The quiet sea' } })).body.data
    const related = { connect: [{ documentId }] }
    const linked = await api('PATCH', `/content/${type}/${document}?locale=en`, { changes: { related } }, { 'if-match': await revision() })
    expect(linked.status).toBe(200)
    await openDocument()
    await field('Summary').fill('')
    await field('Title').fill('')
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('2 corrections needed').waitFor()
    await dialog.getByText('1 correction needed').waitFor()
    await dialog.getByText('The quiet sea (Related)').waitFor()
    expect(await dialog.getByRole('button', { name: 'Publish now' }).isDisabled()).toBe(true)
    await dialog.getByRole('button', { name: 'Summary' }).first().click()
    await until('the focus is in Summary', async () =>
      field('Summary').evaluate((element) => element.ownerDocument.activeElement === element),
    )
    await page.keyboard.press('F8')
    await until('the focus is in Title', async () => field('Title').evaluate((element) => element.ownerDocument.activeElement === element))
    expect(await field('Title').getAttribute('aria-invalid')).toBe('true')
    open.expectNoProblems()
  })

  test('required files and relations that are empty are listed, but can be published; what is public already cannot', async () => {
    const extras = [{ __component: 'block.gallery', title: 'Without pictures' }]
    await api('PATCH', `/content/${type}/${document}?locale=en`, { changes: { extras } }, { 'if-match': await revision() })
    await openDocument()
    await page.keyboard.press('Control+Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: '1 required field is empty; you can publish anyway' }).waitFor()
    await dialog.getByRole('button', { name: /Pictures/ }).waitFor()
    await dialog.getByRole('button', { name: 'Publish now' }).click()
    await page.getByText('“The mill that waits” was published.').waitFor()
    await page.keyboard.press('Control+Enter')
    await dialog.getByRole('heading', { name: /^1 required field/ }).waitFor()
    expect(await dialog.getByRole('button', { name: 'Publish now' }).isDisabled()).toBe(true)
    open.expectNoProblems()
  })

  test('undo and redo work across fields by keys', async () => {
    await openDocument()
    await field('Title').fill('One')
    await field('Kicker').fill('Two')
    await field('Kicker').press('Control+z')
    expect(await field('Kicker').inputValue()).toBe('Water')
    await page.keyboard.press('Control+z')
    expect(await field('Title').inputValue()).toBe('The mill that waits')
    await page.keyboard.press('Control+Shift+z')
    expect(await field('Title').inputValue()).toBe('One')
    await until('the title is saved', async () => (await read()).draft.title === 'One')
    expect((await read()).draft.kicker).toBe('Water')
    open.expectNoProblems()
  })

  test('both languages side by side are written and saved, and a new one is filled from the other', async () => {
    await openDocument('?beside=de')
    const german = page.getByRole('region', { name: 'German' })
    await field('Title', german).fill('Die Mühle')
    await until(
      'the German draft',
      async () => (await api('GET', `/content/${type}/${document}?locale=de`)).body.data.draft?.title === 'Die Mühle',
    )
    await field('Title').fill('The mill')
    await until('the English draft', async () => (await read()).draft.title === 'The mill')
    await openDocument('?locale=de')
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Fill from English…' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Fill \d+ fields?$/ })
      .click()
    await until('the summary is filled', async () => (await field('Summary').inputValue()) === summary)
    expect((await read('de')).draft).toMatchObject({ title: 'Die Mühle', summary })
    open.expectNoProblems()
  })

  test('a new language shows what all languages share, says that it is new, and what can be done with it once it is saved', async () => {
    const data = { title: 'The mill that waits', slug: `shared-${Date.now()}`, summary, readingMinutes: 7 }
    document = (await api('POST', `/content/${type}?locale=en`, { data })).body.data.documentId
    await openDocument('?locale=de')
    expect(await field('Reading minutes').inputValue()).toBe('7')
    await page.getByText('This document has no German version yet.').waitFor()
    await page.getByRole('button', { name: 'Fill from English…' }).click()
    const dialog = page.getByRole('dialog')
    // What English lacks cannot be taken from there.
    await dialog.getByRole('checkbox', { name: 'Summary' }).waitFor()
    await dialog.getByRole('checkbox', { name: 'Kicker' }).waitFor({ state: 'detached' })
    await dialog.getByRole('button', { name: 'Select empty fields' }).click()
    await dialog.getByRole('button', { name: /^Fill \d+ fields?$/ }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('This document has no German version yet.').waitFor({ state: 'detached' })
    expect((await read('de')).draft).toMatchObject({ summary, readingMinutes: 7 })
    open.expectNoProblems()
  })

  test('a language that begins with its title can be published at once', async () => {
    await openDocument('?locale=de')
    await field('Title').fill('Die Mühle')
    await page.getByRole('complementary').getByRole('button', { name: 'Publish' }).waitFor()
    await page.getByRole('complementary').getByRole('button', { name: 'English' }).waitFor()
    expect((await read('de')).draft).toMatchObject({ title: 'Die Mühle' })
    await page.goto(`${served.origin}/admin/content/${type}/new`)
    await field('Title').waitFor()
    await expect.poll(() => page.evaluate(() => globalThis.document.activeElement?.id), patience).toBe('field-title')
    await page.keyboard.type('A new mill')
    await page.getByRole('main').getByText('Draft', { exact: true }).first().waitFor()
    open.expectNoProblems()
  })

  test('a language that is missing in the second column is filled from the first', async () => {
    await openDocument('?beside=de')
    await page.getByRole('button', { name: 'Fill from English…' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Fill \d+ fields?$/ })
      .click()
    const german = page.getByRole('region', { name: 'German' })
    await expect.poll(() => field('Summary', german).inputValue(), patience).toBe(summary)
    await page.getByRole('button', { name: 'Fill from English…' }).waitFor({ state: 'detached' })
    expect((await read('de')).draft).toMatchObject({ summary })
    open.expectNoProblems()
  })

  test('keys and the buttons of the head act on the column with the focus', async () => {
    await translate({ title: 'Die Mühle' })
    await openDocument('?beside=de')
    const german = page.getByRole('region', { name: 'German' })
    await field('Title').fill('One')
    await field('Title', german).fill('Eins')
    await field('Kicker', german).fill('Wasser')
    await page.keyboard.press('Control+z')
    await expect.poll(() => field('Kicker', german).inputValue(), patience).toBe('')
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => field('Title', german).inputValue(), patience).toBe('Die Mühle')
    await page.keyboard.press('Control+Shift+z')
    await expect.poll(() => field('Title', german).inputValue(), patience).toBe('Eins')
    expect(await field('Title').inputValue()).toBe('One')
    await until('both are saved', async () => (await read('de')).draft?.title === 'Eins' && (await read()).draft.title === 'One')
    await page.keyboard.press('Control+Enter')
    const dialog = page.getByRole('dialog', { name: 'Publish German' })
    await dialog.getByRole('button', { name: 'Summary' }).click()
    const isFocused = (element: SVGElement | HTMLElement) => element.ownerDocument.activeElement === element
    await expect.poll(() => field('Summary', german).evaluate(isFocused), patience).toBe(true)
    await field('Title', german).focus()
    await page.keyboard.press('F8')
    await expect.poll(() => field('Summary', german).evaluate(isFocused), patience).toBe(true)
    for (const region of ['complementary', 'navigation', 'main'] as const) {
      await page.keyboard.press('F6')
      await expect.poll(() => page.getByRole(region).first().evaluate(isFocused), patience).toBe(true)
    }
    open.expectNoProblems()
  })

  test('the second column of a type without drafts is saved by its button and by Ctrl+S, and takes the changes of others', async () => {
    const category = 'api::category.category'
    const names = { name: 'Mills', slug: `mills-${Date.now()}` }
    const { documentId } = (await api('POST', `/content/${category}?locale=en`, { data: names })).body.data
    const address = `/content/${category}/${documentId}?locale=de`
    const german = async () => (await api('GET', address)).body.data
    await page.goto(`${served.origin}/admin/content/${category}/${documentId}?beside=de`)
    const column = page.getByRole('region', { name: 'German' })
    await field('Name', column).fill('Mühlen')
    await field('Slug', column).fill(`muehlen-${Date.now()}`)
    await page.getByRole('button', { name: 'Save German' }).click()
    await until('the German version', async () => (await german()).draft?.name === 'Mühlen')
    await field('Description', column).fill('Am Meer')
    await page.keyboard.press('Control+s')
    await until('the German text', async () => (await german()).draft.description === 'Am Meer')
    await until('nothing is left to save', () => page.getByRole('button', { name: 'Save German' }).isDisabled())
    const match = { 'if-match': `"${(await german()).revision}"` }
    expect((await api('PATCH', address, { changes: { name: 'Räder' } }, match)).status).toBe(200)
    await expect.poll(() => field('Name', column).inputValue(), patience).toBe('Räder')
    open.expectNoProblems()
  })

  test('the second column has the choice about a removed entry, without which its language cannot be published', async () => {
    await translate({ title: 'Die Mühle', summary, extras: [{ __component: 'block.gallery', title: 'Bilder' }] })
    await openDocument('?beside=de')
    const german = page.getByRole('region', { name: 'German' })
    await german
      .getByRole('group', { name: /^Extras/ })
      .getByRole('button', { expanded: false })
      .first()
      .click()
    const caption = german.locator('[id^="beside-extras/"][id$="/title"]')
    await caption.waitFor()
    await page.context().setOffline(true)
    await caption.fill('Meine Bilder')
    await page.getByText('No connection to the service.').waitFor()
    const match = { 'if-match': `"${(await read('de')).revision}"` }
    expect((await api('PATCH', `/content/${type}/${document}?locale=de`, { changes: { extras: [] } }, match)).status).toBe(200)
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Keep it' }).waitFor()
    await page.getByRole('complementary').getByRole('button', { name: 'Publish' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Resolve 1 conflict first.').waitFor()
    expect(await dialog.getByRole('checkbox', { name: /^German/ }).isDisabled()).toBe(true)
    expect(await dialog.getByRole('button', { name: 'Publish now' }).isEnabled()).toBe(true)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Keep it' }).click()
    await until('the entry is kept', async () => (await read('de')).draft.extras[0]?.title === 'Meine Bilder')
    await page.getByRole('complementary').getByRole('button', { name: 'Publish' }).click()
    await dialog.getByText('German').first().click()
    await dialog.getByRole('button', { name: 'Publish 2 languages' }).click()
    await until('German is public', async () => (await read('de')).published?.extras[0]?.title === 'Meine Bilder')
    open.expectNoProblems(/ERR_INTERNET_DISCONNECTED|Failed to load resource|412/)
  })

  test('the panel of a linked document has the choice about an entry that another person removed, and keeps it', async () => {
    const data = { title: 'The quiet sea', extras: [{ __component: 'block.gallery', title: 'Pictures' }] }
    const { documentId } = (await api('POST', `/content/${type}?locale=en`, { data })).body.data
    const linked = `/content/${type}/${documentId}?locale=en`
    const changes = { related: { connect: [{ documentId }] } }
    await api('PATCH', `/content/${type}/${document}?locale=en`, { changes }, { 'if-match': await revision() })
    await openDocument()
    const links = page.getByRole('group', { name: /^Related/ }).first()
    await links
      .getByRole('button', { name: /The quiet sea/ })
      .first()
      .click()
    const panel = page.getByRole('dialog')
    const entries = panel.getByRole('group', { name: /^Extras/ })
    await entries.getByRole('button', { expanded: false }).first().click()
    await page.context().setOffline(true)
    await panel.locator('[id^="panel-extras/"][id$="/title"]').fill('My pictures')
    const match = { 'if-match': `"${(await api('GET', linked)).body.data.revision}"` }
    expect((await api('PATCH', linked, { changes: { extras: [] } }, match)).status).toBe(200)
    await page.context().setOffline(false)
    await panel.getByRole('button', { name: 'Keep it' }).click()
    await until('the entry is kept', async () => (await api('GET', linked)).body.data.draft.extras[0]?.title === 'My pictures')
    await panel.getByText(/^Saved \d/).waitFor()
    open.expectNoProblems(/ERR_INTERNET_DISCONNECTED|Failed to load resource|412/)
  })

  test('the same fields of two columns begin at one height, also where a component is open in one of them', async () => {
    await api(
      'PATCH',
      `/content/${type}/${document}?locale=en`,
      { changes: { seo: { metaTitle: 'Mill' } } },
      { 'if-match': await revision() },
    )
    /** Fields whose labels are at different heights, and the number of compared ones. */
    const compare = () =>
      page.evaluate(() => {
        const labels = [...globalThis.document.querySelectorAll('[id^="field-"][id$="-label"]')].filter(({ id }) => !id.includes('/'))
        const topOf = (element: Element | null) => Math.round(element?.getBoundingClientRect().top ?? Number.NaN)
        const other = (id: string) => globalThis.document.getElementById(id.replace('field-', 'beside-'))
        return { all: labels.length, apart: labels.filter((label) => topOf(label) !== topOf(other(label.id))).map(({ id }) => id) }
      })
    await openDocument('?beside=de')
    await field('Title', page.getByRole('region', { name: 'German' })).waitFor()
    const main = page.getByRole('region', { name: 'English' })
    await main.getByRole('group', { name: /^Seo/ }).getByRole('button', { expanded: false }).click()
    await field('Meta description', main).waitFor()
    await field('Summary').fill('A long line of text. '.repeat(15))
    await expect.poll(compare, patience).toMatchObject({ apart: [] })
    expect((await compare()).all).toBeGreaterThan(20)
    open.expectNoProblems()
  })

  test('a second column that is chosen further down shows the field in view', async () => {
    await api('POST', `/content/${type}/${document}/publish?locale=en`, {}, { 'if-match': await revision() })
    await openDocument()
    const label = (prefix: string) => page.locator(`[id="${prefix}-author-label"]`)
    await label('field').scrollIntoViewIfNeeded()
    await page.evaluate(() => {
      const element = globalThis.document.getElementById('field-author-label')!
      globalThis.scrollBy({ top: element.getBoundingClientRect().top - 300, behavior: 'instant' })
    })
    const topOf = async (prefix: string) => Math.round((await label(prefix).boundingBox())?.y ?? -1)
    for (const choice of ['German', 'Public version']) {
      await page.getByRole('button', { name: /Second column/ }).click()
      await page.getByRole('option', { name: new RegExp(`^${choice}`) }).click()
      await expect.poll(() => topOf('beside'), patience).toBeGreaterThan(104)
      await expect.poll(async () => (await topOf('field')) - (await topOf('beside')), patience).toBe(0)
      expect(await topOf('field')).toBeLessThan(800)
    }
    open.expectNoProblems()
  })

  test('a language without a version is opened at its beginning, with the notice that fills it', async () => {
    await openDocument()
    await page.evaluate(() => globalThis.scrollTo({ top: 900, behavior: 'instant' }))
    await page.getByRole('button', { name: /Language$/ }).click()
    await page.getByRole('option', { name: /^German/ }).click()
    await page.getByRole('button', { name: 'Fill from English…' }).waitFor()
    await expect.poll(() => page.evaluate(() => scrollY), patience).toBe(0)
    open.expectNoProblems()
  })

  test('a link to a draft does not count as a change to publish', async () => {
    const { body } = await api('POST', `/content/${type}?locale=en`, { data: { title: 'A draft', slug: `draft-${Date.now()}`, summary } })
    await openDocument()
    await page.getByRole('group', { name: 'Related', exact: true }).getByRole('combobox').fill('A draft')
    await page
      .getByRole('option', { name: /^A draft/ })
      .first()
      .click()
    await until('the link is saved', async () => (await read()).draft.related.length === 1)
    await api('POST', `/content/${type}/${document}/publish?locale=en`, {}, { 'if-match': await revision() })
    await openDocument()
    await page.getByText('The public version is up to date.').waitFor()
    await field('Title').fill('Another title')
    await page.getByText('1 field differs from the public version').waitFor()
    await api('DELETE', `/content/${type}/${body.data.documentId}?locale=en`)
    open.expectNoProblems()
  })

  test('a value of the history is restored alone, a version whole, and either is undone in one step', async () => {
    await openDocument()
    await field('Title').fill('Another title')
    await field('Kicker').fill('Another kicker')
    const drafts = async () => {
      const { title, kicker } = (await read()).draft
      return `${title}, ${kicker}`
    }
    const expectDraft = (draft: string) => expect.poll(drafts, patience).toBe(draft)
    await expectDraft('Another title, Another kicker')
    const dialog = page.getByRole('dialog')
    const openOldest = async () => {
      await page.getByRole('button', { name: 'History' }).first().click()
      await dialog.getByRole('listitem').first().getByText('Current draft').waitFor()
      expect(await dialog.getByRole('listitem').first().textContent()).toContain('Ada Lovelace')
      await dialog.getByRole('listitem').getByRole('button').last().click()
      await dialog
        .getByText(/^Draft, \d+ .*\d{4}, \d+:\d+/)
        .first()
        .waitFor()
    }
    await openOldest()
    const kicker = dialog.getByRole('heading', { name: 'Kicker' })
    const place = await kicker.boundingBox()
    const mark = dialog.getByRole('group', { name: /^(Title|Kicker) Restored$/ })
    const hasFocus = (element: Locator) => element.evaluate((node) => node === node.ownerDocument.activeElement)
    const button = dialog.getByRole('button', { name: 'Restore this value' }).first()
    const restore = '**/admin/api/content/**/restore*'
    // A failed restoration is not taken for one, even if somebody else writes the same value.
    await page.route(restore, (route) => route.abort())
    await button.press('Enter')
    await page.getByText('The service cannot be reached').first().waitFor()
    await page.unroute(restore)
    await addAdministrator(served, 'grace@example.com')
    token = (await signInAdmin(served, 'grace@example.com')).accessToken
    const change = async (title: string) => {
      const headers = { 'if-match': await revision() }
      expect((await api('PATCH', `/content/${type}/${document}?locale=en`, { changes: { title } }, headers)).status).toBe(200)
    }
    await change('The mill that waits')
    await dialog.getByRole('heading', { name: 'Title' }).waitFor({ state: 'detached' })
    await change('Another title')
    await dialog.getByRole('heading', { name: 'Title' }).waitFor()
    await button.press('Enter')
    await page.getByText('Title restored.').first().waitFor()
    // The next button does not move under the pointer.
    await mark.waitFor()
    expect(await kicker.boundingBox()).toEqual(place)
    expect(await hasFocus(mark)).toBe(true)
    await expectDraft('The mill that waits, Another kicker')
    await page.keyboard.press('Escape')
    expect(await field('Title').inputValue()).toBe('The mill that waits')
    await page.keyboard.press('Control+z')
    await expectDraft('Another title, Another kicker')
    await openOldest()
    await dialog.getByRole('button', { name: 'Restore this version' }).click()
    await page.getByText('2 fields restored.').first().waitFor()
    await expectDraft('The mill that waits, Water')
    await dialog.getByText('This version and the draft are the same.').waitFor()
    await kicker.waitFor()
    expect(await mark.count()).toBe(2)
    expect(await hasFocus(mark.first())).toBe(true)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+z')
    await expectDraft('Another title, Another kicker')
    open.expectNoProblems(/Failed to load resource/)
  })

  test('a deleted document leads back to the list', async () => {
    await openDocument()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
    await page.waitForURL((url) => url.pathname.endsWith(`/content/${type}`))
    expect((await api('GET', `/content/${type}/${document}?locale=en`)).status).toBe(404)
    open.expectNoProblems()
    await page.goto(`${served.origin}/admin/content/${type}/${document}`)
    await page.getByText('This document does not exist').waitFor()
    await page.getByRole('main').getByRole('link', { name: 'All Articles' }).click()
    await page.waitForURL((url) => url.pathname.endsWith(`/content/${type}`))
    open.expectNoProblems(/404/)
  })

  test('Ctrl+Enter saves where there is no right to publish', async () => {
    await addAdministrator(served, 'writer@example.com', ['writer'])
    const rights = ['read', 'update'].map((action) => `plugin::content-manager.explorer.${action} ${type}`)
    await allowAdmins(served, 'writer', ...rights)
    const properties = JSON.stringify({ fields: ['title'], locales: ['en'] })
    await served.sql('update admin_permissions set properties = ? where subject = ? and properties = ?', properties, type, '{}')
    const writer = await openPage(served, 'writer@example.com')
    await writer.page.goto(`${served.origin}/admin/content/${type}/${document}`)
    await field('Title', writer.page.locator('main')).fill('Written')
    await writer.page.keyboard.press('Control+Enter')
    await until('the title is saved', async () => (await read()).draft.title === 'Written')
    await writer.page.getByText(/^Saved \d/).waitFor()
    expect(await writer.page.getByRole('dialog').count()).toBe(0)
    writer.expectNoProblems()
    await writer.close()
  })

  test('the editor is accessible in both colour schemes and at all widths, with errors and a conflict', async () => {
    await openDocument('?beside=de')
    await expectAccessible(page)
    await page.goto(`${served.origin}/admin/content/${type}/${document}/compare?left=draft%20en&right=draft%20en`)
    await page.getByText('Both are the same.').waitFor()
    await expectAccessible(page)
    await openDocument()
    await api('PATCH', `/content/${type}/${document}?locale=en`, { changes: { title: 'Theirs' } }, { 'if-match': await revision() })
    await field('Title').fill('Mine')
    await field('Kicker').fill('x'.repeat(70))
    await page.getByRole('button', { name: 'Keep mine' }).first().waitFor()
    await page.getByRole('heading', { name: /^\d+ errors?/ }).waitFor()
    await expectAccessible(page)
    await expectNoSidewaysScrolling(page, 320)
    // The service responds 400 if it can store nothing of a save.
    open.expectNoProblems(/400|412/)
  })
})
