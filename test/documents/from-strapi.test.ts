// The configuration that the guide for projects of Strapi shows does what the guide says.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addToken, grant, secrets } from '../spec/callers.js'
import { type Answer, type Served, serveProject } from '../support/serve.js'

const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'guide', 'from-strapi.md'), 'utf8')
const [article, tag, note] = ['api::article.article', 'api::tag.tag', 'api::note.note'] as const

const typeOf = (name: string, attributes: object) => ({
  [`src/api/${name}/content-types/${name}/schema.json`]: {
    kind: 'collectionType',
    collectionName: `${name}s`,
    info: { singularName: name, pluralName: `${name}s`, displayName: name },
    options: { draftAndPublish: false },
    attributes,
  },
})

let served: Served
beforeAll(async () => {
  const [, config] = /^```js\n\/\/ octavo\.config\.mjs\n([\s\S]*?)^```/m.exec(guide)!
  served = await serveProject(
    {
      ...typeOf('tag', { name: { type: 'string' }, color: { type: 'string' } }),
      ...typeOf('article', {
        title: { type: 'string' },
        slug: { type: 'string' },
        text: { type: 'text' },
        featured: { type: 'boolean' },
        audience: { type: 'string', default: 'everyone' },
        tags: { type: 'relation', relation: 'manyToMany', target: tag },
      }),
      ...typeOf('note', { text: { type: 'string' }, ownerId: { type: 'integer', private: true } }),
      'octavo.config.mjs': config!,
    },
    { environment: secrets },
  )
  for (const role of ['public', 'authenticated'])
    for (const action of ['find', 'findOne']) await grant(served, role, `${article}.${action}`)
  for (const action of ['find', 'findOne', 'create', 'update', 'delete']) await grant(served, 'authenticated', `${note}.${action}`)
  await grant(served, 'public', `${tag}.find`)
  await addToken(served, 'all', { type: 'full-access' })
  await addToken(served, 'author', { type: 'custom', actions: [`${article}.create`, `${article}.update`] })
})
afterAll(() => served.close())

const send = (method: string, path: string, token?: string, body?: object): Promise<Answer> =>
  served.ask(`/api/${path}`, {
    method,
    ...(token === undefined ? {} : { token }),
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })

async function signUp(username: string): Promise<string> {
  const { status, text, body } = await send('POST', 'auth/local/register', undefined, {
    ...{ username, email: `${username}@users.example`, password: 'a long password' },
  })
  expect(status, text).toBe(200)
  return body.jwt
}

test('articles have their tags, a slug and minutes; members only and featured ones are for those who may', async () => {
  const { documentId } = (await send('POST', 'tags', 'all', { data: { name: 'Rivers', color: '#00f' } })).body.data
  const long = 'word '.repeat(450).trim()
  const created = await send('POST', 'articles', 'all', {
    data: { title: 'Zebra & Crossing', text: long, tags: [documentId], featured: true },
  })
  expect(created.body.data.slug, created.text).toBe('zebra-crossing')
  expect((await send('POST', 'articles', 'all', { data: { title: 'Antelope', audience: 'members' } })).status).toBe(201)
  const shown = (await send('GET', 'articles')).body.data
  expect(shown).toMatchObject([{ title: 'Zebra & Crossing', minutes: 3, tags: [{ name: 'Rivers' }] }])
  expect(shown[0].tags[0]).not.toHaveProperty('color')
  expect((await send('GET', 'articles', 'all')).body.data.map(({ title }: { title: string }) => title)).toEqual([
    'Antelope',
    'Zebra & Crossing',
  ])
  for (const featured of [true, 'true', 1]) {
    const refused = await send('POST', 'articles', 'author', { data: { title: 'Mine', featured } })
    expect([refused.status, refused.body.error.name]).toEqual([403, 'PolicyError'])
  }
  const { documentId: zebra } = shown[0]
  expect((await send('PUT', `articles/${zebra}`, 'author', { data: { featured: true } })).body.error.name).toBe('PolicyError')
  expect((await send('POST', 'articles', 'author', { data: { title: 'Mine' } })).status).toBe(201)
})

test('everybody has their own notes', async () => {
  const [ann, bob] = [await signUp('ann'), await signUp('bob')]
  const { body } = await send('POST', 'notes', ann, { data: { text: 'of Ann', ownerId: 4711 } })
  expect(body.data).toMatchObject({ text: 'of Ann' })
  expect((await send('GET', 'notes', ann)).body.data).toHaveLength(1)
  expect((await send('GET', 'notes', bob)).body.data).toEqual([])
  expect((await send('GET', `notes/${body.data.documentId}`, bob)).status).toBe(404)
  expect((await send('PUT', `notes/${body.data.documentId}`, bob, { data: { text: 'of Bob' } })).status).toBe(404)
  expect((await send('GET', 'notes', 'all')).body.data).toEqual([])
})
