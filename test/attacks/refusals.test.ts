// Deep, wide and long values sent to every route, in bodies, queries, paths and headers (security: O01, O11, S132): refusals are
// a few kilobytes, immediate, in the contract's form, and never an error of the service.
import { describe, expect, test } from 'vitest'
import { printed } from '../../src/foundation/errors/errors.js'
import { processCpuMs } from '../support/cpu-time.js'
import { rule } from '../support/rule.js'
import type { TestResponse } from '../support/serve.js'
import { type AttackFixture, attackFixture, model } from './fixture.js'
import { places, type Verb } from './routes.js'

/** Maximum bytes of the response to a refused request, and its maximum CPU time in milliseconds. */
const [most, maxCpuMs] = [16_384, 4_000]

/** Values as JSON texts: bodies are concatenated, because JSON.stringify itself fails on some. */
const values: Readonly<Record<string, string>> = {
  'deep and wide': `${'['.repeat(400)}${'1,'.repeat(8000)}1${']'.repeat(400)}`,
  'brackets only': `${'['.repeat(9000)}${']'.repeat(9000)}`,
  'objects in objects': `${'{"a":'.repeat(6000)}1${'}'.repeat(6000)}`,
  'objects in objects, as deep as a body may be': `${'{"a":'.repeat(450)}1${'}'.repeat(450)}`,
  'many keys': `{${Array.from({ length: 4000 }, (_, index) => `"key${index}":1`).join(',')}}`,
  'many objects': `[${'{"id":"x"},'.repeat(3000)}{}]`,
  'many elements, and the word __proto__': `[${'1,'.repeat(200_000)}"__proto__"]`,
  'a long text': `"${'\\u0001'.repeat(6000)}"`,
  'a long word': `"${'ü'.repeat(18_000)}"`,
}

const fieldsOfAccounts = [
  ...[
    'identifier',
    'password',
    'email',
    'username',
    'code',
    'passwordConfirmation',
    'currentPassword',
    'deviceId',
    'refreshToken',
    'scope',
  ],
  ...['role', 'confirmed', 'unknown', 'name', 'description', 'permissions', 'fileInfo', 'ref', 'refId', 'field'],
]

const inOrder = ['identifier', 'password', 'email', 'username', 'code', 'name']

/** Bodies for a path: each has the value at another place, the rest is in order. */
function bodiesFor(path: string, value: string): readonly string[] {
  const type = model.paths.get(path.split('/')[1]!)
  if (type === undefined) {
    const body = (names: readonly string[], rest: readonly string[]) =>
      `{${[...names.map((name) => `"${name}":${value}`), ...rest.map((name) => `"${name}":"some@example.test"`)].join(',')}}`
    const others = (name: string) => inOrder.filter((other) => other !== name)
    const each = ['/auth/local', '/auth/change-password', '/users', '/upload'].includes(path) ? fieldsOfAccounts : []
    return [
      value,
      ...(value.length < 40_000 ? [body(fieldsOfAccounts, [])] : []),
      body(['unknown'], inOrder),
      ...each.map((name) => body([name], others(name))),
      ...(value.startsWith('"') ? [`{${value}:1,"email":"some@example.test"}`] : []),
    ]
  }
  const attributes = [...type.attributes.keys(), 'unknown', 'locale']
  // Together they fill a body up to its limit.
  const all = `{"data":{${attributes.map((name) => `"${name}":${value}`).join(',')}}}`
  const more = value.startsWith('"') ? [`{"data":{${value}:1}}`] : []
  const each = path.startsWith('/articles') && value.length < 100_000 ? attributes : []
  return [
    `{"data":${value}}`,
    ...(all.length < 1_000_000 ? [all] : []),
    ...more,
    ...each.map((name) => `{"data":{"${name}":{"connect":[{"id":1,"__type":${value},"position":{"before":${value}}}],"set":[]}}}`),
    ...each.map((name) => `{"data":{"${name}":[{"__component":${value}}]}}`),
  ]
}

