// The cause that `octavo compare` names for a difference: a table of responses, and the rows of docs/differences.md that it accepts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { causes } from '../../packages/compare/causes.js'
import { documentedRows } from '../../packages/compare/documented.js'
import type { KnownShape } from '../../packages/compare/model.js'
import { root } from '../start/command.js'
import { compare, fileOf, type Report, report, type Stand, stand } from './compared.js'

let [theirs, ours] = [] as unknown as [Stand, Stand]
beforeAll(async () => {
  ;[theirs, ours] = [await stand(), await stand()]
})
afterAll(() => {
  for (const one of [theirs, ours]) one.close()
})

type Response = { readonly status?: number; readonly body: unknown }
const ok = (body: unknown): Response => ({ body })
const error = (status: number, name: string, message: string, details: object = {}): Response => ({
  status,
  body: { data: null, error: { status, name, message, details } },
})
const list = (data: readonly object[], pagination: object = { page: 1, pageSize: 25, pageCount: 1, total: data.length }) =>
  ok({ data, meta: { pagination } })
const named = (...names: string[]) => names.map((name) => ({ id: name.charCodeAt(0), documentId: name, name }))
const sorted = (...pairs: (readonly [string, number])[]) =>
  pairs.map(([documentId, rank]) => ({ id: documentId.charCodeAt(0), documentId, rank }))

