// docs/spec/writing.md: values and what must be unique, on the golden project, which has an attribute of every type.
import { afterAll, beforeAll, expect } from 'vitest'
import { isOnMysql } from '../support/databases.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveGolden } from '../support/serve.js'

let served: Served
beforeAll(async () => {
  served = await serveGolden()
})
afterAll(() => served.close())

async function send(data: object): Promise<readonly [number, unknown]> {
  const headers = { 'content-type': 'application/json' }
  const answer = await served.request('/api/bounds', {
    method: 'POST',
    token: goldenTokens().full!,
    headers,
    body: JSON.stringify({ data }),
  })
  return [answer.status, answer.body.error?.message]
}

rule('writing.15', 'a value that is not an integer is the only error, for any comparison', async () => {
  await send({ uBig: '1' })
  expect(await send({ uBig: ' 1 ' })).toEqual([400, 'This attribute must be unique'])
  for (const value of [[1], true, 1.5, 1e21])
    expect([value, await send({ uBig: value })]).toEqual([value, [400, 'uBig must be a valid integer']])
})

rule('writing.7', 'a time in milliseconds is an integer', async () => {
  for (const name of ['uDatetime', 'uTimestamp']) {
    for (const value of [1.5, -0.5, 1_700_000_000_000.5])
      expect([value, await send({ [name]: value })]).toEqual([value, [400, 'Invalid format, expected a timestamp or an ISO date']])
    // A column of MariaDB for a timestamp begins after 1970 did.
    const within = name === 'uTimestamp' && isOnMysql ? 400 : 201
    for (const value of [0, -1]) expect([value, (await send({ [name]: value }))[0]]).toEqual([value, within])
    expect((await send({ [name]: 1_700_000_000_000 }))[0]).toBe(201)
  }
})

rule('writing.7', 'space after the digits of a time does not count, space before them does', async () => {
  for (const text of ['1700000000001 ', '1700000000002\t\n'])
    expect([text, (await send({ uDatetime: text }))[0], await send({ uDatetime: text.trim() })]).toEqual([
      text,
      201,
      [400, 'This attribute must be unique'],
    ])
  for (const text of [' 1700000000003', '1700000000003 0'])
    expect([text, await send({ uDatetime: text })]).toEqual([text, [400, 'Invalid format, expected a timestamp or an ISO date']])
  const { body } = await served.request('/api/bounds?filters[uDatetime]=1700000000001%20&fields=id', { token: goldenTokens().full! })
  expect(body.data).toHaveLength(1)
})

rule('writing.12', 'a locale that is longer than its column is 400', async () => {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ data: { name: 'long' } })
  const made = async (length: number) => {
    const path = `/api/categories?locale=${'x'.repeat(length)}`
    const answer = await served.request(path, { method: 'POST', token: goldenTokens().full!, headers, body })
    return [answer.status, answer.body.error?.message]
  }
  expect(await made(255)).toEqual([201, undefined])
  expect(await made(256)).toEqual([400, 'locale must be at most 255 characters'])
})

rule('writing.7', 'digits that are an ISO 8601 date are that date in a body too, as a text or a number', async () => {
  for (const [given, moment] of [
    [20230101, '2023-01-01T00:00:00.000Z'],
    [1888, '1888-01-01T00:00:00.000Z'],
    ['1889', '1889-01-01T00:00:00.000Z'],
    [12345, '1970-01-01T00:00:12.345Z'],
  ] as const) {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ data: { uDatetime: given } })
    const answer = await served.request('/api/bounds', { method: 'POST', token: goldenTokens().full!, headers, body })
    expect([given, answer.body.data.uDatetime]).toEqual([given, moment])
  }
})

rule('relations.3', 'media that say nothing change nothing, where Strapi takes the files away', async () => {
  const token = goldenTokens().full!
  const headers = { 'content-type': 'application/json' }
  const write = async (method: string, path: string, data: object) => {
    const { body } = await served.request(`/api/articles${path}`, { method, token, headers, body: JSON.stringify({ data }) })
    return body.data
  }
  const { documentId } = await write('POST', '?status=draft', { title: 'With files', cover: 3, gallery: [3, 6] })
  for (const nothing of [{}, { connect: [] }, { disconnect: [] }, { connect: [], disconnect: [] }]) {
    const data = { cover: nothing, gallery: nothing }
    const { cover, gallery } = await write('PUT', `/${documentId}?status=draft&populate=cover,gallery`, data)
    expect([nothing, cover.id, gallery.map(({ id }: { id: number }) => id)]).toEqual([nothing, 3, [3, 6]])
  }
})
