// Defaults of new MariaDB sessions, SQL modes above all (R26): responses are the same with any of them, and values are stored
// unchanged and uncut.
import { afterEach, expect, it } from 'vitest'
import { type RequestOptions, type Served, serveProject } from '../support/serve.js'
import { describeMariadb, environmentOf } from './server.js'

const actions = ['find', 'findOne', 'create', 'update', 'delete', 'publish', 'unpublish', 'discardDraft']

const files = {
  'src/api/entry/content-types/entry/schema.json': {
    kind: 'collectionType',
    collectionName: 'entries',
    info: { singularName: 'entry', pluralName: 'entries', displayName: 'entry' },
    options: { draftAndPublish: true },
    attributes: {
      name: { type: 'string', unique: true },
      text: { type: 'text' },
      number: { type: 'integer' },
      price: { type: 'decimal' },
      day: { type: 'date' },
      moment: { type: 'datetime' },
      data: { type: 'json' },
      parts: { type: 'component', component: 'entry.part', repeatable: true },
      others: { type: 'relation', relation: 'manyToMany', target: 'api::entry.entry', inversedBy: 'owners' },
      owners: { type: 'relation', relation: 'manyToMany', target: 'api::entry.entry', mappedBy: 'others' },
    },
  },
  'src/components/entry/part.json': {
    collectionName: 'components_entry_parts',
    info: { displayName: 'part' },
    attributes: { name: { type: 'string' }, text: { type: 'text' } },
  },
  'seed/access.json': { roles: { public: actions.map((action) => `api::entry.entry.${action}`) } },
}

/** Session defaults, by what differs. */
const defaults: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'no mode': { sql_mode: '' },
  'every strict mode': { sql_mode: 'TRADITIONAL,ONLY_FULL_GROUP_BY,NO_ZERO_IN_DATE,NO_ZERO_DATE,ANSI,HIGH_NOT_PRECEDENCE' },
  'other literals and texts': { sql_mode: 'NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,NO_UNSIGNED_SUBTRACTION,IGNORE_SPACE' },
  'an emulation': { sql_mode: 'ORACLE,EMPTY_STRING_IS_NULL,NO_AUTO_VALUE_ON_ZERO' },
  'transactions without end': { autocommit: '0', completion_type: 'CHAIN', tx_isolation: 'READ-UNCOMMITTED' },
  'no foreign keys, few rows': { foreign_key_checks: '0', sql_safe_updates: '1', sql_select_limit: '2', group_concat_max_len: '8' },
}

/** Texts that some SQL mode interprets differently: quotes, escapes, operators, trailing spaces. */
const texts = ['it\'s "quoted"', 'back\\slash \\n \\', "\\' or 1=1 -- ", 'a || b', 'spaces at the end   ', 'Größe 🜁', '']

const unstable: ReadonlySet<string> = new Set(['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt'])
const stable = (body: unknown): unknown => JSON.parse(JSON.stringify(body, (key, value) => (unstable.has(key) ? undefined : value)))

