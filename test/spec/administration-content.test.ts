// Documents in the administration API: lists by cursors, revisions, changes by paths, publication, copies.
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served, TestResponse } from '../support/serve.js'
import { addToken } from './callers.js'
import { type AdminClient, front, serveNewsroom, signInClient, story, writer } from './newsroom.js'

let served: Served
let ada: AdminClient
beforeAll(async () => {
  served = await serveNewsroom()
  ada = await signInClient(served, 'ada@office.example')
  await addToken(served, 'everything', { type: 'full-access' })
})
afterAll(() => served?.close())

const stories = `/content/${story}`
const tagOf = ({ headers }: TestResponse): string => headers.get('etag') ?? ''
const ifMatch = (answer: TestResponse) => ({ 'if-match': tagOf(answer) })
async function make(data: object, path = stories): Promise<TestResponse> {
  const answer = await ada.send('POST', path, { data })
  if (answer.status !== 201) throw new Error(answer.text)
  return answer
}
const idOf = ({ body }: TestResponse): string => body.data.documentId
const errorOf = ({ status, body }: TestResponse) => [status, body.error.name]
const titles = (answer: TestResponse): string[] => {
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body.data.map(({ values }: { values: { title: string } }) => values.title)
}

/** A row of a list. */
interface Row {
  readonly values: Readonly<Record<string, unknown>>
  readonly state: string
}

/** All titles of a list, page by page. */
async function walk(query: string, limit: number, from: 'after' | 'before', start?: string): Promise<string[]> {
  const found: string[] = []
  let cursor = start
  for (let page = 0; page < 100; page++) {
    const answer = await ada.get(`${stories}?limit=${limit}&${query}${cursor === undefined ? '' : `&${from}=${cursor}`}`)
    const here = titles(answer)
    if (from === 'after') found.push(...here)
    else found.unshift(...here)
    cursor = answer.body.meta[from === 'after' ? 'next' : 'previous']
    if (cursor === null) return found
  }
  throw new Error('the list does not end')
}

rule('administration-content.1', 'lists have drafts with their state, and take the parameters of queries', async () => {
  const only = 'filters[title][$startsWith]=List'
  const draft = await make({ title: 'List draft', score: 1 })
  const changed = await make({ title: 'List changed', score: 2 })
  const published = await make({ title: 'List published', score: 3 })
  await ada.send('POST', `${stories}/${idOf(published)}/publish`, undefined, ifMatch(published))
  const first = await ada.send('POST', `${stories}/${idOf(changed)}/publish`, undefined, ifMatch(changed))
  expect(first.body.data.state).toBe('published')
  await ada.send('PATCH', `${stories}/${idOf(changed)}`, { changes: { summary: 'more' } }, ifMatch(first))
  const list = await ada.get(`${stories}?${only}&sort=score&fields=title`)
  expect(list.body.data.map(({ values, state }: Row) => [values.title, state, values.secret])).toEqual([
    ['List draft', 'draft', undefined],
    ['List changed', 'changed', undefined],
    ['List published', 'published', undefined],
  ])
  expect(idOf(draft)).toBe(list.body.data[0].documentId)
  expect(titles(await ada.get(`${stories}?${only}&sort=score:desc&status=published`))).toEqual(['List published', 'List changed'])
  expect(titles(await ada.get(`${stories}?q=list pub`))).toEqual(['List published'])
  const [{ documentId }] = (await ada.get(`${stories}?q=list pub`)).body.data
  expect(titles(await ada.get(`${stories}?q=${documentId}`))).toEqual(['List published'])
  expect(titles(await ada.get(`${stories}?q=${documentId.slice(0, 12)}`))).toEqual([])
  expect(titles(await ada.get(`${stories}?${only}&publicationFilter=modified`))).toEqual(['List changed'])
  expect(titles(await ada.get(`${stories}?${only}&locale=de`))).toEqual([])
  // In all locales each row has a separate state.
  const german = await ada.send(
    'PATCH',
    `${stories}/${idOf(changed)}?locale=de`,
    { changes: { title: 'List deutsch' } },
    { 'if-none-match': '*' },
  )
  const statesOf = async (query: string) =>
    (await ada.get(`${stories}?${only}&sort=title&${query}`)).body.data.map(({ values, state }: Row) => `${values.title} ${state}`)
  const english = ['List changed changed', 'List draft draft', 'List published published']
  expect(await statesOf('locale=*&fields=title')).toEqual([english[0], 'List deutsch draft', ...english.slice(1)])
  await ada.send('POST', `${stories}/${idOf(changed)}/publish?locale=de`, undefined, ifMatch(german))
  expect(await statesOf('locale=*')).toEqual([english[0], 'List deutsch published', ...english.slice(1)])
  expect(await statesOf('locale=de')).toEqual(['List deutsch published'])
  expect(await statesOf('filters[locale]=de')).toEqual(['List deutsch published'])
  for (const limit of ['0', '201', 'x', '-1', '1.5']) {
    const { message, details } = (await ada.get(`${stories}?limit=${limit}`)).body.error
    expect([message, details.errors[0].path]).toEqual(['limit must be a number from 1 to 200', ['limit']])
  }
  const unknown = (await ada.get(`${stories}/total?nothing=1`)).body.error
  expect(unknown.details.errors).toMatchObject([{ path: ['nothing'], code: 'unknown', message: 'Unrecognized key: "nothing"' }])
  for (const wrong of ['limit=0', 'limit=201', 'limit=x', 'page=1', 'pagination[page]=1', 'x=1', 'locale[0]=en', 'after=a&before=b'])
    expect([wrong, (await ada.get(`${stories}?${wrong}`)).status]).toEqual([wrong, 400])
  expect((await ada.get('/content/api::nothing.nothing')).status).toBe(404)
  for (const uid of ['admin::user', 'plugin::upload.file', 'plugin::users-permissions.user'])
    expect((await ada.get(`/content/${uid}`)).status).toBe(404)
})