async function request(
  { request: send }: AttackFixture,
  method: Verb,
  path: string,
  body?: string,
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  const isOpen = path.startsWith('/auth') || path.startsWith('/connect')
  const before = processCpuMs()
  const answer = await send(path, {
    ...(isOpen ? {} : { as: 'full' as const }),
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body }),
  })
  const what = `${method} ${path.slice(0, 80)} ${body?.slice(0, 60) ?? ''}: ${answer.text.slice(0, 200)}`
  expect(processCpuMs() - before, what).toBeLessThan(maxCpuMs)
  expect(answer.status, what).toBeLessThan(500)
  if (answer.status < 400) return answer
  expect(Buffer.byteLength(answer.text), what).toBeLessThan(most)
  if (answer.status !== 405 && answer.status !== 431) {
    expect(Object.keys(answer.body), what).toEqual(['data', 'error'])
    expect([answer.body.data, answer.body.error.status], what).toEqual([null, answer.status])
  }
  return answer
}

/** Types are many, and their bodies are read in one place. */
const isTried = ([, path]: readonly [Verb, string]): boolean =>
  !model.paths.has(path.split('/')[1]!) || ['articles', 'samples', 'homepage', 'comments'].includes(path.split('/')[1]!)

describe('every route', () => {
  const besieged = attackFixture('strapi', { config: { limits: { authRateLimit: 0 } } })
  const writing = places().flatMap(({ path, actions }) =>
    (['POST', 'PUT'] as const).filter((verb) => verb in actions).map((verb) => [verb, path] as const),
  )

  test.each(Object.keys(values))('O01 O11 S132 refuses in a few kilobytes what a body has of %s', async (name) => {
    for (const [verb, path] of writing.filter(isTried))
      for (const body of bodiesFor(path, values[name]!)) await request(besieged, verb, path, body)
  })

  test('S132 refuses in a few kilobytes what the query, the path and the headers have', async () => {
    const long = 'x'.repeat(7000)
    const [deep, wide] = [`${'[a]'.repeat(300)}=1`, `${Array.from({ length: 900 }, (_, index) => `[${index}]=1`).join('&filters')}`]
    const queries = [
      ...'filters[x] filters[id] sort fields populate locale status pagination[page] pagination[limit] start limit _q'.split(' '),
      ...'publicationFilter hasPublishedVersion confirmation access_token callback code state id'.split(' '),
    ].flatMap((key) => [`${key}=${long}`, `${key}=${'%01'.repeat(3000)}`, `${key}[${long}]=1`, `${key}${deep}`])
    for (const { path, actions } of places().filter(({ path: one }) => isTried(['GET', one]))) {
      for (const verb of ['GET', 'PUT', 'DELETE'] as const) {
        if (!(verb in actions)) continue
        for (const query of [...queries, `filters${wide}`]) {
          await request(besieged, verb, `${path}?${query}`, verb === 'PUT' ? '{"data":{}}' : undefined)
        }
      }
      await request(besieged, 'GET', `${path}/${long}`)
      const headers = { 'x-request-id': long, cookie: `octavo_connect=${long}`, 'strapi-response-format': long }
      await request(besieged, 'GET', path, undefined, headers)
      await request(besieged, 'GET', path, undefined, { authorization: `Bearer ${long}` })
    }
  })
})

describe('values in error messages', () => {
  const besieged = attackFixture('specification')

  rule('errors.8', 'O01 a value that is longer than its bound comes back as its beginning, or as a hint', async () => {
    const send = (body: string) => request(besieged, 'POST', '/auth/local', body)
    const { body: deep } = await send(`{"identifier":${values['deep and wide']},"password":"x"}`)
    expect(deep.error.message).toBe('identifier must be a `string` type, but the final value was: `[…]`.')
    const { body: short } = await send('{"identifier":["a"],"password":"x"}')
    expect(short.error.details.errors[0].value).toEqual(['a'])
    const { body: unknown } = await request(
      besieged,
      'POST',
      '/auth/forgot-password',
      `{"email":"a@example.test",${values['many keys']!.slice(1)}`,
    )
    expect(unknown.error.message).toMatch(/^this field has unspecified keys: key0, key1, .*…$/)
  })

  test('a value within its bound is printed whole, one beyond it is hinted at', () => {
    expect(printed({ a: [1, 'b', null, -0] })).toBe('{\n  "a": [\n    "1",\n    "\\"b\\"",\n    "null",\n    "-0"\n  ]\n}')
    expect(printed('x'.repeat(5000))).toBe(`"${'x'.repeat(1000)}…"`)
    expect(printed(JSON.parse(values['brackets only']!))).toBe('[…]')
    expect(printed(JSON.parse(values['many keys']!))).toBe('{…}')
  })
})
