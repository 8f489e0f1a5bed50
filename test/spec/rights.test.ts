// Every resource of content against every role: super administrator, editor, author with conditions, fields, locales, readers, and none.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { adminRole } from '../support/administration.js'
import { rule } from '../support/rule.js'
import type { Served, TestResponse } from '../support/serve.js'
import {
  type AdminClient,
  front,
  giveRights,
  newsroomRoles,
  type RightRow,
  remark,
  serveNewsroom,
  signInClient,
  story,
  writer,
} from './newsroom.js'

const stories = `/content/${story}`
let served: Served
let ada: AdminClient
const clients: Record<string, AdminClient> = {}
beforeAll(async () => {
  served = await serveNewsroom()
  ada = await signInClient(served, 'ada@office.example')
  clients.super = ada
  for (const [code, rows] of Object.entries(newsroomRoles)) {
    await giveRights(served, code, rows)
    clients[code] = await signInClient(served, `${code}@office.example`, [code])
  }
})
afterAll(() => served?.close())

const idOf = ({ body }: TestResponse): string => body.data.documentId
const tagOf = ({ headers }: TestResponse): string => headers.get('etag') ?? ''

/** Creates a story of this administrator in English, and optionally in German, published in both. Resolves to its id. */
async function storyOf(client: AdminClient, data: object = {}, withGerman = false): Promise<string> {
  const made = await ada.send('POST', stories, {
    data: { title: 'A story', secret: 'hidden words', seo: { metaTitle: 'm', metaSecret: 'hidden meta' }, ...data },
  })
  if (made.status !== 201) throw new Error(made.text)
  const path = `${stories}/${idOf(made)}`
  const german = withGerman
    ? await ada.send('PATCH', `${path}?locale=de`, { changes: { title: 'Eine Geschichte' } }, { 'if-none-match': '*' })
    : null
  const headers = { 'if-match': [made, ...(german === null ? [] : [german])].map(tagOf).join(', ') }
  const published = await ada.send('POST', `${path}/publish?locale=${withGerman ? 'en,de' : 'en'}`, undefined, headers)
  if (published.status !== 200) throw new Error(published.text)
  await served.sql('UPDATE stories SET created_by_id = ? WHERE document_id = ?', client.id, idOf(made))
  return idOf(made)
}

/** The revision that a super administrator sees. */
const revisionOf = async (id: string, locale = 'en') => ({ 'if-match': tagOf(await ada.get(`${stories}/${id}?locale=${locale}`)) })

type Verb = 'list' | 'total' | 'get' | 'patch' | 'publish' | 'unpublish' | 'discard' | 'clone' | 'delete' | 'create'
const verbs: readonly Verb[] = ['list', 'total', 'get', 'patch', 'publish', 'unpublish', 'discard', 'clone', 'create', 'delete']

async function request(client: AdminClient, verb: Verb, id: string, locale: string): Promise<TestResponse> {
  const path = `${stories}/${id}`
  const at = `?locale=${locale}`
  const headers = await revisionOf(id, locale)
  switch (verb) {
    case 'list':
      return client.get(`${stories}${at}&filters[documentId]=${id}`)
    case 'total':
      return client.get(`${stories}/total${at}&filters[documentId]=${id}`)
    case 'get':
      return client.get(path + at)
    case 'patch':
      return client.send('PATCH', path + at, { changes: { title: 'Changed' } }, headers)
    case 'clone':
      return client.send('POST', `${path}/clone${at}`, {})
    case 'create':
      return client.send('POST', stories + at, { data: { title: 'New' } })
    case 'delete':
      return client.send('DELETE', path + at, undefined, headers)
    default:
      return client.send('POST', `${path}/${verb}${at}`, undefined, headers)
  }
}

/** Status of a response, with the count and total of lists. */
const said = (verb: Verb, { status, body }: TestResponse): string =>
  status !== 200 ? String(status) : verb === 'list' ? `200 ${body.data.length}` : verb === 'total' ? `200 ${body.data.total}` : '200'

