// Errors of a draft that cannot be published reveal nothing that the caller may not read, be it private, a password, a relation to a
// type without permission, or, with `api.rest.draftGrant`, the draft itself.
import { afterEach, describe, expect, test } from 'vitest'
import { addToken, secrets } from '../spec/callers.js'
import { access, component, contentType } from '../spec/library.js'
import type { Served, TestResponse } from '../support/serve.js'
import { serveProject } from '../support/serve.js'

const note = {
  title: { type: 'string', required: true },
  // Drafts may lack these; a publication reports them.
  hint: { type: 'string', minLength: 30, private: true },
  teaser: { type: 'string', minLength: 30 },
  parts: { type: 'dynamiczone', components: ['parts.part'], min: 2 },
  box: { type: 'component', component: 'parts.box' },
}
const part = {
  open: { type: 'string' },
  closed: { type: 'string', private: true },
  key: { type: 'password' },
  inner: { type: 'component', component: 'parts.inner', repeatable: true },
  owner: { type: 'relation', relation: 'oneToOne', target: 'api::owner.owner' },
}
const project = {
  ...contentType('note', note, { draftAndPublish: true }),
  ...contentType('owner', { name: { type: 'string' } }),
  ...component('parts', 'part', part),
  ...component('parts', 'inner', { deep: { type: 'string', private: true }, shown: { type: 'string' } }),
  ...component('parts', 'box', { closed: { type: 'string', private: true, minLength: 30 }, list: { type: 'json', required: true } }),
  ...access([]),
}

const hidden = ['PRIVATE', '$2', '"owner"']
const drafted = {
  title: 'DRAFT-title',
  hint: 'PRIVATE-hint',
  teaser: 'DRAFT-teaser',
  parts: [
    {
      __component: 'parts.part',
      open: 'DRAFT-open',
      closed: 'PRIVATE-part',
      key: 'PRIVATE-password',
      inner: [{ deep: 'PRIVATE-deep', shown: 'DRAFT-inner' }],
    },
  ],
  box: { closed: 'PRIVATE-box' },
}

let served: Served
afterEach(() => served?.close())

/** A draft by a token that may do everything, and the id of the document. */
async function serveDraft(contract: 'specification' | 'strapi', draftGrant: boolean): Promise<string> {
  served = await serveProject(project, { config: { api: { rest: { contract, draftGrant } } }, environment: secrets })
  await addToken(served, 'full', { type: 'full-access' })
  const actions = ['find', 'create', 'update', 'publish'].map((action) => `api::note.note.${action}`)
  await addToken(served, 'writer', { type: 'custom', actions })
  await addToken(served, 'drafter', { type: 'custom', actions: [...actions, 'api::note.note.findDraft'] })
  const owner = (await send('POST', '/api/owners', { name: 'PRIVATE-owner' })).body.data.documentId
  const parts = drafted.parts.map((one) => ({ ...one, owner }))
  const made = await send('POST', '/api/notes?status=draft', { ...drafted, parts })
  expect(made.status, made.text).toBe(201)
  return made.body.data.documentId
}

const send = (method: string, path: string, data: object, token = 'full'): Promise<TestResponse> =>
  served.request(path, { method, token, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) })

interface Told {
  readonly path: readonly string[]
  readonly value?: unknown
}
const told = (answer: TestResponse): readonly Told[] => answer.body.error.details.errors

/** The two ways to publish what others have drafted. */
const publications = (id: string, token: string) =>
  Promise.all([
    send('PUT', `/api/notes/${id}`, { title: 'Mine' }, token),
    served.request(`/api/notes/${id}/actions/publish`, { method: 'POST', token }),
  ])

describe.each(['specification', 'strapi'] as const)('a draft that cannot be published, %s', (contract) => {
  test('is reported without private values, passwords and types that the caller may not find', async () => {
    const id = await serveDraft(contract, false)
    for (const answer of await publications(id, 'writer')) {
      expect(answer.status, answer.text).toBe(400)
      for (const secret of hidden) expect(answer.text).not.toContain(secret)
      expect(told(answer).map(({ path }) => path.join('.'))).toEqual(
        expect.arrayContaining(['hint', 'teaser', 'parts', 'box.closed', 'box.list']),
      )
      // Readable values are still shown.
      const [{ value }] = told(answer).filter(({ path }) => path.join('.') === 'parts') as [Told]
      expect(value).toMatchObject([{ open: 'DRAFT-open', inner: [{ shown: 'DRAFT-inner' }] }])
      expect(told(answer).find(({ path }) => path[0] === 'teaser')!.value).toBe('DRAFT-teaser')
    }
  })

  test('is reported without any value to callers without permission for drafts', async () => {
    const id = await serveDraft(contract, true)
    for (const answer of await publications(id, 'writer')) {
      expect(answer.status, answer.text).toBe(400)
      for (const secret of [...hidden, 'DRAFT']) expect(answer.text).not.toContain(secret)
      expect(told(answer).filter((one) => one.value !== undefined && one.value !== null)).toEqual([])
    }
    for (const answer of await publications(id, 'drafter')) {
      expect(answer.status, answer.text).toBe(400)
      for (const secret of hidden) expect(answer.text).not.toContain(secret)
      expect(answer.text).toContain('DRAFT-open')
    }
  })
})
