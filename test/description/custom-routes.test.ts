// The description of the project's custom routes: from their schemas, of any library, and from their declared responses.
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { type } from 'arktype'
import * as v from 'valibot'
import { afterAll, beforeAll, expect } from 'vitest'
import * as z from 'zod'
import type { CustomRoute } from '../../src/foundation/public/routes.js'
import { addToken, grant, secrets } from '../spec/callers.js'
import { contentType } from '../spec/library.js'
import { rule } from '../support/rule.js'
import { type Served, serveProject } from '../support/serve.js'
import type { Document, Operation } from './responses.js'

const files = { ...contentType('order', { title: { type: 'string' }, hidden: { type: 'string', private: true } }) }
const order = '#/components/schemas/Order'

const Place = z.object({
  name: z.string(),
  get within() {
    return z.array(Place)
  },
})
const Address = z.object({ street: z.string() }).meta({ id: 'Address' })
/** A schema of a library that has only the method. */
const older = { '~standard': { version: 1 as const, vendor: 'older', validate: (value: unknown) => ({ value }) } }
const withMethod = Object.assign({}, older, { toJSONSchema: ({ io }: { io: string }) => ({ type: 'string', description: io }) })
const failing = {
  '~standard': {
    ...older['~standard'],
    jsonSchema: {
      input: () => {
        throw new Error('a symbol has no JSON Schema')
      },
      output: () => ({ const: 7n }),
    },
  },
}

const route = (method: CustomRoute['method'], path: string, more: object): CustomRoute =>
  ({ method, path, auth: false, handle: () => ({}), ...more }) as never
const routes: readonly CustomRoute[] = [
  route('POST', '/orders/:number/checkout', {
    ...{ summary: 'Pays an order', description: 'Once only.', tags: ['order', 'Payments'] },
    params: z.object({ number: z.coerce.number().int().describe('The number of the order.') }),
    query: z.object({ page: z.coerce.number().default(1), tag: z.array(z.string()).optional(), range: z.object({ from: z.string() }) }),
    body: z.object({ voucher: z.string().optional(), at: z.date(), to: Address, and: Address.optional() }),
    response: { 201: z.object({ paid: z.boolean() }).meta({ description: 'The receipt.' }), 204: null, 404: { type: 'object' } },
  }),
  route('PUT', '/arktype/:id', { params: type({ id: 'string.numeric' }), body: type({ 'note?': 'string', count: 'number' }) }),
  route('PUT', '/valibot', { body: v.object({ note: v.string() }), query: v.object({ page: v.string() }) }),
  route('PUT', '/method', { body: withMethod, response: withMethod }),
  route('PUT', '/failing', { body: failing, response: failing }),
  route('POST', '/places', { body: Place, response: Place }),
  route('GET', '/export', { response: { type: 'string', contentMediaType: 'text/csv' } }),
  route('GET', '/latest', { action: 'api::order.order.latest', response: { type: 'array', items: { $ref: order } } }),
  route('GET', '/nowhere', { response: { $ref: '#/components/schemas/Nothing' } }),
  route('POST', '/json', { body: 'json' }),
  route('GET', '/robots.txt', { base: 'root', response: { type: 'string', contentMediaType: 'text/plain' } }),
  route('GET', '/orders', { base: 'root', auth: undefined, action: 'api::order.order.old' }),
]

let served: Served
let everything: Document
beforeAll(async () => {
  served = await serveProject(files, { environment: secrets, code: { routes } })
  await addToken(served, 'all', { type: 'full-access' })
  await addToken(served, 'latest', { type: 'custom', actions: ['api::order.order.latest'] })
  everything = await documentOf('all')
})
afterAll(() => served?.close())

const documentOf = async (token?: string) =>
  (await served.request('/api/openapi.json', token === undefined ? {} : { token })).body as Document

