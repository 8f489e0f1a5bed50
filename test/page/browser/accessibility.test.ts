// Small widths, zoom, reduced motion, writing from right to left, and the accessibility trees of list and editor in a browser.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { requestAdmin, signInAdmin } from '../../support/administration.js'
import { describeWith } from '../../support/describe-with.js'
import type { Served } from '../../support/serve.js'
import { ada, eventually, expectAccessible, type OpenPage, openPage, servePage } from './page.js'

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
  const createArticle = (title: string) =>
    create(`${articles}?locale=en`, {
      title,
      slug: title.toLowerCase(),
      summary: 'A mill at the sea, and a wheel that turns only at night.',
    })
  beforeAll(async () => {
    served = await servePage()
    token = (await signInAdmin(served, ada)).accessToken
    document = await createArticle('Zebra')
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
  const showEditor = async ({ page, go }: OpenPage, id = document) => {
    await go(`${articles}/${id}`)
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

  test('the windows of list and editor, and a list of choices, pass the audit', async () => {
    const changes = {
      title: 'Zebra auf Deutsch',
      slug: 'zebra-deutsch',
      summary: 'Eine Zusammenfassung, die lang genug ist, um zu genügen.',
    }
    const german = `${articles}/${document}?locale=de`
    const { status } = await requestAdmin(served, german, { method: 'PATCH', token, body: { changes }, headers: { 'if-none-match': '*' } })
    expect(status).toBe(200)
    await using({}, async (open) => {
      const { page } = open
      const dialog = page.getByRole('dialog').or(page.getByRole('alertdialog'))
      const audit = async (shown: string | RegExp) => {
        await dialog.getByText(shown).first().waitFor()
        await expectAccessible(page, [1280, 390])
        await page.keyboard.press('Escape')
        await dialog.waitFor({ state: 'detached' })
      }
      const choose = async (name: string | RegExp) => {
        await page.getByRole('button', { name: 'More actions' }).click()
        await page.getByRole('menuitem', { name }).click()
      }
      await showEditor(open)
      await page.keyboard.press('Control+Enter')
      await audit('Ready to publish')
      await choose('Fill from German…')
      await audit('Select empty fields')
      await choose('Delete…')
      await audit('Drafts and public versions are deleted for good.')
      await choose('History')
      await audit(/earlier versions|Ada Lovelace/)
      await page.getByRole('button', { name: 'Choose from library' }).first().click()
      await dialog.locator('img').first().waitFor()
      await audit(/\.(?:jpg|png|svg)$/)
      const tags = page.getByRole('group', { name: 'Tags' }).getByRole('combobox')
      const choices = page.getByRole('option')
      // Scrolling closes the list; a click opens it again, as after Escape.
      const openChoices = () =>
        eventually(async () => {
          await tags.click()
          return choices.count()
        }).toBeGreaterThan(0)
      await openChoices()
      await expectAccessible(page, [1280, 390])
      await tags.press('Escape')
      await eventually(() => choices.count()).toBe(0)
      await openChoices()
      await tags.press('Escape')
      await showList(open)
      await page.getByRole('button', { name: 'Views', exact: true }).click()
      await page.getByRole('menuitem', { name: 'Save as a view…' }).click()
      await audit('Visible to')
      await page.getByRole('checkbox').nth(1).click()
      await page.getByRole('button', { name: 'Publish…', exact: true }).click()
      await audit(/The drafts are published/)
      await page.getByRole('button', { name: 'Delete…' }).click()
      await audit(/Links to them become empty/)
    })
  })

  test('nothing moves with reduced motion', async () => {
    await using({ reducedMotion: 'reduce' }, async (open) => {
      const { page } = open
      const moving = () =>
        page.evaluate(() => {
          const frame = 0.017
          const longest = (durations: string) => Math.max(...durations.split(',').map((one) => Number.parseFloat(one)))
          return [...globalThis.document.querySelectorAll('*')].flatMap((element) =>
            ['', '::before', '::after'].flatMap((part) => {
              const { animationName, animationDuration, transitionDuration } = getComputedStyle(element, part)
              const isMoving = (animationName !== 'none' && longest(animationDuration) > frame) || longest(transitionDuration) > frame
              return isMoving ? [`${element.tagName} ${element.className}${part}`] : []
            }),
          )
        })
      // The list stays in the state of loading.
      await page.route('**/admin/api/content/**', () => {})
      await open.go(articles)
      await eventually(() => page.locator('[class*=skeleton]').count()).toBeGreaterThan(0)
      expect(await moving()).toEqual([])
      await page.unroute('**/admin/api/content/**')
      await showList(open)
      expect(await moving()).toEqual([])
      await page.getByRole('button', { name: 'Columns and density' }).click()
      await page.getByRole('menuitemcheckbox', { name: 'Author' }).waitFor()
      expect(await moving()).toEqual([])
      await showEditor(open)
      await page.keyboard.press('Control+Enter')
      await page.getByRole('dialog').getByText('Ready to publish').waitFor()
      expect(await moving()).toEqual([])
    })
  })

  // `npx vitest run -u` stores them again; the commit shows what screen readers notice of a change.
  test('list and editor have the stored accessibility trees', async () => {
    const treeOf = async ({ page }: OpenPage) => (await page.locator('main').ariaSnapshot()).replaceAll(/:?\n *- \/url: .*/g, '')
    // Nobody has had it open.
    const giraffe = await createArticle('Giraffe')
    await using({}, async (open) => {
      await showList(open, `${articles}?q=giraffe&columns=$state,kicker,summary,$locales`)
      await open.page.getByRole('link', { name: 'All 1' }).waitFor()
      await expect(await treeOf(open)).toMatchFileSnapshot('trees/list.txt')
      await showEditor(open, giraffe)
      for (const name of ['Body', 'Background']) await open.page.getByRole('textbox', { name, exact: true }).waitFor()
      await expect(await treeOf(open)).toMatchFileSnapshot('trees/editor.txt')
    })
  })

  test('texts from right to left have their direction in lists, fields and blocks, and rows keep their order', async () => {
    expect((await requestAdmin(served, '/locales', { method: 'POST', token, body: { code: 'ar' } })).status).toBe(201)
    const title = '\u0627\u0644\u0637\u0627\u062d\u0648\u0646\u0629 3 Octavo (\u0646\u0633\u062e\u0629 2)'
    const summary = '\u0637\u0627\u062d\u0648\u0646\u0629 \u0639\u0646\u062f \u0627\u0644\u0628\u062d\u0631 '.repeat(5).trim()
    const body = [{ type: 'paragraph', children: [{ type: 'text', text: `${title} English` }] }]
    const arabic = await create(`${articles}?locale=ar`, { title, slug: 'arabic', summary, kicker: 'English', body })
    const heading = await create('/content/api::letter.letter', {
      ...{ heading: title, body: summary, sender: summary, receivedAt: '2031-01-01T00:00:00.000Z' },
    })
    await using({}, async (open) => {
      const { page } = open
      const directionOf = (text: string) =>
        page
          .locator(`:text-is("${text}"), :has-text("${text}")`)
          .last()
          .evaluate((element) => getComputedStyle(element).direction)
      await showList(open, `${articles}?locale=ar&columns=$state,kicker,summary`)
      const row = page.locator('tbody tr').first()
      expect(await directionOf(title)).toBe('rtl')
      expect(await row.locator('th span').getAttribute('lang')).toBe('ar')
      expect(await directionOf(summary)).toBe('rtl')
      const [name, state, kicker] = await Promise.all(
        [row.locator('th'), row.getByText('Draft'), row.getByText('English')].map(async (one) => (await one.boundingBox())!.x),
      )
      expect(name! < state! && state! < kicker!).toBe(true)
      // A long text loses its end, which is at the left.
      const cell = row.locator('td').filter({ hasText: summary }).locator('div')
      expect(await cell.evaluate((element) => [element.scrollWidth > element.clientWidth, getComputedStyle(element).direction])).toEqual([
        true,
        'rtl',
      ])
      await open.go(`${articles}/${arabic}?locale=ar`)
      const main = page.locator('main')
      const text = (label: string) => main.getByRole('textbox', { name: label }).first()
      const direction = (label: string) => text(label).evaluate((element) => getComputedStyle(element).direction)
      await text('Title').waitFor()
      expect([await direction('Title'), await direction('Summary'), await direction('Kicker'), await direction('Slug')]).toEqual([
        ...['rtl', 'rtl', 'ltr', 'ltr'],
      ])
      expect(await text('Title').getAttribute('lang')).toBe('ar')
      const paragraph = main.locator('[contenteditable] p').filter({ hasText: 'English' })
      await eventually(() => paragraph.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl')
      expect(await page.getByRole('heading', { level: 1 }).evaluate((element) => getComputedStyle(element).direction)).toBe('rtl')
      // A type without languages says nothing about its texts.
      await open.go(`/content/api::letter.letter/${heading}`)
      await text('Heading').waitFor()
      expect([await direction('Heading'), await direction('Body')]).toEqual(['rtl', 'rtl'])
    })
  })
})
