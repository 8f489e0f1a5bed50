// S029: a separate permission to read drafts (`api.rest.draftGrant`), off by default.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { goldenTokens } from '../support/serve.js'
import { serveAccounts } from './golden.js'

let served: Served
beforeAll(async () => {
  served = await serveAccounts({ config: { api: { rest: { draftGrant: true } } } })
})
afterAll(() => served.close())

const get = (path: string, token?: string) => served.request(`/api/${path}`, token === undefined ? {} : { token })

test('drafts, and every hint of them, are refused without findDraft', async () => {
  for (const query of [
    'status=draft',
    'status=modified',
    'sta%74us=draft',
    'status[]=draft',
    'hasPublishedVersion=false',
    'publicationFilter=modified',
  ])
    expect([query, (await get(`articles?${query}`)).status]).toEqual([query, 403])
  for (const query of ['', 'status=published', 'filters[title][$contains]=status'])
    expect([query, (await get(`articles?${query}`)).status]).toEqual([query, 200])
  expect((await get('articles?status=draft', goldenTokens().full)).status).toBe(200)
  expect((await get('articles?status=draft', goldenTokens().readonly)).status).toBe(403)
})

test('relations show no drafts either', async () => {
  const { data } = (await get('authors?status=draft&populate=articles')).body
  expect(data.length).toBeGreaterThan(0)
  for (const author of data) expect(author).not.toHaveProperty('articles')
  expect((await get('authors?status=draft&filters[articles][title]=a')).status).toBe(400)
})

test('a new grant applies at the next request', async () => {
  await served.sql("insert into up_permissions (action) values ('api::article.article.findDraft')")
  await served.sql('insert into up_permissions_role_lnk (permission_id, role_id) values ((select max(id) from up_permissions), 2)')
  expect((await get('articles?status=draft')).status).toBe(200)
  expect((await get('authors?status=draft&populate=articles')).body.data[0]).toHaveProperty('articles')
})
