// Fields of the document editor in a browser: each kind is edited, stored, and read back through the API.
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { secrets } from '../../spec/callers.js'
import { addAdministrator, requestAdmin, signInAdmin } from '../../support/administration.js'
import { describeWith } from '../../support/describe-with.js'
import { type Served, serveProject } from '../../support/serve.js'
import { patience } from '../../support/until.js'
import { ada, expectAccessible, expectNoSidewaysScrolling, type OpenPage, openPage, servePage } from './page.js'

type Draft = Readonly<Record<string, unknown>>
type Entries = readonly Readonly<Record<string, unknown>>[]

const article = 'api::article.article'
const event = 'api::event.event'

/** A picture of one pixel. */
const picture = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

describeWith(['Chromium'], 'fields in a browser', () => {
  let served: Served
  let open: OpenPage
  let page: Page
  let token: string

  beforeAll(async () => {
    served = await servePage()
    open = await openPage(served, ada, { permissions: ['clipboard-read', 'clipboard-write'] })
    page = open.page
    page.setDefaultTimeout(patience.timeout)
  })
  // A file may take longer than a token is valid.
  beforeEach(async () => {
    token = (await signInAdmin(served, ada)).accessToken
  })
  afterAll(async () => {
    await open?.close()
    await served?.close()
  })

  const api = (path: string, options: object = {}) => requestAdmin(served, path, { token, ...options })
  /** Creates a document and opens it. */
  const create = async (type: string, data: Draft): Promise<string> => {
    const { body } = await api(`/content/${type}?locale=en`, { method: 'POST', body: { data } })
    const { documentId } = (body as { data: { documentId: string } }).data
    await open.go(`/content/${type}/${documentId}?locale=en`)
    await field('Title').waitFor()
    return documentId
  }
  const draftOf = async (type: string, document: string): Promise<Draft> => {
    const { body } = await api(`/content/${type}/${document}?locale=en`)
    return (body as { data: { draft: Draft } }).data.draft
  }
  /** Waits until the draft has values. */
  const expectStored = (type: string, document: string, values: Draft) =>
    expect.poll(() => draftOf(type, document), patience).toMatchObject(values)
  /** Names of required fields say so. */
  const named = (name: string): RegExp => new RegExp(`^${name}( required)?$`)
  const field = (name: string): Locator => page.getByRole('textbox', { name: named(name) })
  /** The buttons of a date have its name too. */
  const date = (name: string): Locator => page.locator('input').and(page.getByLabel(name))
  const group = (name: string): Locator => page.getByRole('group', { name: named(name) })
  const choose = async (button: Locator, option: string) => {
    await button.click()
    await page.getByRole('option', { name: option, exact: true }).click()
  }
  const addComponent = async (zone: Locator, name: RegExp) => {
    await zone.getByRole('button', { name: 'Add a component' }).click()
    await page.getByRole('dialog').getByRole('button', { name }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }

  test('texts, choices, numbers, dates, JSON and Markdown of an article', async () => {
    const id = await create(article, { title: 'Fields of every kind', background: 'One\r\nTwo' })
    await field('Kicker').fill('A kicker')
    await field('Summary').fill('A summary of all kinds of fields that this page has for its editors.')
    await choose(page.getByRole('button', { name: /Format/ }), 'essay')
    await field('Reading minutes').fill('12')
    await field('Reads').fill('9007199254740993')
    await date('Reported on').fill('2025-02-03')
    await page.getByRole('switch', { name: 'Featured' }).click()
    await field('Fieldwork').click()
    await page.keyboard.type('{ "nights": [4')
    await page.getByText('This is not valid JSON yet').waitFor()
    await page.keyboard.type('] }')
    await field('Background').click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type(' and **three**')
    // A list goes on with the next line, and ends with an empty item.
    for (const line of ['', '- four', 'five', '']) {
      await page.keyboard.type(line)
      await page.keyboard.press('Enter')
    }
    await page.keyboard.type('Six')
    await field('Editor note').fill('A note')
    await expectStored(article, id, {
      kicker: 'A kicker',
      summary: 'A summary of all kinds of fields that this page has for its editors.',
      ...{ format: 'essay', readingMinutes: 12, reads: '9007199254740993', reportedOn: '2025-02-03', featured: true },
      fieldwork: { nights: [4] },
      background: 'One\r\nTwo and **three**\r\n- four\r\n- five\r\nSix',
      editorNote: 'A note',
    })
    open.expectNoProblems()
  })

  test('a JSON text without its end is offered again after a reload, also of a document that was new', async () => {
    await open.go(`/content/${article}/new?locale=en`)
    await field('Fieldwork').click()
    await page.keyboard.type('{ "nights": [4')
    await page.getByText('Some fields are not saved').waitFor()
    await page.waitForURL((url) => !url.pathname.endsWith('/new'))
    const id = new URL(page.url()).pathname.split('/').at(-1)!
    await page.reload()
    await page.getByRole('button', { name: 'Show them' }).click()
    await page.getByText('This is not valid JSON yet').waitFor()
    expect(await field('Fieldwork').textContent()).toBe('{ "nights": [4')
    await field('Fieldwork').click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('] }')
    await expectStored(article, id, { fieldwork: { nights: [4] } })
    await page.reload()
    await field('Fieldwork').waitFor()
    expect(await page.getByRole('button', { name: 'Show them' }).count()).toBe(0)
    open.expectNoProblems()
  })

  test('dates with times, decimals, passwords, addresses and a required component of an event', async () => {
    const id = await create(event, {
      title: 'An evening',
      kind: 'talk',
      starts: '2026-03-01T18:00:00.000Z',
      venue: { venue: 'Hall', city: 'Velmond' },
    })
    await date('Starts').fill('2026-05-04T19:30')
    await date('Doors').fill('19:00')
    await field('Fee').fill('12,5')
    await field('Contact').fill('ada@example.com')
    await page.getByLabel('Stream password', { exact: true }).fill('Long-Secret-1')
    await group('Venue').getByRole('button', { expanded: false }).click()
    await field('Postcode').fill('12345')
    await field('Latitude').fill('-12.25')
    await page.keyboard.press('Control+s')
    const starts = await page.evaluate(() => new Date('2026-05-04T19:30').toISOString())
    await expectStored(event, id, {
      ...{ starts, doors: '19:00:00.000', contact: 'ada@example.com' },
      venue: { venue: 'Hall', city: 'Velmond', postcode: '12345', latitude: -12.25 },
    })
    expect(Number((await draftOf(event, id)).fee)).toBe(12.5)
    open.expectNoProblems()
  })

  test('dates are typed or picked in the zone that is named, keep their milliseconds, and are emptied', async () => {
    const starts = '2026-03-01T18:00:15.250Z'
    const id = await create(event, {
      title: 'A precise evening',
      kind: 'talk',
      starts,
      doors: '19:00:30.500',
      venue: { venue: 'Hall', city: 'Velmond' },
    })
    const zone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone)
    expect(await page.getByTitle(zone, { exact: true }).count()).toBeGreaterThan(0)
    await date('Starts').focus()
    await page.keyboard.press('ArrowUp')
    // Of events, nothing is saved unasked.
    await page.keyboard.press('Control+s')
    const stored = async () => String((await draftOf(event, id)).starts)
    await expect.poll(stored, patience).not.toBe(starts)
    expect(await stored()).toMatch(/:00:15\.250Z$/)
    await date('Doors').focus()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Control+s')
    await expect.poll(async () => String((await draftOf(event, id)).doors), patience).toMatch(/^(20|07):00:30\.500$/)
    await page.getByRole('button', { name: 'Clear Doors' }).click()
    await page.keyboard.press('Control+s')
    await expectStored(event, id, { doors: null })
    await page.getByRole('button', { name: 'Choose Starts' }).click()
    await page.keyboard.press('Escape')

    const other = await create(article, { title: 'A typed day', reportedOn: '2024-01-31' })
    await date('Reported on').focus()
    await page.keyboard.type('05052025')
    await expectStored(article, other, { reportedOn: '2025-05-05' })
    // An incomplete date changes nothing.
    await date('Reported on').focus()
    await page.keyboard.press('Delete')
    await field('Kicker').fill('Afterwards')
    await expectStored(article, other, { kicker: 'Afterwards', reportedOn: '2025-05-05' })
    open.expectNoProblems()
  })

  test('a choice is made in its list, by arrows and by letters, and has the focus afterwards', async () => {
    const id = await create(article, { title: 'Choices', format: 'report' })
    const button = page.getByRole('button', { name: /Format/ })
    await button.focus()
    const steps = [
      { keys: ['ArrowRight'], format: 'essay' },
      { keys: ['g'], format: 'guide' },
      { keys: ['ArrowLeft'], format: 'interview' },
    ]
    for (const { keys, format } of steps) {
      for (const key of keys) await page.keyboard.press(key)
      await page.getByRole('button', { name: `${format} Format` }).waitFor()
    }
    await page.keyboard.press('ArrowDown')
    await page.getByRole('listbox').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('listbox').waitFor({ state: 'detached' })
    await expect.poll(() => button.evaluate((element) => element === document.activeElement), patience).toBe(true)
    await page.keyboard.press('Space')
    await page.getByRole('option', { name: 'interview', selected: true }).waitFor()
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await expectStored(article, id, { format: 'portrait' })
    await expect.poll(() => button.evaluate((element) => element === document.activeElement), patience).toBe(true)
    open.expectNoProblems()
  })

  test('a uid follows its source until it is edited by hand, and not after the publication', async () => {
    const id = await create(article, { title: 'First title' })
    await field('Title').fill('Zweiter Titel für alle')
    await expectStored(article, id, { slug: 'zweiter-titel-fuer-alle' })
    await field('Slug').fill('by-hand')
    await field('Title').fill('Third title')
    await expectStored(article, id, { title: 'Third title', slug: 'by-hand' })
    await page.getByRole('button', { name: 'Generate again' }).click()
    await expectStored(article, id, { slug: 'third-title' })
    open.expectNoProblems()
  })

  test('one pair of buttons undoes in the rich text that has the focus, otherwise in the form', async () => {
    await create(article, { title: 'Undo', kicker: 'Water' })
    const [undo, redo] = ['Undo', 'Redo'].map((name) => page.getByRole('button', { name, exact: true }))
    await field('Kicker').fill('Fire')
    await field('Body').click()
    await page.keyboard.type('Text')
    expect(await undo!.count()).toBe(1)
    await undo!.click()
    await expect.poll(() => field('Body').textContent(), patience).not.toContain('Text')
    await redo!.click()
    await expect.poll(() => field('Body').textContent(), patience).toContain('Text')
    expect(await field('Kicker').inputValue()).toBe('Fire')
    await field('Kicker').click()
    await undo!.click()
    await undo!.click()
    await expect.poll(() => field('Body').textContent(), patience).not.toContain('Text')
    open.expectNoProblems()
  })

  test('a field that is left says what it needs for a publication, until it has it', async () => {
    await create(article, { title: 'Checks' })
    await page.route('**/admin/api/content/**', (route) => (route.request().method() === 'PATCH' ? route.abort() : route.continue()))
    // Read at once: a note that has gone meanwhile would be waited for.
    const described = (name: string) =>
      field(name).evaluate((element) => {
        const ids = element.getAttribute('aria-describedby')?.split(' ') ?? []
        return ids.map((id) => document.getElementById(id)?.textContent ?? '').join(' ')
      })
    await field('Summary').fill('Short')
    expect(await described('Summary')).not.toContain('35 more needed')
    await field('Summary').press('Tab')
    await expect.poll(() => described('Summary'), patience).toContain('At least 40 characters: 35 more needed.')
    expect(await field('Summary').getAttribute('aria-invalid')).toBeNull()
    await field('Summary').fill('Shorter')
    await expect.poll(() => described('Summary'), patience).toContain('33 more needed')
    await field('Summary').fill('A text that is long enough for the summary of an article.')
    await expect.poll(() => described('Summary'), patience).not.toContain('more needed')
    await field('Title').fill('')
    await field('Title').press('Tab')
    await expect.poll(() => described('Title'), patience).toContain('This field is required.')
    // The page tries again as long as it is open.
    await open.go('/')
    await page.unroute('**/admin/api/content/**')
    open.expectNoProblems(/Failed to load resource/)
  })

  test('a text without the expected format gets words and an example, and its expression where the placeholder is not an example', async () => {
    const tag = 'api::tag.tag'
    const { body } = await api(`/content/${tag}?locale=en`, { method: 'POST', body: { data: { name: 'Rye', slug: `rye-${Date.now()}` } } })
    const layout = `/types/${tag}/layout`
    const describe = async (colour: object) => {
      const { revision, ...given } = (await api(layout)).body.data
      const metadatas = { ...given.metadatas, colour: { ...given.metadatas.colour, edit: { ...given.metadatas.colour.edit, ...colour } } }
      const headers = { 'if-match': `"${revision}"` }
      expect((await api(layout, { method: 'PUT', headers, body: { ...given, metadatas } })).status).toBe(200)
    }
    // What is refused is not asked again on another page.
    const writes = `**/admin/api/content/${tag}/**`
    await page.route(writes, (route) => (route.request().method() === 'PATCH' ? route.abort() : route.continue()))
    const frame = page.locator('#field-colour').locator('xpath=..').locator('xpath=..')
    const expectHint = async (hint: string) => {
      await open.go(`/content/${tag}/${body.data.documentId}?locale=en`)
      await field('Colour').waitFor()
      expect(await frame.textContent()).not.toContain('^#')
      await field('Colour').fill('red')
      await field('Colour').press('Tab')
      await frame.getByText(hint).waitFor()
    }
    const expectExpression = async () => {
      await expectHint('The text does not have the expected format.')
      expect(await frame.getByText('^#[0-9a-f]{6}$').isVisible()).toBe(false)
      await frame.getByText('Expected format', { exact: true }).click()
      await frame.getByText('^#[0-9a-f]{6}$').waitFor()
    }
    await expectExpression()
    await describe({ placeholder: '#ff8800' })
    await expectHint('The text does not have the expected format. Example: “#ff8800”.')
    expect(await frame.textContent()).not.toContain('^#')
    await describe({ placeholder: 'Colour of the tag', description: 'Six digits after a hash.' })
    await expectExpression()
    await frame.getByText('Six digits after a hash.').waitFor()
    await describe({ placeholder: '', description: '' })
    await open.go('/')
    await page.unroute(writes)
    open.expectNoProblems(/Failed to load resource/)
  })

  test('hints of empty texts are in the language of the page', async () => {
    await create(article, { title: 'Languages' })
    const hint = group('Background').locator('.cm-placeholder')
    const english = await hint.textContent()
    const choose = async (menu: RegExp, language: string) => {
      await page.getByRole('button', { name: menu }).click()
      await page.getByRole('menuitemradio', { name: language }).press('Enter')
      await page.keyboard.press('Escape')
    }
    await choose(/Ada Lovelace/, 'Deutsch')
    await expect.poll(() => hint.textContent(), patience).not.toBe(english)
    await choose(/Ada Lovelace/, 'English')
    await expect.poll(() => hint.textContent(), patience).toBe(english)
    open.expectNoProblems()
  })

  test('the tools of rich text are one stop of the Tab key, and arrows move the focus inside', async () => {
    await create(article, { title: 'Tools' })
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    const menu = page.getByRole('button', { name: /Paragraph/ })
    const bar = page.getByRole('toolbar').filter({ has: menu })
    for (const [name, beforeLast, last] of [
      ['Background', 'Insert pictures', 'Preview'],
      ['Body', 'Numbered list', 'Insert pictures'],
    ] as const) {
      const text = name === 'Body' ? field(name) : group(name).getByRole('textbox')
      await text.click()
      const press = async (...steps: readonly (readonly [key: string, label: string])[]) => {
        for (const [key, label] of steps) {
          await page.keyboard.press(key)
          expect(await focused(), `${name}: ${key}`).toBe(label)
        }
      }
      // Tab indents in Markdown, until Escape.
      await page.keyboard.press('Escape')
      await press(['Shift+Tab', 'Bold'], ['ArrowRight', 'Italic'], ['End', last], ['ArrowLeft', beforeLast])
      await page.keyboard.press('Tab')
      expect(await text.evaluate((found) => (found.getRootNode() as Document | ShadowRoot).activeElement === found)).toBe(true)
      await page.keyboard.press('Escape')
      await press(['Shift+Tab', beforeLast])
      // Also after a press of the mouse, which leads back into the text.
      await (name === 'Body' ? bar : group(name)).getByRole('button', { name: 'Italic', exact: true }).click()
      await page.keyboard.press('Escape')
      await press(['Shift+Tab', 'Italic'])
    }
    // The menu of kinds keeps its value.
    for (const [steps, label] of [
      [['Home'], null],
      [['ArrowLeft'], null],
      [['ArrowRight'], 'Bold'],
      [['Home', 'Control+ArrowRight'], null],
    ] as const) {
      for (const key of steps) await page.keyboard.press(key)
      expect(await hasFocus(label === null ? menu : bar.getByRole('button', { name: label, exact: true }))).toBe(true)
      await menu.waitFor()
    }
    open.expectNoProblems()
  })

  test('blocks: typed shortcuts, the menu, links, undo, and a paste from a word processor', async () => {
    const untouched = { type: 'paragraph', align: 'center', children: [{ type: 'text', text: 'Unchanged', bold: false, note: 1 }] }
    const id = await create(article, { title: 'Blocks', body: [untouched] })
    const body = field('Body')
    await body.click()
    await page.keyboard.press('Control+End')
    await page.keyboard.press('Enter')
    await page.keyboard.type('/heading')
    await page.getByRole('option', { name: /Heading 2/ }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.keyboard.type('A heading')
    // Typing goes on in the text after a choice from the list of kinds.
    await page
      .getByRole('toolbar', { name: 'Formatting' })
      .getByRole('button', { name: /Heading 2/ })
      .click()
    await page.getByRole('option', { name: 'Heading 3' }).click()
    await expect.poll(() => hasFocus(body), patience).toBe(true)
    await page.keyboard.type(' below')
    await page.keyboard.press('Enter')
    await page.keyboard.type('- one')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.type('two')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    await page.keyboard.type('link')
    await page.keyboard.press('Shift+Home')
    // The panel does not move the text, is next to it, and closes with its focus.
    const place = () => body.evaluate((element) => (element as HTMLElement).offsetTop)
    const before = await place()
    const panel = page.getByRole('group', { name: 'Link', exact: true })
    await page.keyboard.press('Control+k')
    await panel.waitFor()
    expect(await place()).toBe(before)
    const [line, around] = await Promise.all([body.getByText('link', { exact: true }).boundingBox(), panel.boundingBox()])
    const gap = Math.max(around!.y - line!.y - line!.height, line!.y - around!.y - around!.height)
    expect([gap >= 0, gap < 40]).toEqual([true, true])
    await field('Title').click()
    await panel.waitFor({ state: 'detached' })
    await body.getByText('link', { exact: true }).dblclick()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('example.com')
    await page.keyboard.press('Enter')
    const text = (value: string) => ({ type: 'text', text: value })
    const item = (value: string) => ({ type: 'list-item', children: [text(value)] })
    const written = [
      untouched,
      { type: 'heading', level: 3, children: [text('A heading below')] },
      {
        ...{ type: 'list', format: 'unordered', indentLevel: 0 },
        children: [item('one'), { type: 'list', format: 'unordered', indentLevel: 1, children: [item('two')] }],
      },
      { type: 'paragraph', children: [text(''), { type: 'link', url: 'https://example.com', children: [text('link')] }, text('')] },
    ]
    await expectStored(article, id, { body: written })
    await body.press('Control+End')
    await page.keyboard.press('Enter')
    await body.evaluate((element) => {
      const data = new DataTransfer()
      data.setData(
        'text/html',
        `<html><head><style>p { color: red }</style></head><body>
          <p class=MsoNormal style="font-weight:bold">Bold<o:p></o:p></p>
          <p style="mso-list:l0 level1 lfo1"><span style="mso-list:Ignore">·  </span>Point</p>
          <p style="mso-list:l0 level2 lfo1"><span style="mso-list:Ignore">o  </span>Deeper</p>
          <table><tr><td>a</td><td>b</td></tr></table>
          <p><a href="javascript:alert(1)">No link</a><script>globalThis.pasted = true</script></p></body></html>`,
      )
      element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
    })
    const pasted = [
      { type: 'paragraph', children: [{ ...text('Bold'), bold: true }] },
      {
        ...{ type: 'list', format: 'unordered' },
        children: [item('Point'), { type: 'list', format: 'unordered', children: [item('Deeper')] }],
      },
      { type: 'paragraph', children: [text('a b')] },
      { type: 'paragraph', children: [text('No link')] },
    ]
    await expectStored(article, id, { body: [...written, ...pasted] })
    expect(await page.evaluate(() => 'pasted' in globalThis)).toBe(false)
    await body.press('Control+z')
    await expectStored(article, id, { body: [...written, { type: 'paragraph', children: [text('')] }] })
    open.expectNoProblems()
  })

  test('links are found by name, ordered by keys, and removed', async () => {
    const id = await create(article, { title: 'Links' })
    const tags = group('Tags')
    const find = async (text: string, name: string) => {
      await tags.getByRole('combobox').fill(text)
      await page.getByRole('option', { name: new RegExp(`^${name}`) }).click()
      await tags.getByRole('combobox').press('Escape')
    }
    await find('tran', 'Transport')
    await find('nig', 'Night')
    // Enter chooses the only suggestion, and moves to the first of several.
    for (const name of ['Zebra crossing', 'Zebra finch'])
      await api('/content/api::tag.tag?locale=en', { method: 'POST', body: { data: { name, slug: name.replace(' ', '-').toLowerCase() } } })
    const finder = tags.getByRole('combobox')
    const offered = () => page.getByRole('option').allInnerTexts()
    const names = async () => ((await draftOf(article, id)).tags as Entries).map(({ name }) => name)
    await finder.fill('zebra')
    await expect.poll(offered, patience).toEqual([expect.stringMatching(/^Zebra crossing/), expect.stringMatching(/^Zebra finch/)])
    await finder.press('Enter')
    const first = page.getByRole('option').first()
    const isFocused = async () => (await finder.getAttribute('aria-activedescendant')) === (await first.getAttribute('id'))
    await expect.poll(isFocused, patience).toBe(true)
    expect(await finder.inputValue()).toBe('zebra')
    await expect.poll(names, patience).toEqual(['Transport', 'Night'])
    await finder.press('Enter')
    await expect.poll(names, patience).toEqual(['Transport', 'Night', 'Zebra crossing'])
    await finder.press('Enter')
    await expect.poll(names, patience).toEqual(['Transport', 'Night'])
    await finder.fill('sto')
    await expect.poll(offered, patience).toEqual([expect.stringMatching(/^Stone/)])
    await finder.press('Enter')
    expect(await finder.inputValue()).toBe('')
    // All of the text is selected, not all of the suggestions; and a search that was left does not look like a link.
    await finder.fill('gard')
    await expect.poll(offered, patience).toEqual([expect.stringMatching(/^Garden/)])
    await finder.press('Control+a')
    await page.keyboard.type('wat')
    await expect.poll(() => finder.inputValue(), patience).toBe('wat')
    await page.keyboard.press('Tab')
    await expect.poll(() => page.locator('#field-tags').inputValue(), patience).toBe('')
    await page.keyboard.press('Escape')
    await expect.poll(names, patience).toEqual(['Transport', 'Night', 'Stone'])
    await tags.getByRole('button', { name: 'Move Stone', exact: true }).focus()
    await page.keyboard.press('Alt+Home')
    await expect.poll(names, patience).toEqual(['Stone', 'Transport', 'Night'])
    await tags.getByRole('button', { name: 'Remove the link to Transport' }).click()
    await expect.poll(names, patience).toEqual(['Stone', 'Night'])
    open.expectNoProblems()
  })

  test('suggestions do not cover the head, which has the state and the actions', async () => {
    await create(article, { title: 'A low window' })
    await page.setViewportSize({ width: 1280, height: 560 })
    const finder = group('Tags').getByRole('combobox')
    const head = (await page.getByRole('main').locator('header').first().boundingBox())!
    for (const place of ['start', 'center', 'end'] as const) {
      await finder.evaluate((input, block) => input.scrollIntoView({ block }), place)
      await finder.focus()
      await page.getByRole('option', { name: 'Archive' }).waitFor()
      const top = async () => (await page.getByRole('listbox').boundingBox())!.y
      await expect.poll(top, patience).toBeGreaterThanOrEqual(head.y + head.height)
      await finder.press('Escape')
      await finder.blur()
    }
    await page.setViewportSize({ width: 1280, height: 800 })
    open.expectNoProblems()
  })

  const hasFocus = (element: Locator) => element.evaluate((found) => found.contains(document.activeElement))

  test('a document is created in a panel and linked, and a linked one is edited there', async () => {
    const id = await create(article, { title: 'A document next to another' })
    const author = group('Author')
    const panel = page.getByRole('dialog')
    const inPanel = (name: string) => panel.getByRole('textbox', { name: named(name) })
    await author.getByRole('combobox').fill('Mara Quill')
    await page.getByText('Nothing found').waitFor()
    const creates = page.getByRole('button', { name: 'Create “Mara Quill”' })
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => hasFocus(creates), patience).toBe(true)
    await page.keyboard.press('Enter')
    await expect.poll(() => inPanel('Name').inputValue(), patience).toBe('Mara Quill')
    expect(await page.getByRole('option').count()).toBe(0)
    await inPanel('Role').fill('Correspondent')
    await panel.getByText('Not saved yet').waitFor()
    await expectAccessible(page, [1280, 390])
    await panel.getByRole('button', { name: 'Create and link' }).click()
    await panel.waitFor({ state: 'detached' })
    await expect.poll(() => hasFocus(author), patience).toBe(true)
    expect(await page.getByRole('option').count()).toBe(0)
    const linked = async () => (await draftOf(article, id)).author as Draft | null | undefined
    await expect.poll(linked, patience).toMatchObject({ name: 'Mara Quill' })
    const { documentId } = (await linked()) as { documentId: string }

    await author.getByRole('button', { name: 'Open Mara Quill' }).click()
    await inPanel('Name').fill('Mara Quillon')
    // Closed before it was saved, which an author is on request alone: what was typed is offered again.
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await author.getByRole('button', { name: /^Open Mara/ }).click()
    await panel.getByRole('button', { name: 'Show them' }).click()
    await expect.poll(() => inPanel('Name').inputValue(), patience).toBe('Mara Quillon')
    await inPanel('Name').press('Control+s')
    await expect.poll(() => draftOf('api::author.author', documentId), patience).toMatchObject({ name: 'Mara Quillon' })
    await page.keyboard.press('Escape')
    await author.getByRole('button', { name: 'Open Mara Quillon' }).waitFor()

    const related = group('Related')
    await related.getByRole('combobox').fill('An unfinished one')
    await page.getByRole('button', { name: 'Create “An unfinished one”' }).click()
    await inPanel('Kicker').fill('Typed before the panel closed')
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await expect.poll(() => hasFocus(related), patience).toBe(true)
    const others = async () => (await draftOf(article, id)).related as Entries | undefined
    await expect.poll(others, patience).toMatchObject([{ name: 'An unfinished one', state: 'draft' }])
    await related.getByText('Not public yet').waitFor()
    const [other] = (await others())!
    await expectStored(article, String(other!.documentId), { kicker: 'Typed before the panel closed' })
    expect(await draftOf(article, id)).toMatchObject({ title: 'A document next to another' })
    open.expectNoProblems()
  })

  test('ten thousand links are drawn in parts, loaded by pages, moved and removed', async () => {
    const total = 10_000
    const id = await create(article, { title: 'Thousands of links' })
    const [row] = await served.sql('SELECT id FROM articles WHERE document_id = ?', id)
    // Digits in place of a recursion, whose depth some databases limit.
    const digits = Array.from({ length: 10 }, (_, digit) => `SELECT ${digit} AS d`).join(' UNION ALL ')
    const numbers = `(SELECT a.d + 10 * b.d + 100 * c.d + 1000 * d.d + 1 AS n FROM (${digits}) a, (${digits}) b, (${digits}) c, (${digits}) d) numbers`
    await served.sql(
      `INSERT INTO tags (id, document_id, name, slug, locale, published_at)
        SELECT 500000 + n, CONCAT('many', n), CONCAT('Many ', n), CONCAT('many-', n), 'en', published_at
        FROM ${numbers}, (SELECT published_at FROM tags WHERE locale = 'en' LIMIT 1) one`,
    )
    await served.sql(
      `INSERT INTO articles_tags_lnk (article_id, tag_id, tag_ord, article_ord) SELECT ?, 500000 + n, n, 1 FROM ${numbers}`,
      Number(row!.id),
    )
    await open.go(`/content/${article}/${id}?locale=en`)
    const tags = group('Tags')
    const list = tags.getByRole('list')
    // The end of the list loads a page by itself, the button several.
    await list.getByText('Many 1', { exact: true }).scrollIntoViewIfNeeded()
    const more = tags.getByRole('button', { name: 'Load more links' })
    await expect
      .poll(async () => {
        if (await more.isEnabled({ timeout: 100 }).catch(() => false)) await more.click({ timeout: 1000 }).catch(() => {})
        await list.evaluate((element) => element.scrollTo(0, element.scrollHeight))
        return list.getByText(`Many ${total}`, { exact: true }).count()
      }, patience)
      .toBe(1)
    expect(await more.count()).toBe(0)
    expect(await list.getByRole('listitem').count()).toBeLessThan(100)
    await tags.getByRole('button', { name: `Move Many ${total}`, exact: true }).focus()
    await page.keyboard.press('Alt+Home')
    await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')), patience).toBe(`Move Many ${total}`)
    await tags.getByRole('button', { name: 'Remove the link to Many 2', exact: true }).click()
    const first = async () => {
      const { body } = await api(`/content/${article}/${id}/links/tags?locale=en&limit=3`)
      return (body as { data: Entries }).data.map(({ name }) => name)
    }
    await expect.poll(first, patience).toEqual([`Many ${total}`, 'Many 1', 'Many 3'])
    await tags.getByRole('button', { name: 'Move Many 3', exact: true }).focus()
    await page.keyboard.press('Alt+ArrowUp')
    await expect.poll(first, patience).toEqual([`Many ${total}`, 'Many 3', 'Many 1'])
    await page.keyboard.press('Alt+ArrowDown')
    await expect.poll(first, patience).toEqual([`Many ${total}`, 'Many 1', 'Many 3'])
    await field('Kicker').fill('Written next to them')
    await expectStored(article, id, { kicker: 'Written next to them' })
    open.expectNoProblems()
  })

  test('files are dropped, described, chosen in the library, ordered by keys and the pointer, and pasted', async () => {
    const id = await create(article, { title: 'Files' })
    const gallery = group('Gallery')
    const transferOf = (name: string, kind = 'image/png') =>
      page.evaluateHandle(
        ([text, called, type]) => {
          const transfer = new DataTransfer()
          const bytes = Uint8Array.from(atob(text!), (character) => character.charCodeAt(0))
          transfer.items.add(new File([bytes], called!, { type: type! }))
          return transfer
        },
        [picture.toString('base64'), name, kind],
      )
    const data = await transferOf('dropped.png')
    for (const type of ['dragenter', 'dragover', 'drop'])
      await gallery.getByRole('group', { name: 'Upload' }).dispatchEvent(type, { dataTransfer: data })
    await gallery.getByRole('button', { name: 'Edit details of dropped.png' }).click()
    await field('Alternative text').fill('One pixel')
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await gallery.getByRole('button', { name: 'Choose from library' }).click()
    const upload = page.getByRole('dialog').getByRole('button', { name: 'Upload' })
    await page.getByRole('searchbox').press('Tab')
    await page.keyboard.press('Tab')
    await expect.poll(() => hasFocus(upload), patience).toBe(true)
    await page.getByRole('searchbox').fill('mill')
    await page.getByRole('checkbox', { name: 'mill.jpg' }).check()
    await page.getByRole('dialog').getByRole('button', { name: 'Add file', exact: true }).click()
    const files = async () => ((await draftOf(article, id)).gallery as Entries | undefined)?.map(({ name }) => name)
    await expect.poll(files, patience).toEqual(['dropped.png', 'mill.jpg'])
    await gallery.getByRole('button', { name: 'Move mill.jpg', exact: true }).focus()
    await page.keyboard.press('Alt+ArrowLeft')
    await expect.poll(files, patience).toEqual(['mill.jpg', 'dropped.png'])
    expect((await draftOf(article, id)).gallery).toMatchObject([{}, { alternativeText: 'One pixel' }])
    const centre = async (name: string) => {
      const box = (await gallery.getByRole('button', { name: `Move ${name}`, exact: true }).boundingBox())!
      return [box.x + box.width / 2, box.y + box.height / 2] as const
    }
    await page.mouse.move(...(await centre('dropped.png')))
    await page.mouse.down()
    const [x, y] = await centre('mill.jpg')
    await page.mouse.move(x - 20, y, { steps: 5 })
    await page.mouse.up()
    await expect.poll(files, patience).toEqual(['dropped.png', 'mill.jpg'])
    const pasted = await transferOf('pasted.png')
    const paste = (element: Element, clipboardData: DataTransfer) =>
      element.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
    await gallery.getByRole('group', { name: 'Upload' }).evaluate(paste, pasted)
    await expect.poll(files, patience).toEqual(['dropped.png', 'mill.jpg', 'pasted.png'])
    await group('Cover')
      .getByRole('group', { name: 'Upload' })
      .evaluate(paste, await transferOf('notes.txt', 'text/plain'))
    await page.getByText('Not accepted: notes.txt').waitFor()
    open.expectNoProblems()
  })

  test('components of a zone are added, duplicated, moved, copied to another document, and removed with a way back', async () => {
    const layout = '/types/block.quote/layout'
    const { body } = await api(layout)
    const { revision, ...given } = (body as { data: { revision: string; metadatas: Record<string, { edit: object }> } }).data
    const speaker = { ...given.metadatas.speaker, edit: { ...given.metadatas.speaker?.edit, label: 'Said by' } }
    const headers = { 'if-match': `"${revision}"` }
    const { status } = await api(layout, { method: 'PUT', headers, body: { ...given, metadatas: { ...given.metadatas, speaker } } })
    expect(status).toBe(200)
    const id = await create(article, { title: 'Zone' })
    const zone = group('Extras')
    await addComponent(zone, /^Quote.*Text, Said by and Person/)
    await expect.poll(() => hasFocus(field('Text')), patience).toBe(true)
    await page.keyboard.type('First quote')
    const act = async (entry: string, action: string | RegExp) => {
      await zone.getByRole('button', { name: `Actions for ${entry}` }).click()
      await page.getByRole('menuitem', { name: action }).click()
    }
    await act('Quote 1', 'Duplicate')
    await addComponent(zone, /^Text/)
    await field('Heading').fill('A text')
    const kinds = async () =>
      ((await draftOf(article, id)).extras as Entries | undefined)?.map(({ __component, text }) => [__component, text ?? null])
    const quote = ['block.quote', 'First quote']
    const text = ['block.text', null]
    await expect.poll(kinds, patience).toEqual([quote, quote, text])
    await act('Text 3', 'Move to position…')
    await page.getByRole('dialog').getByRole('textbox').fill('1')
    await page.keyboard.press('Enter')
    await expect.poll(kinds, patience).toEqual([text, quote, quote])
    await act('Quote 3', /^Remove/)
    await expect.poll(kinds, patience).toEqual([text, quote])
    await page.getByRole('button', { name: 'Undo', exact: true }).last().click()
    await expect.poll(kinds, patience).toEqual([text, quote, quote])
    await act('Quote 2', 'Copy')
    await page.getByText('Copied.').waitFor()
    const other = await create(article, { title: 'Another zone' })
    await group('Extras').getByRole('button', { name: 'Paste' }).click()
    await expect.poll(async () => (await draftOf(article, other)).extras, patience).toMatchObject([{ text: 'First quote' }])
    open.expectNoProblems()
  })

  test('a field takes its whole row if nothing is next to it, also where its neighbour is hidden', async () => {
    const talk = {
      kind: 'collectionType',
      collectionName: 'talks',
      info: { singularName: 'talk', pluralName: 'talks', displayName: 'Talk' },
      attributes: {
        name: { type: 'string' },
        online: { type: 'boolean', default: false },
        room: { type: 'string', conditions: { visible: { '!=': [{ var: 'online' }, true] } } },
        street: { type: 'string' },
        notes: { type: 'richtext' },
        seats: { type: 'integer' },
      },
    }
    const own = await serveProject({ 'src/api/talk/content-types/talk/schema.json': talk }, { environment: secrets })
    await addAdministrator(own, ada)
    const other = await openPage(own)
    try {
      await other.go('/content/api::talk.talk/new')
      const width = async (name: string) => (await other.page.locator(`#field-${name}`).boundingBox())?.width ?? 0
      const whole = async (name: string) => (await width(name)) / (await width('name')) > 1.5
      await other.page.locator('#field-room').waitFor()
      expect([await whole('street'), await whole('seats')]).toEqual([false, false])
      await other.page.getByRole('switch').click()
      await expect.poll(() => whole('street'), patience).toBe(true)
      expect(await other.page.locator('#field-room').count()).toBe(0)
      expect(await whole('seats')).toBe(false)
      await other.page.getByRole('switch').click()
      await expect.poll(() => whole('street'), patience).toBe(false)
      other.expectNoProblems()
    } finally {
      await other.close()
      await own.close()
    }
  })

  test('errors of the service are shown at their fields', async () => {
    const id = await create(article, { title: 'Errors' })
    await field('Kicker').fill('k'.repeat(61))
    await field('Editor note').fill('stored all the same')
    await expectStored(article, id, { editorNote: 'stored all the same', kicker: null })
    await page.getByText('At most 60 characters: 1 too many.').first().waitFor()
    expect(await field('Kicker').getAttribute('aria-invalid')).toBe('true')
    // The refused request is reported by the browser itself.
    open.expectNoProblems(/400 \(Bad Request\)/)
  })

  test('fields are accessible, also open entries and dialogs', async () => {
    await create(article, {
      title: 'Audit',
      body: [{ type: 'quote', children: [{ type: 'text', text: 'Quote' }] }],
      extras: [{ __component: 'block.quote', text: 'A quote' }],
    })
    await group('Extras').getByRole('button', { expanded: false }).first().click()
    await field('Text').waitFor()
    await expectAccessible(page)
    await expectNoSidewaysScrolling(page, 390)
    await page.setViewportSize({ width: 1280, height: 800 })
    await group('Gallery').getByRole('button', { name: 'Choose from library' }).click()
    await page.getByRole('checkbox').first().waitFor()
    await expectAccessible(page, [1280, 390])
    open.expectNoProblems()
  })
})
