// The description of the API: its content by caller, and how it is served.
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import type { CustomRoute } from '../../src/foundation/public/routes.js'
import { routes } from '../../src/http/rest/routes.js'
import { loadModel } from '../../src/model/schema/load.js'
import { describe as describeApi } from '../../src/project/description/openapi/description.js'
import { contracts } from '../../src/query/contract.js'
import { operators } from '../../src/query/operators.js'
import { addToken, addUser, grant, jwt, revoke, secrets } from '../spec/callers.js'
import { rule } from '../support/rule.js'
import { goldenProject, goldenTokens, type Served, serveGolden, serveProject } from '../support/serve.js'
import type { Document, Operation } from './responses.js'

const relation = (kind: string, target: string) => ({ type: 'relation', relation: kind, target })
const schema = (name: string, attributes: object, draftAndPublish = false) => ({
  [`src/api/${name}/content-types/${name}/schema.json`]: {
    kind: 'collectionType',
    collectionName: `${name}s`,
    info: { singularName: name, pluralName: `${name}s`, displayName: name },
    options: { draftAndPublish },
    attributes,
  },
})
const component = (name: string, attributes: object) => ({
  [`src/components/part/${name}.json`]: { collectionName: `parts_${name}`, info: { displayName: name }, attributes },
})
const files = {
  ...schema('story', {
    headline: { type: 'string', required: true },
    rank: { type: 'integer' },
    hiddenSecret: { type: 'string', private: true },
    passphrase: { type: 'password' },
    dossier: relation('manyToOne', 'api::dossier.dossier'),
    tag: relation('manyToOne', 'api::label.label'),
    quotePart: { type: 'component', component: 'part.quote' },
  }),
  ...schema('dossier', { codename: { type: 'string' }, sealedPart: { type: 'component', component: 'part.sealed' } }, true),
  ...schema('label', { word: { type: 'string' } }),
  ...component('quote', { words: { type: 'string' }, aboutDossier: relation('oneToOne', 'api::dossier.dossier') }),
  ...component('sealed', { waxColour: { type: 'string' } }),
}
const story = 'api::story.story'

let served: Served
beforeAll(async () => {
  served = await serveProject(files, { environment: secrets })
  await addToken(served, 'all', { type: 'full-access' })
  await addToken(served, 'writer', { type: 'custom', actions: [`${story}.create`, `${story}.find`, 'api::label.label.find'] })
  await addToken(served, 'reader', { type: 'custom', actions: [`${story}.find`] })
  await addToken(served, 'sameReader', { type: 'custom', actions: [`${story}.find`] })
})
afterAll(() => served.close())

async function documentOf(token?: string): Promise<Document> {
  const { status, body } = await served.request('/api/openapi.json', token === undefined ? {} : { token })
  expect(status).toBe(200)
  return body as Document
}

/** `GET /stories` and so on. */
const operationsOf = ({ paths }: Document): readonly string[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).flatMap((method) => (method === 'servers' ? [] : [`${method.toUpperCase()} ${path}`])),
  )

/** Findings of a public linter, except those that a served document cannot fix. */
async function problemsOf(document: unknown): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended'], rules: { 'info-license': 'off', 'no-server-example.com': 'off' } })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  // Redirects have no success response, and one path of Strapi's looks like another with a different method.
  const isAsStrapi: Readonly<Record<string, RegExp>> = {
    'operation-2xx-response': /\/paths\/~1(?:connect|auth~1email-confirmation)/,
    'no-ambiguous-paths': /\/paths\/~1auth~1\{provider\}~1callback/,
  }
  return problems
    .filter(({ ruleId, location }) => isAsStrapi[ruleId]?.test(location[0]?.pointer ?? '') !== true)
    .map(({ severity, ruleId, message, location }) => `${severity} ${ruleId} ${location[0]?.pointer}: ${message}`)
}