const allowed = ['200 1', '200 1', '200', '200', '200', '200', '200', '201', '201', '204']
const absent = ['200 0', '200 0', '404', '404', '404', '404', '404', '404', '201', '404']
const refused = verbs.map(() => '403')
const matrix: readonly (readonly [role: string, whose: 'own' | 'others', locale: 'en' | 'de', says: readonly string[]])[] = [
  ['super', 'others', 'en', allowed],
  ['super', 'others', 'de', allowed],
  ['editor', 'own', 'en', allowed],
  ['editor', 'others', 'en', allowed],
  ['editor', 'others', 'de', allowed],
  ['author', 'own', 'en', allowed],
  ['author', 'own', 'de', allowed],
  ['author', 'others', 'en', absent],
  ['author', 'others', 'de', absent],
  ['colleague', 'own', 'en', allowed],
  ['colleague', 'others', 'en', absent],
  ['fields', 'others', 'en', ['200 1', '200 1', '200', '200', '403', '403', '403', '201', '201', '403']],
  ['german', 'others', 'de', allowed],
  // Documents invisible in English are visible in German: the document is there, and the locale is not.
  ['german', 'others', 'en', ['200 0', '200 0', '200', '404', '404', '404', '404', '404', '403', '404']],
  ['reader', 'others', 'en', ['200 1', '200 1', '200', '403', '403', '403', '403', '403', '403', '403']],
  ['blind', 'own', 'en', refused],
  ['unknown', 'own', 'en', refused],
  ['none', 'own', 'en', refused],
]

describe('rights.9: each act of each role', () => {
  test.each(matrix)('rights.9: %s, %s documents, %s', async (role, whose, locale, says) => {
    const client = clients[role]!
    const found: string[] = []
    for (const verb of verbs) {
      const id = await storyOf(whose === 'own' ? client : ada, {}, locale === 'de' || role === 'german')
      const before = await ada.get(`${stories}/${id}?locale=${locale}`)
      const answer = await request(client, verb, id, locale)
      found.push(said(verb, answer))
      // Refused requests have changed nothing.
      if (answer.status >= 400) expect((await ada.get(`${stories}/${id}?locale=${locale}`)).body).toEqual(before.body)
    }
    expect(Object.fromEntries(verbs.map((verb, index) => [verb, found[index]]))).toEqual(
      Object.fromEntries(verbs.map((verb, index) => [verb, says[index]])),
    )
  })
})

rule('rights.9', 'a document says what may be done to it, as the acts do', async () => {
  const may = async (role: string, id: string, locale = 'en') =>
    (await clients[role]!.get(`${stories}/${id}?locale=${locale}`)).body.data.may
  const id = await storyOf(ada, {}, true)
  const nothing = { update: [], delete: false, publish: false, unpublish: false, discardDraft: false }
  expect(await may('reader', id)).toEqual(nothing)
  expect(await may('fields', id)).toEqual({ ...nothing, update: ['title', 'seo.metaTitle'] })
  expect(await may('german', id)).toEqual(nothing)
  expect(await may('german', id, 'de')).toMatchObject({ delete: true, publish: true })
  expect(await may('author', await storyOf(clients.author!))).toMatchObject({
    delete: true,
    publish: true,
    update: expect.arrayContaining(['secret']),
  })
})

