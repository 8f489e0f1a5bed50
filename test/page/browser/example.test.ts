// The website of the example magazine next to the form of a story.
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { describeWith } from '../../support/describe-with.js'
import type { ServeOptions } from '../../support/serve.js'
import { until } from '../../support/until.js'
import { openPage, servePage } from './page.js'

type Website = { preview: { url: Record<string, string> }; website: NonNullable<NonNullable<ServeOptions['code']>['routes']>[number] }

describeWith(['Chromium'], 'the website of the example', () => {
  test('shows the draft of a story and its saves, leads to its fields, and is not found without its secret', async () => {
    const { preview, website } = (await import(pathToFileURL('examples/magazine/website.mjs').href)) as Website
    const served = await servePage({ config: { admin: { preview } }, code: { routes: [website] } })
    const open = await openPage(served)
    try {
      const { page } = open
      const { body } = await served.request('/api/articles?filters[slug]=last-tram-to-orla-hill&populate=cover')
      const [{ documentId, cover }] = body.data
      await open.go(`/content/api::article.article/${documentId}`)
      await page.keyboard.press('Control+Shift+P')
      const site = page.frameLocator('iframe[title="Preview"]')
      const picture = site.locator('img').first()
      await until('the picture is drawn', () => picture.evaluate((image: HTMLImageElement) => image.naturalWidth > 0))
      expect(await picture.getAttribute('src')).toBe(cover.url)
      await picture.click()
      const label = () =>
        page.evaluate(() => document.activeElement?.closest('[role="group"]')?.querySelector('[id$="-label"]')?.textContent)
      await until('the focus is in Cover', async () => (await label())?.startsWith('Cover') === true)
      await page.getByRole('textbox', { name: 'Title' }).first().fill('A map <b>of shade</b>')
      await site.getByRole('heading', { name: 'A map <b>of shade</b>' }).waitFor()
      open.expectNoProblems()
      const address = new URL(
        page
          .frames()
          .find((frame) => frame.url().includes('/website/'))!
          .url(),
      )
      expect((await served.request(address.pathname + address.search)).status).toBe(200)
      const [, , secret = ''] = address.pathname.split('/')
      expect((await served.request(address.pathname.replace(secret, 'another') + address.search)).status).toBe(404)
    } finally {
      await open.close()
      await served.close()
    }
  })
})