rule('administration-content.2', 'pages show every row once, with ties and without values, in both directions', async () => {
  const writers = await Promise.all(['Zoe', 'Abe'].map((name) => make({ name }, `/content/${writer}`)))
  for (let index = 0; index < 11; index++) {
    await make({
      title: `Page ${String.fromCodePoint(107 - index)}`,
      score: index % 3 === 0 ? null : index % 4,
      price: index % 2 === 0 ? null : index + 0.25,
      day: index < 3 ? null : `2026-01-0${(index % 5) + 1}`,
      at: index % 4 === 0 ? null : `2026-01-01T00:00:0${index % 3}.125Z`,
      writer: index % 3 === 2 ? null : idOf(writers[index % 3]!),
    })
  }
  const only = 'filters[title][$startsWith]=Page'
  for (const key of ['', 'id', 'title', 'score', 'price', 'day', 'at', 'updatedAt', 'writer.name', 'score,title', 'day:desc,score']) {
    for (const sort of key === '' ? [''] : [key, `${key}:desc`]) {
      const query = `${only}${sort === '' ? '' : `&sort=${sort}`}`
      const whole = titles(await ada.get(`${stories}?${query}`))
      expect(whole).toHaveLength(11)
      expect([sort, await walk(query, 3, 'after')]).toEqual([sort, whole])
      const { body } = await ada.get(`${stories}?${query}&limit=200`)
      expect(body.meta).toEqual({ limit: 200, next: null, previous: null })
      const middle = (await ada.get(`${stories}?${query}&limit=7`)).body.meta.next as string
      const second = await ada.get(`${stories}?${query}&limit=7&after=${middle}`)
      expect(titles(second)).toEqual(whole.slice(7))
      expect([sort, await walk(query, 2, 'before', second.body.meta.previous)]).toEqual([sort, whole.slice(0, 7)])
    }
  }
  // Writes between pages move no existing rows.
  const next = (await ada.get(`${stories}?${only}&sort=title&limit=4`)).body.meta.next as string
  await make({ title: 'Page aa' })
  expect(titles(await ada.get(`${stories}?${only}&sort=title&limit=4&after=${next}`))).toEqual(['Page e', 'Page f', 'Page g', 'Page h'])
})

rule('administration-content.3', 'a cursor belongs to its query', async () => {
  const only = 'filters[title][$startsWith]=Page'
  const { next } = (await ada.get(`${stories}?${only}&sort=title&limit=2`)).body.meta
  for (const query of [
    `${only}&sort=title:desc`,
    'sort=title',
    `${only}&sort=title&q=x`,
    `${only}&sort=title&locale=de`,
    `${only}&sort=title&status=published`,
  ])
    expect([query, (await ada.get(`${stories}?${query}&after=${next}`)).status]).toEqual([query, 400])
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const [hash, id] = JSON.parse(Buffer.from(next, 'base64url').toString('utf8'))
  const wrong = [
    '',
    'x',
    encode(5),
    encode([]),
    encode([hash]),
    encode([hash, 'x', 'a']),
    encode([hash, id]),
    encode([hash, id, 'a', 'b']),
    encode([hash, id, {}]),
  ]
  for (const cursor of wrong)
    expect([cursor, (await ada.get(`${stories}?${only}&sort=title&after=${cursor}`)).status]).toEqual([cursor, 400])
  expect((await ada.get(`${stories}?${only}&sort=title&after=${next}${'A'.repeat(9_000)}`)).status).toBe(400)
  expect((await ada.get(`${stories}?sort=extra`)).status).toBe(400)
})

rule('administration-content.4', 'totals have a bound', async () => {
  expect((await ada.get(`${stories}/total?filters[title][$startsWith]=Page`)).body.data).toEqual({ total: 12, exact: true })
  expect((await ada.get(`${stories}/total?q=zzz`)).body.data).toEqual({ total: 0, exact: true })
  const { sql } = served
  const numbers =
    'WITH d(n) AS (SELECT 0 UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9)'
  const rows = `SELECT 'Many', 'en' FROM d a, d b, d c, d e, d f WHERE f.n = 0 OR (f.n = 1 AND e.n = 0 AND c.n = 0 AND b.n = 0 AND a.n < 3)`
  const isMysql = (process.env.DATABASE_CLIENT ?? '') === 'mysql'
  await sql(isMysql ? `INSERT INTO stories (title, locale) ${numbers} ${rows}` : `${numbers} INSERT INTO stories (title, locale) ${rows}`)
  expect((await ada.get(`${stories}/total?filters[title]=Many`)).body.data).toEqual({ total: 10_000, exact: false })
  await sql("DELETE FROM stories WHERE title = 'Many'")
})

