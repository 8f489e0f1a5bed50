// The history of documents: stored versions, their visibility, and restoring them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addAdministrator, requestAdmin, rowsOf, signInAdmin } from '../support/administration.js'
import { rule } from '../support/rule.js'
import type { Served, TestResponse } from '../support/serve.js'
import { addToken } from './callers.js'
import { type AdminClient, giveRights, newsroomRoles, serveNewsroom, signInClient, story, writer } from './newsroom.js'

const stories = `/content/${story}`
const table = 'strapi_history_versions'

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
  await addToken(served, 'full', { type: 'full-access' })
})
afterAll(() => served?.close())

async function ok(asked: Promise<TestResponse>): Promise<TestResponse> {
  const answer = await asked
  if (answer.status >= 300) throw new Error(answer.text)
  return answer
}
const tag = async (id: string, locale = 'en') => ({
  'if-match': (await ada.get(`${stories}/${id}?locale=${locale}`)).headers.get('etag') ?? '',
})

/** Creates a story in English; resolves to its id. */
async function storyOf(data: object = {}, owner: AdminClient = ada): Promise<string> {
  const { documentId } = (await ok(ada.send('POST', stories, { data: { title: 'First', ...data } }))).body.data
  await served.sql('UPDATE stories SET created_by_id = ? WHERE document_id = ?', owner.id, documentId)
  return documentId
}
const patch = async (id: string, changes: object, client: AdminClient = ada) =>
  ok(client.send('PATCH', `${stories}/${id}`, { changes }, await tag(id)))
const versions = async (id: string) => (await ok(ada.get(`${stories}/${id}/history`))).body.data
const version = async (id: string, at = 0, client: AdminClient = ada) =>
  (await ok(client.get(`${stories}/${id}/history/${(await versions(id))[at].id}`))).body.data
/** Backdates all stored versions of a document. */
const later = (id: string) => served.sql(`UPDATE ${table} SET created_at = ? WHERE related_document_id = ?`, Date.now() - 700_000, id)

rule('history.1', 'a draft is stored before a change, every ten minutes, and publications are stored', async () => {
  const id = await storyOf({ seo: { metaTitle: 'one' } })
  expect(await versions(id)).toEqual([])
  await patch(id, { title: 'Second', 'seo/metaTitle': 'two' })
  await patch(id, { title: 'Third' })
  expect(await versions(id)).toMatchObject([{ status: 'draft', administrator: { id: ada.id, firstname: 'Ada' } }])
  expect((await version(id)).data).toMatchObject({ title: 'First', seo: { metaTitle: 'one' } })
  await later(id)
  await patch(id, { title: 'Fourth' })
  expect((await version(id)).data).toMatchObject({ title: 'Third', seo: { metaTitle: 'two' } })
  await ok(ada.send('POST', `${stories}/${id}/publish`, undefined, await tag(id)))
  expect((await versions(id)).map(({ status }: { status: string }) => status)).toEqual(['published', 'draft', 'draft'])
  expect((await version(id)).data).toMatchObject({ title: 'Fourth' })
  await patch(id, { title: 'Fifth' })
  await ok(ada.send('POST', `${stories}/${id}/discard`, undefined, await tag(id)))
  expect(await version(id)).toMatchObject({ status: 'modified', data: { title: 'Fifth' } })
  // Failed writes store nothing.
  await later(id)
  const before = await rowsOf(served, table)
  expect((await ada.send('PATCH', `${stories}/${id}`, { changes: { title: 'x' } }, { 'if-match': '"old"' })).status).toBe(412)
  expect((await ada.send('PATCH', `${stories}/${id}`, { changes: { day: 'no day' } }, await tag(id))).status).toBe(400)
  expect(await rowsOf(served, table)).toEqual(before)
})