rule('rights.10', 'each right to write has its own attributes, locales and conditions', async () => {
  await giveRights(served, 'mixed', [
    { action: 'read', subject: story },
    { action: 'update', subject: story, properties: { fields: ['title'], locales: null } },
    { action: 'update', subject: story, properties: { fields: ['summary'], locales: null }, conditions: ['admin::is-creator'] },
    { action: 'update', subject: story, properties: { fields: ['score'], locales: ['de'] } },
    { action: 'create', subject: story, properties: { fields: ['title', 'day'], locales: ['de'] } },
    { action: 'publish', subject: story, properties: { locales: ['de'] } },
    { action: 'delete', subject: story, properties: { locales: null }, conditions: ['admin::is-creator'] },
  ])
  const mixed = await signInClient(served, 'mixed@office.example', ['mixed'])
  const [own, others] = [await storyOf(mixed, {}, true), await storyOf(ada, {}, true)]
  const patch = async (id: string, changes: object, locale = 'en') =>
    (await mixed.send('PATCH', `${stories}/${id}?locale=${locale}`, { changes }, await revisionOf(id, locale))).status
  expect(await patch(others, { title: 'x' })).toBe(200)
  expect(await patch(others, { summary: 'x' })).toBe(400)
  expect(await patch(own, { summary: 'x', title: 'y' })).toBe(200)
  expect(await patch(own, { summary: 'x', score: 1 })).toBe(400)
  expect(await patch(own, { summary: 'x', score: 1 }, 'de')).toBe(200)
  expect(await patch(others, { score: 1 }, 'de')).toBe(200)
  const publish = async (locale: string) => {
    const tags = await Promise.all(['en', 'de'].map(async (each) => (await revisionOf(others, each))['if-match']))
    return (await mixed.send('POST', `${stories}/${others}/publish?locale=${locale}`, undefined, { 'if-match': tags.join(', ') })).status
  }
  expect([await publish('de'), await publish('en'), await publish('en,de'), await publish('*')]).toEqual([200, 403, 403, 403])
  // A new locale is created.
  const english = await storyOf(ada)
  const newLocale = async (changes: object) =>
    (await mixed.send('PATCH', `${stories}/${english}?locale=de`, { changes }, { 'if-none-match': '*' })).status
  expect([await newLocale({ title: 'x', score: 1 }), await newLocale({ title: 'x', day: '2026-01-01' })]).toEqual([400, 200])
  expect((await mixed.send('POST', `${stories}?locale=en`, { data: { title: 'x' } })).status).toBe(403)
  expect((await mixed.send('POST', `${stories}?locale=de`, { data: { title: 'x', day: '2026-01-01' } })).status).toBe(201)
  // Permission to delete some of the locales is not enough to delete all.
  const both = await storyOf(clients.german!, {}, true)
  const tags = `${(await revisionOf(both))['if-match']}, ${(await revisionOf(both, 'de'))['if-match']}`
  expect((await clients.german!.send('DELETE', `${stories}/${both}?locale=*`, undefined, { 'if-match': tags })).status).toBe(403)
})

rule('rights.10', 'values that would become unreadable are not written', async () => {
  await giveRights(served, 'away', [
    { action: 'read', subject: story, properties: { locales: ['en'] } },
    { action: 'create', subject: story },
  ])
  const away = await signInClient(served, 'away@office.example', ['away'])
  expect((await away.send('POST', `${stories}?locale=de`, { data: { title: 'x' } })).status).toBe(403)
  expect((await ada.get(`${stories}?locale=de&filters[title]=x&filters[createdBy][id]=${away.id}`)).body.data).toEqual([])
})

rule('rights.10', 'a single type is created with the right to create, and changed with the one to update', async () => {
  await giveRights(served, 'maker', [
    { action: 'read', subject: front },
    { action: 'create', subject: front },
  ])
  const maker = await signInClient(served, 'maker@office.example', ['maker'])
  const made = await maker.send('POST', `/content/${front}`, { data: { headline: 'Made' } })
  expect(made.status).toBe(201)
  expect((await maker.send('POST', `/content/${front}`, { data: { headline: 'Again' } })).status).toBe(412)
  const path = `/content/${front}/${idOf(made)}`
  expect((await maker.send('PATCH', path, { changes: { headline: 'Other' } }, { 'if-match': tagOf(made) })).status).toBe(403)
  expect((await ada.get(`/content/${front}`)).body.data).toMatchObject([{ values: { headline: 'Made' } }])
})