rule('administration-content.5', 'a document has both versions, all locales, and what may be done', async () => {
  const ana = idOf(await make({ name: 'Ana' }, `/content/${writer}`))
  const made = await make({
    title: 'Whole',
    secret: 'kept private',
    seo: { metaTitle: 'm' },
    links: [{ metaTitle: 'one' }, { metaTitle: 'two' }],
    sections: [
      { __component: 'block.text', heading: 'h', seo: { metaTitle: 'deep' } },
      { __component: 'shared.seo', metaTitle: 'z' },
    ],
    writer: ana,
  })
  const path = `${stories}/${idOf(made)}`
  await ada.send('POST', `${path}/publish`, undefined, ifMatch(made))
  const { body } = await ada.get(path)
  const { draft, published, locales, may, revision } = body.data
  expect(draft).toMatchObject({
    title: 'Whole',
    secret: 'kept private',
    seo: { metaTitle: 'm' },
    links: [{ metaTitle: 'one' }, { metaTitle: 'two' }],
    sections: [
      { __component: 'block.text', heading: 'h', seo: { metaTitle: 'deep' } },
      { __component: 'shared.seo', metaTitle: 'z' },
    ],
    writer: { documentId: ana, name: 'Ana' },
    createdBy: { firstname: 'Ada' },
  })
  expect(draft.writer.phone).toBeUndefined()
  expect(draft.createdBy.email).toBeUndefined()
  expect(published.title).toBe('Whole')
  expect(locales).toEqual([{ locale: 'en', state: 'published', updatedAt: draft.updatedAt, publishedAt: published.publishedAt }])
  expect(revision).toMatch(/^[\w-]{27}$/)
  expect(may).toMatchObject({ delete: true, publish: true, unpublish: true, discardDraft: true })
  expect(may.update).toEqual(expect.arrayContaining(['title', 'secret', 'seo', 'sections', 'writer']))
  const german = await ada.get(`${path}?locale=de`)
  expect(german.body.data).toMatchObject({
    locale: 'de',
    revision: null,
    state: null,
    draft: null,
    published: null,
    locales: [{ locale: 'en' }],
  })
  for (const locale of ['*', 'en,de']) expect((await ada.get(`${path}?locale=${locale}`)).status).toBe(400)
  expect((await ada.get(`${stories}/none`)).status).toBe(404)
})

rule('administration-content.6', 'the ETag changes with the draft and with its links, and not with anything else', async () => {
  const [ana, ben] = [idOf(await make({ name: 'Ana' }, `/content/${writer}`)), idOf(await make({ name: 'Ben' }, `/content/${writer}`))]
  const made = await make({ title: 'Tagged', writer: ana, sections: [{ __component: 'block.text', heading: 'h' }] })
  const path = `${stories}/${idOf(made)}`
  const revision = async () => (await ada.get(path)).body.data.revision as string
  expect(await revision()).toBe(made.body.data.revision)
  const known = await ada.get(path, { 'if-none-match': tagOf(await ada.get(path)) })
  expect([known.status, known.text]).toEqual([304, ''])
  const seen = new Set([await revision()])
  for (const changes of [
    { writer: ben },
    { 'sections/0/heading': 'other' },
    { summary: 's' },
    { secret: 'x' },
    { title: 'Tagged again' },
  ]) {
    const before = await ada.get(path)
    expect((await ada.send('PATCH', path, { changes }, ifMatch(before))).status).toBe(200)
    expect((await ada.get(path, { 'if-none-match': tagOf(before) })).status).toBe(200)
    seen.add(await revision())
  }
  expect(seen.size).toBe(6)
  // A publication changes the response, and not the draft.
  const before = await ada.get(path)
  await ada.send('POST', `${path}/publish`, undefined, ifMatch(before))
  expect((await ada.get(path, { 'if-none-match': tagOf(before) })).status).toBe(200)
  // Another name of the writer is not the story's.
  const answer = await ada.get(path)
  const other = await ada.get(`/content/${writer}/${ben}`)
  await ada.send('PATCH', `/content/${writer}/${ben}`, { changes: { name: 'Benedict' } }, ifMatch(other))
  expect(await revision()).toBe(answer.body.data.revision)
})

