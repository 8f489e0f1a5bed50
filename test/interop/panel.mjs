// Strapi's own panel, in a browser, on a database that Octavo's page writes, and the page on a database that the panel writes:
// `node test/interop/panel.mjs [--pictures FOLDER]`. What either has written the other has to open, save and keep; layouts and roles that
// were made in the panel have to hold in the page's API.

import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { temporaryFolder } from '../../bench/launch.mjs'
import { administrator, createAdministrator, openBrowser, pageHeaders, signIn, startPage, startPanel } from '../../bench/panel.mjs'
import { copyDatabase } from '../../bench/servers.mjs'
import { check, say } from './report.mjs'

const { values } = parseArgs({ options: { pictures: { type: 'string' } } })
const database = copyDatabase(temporaryFolder())
const article = 'api::article.article'
const editor = { email: 'part@example.com', password: 'Correct-Horse-8' }

/** Values of every kind that an editor may write. */
const written = {
  title: 'Written by the page',
  summary: 'A summary\nof two lines',
  body: '# A heading\n\nWith **bold** words.',
  content: [
    { type: 'heading', level: 2, children: [{ type: 'text', text: 'Blocks' }] },
    {
      type: 'paragraph',
      children: [
        { type: 'text', text: 'Words, ' },
        { type: 'text', text: 'bold', bold: true },
      ],
    },
    { type: 'list', format: 'unordered', children: [{ type: 'list-item', children: [{ type: 'text', text: 'One' }] }] },
  ],
  rating: 4.25,
  score: 0.5,
  rank: 7,
  views: '9007199254740',
  featured: true,
  metadata: { a: [1, { b: null }], c: 'ü' },
  day: '2026-11-29',
  at: '08:30:00.000',
  starts: '2026-11-29T08:30:00.000Z',
  kind: 'essay',
  tone: 'loud',
  contact: 'somebody@example.com',
  seo: { metaTitle: 'For searches', metaDescription: 'Long enough', noIndex: true },
  sections: [
    { heading: 'First', body: 'Of two', links: [{ label: 'Link', url: 'https://example.com/', external: true }] },
    { heading: 'Second', position: 2 },
  ],
  blocks: [
    { __component: 'blocks.quote', text: 'A quote', cite: 'Somebody' },
    { __component: 'blocks.rich', title: 'Rich', body: '*words*', number: 3, data: { x: 1 } },
    { __component: 'blocks.cta', title: 'Act', link: { label: 'Here', url: '/here' }, more: [{ label: 'There', url: '/there' }] },
  ],
}

/** @param {string} base @param {Readonly<Record<string, string>>} [own] */
function client(base, own = {}) {
  /** @param {string} method @param {string} path @param {unknown} [body] @param {Record<string, string>} [more] */
  return async (method, path, body, more = {}) => {
    const headers = { 'content-type': 'application/json', ...own, ...more }
    const response = await fetch(base + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
    const text = await response.text()
    return { status: response.status, etag: response.headers.get('etag') ?? '', body: text === '' ? null : JSON.parse(text) }
  }
}

/** Requests of the page, signed in. @param {string} origin @param {{ email: string, password: string }} [who] */
const pageClient = async (origin, who) => client(`${origin}/admin/api`, await pageHeaders(origin, who))

/** Values without what a save may change: ids, dates, who saved. @param {any} value @returns {any} */
function comparable(value) {
  if (Array.isArray(value)) return value.map(comparable)
  if (value === null || typeof value !== 'object') return value
  const left = ['id', 'createdAt', 'updatedAt', 'publishedAt', 'createdBy', 'updatedBy', 'status']
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !left.includes(name))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, member]) => [name, comparable(member)]),
  )
}

/** @param {any} one @param {any} other */
function differences(one, other) {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  const text = (/** @type {any} */ value) => JSON.stringify(value) ?? 'nothing'
  return names.filter((name) => text(one[name]) !== text(other[name])).map((name) => `${name}: ${text(one[name])} / ${text(other[name])}`)
}

/** @param {import('playwright-core').Page} page @param {string} name */
async function picture(page, name) {
  if (values.pictures !== undefined) await page.screenshot({ path: join(values.pictures, `${name}.png`), fullPage: true })
}

