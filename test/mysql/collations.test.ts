// A database whose collation ignores case. Texts in Octavo's tables are compared by character: names and keys that differ only in case,
// or in spaces at their ends, are different. A locale in another spelling is the locale that the document has, in writes as in reads.
import { expect, it } from 'vitest'
import { describeMariadb, environmentOf } from '../servers/server.js'
import { access, contentType } from '../spec/library.js'
import { serveProject } from '../support/serve.js'

const actions = ['find', 'findOne', 'create', 'update', 'delete']
const localizedNotes = {
  ...contentType(
    'note',
    { title: { type: 'string', pluginOptions: { i18n: { localized: true } } } },
    { draftAndPublish: true, localized: true },
  ),
  ...access(actions.map((action) => `api::note.note.${action}`)),
}

describeMariadb('a database whose collation ignores case', (server) => {
  it('none of the columns of Octavo does', async () => {
    const url = await server().createDatabase()
    await server().run(url, 'alter database character set utf8mb4 collate utf8mb4_general_ci')
    const served = await serveProject({}, { environment: environmentOf(url) })
    try {
      const columns = await served.sql(
        `select table_name as "table", column_name as "column", collation_name as "collation" from information_schema.columns
          where table_schema = database() and table_name like 'octavo%' and collation_name is not null`,
      )
      expect(columns.length).toBeGreaterThan(20)
      expect(columns.filter(({ collation }) => !/_bin$/.test(collation))).toEqual([])
      for (const name of ['a', 'A', 'a '])
        await served.sql('insert into octavo_consumers (name, sequence, paused_until) values (?, 1, 0)', name)
      expect(await served.sql('select name from octavo_consumers where name = ?', 'A')).toEqual([{ name: 'A' }])
    } finally {
      await served.close()
    }
  })

  it('locale.2 means the version of the document by a locale in another spelling, in writes too', async () => {
    const url = await server().createDatabase()
    await server().run(url, 'alter database character set utf8mb4 collate utf8mb4_general_ci')
    const served = await serveProject(localizedNotes, {
      environment: environmentOf(url),
      config: { api: { rest: { contract: 'strapi' } } },
    })
    const send = (method: string, path: string, title?: string) => {
      const body = title === undefined ? {} : { body: JSON.stringify({ data: { title } }) }
      return served.request(`/api/notes${path}`, { method, headers: { 'content-type': 'application/json' }, ...body })
    }
    const rows = () =>
      served.sql('select locale, title, count(*) as count from notes where title is not null group by locale, title order by locale, title')
    try {
      const { documentId } = (await send('POST', '', 'one')).body.data
      expect((await send('PUT', `/${documentId}?locale=fr`, 'un')).body.data).toMatchObject({ locale: 'fr', title: 'un' })
      for (const [locale, title] of [
        ['FR', 'deux'],
        ['fr%20', 'trois'],
      ]) {
        const changed = await send('PUT', `/${documentId}?locale=${locale}`, title)
        expect(changed.body.data, locale).toMatchObject({ documentId, locale: 'fr', title })
      }
      expect((await send('PUT', `/${documentId}?locale=EN`, 'two')).body.data).toMatchObject({ locale: 'en', title: 'two' })
      expect(await rows()).toEqual([
        { locale: 'en', title: 'two', count: 2 },
        { locale: 'fr', title: 'trois', count: 2 },
      ])
      expect((await send('DELETE', `/${documentId}?locale=FR`)).status).toBe(204)
      expect(await rows()).toEqual([{ locale: 'en', title: 'two', count: 2 }])
      // A new document keeps its original spelling, as in Strapi.
      const other = (await send('POST', '?locale=EN', 'other')).body.data
      expect(other.locale).toBe('EN')
      expect((await send('PUT', `/${other.documentId}`, 'changed')).body.data).toMatchObject({ locale: 'EN', title: 'changed' })
      expect((await send('GET', `/${other.documentId}`)).body.data.title).toBe('changed')
    } finally {
      await served.close()
    }
  })

  it('locale.2 refuses a new version in a locale that the installation spells otherwise', async () => {
    const url = await server().createDatabase()
    await server().run(url, 'alter database character set utf8mb4 collate utf8mb4_general_ci')
    const served = await serveProject(localizedNotes, { environment: environmentOf(url) })
    try {
      const body = JSON.stringify({ data: { title: 'one' } })
      const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
      const refused = await served.request('/api/notes?locale=EN', sent)
      expect([refused.status, refused.body.error?.message]).toEqual([400, 'The locale "EN" does not exist'])
      expect((await served.request('/api/notes?locale=en', sent)).status).toBe(201)
    } finally {
      await served.close()
    }
  })
})