describe('visibility by caller', () => {
  rule('openapi.1', 'everybody gets a valid document, also without permissions; wrong credentials are 401', async () => {
    const documents = await Promise.all([undefined, 'all', 'writer'].map(documentOf))
    for (const document of documents) {
      expect(document.openapi).toBe('3.1.0')
      expect(await problemsOf(document)).toEqual([])
    }
    expect((await served.request('/api/openapi.json', { token: 'wrong' })).status).toBe(401)
    expect((await served.request('/api/openapi.json', { method: 'POST' })).status).toBe(405)
    const head = await served.request('/api/openapi.json', { method: 'HEAD' })
    expect([head.status, head.text, head.headers.get('content-type')]).toEqual([200, '', 'application/json; charset=utf-8'])
  })

  rule('openapi.1', 'documents of whole projects are valid in both contracts, awkward names included', async () => {
    for (const folder of [goldenProject, 'examples/magazine', 'test/database/awkward'])
      for (const contract of Object.values(contracts)) {
        const model = await loadModel({ folder })
        const described = {
          model,
          contract,
          pages: { defaultLimit: 25, maxLimit: 100 },
          ...{ server: '/api', root: '/', leftOut: null },
          draftGrant: false,
          hasSessions: true,
          modelChanges: true,
          eventStream: '/events',
          routes: [],
        }
        expect(await problemsOf(describeApi(described, { may: () => true, isOpen: () => false }))).toEqual([])
      }
  })

  rule('openapi.2', 'a document has the operations that its caller may perform', async () => {
    expect(operationsOf(await documentOf('writer'))).toEqual(['GET /labels', 'GET /storys', 'POST /storys'])
    expect(operationsOf(await documentOf('reader'))).toEqual(['GET /storys'])
    const all = operationsOf(await documentOf('all'))
    expect(all).toContain('POST /dossiers/{id}/actions/publish')
    expect(all).not.toContain('POST /storys/{id}/actions/publish')
    const user = await addUser(served, 'plain', 'authenticated')
    expect(operationsOf(await documentOf(jwt(user)))).not.toContain('GET /storys')
  })

  rule('openapi.3', 'nothing of what the caller may not see is named', async () => {
    const [writer, all] = await Promise.all(
      ['writer', 'all'].map((token) => documentOf(token).then((document) => JSON.stringify(document))),
    )
    for (const secret of ['dossier', 'Dossier', 'codename', 'sealed', 'waxColour', 'aboutDossier', 'hiddenSecret', 'upload', 'users'])
      expect(writer).not.toContain(secret)
    for (const known of ['headline', 'tag', 'quotePart', 'words', 'passphrase']) expect(writer).toContain(known)
    for (const known of ['codename', 'waxColour', 'aboutDossier']) expect(all).toContain(known)
    expect(all).not.toContain('hiddenSecret')
    const { schemas = {} } = (await documentOf('writer')).components
    expect(Object.keys((schemas.Story as { properties: object }).properties)).not.toContain('passphrase')
    expect(Object.keys((schemas.StoryInput as { properties: object }).properties)).toContain('passphrase')
  })

  rule('openapi.5', 'attributes may be null where a response may have null', async () => {
    const { schemas = {} } = (await documentOf('all')).components
    const typeOf = (name: string, attribute: string) =>
      (schemas[name] as { properties: Record<string, { type: unknown }> }).properties[attribute]!.type
    expect([typeOf('Story', 'headline'), typeOf('Story', 'rank'), typeOf('Story', 'createdAt')]).toEqual([
      'string',
      ['integer', 'null'],
      'string',
    ])
    expect([typeOf('Dossier', 'codename'), typeOf('Dossier', 'publishedAt')]).toEqual([
      ['string', 'null'],
      ['string', 'null'],
    ])
    expect((schemas.Story as { required: unknown }).required).toEqual(['id', 'documentId'])
  })
})

