// Sign-in in a browser.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../../support/describe-with.js'
import type { Served } from '../../support/serve.js'
import { type OpenPage, openPage, servePage } from './page.js'

describeWith(['Chromium'], 'sign-in in a browser', () => {
  let served: Served
  let open: OpenPage
  beforeAll(async () => {
    served = await servePage()
    open = await openPage(served)
  })
  afterAll(async () => {
    await open?.close()
    await served?.close()
  })

  test('a signed-in administrator opens a screen by its address', async () => {
    await open.go('/content/api::article.article')
    expect(open.page.url()).toBe(`${served.origin}/admin/content/api::article.article`)
    open.expectNoProblems()
  })
})