rule('history.2', 'writes of the content API store nothing, and the state that they left is stored', async () => {
  const id = await storyOf()
  const write = (title: string) =>
    served.request(`/api/stories/${id}?status=draft`, {
      ...{ method: 'PUT', token: 'full', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ data: { title } }),
    })
  expect((await write('By a program')).status).toBe(200)
  expect(await versions(id)).toEqual([])
  await patch(id, { title: 'By Ada' })
  expect((await version(id)).data.title).toBe('By a program')
})

rule('history.3', 'rows have the form of the table, without passwords and names of others', async () => {
  const other = await storyOf({ title: 'A linked story' })
  const ana = (await ok(ada.send('POST', `/content/${writer}`, { data: { name: 'Ana the writer' } }))).body.data.documentId
  const id = await storyOf({ related: [other], writer: ana, sections: [{ __component: 'block.text', heading: 'One' }] })
  await patch(id, { title: 'Second' })
  const row = (await rowsOf(served, table)).at(-1)!
  expect(row).toMatchObject({ content_type: story, related_document_id: id, locale: 'en', status: 'draft', created_by_id: ada.id })
  const parsed = (value: unknown) => (typeof value === 'string' ? JSON.parse(value) : value)
  const data = parsed(row.data)
  expect(data).toMatchObject({ title: 'First', related: [{ documentId: other, locale: 'en' }], writer: { documentId: ana } })
  expect(data.sections).toMatchObject([{ __component: 'block.text', heading: 'One' }])
  expect(JSON.stringify(data)).not.toContain('A linked story')
  expect(JSON.stringify(data)).not.toContain('Ana the writer')
  expect(Object.keys(parsed(row.schema))).toEqual(expect.arrayContaining(['title', 'seo', 'related']))
  for (const name of ['documentId', 'createdBy', 'localizations', 'updatedAt']) expect(Object.keys(data)).not.toContain(name)
})

rule('history.4', 'versions are stored for a limited time, up to a number and a size', async () => {
  const limits = { authRateLimit: 1_000, historyInterval: 0, historyVersions: 3, historyTime: 3_600_000, bodyBytes: 4_000_000 }
  const small = await serveNewsroom({ config: { limits } })
  try {
    await addAdministrator(small, 'bea@office.example')
    const { accessToken: token } = await signInAdmin(small, 'bea@office.example')
    const request = (path: string, method = 'GET', body?: unknown, headers = {}) =>
      requestAdmin(small, path, { method, token, headers, body })
    const made = await request(stories, 'POST', { data: { title: '0' } })
    const path = `${stories}/${made.body.data.documentId}`
    const change = async (changes: object) =>
      ok(request(path, 'PATCH', { changes }, { 'if-match': (await request(path)).headers.get('etag') ?? '' }))
    for (const title of ['1', '2', '3', '4', '5']) await change({ title })
    const kept = async () => (await request(`${path}/history`)).body.data as readonly { id: number }[]
    expect(await kept()).toHaveLength(3)
    expect((await request(`${path}/history/${(await kept())[0]!.id}`)).body.data.data.title).toBe('4')
    await change({ summary: 'x'.repeat(2_100_000) })
    const before = await kept()
    await change({ summary: 'short' })
    expect(await kept()).toEqual(before)
    await small.sql(`UPDATE ${table} SET created_at = ? WHERE id >= ?`, Date.now() - 4_000_000, 0)
    await change({ title: '6' })
    expect(await kept()).toHaveLength(1)
  } finally {
    await small.close()
  }
})

