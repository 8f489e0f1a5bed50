// Octavo's objects in a database, created by using it, and the inventory of a database.
import { expect } from 'vitest'
import { goldenTokens, serveExisting } from '../support/serve.js'
import { runStatement } from '../support/statements.js'
import { type Content, contentOf } from './content.js'
import { type Project, run } from './projects.js'

/** The names of tables and indexes. */
const objects: Readonly<Record<string, string>> = {
  sqlite: "select name from sqlite_schema where type in ('table', 'index') and name not like 'sqlite_autoindex%' order by name",
  postgres: "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'i') order by relname",
  mysql: `select table_name as name from information_schema.tables where table_schema = database()
    union select concat(table_name, '.', index_name) from information_schema.statistics where table_schema = database() order by name`,
}

/** The names of all tables and indexes of a database. */
export async function objectsOf(place: string): Promise<readonly string[]> {
  const [, kind = 'sqlite'] = /^(postgres|mysql):/.exec(place) ?? []
  const names = (await runStatement(place, objects[kind]!)).map(({ name }) => String(name))
  return names.map((name) => name.replace(/^\w+\.(?=octavo_)/, ''))
}

/** All rows of all tables that are Strapi's, those of its panel too. */
export const everything = (place: string): Promise<Content> =>
  contentOf(
    place,
    (table) => /^(?:octavo_|sqlite_)/.test(table),
    () => false,
  )

const { full } = goldenTokens()

/** Uses a project so that every kind of trace is left: indexes, a permission, a relation that waits, remembered writes, events. */
export async function used(project: Project): Promise<void> {
  expect((await run(['indexes', project.folder])).status).toBe(0)
  expect((await run(['roles', 'grant', 'public', 'api::article.article.publish', project.folder])).status).toBe(0)
  await written(project)
}

/** Writes to a project: a relation that waits for a publication, writes that are remembered, an event. */
export async function written({ folder }: Project): Promise<void> {
  const served = await serveExisting({ folder })
  const post = async (path: string, data: object, key: string) =>
    (
      await served.request(path, {
        ...{ method: 'POST', token: full!, headers: { 'content-type': 'application/json', 'idempotency-key': key } },
        body: JSON.stringify({ data }),
      })
    ).body.data
  const tag = await post('/api/tags?status=draft', { name: 'A tag that is not published' }, 'one')
  await post('/api/articles', { title: 'An article that waits for it', tags: [tag.documentId] }, 'two')
  await served.sql("insert into octavo_outbox (event, created_at, payload) values ('entry.create', 1, '{}')")
  await served.sql("insert into octavo_consumers (name, sequence, paused_until) values ('a listener', 0, 0)")
  await served.close()
}