rule('rights.11', 'nothing reveals hidden attributes', async () => {
  const made = await ada.send('POST', stories, {
    data: { title: 'Told by nothing', secret: 'zebra', code: 'a:b!', seo: { metaTitle: 'm', metaSecret: 'sea lion' } },
  })
  const path = `${stories}/${idOf(made)}`
  const { fields } = clients as { fields: AdminClient }
  const seen = await fields.get(path)
  for (const word of ['zebra', 'sea lion', 'a:b!']) expect(seen.text).not.toContain(word)
  expect(Object.keys(seen.body.data.draft.seo).sort()).toEqual(['documentId', 'id', 'metaTitle'])
  const named = [
    ...[
      'filters[secret]=zebra',
      'filters[secret][$startsWith]=z',
      'filters[$not][secret][$null]=true',
      'filters[seo][metaSecret]=sea lion',
      'filters[writer][name]=x',
    ],
    ...[
      'filters[related][secret]=zebra',
      'filters[createdBy][email]=a',
      'filters[createdBy][roles][code]=a',
      'filters[localizations][secret]=zebra',
    ],
    ...[
      'sort=secret',
      'sort=seo.metaSecret',
      'sort=writer.name',
      'fields=secret',
      'fields=title,secret',
      'populate=writer',
      'populate[seo][fields]=metaSecret',
    ],
    ...[
      'populate[seo][filters][metaSecret]=lion',
      'populate[seo][sort]=metaSecret',
      'populate[localizations][fields]=secret',
      'populate[createdBy][fields]=email',
    ],
    'populate=localizations.writer',
  ]
  for (const query of named)
    for (const at of ['', '/total']) expect([query, at, (await fields.get(`${stories}${at}?${query}`)).status]).toEqual([query, at, 400])
  for (const word of ['zebra', 'sea lion', 'a:b!']) expect((await fields.get(`${stories}/total?q=${word}`)).body.data.total).toBe(0)
  expect((await fields.get(`${stories}/total?q=told by`)).body.data.total).toBe(1)
  const whole = await fields.get(`${stories}?filters[title]=Told by nothing&populate=*`)
  for (const word of ['zebra', 'sea lion', 'a:b!']) expect(whole.text).not.toContain(word)
  // A refused write shows the document as it may be seen.
  const changed = await fields.send('PATCH', path, { changes: { title: 'x' } }, { 'if-match': '"wrong"' })
  expect(changed.status).toBe(412)
  for (const word of ['zebra', 'sea lion', 'a:b!']) expect(changed.text).not.toContain(word)
  // Nor do paths: the number of entries is not revealed.
  const entries = await ada.send('POST', stories, { data: { title: 'Entries', links: [{ metaTitle: 'one' }] } })
  const guessed = await Promise.all(
    ['0', '1'].map((at) =>
      fields.send('PATCH', `${stories}/${idOf(entries)}`, { changes: { [`links/${at}/metaTitle`]: 'x' } }, { 'if-match': tagOf(entries) }),
    ),
  )
  expect(guessed.map(({ status, text }) => [status, text])).toEqual([guessed[0]!, guessed[0]!].map(({ text }) => [400, text]))
  // Nor do errors of a draft.
  await giveRights(served, 'publisher', [
    { action: 'read', subject: story, properties: { fields: ['title'], locales: null } },
    { action: 'publish', subject: story },
  ])
  const publisher = await signInClient(served, 'publisher@office.example', ['publisher'])
  const wrong = await publisher.send('POST', `${path}/publish`, undefined, await revisionOf(idOf(made)))
  expect([wrong.status, wrong.body.error.details.errors[0].path]).toEqual([400, ['code']])
  expect(wrong.text).not.toContain('a:b!')
  // The draft has the value, and it is refused.
  const refused = await ada.send('POST', `${path}/publish`, undefined, await revisionOf(idOf(made)))
  expect([refused.status, (await ada.get(path)).body.data.draft.code]).toEqual([400, 'a:b!'])
})

