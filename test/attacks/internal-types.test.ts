// Relations of a schema to the types of accounts: keys, permissions and sessions stay out of every response and every comparison.
import { afterAll, beforeAll, expect } from 'vitest'
import { addToken, secrets } from '../spec/callers.js'
import { component, contentType } from '../spec/library.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject } from '../support/serve.js'

const closed = {
  'admin::api-token': ['accessKey', 'encryptedKey', 'name'],
  'admin::api-token-permission': ['action'],
  'admin::transfer-token': ['accessKey'],
  'admin::permission': ['action'],
  'admin::session': ['sessionId', 'userId'],
} as const
const kinds = ['oneToOne', 'oneToMany', 'manyToOne', 'manyToMany'] as const
const nameOf = (uid: string, kind: string) => `${uid.slice(7).replaceAll('-', '')}${kind}`
const relations = Object.fromEntries(
  Object.keys(closed).flatMap((uid) => kinds.map((relation) => [nameOf(uid, relation), { type: 'relation', relation, target: uid }])),
)

let served: Served
beforeAll(async () => {
  const inner = { token: { type: 'relation', relation: 'oneToOne', target: 'admin::api-token' } }
  const files = {
    ...contentType('holder', {
      title: { type: 'string' },
      ...relations,
      author: { type: 'relation', relation: 'oneToOne', target: 'admin::user' },
      part: { type: 'component', component: 'parts.key' },
      zone: { type: 'dynamiczone', components: ['parts.key'] },
    }),
    ...component('parts', 'key', inner),
  }
  served = await serveProject(files, { environment: secrets })
  await addToken(served, 'full', { type: 'full-access' })
  await addToken(served, 'reader', { type: 'read-only' })
})
afterAll(() => served.close())

rule('relations.21', 'rows of accounts and permissions are not shown, counted, compared or sorted by through a relation', async () => {
  const linked = Object.fromEntries(Object.keys(relations).map((name) => [name, /^apitoken(?:one|many)/.test(name) ? [1] : []]))
  const single = Object.fromEntries(Object.entries(linked).map(([name, ids]) => [name, /ToOne/.test(name) ? (ids[0] ?? null) : ids]))
  const body = JSON.stringify({ data: { title: 'a', ...single, part: { token: 1 }, zone: [{ __component: 'parts.key', token: 1 }] } })
  const made = await served.request('/api/holders', {
    method: 'POST',
    token: 'full',
    headers: { 'content-type': 'application/json' },
    body,
  })
  expect(made.status, made.text).toBe(201)
  const { documentId } = made.body.data
  const tokens = await served.sql('select access_key from strapi_api_tokens')
  const hidden = (text: string, what: string) => {
    for (const { access_key } of tokens) expect(text.includes(String(access_key)), what).toBe(false)
    expect(text, what).not.toContain('accessKey')
  }
  const names = Object.keys(relations)
  const shows = [
    'populate=*',
    `populate=${names.join(',')}`,
    'populate[part][populate]=*&populate[zone][populate]=*',
    'populate[zone][on][parts.key][populate]=*',
    ...names.flatMap((name) => [`populate[${name}]=true`, `populate[${name}][populate]=*`, `populate[${name}][count]=true`]),
  ]
  for (const token of ['full', 'reader']) {
    for (const query of shows) {
      const { body, text, status } = await served.request(`/api/holders/${documentId}?${query}`, { token })
      hidden(text, query)
      if (status === 200) for (const name of names) expect(body.data[name], `${query} ${name}`).toBeUndefined()
    }
    for (const [uid, attributes] of Object.entries(closed))
      for (const name of kinds.map((kind) => nameOf(uid, kind)))
        for (const attribute of attributes)
          for (const query of [
            `filters[${name}][${attribute}][$contains]=a`,
            `filters[$not][${name}][${attribute}][$null]=true`,
            `filters[${name}][id]=1`,
            `filters[${name}]=1`,
            `filters[part][token][accessKey][$startsWith]=a`,
            `sort=${name}.${attribute}`,
          ]) {
            const { status, body, text } = await served.request(`/api/holders?${query}`, { token })
            expect([query, status, body.error?.message]).toEqual([query, 400, expect.stringMatching(/^Invalid key/)])
            hidden(text, query)
          }
    const author = await served.request(`/api/holders?populate=author&filters[author][resetPasswordToken][$startsWith]=a`, { token })
    expect(author.status).toBe(400)
    expect((await served.request('/api/holders?populate=author', { token })).body.data[0].author).toBeNull()
    hidden((await served.request('/api/openapi.json', { token })).text, 'the description')
  }
  // The response of a write follows the same rule.
  const changed = await served.request(`/api/holders/${documentId}?populate=*`, {
    ...{ method: 'PUT', token: 'full', headers: { 'content-type': 'application/json' } },
    body: '{"data":{"title":"b"}}',
  })
  hidden(changed.text, 'a write')
})