rule('administration-content.7', 'changes apply to paths, and unnamed values stay', async () => {
  const made = await make({
    title: 'Paths',
    summary: 'stays',
    seo: { metaTitle: 'm', metaSecret: 's' },
    links: [
      { metaTitle: 'one', metaSecret: '1' },
      { metaTitle: 'two', metaSecret: '2' },
    ],
    sections: [
      { __component: 'block.text', heading: 'h', body: 'b', seo: { metaTitle: 'deep', metaSecret: 'd' } },
      { __component: 'shared.seo', metaTitle: 'z' },
    ],
  })
  const path = `${stories}/${idOf(made)}`
  const changed = await ada.send(
    'PATCH',
    path,
    {
      changes: {
        title: 'Paths 2',
        'seo/metaTitle': 'M',
        'links/1/metaTitle': 'TWO',
        'sections/0/seo/metaTitle': 'DEEP',
        'sections/1/metaTitle': null,
      },
    },
    ifMatch(made),
  )
  expect(changed.status).toBe(200)
  const { draft } = changed.body.data
  expect(draft).toMatchObject({
    title: 'Paths 2',
    summary: 'stays',
    seo: { metaTitle: 'M', metaSecret: 's' },
    links: [
      { metaTitle: 'one', metaSecret: '1' },
      { metaTitle: 'TWO', metaSecret: '2' },
    ],
    sections: [{ heading: 'h', body: 'b', seo: { metaTitle: 'DEEP', metaSecret: 'd' } }, { metaTitle: null }],
  })
  expect(draft.links.map(({ id }: { id: number }) => id)).toEqual(made.body.data.draft.links.map(({ id }: { id: number }) => id))
  const nowhere = [
    'nothing',
    'title/x',
    'seo/nothing',
    'links/2/metaTitle',
    'links/x/metaTitle',
    'links/0',
    'sections/5/heading',
    'seo//metaTitle',
    '',
    'writer/name',
    ...['locale', 'publishedAt', 'data', 'documentId', 'updatedAt'],
    ...['links/00/metaTitle', 'sections/0/__component', 'seo/id', 'seo/documentId'],
  ]
  for (const wrong of nowhere) {
    const refused = await ada.send('PATCH', path, { changes: { [wrong]: 'x' } }, ifMatch(changed))
    expect([wrong, refused.status]).toEqual([wrong, 400])
  }
  const misplaced = await ada.send('PATCH', path, { changes: { locale: 'de' } }, ifMatch(changed))
  expect(misplaced.body.error.details.errors[0]).toMatchObject({
    path: ['locale'],
    message: expect.stringContaining('?locale='),
  })
  for (const changes of [
    { seo: null, 'seo/metaTitle': 'x' },
    { 'links/0/metaTitle': 'x', links: [] },
  ])
    expect((await ada.send('PATCH', path, { changes }, ifMatch(changed))).status).toBe(400)
  expect((await ada.get(path)).body.data.revision).toBe(changed.body.data.revision)
  const german = await ada.send('PATCH', `${path}?locale=de`, { changes: { title: 'Pfade' } }, { 'if-none-match': '*' })
  expect([german.status, german.body.data.draft.title, german.body.data.locales.length]).toEqual([200, 'Pfade', 2])
  const again = await ada.send('PATCH', `${path}?locale=de`, { changes: { title: 'Pfade 2' } }, { 'if-none-match': '*' })
  expect(errorOf(again)).toEqual([412, 'PreconditionFailedError'])
})

rule('administration-content.8', 'writes say which state they mean', async () => {
  const made = await make({ title: 'Guarded' })
  const path = `${stories}/${idOf(made)}`
  const changes = { changes: { title: 'Changed' } }
  const writes = [
    ['PATCH', path, changes],
    ['DELETE', path, undefined],
    ['POST', `${path}/publish`, undefined],
    ['POST', `${path}/unpublish`, undefined],
    ['POST', `${path}/discard`, undefined],
  ] as const
  for (const [method, at, body] of writes) {
    expect([at, ...errorOf(await ada.send(method, at, body))]).toEqual([at, 428, 'PreconditionRequiredError'])
    expect(errorOf(await ada.send(method, at, body, { 'if-match': '*' }))[0]).toBe(428)
    for (const tag of ['"wrong"', 'x', '"a", "b"']) {
      const refused = await ada.send(method, at, body, { 'if-match': tag })
      expect([method, at, tag, ...errorOf(refused)]).toEqual([method, at, tag, 412, 'PreconditionFailedError'])
      expect(refused.body.error.details.document).toMatchObject({ revision: made.body.data.revision, draft: { title: 'Guarded' } })
      expect(tagOf(refused)).toBe(tagOf(made))
    }
  }
  // A compressed response has the weak form.
  const long = await make({ title: 'Long', summary: 'word '.repeat(1_000) })
  const compressed = await ada.get(`${stories}/${idOf(long)}`, { 'accept-encoding': 'gzip' })
  expect([compressed.headers.get('content-encoding'), tagOf(compressed).slice(0, 2)]).toEqual(['gzip', 'W/'])
  expect((await ada.send('PATCH', `${stories}/${idOf(long)}`, changes, ifMatch(compressed))).status).toBe(200)
  // Of several concurrent requests with the same revision one succeeds.
  const at = (title: string) => ada.send('PATCH', path, { changes: { title } }, ifMatch(made))
  const all = await Promise.all(['a', 'b', 'c', 'd'].map(at))
  expect(all.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412])
  expect((await ada.send('DELETE', path, undefined, ifMatch(await ada.get(path)))).status).toBe(204)
  expect((await ada.get(path)).status).toBe(404)
  expect((await ada.send('PATCH', path, changes, ifMatch(made))).status).toBe(404)
})

rule('administration-content.8', 'the message names the requirement', async () => {
  const path = `${stories}/${idOf(await make({ title: 'Required' }))}`
  const messageOf = async (method: string, at: string, headers = {}) =>
    (await ada.send(method, at, method === 'PATCH' ? { changes: {} } : undefined, headers)).body.error.message
  const orNew = 'If-Match with the ETag of the document, or If-None-Match: * for a locale that the document does not have'
  expect(await messageOf('PATCH', path)).toBe(`Say which state you mean: ${orNew}`)
  expect(await messageOf('PATCH', path, { 'if-match': '*' })).toBe(
    `If-Match: * does not say which state you mean: a revision is required, ${orNew}`,
  )
  // Requests that create nothing accept no other header.
  for (const headers of [{}, { 'if-none-match': '*' }])
    expect(await messageOf('POST', `${path}/publish`, headers)).toBe('Say which state you mean: If-Match with the ETag of the document')
})