/** Writes and reads in every way; resolves to the responses, without parts that differ between databases. */
async function conversation(served: Served): Promise<readonly unknown[]> {
  const said: unknown[] = []
  const request = async (path: string, method = 'GET', data?: object) => {
    const headers = { 'content-type': 'application/json' }
    const asked: RequestOptions = { method, ...(data === undefined ? {} : { headers, body: JSON.stringify({ data }) }) }
    const answer = await served.request(path, asked)
    said.push([method, answer.status, stable(answer.body)])
    return answer.body?.data?.documentId as string
  }
  const ids: string[] = []
  for (const [at, text] of texts.entries()) {
    const parts = [{ name: text, text }, { text: `${text}${text}` }]
    const more = { number: at, price: 10.25 + at, day: '2024-02-29', moment: '2024-07-01T08:30:00.123Z', data: { text, list: [text] } }
    ids.push(await request('/api/entries?status=draft&populate=*', 'POST', { name: `${at} ${text}`, text, parts, others: ids, ...more }))
    await request('/api/entries?status=draft&sort=number&populate=*')
  }
  for (const text of texts)
    for (const operator of ['$eq', '$contains', '$startsWith', '$endsWithi', '$ne'])
      await request(`/api/entries?status=draft&sort=number&fields=text&filters[text][${operator}]=${encodeURIComponent(text)}`)
  for (const data of [{ name: 'x'.repeat(256) }, { number: 3_000_000_000 }, { price: 1e12 }, { day: '2023-02-29' }, { day: '0000-00-00' }])
    await request('/api/entries', 'POST', data)
  for (const id of ids.slice(0, 3)) {
    await request(`/api/entries/${id}?status=draft`)
    await request(`/api/entries/${id}?status=published`, 'PUT', { text: 'changed\\\' "' })
    await request(`/api/entries/${id}?status=draft`)
  }
  for (const query of ['_q=back\\', 'filters[others][number]=1', 'filters[$not][number][$gt]=2', 'filters[parts][text][$null]=true'])
    await request(`/api/entries?status=draft&sort[0]=price:desc&sort[1]=number&pagination[pageSize]=3&${query}`)
  await request(`/api/entries/${ids[0]}`, 'DELETE')
  await request('/api/entries?status=draft&sort=number&populate[others][sort]=number&populate[owners][sort]=number&populate[parts]=true')
  await request('/api/entries?sort=number&populate=*')
  said.push(await served.sql('select count(*) as links from entries_others_lnk'))
  said.push(await served.sql('select count(*) as parts from components_entry_parts'))
  return said
}

describeMariadb(
  'what new sessions have',
  (server) => {
    const former = new Map<string, string>()
    const quoted = (value: string): string => (/^\d+$/.test(value) ? value : `'${value}'`)
    const setGlobally = async (name: string, value: string): Promise<void> =>
      void (await server().run(server().root, `set global ${name} = ${quoted(value)}`))
    const give = async (values: Readonly<Record<string, string>>): Promise<void> => {
      for (const [name, value] of Object.entries(values)) {
        former.set(name, String((await server().run(server().root, `select @@global.${name} as value`))[0]!.value))
        await setGlobally(name, value)
      }
    }
    afterEach(async () => {
      for (const [name, value] of former) await setGlobally(name, value)
      former.clear()
    })

    let expected: readonly unknown[] | null = null
    const conversationOn = async (): Promise<readonly unknown[]> => {
      // One connection for reads and one for writes.
      const environment = { ...environmentOf(await server().createDatabase()), DATABASE_POOL_MAX: '2' }
      const served = await serveProject(files, { environment })
      try {
        return await conversation(served)
      } finally {
        await served.close()
      }
    }

    it.each(Object.entries(defaults))('R26 every response is the same with %s', async (_, values) => {
      expected ??= await conversationOn()
      await give(values)
      expect(await conversationOn()).toEqual(expected)
    })

    it('R26 dates that are none, which only a server without strict modes has let in, can be read', async () => {
      const served = await serveProject(files, { environment: environmentOf(await server().createDatabase()) })
      try {
        const headers = { 'content-type': 'application/json' }
        const body = JSON.stringify({ data: { name: 'old', day: '2024-02-29', moment: '2024-07-01T08:30:00.123Z' } })
        expect((await served.request('/api/entries?status=draft', { method: 'POST', headers, body })).status).toBe(201)
        await served.sql("update entries set day = '0000-00-00', moment = '0000-00-00 00:00:00'")
        const { status, text, body: read } = await served.request('/api/entries?status=draft')
        expect(status, text).toBe(200)
        expect(read.data).toMatchObject([{ name: 'old', day: '0000-00-00', moment: null }])
      } finally {
        await served.close()
      }
    })
  },
  { ownServer: true },
)