rule('history.5', 'versions are listed with pages, in one locale', async () => {
  const id = await storyOf()
  for (const title of ['Second', 'Third', 'Fourth']) {
    await later(id)
    await patch(id, { title })
  }
  await ok(ada.send('PATCH', `${stories}/${id}?locale=de`, { changes: { title: 'Eins' } }, { 'if-none-match': '*' }))
  await ok(ada.send('PATCH', `${stories}/${id}?locale=de`, { changes: { title: 'Zwei' } }, await tag(id, 'de')))
  const all = await versions(id)
  expect(all).toHaveLength(3)
  const first = await ok(ada.get(`${stories}/${id}/history?limit=2`))
  const second = await ok(ada.get(`${stories}/${id}/history?limit=2&after=${first.body.meta.next}`))
  expect([...first.body.data, ...second.body.data]).toEqual(all)
  expect(second.body.meta.next).toBe(null)
  const german = (await ok(ada.get(`${stories}/${id}/history?locale=de`))).body.data
  expect(german).toHaveLength(1)
  expect((await ada.get(`${stories}/${id}/history?locale=de&after=${first.body.meta.next}`)).status).toBe(400)
  // A version of another locale or document is not there.
  expect((await ada.get(`${stories}/${id}/history/${german[0].id}`)).status).toBe(404)
  expect((await ada.get(`${stories}/${await storyOf()}/history/${all[0].id}`)).status).toBe(404)
  expect((await ada.get(`${stories}/${id}/history/999999`)).status).toBe(404)
})

rule('history.6', 'the history reveals nothing that is unreadable today', async () => {
  const hidden = await storyOf({ title: 'Hidden' })
  const id = await storyOf({ secret: 'zebra', seo: { metaTitle: 'm', metaSecret: 'sea lion' }, related: [hidden] }, clients.author!)
  await patch(id, { title: 'Second', secret: 'other', 'seo/metaSecret': 'other' })
  expect((await version(id)).data).toMatchObject({ secret: 'zebra', seo: { metaSecret: 'sea lion' }, related: [{ documentId: hidden }] })
  const seen = await ok(clients.fields!.get(`${stories}/${id}/history/${(await versions(id))[0].id}`))
  expect(seen.body.data.data).toEqual({ title: 'First', summary: null, seo: { id: expect.any(Number), metaTitle: 'm' } })
  for (const word of ['zebra', 'sea lion', hidden]) expect(seen.text).not.toContain(word)
  expect((await version(id, 0, clients.author!)).data.related).toEqual([])
  // Links to deleted documents are not shown either.
  await ok(ada.send('DELETE', `${stories}/${hidden}?locale=*`, undefined, await tag(hidden)))
  expect((await version(id)).data.related).toEqual([])
})

rule('history.7', 'a version is given back to the draft, as a whole or in parts', async () => {
  const other = await storyOf({ title: 'Linked' })
  const id = await storyOf({
    summary: null,
    score: 1,
    seo: { metaTitle: 'one' },
    related: [other],
    sections: [{ __component: 'block.text', heading: 'h' }],
  })
  await patch(id, { title: 'Second', summary: 'words', score: 2, 'seo/metaTitle': 'two', related: { set: [] }, sections: [] })
  const { id: kept } = (await versions(id))[0]
  const path = `${stories}/${id}/history/${kept}/restore`
  expect((await ada.send('POST', path, {})).status).toBe(428)
  expect((await ada.send('POST', path, {}, { 'if-match': '"old"' })).status).toBe(412)
  expect((await ada.send('POST', path, { fields: ['title', 'nothing'] }, await tag(id))).body.error.details.errors).toMatchObject([
    { path: ['fields', '1'] },
  ])
  const part = await ok(ada.send('POST', path, { fields: ['title', 'seo'] }, await tag(id)))
  expect(part.body.data.draft).toMatchObject({ title: 'First', score: 2, summary: 'words', seo: { metaTitle: 'one' } })
  const whole = await ok(ada.send('POST', path, {}, await tag(id)))
  expect(whole.body.data.draft).toMatchObject({ title: 'First', summary: null, score: 1, related: [{ documentId: other }] })
  expect(whole.body.data.draft.sections).toMatchObject([{ __component: 'block.text', heading: 'h' }])
  // The replaced state is in the history.
  expect((await version(id)).data).toMatchObject({ title: 'First', score: 2, summary: 'words', related: [] })
  expect((await version(id, 1)).data).toMatchObject({ title: 'Second', score: 2 })
  const { body } = await ada.get(`/activity?subject=${story}&subjectId=${id}&limit=1`)
  expect(body.data[0]).toMatchObject({ action: 'update', fields: expect.arrayContaining(['title', 'seo', 'related']) })
})

