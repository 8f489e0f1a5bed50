// Actions on a whole document in a browser: what they say before, what they do, and where the document is used.
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { requestAdmin, signInAdmin } from '../../support/administration.js'
import { describeWith } from '../../support/describe-with.js'
import type { Served } from '../../support/serve.js'
import { patience } from '../../support/until.js'
import { ada, type OpenPage, openPage, servePage } from './page.js'

const article = 'api::article.article'
const letter = 'api::letter.letter'
const tag = 'api::tag.tag'
const summary = 'A mill at the sea, and a wheel that turns only at night.'

describeWith(['Chromium'], 'actions on a document', () => {
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

  const api = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await requestAdmin(served, path, { method, token, body, headers })
    expect([path, response.status < 300]).toEqual([path, true])
    return response
  }
  const read = async (path: string) => (await api('GET', `/content/${path}`)).body.data
  const publish = async (type: string, document: string, query: string) => {
    const etag = (await api('GET', `/content/${type}/${document}${query}`)).headers.get('etag')!
    await api('POST', `/content/${type}/${document}/publish${query}`, {}, { 'if-match': etag })
  }
  const choose = async (action: string) => {
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: action, exact: true }).click()
  }
  /** Confirms the question that has this text. */
  const confirm = async (text: string, action: string) => {
    // Messages have the role, too.
    const question = page.getByRole('alertdialog').filter({ hasText: text })
    await question.getByRole('button', { name: action, exact: true }).click()
    await question.waitFor({ state: 'detached' })
  }

  test('changes are discarded, a document is unpublished in its language, and a copy of it is a draft', async () => {
    const data = { title: 'The mill that waits', slug: `mill-${Date.now()}`, summary }
    const { documentId } = (await api('POST', `/content/${article}?locale=en`, { data })).body.data
    await publish(article, documentId, '?locale=en')
    await open.go(`/content/${article}/${documentId}?locale=en`)
    const title = page.getByRole('textbox', { name: /^Title/ }).first()
    await title.fill('The mill that waited')
    await choose('Discard changes')
    await confirm('The draft goes back to the public version. The current draft stays in the history.', 'Discard changes')
    await expect.poll(() => title.inputValue(), patience).toBe('The mill that waits')
    await page.getByText('The public version is up to date.').waitFor()
    await choose('Unpublish')
    await confirm('The public English version is removed. The draft is kept.', 'Unpublish')
    await page.getByText('Not published yet').waitFor()
    expect(await read(`${article}/${documentId}?locale=en`)).toMatchObject({
      state: 'draft',
      published: null,
      draft: { title: 'The mill that waits' },
    })
    await choose('Duplicate')
    await page.getByText('This is the copy.').waitFor()
    const copy = new URL(page.url()).pathname.split('/').at(-1)!
    expect(copy).not.toBe(documentId)
    expect(await read(`${article}/${copy}?locale=en`)).toMatchObject({ state: 'draft', draft: { summary } })
    open.expectNoProblems()
  })

  test('a document without languages is unpublished as a whole', async () => {
    const data = { heading: 'To the editor', body: summary, sender: 'A reader', receivedAt: '2031-01-01T00:00:00.000Z' }
    const { documentId } = (await api('POST', `/content/${letter}`, { data })).body.data
    await publish(letter, documentId, '')
    await open.go(`/content/${letter}/${documentId}`)
    await choose('Unpublish')
    await confirm('The public version is removed. The draft is kept.', 'Unpublish')
    await expect.poll(async () => (await read(`${letter}/${documentId}`)).published, patience).toBe(null)
    open.expectNoProblems()
  })

  test('a document takes one request, and shows on demand where it is used', async () => {
    const name = `Tides ${Date.now()}`
    const { documentId } = (await api('POST', `/content/${tag}?locale=en`, { data: { name, slug: `tides-${Date.now()}` } })).body.data
    const tags = { connect: [{ documentId }] }
    await api('POST', `/content/${article}?locale=en`, {
      data: { title: 'Where the tide turns', slug: `tide-${Date.now()}`, summary, tags },
    })
    const paths: string[] = []
    page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (/^\/admin\/api\/(?:types|content)/.test(pathname)) paths.push(decodeURIComponent(pathname).slice('/admin/api'.length))
    })
    await open.go(`/content/${tag}/${documentId}?locale=en`)
    await page.getByRole('textbox', { name: /^Name/ }).waitFor()
    expect(paths.sort()).toEqual([`/content/${tag}/${documentId}`, `/types/${tag}`])
    await page.getByRole('button', { name: 'Used in' }).click()
    await page.getByRole('link', { name: 'Where the tide turns' }).click()
    await page.waitForURL(/api::article\.article|api%3A%3Aarticle/)
    await expect
      .poll(
        () =>
          page
            .getByRole('textbox', { name: /^Title/ })
            .first()
            .inputValue(),
        patience,
      )
      .toBe('Where the tide turns')
    page.removeAllListeners('request')
    open.expectNoProblems()
  })
})