rule('rights.11', 'a hidden attribute is refused like one that does not exist, by the same words', async () => {
  const made = await ada.send('POST', stories, { data: { title: 'Named', seo: { metaTitle: 'm' } } })
  const path = `${stories}/${idOf(made)}`
  const { fields } = clients as { fields: AdminClient }
  const nameless = ({ status, text }: TestResponse, name: string) => [status, text.replaceAll(name, '…')]
  const queries = [
    'filters[?]=1',
    'filters[?][$none]=1',
    'filters[?][none]=1',
    'filters[?][$and]=1',
    'sort=?',
    'sort=?:none',
    'sort[?][none]=asc',
    'fields=?',
  ]
  for (const query of queries)
    for (const hidden of ['secret', 'score', 'writer', 'sections', 'links']) {
      const [one, other] = [hidden, 'nothing'].map((name) => fields.get(`${stories}?${query.replace('?', name)}`))
      expect([query, ...nameless(await one!, hidden)]).toEqual([query, ...nameless(await other!, 'nothing')])
    }
  for (const query of ['filters[seo][?]=1', 'sort=seo.?', 'populate[seo][filters][?]=1', 'populate[seo][fields]=?']) {
    const [one, other] = ['metaSecret', 'nothing'].map((name) => fields.get(`${stories}?${query.replace('?', name)}`))
    expect([query, ...nameless(await one!, 'metaSecret')]).toEqual([query, ...nameless(await other!, 'nothing')])
  }
  const [one, other] = ['metaSecret', 'nothing'].map((name) =>
    fields.send('PATCH', path, { changes: { [`seo/${name}`]: 'x' } }, { 'if-match': tagOf(made) }),
  )
  expect(nameless(await one!, 'metaSecret')).toEqual(nameless(await other!, 'nothing'))
})