rule('administration-content.16', 'a locale that the installation does not have is refused everywhere', async () => {
  const made = await make({ title: 'Where' })
  const at = `${stories}/${idOf(made)}`
  const state = ifMatch(made)
  const act = (action: string, more: object) => ada.send('POST', '/bulk', { action, type: story, ...more })
  const asked: Readonly<Record<string, (locale: string) => Promise<TestResponse>>> = {
    list: (locale) => ada.get(`${stories}?locale=${locale}`),
    total: (locale) => ada.get(`${stories}/total?locale=${locale}`),
    'list of a type without locales': (locale) => ada.get(`/content/${writer}?locale=${locale}`),
    read: (locale) => ada.get(`${at}?locale=${locale}`),
    create: (locale) => ada.send('POST', `${stories}?locale=${locale}`, { data: { title: 'x' } }),
    change: (locale) => ada.send('PATCH', `${at}?locale=${locale}`, { changes: { title: 'x' } }, state),
    make: (locale) => ada.send('PATCH', `${at}?locale=${locale}`, { changes: { title: 'x' } }, { 'if-none-match': '*' }),
    delete: (locale) => ada.send('DELETE', `${at}?locale=${locale}`, undefined, state),
    publish: (locale) => ada.send('POST', `${at}/publish?locale=${locale}`, undefined, state),
    'publish in several': (locale) => ada.send('POST', `${at}/publish?locale=en,${locale}`, undefined, state),
    unpublish: (locale) => ada.send('POST', `${at}/unpublish?locale=${locale}`, undefined, state),
    discard: (locale) => ada.send('POST', `${at}/discard?locale=${locale}`, undefined, state),
    clone: (locale) => ada.send('POST', `${at}/clone?locale=${locale}`, {}),
    check: (locale) => ada.get(`${at}/check?locale=${locale}`),
    fill: (locale) => ada.send('POST', `${at}/fill?locale=${locale}`, { from: 'en', fields: ['title'] }, state),
    history: (locale) => ada.get(`${at}/history?locale=${locale}`),
    version: (locale) => ada.get(`${at}/history/1?locale=${locale}`),
    restore: (locale) => ada.send('POST', `${at}/history/1/restore?locale=${locale}`, {}, state),
    links: (locale) => ada.get(`${at}/links/related?locale=${locale}`),
    uses: (locale) => ada.get(`${at}/uses?locale=${locale}`),
    choices: (locale) => ada.get(`/choices/${story}/related?locale=${locale}`),
    'choices of a type without locales': (locale) => ada.get(`/choices/${story}/writer?locale=${locale}`),
    bulk: (locale) => act('publish', { documents: [idOf(made)], locale }),
  }
  const refused = (path: readonly string[]) => ({ message: 'The locale "zz" does not exist', details: { errors: [{ path }] } })
  for (const [name, request] of Object.entries(asked)) {
    const { status, body } = await request('zz')
    expect([name, status, body.error]).toMatchObject([name, 400, refused(['locale'])])
  }
  const filled = await ada.send('POST', `${at}/fill?locale=de`, { from: 'zz', fields: ['title'] }, { 'if-none-match': '*' })
  expect([filled.status, filled.body.error]).toMatchObject([400, refused(['from'])])
  const chosen = await act('publish', { where: { locale: 'zz' } })
  expect([chosen.status, chosen.body.error]).toMatchObject([400, refused(['where', 'locale'])])
  const elsewhere = await act('publish', { where: { locale: 'zz' }, locale: 'en' })
  expect([elsewhere.status, elsewhere.body.error]).toMatchObject([400, refused(['where', 'locale'])])
  const several = await ada.get(`${stories}?locale=de,en`)
  expect([several.status, several.body.error]).toMatchObject([
    400,
    { message: 'Name one locale', details: { errors: [{ path: ['locale'] }] } },
  ])
  expect((await ada.get(at)).body.data).toMatchObject({ state: 'draft', locales: [{ locale: 'en' }] })
  // Nothing was written, and a locale that is there is none the worse.
  expect((await ada.get(`${at}?locale=de`)).body.data).toMatchObject({ revision: null, draft: null })
})

rule('administration-content.9', 'publications act in one locale, several or all', async () => {
  const made = await make({ title: 'Two languages' })
  const path = `${stories}/${idOf(made)}`
  const german = await ada.send('PATCH', `${path}?locale=de`, { changes: { title: 'Zwei Sprachen' } }, { 'if-none-match': '*' })
  const both = { 'if-match': `${tagOf(made)}, ${tagOf(german)}` }
  const states = async () =>
    (await ada.get(path)).body.data.locales.map(({ locale, state }: Record<string, string>) => `${locale} ${state}`).sort()
  expect(errorOf(await ada.send('POST', `${path}/publish?locale=en,de`, undefined, ifMatch(made)))).toEqual([
    412,
    'PreconditionFailedError',
  ])
  // Errors name the locales that they are about.
  for (const [locale, tags, named] of [
    ['en,de', tagOf(made), 'de'],
    ['en,de', tagOf(german), 'en'],
    ['*', tagOf(german), 'en'],
    ['*', '"x"', 'en, de'],
  ]) {
    const { message, details } = (await ada.send('POST', `${path}/publish?locale=${locale}`, undefined, { 'if-match': tags! })).body.error
    expect([locale, message, Object.keys(details)]).toEqual([locale, `${named}: The document has changed since it was read`, ['document']])
  }
  expect(await states()).toEqual(['de draft', 'en draft'])
  expect((await ada.send('POST', `${path}/publish?locale=en,de`, undefined, both)).status).toBe(200)
  expect(await states()).toEqual(['de published', 'en published'])
  const tags = async () => ({ 'if-match': `${tagOf(await ada.get(path))}, ${tagOf(await ada.get(`${path}?locale=de`))}` })
  expect((await ada.send('POST', `${path}/unpublish?locale=*`, undefined, await tags())).status).toBe(200)
  expect(await states()).toEqual(['de draft', 'en draft'])
  await ada.send('POST', `${path}/publish?locale=de`, undefined, await tags())
  await ada.send('PATCH', `${path}?locale=de`, { changes: { title: 'Anders' } }, await tags())
  expect(await states()).toEqual(['de changed', 'en draft'])
  const discarded = await ada.send('POST', `${path}/discard?locale=de`, undefined, await tags())
  expect([discarded.body.data.locale, discarded.body.data.draft.title]).toEqual(['de', 'Zwei Sprachen'])
  expect((await ada.send('DELETE', `${path}?locale=de`, undefined, await tags())).status).toBe(204)
  expect(await states()).toEqual(['en draft'])
  expect((await ada.send('DELETE', `${path}?locale=*`, undefined, ifMatch(await ada.get(path)))).status).toBe(204)
})

