// Private files of the local disk: served under signed addresses only, which all responses contain and which expire.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { serveGolden } from '../support/serve.js'
import { file, sample, send, tokens } from './sending.js'

let served: Served
beforeAll(async () => {
  served = await serveGolden({ config: { uploads: { storage: { provider: 'local', private: true, signedUrlExpires: 100 } } } })
})
afterAll(() => served.close())

const status = async (address: string, headers: Record<string, string> = {}) => (await served.request(address, { headers })).status

async function uploaded(): Promise<{ readonly id: number; readonly url: string; readonly hash: string; readonly formats: object }> {
  const link = [
    ['ref', 'api::article.article'],
    ['refId', '1'],
    ['field', 'cover'],
  ] as const
  return (await send(served, [file(sample('large.jpg'), 'large.jpg'), ...link])).body[0]
}

test('responses have signed addresses of the file and its formats, rows the bare one', async () => {
  const { id, url, formats, hash } = await uploaded()
  expect(await served.sql(`select url, provider from files where id = ${id}`)).toEqual([{ url: `/uploads/${hash}.jpg`, provider: 'local' }])
  const { body } = await served.request('/api/articles?filters[id]=1&status=draft&populate=cover', { token: tokens.full! })
  const [{ cover }] = body.data
  expect([cover.isUrlSigned, cover.formats.small.isUrlSigned]).toEqual([true, true])
  for (const address of [url, cover.url, cover.formats.small.url, (formats as typeof cover.formats).thumbnail.url]) {
    expect(address).toMatch(/^\/uploads\/[\w.]+\?expires=\d+&signature=[\w-]{43}$/)
    const answer = await served.request(address)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/jpeg'])
    expect(answer.headers.get('cache-control')).toMatch(/^private, max-age=\d{1,3}$/)
  }
  expect(await status(cover.url, { range: 'bytes=0-9' })).toBe(206)
  const etag = (await served.request(cover.url)).headers.get('etag')!
  expect(await status(cover.url, { 'if-none-match': etag })).toBe(304)
})

test('an address holds for the configured seconds at most, and for nine tenths of them at least', async () => {
  const before = Math.floor(Date.now() / 1000)
  const { url } = await uploaded()
  const after = Math.ceil(Date.now() / 1000)
  const expires = Number(new URLSearchParams(url.split('?')[1]).get('expires'))
  expect(expires).toBeLessThanOrEqual(after + 100)
  expect(expires).toBeGreaterThanOrEqual(before + 90)
})

test('without a signature, with that of another file, another time, a longer or a shorter one: 403', async () => {
  const [one, other] = [await uploaded(), await uploaded()]
  const [path, query] = one.url.split('?') as [string, string]
  const [, otherQuery] = other.url.split('?')
  const expires = Number(new URLSearchParams(query).get('expires'))
  const signature = new URLSearchParams(query).get('signature')!
  const wrong = [
    path,
    `${path}?${otherQuery}`,
    `${path}?expires=${expires + 1}&signature=${signature}`,
    `${path}?expires=${expires}&signature=${signature}A`,
    `${path}?expires=${expires}&signature=${signature.slice(0, -1)}`,
    `${path}?expires=${expires}&signature=${'é'.repeat(signature.length)}`,
    `${path}?expires=${expires}`,
    `${path}?signature=${signature}`,
    `${path}?expires=-1&signature=${signature}`,
  ]
  expect(await Promise.all(wrong.map((address) => status(address)))).toEqual(Array(wrong.length).fill(403))
  expect(await status(one.url, { 'if-none-match': '*' })).toBe(304)
  expect(await status(path, { 'if-none-match': '*' })).toBe(403)
  expect(await status(path.replace(/[^/]+$/, 'nothing-here.jpg'))).toBe(403)
})

test('an address that has ended is refused', async () => {
  const short = await serveGolden({ config: { uploads: { storage: { provider: 'local', private: true, signedUrlExpires: 30 } } } })
  try {
    const [{ url }] = (await send(short, [file('x', 'x.txt')])).body
    expect((await short.request(url)).status).toBe(200)
    const now = Date.now
    Date.now = () => now() + 31_000
    try {
      expect((await short.request(url)).status).toBe(403)
    } finally {
      Date.now = now
    }
  } finally {
    await short.close()
  }
})
