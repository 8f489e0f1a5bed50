// A database with a character set other than utf8mb4, as hosting providers create it: no text is changed.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeMariadb, environmentOf } from '../servers/server.js'
import { type Served, serveExisting, serveProject } from '../support/serve.js'

const files = {
  'src/api/note/content-types/note/schema.json': {
    kind: 'collectionType',
    collectionName: 'notes',
    info: { singularName: 'note', pluralName: 'notes', displayName: 'note' },
    options: { draftAndPublish: false },
    attributes: { title: { type: 'string' }, data: { type: 'json' } },
  },
  'seed/access.json': { roles: { public: ['find', 'create'].map((action) => `api::note.note.${action}`) } },
}

const tag = {
  kind: 'collectionType',
  collectionName: 'tags',
  info: { singularName: 'tag', pluralName: 'tags', displayName: 'tag' },
  options: { draftAndPublish: true },
  pluginOptions: { i18n: { localized: true } },
  attributes: {
    label: { type: 'string', unique: true, pluginOptions: { i18n: { localized: true } } },
    notes: { type: 'relation', relation: 'manyToMany', target: 'api::note.note' },
  },
}

const creating = (served: Served) => (path: string, data: object) =>
  served.request(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) })

describeMariadb('a database in latin1', (server) => {
  let url: string
  let first: Served
  beforeAll(async () => {
    url = await server().createDatabase()
    await server().run(url, 'alter database character set latin1')
    first = await serveProject(files, { environment: environmentOf(url) })
  })
  afterAll(() => first.close())

  it('gets tables that hold every text', async () => {
    const create = creating(first)
    expect((await create('/api/notes', { title: '日本' })).status).toBe(201)
    const found = await first.request(`/api/notes?filters[title]=${encodeURIComponent('日本')}`)
    expect(found.body.data).toMatchObject([{ title: '日本' }])
    const others = await server().run(
      url,
      "select table_name from information_schema.tables where table_schema = database() and table_collation not like 'utf8mb4%'",
    )
    expect(others).toEqual([])
  })

  it('keeps every text in JSON, refuses unstorable values, and finds exact matches only, in an existing table', async () => {
    await server().run(url, 'delete from notes')
    await server().run(url, 'alter table notes default character set latin1, modify title varchar(255) character set latin1')
    for (const table of ['up_permissions', 'up_roles', 'i18n_locale'])
      await server().run(url, `alter table ${table} convert to character set latin1`)
    await first.service.close()
    mkdirSync(join(first.folder, 'src/api/tag/content-types/tag'), { recursive: true })
    writeFileSync(join(first.folder, 'src/api/tag/content-types/tag/schema.json'), JSON.stringify(tag))
    const served = await serveExisting(first, environmentOf(url))
    try {
      const create = creating(served)
      const kept = await create('/api/notes', { title: 'Größe', data: { place: '日本 🜁' } })
      expect([kept.status, kept.body.data]).toMatchObject([201, { title: 'Größe', data: { place: '日本 🜁' } }])
      expect((await create('/api/notes', { title: '日本' })).status).toBe(400)
      expect((await create('/api/notes', { title: '??' })).status).toBe(201)
      const none = await served.request(`/api/notes?filters[title]=${encodeURIComponent('日本')}`)
      expect(none.status, none.text).toBe(400)
      expect((await served.request(`/api/notes?filters[title]=${encodeURIComponent('Größe')}`)).body.data).toHaveLength(1)
      // A new table next to it, and comparisons between both.
      const tags = served.service.documents('api::tag.tag')
      await tags.create({ data: { label: '日本', notes: [kept.body.data.documentId] }, status: 'published' })
      await expect(tags.create({ data: { label: '日本' }, status: 'published' })).rejects.toThrow(/unique/)
      const found = await tags.findMany({
        filters: { notes: { title: 'Größe' } },
        populate: ['notes'],
        sort: 'notes.title',
        status: 'published',
      })
      expect(found).toMatchObject([{ label: '日本', notes: [{ title: 'Größe' }] }])
      expect(await tags.findMany({ filters: { notes: { documentId: kept.body.data.documentId } }, locale: 'en' })).toHaveLength(1)
    } finally {
      await served.close()
    }
  })
})
