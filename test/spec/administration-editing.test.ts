// Editing helpers for administrators: checks before a publication, filling from another locale, free uids, search.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allowAdmins, rowsOf } from '../support/administration.js'
import { rule } from '../support/rule.js'
import type { Served, TestResponse } from '../support/serve.js'
import { type AdminClient, giveRights, newsroomRoles, serveNewsroom, signInClient, story, writer } from './newsroom.js'

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

const tagOf = ({ headers }: TestResponse): string => headers.get('etag') ?? ''

async function ok(asked: Promise<TestResponse>): Promise<TestResponse> {
  const answer = await asked
  if (answer.status >= 300) throw new Error(answer.text)
  return answer
}

/** Creates a story in English; resolves to its id. */
async function storyOf(data: object = {}, client: AdminClient = ada): Promise<string> {
  const made = await ok(ada.send('POST', stories, { data: { title: 'A story', ...data } }))
  const id: string = made.body.data.documentId
  await served.sql('UPDATE stories SET created_by_id = ? WHERE document_id = ?', client.id, id)
  return id
}
const tag = async (id: string, locale = 'en') => ({ 'if-match': tagOf(await ada.get(`${stories}/${id}?locale=${locale}`)) })
const inGerman = async (id: string, changes: object) =>
  ok(ada.send('PATCH', `${stories}/${id}?locale=de`, { changes }, { 'if-none-match': '*' }))
const publish = async (id: string, locale = 'en') =>
  ok(ada.send('POST', `${stories}/${id}/publish?locale=${locale}`, undefined, await tag(id, locale)))
const check = (client: AdminClient, id: string, locale = 'en') => client.get(`${stories}/${id}/check?locale=${locale}`)
const fill = async (client: AdminClient, id: string, fields: readonly string[], headers?: Record<string, string>) =>
  client.send('POST', `${stories}/${id}/fill?locale=de`, { from: 'en', fields }, headers ?? (await tag(id, 'de')))

rule('administration-editing.1', 'the check reports the errors that would refuse a publication', async () => {
  const id = await storyOf({ title: null, code: 'abc', seo: { metaTitle: 'm' } })
  await inGerman(id, { title: 'Gut' })
  const { body } = await ok(check(ada, id, '*'))
  expect(body.data.map(({ locale }: { locale: string }) => locale).sort()).toEqual(['de', 'en'])
  const english = body.data.find(({ locale }: { locale: string }) => locale === 'en')
  const refused = await ada.send('POST', `${stories}/${id}/publish`, undefined, await tag(id))
  expect(english.errors).toEqual(refused.body.error.details.errors)
  expect(english.errors.map(({ path }: { path: string[] }) => path.join('.')).sort()).toEqual(['code', 'title'])
  expect(body.data.find(({ locale }: { locale: string }) => locale === 'de').errors).toEqual([])
  expect((await ok(check(ada, id, 'de,en'))).body.data).toHaveLength(2)
  // Nothing was written.
  expect((await ada.get(`${stories}/${id}`)).body.data.state).toBe('draft')
  const other = await storyOf()
  await ok(ada.send('PATCH', `${stories}/${other}`, { changes: { slug: 'taken' } }, await tag(other)))
  await publish(other)
  const twin = await storyOf({ slug: 'taken' })
  expect((await ok(check(ada, twin))).body.data[0].errors).toMatchObject([{ path: ['slug'] }])
  expect((await ok(check(ada, twin, 'en,de'))).body.data).toMatchObject([
    { locale: 'en', isMissing: false, errors: [{ path: ['slug'] }] },
    { locale: 'de', isMissing: true, errors: [], waiting: [], more: false },
  ])
  expect((await check(ada, twin, 'de')).status).toBe(404)
  expect((await check(ada, 'aaaaaaaaaaaaaaaaaaaaaaaa')).status).toBe(404)
  const ana = (await ok(ada.send('POST', `/content/${writer}`, { data: { name: 'Ana' } }))).body.data.documentId
  expect((await ada.get(`/content/${writer}/${ana}/check`)).status).toBe(400)
})