rule('rights.11', 'nothing reveals hidden documents', async () => {
  const { author, german } = clients as { author: AdminClient; german: AdminClient }
  const [own, others] = [await storyOf(author, { title: 'Seen' }), await storyOf(ada, { title: 'Unseen', summary: 'secretly' })]
  await ada.send('PATCH', `${stories}/${own}`, { changes: { related: { connect: [others] } } }, await revisionOf(own))
  const at = `${stories}/${own}`
  const seen = await author.get(at)
  expect(seen.body.data.draft.related).toEqual([])
  expect(seen.text).not.toContain(others)
  for (const query of ['filters[title]=Unseen', 'q=secretly', 'filters[related][title]=Unseen', `filters[related][documentId]=${others}`])
    expect([query, (await author.get(`${stories}/total?${query}`)).body.data.total]).toEqual([query, 0])
  expect((await author.get(`${stories}?filters[title]=Seen&populate[related][count]=true`)).body.data[0].values.related).toEqual({
    count: 0,
  })
  expect((await author.get(`${at}/links/related`)).body.data).toEqual([])
  expect((await author.get(`/choices/${story}/related?q=unseen`)).body.data).toEqual([])
  const hiddenPaths = [
    [`${stories}/${others}/links/related`, 404],
    [`${stories}/${others}/uses`, 404],
    [`/choices/${story}/writer`, 403],
  ] as const
  for (const [path, status] of hiddenPaths) expect([path, (await author.get(path)).status]).toEqual([path, status])
  const linking = await storyOf(ada, { related: [own] })
  expect((await author.get(`${at}/uses`)).text).not.toContain(linking)
  expect((await ada.get(`${at}/uses`)).text).toContain(linking)
  const { fields } = clients as { fields: AdminClient }
  expect([(await fields.get(`${at}/links/related`)).status, (await fields.get(`/choices/${story}/related`)).status]).toEqual([400, 400])
  expect((await fields.get(`${at}/uses`)).body.data).toEqual([])
  // A link to a hidden document is refused like one to a missing document, and stays when the list is set.
  const link = (id: string) => async () => author.send('PATCH', at, { changes: { related: { connect: [id] } } }, await revisionOf(own))
  const [hidden, missing] = [await link(others)(), await link('aaaaaaaaaaaaaaaaaaaaaaaa')()]
  expect([hidden.status, hidden.text.replaceAll(others, 'ID')]).toEqual([400, missing.text.replaceAll('aaaaaaaaaaaaaaaaaaaaaaaa', 'ID')])
  expect((await author.send('PATCH', at, { changes: { related: { set: [] } } }, await revisionOf(own))).status).toBe(200)
  expect((await ada.get(at)).body.data.draft.related).toMatchObject([{ documentId: others }])
  // Any request about a hidden document gets the same response as about a missing one.
  for (const [method, path, body, headers] of [
    ['GET', '', undefined, {}],
    ['PATCH', '', { changes: { title: 'x' } }, { 'if-match': '"wrong"' }],
    ['PATCH', '', { changes: { 'seo/metaTitle': 'x' } }, { 'if-match': '"wrong"' }],
    ['PATCH', '', { changes: { nothing: 'x' } }, await revisionOf(others)],
    ['PATCH', '', { changes: { title: 'x' } }, { 'if-none-match': '*' }],
    ['PATCH', '?locale=de', { changes: { title: 'x' } }, { 'if-none-match': '*' }],
    ['POST', '/publish', undefined, { 'if-match': '"wrong"' }],
    ['POST', '/unpublish?locale=*', undefined, await revisionOf(others)],
    ['POST', '/discard?locale=en,de', undefined, { 'if-match': '"wrong"' }],
    ['POST', '/clone', {}, {}],
    ['DELETE', '?locale=*', undefined, { 'if-match': '"wrong"' }],
  ] as const) {
    const [one, none] = await Promise.all(
      [others, 'aaaaaaaaaaaaaaaaaaaaaaaa'].map((id) =>
        author.send(method, `${stories}/${id}${path}`, body, headers as Record<string, string>),
      ),
    )
    expect([method, path, one!.status, one!.text]).toEqual([method, path, none!.status, none!.text])
  }
  // An unreadable locale is not listed, and its state is not revealed.
  const both = await storyOf(ada, { summary: 'English words' }, true)
  const view = await german.get(`${stories}/${both}`)
  expect(view.body.data.locales.map(({ locale }: { locale: string }) => locale)).toEqual(['de'])
  expect(view.text).not.toContain('English words')
  expect((await german.get(`${stories}/total?locale=*&filters[documentId]=${both}`)).body.data.total).toBe(1)
  expect(
    (await german.get(`${stories}?locale=*&filters[documentId]=${both}&populate=localizations`)).body.data[0].values.localizations,
  ).toEqual([])
})

rule('rights.11', 'an unreadable locale looks like a missing one', async () => {
  await giveRights(
    served,
    'english',
    (['read', 'create', 'update', 'publish', 'delete'] as const).map((action) => ({
      action,
      subject: story,
      properties: { locales: ['en'] },
    })),
  )
  const english = await signInClient(served, 'english@office.example', ['english'])
  const [without, withGerman] = [await storyOf(ada), await storyOf(ada, {}, true)]
  const answers = async (id: string) => {
    const found: unknown[] = []
    for (const act of ['publish', 'unpublish', 'discard'])
      for (const locale of ['de', 'en,de']) {
        const { status, body } = await english.send('POST', `${stories}/${id}/${act}?locale=${locale}`, undefined, await revisionOf(id))
        found.push([act, locale, status, body])
      }
    for (const header of [{ 'if-none-match': '*' }, await revisionOf(id)]) {
      const { status, body } = await english.send('PATCH', `${stories}/${id}?locale=de`, { changes: { title: 'Neu' } }, header)
      found.push([status, body])
    }
    const { status, body } = await english.send('DELETE', `${stories}/${id}?locale=de`, undefined, await revisionOf(id))
    return [...found, status, body]
  }
  expect(await answers(withGerman)).toEqual(await answers(without))
})