/** Strapi's redirects have no success response, and openapi.18 has a path with a slash at its end. */
const isExpected = (ruleId: string, pointer: string): boolean =>
  /~1(?:connect|auth~1email-confirmation|auth~1\{provider\})/.test(pointer) ||
  (ruleId === 'no-path-trailing-slash' && pointer === '#/paths/~1orders~1')

/** Findings of a public linter. */
async function problemsOf(document: unknown): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended'], rules: { 'info-license': 'off' } })
  return (await lintFromString({ source: JSON.stringify(document), config }))
    .filter(({ ruleId, location }) => !isExpected(ruleId, location[0]?.pointer ?? ''))
    .map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`)
}

const operation = (document: Document, method: string, path: string) => document.paths[path]![method] as Operation
const bodyOf = (method: string, path: string) => {
  const { requestBody } = operation(everything, method, path) as unknown as {
    requestBody: { required: boolean; content: Record<string, { schema: unknown }> }
  }
  return requestBody.content['application/json']!.schema
}
const responseOf = (path: string, method = 'get', status = '200') =>
  operation(everything, method, path).responses[status] as { description: string; content?: Record<string, { schema: unknown }> }

rule('openapi.15', 'the document is valid, and routes are in the groups that they name', async () => {
  expect(await problemsOf(everything)).toEqual([])
  expect(await problemsOf(await documentOf())).toEqual([])
  const { tags, paths } = everything as unknown as { tags: readonly object[]; paths: Record<string, Record<string, { tags: unknown }>> }
  expect(tags).toEqual(
    expect.arrayContaining([
      { name: 'order', description: 'order' },
      { name: 'Payments', description: 'Payments' },
    ]),
  )
  expect(paths['/orders/{number}/checkout']!.post).toMatchObject({
    ...{ tags: ['order', 'Payments'], summary: 'Pays an order', description: 'Once only.' },
    operationId: 'routes/post/orders_by_number_checkout',
  })
  expect(paths['/export']!.get!.tags).toEqual(['routes'])
})

rule('openapi.16', 'parameters, query and body have the JSON Schema of their input', () => {
  const { parameters } = operation(everything, 'post', '/orders/{number}/checkout')
  expect(parameters).toMatchObject([
    { name: 'number', in: 'path', required: true, description: 'The number of the order.', schema: { type: 'integer' } },
    { name: 'page', in: 'query', required: false, schema: { type: 'number', default: 1 } },
    { name: 'tag', in: 'query', required: false, schema: { type: 'array', items: { type: 'string' } } },
    { name: 'range', in: 'query', required: true, style: 'deepObject', schema: { type: 'object', required: ['from'] } },
  ])
  expect(operation(everything, 'put', '/arktype/{id}').parameters).toMatchObject([{ name: 'id', schema: { type: 'string' } }])
  expect(bodyOf('put', '/arktype/{id}')).toEqual({
    type: 'object',
    properties: { note: { type: 'string' }, count: { type: 'number' } },
    required: ['count'],
  })
  expect(bodyOf('put', '/method')).toEqual({ type: 'string', description: 'input' })
  expect(operation(everything, 'post', '/json')).toMatchObject({ requestBody: { required: false } })
})

rule('openapi.16', 'a schema that cannot be converted describes any value, and says why', async () => {
  expect(bodyOf('put', '/valibot')).toEqual({ $comment: 'Not described: this schema of valibot cannot be converted to JSON Schema' })
  expect(operation(everything, 'put', '/valibot').parameters).toBeUndefined()
  expect(bodyOf('put', '/failing')).toEqual({ $comment: 'Not described: a symbol has no JSON Schema' })
  expect(responseOf('/failing', 'put').content!['application/json']!.schema).toMatchObject({
    $comment: expect.stringMatching(/^Not described: .*BigInt/),
  })
  // A type without JSON Schema does not hide the rest.
  const { $ref } = bodyOf('post', '/orders/{number}/checkout') as { $ref: string }
  expect(everything.components.schemas![$ref.split('/').at(-1)!]).toMatchObject({
    properties: { voucher: { type: 'string' }, at: {} },
    required: ['at', 'to'],
  })
  const answer = await served.request('/api/valibot?page=1', {
    method: 'PUT',
    body: '{"note":1}',
    headers: { 'content-type': 'application/json' },
  })
  expect(answer.status).toBe(400)
})

rule('openapi.17', 'responses are described by status, with their media types', () => {
  const { responses } = operation(everything, 'post', '/orders/{number}/checkout')
  expect(Object.keys(responses)).toEqual(['201', '204', '400', '401', '403', '404', '503'])
  expect(responses['201']).toMatchObject({
    description: 'The receipt.',
    content: { 'application/json': { schema: { properties: { paid: { type: 'boolean' } } } } },
  })
  expect(responses['204']).toEqual({ description: 'No body.' })
  expect(responses['404']).toEqual({ description: 'The response.', content: { 'application/json': { schema: { type: 'object' } } } })
  expect(responseOf('/export').content).toEqual({ 'text/csv': { schema: { type: 'string' } } })
  expect(responseOf('/method', 'put').content!['application/json']!.schema).toEqual({ type: 'string', description: 'output' })
  expect(responseOf('/json', 'post').content).toEqual({ '*/*': { schema: {} } })
})

rule('openapi.17', 'a response that is none is refused at the start', async () => {
  const { loadConfig } = await import('../../src/foundation/config/config.js')
  const { project } = await import('../start/command.js')
  for (const response of ["'text'", '[]', '{ 200: 7 }', '() => 1']) {
    const text = `export default { routes: [{ method: 'GET', path: '/a', auth: false, response: ${response}, handle() {} }] }`
    await expect(loadConfig(project({ 'octavo.config.mjs': text }), {}), response).rejects.toThrow(
      /routes\[0\]\.response\): must be JSON Schema, a schema of a library, or an object with these by status/,
    )
  }
})

rule('openapi.18', 'routes at the root path have a separate server, and do not collide with other paths', async () => {
  expect(everything.paths['/robots.txt']).toMatchObject({
    servers: [{ url: '/' }],
    get: { operationId: 'root-routes/get/robots.txt', responses: { '200': { content: { 'text/plain': {} } } } },
  })
  expect(everything.paths['/orders/']).toMatchObject({ servers: [{ url: '/' }], get: { operationId: 'root-routes/get/orders' } })
  expect(operation(everything, 'get', '/orders').operationId).toBe('order/get/orders')
  // The slash has no meaning: it is the same route.
  expect((await served.request('/orders/', { token: 'all' })).status).toBe(200)
  await grant(served, 'public', 'api::order.order.old')
  expect((await documentOf()).paths).toHaveProperty('/orders')
})

rule('openapi.19', 'schemas that refer to themselves are components; those of the document may be referred to', async () => {
  const { schemas = {} } = everything.components
  expect(bodyOf('post', '/places')).toEqual({ $ref: '#/components/schemas/post-places-body' })
  expect(schemas['post-places-body']).toMatchObject({
    properties: { within: { items: { $ref: '#/components/schemas/post-places-body' } } },
  })
  expect(schemas['post-orders-number-checkout-body']).toMatchObject({
    properties: { to: { $ref: '#/components/schemas/post-orders-number-checkout-body/$defs/Address' } },
  })
  const latest = await documentOf('latest')
  expect(latest.paths).not.toHaveProperty('/api/orders')
  const shown = latest.components.schemas!.Order as { properties: object }
  expect(Object.keys(shown.properties)).toEqual(expect.arrayContaining(['documentId', 'title']))
  expect(shown.properties).not.toHaveProperty('hidden')
  expect((await documentOf()).components.schemas).not.toHaveProperty('Order')
  expect(responseOf('/nowhere').content!['application/json']!.schema).toEqual({
    $comment: 'Not described: there is no #/components/schemas/Nothing',
  })
})
