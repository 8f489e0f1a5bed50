// References of a new document must exist and be valid, even if they would not be stored: as Strapi 5.54 responded to the same requests.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Served, serveProject } from '../support/serve.js'
import { addToken, secrets } from './callers.js'
import { contentType } from './library.js'

const files = contentType(
  'page',
  { title: { type: 'string' }, cover: { type: 'media' }, gallery: { type: 'media', multiple: true } },
  { draftAndPublish: true, localized: true },
)

let served: Served
beforeAll(async () => {
  served = await serveProject(files, { environment: secrets, config: { api: { rest: { contract: 'strapi' } } } })
  await addToken(served, 'everything', { type: 'full-access' })
})
afterAll(() => served.close())

const create = (query: string, data: object) =>
  served.request(`/api/pages?${query}`, {
    method: 'POST',
    token: 'everything',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data }),
  })

test.each([
  { cover: { connect: ['none'] } },
  { cover: { disconnect: ['none'] } },
  { gallery: { connect: [{ documentId: 'none' }] } },
  { gallery: { disconnect: [{ documentId: 'none' }] } },
])('a file that is not there is missed: %j', async (data) => {
  for (const query of ['', 'status=draft']) {
    const { status, body } = await create(query, data)
    expect([status, body.error?.message]).toEqual([400, 'Document with id "none", locale "null" not found'])
  }
})

test('a locale beyond its column is named', async () => {
  const value = 'x'.repeat(256)
  const { status, body } = await create(`locale=${value}`, { title: 5 })
  expect([status, body.error.message]).toEqual([400, '2 errors occurred'])
  expect(body.error.details.errors[1]).toEqual({
    path: ['locale'],
    message: 'locale must be at most 255 characters',
    name: 'ValidationError',
    value,
  })
})
