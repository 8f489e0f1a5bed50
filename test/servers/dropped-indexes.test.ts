// Another program drops indexes under a running service (R25): responses stay right without them, unique values and links stay unique, and
// the next start creates Octavo's indexes again, those of content tables and of its own tables.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Served, type ServeOptions, serveExisting, serveProject, type TestResponse } from '../support/serve.js'
import { until } from '../support/until.js'
import { range } from './notes-service.js'
import { describeServers, environmentOf } from './server.js'

const actions = ['find', 'findOne', 'create', 'update', 'delete', 'publish']

const files = {
  'src/api/page/content-types/page/schema.json': {
    kind: 'collectionType',
    collectionName: 'pages',
    info: { singularName: 'page', pluralName: 'pages', displayName: 'page' },
    options: { draftAndPublish: true },
    attributes: {
      code: { type: 'string', unique: true },
      part: { type: 'component', component: 'page.part' },
      related: { type: 'relation', relation: 'manyToMany', target: 'api::page.page', inversedBy: 'relating' },
      relating: { type: 'relation', relation: 'manyToMany', target: 'api::page.page', mappedBy: 'related' },
      next: { type: 'relation', relation: 'oneToOne', target: 'api::page.page', inversedBy: 'previous' },
      previous: { type: 'relation', relation: 'oneToOne', target: 'api::page.page', mappedBy: 'next' },
    },
  },
  'src/components/page/part.json': {
    collectionName: 'components_page_parts',
    info: { displayName: 'part' },
    attributes: { code: { type: 'string', unique: true } },
  },
  'seed/access.json': { roles: { public: actions.map((action) => `api::page.page.${action}`) } },
}

interface Linked {
  readonly code: string
}

interface Page extends Linked {
  readonly related: readonly Linked[]
  readonly relating: readonly Linked[]
  readonly next: Linked | null
  readonly previous: Linked | null
}

const codes = (pages: readonly Linked[]): readonly string[] => pages.map(({ code }) => code)

/** Queries for the names of indexes that can be dropped, by database. */
const indexesOf: Readonly<Record<string, string>> = {
  sqlite: "select name, tbl_name as owner from sqlite_master where type = 'index' and sql is not null",
  postgres: `select i.indexrelid::regclass::text as name, i.indrelid::regclass::text as owner from pg_index i join pg_class c on c.oid = i.indexrelid
    where c.relnamespace = current_schema()::regnamespace and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid)`,
  mysql: `select distinct index_name as name, table_name as owner from information_schema.statistics
    where table_schema = database() and index_name <> 'PRIMARY'`,
}

