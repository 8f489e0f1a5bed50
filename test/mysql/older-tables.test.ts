// Tables in the character set of an older database, which has no room for every character (R26): what does not fit is refused, nothing is stored
// as another text, and all that is there can be read, filtered and searched.
import { expect, it } from 'vitest'
import { describeMariadb, environmentOf } from '../servers/server.js'
import { serveExisting, serveProject } from '../support/serve.js'

const actions = ['find', 'create', 'update', 'publish']
const attributes = { title: { type: 'string' }, text: { type: 'text' } }

const files = {
  'src/api/note/content-types/note/schema.json': {
    kind: 'collectionType',
    collectionName: 'notes',
    info: { singularName: 'note', pluralName: 'notes', displayName: 'note' },
    options: { draftAndPublish: true },
    attributes: {
      ...attributes,
      slug: { type: 'uid' },
      data: { type: 'json' },
      parts: { type: 'component', component: 'note.part', repeatable: true },
      zone: { type: 'dynamiczone', components: ['note.part'] },
    },
  },
  'src/components/note/part.json': { collectionName: 'components_note_parts', info: { displayName: 'part' }, attributes },
  'seed/access.json': { roles: { public: actions.map((action) => `api::note.note.${action}`) } },
}

const emoji = 'fire 🜂 and air 🜁'

describeMariadb('a database of an older server', (server) => {
  it.each([
    ['utf8mb3', 'Größe 日本'],
    ['latin1', 'Größe é'],
  ])('R26 in %s refuses other characters and loses none', async (set, fitting) => {
    const url = await server().createDatabase()
    await server().run(url, `alter database character set ${set}`)
    const first = await serveProject(files, { environment: environmentOf(url) })
    // New tables hold every character. Those of an older server are in its own set, but for JSON.
    const older = ['title varchar(255)', 'text longtext'].map((column) => `modify ${column} character set ${set}`).join(', ')
    for (const table of ['notes', 'components_note_parts']) await server().run(url, `alter table ${table} ${older}`)
    const served = await serveExisting(first, environmentOf(url))
    const send = (method: string, path: string, data: object) =>
      served.request(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) })
    const rows = () => served.sql('select (select count(*) from notes) as notes, (select count(*) from components_note_parts) as parts')
    try {
      const own = { title: fitting, text: fitting, data: { text: emoji }, parts: [{ title: fitting }, { text: fitting }] }
      const created = await send('POST', '/api/notes?status=published&populate=*', {
        ...own,
        zone: [{ __component: 'note.part', text: fitting }],
      })
      expect(created.status, created.text).toBe(201)
      expect(created.body.data).toMatchObject({ ...own, zone: [{ text: fitting }] })
      const before = await rows()
      const { documentId } = created.body.data
      for (const data of [
        ...['title', 'text'].map((name) => ({ [name]: emoji })),
        { parts: [{ title: fitting }, { title: emoji }] },
        { parts: [{ text: emoji }] },
        { zone: [{ __component: 'note.part', text: emoji }] },
      ])
        for (const [method, path] of [
          ['POST', '/api/notes'],
          ['PUT', `/api/notes/${documentId}?status=published`],
        ] as const) {
          const { status, body } = await send(method, path, data)
          expect({ status, name: body.error?.name }, `${method} ${JSON.stringify(data)}`).toEqual({ status: 400, name: 'ValidationError' })
        }
      expect(await rows()).toEqual(before)
      for (const status of ['draft', 'published']) {
        const { body } = await served.request(`/api/notes?status=${status}&populate=*`)
        expect(body.data).toHaveLength(1)
        expect(body.data[0]).toMatchObject({ ...own, zone: [{ text: fitting }] })
      }
      for (const query of [
        `filters[title]=${emoji}`,
        `filters[parts][text][$contains]=🜁`,
        `filters[text][$in][0]=${emoji}`,
        '_q=🜁',
        'filters[title][$startsWithi]=🜁',
      ]) {
        const { status, text, body } = await served.request(`/api/notes?${encodeURI(query)}`)
        if (status !== 400) expect({ status, data: body.data }, `${query}: ${text}`).toEqual({ status: 200, data: [] })
      }
      for (const query of [`filters[title]=${fitting}`, `filters[parts][text][$contains]=${fitting.slice(2)}`, `_q=${fitting}`])
        expect((await served.request(`/api/notes?${encodeURI(query)}`)).body.data, query).toHaveLength(1)
    } finally {
      await served.close()
      await first.close()
    }
  })
})