describe('operations', () => {
  rule('openapi.6', 'operations are named in Strapi’s form', async () => {
    const { paths } = await documentOf('all')
    const idOf = (path: string, method: string) => paths[path]![method]!.operationId
    expect(idOf('/storys/{id}', 'get')).toBe('story/get/storys_by_id')
    expect(idOf('/storys', 'post')).toBe('story/post/storys')
    expect(idOf('/users/{id}', 'put')).toBe('users-permissions/put/users_by_id')
    expect(idOf('/upload/files/{id}', 'delete')).toBe('upload/delete/upload_files_by_id')
    expect(idOf('/content-type-builder/content-types/{uid}', 'get')).toBe(
      'content-type-builder/get/content_type_builder_content_types_by_uid',
    )
  })

  rule('openapi.6', 'every built-in route is described, and needs the action that it is described with', async () => {
    const model = await loadModel({ folder: served.folder })
    const described = {
      model,
      contract: contracts.strapi,
      pages: { defaultLimit: 25, maxLimit: 100 },
      ...{ server: '/api', root: '/', leftOut: null },
      draftGrant: false,
      hasSessions: true,
      modelChanges: true,
      eventStream: '/events',
      routes: [],
    }
    const missing = routes.filter(({ method, path, action }) => {
      const document = describeApi(described, { may: (one) => one === action, isOpen: () => false }) as Document
      return document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] === undefined
    })
    expect(missing.map(({ method, path }) => `${method} ${path}`)).toEqual([])
    expect(routes.length).toBeGreaterThan(30)
  })

  rule('openapi.7', 'operations say whether they need credentials', async () => {
    await grant(served, 'public', `${story}.find`)
    const { paths } = await documentOf('all')
    await revoke(served, 'public', `${story}.find`)
    const securityOf = (operation: Operation) => operation.security
    expect(securityOf(paths['/storys']!.get!)).toEqual([{}, { bearerAuth: [] }])
    expect(securityOf(paths['/storys']!.post!)).toEqual([{ bearerAuth: [] }])
  })

  rule('openapi.8', 'conditions have every operator, and lead where the API leads', async () => {
    const { schemas = {}, parameters = {} } = (await documentOf('writer')).components
    const [, , conditions] = schemas['text-condition']!.anyOf as readonly [unknown, unknown, { properties: object }]
    expect(Object.keys(conditions.properties).sort()).toEqual([...Object.keys(operators), '$not'].sort())
    const filters = schemas.StoryFilters as { properties: Record<string, unknown>; additionalProperties: unknown }
    expect(Object.keys(filters.properties)).toEqual(expect.arrayContaining(['headline', 'tag', 'quotePart', '$and', '$or', '$not']))
    expect(filters.additionalProperties).toBe(false)
    const sort = new RegExp((parameters.StorySort!.schema as { items: { pattern: string } }).items.pattern)
    expect(['headline', 'rank:desc', 'tag.word:asc', 'quotePart.words'].every((key) => sort.test(key))).toBe(true)
    expect(['nothing', 'hiddenSecret', 'passphrase', 'dossier.codename', 'headline:up'].some((key) => sort.test(key))).toBe(false)
    const [populate] = (parameters.StoryPopulate!.schema as { anyOf: readonly { pattern: string }[] }).anyOf
    expect(['*', 'tag', 'tag,quotePart', 'quotePart'].every((text) => new RegExp(populate!.pattern).test(text))).toBe(true)
    expect(['headline', 'dossier', 'tags'].some((text) => new RegExp(populate!.pattern).test(text))).toBe(false)
  })
})

describe('the event stream', () => {
  rule('openapi.14', 'is described to those who may follow a content-type, with the types that they may follow', async () => {
    const config = { events: { stream: { path: '/live/events' } }, api: { rest: { draftGrant: true } } }
    const streaming = await serveProject(files, { environment: secrets, config })
    await addToken(streaming, 'all', { type: 'full-access' })
    await addToken(streaming, 'reader', { type: 'custom', actions: [`${story}.find`] })
    await addToken(streaming, 'creator', { type: 'custom', actions: [`${story}.create`] })
    const streamOf = async (token: string) => {
      const { body } = await streaming.request('/api/openapi.json', { token })
      expect(await problemsOf(body)).toEqual([])
      return (body as Document).paths['/live/events']?.get
    }
    const [all, reader] = [await streamOf('all'), await streamOf('reader')]
    const choices = (operation: Operation | undefined, name: string) => {
      const parameters = operation?.parameters as readonly { name: string; schema: { enum?: unknown; items?: { enum: unknown } } }[]
      const { schema: described } = parameters.find((parameter) => parameter.name === name)!
      return described.items?.enum ?? described.enum
    }
    expect(choices(reader, 'types')).toEqual([story])
    expect(choices(all, 'types')).toEqual(expect.arrayContaining([story, 'api::dossier.dossier', 'api::label.label']))
    expect([choices(reader, 'status'), choices(all, 'status')]).toEqual([['published'], ['published', 'draft']])
    expect(Object.keys(reader!.responses['200']!.content as object)).toEqual(['text/event-stream'])
    expect(Object.keys(reader!.responses)).toEqual(['200', '400', '401', '403', '429', '503'])
    expect(reader!.security).toEqual([{ bearerAuth: [] }])
    await grant(streaming, 'public', `${story}.find`)
    expect((await streamOf('reader'))!.security).toEqual([{}, { bearerAuth: [] }])
    expect(await streamOf('creator')).toBeUndefined()
    await streaming.close()
    expect(operationsOf(await documentOf('all')).filter((one) => one.includes('events'))).toEqual([])
  })
})