rule('rights.11', 'links to documents of types that may not be read stay', async () => {
  const remarks: RightRow[] = (['read', 'create', 'update'] as const).map((action) => ({ action, subject: remark }))
  await giveRights(served, 'critic', [...remarks, { action: 'read', subject: story }])
  const critic = await signInClient(served, 'critic@office.example', ['critic'])
  const ana = idOf(await ada.send('POST', `/content/${writer}`, { data: { name: 'Ana' } }))
  const [one, two] = [
    await ada.send('POST', stories, { data: { title: 'One' } }),
    await ada.send('POST', stories, { data: { title: 'Two' } }),
  ]
  const subject = (type: string, documentId: string) => ({ __type: type, documentId })
  const subjects = [subject(writer, ana), subject(story, idOf(one)), subject(story, idOf(two))]
  const made = await ada.send('POST', `/content/${remark}`, { data: { body: 'On both', subjects } })
  const path = `/content/${remark}/${idOf(made)}`
  const ifMatch = { 'if-match': made.headers.get('etag')! }
  const changed = await critic.send('PATCH', path, { changes: { subjects: { set: [subject(story, idOf(two))] } } }, ifMatch)
  expect(changed.status, changed.text).toBe(200)
  expect(changed.body.data.draft.subjects).toMatchObject([{ documentId: idOf(two) }])
  expect((await ada.get(path)).body.data.draft.subjects).toMatchObject([{ documentId: idOf(two) }, { documentId: ana }])
})

rule('rights.12', 'partly writable entries stay', async () => {
  const { fields } = clients as { fields: AdminClient }
  const id = await storyOf(ada)
  const path = `${stories}/${id}`
  const entry = (await ada.get(path)).body.data.draft.seo.id as number
  const patch = async (changes: object) => (await fields.send('PATCH', path, { changes }, await revisionOf(id))).status
  for (const changes of [
    { seo: null },
    { seo: { metaTitle: 'x' } },
    { seo: { id: entry + 1_000, metaTitle: 'x' } },
    { seo: { id: entry, metaSecret: 'x' } },
    { 'seo/metaSecret': 'x' },
    { links: [] },
    { 'links/0/metaTitle': 'x' },
    { title: 'x', summary: 'y' },
    { secret: null },
  ])
    expect([changes, await patch(changes)]).toEqual([changes, 400])
  expect([await patch({ seo: { id: entry, metaTitle: 'x' } }), await patch({ 'seo/metaTitle': 'y' })]).toEqual([200, 200])
  expect((await ada.get(path)).body.data.draft.seo).toMatchObject({ id: entry, metaTitle: 'y', metaSecret: 'hidden meta' })
})

rule('rights.13', 'changed rows and roles hold for the next request', async () => {
  const client = await signInClient(served, 'changing@office.example', ['changing'])
  const list = async () => (await client.get(stories)).status
  expect(await list()).toBe(403)
  await giveRights(served, 'changing', [{ action: 'read', subject: story, properties: { fields: ['title'], locales: null } }])
  expect(await list()).toBe(200)
  expect((await client.get(`${stories}?sort=summary`)).status).toBe(400)
  const role = await adminRole(served, 'changing')
  const permissions = 'SELECT permission_id FROM admin_permissions_role_lnk WHERE role_id = ?'
  await served.sql(`UPDATE admin_permissions SET properties = ? WHERE id IN (${permissions})`, JSON.stringify({ locales: null }), role)
  expect((await client.get(`${stories}?sort=summary`)).status).toBe(200)
  await served.sql('DELETE FROM admin_users_roles_lnk WHERE user_id = ?', client.id)
  expect(await list()).toBe(403)
})