/** A path, what Strapi and Octavo respond, and the cause, or the row that documents the difference. */
const table: readonly (readonly [string, Response, Response, string])[] = [
  ['/api/a1', list(named('x')), error(401, 'UnauthorizedError', 'Missing or invalid credentials'), 'credentials'],
  ['/api/a2', list(named('x')), error(403, 'ForbiddenError', 'Forbidden'), 'refused'],
  ['/api/a3', error(403, 'PolicyError', 'Policy Failed'), list(named('x')), 'allowed'],
  ['/api/a4/x', error(404, 'NotFoundError', 'Not Found'), ok({ data: named('x')[0], meta: {} }), 'found'],
  ['/api/a5', ok({ anything: 1 }), error(404, 'NotFoundError', 'Not Found'), 'custom route'],
  ['/api/a6', list(named('x')), error(500, 'InternalServerError', 'Internal Server Error'), 'octavo fails'],
  ['/api/a0', list(named('x')), error(503, 'ServiceUnavailableError', 'The tables do not fit the model (schema drift)'), 'schema drift'],
  ['/api/e3', list([{ id: 1, place: { lat: 1 } }]), list([{ id: 1, place: '{"lat":1}' }]), 'custom field'],
  ['/api/a7', error(500, 'InternalServerError', 'Internal Server Error'), list(named('x')), 'strapi fails'],
  ['/api/a8', list(named('x')), error(400, 'ValidationError', 'Invalid key colour'), 'query refused'],
  ['/api/a9', error(404, 'NotFoundError', 'Not Found'), error(403, 'ForbiddenError', 'Forbidden'), 'refused by both'],
  ['/api/e1', error(401, 'UnauthorizedError', 'Unauthorized'), list(named('x')), 'accepted'],
  ['/api/e2', error(400, 'ValidationError', 'Invalid key owner'), list(named('x')), 'query accepted'],
  ['/api/b1', error(403, 'ForbiddenError', 'Not for you'), error(403, 'ForbiddenError', 'Forbidden'), 'message'],
  ['/api/b2', list(named('x', 'y')), list(named('x', 'y', 'z')), 'documents shown'],
  ['/api/b3', list(named('x', 'y')), list(named('x')), 'documents missing'],
  [
    '/api/b4',
    list(named('x'), { page: 1, pageSize: 10, pageCount: 1, total: 1 }),
    list(named('x'), { page: 1, pageSize: 25, pageCount: 1, total: 1 }),
    'page size',
  ],
  [
    '/api/b5',
    list(sorted(['w', 1], ['x', 2], ['y', 2], ['z', 3]).reverse()),
    list(sorted(['w', 1], ['x', 2], ['y', 2], ['z', 3])),
    'default order',
  ],
  ['/api/b6?sort=rank', list(sorted(['w', 1], ['x', 2])), list(sorted(['x', 2], ['w', 1])), 'order'],
  ['/api/b7', list([{ id: 1, documentId: 'x', tags: [{ id: 5 }] }]), list([{ id: 1, documentId: 'x' }]), 'populate'],
  ['/api/b8?populate=*', list([{ id: 1, documentId: 'x', tags: [{ id: 5 }] }]), list([{ id: 1, documentId: 'x' }]), 'populate replaced'],
  ['/api/b9', list([{ id: 1, documentId: 'x' }]), list([{ id: 1, documentId: 'x', salary: 9 }]), 'attributes shown'],
  ['/api/c1', list([{ id: 1, documentId: 'x', minutes: 9 }]), list([{ id: 1, documentId: 'x' }]), 'attributes missing'],
  [
    '/api/c2?populate=tags',
    list([{ id: 1, documentId: 'x', tags: [{ id: 5 }] }]),
    list([{ id: 1, documentId: 'x', tags: [{ id: 5 }, { id: 6 }] }]),
    'targets shown',
  ],
  [
    '/api/c3?populate=tag',
    list([{ id: 1, documentId: 'x', tag: { id: 5 } }]),
    list([{ id: 1, documentId: 'x', tag: null }]),
    'targets missing',
  ],
  [
    '/api/c4',
    list([{ id: 1, documentId: 'x', name: 'a', updatedAt: '1' }]),
    list([{ id: 1, documentId: 'x', name: 'b', updatedAt: '2' }]),
    'changed',
  ],
  ['/api/c5', list([{ id: 1, documentId: 'x', name: 'a' }]), list([{ id: 1, documentId: 'x', name: 'b' }]), 'value'],
  ['/api/c6', list([{ id: 1, seo: { id: 2 } }]), list([{ id: 1, seo: { id: 2, documentId: 'y' } }]), 'contract'],
  ['/uploads/a.png', error(404, 'NotFoundError', 'Not Found'), ok({}), 'file'],
  [
    '/api/d1?filters[rank]=x',
    error(500, 'InternalServerError', 'Internal Server Error'),
    error(400, 'ValidationError', 'Invalid number for rank'),
    '400 in place of 500',
  ],
  ['/api/d2', list(named('x', 'y')), list([...named('x', 'y')].reverse()), 'Repaired: order where nothing is asked for'],
  [
    '/api/d3?sort=rank',
    list(sorted(['w', 1], ['x', 2], ['y', 2])),
    list(sorted(['w', 1], ['y', 2], ['x', 2])),
    'Repaired: order where nothing is asked for',
  ],
  [
    '/api/d4?sort[0]=rank:desc',
    list(sorted(['w', 2], ['x', 1])),
    list(sorted(['w', 2], ['y', 1])),
    'Repaired: order where nothing is asked for',
  ],
  ['/api/d5', list([{ id: 1, views: '9007199254740992' }]), list([{ id: 1, views: '9007199254740993' }]), 'Repaired: 64-bit integers'],
  [
    '/api/d6?populate[0]=*',
    error(400, 'ValidationError', 'Invalid key *'),
    list(named('x')),
    'Repaired: a list whose only entry is the star',
  ],
  [
    '/api/d7?filters[a][b][c]=1',
    list(named('x')),
    error(400, 'ValidationError', 'The value of a is not an object'),
    'Safer: an object in place of a value',
  ],
  [
    '/api/d8?foo=1&bar=2',
    error(400, 'ValidationError', 'Invalid key foo'),
    error(400, 'ValidationError', 'Invalid key bar'),
    'Repaired: a request with several errors',
  ],
  ['/admin/init', ok({}), error(404, 'NotFoundError', 'Not Found'), 'Response metadata: `/admin`'],
]

const pathOf = (path: string) => path.split('?')[0]!

test('each difference has its cause, or the row that documents it', async () => {
  const answer = (side: 1 | 2) => (request: { readonly url?: string }) => table.find(([path]) => path === request.url)![side]
  theirs.answer = answer(1)
  ours.answer = answer(2)
  const found: Report = await report(
    theirs.origin,
    ours.origin,
    table.map(([path]) => path),
    '--retries',
    '0',
    '--show',
    '50',
  )
  const causes = new Map<string, string[]>()
  const note = (path: string, cause: string) => causes.set(pathOf(path), [...(causes.get(pathOf(path)) ?? []), cause])
  for (const { cause, examples } of found.groups) for (const { path } of examples) note(path, cause)
  for (const { section, row, example } of found.documentedDifferences) note(example.path, row === '' ? section : `${section}: ${row}`)
  for (const [path, , , cause] of table) {
    // A row of the page has one example: the first of its requests that was compared.
    const sharesRow = cause.startsWith('Repaired: order')
    expect([path, causes.get(pathOf(path))]).toEqual([path, sharesRow && !causes.has(pathOf(path)) ? undefined : [cause]])
  }
  expect([...causes.values()].flat().filter((cause) => cause.startsWith('Repaired: order'))).toHaveLength(1)
  expect(found.documented).toBe(9)
  expect(
    found.groups
      .filter(({ exposes }) => exposes)
      .map(({ cause }) => cause)
      .sort(),
  ).toEqual(['accepted', 'allowed', 'attributes shown', 'documents shown', 'found', 'query accepted', 'targets shown'])
  // Exposures come first.
  expect(found.groups.findIndex(({ exposes }) => !exposes)).toBe(7)
})