createAdministrator(database)
const browser = await openBrowser()
const { page } = browser
try {
  // 1. The page writes.
  let server = await startPage(database)
  let ask = await pageClient(server.origin)
  const list = async (/** @type {string} */ uid) => (await ask('GET', `/content/${uid}?limit=3`)).body.data
  const [author] = await list('api::author.author')
  const tags = await list('api::tag.tag')
  const data = { ...written, author: author.documentId, tags: tags.map((/** @type {any} */ tag) => tag.documentId) }
  const made = await ask('POST', `/content/${article}?locale=en`, { data })
  check('the page’s API creates a document with every kind of value', made.status === 201, [JSON.stringify(made.body)])
  const { documentId } = made.body.data
  await signIn(page, server.origin, false)
  await page.goto(`${server.origin}/admin/content/${article}/${documentId}`)
  const title = page.getByRole('textbox', { name: 'title' }).first()
  await title.press('End')
  await title.pressSequentially(' and typed')
  await page.getByText(/^Saved/).waitFor()
  const byPage = comparable((await ask('GET', `/content/${article}/${documentId}?locale=en`)).body.data.draft)
  check('what was typed in the page is stored', byPage.title === 'Written by the page and typed', [byPage.title])
  await picture(page, 'page')
  await server.stop()

  // 2. The panel opens it, and saves it.
  server = await startPanel(database)
  await signIn(page, server.origin, true)
  check('the administrator that Octavo created signs in to the panel', true)
  const address = `${server.origin}/admin/content-manager/collection-types/${article}/${documentId}?plugins[i18n][locale]=en`
  await page.goto(address)
  const panelTitle = page.locator('input[name=title]')
  await panelTitle.waitFor()
  const shown = {
    title: await panelTitle.inputValue(),
    summary: await page.locator('textarea[name=summary]').inputValue(),
    contact: await page.locator('input[name=contact]').inputValue(),
    rank: await page.locator('input[name=rank]').inputValue(),
  }
  const expected = { title: byPage.title, summary: byPage.summary, contact: byPage.contact, rank: '7' }
  check('the panel shows the values', differences(shown, expected).length === 0, differences(shown, expected))
  await picture(page, 'panel')
  await panelTitle.fill('Saved by the panel')
  const saved = page.waitForResponse((response) => response.request().method() === 'PUT' && response.url().includes(documentId))
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  check('the panel saves the document', (await saved).status() === 200, [await (await saved).text()])

  // 3. In the panel: another layout, and a role with rights to a locale and to fields.
  const { body: session } = await client(server.origin)('POST', '/admin/login', administrator)
  const panel = client(server.origin, { authorization: `Bearer ${session.data.token}` })
  const at = `/content-manager/content-types/${article}/configuration`
  const { settings, metadatas, layouts } = (await panel('GET', at)).body.data.contentType
  const edit = [...layouts.edit].reverse()
  // Names of other types' fields are in the response only.
  for (const { list } of Object.values(metadatas)) delete list.mainField
  metadatas.title.edit.label = 'Headline'
  metadatas.title.edit.description = 'Named in the panel'
  metadatas.summary.edit.editable = false
  const configuration = {
    settings: { ...settings, pageSize: 20, defaultSortBy: 'rank', defaultSortOrder: 'DESC' },
    metadatas,
    layouts: { list: ['rank', 'title', 'kind'], edit },
  }
  const configured = await panel('PUT', at, configuration)
  check('the panel’s layout is stored', configured.status === 200, [JSON.stringify(configured.body)])
  const { body: role } = await panel('POST', '/admin/roles', { name: 'Part', description: 'Part of it' })
  const action = (/** @type {string} */ name, /** @type {object} */ properties) => ({
    action: `plugin::content-manager.explorer.${name}`,
    subject: article,
    properties,
    conditions: [],
  })
  const readable = { fields: ['title', 'summary', 'rank', 'seo.metaTitle'], locales: ['en', 'fr'] }
  const permissions = [action('read', readable), action('update', { fields: ['title', 'seo.metaTitle'], locales: ['en'] })]
  const given = await panel('PUT', `/admin/roles/${role.data.id}/permissions`, { permissions })
  check('the panel’s role is stored', given.status === 200, [JSON.stringify(given.body)])
  const invited = await panel('POST', '/admin/users', { email: editor.email, firstname: 'Part', roles: [role.data.id] })
  const { registrationToken } = invited.body.data
  const registered = await panel('POST', '/admin/register', {
    registrationToken,
    userInfo: { firstname: 'Part', password: editor.password },
  })
  check('the panel’s administrator accepts the invitation', registered.status < 300, [JSON.stringify(registered.body)])
  const other = await panel('POST', `/content-manager/collection-types/${article}?plugins[i18n][locale]=en&locale=en`, {
    ...written,
    title: 'Written by the panel',
    slug: 'written-by-the-panel',
  })
  check('the panel’s API creates a document', other.status === 201, [JSON.stringify(other.body)])
  await server.stop()

  // 4. The page reads all of it.
  server = await startPage(database)
  ask = await pageClient(server.origin)
  const opened = await ask('GET', `/content/${article}/${documentId}?locale=en`)
  const byPanel = comparable(opened.body.data.draft)
  const lost = differences({ ...byPage, title: 'Saved by the panel' }, byPanel)
  check('after a save in the panel, the page has every value that it wrote', lost.length === 0, lost)
  const second = await ask('GET', `/content/${article}/${other.body.data.documentId}?locale=en`)
  const wanted = comparable(written)
  const found = comparable(second.body.data.draft)
  const kept = Object.fromEntries(Object.entries(wanted).filter(([name]) => name !== 'title'))
  const missing = partsMissing(kept, found)
  check('the page has every value of a document that the panel wrote', missing.length === 0, missing)
  const saving = await ask(
    'PATCH',
    `/content/${article}/${documentId}?locale=en`,
    { changes: { title: 'Again' } },
    { 'if-match': opened.etag },
  )
  check('the page saves the document once more', saving.status === 200, [JSON.stringify(saving.body)])

  const { layout } = (await ask('GET', `/types/${article}`)).body.data
  const names = (/** @type {any[][]} */ rows) => rows.map((row) => row.map(({ name, size }) => `${name} ${size}`))
  const rows = [JSON.stringify(names(layout.layouts.edit)), JSON.stringify(names(edit))]
  check('fields are in the order and the widths of the panel', rows[0] === rows[1], rows)
  check('the list has the columns of the panel', String(layout.layouts.list) === 'rank,title,kind', [String(layout.layouts.list)])
  check('the list has the order and the length of the panel', layout.settings.pageSize === 20 && layout.settings.defaultSortBy === 'rank', [
    JSON.stringify(layout.settings),
  ])
  check('labels and descriptions are those of the panel', layout.metadatas.title.edit.label === 'Headline', [
    JSON.stringify(layout.metadatas.title),
  ])

  const part = await pageClient(server.origin, editor)
  const type = (await part('GET', `/types/${article}`)).body.data
  const attributes = Object.keys(type.attributes).sort().join()
  check('the panel’s role sees the fields that it may read', attributes === 'rank,seo,summary,title', [attributes])
  const seen = await part('GET', `/content/${article}/${documentId}?locale=en`)
  check('and no others in a document', seen.status === 200 && !('body' in seen.body.data.draft), [JSON.stringify(seen.body)])
  const change = async (/** @type {typeof part} */ send, /** @type {string} */ locale, /** @type {object} */ changes) => {
    const path = `/content/${article}/${documentId}?locale=${locale}`
    const { etag, body } = await send('GET', path)
    return (await send('PATCH', path, { changes }, body?.data?.draft == null ? { 'if-none-match': '*' } : { 'if-match': etag })).status
  }
  for (const locale of ['fr', 'de']) await change(ask, locale, { title: `In ${locale}`, summary: 'Not for everyone' })
  const french = (await part('GET', `/content/${article}/${documentId}?locale=fr`)).body.data?.draft?.title
  check('it reads the other locale that it was given', french === 'In fr', [String(french)])
  const german = await part('GET', `/content/${article}/${documentId}?locale=de`)
  const isHidden = german.status >= 400 || (german.body.data.draft === null && !JSON.stringify(german.body).includes('In de'))
  check('and nothing of a third one', isHidden, [JSON.stringify(german.body)])
  const allowed = await change(part, 'en', { title: 'By part', 'seo/metaTitle': 'By part' })
  check('it writes fields that it was given, in the locale that it was given', allowed === 200, [String(allowed)])
  const refused = {
    'another field': await change(part, 'en', { summary: 'By part' }),
    'a field of a component': await change(part, 'en', { 'seo/metaDescription': 'By part' }),
    'another locale': await change(part, 'fr', { title: 'By part' }),
    'a third locale': await change(part, 'de', { title: 'By part' }),
    'a new document': (await part('POST', `/content/${article}?locale=en`, { data: { title: 'x' } })).status,
  }
  const wrong = Object.entries(refused).filter(([, status]) => ![400, 403, 404].includes(status))
  check(`and nothing else: ${Object.keys(refused).join(', ')}`, wrong.length === 0, wrong.map(String))
  say(
    `      ${Object.entries(refused)
      .map(([what, status]) => `${what} ${status}`)
      .join(', ')}`,
  )
  const still = comparable((await ask('GET', `/content/${article}/${documentId}?locale=en`)).body.data.draft)
  const untouched = differences({ ...byPage, title: 'By part', seo: { ...byPage.seo, metaTitle: 'By part' } }, still)
  check('what it may not see is there as before', untouched.length === 0, untouched)

  await page.goto(`${server.origin}/admin/content/${article}/${documentId}`)
  if (await page.locator('input[type=password]').count()) await signIn(page, server.origin, false)
  await page.getByRole('textbox', { name: 'Headline' }).first().waitFor()
  check('the page shows the label of the panel', true)
  await picture(page, 'page-after-panel')
  await server.stop()
} finally {
  await browser.close()
}
say(process.exitCode ? 'Something differs' : 'The panel and the page agree')

/** Values that a document lacks. @param {any} wanted @param {any} found @param {string} [at] @returns {string[]} */
function partsMissing(wanted, found, at = '') {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(found) || found.length !== wanted.length) return [`${at}: ${JSON.stringify(found)}`]
    return wanted.flatMap((member, index) => partsMissing(member, found[index], `${at}/${index}`))
  }
  if (wanted !== null && typeof wanted === 'object')
    return Object.entries(wanted).flatMap(([name, member]) => partsMissing(member, found?.[name], at === '' ? name : `${at}/${name}`))
  return JSON.stringify(wanted) === JSON.stringify(found) ? [] : [`${at}: ${JSON.stringify(wanted)} / ${JSON.stringify(found)}`]
}
