// Addresses of previews: templates, functions and handlers of Strapi, made of what an administrator may read.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { loadConfig } from '../../src/foundation/config/config.js'
import { addAdministrator, allowAdmins, requestAdmin, signInAdmin } from '../support/administration.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject } from '../support/serve.js'
import { secrets } from './callers.js'
import { type AdminClient, giveRights, newsroomRoles, serveNewsroom, signInClient, story, writer } from './newsroom.js'

const site = 'https://www.example.org'
const preview = {
  url: { [story]: `${site}/{locale}/stories/{slug}?status={status}#{documentId}`, [writer]: '/writers/{locale}/{name}' },
  origins: ['https://preview.example.org'],
}

let served: Served
let ada: AdminClient
beforeAll(async () => {
  served = await serveNewsroom({ config: { limits: { authRateLimit: 1_000 }, admin: { preview } } })
  ada = await signInClient(served, 'ada@office.example')
})
afterAll(() => served?.close())

async function make(type: string, data: object, locale = ''): Promise<string> {
  const { status, body, text } = await ada.send('POST', `/content/${type}${locale === '' ? '' : `?locale=${locale}`}`, { data })
  if (status !== 201) throw new Error(text)
  return body.data.documentId
}
const find = (client: AdminClient, type: string, id: string, query = '') => client.get(`/content/${type}/${id}/preview${query}`)

/** A folder with files; JSON values are written as JSON. */
function folderOf(files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-preview-'))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return folder
}

rule('administration-preview.1', 'a setting that cannot be used ends the start with a sentence about it', async () => {
  const problemOf = async (given: unknown) =>
    loadConfig(folderOf({ 'octavo.config.json': { admin: { preview: given } } }), {}).then(
      ({ admin }) => admin.preview,
      (error: Error) => error.message,
    )
  for (const [given, problem] of [
    [{ url: 'www.example.org/{slug}' }, '"www.example.org/{slug}" is not an address like https://www.example.org/articles/{slug}'],
    [{ url: 'https://{slug}.example.org/' }, 'is not an address like'],
    [{ url: 'https://ada:x@example.org/' }, 'is not an address like'],
    [{ url: 'javascript:alert(1)' }, 'is not an address like'],
    [{ url: '//www.example.org/{slug}' }, 'is not an address like'],
    [{ url: '/\\www.example.org/{slug}' }, 'is not an address like'],
    [{ url: { 'api::note.note': '/notes/{the slug}' } }, 'has {the slug}, which is not the name of an attribute'],
    [{ url: '/notes/{slug' }, 'has a brace without the other one'],
    [{ url: 7 }, 'must be a template, templates by the uids of types, or a function'],
    [{ url: '/a', origins: ['https://www.example.org/'] }, 'did you mean "https://www.example.org"?'],
    [{ url: '/a', origins: ['*'] }, '"*" is not the origin of a website'],
    [{ url: '/a', origins: ['app://site'] }, '"app://site" is not the origin of a website'],
    [{ url: '/a', origin: [] }, 'did you mean "origins"?'],
    [{}, 'must be a template'],
  ] as const)
    expect([given, await problemOf(given)]).toEqual([given, expect.stringContaining(problem)])
  expect(await problemOf({ url: `${site}:443/{slug}` })).toEqual({ url: `${site}:443/{slug}`, origins: [site], isOwn: false })
  expect(await problemOf({ url: '/{slug}' })).toEqual({ url: '/{slug}', origins: [], isOwn: true })
  expect(await problemOf(undefined)).toBeNull()
})

rule('administration-preview.1', 'types and attributes are those of the model', async () => {
  const starting = (url: unknown) =>
    serveNewsroom({ config: { admin: { preview: { url: url as string } } } }).then((other) => other.close())
  await expect(starting({ 'api::storie.storie': '/' })).rejects.toThrow('there is no type api::storie.storie')
  await expect(starting({ [story]: '/{slugg}' })).rejects.toThrow(`${story} has no attribute slugg; did you mean "slug"?`)
  await expect(starting({ [story]: '/{writer}' })).rejects.toThrow(`writer of ${story} has no plain values`)
  await expect(starting({ [story]: '/{extra}' })).rejects.toThrow(`extra of ${story} has no plain values`)
  await expect(starting('/{nothing}')).rejects.toThrow('no type has all attributes of "/{nothing}"')
})