rule('history.7', 'restoring needs the rights of a change', async () => {
  const id = await storyOf({ summary: 'one', seo: { metaTitle: 'one', metaSecret: 'hidden' } })
  await patch(id, { title: 'Second', summary: 'two', 'seo/metaTitle': 'two' })
  const path = `${stories}/${id}/history/${(await versions(id))[0].id}/restore`
  const restore = async (client: AdminClient, body: object) => client.send('POST', path, body, await tag(id))
  expect((await restore(clients.fields!, { fields: ['summary'] })).status).toBe(400)
  expect((await restore(clients.fields!, { fields: ['secret'] })).status).toBe(400)
  expect((await restore(clients.fields!, { fields: ['seo'] })).status).toBe(400)
  expect((await restore(clients.reader!, {})).status).toBe(403)
  const done = await ok(restore(clients.fields!, {}))
  expect(done.body.data.draft).toMatchObject({ title: 'First', summary: 'two', seo: { metaTitle: 'two' } })
  expect((await ada.get(`${stories}/${id}`)).body.data.draft.seo.metaSecret).toBe('hidden')
})

rule('history.7', 'links to drafts and to other locales are given back', async () => {
  const [draft, shown] = [await storyOf({ title: 'A draft' }), await storyOf({ title: 'Published' })]
  await ok(ada.send('POST', `${stories}/${shown}/publish`, undefined, await tag(shown)))
  await ok(ada.send('PATCH', `${stories}/${draft}?locale=de`, { changes: { title: 'Deutsch' } }, { 'if-none-match': '*' }))
  const linked = [{ documentId: draft }, { documentId: shown }, { documentId: draft, locale: 'de' }]
  const writers = `/content/${writer}`
  const made = await ok(ada.send('POST', writers, { data: { name: 'Ana', stories: linked } }))
  const path = `${writers}/${made.body.data.documentId}`
  const before = (await ada.get(path)).body.data.draft.stories.map(({ id }: { id: number }) => id)
  const etag = made.headers.get('etag')!
  const changed = await ok(ada.send('PATCH', path, { changes: { name: 'Ben', stories: { set: [] } } }, { 'if-match': etag }))
  const { id } = (await ok(ada.get(`${path}/history`))).body.data[0]
  expect((await ok(ada.get(`${path}/history/${id}`))).body.data.data.stories).toHaveLength(3)
  const restore = { 'if-match': changed.headers.get('etag')! }
  const restored = await ok(ada.send('POST', `${path}/history/${id}/restore`, {}, restore))
  expect(restored.body.data.draft).toMatchObject({ name: 'Ana' })
  expect(restored.body.data.draft.stories.map(({ id: row }: { id: number }) => row)).toEqual(before)
})

rule('history.7', 'links of a published draft to drafts are given back, also in components', async () => {
  const [draft, shown] = [await storyOf({ title: 'A draft' }), await storyOf({ title: 'Published' })]
  await ok(ada.send('POST', `${stories}/${shown}/publish`, undefined, await tag(shown)))
  const ana = (await ok(ada.send('POST', `/content/${writer}`, { data: { name: 'Ana' } }))).body.data.documentId
  const links = { related: [draft, shown], sections: [{ __component: 'block.text', heading: 'h', source: ana }] }
  const id = await storyOf(links)
  await ok(ada.send('POST', `${stories}/${id}/publish`, undefined, await tag(id)))
  const expected = { related: [{ documentId: draft }, { documentId: shown }], sections: [{ source: { documentId: ana } }] }
  expect(await version(id)).toMatchObject({ status: 'published', data: expected })
  await patch(id, { title: 'Second' })
  const published = (await versions(id)).find(({ status }: { status: string }) => status === 'published')
  const restored = await ok(ada.send('POST', `${stories}/${id}/history/${published.id}/restore`, {}, await tag(id)))
  expect(restored.body.data.draft).toMatchObject({ title: 'First', ...expected })
  // They still wait for the publication of their targets.
  await ok(ada.send('POST', `${stories}/${id}/publish`, undefined, await tag(id)))
  await ok(ada.send('POST', `${stories}/${draft}/publish`, undefined, await tag(draft)))
  expect((await ok(ada.get(`${stories}/${id}`))).body.data.published.related).toMatchObject(expected.related)
})