rule('administration-content.10', 'a document is created once per key, a single type once', async () => {
  const key = { 'idempotency-key': 'made-once' }
  const [one, two] = [
    await ada.send('POST', stories, { data: { title: 'Once' } }, key),
    await ada.send('POST', stories, { data: { title: 'Once' } }, key),
  ]
  expect([one.status, two.status, idOf(one)]).toEqual([201, 201, idOf(two)])
  expect((await ada.send('POST', stories, { data: { title: 'Other' } }, key)).status).toBe(422)
  expect((await ada.send('POST', stories, { data: { score: 'x' } })).status).toBe(400)
  expect((await ada.send('POST', stories, { data: { nothing: 1 } })).status).toBe(400)
  const page = await make({ headline: 'Front' }, `/content/${front}`)
  expect((await ada.send('POST', `/content/${front}`, { data: { headline: 'Other' } })).status).toBe(412)
  const other = await ada.send('POST', `/content/${front}?locale=de`, { data: { headline: 'Andere' } })
  expect([other.status, other.body.error.details]).toMatchObject([412, { documentId: idOf(page) }])
  const list = await ada.get(`/content/${front}?locale=*`)
  expect(list.body.data.map(({ values }: Row) => values.headline)).toEqual(['Front'])
  const changed = await ada.send('PATCH', `/content/${front}/${idOf(page)}`, { changes: { headline: 'New' } }, ifMatch(page))
  expect(changed.body.data).toMatchObject({ locale: 'en', draft: { headline: 'New' }, published: null })
})

rule('administration-content.10', 'data that sets nothing is refused', async () => {
  const data = { title: 'Misplaced', locale: 'de', publishedAt: '2020-01-01T00:00:00.000Z', data: {} }
  const refused = await ada.send('POST', stories, { data })
  expect(refused.status).toBe(400)
  expect(refused.body.error.details.errors.map(({ path }: { path: string[] }) => path)).toEqual([['locale'], ['publishedAt'], ['data']])
  const made = await make({ title: 'Original' })
  expect((await ada.send('POST', `${stories}/${idOf(made)}/clone`, { data: { locale: 'de' } })).status).toBe(400)
  expect((await ada.get(`${stories}/total?filters[title]=Misplaced`)).body.data.total).toBe(0)
})

rule('administration-content.11', 'administrators are named as creators, callers of the content API are not', async () => {
  const bob = await signInClient(served, 'bob@office.example')
  const made = await make({ title: 'Named' })
  const path = `${stories}/${idOf(made)}`
  const named = async () =>
    (await served.sql('SELECT created_by_id, updated_by_id FROM stories WHERE document_id = ? ORDER BY id', idOf(made))).map(
      ({ created_by_id, updated_by_id }) => [created_by_id, updated_by_id],
    )
  expect(await named()).toEqual([[ada.id, ada.id]])
  const changed = await bob.send('PATCH', path, { changes: { summary: 'by Bob' } }, ifMatch(made))
  expect(await named()).toEqual([[ada.id, bob.id]])
  await ada.send('POST', `${path}/publish`, undefined, ifMatch(changed))
  expect(await named()).toEqual([
    [ada.id, bob.id],
    [ada.id, bob.id],
  ])
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ data: { summary: 'by a token' } })
  expect((await served.request(`/api/stories/${idOf(made)}`, { method: 'PUT', token: 'everything', headers, body })).status).toBe(200)
  expect(await named()).toEqual([
    [ada.id, bob.id],
    [ada.id, bob.id],
  ])
})

rule('administration-content.12', 'a copy has new components, the same links, and nothing that is unique', async () => {
  const ana = idOf(await make({ name: 'Ana' }, `/content/${writer}`))
  const made = await make({
    title: 'Original',
    slug: 'original',
    writer: ana,
    seo: { metaTitle: 'm' },
    sections: [{ __component: 'block.text', heading: 'h' }],
  })
  const copy = await ada.send('POST', `${stories}/${idOf(made)}/clone`, { data: { title: 'Copy' } })
  expect(copy.status).toBe(201)
  const { draft } = copy.body.data
  expect(draft).toMatchObject({ title: 'Copy', writer: { documentId: ana }, seo: { metaTitle: 'm' }, sections: [{ heading: 'h' }] })
  expect(idOf(copy)).not.toBe(idOf(made))
  expect(draft.slug).not.toBe('original')
  expect(draft.seo.id).not.toBe(made.body.data.draft.seo.id)
  expect((await ada.get(`${stories}/${idOf(made)}`)).body.data.draft).toMatchObject({
    writer: { documentId: ana },
    seo: { metaTitle: 'm' },
  })
  expect((await ada.send('POST', `${stories}/none/clone`, {})).status).toBe(404)
})