rule('administration-preview.2', 'an address has the values of the version that is asked for', async () => {
  const id = await make(story, { title: 'Ä wall', slug: 'a-wall' })
  expect((await find(ada, story, id)).body.data).toEqual({
    url: `${site}/en/stories/a-wall?status=draft#${id}`,
    missing: null,
    origins: [site, 'https://preview.example.org'],
  })
  expect((await find(ada, story, id, '?status=published')).status).toBe(404)
  expect((await find(ada, story, id, '?locale=de')).status).toBe(404)
  expect((await find(ada, story, id, '?locale=fr')).status).toBe(400)
  expect((await find(ada, story, id, '?status=any')).status).toBe(400)
  expect((await find(ada, story, 'nothing')).status).toBe(404)
  const head = await ada.get(`/content/${story}/${id}`)
  await ada.send('POST', `/content/${story}/${id}/publish`, undefined, { 'if-match': head.headers.get('etag')! })
  const changed = await ada.get(`/content/${story}/${id}`)
  await ada.send('PATCH', `/content/${story}/${id}`, { changes: { slug: 'the-wall' } }, { 'if-match': changed.headers.get('etag')! })
  const urls = await Promise.all(
    ['draft', 'published'].map(async (status) => (await find(ada, story, id, `?status=${status}`)).body.data.url),
  )
  expect(urls).toEqual([`${site}/en/stories/the-wall?status=draft#${id}`, `${site}/en/stories/a-wall?status=published#${id}`])
  const person = await make(writer, { name: '../Å & B/?' })
  expect((await find(ada, writer, person)).body.data.url).toBe('/writers/en/..%2F%C3%85%20%26%20B%2F%3F')
})

rule('administration-preview.2', 'an attribute without value is named, and a type without preview has none', async () => {
  const id = await make(story, { title: 'Untold' }, 'de')
  await served.sql('UPDATE stories SET slug = NULL WHERE document_id = ?', id)
  expect((await find(ada, story, id, '?locale=de')).body.data).toMatchObject({ url: null, missing: 'slug' })
  const remark = await make('api::remark.remark', { body: 'yes' })
  expect((await find(ada, 'api::remark.remark', remark)).status).toBe(404)
  const previewed = async (type: string) => (await ada.get(`/types/${type}`)).body.data.previewed
  expect([await previewed(story), await previewed(writer), await previewed('api::remark.remark')]).toEqual([true, true, false])
})

rule('administration-preview.3', 'an address has nothing that the administrator may not read', async () => {
  const id = await make(story, { title: 'Hidden slug', slug: 'hidden-slug' })
  const clients: Record<string, AdminClient> = {}
  for (const code of ['fields', 'german', 'author', 'blind', 'reader']) {
    await giveRights(served, code, newsroomRoles[code]!)
    clients[code] = await signInClient(served, `${code}@office.example`, [code])
  }
  const answer = async (code: string) => {
    const { status, body, text } = await find(clients[code]!, story, id)
    expect(text.includes('hidden-slug')).toBe(code === 'reader')
    return [status, body.data?.missing ?? null]
  }
  expect(await answer('reader')).toEqual([200, null])
  expect(await answer('fields')).toEqual([200, 'slug'])
  expect((await answer('german'))[0]).toBe(404)
  expect((await answer('author'))[0]).toBe(404)
  expect((await answer('blind'))[0]).toBe(403)
})

const notes = (more: Readonly<Record<string, unknown>>) => ({
  'src/api/note/content-types/note/schema.json': {
    kind: 'collectionType',
    collectionName: 'notes',
    info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
    options: { draftAndPublish: false },
    attributes: {
      title: { type: 'string' },
      secret: { type: 'string' },
      next: { type: 'relation', relation: 'oneToOne', target: 'api::note.note' },
    },
  },
  ...more,
})
const note = 'api::note.note'

/** Serves notes with two documents, and administrators with all rights and with the right to read titles. */
async function withNotes(
  more: Readonly<Record<string, unknown>>,
  work: (address: (title: string, email?: string) => Promise<readonly [number, unknown]>, other: Served) => Promise<void>,
): Promise<void> {
  const other = await serveProject(notes(more), { environment: secrets })
  try {
    await addAdministrator(other, 'ada@notes.example')
    await addAdministrator(other, 'bo@notes.example', ['titles'])
    await giveRights(other, 'titles', [{ action: 'read', subject: note, properties: { fields: ['title'] } }])
    await allowAdmins(other, 'titles', 'plugin::content-manager.explorer.update nothing')
    const tokens = new Map<string, string>()
    for (const email of ['ada@notes.example', 'bo@notes.example']) tokens.set(email, (await signInAdmin(other, email)).accessToken)
    const ids = new Map<string, string>()
    const address = async (title: string, email = 'ada@notes.example') => {
      const id =
        ids.get(title) ??
        (
          await requestAdmin(other, `/content/${note}`, {
            method: 'POST',
            token: tokens.get('ada@notes.example')!,
            body: { data: { title, secret: `secret of ${title}` } },
          })
        ).body.data.documentId
      ids.set(title, id)
      const path = `/admin/api/content/${note}/${id}/preview`
      const { status, body } = await other.request(path, { token: tokens.get(email)! })
      return [status, body.data?.url ?? body.error?.message ?? null] as const
    }
    await work(address, other)
  } finally {
    await other.close()
  }
}