rule('history.7', 'components with parts that the administrator may not see are left as they are', async () => {
  await giveRights(served, 'teller', [
    { action: 'read', subject: story, properties: { fields: ['title', 'seo.metaTitle', 'sections', 'links'], locales: null } },
    { action: 'update', subject: story },
  ])
  const teller = await signInClient(served, 'teller@office.example', ['teller'])
  const ana = (await ok(ada.send('POST', `/content/${writer}`, { data: { name: 'Ana' } }))).body.data.documentId
  const sections = [{ __component: 'block.text', heading: 'h', source: ana }]
  const id = await storyOf({ title: 'First', seo: { metaTitle: 'one', metaSecret: 'hidden' }, sections, links: [{ metaTitle: 'l' }] })
  await patch(id, { title: 'Second', links: [] })
  const path = `${stories}/${id}/history/${(await versions(id))[0].id}/restore`
  const named = await teller.send('POST', path, { fields: ['title', 'sections'] }, await tag(id))
  expect([named.status, named.body.error.details.errors]).toMatchObject([400, [{ path: ['fields', '1'] }]])
  expect((await teller.send('POST', path, { fields: ['seo'] }, await tag(id))).status).toBe(400)
  await ok(teller.send('POST', path, {}, await tag(id)))
  expect((await ada.get(`${stories}/${id}`)).body.data.draft).toMatchObject({
    ...{ title: 'First', seo: { metaTitle: 'one', metaSecret: 'hidden' } },
    sections: [{ heading: 'h', source: { documentId: ana } }],
  })
})

rule('history.8', 'without the table nothing is stored', async () => {
  const old = await serveNewsroom()
  try {
    await old.sql(`DROP TABLE ${table}`)
    const client = await signInClient(old, 'cay@office.example')
    const made = await ok(client.send('POST', stories, { data: { title: 'First' } }))
    const path = `${stories}/${made.body.data.documentId}`
    await ok(client.send('PATCH', path, { changes: { title: 'Second' } }, { 'if-match': made.headers.get('etag')! }))
    expect((await client.get(`${path}/history`)).status).toBe(501)
  } finally {
    await old.close()
  }
})

const matrix: readonly (readonly [role: string, whose: 'own' | 'others', says: readonly number[]])[] = [
  ['super', 'others', [200, 200, 200]],
  ['editor', 'others', [200, 200, 200]],
  ['author', 'own', [200, 200, 200]],
  ['author', 'others', [404, 404, 404]],
  ['colleague', 'own', [200, 200, 200]],
  ['colleague', 'others', [404, 404, 404]],
  ['fields', 'others', [200, 200, 200]],
  ['german', 'others', [404, 404, 404]],
  ['reader', 'others', [200, 200, 403]],
  ['blind', 'own', [403, 403, 403]],
  ['unknown', 'own', [403, 403, 403]],
  ['none', 'own', [403, 403, 403]],
]

describe('rights.9: the history for each role', () => {
  test.each(matrix)('rights.9: %s, %s documents', async (role, whose, says) => {
    const client = clients[role]!
    const id = await storyOf({}, whose === 'own' ? client : ada)
    await patch(id, { title: 'Second' })
    const path = `${stories}/${id}/history`
    const { id: kept } = (await versions(id))[0]
    const rows = await rowsOf(served, 'stories')
    const answers = [
      await client.get(path),
      await client.get(`${path}/${kept}`),
      await client.send('POST', `${path}/${kept}/restore`, { fields: ['title'] }, await tag(id)),
    ]
    expect(answers.map(({ status }) => status)).toEqual(says)
    if (answers[2]!.status >= 400) expect(await rowsOf(served, 'stories')).toEqual(rows)
  })
})