rule('administration-content.8', 'concurrent links of other documents are not replaced', async () => {
  const made = await make({ name: 'Ana' }, `/content/${writer}`)
  const path = `/content/${writer}/${idOf(made)}`
  const title = 'Written meanwhile'
  const written = idOf(await make({ title, writer: idOf(made) }))
  for (const stories of [[], { set: [] }, null]) {
    const stale = await ada.send('PATCH', path, { changes: { stories } }, ifMatch(made))
    expect([stale.status, stale.body.error.details.document.draft.stories]).toMatchObject([412, [{ name: title }]])
  }
  // Changes without an expected state of links succeed.
  const renamed = await ada.send('PATCH', path, { changes: { name: 'Anna', stories: { connect: [] } } }, ifMatch(made))
  expect([renamed.status, renamed.body.data.draft.stories]).toMatchObject([200, [{ documentId: written }]])
  const replaced = await ada.send('PATCH', path, { changes: { stories: [] } }, ifMatch(renamed))
  expect([replaced.status, replaced.body.data.draft.stories]).toEqual([200, []])
})

rule('administration-content.12', 'a copy has the links that several documents may have to the same target', async () => {
  const [ana, ben] = [idOf(await make({ name: 'Ana' }, `/content/${writer}`)), idOf(await make({ name: 'Ben' }, `/content/${writer}`))]
  const next = idOf(await make({ title: 'Next' }))
  const sections = [{ __component: 'block.text', heading: 'h', source: ana }]
  const made = await make({ title: 'Original', reviewers: [ana, ben], sequel: next, sections })
  const copy = await ada.send('POST', `${stories}/${idOf(made)}/clone`, { data: { title: 'Copy' } })
  const links = { reviewers: [{ documentId: ana }, { documentId: ben }], sequel: { documentId: next } }
  for (const { draft } of [copy.body.data, (await ada.get(`${stories}/${idOf(made)}`)).body.data])
    expect(draft).toMatchObject({ ...links, sections: [{ source: { documentId: ana } }] })
})

rule('administration-content.5', 'a document without locales shows its links to every locale', async () => {
  const both = await make({ title: 'English' })
  await ada.send('PATCH', `${stories}/${idOf(both)}?locale=de`, { changes: { title: 'Deutsch' } }, { 'if-none-match': '*' })
  const linked = [{ documentId: idOf(both), locale: 'de' }]
  const made = await make({ name: 'Ana', stories: linked }, `/content/${writer}`)
  expect(made.body.data.draft.stories).toMatchObject(linked)
  const links = await ada.get(`/content/${writer}/${idOf(made)}/links/stories`)
  expect(links.body.data).toMatchObject(linked)
})

rule('administration-content.13', 'candidates and links are listed by cursors, within permissions', async () => {
  const names = ['Cara', 'Cleo', 'Cyd', 'Coco', 'Clio']
  for (const name of names) await make({ name: `Choice ${name}` }, `/content/${writer}`)
  const choices = (query: string, path = 'writer') => ada.get(`/choices/${story}/${path}?${query}`)
  const named = ({ body }: TestResponse) => body.data.map(({ name }: Record<string, string>) => name)
  const first = await choices('q=choice&limit=2')
  expect(named(first)).toEqual(['Choice Cara', 'Choice Cleo'])
  const second = await choices(`q=choice&limit=2&after=${first.body.meta.next}`)
  expect(named(second)).toEqual(['Choice Clio', 'Choice Coco'])
  expect(named(await choices(`q=choice&limit=2&before=${second.body.meta.previous}`))).toEqual(['Choice Cara', 'Choice Cleo'])
  expect((await choices(`q=other&limit=2&after=${first.body.meta.next}`)).status).toBe(400)
  for (const path of [
    'title',
    'seo',
    'nothing',
    'createdBy',
    'localizations.title',
    'seo.metaTitle',
    'sections.writer',
    'sections[block.text]',
  ])
    expect([path, (await choices('', encodeURIComponent(path))).status]).toEqual([path, 400])
  const targets = []
  for (let index = 0; index < 7; index++) targets.push(idOf(await make({ title: `Target ${6 - index}` })))
  const made = await make({ title: 'Linked', related: targets })
  const links = (query: string) => ada.get(`${stories}/${idOf(made)}/links/related?${query}`)
  const page = await links('limit=3')
  expect(named(page)).toEqual(['Target 6', 'Target 5', 'Target 4'])
  const next = await links(`limit=3&after=${page.body.meta.next}`)
  expect(named(next)).toEqual(['Target 3', 'Target 2', 'Target 1'])
  const last = await links(`limit=3&after=${next.body.meta.next}`)
  expect([named(last), last.body.meta.next]).toEqual([['Target 0'], null])
  // And backwards.
  expect([page.body.meta.previous, typeof page.body.meta.next]).toEqual([null, 'string'])
  const back = await links(`limit=3&before=${last.body.meta.previous}`)
  expect(named(back)).toEqual(named(next))
  expect(back.body.meta).toEqual(next.body.meta)
  const top = await links(`limit=3&before=${back.body.meta.previous}`)
  expect([named(top), top.body.meta]).toEqual([named(page), page.body.meta])
  const short = await links(`limit=200&before=${next.body.meta.previous}`)
  expect([named(short), short.body.meta.previous]).toEqual([named(page), null])
  expect(named(await links(`limit=1&before=${page.body.meta.next}`))).toEqual(['Target 5'])
  expect((await links(`after=${page.body.meta.next}&before=${page.body.meta.next}`)).status).toBe(400)
  await ada.send('PATCH', `${stories}/${idOf(made)}`, { changes: { related: { disconnect: [targets[0]] } } }, ifMatch(made))
  expect((await links(`limit=3&after=${page.body.meta.next}`)).status).toBe(400)
  expect((await links(`limit=3&before=${last.body.meta.previous}`)).status).toBe(400)
  expect((await ada.get(`${stories}/none/links/related`)).status).toBe(404)
  // A document shows the first links of each relation.
  const owner = idOf(await make({ name: 'Many' }, `/content/${writer}`))
  for (let index = 0; index < 104; index += 13)
    await Promise.all(Array.from({ length: 13 }, () => make({ title: 'One of many', writer: owner })))
  const view = (await ada.get(`/content/${writer}/${owner}`)).body.data
  expect([view.draft.stories.length, view.more]).toEqual([100, ['stories']])
  const rest = await ada.get(`/content/${writer}/${owner}/links/stories?limit=103`)
  expect([rest.body.data.length, typeof rest.body.meta.next]).toEqual([103, 'string'])
})