function losesIndexes(open: () => Promise<{ readonly kind: string; readonly options: ServeOptions }>): void {
  let served: Served
  let options: ServeOptions
  let indexes: () => Promise<readonly { readonly name: string; readonly owner: string }[]>
  let made: readonly string[]
  /** Octavo's indexes, of content tables and of its own tables. */
  const own = async () =>
    (await indexes())
      .filter(({ name, owner }) => name.includes('octavo_') || /^"?octavo_/.test(owner))
      .map(({ name, owner }) => `${owner} ${name}`)
      .sort()

  beforeAll(async () => {
    const opened = await open()
    options = { environment: { OCTAVO_DATABASE_INDEXES: 'true', ...opened.options.environment } }
    served = await serveProject(files, options)
    indexes = () => served.sql(indexesOf[opened.kind]!) as ReturnType<typeof indexes>
    await until('indexes are made', () => served.log.some((line) => line.includes('created missing indexes')))
    made = await own()
    const quoted = (name: string): string => (name.startsWith('"') ? name : `"${name}"`)
    for (const { name, owner } of await indexes()) {
      const statement = `drop index ${quoted(name)}${opened.kind === 'mysql' ? ` on ${quoted(owner)}` : ''}`
      // MariaDB keeps those that a foreign key needs.
      await served.sql(statement).catch((error: { readonly errno?: number }) => {
        if (error.errno !== 1553) throw error
      })
    }
  })
  afterAll(() => served?.close())

  const send = (method: string, path: string, data: object, headers: Record<string, string> = {}): Promise<TestResponse> =>
    served.request(path, { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify({ data }) })
  const created = async (data: object, status = 'draft'): Promise<string> => {
    const { status: code, text, body } = await send('POST', `/api/pages?status=${status}`, data)
    expect(code, text).toBe(201)
    return body.data.documentId
  }

  it('R25 without indexes: lists are the same, in the same order', async () => {
    expect(made.length).toBeGreaterThan(5)
    expect((await own()).length).toBeLessThan(made.length / 2)
    for (const code of ['b-page', 'a-page', 'c-page']) await created({ code, part: { code } }, 'published')
    for (const [query, expected] of [
      ['sort=code', ['a-page', 'b-page', 'c-page']],
      ['sort=createdAt:desc', ['c-page', 'a-page', 'b-page']],
      ['sort=code:desc&pagination[pageSize]=2', ['c-page', 'b-page']],
      ['filters[code]=b-page', ['b-page']],
      ['filters[part][code][$gt]=a-page&sort=code', ['b-page', 'c-page']],
      ['_q=c-page', ['c-page']],
    ] as const) {
      const { status, text, body } = await served.request(`/api/pages?${query}`)
      expect(status, text).toBe(200)
      expect(codes(body.data), query).toEqual(expected)
    }
  })

  it('R25 without indexes: unique values are unique, also among twenty at once', async () => {
    const answers = await Promise.all(
      range(20).map(() => send('POST', '/api/pages?status=published', { code: 'one', part: { code: 'one' } })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...range(19).map(() => 400)])
    expect((await send('POST', '/api/pages?status=published', { code: 'other', part: { code: 'one' } })).status).toBe(400)
  })

  it('R25 without indexes: a write that is sent twice at once with one Idempotency-Key is done once', async () => {
    const answers = await Promise.all(range(6).map(() => send('POST', '/api/pages', { code: 'key' }, { 'idempotency-key': 'the-key' })))
    for (const { status, text } of answers) expect([201, 409], text).toContain(status)
    const { body } = await served.request('/api/pages?status=draft&filters[code]=key')
    expect(body.data).toHaveLength(1)
  })

  it('R25 without indexes: no link is there twice', async () => {
    const [one, two] = [await created({ code: 'first' }), await created({ code: 'second' })]
    await Promise.all(
      range(10).map((at) =>
        send(
          'PUT',
          `/api/pages/${at % 2 === 0 ? one : two}`,
          at % 2 === 0 ? { related: { connect: [two] } } : { relating: { connect: [one] } },
        ),
      ),
    )
    const self = await created({ code: 'self' })
    await send('PUT', `/api/pages/${self}`, { related: [self], next: self })
    await send('PUT', `/api/pages/${two}`, { related: { connect: [self] }, previous: one })
    for (const id of [one, two, self, one]) expect((await send('PUT', `/api/pages/${id}?status=published`, {})).status).toBe(200)
    for (const status of ['draft', 'published']) {
      const { body } = await served.request(
        `/api/pages?status=${status}&filters[code][$in]=first&filters[code][$in]=second&filters[code][$in]=self&populate=*&sort=code`,
      )
      const links = (body.data as readonly Page[]).map(({ code, related, relating, next, previous }) => ({
        ...{ code, related: codes(related), relating: codes(relating) },
        ...{ next: next?.code ?? null, previous: previous?.code ?? null },
      }))
      expect(links, status).toEqual([
        { code: 'first', related: ['second'], relating: [], next: 'second', previous: null },
        { code: 'second', related: ['self'], relating: ['first'], next: null, previous: 'first' },
        { code: 'self', related: ['self'], relating: ['self', 'second'], next: 'self', previous: 'self' },
      ])
    }
    const doubled = await served.sql(
      'select count(*) as links, count(distinct page_id * 1000 + inv_page_id) as pairs from pages_related_lnk',
    )
    expect(Number(doubled[0]!.links)).toBe(Number(doubled[0]!.pairs))
  })

  it('R25 the next start recreates the indexes of Octavo', async () => {
    const next = await serveExisting(served, options.environment)
    try {
      await until('indexes are made', () => next.log.some((line) => line.includes('created missing indexes')))
      expect(await own()).toEqual(made)
    } finally {
      await next.close()
    }
  })

  it('R25 with duplicate rows a unique index stays missing, and the log names it', async () => {
    const unique = 'octavo_identities_unique'
    // Elsewhere a unique index is part of its table, and cannot be dropped.
    if (!made.includes(`octavo_identities ${unique}`)) return
    await served.sql(`drop index ${unique} on octavo_identities`)
    for (const user of [1, 2])
      await served.sql(`insert into octavo_identities (provider, subject, user_id) values ('github', '7', ${user})`)
    for (const isNamed of [true, false]) {
      const next = await serveExisting(served, options.environment)
      await next.close()
      expect(next.log.some((line) => line.includes('have the same values') && line.includes(unique))).toBe(isNamed)
      expect((await own()).includes(`octavo_identities ${unique}`)).toBe(!isNamed)
      await served.sql('delete from octavo_identities where user_id = 2')
    }
  })
}

describe('dropped indexes', () => losesIndexes(async () => ({ kind: process.env.DATABASE_CLIENT ?? 'sqlite', options: {} })))
describeServers('dropped indexes', (server, { client }) =>
  losesIndexes(async () => ({ kind: client, options: { environment: environmentOf(await server().createDatabase()) } })),
)
