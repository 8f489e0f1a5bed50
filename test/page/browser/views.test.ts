// Saved views of lists in a browser: their menu, and what others see of them.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addAdministrator, allowAdmins, requestAdmin, signInAdmin } from '../../support/administration.js'
import { describeWith } from '../../support/describe-with.js'
import type { Served } from '../../support/serve.js'
import { ada, eventually, type OpenPage, openPage, servePage } from './page.js'

describeWith(['Chromium'], 'saved views in a browser', () => {
  let served: Served
  let open: OpenPage
  const articles = '/content/api::article.article'
  const letters = '/content/api::letter.letter'

  beforeAll(async () => {
    served = await servePage()
    open = await openPage(served)
  })
  afterAll(async () => {
    await open?.close()
    await served?.close()
  })

  const address = () => decodeURIComponent(open.page.url()).slice(`${served.origin}/admin`.length)
  const show = async (path: string) => {
    await open.go(path)
    await open.page.locator('tbody tr').first().waitFor()
  }

  test('a view is saved, opened from its menu, changed, and deleted', async () => {
    await show(`${articles}?state=changed&sort=title:desc`)
    const views = open.page.getByRole('button', { name: 'Views', exact: true })
    await views.click()
    await open.page.getByRole('menuitem', { name: 'Save as a view…' }).click()
    await open.page.getByRole('textbox', { name: 'Name' }).fill('To look at')
    await open.page.keyboard.press('Enter')
    await open.page.getByRole('button', { name: 'To look at', exact: true }).waitFor()
    await show(articles)
    await views.click()
    await open.page.getByRole('menuitemradio', { name: 'To look at' }).click()
    await open.page.waitForURL(/view=\d+/)
    expect(address()).toMatch(/sort=title:desc&state=changed|sort=title:desc&view=\d+&state=changed/)
    await open.page.getByRole('link', { name: /^All/ }).click()
    await open.page.getByRole('button', { name: 'To look at (changed)' }).click()
    await open.page.getByRole('menuitem', { name: 'Save changes' }).click()
    const named = (name: string) => open.page.getByRole('button', { name, exact: true })
    await named('To look at').waitFor()
    const rowHeight = async () => (await open.page.locator('tbody tr').first().boundingBox())!.height
    const usual = await rowHeight()
    await named('Columns and density').click()
    await open.page.getByRole('menuitemradio', { name: 'Compact' }).click()
    await open.page.waitForURL(/density=compact/)
    await eventually(rowHeight).toBeLessThan(usual)
    await named('To look at (changed)').click()
    await open.page.getByRole('menuitem', { name: 'Save changes' }).click()
    await show(articles)
    expect(await rowHeight()).toBe(usual)
    await views.click()
    await open.page.getByRole('menuitemradio', { name: 'To look at' }).click()
    await eventually(rowHeight).toBeLessThan(usual)

    await named('To look at').click()
    await open.page.getByRole('menuitem', { name: 'Rename or share…' }).click()
    await open.page.getByRole('textbox', { name: 'Name' }).fill('Looked at')
    await open.page.getByRole('button', { name: /Only me/ }).click()
    await open.page.getByRole('option', { name: 'Everybody' }).click()
    await named('Save view').click()
    await named('Looked at').waitFor()
    const { accessToken: token } = await signInAdmin(served, ada)
    const { body } = await requestAdmin(served, '/views?type=api::article.article', { token })
    expect(body.data).toMatchObject([{ name: 'Looked at', visibility: 'everybody', density: 'compact' }])

    await named('Looked at').click()
    await open.page.getByRole('menuitem', { name: 'Delete view…' }).click()
    await open.page.getByRole('alertdialog').getByRole('button', { name: 'Delete view' }).click()
    await views.waitFor()
    open.expectNoProblems()
  })

  test('a shared view is offered to those with its role, and only its owner changes and deletes it', async () => {
    const people = { ana: 'views-a', ben: 'views-a', cleo: 'views-b' }
    for (const role of new Set(Object.values(people)))
      await allowAdmins(served, role, 'plugin::content-manager.explorer.read api::letter.letter')
    const opened: OpenPage[] = []
    for (const [firstname, role] of Object.entries(people)) {
      const email = `${firstname}@example.com`
      await addAdministrator(served, email, [role], { firstname, lastname: 'Archer' })
      opened.push(await openPage(served, email))
    }
    const [ana, ben, cleo] = opened as [OpenPage, OpenPage, OpenPage]
    for (const one of opened) {
      await one.go(letters)
      await one.page.locator('tbody tr').first().waitFor()
    }
    const button = ({ page }: OpenPage, name: string) => page.getByRole('button', { name, exact: true })
    const item = ({ page }: OpenPage, name: string) => page.getByRole('menuitem', { name })
    const view = ({ page }: OpenPage) => page.getByRole('menuitemradio', { name: /^For editors/ })
    // Everybody has opened the menu before there is a view.
    for (const one of opened) {
      await button(one, 'Views').click()
      await item(one, 'Save as a view…').waitFor()
      await one.page.keyboard.press('Escape')
    }
    const share = async (open: () => Promise<void>, before: string, after: string) => {
      await open()
      await ana.page.getByRole('button', { name: new RegExp(before) }).click()
      await ana.page.getByRole('option', { name: after }).click()
      await button(ana, 'Save view').click()
    }
    await ana.page.getByRole('link', { name: /^Changed/ }).click()
    await share(
      async () => {
        await button(ana, 'Views').click()
        await item(ana, 'Save as a view…').click()
        await ana.page.getByRole('textbox', { name: 'Name' }).fill('For editors')
      },
      'Only me',
      'My roles',
    )
    const offered = async (one: OpenPage, current: string) => {
      const answered = one.page.waitForResponse(/\/admin\/api\/views/)
      await button(one, current).click()
      const { data } = (await (await answered).json()) as { readonly data: readonly unknown[] }
      await eventually(() => one.page.getByRole('menuitemradio').count()).toBe(data.length)
      return data.length
    }
    await button(ana, 'For editors').waitFor()
    expect(await offered(cleo, 'Views')).toBe(0)
    await cleo.page.keyboard.press('Escape')
    expect(await offered(ben, 'Views')).toBe(1)
    expect(await view(ben).textContent()).toContain('ana Archer')
    await view(ben).click()
    await ben.page.waitForURL(/state=changed/)
    await offered(ben, 'For editors')
    for (const name of ['Rename or share…', 'Delete view…', 'Save changes']) expect(await item(ben, name).count()).toBe(0)
    await ben.page.keyboard.press('Escape')

    await ana.page.getByRole('link', { name: /^Drafts/ }).click()
    await button(ana, 'For editors (changed)').click()
    await item(ana, 'Save changes').click()
    await button(ana, 'For editors').waitFor()
    await ben.go(letters)
    await offered(ben, 'Views')
    await view(ben).click()
    await ben.page.waitForURL(/state=draft/)

    await share(
      async () => {
        await button(ana, 'For editors').click()
        await item(ana, 'Rename or share…').click()
      },
      'My roles',
      'Everybody',
    )
    await ana.page.getByText('You do not have permission to share views with everybody.').waitFor()
    await allowAdmins(served, 'views-a', 'plugin::content-manager.collection-types.configure-view')
    await button(ana, 'Save view').click()
    await ana.page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await offered(cleo, 'Views')).toBe(1)
    await cleo.page.keyboard.press('Escape')
    await button(ana, 'For editors').click()
    await item(ana, 'Delete view…').click()
    await ana.page.getByRole('alertdialog').getByRole('button', { name: 'Delete view' }).click()
    await button(ana, 'Views').waitFor()
    expect(await offered(cleo, 'Views')).toBe(0)
    for (const one of opened) {
      one.expectNoProblems(/status of 403/)
      await one.close()
    }
  })
})