rule('administration-preview.4', 'a function names the address, with what the administrator may read', async () => {
  const config = `export default {
    limits: { hookTimeout: 300 },
    admin: { preview: { origins: ['${site}'], url: async ({ type, documentId, locale, status, document, findOne }) => {
      if (document.title === 'none') return null
      if (document.title === 'slow') return new Promise(() => {})
      if (document.title === 'fault') throw new TypeError('no')
      if (document.title === 'number') return 7
      if (document.title === 'refuse') throw Object.assign(new Error('Not today'), { name: 'ForbiddenError' })
      if (document.title === 'elsewhere') return 'https://elsewhere.example/'
      if (document.title === 'own') return '/notes'
      if (document.title === 'script') return 'javascript:alert(1)'
      const found = await findOne(type, { documentId })
      return '${site}/' + [document.title, document.secret, found.secret, locale, status, await findOne(type, { documentId: 'x' })].join()
    } } },
  }`
  await withNotes({ 'octavo.config.mjs': config }, async (address, other) => {
    expect(await address('a')).toEqual([200, `${site}/a,secret%20of%20a,secret%20of%20a,,draft,`])
    expect(await address('a', 'bo@notes.example')).toEqual([200, `${site}/a,,,,draft,`])
    expect(await address('none')).toEqual([200, null])
    expect((await address('slow'))[0]).toBe(503)
    expect(await address('refuse')).toEqual([403, 'Not today'])
    for (const title of ['fault', 'number', 'elsewhere', 'own', 'script']) expect([title, (await address(title))[0]]).toEqual([title, 500])
    expect(other.log.join('\n')).toContain('the preview of api::note.note failed')
    expect(other.log.join('\n')).toContain('is at https://elsewhere.example, which admin.preview.origins does not have')
  })
})

rule('administration-preview.5', 'paths of this service are addresses where nothing else is', async () => {
  const config = `export default { url: 'http://localhost:1337/cms', admin: { preview: { url: ({ document }) => document.title } } }`
  await withNotes({ 'octavo.config.mjs': config }, async (address) => {
    expect(await address('/notes/a b')).toEqual([200, '/cms/notes/a b'])
    expect((await address('//www.example.org'))[0]).toBe(500)
    expect((await address(`${site}/`))[0]).toBe(500)
  })
})

rule('administration-preview.6', 'the page may have frames of the previews alone', async () => {
  const framesOf = async (other: Served) =>
    /frame-src ([^;]*);/.exec(
      (await other.request('/admin', { headers: { accept: 'text/html' } })).headers.get('content-security-policy')!,
    )?.[1]
  expect(await framesOf(served)).toBe(`'self' ${site} https://preview.example.org`)
  await withNotes({ 'octavo.config.json': { admin: { preview: { url: `${site}/{title}` } } } }, async (_, other) => {
    expect(await framesOf(other)).toBe(site)
  })
  await withNotes({}, async (_, other) => {
    expect(await framesOf(other)).toBeUndefined()
  })
})

const handlerFile = `module.exports = ({ env }) => ({
  preview: { enabled: env.bool('PREVIEW', true), config: {
    allowedOrigins: env('CLIENT_URL', '${site}/'),
    async handler(uid, { documentId, locale, status }) {
      const document = await strapi.documents(uid).findOne({ documentId, fields: ['title'] })
      if (document.title === 'none') return null
      if (document.title === 'query') return strapi.db.query(uid)
      return '${site}/api/preview?' + new URLSearchParams({ url: '/' + document.title, status })
    },
  } },
})`

rule('administration-preview.7', 'the handler of a project of Strapi is called', async () => {
  const strapi = { 'package.json': { dependencies: { '@strapi/strapi': '5.54.0' } } }
  await withNotes({ ...strapi, 'config/admin.js': handlerFile }, async (address, other) => {
    expect(await address('a')).toEqual([200, `${site}/api/preview?url=%2Fa&status=draft`])
    expect(await address('a', 'bo@notes.example')).toEqual([200, `${site}/api/preview?url=%2Fa&status=draft`])
    expect(await address('none')).toEqual([200, null])
    expect((await address('query'))[0]).toBe(500)
    expect(other.log.join('\n')).not.toContain('is not used')
  })
  const read = async (files: Readonly<Record<string, unknown>>, environment = {}) => {
    const { admin, warnings } = await loadConfig(folderOf({ ...strapi, ...files }), environment)
    return [admin.preview?.origins ?? null, warnings.filter((warning) => warning.includes('preview'))]
  }
  expect(await read({ 'config/admin.js': handlerFile }, { PREVIEW: 'false' })).toEqual([null, []])
  expect(await read({ 'config/admin.js': `throw new Error('never run') // preview` })).toEqual([null, []])
  expect(await read({ 'config/admin.js': `throw new Error('broken') // preview handler` })).toEqual([
    null,
    [expect.stringMatching(/broken.*Set admin.preview/)],
  ])
  expect(await read({ 'config/admin.js': handlerFile }, { CLIENT_URL: 'site' })).toEqual([
    null,
    [expect.stringContaining('"site" is not an origin')],
  ])
  expect(await read({ 'config/admin.js': handlerFile, 'octavo.config.json': { admin: { preview: { url: '/{title}' } } } })).toEqual([
    [],
    [],
  ])
})