rule('administration-editing.1', 'messages have no values that may not be seen', async () => {
  await giveRights(served, 'titles', [{ action: 'read', subject: story, properties: { fields: ['title'], locales: null } }])
  const titles = await signInClient(served, 'titles@office.example', ['titles'])
  const id = await storyOf({ code: 'a:b!' })
  const shown = await ok(check(titles, id))
  expect(shown.body.data[0].errors).toMatchObject([{ path: ['code'] }])
  expect(shown.text).not.toContain('a:b!')
})

rule('administration-editing.2', 'links to unpublished documents wait, others do not', async () => {
  const [draft, published] = [await storyOf({ title: 'Draft' }), await storyOf({ title: 'Public' })]
  await publish(published)
  const id = await storyOf({ related: [draft, published] })
  const { data } = (await ok(check(ada, id))).body
  expect(data).toEqual([
    {
      locale: 'en',
      isMissing: false,
      errors: [],
      hints: [],
      more: false,
      waiting: [{ path: ['related', '0'], type: story, documentId: draft, locale: 'en' }],
    },
  ])
  await publish(draft)
  expect((await ok(check(ada, id))).body.data[0].waiting).toEqual([])
  // Unreadable values are not revealed.
  const hidden = await storyOf({ title: 'Hidden' })
  const own = await storyOf({ related: [hidden] }, clients.author!)
  const seen = await ok(check(clients.author!, own))
  expect([seen.body.data[0].waiting, seen.text.includes(hidden)]).toEqual([[], false])
})

rule('administration-editing.3', 'attributes are taken from another locale', async () => {
  const [both, onlyEnglish] = [await storyOf({ title: 'Both' }), await storyOf({ title: 'English' })]
  await inGerman(both, { title: 'Beide' })
  const ana = (await ok(ada.send('POST', `/content/${writer}`, { data: { name: 'Ana' } }))).body.data.documentId
  const id = await storyOf({
    ...{ title: 'English', summary: 'Words', slug: 'english', score: 7, seo: { metaTitle: 'meta' } },
    sections: [{ __component: 'block.text', heading: 'One', seo: { metaTitle: 'inner' } }],
    related: [both, onlyEnglish],
    writer: ana,
  })
  await inGerman(id, { title: 'Deutsch', day: '2026-01-01', links: [{ metaTitle: 'l' }] })
  const fields = ['summary', 'slug', 'score', 'seo', 'sections', 'related', 'writer', 'day', 'links']
  const filled = await fill(ada, id, fields)
  expect(filled.status, filled.text).toBe(200)
  const english = (await ada.get(`${stories}/${id}`)).body.data.draft
  const { draft } = filled.body.data
  expect(draft).toMatchObject({ title: 'Deutsch', summary: 'Words', slug: 'english', score: 7, day: null, links: [] })
  expect(draft.seo).toMatchObject({ metaTitle: 'meta' })
  expect(draft.seo.id).not.toBe(english.seo.id)
  expect(draft.sections).toMatchObject([{ __component: 'block.text', heading: 'One', seo: { metaTitle: 'inner' } }])
  expect(draft.related.map(({ documentId, locale }: { documentId: string; locale: string }) => [documentId, locale])).toEqual([
    [both, 'de'],
  ])
  expect([draft.writer.documentId, english.writer.documentId, english.related.length]).toEqual([ana, ana, 2])
  const { body } = await ada.get(`/activity?subject=${story}&subjectId=${id}&limit=1`)
  expect(body.data[0]).toMatchObject({ action: 'update', fields })
  // A new locale.
  const fresh = await fill(ada, onlyEnglish, ['title'], { 'if-none-match': '*' })
  expect([fresh.status, fresh.body.data.draft.title]).toEqual([200, 'English'])
})

rule('administration-editing.3', 'links that several documents may have to the same target are taken', async () => {
  const ana = (await ok(ada.send('POST', `/content/${writer}`, { data: { name: 'Ana' } }))).body.data.documentId
  const id = await storyOf({ reviewers: [ana], sections: [{ __component: 'block.text', heading: 'One', source: ana }] })
  await inGerman(id, { title: 'Deutsch' })
  const { draft } = (await ok(fill(ada, id, ['reviewers', 'sections']))).body.data
  expect(draft).toMatchObject({ reviewers: [{ documentId: ana }], sections: [{ source: { documentId: ana } }] })
})

