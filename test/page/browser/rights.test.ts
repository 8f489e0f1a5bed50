// The editor of documents in a browser for roles with some languages or some fields: it offers and sends nothing that would be refused.
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addAdministrator, allowAdmins, requestAdmin, signInAdmin } from '../../support/administration.js'
import { describeWith } from '../../support/describe-with.js'
import type { Served } from '../../support/serve.js'
import { patience } from '../../support/until.js'
import { ada, type OpenPage, openPage, servePage } from './page.js'

const type = 'api::article.article'
const summary = 'A mill at the sea, and a wheel that turns only at night.'
const text = { __component: 'block.text', heading: 'The wheel', body: 'It turns.' }

describeWith(['Chromium'], 'rights in the editor', () => {
  let served: Served
  let token: string
  let open: OpenPage
  let page: Page

  beforeAll(async () => {
    served = await servePage()
  })
  afterAll(() => served?.close())
  beforeEach(async () => {
    token = (await signInAdmin(served, ada)).accessToken
  })

  const api = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    requestAdmin(served, path, { method, token, body, headers })
  const create = async (data: object, german?: object): Promise<string> => {
    const slug = `mill-${Date.now()}`
    const { documentId } = (await api('POST', `/content/${type}?locale=en`, { data: { slug, summary, ...data } })).body.data
    const changes = { slug: `${slug}-de`, summary, ...german }
    if (german !== undefined) await api('PATCH', `/content/${type}/${documentId}?locale=de`, { changes }, { 'if-none-match': '*' })
    return documentId
  }
  const draftOf = async (document: string, locale = 'en') =>
    (await api('GET', `/content/${type}/${document}?locale=${locale}`)).body.data.draft
  /** Opens the page for a role with rights, by action. */
  const openAs = async (role: string, rights: Readonly<Record<string, object>>, subject = type) => {
    await addAdministrator(served, `${role}@example.com`, [role])
    for (const [name, properties] of Object.entries(rights)) {
      const action = `plugin::content-manager.explorer.${name}`
      await allowAdmins(served, role, `${action} ${subject}`)
      const given = [JSON.stringify(properties), action, subject, '{}'] as const
      await served.sql('update admin_permissions set properties = ? where action = ? and subject = ? and properties = ?', ...given)
    }
    open = await openPage(served, `${role}@example.com`)
    page = open.page
    page.setDefaultTimeout(patience.timeout)
  }
  const field = (name: string, within: Page | Locator = page) => within.getByRole('textbox', { name }).first()
  const openDocument = async (address: string) => {
    await open.go(`/content/${type}/${address}`)
    await field('Title').waitFor()
  }
  const menuItems = async () => {
    await page.getByRole('button', { name: 'More actions' }).click()
    const items = await page.getByRole('menuitem').allTextContents()
    await page.keyboard.press('Escape')
    return items
  }

  test('whoever may not change a document is told once, not at each field', async () => {
    await openAs('reader', { read: { fields: ['title', 'kicker', 'summary'], locales: ['en'] } })
    await openDocument(await create({ title: 'The mill' }))
    await page.getByText('Read only').first().waitFor()
    expect(await page.getByText('Read only').count()).toBe(1)
    expect(await field('Title').isEditable()).toBe(false)
    open.expectNoProblems()
    await open.close()
  })

  test('a language that a role may only read is shown, said to be so once, and neither begun, filled, duplicated nor published', async () => {
    const fields = ['title', 'slug', 'kicker', 'summary', 'extras', 'format']
    const [both, english] = [
      { fields, locales: ['en', 'de'] },
      { fields, locales: ['en'] },
    ]
    await openAs('english', { read: both, create: english, update: english, publish: { locales: ['en'] } })
    const document = await create({ title: 'The mill' }, { title: 'Die Mühle' })
    await openDocument(`${document}?beside=de`)
    const german = page.getByRole('region', { name: 'German' })
    await field('Title', german).waitFor()
    expect(await field('Title', german).isEditable()).toBe(false)
    await expect.poll(() => page.getByText('Read only').count(), patience).toBe(1)
    await field('Kicker', page.getByRole('region', { name: 'English' })).fill('Water')
    await expect.poll(async () => (await draftOf(document)).kicker, patience).toBe('Water')
    await page.getByRole('complementary').getByRole('button', { name: 'Publish' }).click()
    await page.getByRole('dialog').getByText('Ready to publish').waitFor()
    expect(await page.getByRole('dialog').getByRole('checkbox').count()).toBe(0)
    await page.getByRole('dialog').getByRole('button', { name: 'Publish now' }).click()
    await page.getByText('“The mill” was published.').waitFor()
    await openDocument(`${document}?locale=de`)
    await expect.poll(menuItems, patience).toEqual(['History'])
    const untranslated = await create({ title: 'The sea' })
    await openDocument(`${untranslated}?locale=de`)
    await page.getByText('This document has no German version yet.', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: /^Fill from/ }).count()).toBe(0)
    await openDocument('new?locale=de')
    await page.getByText('Read only').waitFor()
    expect(await field('Title').isEditable()).toBe(false)
    for (const [locale, name, count] of [
      ['en', 'The mill', 1],
      ['de', 'Die Mühle', 0],
    ] as const) {
      await open.go(`/content/${type}?locale=${locale}`)
      await page.getByRole('link', { name, exact: true }).first().waitFor()
      await expect.poll(() => page.getByRole('link', { name: 'New', exact: true }).count(), patience).toBe(count)
    }
    open.expectNoProblems()
    await open.close()
  })

  test('fields that a role may not write are neither begun with their defaults, removed, filled nor restored', async () => {
    const writable = ['title', 'kicker', 'seo.metaTitle', 'seo.social.title']
    const locales = ['en', 'de']
    const read = { fields: [...writable, 'slug', 'summary', 'extras', 'format', 'seo.noIndex', 'seo.social.text'], locales }
    await openAs('partly', { read, create: { fields: writable, locales }, update: { fields: writable, locales } })
    await openDocument('new')
    await field('Title').fill('A mill')
    await page.waitForURL((url) => !url.pathname.endsWith('/new'))
    await page.getByText(/^Saved \d/).waitFor()
    const seo = {
      metaTitle: 'Mill',
      noIndex: true,
      metaDescription: `Not for this role. ${summary}`,
      social: { title: 'Mill', text: 'Kept' },
    }
    const document = await create({ title: 'The mill', seo, extras: [text] }, { title: 'Die Mühle', kicker: 'Wasser' })
    await openDocument(document)
    const group = page.getByRole('group', { name: /^Seo/ })
    await group.getByRole('button', { expanded: false }).first().click()
    await field('Meta title', group).fill('The mill at the sea')
    await expect.poll(async () => (await draftOf(document)).seo, patience).toMatchObject({ ...seo, metaTitle: 'The mill at the sea' })
    expect(await page.getByRole('button', { name: /^Remove Seo/ }).count()).toBe(0)
    expect(
      await page
        .getByRole('group', { name: /^Extras/ })
        .getByRole('button', { name: /Paste|Actions for/ })
        .count(),
    ).toBe(0)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Fill from German…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('checkbox', { name: 'Title' }).check()
    expect(await dialog.getByRole('checkbox').count()).toBe(2)
    await dialog.getByRole('button', { name: 'Fill 2 fields' }).click()
    await expect.poll(() => field('Kicker').inputValue(), patience).toBe('Wasser')
    await page.getByRole('button', { name: 'History' }).first().click()
    await dialog.getByRole('listitem').getByRole('button').last().click()
    await dialog.getByRole('button', { name: 'Restore this value' }).first().waitFor()
    expect(await dialog.getByRole('button', { name: 'Restore this value' }).count()).toBe(2)
    await dialog.getByRole('button', { name: 'Restore this version' }).click()
    await expect.poll(async () => (await draftOf(document)).title, patience).toBe('The mill')
    await page.keyboard.press('Escape')
    const bare = await create({ title: 'A bare mill' })
    await openDocument(bare)
    await group.getByRole('button', { name: /Add/ }).click()
    await field('Meta title', group).fill('Begun')
    await expect.poll(async () => (await draftOf(bare)).seo?.metaTitle, patience).toBe('Begun')
    await page.getByText(/^Saved \d/).waitFor()
    open.expectNoProblems()
    await open.close()
  })

  describe('entries of which a role may write only some fields', () => {
    const author = 'api::author.author'
    const fields = ['name', 'slug', 'role', 'links.label']
    const locales = ['en']
    const read = { fields: [...fields, 'links.url', 'links.newWindow'], locales }
    const links = [
      { label: 'Diary', url: 'https://diary.example', newWindow: true },
      { label: 'Shop', url: 'https://shop.example', newWindow: false },
    ]
    const group = () => page.getByRole('group', { name: /^Links/ })
    const linksOf = async (document: string) =>
      (await api('GET', `/content/${author}/${document}?locale=en`)).body.data.draft.links.map(
        ({ label, url, newWindow }: (typeof links)[number]) => [label, url, newWindow],
      )
    const openAuthor = async (name: string) => {
      const data = { name, slug: name.toLowerCase(), role: 'Writer', links }
      const { documentId } = (await api('POST', `/content/${author}?locale=en`, { data })).body.data
      await open.go(`/content/${author}/${documentId}`)
      await group().waitFor()
      return documentId as string
    }
    const actionsOf = async (entry: string) => {
      await page.getByRole('button', { name: `Actions for ${entry}` }).click()
      const enabled = await page.getByRole('menuitem', { disabled: false }).allTextContents()
      return enabled.map((item) => item.replace(/ Link.*/, ''))
    }

    test('copies have the writable values, and an entry without others can be removed and restored', async () => {
      const update = { fields: [...fields, 'links.url'], locales }
      await openAs('linking', { read, update }, author)
      const document = await openAuthor('Mira')
      expect(await actionsOf('Link 1')).not.toContain('Remove')
      await page.getByRole('menuitem', { name: 'Duplicate' }).click()
      // A copy lacks the values that the role may not write, before it is stored and after it.
      const entries = () => page.getByRole('button', { name: /^Actions for Link/ }).count()
      await expect.poll(entries, patience).toBe(3)
      expect(await actionsOf('Link 2')).toContain('Remove')
      await page.getByRole('menuitem', { name: /^Remove/ }).click()
      await expect.poll(entries, patience).toBe(2)
      await page.getByRole('button', { name: 'Undo' }).first().click()
      await expect.poll(entries, patience).toBe(3)
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      const [first, second] = links.map(({ label, url, newWindow }) => [label, url, newWindow])
      const copy = ['Diary', 'https://diary.example', false]
      await expect.poll(() => linksOf(document), patience).toEqual([first, copy, second])
      await page.getByText(/^Saved \d/).waitFor()
      expect(await actionsOf('Link 2')).toContain('Remove')
      await page.keyboard.press('Escape')
      await expect.poll(() => page.getByRole('menuitem').count(), patience).toBe(0)
      expect(await actionsOf('Link 3')).toContain('Remove')
      await page.getByRole('menuitem', { name: /^Remove/ }).click()
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await expect.poll(() => linksOf(document), patience).toEqual([first, copy])
      await page.getByRole('button', { name: 'Undo' }).first().click()
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await expect.poll(() => linksOf(document), patience).toEqual([first, copy, second])
      open.expectNoProblems()
      await open.close()
    })

    test('a component is removed with all that it has if its other fields and files have no values', async () => {
      const seo = ['seo.metaTitle', 'seo.social.title']
      const seen = ['metaDescription', 'noIndex', 'social.text', 'social.card', 'social.image'].map((name) => `seo.${name}`)
      await openAs('naming', { read: { fields: ['title', ...seo, ...seen], locales }, update: { fields: ['title', ...seo], locales } })
      const remove = () => page.getByRole('button', { name: /^Remove Seo/ })
      const begun = { metaTitle: 'Mill', social: { title: 'Mill' } }
      const bare = await create({ title: 'A mill', seo: begun })
      await openDocument(bare)
      await remove().click()
      await expect.poll(async () => (await draftOf(bare)).seo, patience).toBe(null)
      await openDocument(await create({ title: 'The mill', seo: { ...begun, metaDescription: summary } }))
      await page.getByRole('group', { name: /^Seo/ }).waitFor()
      expect(await remove().count()).toBe(0)
      open.expectNoProblems()
      await open.close()
    })

    test('where entries would lack a required field, none are added', async () => {
      await openAs('labelling', { read, update: { fields, locales } }, author)
      await openAuthor('Nora')
      expect(await actionsOf('Link 2')).not.toContain('Duplicate')
      await page.keyboard.press('Escape')
      expect(
        await group()
          .getByRole('button', { name: /^Add|^Paste/ })
          .count(),
      ).toBe(0)
      open.expectNoProblems()
      await open.close()
    })
  })
})
