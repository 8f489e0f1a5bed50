// Information about a file stays when it is replaced or when other information changes; recorded from Strapi 5.54 on the same project.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { serveGolden } from '../support/serve.js'
import { file, send, tokens } from './sending.js'

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
