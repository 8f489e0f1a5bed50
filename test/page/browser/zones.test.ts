// A long zone in a browser: its entries are inserted, duplicated, pasted, and moved to a position, by the pointer and by touch.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { secrets } from '../../spec/callers.js'
import { addAdministrator, requestAdmin, signInAdmin } from '../../support/administration.js'
import { describeWith } from '../../support/describe-with.js'
import { type Served, serveProject } from '../../support/serve.js'
import { patience } from '../../support/until.js'
import { ada, type OpenPage, openPage } from './page.js'

const type = 'api::paper.paper'

const project = {
  'src/api/paper/content-types/paper/schema.json': {
    kind: 'collectionType',
    collectionName: 'papers',
    info: { singularName: 'paper', pluralName: 'papers', displayName: 'Paper' },
    options: { draftAndPublish: true },
    attributes: { name: { type: 'string' }, parts: { type: 'dynamiczone', components: ['part.quote'] } },
  },
  'src/components/part/quote.json': {
    collectionName: 'components_part_quotes',
    info: { displayName: 'Quote' },
    attributes: { text: { type: 'string' } },
  },
}

describeWith(['Chromium'], 'a zone of 300 entries', () => {
  let served: Served
  let open: OpenPage
  let page: Page
  let token: string
  let document: string
  let expected: string[]

  beforeAll(async () => {
    served = await serveProject(project, { environment: secrets })
    await addAdministrator(served, ada)
    open = await openPage(served, ada, { permissions: ['clipboard-read', 'clipboard-write'], hasTouch: true })
    page = open.page
    page.setDefaultTimeout(patience.timeout)
  })
  afterAll(async () => {
    await open?.close()
    await served?.close()
  })

  const create = async (data: object): Promise<string> => {
    const { status, body } = await requestAdmin(served, `/content/${type}`, { method: 'POST', token, body: { data } })
    expect(status).toBe(201)
    return body.data.documentId
  }
  const texts = async (id = document): Promise<readonly string[]> => {
    const { body } = await requestAdmin(served, `/content/${type}/${id}`, { token })
    return (body.data.draft.parts ?? []).map(({ text }: { text: string }) => text)
  }
  /** The stored entries are the expected ones. */
  const expectStored = () => expect.poll(() => texts(), patience).toEqual(expected)

  beforeEach(async () => {
    token = (await signInAdmin(served, ada)).accessToken
    expected = Array.from({ length: 300 }, (_, index) => `Line ${index + 1}`)
    document = await create({ name: 'A long zone', parts: expected.map((text) => ({ __component: 'part.quote', text })) })
    await open.go(`/content/${type}/${document}`)
  })

  const zone = () => page.getByRole('group', { name: 'Parts', exact: true })
  const handle = (number: number) => zone().getByRole('button', { name: `Move Quote ${number}`, exact: true })
  /** Goes to an entry by the outline. */
  const goTo = async (number: number) => {
    const outline = page.getByRole('complementary').getByRole('listitem')
    await outline
      .nth(number - 1)
      .getByRole('button')
      .click()
    await handle(number).waitFor()
  }
  const act = async (number: number, action: string | RegExp) => {
    await zone()
      .getByRole('button', { name: `Actions for Quote ${number}`, exact: true })
      .click()
    await page.getByRole('menuitem', { name: action }).click()
  }

  test('entries are inserted, duplicated and moved to a position in its middle, and pasted into another document', async () => {
    await goTo(150)
    await act(150, 'Insert after')
    // The only component of the zone needs no choice.
    await expect.poll(() => page.locator('input:focus').count(), patience).toBe(1)
    await page.keyboard.type('Inserted')
    expected.splice(150, 0, 'Inserted')
    await expectStored()
    await act(151, 'Duplicate')
    expected.splice(151, 0, 'Inserted')
    await expectStored()
    await goTo(300)
    await act(300, 'Move to position…')
    await page.getByRole('dialog').getByRole('textbox').fill('150')
    await page.keyboard.press('Enter')
    expected.splice(149, 0, ...expected.splice(299, 1))
    await expectStored()
    await act(150, 'Copy')
    await page.getByText('Copied.').waitFor()
    const other = await create({ name: 'Another zone', parts: [] })
    await open.go(`/content/${type}/${other}`)
    await zone().getByRole('button', { name: 'Paste' }).click()
    await expect.poll(() => texts(other), patience).toEqual([expected[149]])
    open.expectNoProblems()
  })

  test('an entry is moved by the pointer and by touch, and Escape ends a drag without a move', async () => {
    await goTo(150)
    const centre = async (number: number) => {
      const box = (await handle(number).boundingBox())!
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
    }
    const drag = async (from: number, to: number, end: () => Promise<void>) => {
      const [start, target] = [await centre(from), await centre(to)]
      await page.mouse.move(start.x, start.y)
      await page.mouse.down()
      await page.mouse.move(start.x, start.y + 10)
      await page.mouse.move(target.x, target.y + 8, { steps: 5 })
      await end()
    }
    await drag(150, 152, () => page.mouse.up())
    expected.splice(151, 0, ...expected.splice(149, 1))
    await expectStored()
    await drag(150, 151, () => page.keyboard.press('Escape'))
    await page.mouse.up()
    const [start, target] = [await centre(152), await centre(150)]
    const session = await page.context().newCDPSession(page)
    const touch = (kind: 'touchStart' | 'touchMove', y: number) =>
      session.send('Input.dispatchTouchEvent', { type: kind, touchPoints: [{ x: start.x, y }] })
    await touch('touchStart', start.y)
    await touch('touchMove', start.y - 10)
    await touch('touchMove', target.y - 8)
    await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    expected.splice(149, 0, ...expected.splice(151, 1))
    await expectStored()
    open.expectNoProblems()
  })
})
