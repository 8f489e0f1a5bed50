// The list of a type in a browser: address, search, filters, columns, keys, and actions on many documents.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { requestAdmin, signInAdmin } from '../../support/administration.js'
import { describeWith } from '../../support/describe-with.js'
import type { Served } from '../../support/serve.js'
import { ada, eventually, expectAccessible, expectNoSidewaysScrolling, type OpenPage, openPage, servePage } from './page.js'

describeWith(['Chromium'], 'the list of a type in a browser', () => {
  let served: Served
  let open: OpenPage
  const articles = '/content/api::article.article'
  const tags = '/content/api::tag.tag'

  beforeAll(async () => {
    served = await servePage()
    const { accessToken } = await signInAdmin(served, ada)
    for (let count = 1; count <= 55; count++) {
      const name = `Zebra ${String(count).padStart(2, '0')}`
      const body = { data: { name, slug: name.toLowerCase().replace(' ', '-') } }
      const { status } = await requestAdmin(served, '/content/api::tag.tag', { method: 'POST', token: accessToken, body })
      expect(status).toBe(201)
    }
    open = await openPage(served)
  })
  afterAll(async () => {
    await open?.close()
    await served?.close()
  })
  beforeEach(async () => open.page.evaluate(() => localStorage.clear()).catch(() => undefined))

  const address = () => decodeURIComponent(open.page.url()).slice(`${served.origin}/admin`.length)
  const row = (name: string | RegExp) => open.page.getByRole('row').filter({ has: open.page.getByRole('link', { name }) })
  const titles = () => open.page.locator('tbody th').allInnerTexts()
  const show = async (path: string) => {
    await open.go(path)
    await open.page.locator('tbody tr').first().waitFor()
  }
  const focusedLink = () => open.page.evaluate(() => document.activeElement?.textContent)

  test('a list takes three requests', async () => {
    await show(articles)
    const paths: string[] = []
    open.page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (pathname.startsWith('/admin/api/types') || pathname.startsWith('/admin/api/content'))
        paths.push(decodeURIComponent(pathname).slice('/admin/api'.length))
    })
    await open.page.reload()
    await open.page.locator('tbody tr').first().waitFor()
    open.page.removeAllListeners('request')
    expect(paths.sort()).toEqual(['/content/api::article.article', '/content/api::article.article/total', '/types/api::article.article'])
    open.expectNoProblems()
  })

  test('the search is in the address and is there again after a reload', async () => {
    await show(articles)
    await open.page.getByRole('searchbox').fill('tram')
    await open.page.waitForURL(/q=tram/)
    await eventually(titles).toEqual(['Last Tram to Orla Hill'])
    await open.page.reload()
    await eventually(titles).toEqual(['Last Tram to Orla Hill'])
    expect(await open.page.getByRole('searchbox').inputValue()).toBe('tram')
    await open.page.getByRole('searchbox').fill('nothing has this text')
    await open.page.getByRole('button', { name: 'Clear search and filters' }).click()
    await eventually(async () => (await titles()).length).toBeGreaterThan(10)
    open.expectNoProblems()
  })

  test('the settings of Strapi’s panel give the rows of a page, and take search, filters and selection away', async () => {
    const { accessToken: token } = await signInAdmin(served, ada)
    const layout = '/types/api::tag.tag/layout'
    const configure = async (settings: object) => {
      const before = await requestAdmin(served, layout, { token })
      const { revision, ...stored } = before.body.data
      const body = { ...stored, settings: { ...stored.settings, ...settings } }
      const headers = { 'if-match': `"${revision}"` }
      expect((await requestAdmin(served, layout, { method: 'PUT', token, body, headers })).status).toBe(200)
    }
    await configure({ pageSize: 20, searchable: false, filterable: false, bulkable: false })
    await show(tags)
    await eventually(async () => (await titles()).length).toBe(20)
    for (const part of [open.page.getByRole('searchbox'), open.page.getByRole('button', { name: 'Filter', exact: true })])
      expect(await part.count()).toBe(0)
    expect(await open.page.getByRole('checkbox').count()).toBe(0)
    for (const key of ['j', 'x', 'Control+a', 'f']) await open.page.keyboard.press(key)
    // A key that has an effect, after which that of the others would be seen.
    await open.page.keyboard.press('Control+k')
    await open.page.getByRole('combobox').waitFor()
    await open.page.keyboard.press('Escape')
    await open.page.getByRole('combobox').waitFor({ state: 'detached' })
    expect(await open.page.getByRole('region', { name: 'Actions on the selection' }).count()).toBe(0)
    expect(await open.page.getByRole('dialog').count()).toBe(0)
    await configure({ pageSize: 10, searchable: true, filterable: true, bulkable: true })
    await show(tags)
    await eventually(async () => (await titles()).length).toBe(50)
    await open.page.getByRole('searchbox').waitFor()
    open.expectNoProblems()
  })

  test('a filter through a relation, a group, and a chip that removes it', async () => {
    await show(articles)
    const lines = () =>
      Promise.all(['Filter', 'Views'].map(async (name) => (await open.page.getByRole('button', { name, exact: true }).boundingBox())?.y))
    const before = await lines()
    await open.page.getByRole('button', { name: 'Filter', exact: true }).click()
    await open.page.getByRole('button', { name: /Field/ }).click()
    await open.page.getByRole('option', { name: 'Author', exact: true }).click()
    await open.page.getByRole('button', { name: /of the linked entry/ }).click()
    await open.page.getByRole('option', { name: 'Name', exact: true }).click()
    await open.page.getByRole('textbox', { name: 'Value' }).fill('Calloway')
    await open.page.getByRole('button', { name: 'Apply' }).click()
    await open.page.waitForURL(/filters/)
    expect(address()).toBe(`${articles}?filters[author][name][$containsi]=Calloway`)
    await open.page.getByRole('button', { name: 'Author › Name contains Calloway', exact: true }).waitFor()
    await eventually(titles).toContain('Last Tram to Orla Hill')
    // The buttons stay in their line.
    expect(before).toEqual([expect.any(Number), before[0]])
    expect(await lines()).toEqual(before)
    await open.page.getByRole('button', { name: 'Remove filter: Author › Name contains Calloway' }).click()
    await eventually(address).toBe(articles)
    open.expectNoProblems()
  })

  test('a name is jumped to by its beginning, in three steps without a mouse', async () => {
    await show(articles)
    await open.page.keyboard.press('f')
    await open.page.getByRole('button', { name: /starts with/ }).waitFor()
    await open.page.keyboard.type('the c')
    await open.page.keyboard.press('Enter')
    await open.page.getByRole('button', { name: 'Title starts with the c', exact: true }).waitFor()
    await eventually(titles).toEqual(['The Chair Clinic Opens at Six', 'The Clockmaker Who Lets Clocks Be Wrong'])
    await open.page.getByRole('button', { name: /^Remove filter/ }).click()
    open.expectNoProblems()
  })

  test('a filter on a relation takes documents, which are found by name and named in the chip', async () => {
    await show(articles)
    const all = (await titles()).length
    await open.page.getByRole('button', { name: 'Filter', exact: true }).click()
    await open.page.getByRole('button', { name: /Field/ }).click()
    await open.page.getByRole('option', { name: 'Author', exact: true }).click()
    const value = open.page.getByRole('combobox', { name: 'Value' })
    const choose = async (text: string) => {
      await value.fill(text)
      await open.page.getByRole('option', { name: new RegExp(text) }).click()
      await value.press('Escape')
    }
    await choose('Calloway')
    await open.page.getByRole('button', { name: /^Remove the link to .*Calloway/ }).waitFor()
    await open.page.getByRole('button', { name: 'Apply' }).click()
    await open.page.waitForURL(/filters/)
    expect(address()).toMatch(/filters\[author\]\[documentId\]\[\$in\]\[0\]=\w+$/)
    const chip = open.page.getByRole('button', { name: /^Author is .*Calloway/ })
    await chip.waitFor()
    await eventually(async () => (await titles()).length).toBeLessThan(all)
    expect(await titles()).toContain('Last Tram to Orla Hill')
    const one = (await titles()).length
    await open.page.reload()
    await chip.click()
    await open.page.getByRole('button', { name: /^Remove the link to .*Calloway/ }).waitFor()
    await choose('Attermeyer')
    await open.page.getByRole('button', { name: 'Apply' }).click()
    await open.page.getByRole('button', { name: /^Author is .*Calloway or .*Attermeyer/ }).waitFor()
    await eventually(async () => (await titles()).length).toBeGreaterThan(one)
    await expectAccessible(open.page, [1280, 390])
    open.expectNoProblems()
  })

  test('"is me" and the last days are tokens in the address', async () => {
    await open.go(`${articles}?filters[$and][0][createdBy][id][$eq]=me&filters[$and][1][updatedAt][$gte]=-7d`)
    await open.page.getByRole('button', { name: 'Created by is me', exact: true }).waitFor()
    await open.page.getByRole('button', { name: 'Changed in the last 7 days', exact: true }).waitFor()
    await open.page.getByText('Nothing matches').waitFor()
    open.expectNoProblems()
  })

  test('order and columns are in the address', async () => {
    await show(articles)
    const first = (await titles())[0]
    await open.page.getByRole('button', { name: 'Title' }).click()
    await open.page.waitForURL(/sort=title:desc/)
    await eventually(async () => (await titles()).at(-1)).toBe(first)
    await open.page.getByRole('button', { name: 'Columns and density' }).click()
    await open.page.getByRole('menuitemcheckbox', { name: 'Author' }).click()
    await open.page.waitForURL(/columns=[^&]*author/)
    await open.page.keyboard.press('Escape')
    await open.page.getByRole('columnheader', { name: 'Author' }).waitFor()
    await open.page.getByRole('cell', { name: 'Ines Calloway' }).first().waitFor()
    open.expectNoProblems()
  })

  test('a tab shows the documents of a state, and every tab its total', async () => {
    await show(articles)
    const tab = open.page.getByRole('link', { name: /^Changed/ })
    const count = Number(((await tab.textContent()) ?? '').replaceAll(/\D/g, ''))
    expect(count).toBeGreaterThan(0)
    await tab.click()
    await eventually(async () => (await titles()).length).toBe(count)
    expect(address()).toBe(`${articles}?state=changed`)
    open.expectNoProblems()
  })

  test('another language has its own texts', async () => {
    await show(articles)
    await open.page.getByRole('button', { name: /Language/ }).click()
    await open.page.getByRole('menuitemradio', { name: 'German' }).click()
    await open.page.waitForURL(/locale=de/)
    await eventually(() => open.page.locator('tbody th span[lang=de]').count()).toBeGreaterThan(3)
    open.expectNoProblems()
  })

  test('a search without results leads to languages that have some, says how many, and asks once', async () => {
    const { accessToken: token } = await signInAdmin(served, ada)
    // The total counts all of them.
    for (let count = 1; count <= 3; count++) {
      const body = { data: { title: 'Elfenbeinturm', slug: `elfenbeinturm-${count}` } }
      expect((await requestAdmin(served, '/content/api::article.article?locale=de', { method: 'POST', token, body })).status).toBe(201)
    }
    // The list of the test before, in German, asks again when documents are made.
    await show(articles)
    const asked: string[] = []
    open.page.on('request', (request) => {
      const { searchParams } = new URL(request.url())
      const locale = searchParams.get('locale')
      if (locale !== null) asked.push(`${locale} ${searchParams.get('q')}`)
    })
    // It is there for seconds only.
    const said = open.page.getByRole('status').getByText('Matches in other languages: 3 in German.', { exact: true }).waitFor()
    await open.page.getByRole('searchbox').fill('elfenbein')
    const link = open.page.getByRole('link', { name: '3 in German', exact: true })
    await link.waitFor()
    await said
    expect(await open.page.getByRole('status').getByRole('link').count()).toBe(0)
    expect(asked).toEqual(['de elfenbein'])
    await link.click()
    await open.page.waitForURL(/locale=de/)
    await eventually(async () => new Set(await titles())).toEqual(new Set(['Elfenbeinturm']))
    expect(address()).toContain('q=elfenbein')
    open.page.removeAllListeners('request')
    open.expectNoProblems()
  })

  test('pages by cursors, forwards and back', async () => {
    await show(`${tags}?q=zebra&sort=name:asc`)
    expect(await titles()).toHaveLength(50)
    await open.page.getByText('55 entries').waitFor()
    await open.page.getByRole('button', { name: 'Next' }).click()
    await eventually(titles).toEqual(['Zebra 51', 'Zebra 52', 'Zebra 53', 'Zebra 54', 'Zebra 55'])
    await open.page.getByRole('button', { name: 'Previous' }).click()
    await eventually(async () => (await titles())[0]).toBe('Zebra 01')
    open.expectNoProblems()
  })

  test('without a mouse: search, rows, selection, and the document', async () => {
    await show(articles)
    const [first = '', second = '', third = ''] = await titles()
    await open.page.keyboard.press('j')
    expect(await focusedLink()).toBe(first)
    await open.page.keyboard.press('j')
    expect(await focusedLink()).toBe(second)
    await open.page.keyboard.press('x')
    await open.page.keyboard.press('Shift+ArrowDown')
    await open.page.getByText('2 selected').waitFor()
    expect(await row(third).getByRole('checkbox').isChecked()).toBe(true)
    await open.page.keyboard.press('Control+a')
    await open.page.getByText(`${(await titles()).length} selected`).waitFor()
    await open.page.keyboard.press('Escape')
    await open.page.getByText('selected', { exact: false }).waitFor({ state: 'detached' })
    await open.page.keyboard.press('/')
    expect(await open.page.getByRole('searchbox').evaluate((input) => input === document.activeElement)).toBe(true)
    await open.page.keyboard.type('tram')
    await eventually(titles).toEqual(['Last Tram to Orla Hill'])
    await open.page.keyboard.press('Tab')
    await open.page.getByRole('link', { name: 'Last Tram to Orla Hill' }).focus()
    await open.page.keyboard.press('Enter')
    await open.page.waitForURL(/\/content\/api::article\.article\/[a-z0-9]{24}/)
  })

  test('single keys lead to rows and back, into a document, to a new one, and home', async () => {
    await show(articles)
    const [first = '', second = ''] = await titles()
    for (const key of ['j', 'j']) await open.page.keyboard.press(key)
    expect(await focusedLink()).toBe(second)
    await open.page.keyboard.press('k')
    expect(await focusedLink()).toBe(first)
    await open.page.keyboard.press('Enter')
    await open.page.getByRole('textbox', { name: 'Title' }).first().waitFor()
    await open.page.keyboard.press('Control+Shift+L')
    await open.page.waitForURL(/locale=de/)
    await show(articles)
    await open.page.keyboard.press('n')
    await open.page.waitForURL(/\/new/)
    await show(articles)
    await open.page.keyboard.press('g')
    await open.page.getByRole('heading', { name: 'Hello, Ada' }).waitFor()
    open.expectNoProblems()
  })

  test('the space bar shows a summary of the row, and Escape leads back to it', async () => {
    await show(articles)
    const [first = ''] = await titles()
    await open.page.keyboard.press('j')
    await open.page.keyboard.press('Space')
    const dialog = open.page.getByRole('dialog', { name: first })
    await dialog.getByText('Summary', { exact: true }).waitFor()
    expect(await dialog.getByText('Slug', { exact: true }).count()).toBe(0)
    await expectAccessible(open.page, [1280])
    await open.page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    // The focus returns in the next frame.
    await eventually(focusedLink).toBe(first)
    open.expectNoProblems()
  })

  test('a row names the others who have its document open', async () => {
    await show(articles)
    const [first = ''] = await titles()
    const other = await open.page.context().newPage()
    await other.goto(open.page.url())
    await other.getByRole('link', { name: first }).first().click()
    await row(first).getByText('Viewing: Ada Lovelace').waitFor()
    await other.close()
    open.expectNoProblems()
  })

  test('a span is selected with Shift', async () => {
    await show(`${tags}?q=zebra&sort=name:asc`)
    await row('Zebra 02').getByRole('checkbox').click()
    await row('Zebra 05')
      .getByRole('checkbox')
      .click({ modifiers: ['Shift'] })
    await open.page.getByText('4 selected').waitFor()
  })

  test('fields of many are changed, and refused values are listed by name', async () => {
    await show(`${tags}?q=zebra&sort=name:asc`)
    await row('Zebra 01').getByRole('checkbox').click()
    await row('Zebra 02').getByRole('checkbox').click()
    const edit = async (value: string) => {
      await open.page.getByRole('button', { name: 'Edit fields…' }).click()
      const dialog = open.page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Add a field' }).click()
      await dialog.getByRole('textbox').fill(value)
      await dialog.getByRole('button', { name: 'Change 2 entries' }).click()
    }
    await edit('red')
    await open.page.getByText('0 done, 2 left unchanged').waitFor()
    expect(await open.page.getByRole('dialog').getByRole('listitem').count()).toBe(2)
    const refused = open.page.getByRole('dialog').getByRole('listitem').filter({ hasText: 'Zebra 02' })
    await refused.getByText('The text does not have the expected format.').waitFor()
    await refused.getByText('Expected format', { exact: true }).click()
    await refused.getByText('^#[0-9a-f]{6}$').waitFor()
    await open.page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    await edit('#aa3300')
    await open.page.getByText('2 entries changed').waitFor()
    const stored = await served.sql("SELECT DISTINCT colour FROM tags WHERE name IN ('Zebra 01', 'Zebra 02')")
    expect(stored).toEqual([{ colour: '#aa3300' }])
    open.expectNoProblems(/status of 400/)
  })

  test('a date and time is given to several entries, and an incomplete one is not taken as empty', async () => {
    await show('/content/api::event.event')
    const [first = '', second = ''] = await titles()
    for (const name of [first, second]) await row(name).getByRole('checkbox').click()
    await open.page.getByRole('button', { name: 'Edit fields…' }).click()
    const dialog = open.page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Add a field' }).click()
    await dialog.getByRole('button', { name: /Field/ }).click()
    await open.page.getByRole('option', { name: 'Starts', exact: true }).click()
    const value = dialog.getByLabel('Value: Starts')
    await value.press('1')
    await dialog.getByRole('button', { name: 'Change 2 entries' }).click()
    expect(await value.evaluate((input) => (input as HTMLInputElement).validity.badInput)).toBe(true)
    await value.fill('2031-05-04T10:30')
    const chosen = await open.page.evaluate(() => new Date('2031-05-04T10:30').getTime())
    await dialog.getByRole('button', { name: 'Change 2 entries' }).click()
    await open.page.getByText('2 entries changed').waitFor()
    const rows = await served.sql('SELECT COUNT(DISTINCT document_id) AS n FROM events WHERE starts = ?', chosen)
    expect(rows).toEqual([{ n: 2 }])
    open.expectNoProblems()
  })

  test('deleting asks, says how many, and deletes all matches beyond the page', async () => {
    await show(`${tags}?q=zebra&sort=name:asc`)
    await open.page.getByRole('checkbox', { name: 'Select all rows of this page' }).click()
    await open.page.getByRole('button', { name: 'Select all 55' }).click()
    await open.page.getByRole('button', { name: 'Delete…' }).click()
    const dialog = open.page.getByRole('alertdialog')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await served.sql("SELECT COUNT(*) AS n FROM tags WHERE name LIKE 'Zebra%'")).toEqual([{ n: 55 }])
    await open.page.getByRole('button', { name: 'Delete…' }).click()
    await dialog.getByRole('button', { name: 'Delete 55 entries' }).click()
    await open.page.getByText('Nothing matches').waitFor()
    expect(await served.sql("SELECT COUNT(*) AS n FROM tags WHERE name LIKE 'Zebra%'")).toEqual([{ n: 0 }])
    open.expectNoProblems()
  })

  test('unpublished documents are drafts', async () => {
    await show(`${articles}?q=tram`)
    await row('Last Tram to Orla Hill').getByRole('checkbox').click()
    await open.page.getByRole('button', { name: 'Unpublish…' }).click()
    await open.page.getByRole('dialog').getByRole('button', { name: 'Unpublish 1 entry' }).click()
    await row('Last Tram to Orla Hill').getByText('Draft', { exact: true }).waitFor()
    open.expectNoProblems()
  })

  test('the list, its menus and its dialogs pass the audit, and nothing scrolls sideways on a phone', async () => {
    await show(articles)
    await expectAccessible(open.page)
    for (const width of [390, 320]) await expectNoSidewaysScrolling(open.page, width)
    await open.page.setViewportSize({ width: 1280, height: 800 })
    await open.page.getByRole('checkbox').nth(1).click()
    await expectAccessible(open.page)
    await open.page.getByRole('button', { name: 'Edit fields…' }).click()
    await open.page.getByRole('button', { name: 'Add a field' }).click()
    await expectAccessible(open.page)
    await open.page.keyboard.press('Escape')
    await open.page.getByRole('button', { name: 'Columns and density' }).click()
    await expectAccessible(open.page)
  })
})
