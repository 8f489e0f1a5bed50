// Information about a file stays when it is replaced or when other information changes; recorded from Strapi 5.54 on the same project.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveWritable } from '../spec/writable-project.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { serveGolden } from '../support/serve.js'
import { file, formOf, send, tokens } from './sending.js'

let served: Served
beforeAll(async () => {
  served = await serveGolden({ config: { api: { rest: { contract: 'strapi' } } } })
})
afterAll(() => served.close())

const point = { x: 10, y: 20 }
const said = { name: 'named.txt', alternativeText: 'ALT', caption: 'CAP', focalPoint: point }
const add = async (): Promise<number> => (await send(served, [file('text', 'a.txt'), ['fileInfo', JSON.stringify(said)]])).body[0].id
const shown = ({ name, alternativeText, caption, focalPoint }: Record<string, unknown>) => [name, alternativeText, caption, focalPoint]

const none = undefined
test.each<readonly [string | readonly string[] | undefined, readonly unknown[]]>([
  [none, ['b.txt', 'ALT', 'CAP', null]],
  ['{}', ['b.txt', 'ALT', 'CAP', null]],
  ['{"name":"n.txt"}', ['n.txt', 'ALT', 'CAP', null]],
  ['{"caption":"C"}', ['b.txt', 'ALT', 'C', null]],
  ['{"alternativeText":"A"}', ['b.txt', 'A', 'CAP', null]],
  ['{"alternativeText":null,"caption":null,"name":null}', ['b.txt', null, null, null]],
  ['{"alternativeText":"","caption":"","name":""}', ['b.txt', '', '', null]],
  ['{"focalPoint":null}', ['b.txt', 'ALT', 'CAP', null]],
  ['{"focalPoint":{"x":1,"y":2}}', ['b.txt', 'ALT', 'CAP', { x: 1, y: 2 }]],
  ['{"folder":1}', ['b.txt', 'ALT', 'CAP', null]],
  ['[{"caption":"L"}]', ['b.txt', 'ALT', 'L', null]],
])('a file is replaced and told %j', async (info, expected) => {
  const id = await add()
  const { status, body } = await send(served, [file('other', 'b.txt'), ...(info === none ? [] : [['fileInfo', info as string] as const])], {
    path: `/api/upload?id=${id}`,
  })
  expect([status, shown(body)]).toEqual([200, expected])
})

test.each<readonly [string | undefined, readonly unknown[]]>([
  [none, ['named.txt', 'ALT', 'CAP', point]],
  ['{}', ['named.txt', 'ALT', 'CAP', point]],
  ['{"name":"n.txt"}', ['n.txt', 'ALT', 'CAP', point]],
  ['{"caption":"C"}', ['named.txt', 'ALT', 'C', point]],
  ['{"alternativeText":"A"}', ['named.txt', 'A', 'CAP', point]],
  ['{"alternativeText":null,"caption":null,"name":null}', ['named.txt', 'ALT', 'CAP', point]],
  ['{"alternativeText":"","caption":"","name":""}', ['', '', '', point]],
  ['{"focalPoint":null}', ['named.txt', 'ALT', 'CAP', point]],
  ['{"focalPoint":{"x":1,"y":2}}', ['named.txt', 'ALT', 'CAP', { x: 1, y: 2 }]],
  ['{"folder":null}', ['named.txt', 'ALT', 'CAP', point]],
])('a file is told %j', async (info, expected) => {
  for (const body of [JSON.stringify({ fileInfo: info }), JSON.stringify({ fileInfo: info === none ? none : JSON.parse(info) })]) {
    const id = await add()
    const headers = { 'content-type': 'application/json' }
    const answer = await served.request(`/api/upload?id=${id}`, { method: 'POST', headers, token: tokens.full!, body })
    expect([answer.status, shown(answer.body)]).toEqual([200, expected])
  }
})

test('a name may have 255 characters, however many bytes each has', async () => {
  const named = (length: number) => send(served, [file('text', 'a.txt'), ['fileInfo', JSON.stringify({ name: '🎈'.repeat(length) })]])
  const { status, body } = await named(255)
  expect([status, [...body[0].name].length]).toEqual([201, 255])
  expect((await named(256)).body.error.message).toBe('fileInfo.name must be at most 255 characters')
})

rule('uploads.22', 'a new file has the defaults of attributes that a project adds to files', async () => {
  const attributes = {
    name: { type: 'string', required: true },
    licence: { type: 'enumeration', enum: ['free', 'own'], default: 'own' },
    checked: { type: 'boolean', default: false },
    since: { type: 'datetime', default: '2024-05-06T07:08:09.000Z' },
    credit: { type: 'string' },
  }
  const schema = { kind: 'collectionType', collectionName: 'files', info: { singularName: 'file', pluralName: 'files' }, attributes }
  const project = await serveWritable({ 'src/extensions/upload/content-types/file/schema.json': schema }, 'strapi')
  const sent = await project.served.request('/api/upload', { method: 'POST', token: 'full', body: formOf([file('text', 'a.txt')]) })
  const added = { licence: 'own', checked: false, since: '2024-05-06T07:08:09.000Z', credit: null }
  expect([sent.status, sent.body[0]]).toEqual([201, expect.objectContaining({ name: 'a.txt', caption: null, ...added })])
  const { body } = await project.served.request(`/api/upload/files/${sent.body[0].id}`, { token: 'full' })
  expect(body).toMatchObject({ ...added, hash: sent.body[0].hash })
  await project.served.close()
})