describe('routes of the project', () => {
  const route = (method: string, path: string, more: object): CustomRoute =>
    Object.assign({ method, path, handle: () => 'own' }, more) as never
  const action = 'api::order.order.checkout'

  rule('openapi.15', 'they are described to those who may call them', async () => {
    const routes = [
      route('POST', '/orders/:documentId/checkout', { action, body: 'json', summary: 'Pays an order', description: 'Once only.' }),
      route('PATCH', '/orders/:documentId/note', { action, body: 'raw' }),
      route('GET', '/ping', { auth: false }),
      route('GET', '/robots.txt', { auth: false, base: 'root' }),
    ]
    const custom = await serveProject(files, { environment: secrets, code: { routes } })
    await addToken(custom, 'reader', { type: 'custom', actions: [`${story}.find`] })
    await addToken(custom, 'buyer', { type: 'custom', actions: [action] })
    const [reader, buyer] = await Promise.all(
      ['reader', 'buyer'].map(async (token) => (await custom.request('/api/openapi.json', { token })).body as Document),
    )
    await custom.close()
    expect(await problemsOf(buyer)).toEqual([])
    expect(operationsOf(reader!)).toEqual(['GET /storys', 'GET /ping', 'GET /robots.txt'])
    expect(operationsOf(buyer!)).toEqual([
      'POST /orders/{documentId}/checkout',
      'PATCH /orders/{documentId}/note',
      'GET /ping',
      'GET /robots.txt',
    ])
    const { post } = buyer!.paths['/orders/{documentId}/checkout']!
    expect(post).toMatchObject({
      ...{ summary: 'Pays an order', description: 'Once only.', operationId: 'routes/post/orders_by_documentId_checkout' },
      ...{ parameters: [{ name: 'documentId', in: 'path', required: true }], security: [{ bearerAuth: [] }] },
    })
    expect(buyer!.paths['/ping']!.get!.security).toEqual([{}, { bearerAuth: [] }])
  })

  rule('routes.2', 'none takes the place of the description or of its page', async () => {
    for (const [one, other] of [
      [route('GET', '/openapi.json', { auth: false }), 'openapi.json'],
      [route('POST', '/docs/own', { auth: false, base: 'root' }), '/docs'],
    ] as const)
      await expect(serveProject(files, { environment: secrets, code: { routes: [one] } })).rejects.toThrow(other)
    const without = { docs: { enabled: false } }
    const own = route('GET', '/docs', { auth: false, base: 'root' })
    const custom = await serveProject(files, { environment: secrets, config: without, code: { routes: [own] } })
    expect((await custom.request('/docs')).body).toBe('own')
    await custom.close()
  })
})

describe('serving', () => {
  rule('openapi.9', 'a document has an ETag, is the same for the same permissions, and follows their changes at once', async () => {
    const [first, second] = await Promise.all(['reader', 'sameReader'].map((token) => served.request('/api/openapi.json', { token })))
    const tag = first!.headers.get('etag')!
    expect(first!.headers.get('cache-control')).toBe('private, no-cache')
    expect(tag).toMatch(/^"[\w-]+"$/)
    expect(second!.headers.get('etag')).toBe(tag)
    const known = await served.request('/api/openapi.json', { token: 'reader', headers: { 'if-none-match': tag } })
    expect([known.status, known.text]).toEqual([304, ''])
    expect((await served.request('/api/openapi.json', { token: 'writer', headers: { 'if-none-match': tag } })).status).toBe(200)
    expect(operationsOf(await documentOf())).not.toContain('GET /labels')
    await grant(served, 'public', 'api::label.label.find')
    expect(operationsOf(await documentOf())).toContain('GET /labels')
    await revoke(served, 'public', 'api::label.label.find')
    expect(operationsOf(await documentOf())).not.toContain('GET /labels')
  })

  rule('openapi.9', 'a scope creates no separate API document, and few are cached', async () => {
    const scoped = await serveProject(files, {
      environment: secrets,
      code: { types: { [story]: { scope: () => false } } },
    })
    await addToken(scoped, 'reader', { type: 'custom', actions: [`${story}.find`] })
    // More sets of permissions than are cached.
    const actions = ['find', 'findOne', 'create', 'update', 'delete']
    const others = Array.from({ length: 25 }, (_, index) => `other-${index}`)
    for (const [index, name] of others.entries())
      await addToken(scoped, name, {
        type: 'custom',
        actions: actions.filter((_, bit) => ((index + 2) >> bit) & 1).map((action) => `${story}.${action}`),
      })
    const tagOf = async (token: string) => (await scoped.request('/api/openapi.json', { token })).headers.get('etag')
    const tags: (string | null)[] = []
    for (const token of ['reader', ...others, 'reader']) tags.push(await tagOf(token))
    expect(tags[0]).toBe(tags.at(-1))
    expect(new Set(tags).size).toBe(others.length + 1)
    expect(tags[0]).toBe((await served.request('/api/openapi.json', { token: 'reader' })).headers.get('etag'))
    await scoped.close()
  })

  rule('openapi.10', 'both can be switched off', async () => {
    const closed = await serveGolden({ config: { docs: { enabled: false } } })
    for (const path of ['/api/openapi.json', '/docs', '/docs/page.js'])
      expect((await closed.request(path, { token: goldenTokens().full! })).status).toBe(404)
    await closed.close()
  })
})
