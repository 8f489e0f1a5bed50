// A database whose own character set is not utf8mb4, as hosts make it: no text becomes another one.
import { expect, it } from 'vitest'
import { describeMariadb, environmentOf } from '../servers/server.js'
import { serveProject } from '../support/serve.js'

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

describeMariadb('a database in latin1', (server) => {
  it('keeps every text in JSON, refuses what a column cannot hold, and finds only what is asked for', async () => {
    const url = await server().createDatabase()
    await server().run(url, 'alter database character set latin1')
    const served = await serveProject(files, { environment: environmentOf(url) })
    try {
      const create = (data: object) =>
        served.ask('/api/notes', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ data }),
        })
      const kept = await create({ title: 'Größe', data: { place: '日本 🜁' } })
      expect([kept.status, kept.body.data]).toMatchObject([201, { title: 'Größe', data: { place: '日本 🜁' } }])
      expect((await create({ title: '日本' })).status).toBe(400)
      expect((await create({ title: '??' })).status).toBe(201)
      const none = await served.ask(`/api/notes?filters[title]=${encodeURIComponent('日本')}`)
      expect(none.status, none.text).toBe(400)
      expect((await served.ask(`/api/notes?filters[title]=${encodeURIComponent('Größe')}`)).body.data).toHaveLength(1)
    } finally {
      await served.close()
    }
  })
})