test('the advice names the action to grant, and the text report has both values', async () => {
  theirs.answer = ({ url }) => (url!.includes('a2') ? list(named('x')) : list([{ id: 1, name: 'left' }]))
  ours.answer = ({ url }) => (url!.includes('a2') ? error(403, 'ForbiddenError', 'Forbidden') : list([{ id: 1, name: 'x'.repeat(1_000) }]))
  const { out, status } = await compare(theirs.origin, ours.origin, '--requests', fileOf(['/api/a2', '/api/b']), '--project', '/tmp')
  expect(out).toContain('Grant it: npx octavo roles grant public <action>')
  expect(out).toContain('     status: 200 in Strapi, 403 Forbidden in Octavo\n')
  expect(out).toMatch(/ {5}data\[0\]\.name: "left" in Strapi, "x{150,160}… in Octavo\n/)
  expect(status).toBe(1)
})

test('differences of users have separate advice, since octavo.config has no settings for them', async () => {
  theirs.answer = () => ({ body: { id: 1, username: 'ada', role: { id: 1 } } })
  ours.answer = () => ({ body: { id: 1, username: 'ada', provider: 'local' } })
  const { groups } = await report(theirs.origin, ours.origin, ['/api/users/me'])
  expect(groups.map(({ cause }) => cause)).toEqual(['attributes shown', 'populate'])
  for (const { advice } of groups) {
    expect(advice).toContain('serve what clients need from a route of octavo.config')
    expect(advice).not.toMatch(/types\["|:$/)
  }
})

test('a path of a file may have spaces, as in the address of a browser', async () => {
  theirs.answer = () => list(named('x'))
  ours.answer = theirs.answer
  const { same } = await report(theirs.origin, ours.origin, ['/api/films?filters[title]=A Film', 'GET /api/films?sort=title'])
  expect(same).toBe(2)
  expect(ours.got.map(({ url }) => url)).toContain('/api/films?filters[title]=A%20Film')
})

test('every row that is accepted is in docs/differences.md, in its section', () => {
  const page = readFileSync(join(root, 'docs', 'differences.md'), 'utf8')
  const sections = new Map(page.split(/^## /m).map((text) => [text.slice(0, text.indexOf('\n')), text]))
  for (const { section, row } of documentedRows) {
    const rows = (sections.get(section) ?? '').split('\n').filter((line) => line.startsWith('| '))
    expect([section, row, rows.some((line) => line.split(' | ')[0]!.includes(row))]).toEqual([section, row, true])
  }
})

test('the model decides about nested keys, and relations to types of unknown plugins have a separate cause', () => {
  const thing = {
    uid: 'api::thing.thing',
    attributes: { owner: relationTo('plugin::users-permissions.user'), cat: relationTo('plugin::shop.cat') },
  }
  const user = { uid: 'plugin::users-permissions.user', attributes: { things: relationTo(thing.uid) } }
  const type = { ...thing, segment: 'things', isSingle: false, hasDrafts: false, isLocalized: false }
  const model = {
    types: new Map([['things', type]]),
    shapes: new Map<string, KnownShape>([thing, user].map((shape) => [shape.uid, shape])),
  }
  const half = { status: 200, content: { kind: 'json', value: { data: [] } } }
  const pair = { addressed: { type, segment: 'things' }, parameters: { populate: '*' }, path: '/api/things', strapi: half, octavo: half }
  const causeOf = (...path: (string | number)[]) => {
    const difference = { kind: 'missing', path: ['data', 0, ...path], pattern: `data.*.${path.join('.')}`, strapi: null, octavo: undefined }
    return causes.find(({ matches }) => matches(difference as never, pair as never, model as never))?.name
  }
  expect(causeOf('owner', 'phone')).toBe('attributes missing')
  expect(causeOf('owner', 'things')).toBe('populate replaced')
  expect(causeOf('cat')).toBe('plugin')
  expect(causeOf('owner')).toBe('populate replaced')
})

const relationTo = (target: string) => ({ type: 'relation', relation: 'manyToOne', target }) as const