rule('administration-content.14', 'documents that link to a document are listed', async () => {
  const dora = idOf(await make({ name: 'Dora' }, `/content/${writer}`))
  const made = [await make({ title: 'Use 1', writer: dora }), await make({ title: 'Use 2', writer: dora })]
  const uses = await ada.get(`/content/${writer}/${dora}/uses`)
  expect(uses.body.data).toMatchObject([{ type: story, path: 'writer', more: false, documents: [{ name: 'Use 1' }, { name: 'Use 2' }] }])
  await make({ title: 'Use 3', related: [idOf(made[0]!)] })
  expect((await ada.get(`${stories}/${idOf(made[0]!)}/uses`)).body.data).toMatchObject([
    { type: story, path: 'related', documents: [{ name: 'Use 3' }] },
  ])
  expect((await ada.get(`${stories}/${idOf(made[1]!)}/uses`)).body.data).toEqual([])
  expect((await ada.get(`${stories}/none/uses`)).status).toBe(404)
})

rule('administration-content.15', 'the log of activity has every write', async () => {
  const made = await make({ title: 'Logged', secret: 'not in the log' })
  const path = `${stories}/${idOf(made)}`
  const changed = await ada.send('PATCH', path, { changes: { summary: 'not in the log' } }, ifMatch(made))
  await ada.send('PATCH', path, { changes: { summary: 'refused' } }, ifMatch(made))
  const published = await ada.send('POST', `${path}/publish`, undefined, ifMatch(changed))
  await ada.send('POST', `${path}/unpublish`, undefined, ifMatch(published))
  await ada.send('DELETE', path, undefined, ifMatch(await ada.get(path)))
  const entries = await entriesOf(made)
  expect(entries).toEqual([
    ['create', story, ada.id, ['title', 'secret'], ['en']],
    ['update', story, ada.id, ['summary'], ['en']],
    ['publish', story, ada.id, [], ['en']],
    ['unpublish', story, ada.id, [], ['en']],
    ['delete', story, ada.id, [], ['en']],
  ])
  expect((await served.sql('SELECT * FROM octavo_activity')).map((row) => JSON.stringify(row)).join()).not.toContain('not in the log')
})

/** The entries about a document, the first one first. */
async function entriesOf(made: TestResponse): Promise<unknown[]> {
  const { body } = await ada.get(`/activity?limit=200&subjectId=${idOf(made)}`)
  return [...body.data]
    .reverse()
    .map(({ action, subject, administrator, fields, locales }) => [action, subject, administrator.id, fields, locales])
}

rule('administration-content.15', 'the log names the locales, and has nothing where nothing was done', async () => {
  const made = await make({ title: 'In two locales' })
  const path = `${stories}/${idOf(made)}`
  const german = await ada.send('PATCH', `${path}?locale=de`, { changes: { title: 'In zwei Sprachen' } }, { 'if-none-match': '*' })
  const english = await ada.get(path)
  const both = { 'if-match': `${tagOf(english)}, ${tagOf(german)}` }
  await ada.send('POST', `${path}/publish?locale=*`, undefined, both)
  await ada.send('POST', `${path}/unpublish?locale=de`, undefined, both)
  const before = await entriesOf(made)
  expect(before.map((entry) => [(entry as unknown[])[0], (entry as unknown[])[4]])).toEqual([
    ['create', ['en']],
    ['update', ['de']],
    ['publish', ['en', 'de']],
    ['unpublish', ['de']],
  ])
  expect((await ada.send('POST', `${path}/unpublish?locale=de`, undefined, both)).status).toBe(200)
  const unchanged = await ada.send('PATCH', path, { changes: {} }, ifMatch(english))
  expect([unchanged.status, unchanged.body]).toEqual([200, (await ada.get(path)).body])
  expect(unchanged.body.data.revision).toBe(english.body.data.revision)
  expect(errorOf(await ada.send('PATCH', path, { changes: {} }, { 'if-match': '"x"' }))).toEqual([412, 'PreconditionFailedError'])
  expect(await entriesOf(made)).toEqual(before)
  await ada.send('DELETE', `${path}?locale=de`, undefined, both)
  expect((await entriesOf(made)).at(-1)).toEqual(['delete', story, ada.id, [], ['de']])
  const one = await make({ name: 'Nowhere' }, `/content/${writer}`)
  expect(await entriesOf(one)).toEqual([['create', writer, ada.id, ['name'], []]])
})