rule('administration-editing.4', 'values with unreadable parts in either locale are not filled', async () => {
  await giveRights(served, 'teller', [
    { action: 'read', subject: story, properties: { fields: ['title', 'seo.metaTitle', 'sections', 'links'], locales: null } },
    { action: 'update', subject: story },
  ])
  const teller = await signInClient(served, 'teller@office.example', ['teller'])
  const ana = (await ok(ada.send('POST', `/content/${writer}`, { data: { name: 'Ana' } }))).body.data.documentId
  const hidden = { seo: { metaSecret: 'hidden' }, sections: [{ __component: 'block.text', heading: 'One', source: ana }] }
  const [there, here] = [await storyOf({ ...hidden, links: [{ metaTitle: 'l' }] }), await storyOf({ links: [{ metaTitle: 'l' }] })]
  await inGerman(there, { title: 'Deutsch' })
  await inGerman(here, { title: 'Deutsch', ...hidden })
  for (const id of [there, here])
    for (const field of ['seo', 'sections']) {
      const refused = await fill(teller, id, ['title', field])
      expect([refused.status, refused.body.error.details.errors]).toMatchObject([400, [{ path: ['fields', '1'] }]])
    }
  expect((await fill(teller, there, ['title', 'links'])).status).toBe(200)
  expect((await ada.get(`${stories}/${here}?locale=de`)).body.data.draft).toMatchObject({ seo: hidden.seo })
})

rule('administration-editing.4', 'filling is held to the state, and to the rights both ways', async () => {
  const id = await storyOf({ secret: 'hidden words', summary: 'Words' })
  await inGerman(id, { title: 'Deutsch' })
  const before = await ada.get(`${stories}/${id}?locale=de`)
  const refusals: readonly (readonly [readonly string[], number])[] = [
    [['nothing'], 400],
    [['title', 'documentId'], 400],
    [['rank'], 400],
    [[], 400],
  ]
  for (const [fields, status] of refusals) expect([fields, (await fill(ada, id, fields)).status]).toEqual([fields, status])
  expect((await fill(ada, id, ['title', 'nothing'])).body.error.details.errors).toMatchObject([{ path: ['fields', '1'] }])
  expect((await fill(ada, id, ['title'], {})).status).toBe(428)
  const stale = await fill(ada, id, ['title'], { 'if-match': '"old"' })
  expect([stale.status, stale.body.error.details.document.locale]).toEqual([412, 'de'])
  const same = await ada.send('POST', `${stories}/${id}/fill?locale=de`, { from: 'de', fields: ['title'] }, await tag(id, 'de'))
  expect(same.status).toBe(400)
  // Without the right to read there, or the attribute, or to write here.
  expect((await fill(clients.german!, id, ['title'])).status).toBe(404)
  expect((await fill(clients.fields!, id, ['secret'])).status).toBe(400)
  expect((await fill(clients.fields!, id, ['summary'])).status).toBe(400)
  expect((await fill(clients.reader!, id, ['title'])).status).toBe(403)
  expect((await ada.get(`${stories}/${id}?locale=de`)).body).toEqual(before.body)
  expect((await fill(clients.fields!, id, ['title'])).body.data.draft.title).toBe('A story')
})

rule('administration-editing.5', 'uids are available, and generated as by the content API', async () => {
  const uid = async (text: string, document?: string) => {
    const body = { text, ...(document === undefined ? {} : { document }) }
    return (await ok(ada.send('POST', `/uid/${story}/slug`, body))).body.data.uid
  }
  expect(await uid('Über die Mühle')).toBe('ueber-die-muehle')
  const id = await storyOf({ slug: 'ueber-die-muehle' })
  expect(await uid('Über die Mühle')).toBe('ueber-die-muehle-1')
  expect(await uid('Über die Mühle', id)).toBe('ueber-die-muehle')
  expect(await uid('!!!')).toBe('story')
  const hidden = { text: 'Über die Mühle', document: id }
  expect((await clients.author!.send('POST', `/uid/${story}/slug`, { text: hidden.text })).status).toBe(200)
  expect((await clients.author!.send('POST', `/uid/${story}/slug`, hidden)).status).toBe(404)
  expect((await ada.send('POST', `/uid/${story}/slug`, { ...hidden, document: 'nowhere' })).status).toBe(404)
  expect((await ada.send('POST', `/uid/${story}/title`, { text: 'x' })).status).toBe(404)
  expect((await ada.send('POST', `/uid/${story}/slug`, { text: ' ' })).status).toBe(400)
  for (const [role, status] of [
    ['editor', 200],
    ['fields', 404],
    ['reader', 403],
    ['none', 403],
  ] as const)
    expect([role, (await clients[role]!.send('POST', `/uid/${story}/slug`, { text: 'x' })).status]).toEqual([role, status])
})

