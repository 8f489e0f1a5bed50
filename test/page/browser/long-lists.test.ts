// Long lists in a browser: actions that are stopped half-way, and pages while others write.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { requestAdmin, signInAdmin } from '../../support/administration.js'
import { describeWith } from '../../support/describe-with.js'
import type { Served } from '../../support/serve.js'
import { ada, eventually, type OpenPage, openPage, servePage } from './page.js'

describeWith(['Chromium'], 'long lists in a browser', () => {
  let served: Served
  let open: OpenPage
  const letters = '/content/api::letter.letter'
  const count = 3000

  beforeAll(async () => {
    served = await servePage()
    await served.sql(
      `WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ?)
        INSERT INTO letters (document_id, heading, body, sender, language, received_at, created_at, updated_at)
        SELECT printf('letter%018d', i), printf('Zebra %04d', i), 'A letter that is long enough.', 'Nobody', 'en', 1, 1, 1 FROM numbers`,
      count,
    )
    open = await openPage(served)
  })
  afterAll(async () => {
    await open?.close()
    await served?.close()
  })

  const titles = () => open.page.locator('tbody th').allInnerTexts()
  const documents = async (condition: string) =>
    (await served.sql(`SELECT COUNT(DISTINCT document_id) AS n FROM letters WHERE heading LIKE 'Zebra%' AND ${condition}`))[0]!.n as number
  const show = async (address: string) => {
    await open.go(address)
    await open.page.locator('tbody tr').first().waitFor()
  }
  const selectAll = async (expected: string) => {
    await show(`${letters}?q=zebra&sort=heading:asc`)
    await open.page.getByRole('checkbox', { name: 'Select all rows of this page' }).click()
    await open.page.getByRole('button', { name: `Select all ${expected}` }).click()
  }
  /** Presses Stop while a request of the action is on its way: the one with this number. */
  const stopAt = async (number: number, method: string, path: string, start: () => Promise<void>) => {
    let sent = 0
    let arrive = () => {}
    let release = () => {}
    const arrived = new Promise<void>((resolve) => (arrive = resolve))
    const released = new Promise<void>((resolve) => (release = resolve))
    await open.page.route(path, async (route) => {
      if (route.request().method() === method && ++sent === number) {
        arrive()
        await released
      }
      await route.continue()
    })
    await start()
    await arrived
    await open.page.getByRole('button', { name: 'Stop', exact: true }).click()
    release()
    const dialog = open.page.getByRole('dialog').or(open.page.getByRole('alertdialog'))
    const result = await dialog.getByText(/^Stopped/).textContent()
    await open.page.unroute(path)
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    return result
  }
  const tab = (name: RegExp) => open.page.getByRole('link', { name }).textContent()

  test('a publication that is stopped after requests of a page tells what is done, and leaves the rest', async () => {
    await selectAll('3,000')
    const result = await stopAt(6, 'POST', '**/admin/api/bulk', async () => {
      await open.page.getByRole('button', { name: 'Publish…', exact: true }).click()
      await open.page.getByRole('button', { name: 'Publish 3,000 entries' }).click()
    })
    expect(result).toBe('Stopped. 300 done; the rest were left unchanged.')
    expect(await documents('published_at IS NOT NULL')).toBe(300)
    await eventually(() => tab(/^Published/)).toBe('Published300')
    await eventually(() => tab(/^Drafts/)).toBe('Drafts2,700')
    open.expectNoProblems()
  })

  test('a change of fields that is stopped counts each document', async () => {
    await selectAll('3,000')
    const result = await stopAt(13, 'PATCH', '**/admin/api/content/**', async () => {
      await open.page.getByRole('button', { name: 'Edit fields…' }).click()
      const dialog = open.page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Add a field' }).click()
      await dialog.getByRole('button', { name: /Field/ }).click()
      await open.page.getByRole('option', { name: 'Town', exact: true }).click()
      await dialog.getByRole('textbox', { name: 'Value: Town' }).fill('Orla')
      await dialog.getByRole('button', { name: 'Change 3,000 entries' }).click()
    })
    expect(result).toBe('Stopped. 13 done; the rest were left unchanged.')
    expect(await documents("town = 'Orla'")).toBe(13)
    open.expectNoProblems()
  })

  test('what a stopped deletion deleted is no longer selected', async () => {
    await selectAll('3,000')
    const result = await stopAt(2, 'POST', '**/admin/api/bulk', async () => {
      await open.page.getByRole('button', { name: 'Delete…' }).click()
      await open.page.getByRole('button', { name: 'Delete 3,000 entries' }).click()
    })
    expect(result).toBe('Stopped. 100 done; the rest were left unchanged.')
    expect(await documents('TRUE')).toBe(count - 100)
    await open.page.getByRole('region', { name: 'Actions on the selection' }).waitFor({ state: 'detached' })
    await eventually(async () => (await titles())[0]).toBe('Zebra 0101')
    open.expectNoProblems()
  })

  test('pages that others insert into and delete from have every document once', async () => {
    const { accessToken: token } = await signInAdmin(served, ada)
    const insert = async (heading: string) => {
      const data = { heading, body: 'A letter that is long enough.', sender: 'Nobody', receivedAt: '2031-01-01T00:00:00.000Z' }
      expect((await requestAdmin(served, letters, { method: 'POST', token, body: { data } })).status).toBe(201)
    }
    const remove = async (heading: string) => {
      const [row] = await served.sql('SELECT document_id FROM letters WHERE heading = ? AND published_at IS NULL', heading)
      const path = `${letters}/${row!.document_id}`
      const { headers } = await requestAdmin(served, path, { token })
      const known = { 'if-match': headers.get('etag')! }
      expect((await requestAdmin(served, path, { method: 'DELETE', token, headers: known })).status).toBe(204)
    }
    const headings = async () =>
      (await served.sql("SELECT heading FROM letters WHERE heading LIKE 'Zebra 02%' AND published_at IS NULL ORDER BY heading")).map(
        ({ heading }) => heading as string,
      )
    const before = await headings()
    expect(before).toHaveLength(100)
    const seen: string[] = []
    const size = 50
    /** Others write at the beginning, in the middle and at the end of the page, whose last row is its cursor. */
    const meddle = async (page: readonly string[]) => {
      await insert(`${page[0]} a`)
      await insert(`${page[24]} a`)
      await remove(page[10]!)
      await remove(page.at(-1)!)
      await insert(`${page.at(-1)} a`)
    }
    await show(`${letters}?q=zebra%2002&sort=heading:asc`)
    const pageAfter = async (last: string) => (await headings()).filter((one) => one > last).slice(0, size)
    let last = ''
    for (let number = 1; number <= 2; number++) {
      const page = await pageAfter(last)
      await eventually(titles).toEqual(page)
      await meddle(page)
      const now = await pageAfter(last)
      await eventually(titles).toEqual(now)
      seen.push(...now)
      last = now.at(-1)!
      await open.page.getByRole('button', { name: 'Next' }).click()
    }
    const rest = await pageAfter(last)
    await eventually(titles).toEqual(rest)
    seen.push(...rest)
    expect(seen).toEqual([...new Set(seen)])
    const there = await headings()
    expect(there.length).toBe(before.length + 2)
    expect(seen).toEqual(there)
    open.expectNoProblems()
  })
})