rule('administration-editing.6', 'a text finds types, documents and files that may be read', async () => {
  const id = await storyOf({ title: 'The wandering lighthouse', secret: 'lighthouse keeper' })
  const other = await storyOf({ title: 'Nothing', summary: 'a lighthouse' }, clients.author!)
  await served.sql(
    "INSERT INTO files (document_id, name, alternative_text, url, mime) VALUES ('f1', 'lighthouse.jpg', 'x', '/x.jpg', 'image/jpeg')",
  )
  const find = async (client: AdminClient, q: string) => (await ok(client.get(`/find?q=${encodeURIComponent(q)}`))).body.data
  const found = await find(ada, 'LIGHTHOUSE')
  const named = { type: story, displayName: 'Story', documentId: id, locale: 'en', state: 'draft', name: 'The wandering lighthouse' }
  expect(found.documents).toMatchObject([{ ...named, locales: [{ locale: 'en', state: 'draft' }], thumbnail: null }])
  expect(found.files).toMatchObject([{ name: 'lighthouse.jpg', url: '/x.jpg' }])
  expect([found.types, found.isComplete]).toEqual([[], true])
  expect((await find(ada, 'stor')).types).toEqual([{ uid: story, displayName: 'Story' }])
  expect((await find(clients.author!, 'lighthouse')).documents).toEqual([])
  expect((await find(clients.author!, 'lighthouse')).files).toEqual([])
  expect((await find(clients.author!, 'nothing')).documents).toMatchObject([{ documentId: other }])
  expect(await find(clients.none!, 'stor')).toMatchObject({ types: [], documents: [] })
  expect(await find(clients.blind!, 'lighthouse')).toMatchObject({ types: [], documents: [] })
  await allowAdmins(served, 'author', 'plugin::upload.read')
  expect((await find(clients.author!, 'lighthouse')).files).toMatchObject([{ name: 'lighthouse.jpg' }])
  for (const q of ['', ' ', 'x'.repeat(201)]) expect((await ada.get(`/find?q=${q}`)).status).toBe(400)
})

type Verb = 'check' | 'fill' | 'uid'
const verbs: readonly Verb[] = ['check', 'fill', 'uid']
const matrix: readonly (readonly [role: string, whose: 'own' | 'others', says: readonly number[]])[] = [
  ['super', 'others', [200, 200, 200]],
  ['editor', 'others', [200, 200, 200]],
  ['author', 'own', [200, 200, 200]],
  ['author', 'others', [404, 404, 200]],
  ['colleague', 'own', [200, 200, 200]],
  ['colleague', 'others', [404, 404, 200]],
  ['fields', 'others', [200, 200, 404]],
  ['german', 'others', [404, 404, 200]],
  ['reader', 'others', [200, 403, 403]],
  ['blind', 'own', [403, 403, 403]],
  ['unknown', 'own', [403, 403, 403]],
  ['none', 'own', [403, 403, 403]],
]

describe('rights.9: each act of each role that helps to write', () => {
  test.each(matrix)('rights.9: %s, %s documents', async (role, whose, says) => {
    const client = clients[role]!
    const id = await storyOf({}, whose === 'own' ? client : ada)
    await inGerman(id, { title: 'Deutsch' })
    await served.sql('UPDATE stories SET created_by_id = ? WHERE document_id = ?', whose === 'own' ? client.id : ada.id, id)
    const rows = await rowsOf(served, 'stories')
    const answers: Readonly<Record<Verb, TestResponse>> = {
      check: await check(client, id),
      uid: await client.send('POST', `/uid/${story}/slug`, { text: 'x' }),
      fill: await fill(client, id, ['title']),
    }
    expect(Object.fromEntries(verbs.map((verb) => [verb, answers[verb].status]))).toEqual(
      Object.fromEntries(verbs.map((verb, index) => [verb, says[index]])),
    )
    if (answers.fill.status >= 400) expect(await rowsOf(served, 'stories')).toEqual(rows)
  })
})
