// Reading files below /uploads/: ranges, tags, conditions, and files that are never served.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Served } from '../support/serve.js'
import { serveGolden } from '../support/serve.js'
import { file, noise, send } from './sending.js'

let served: Served
let url: string
const text = 'plain text notes\nsecond line\n'
beforeAll(async () => {
  served = await serveGolden()
  url = (await send(served, [file(text, 'notes.txt', 'text/plain')])).body[0].url
})
afterAll(() => served.close())

test('a file comes with its type, length, tag and date', async () => {
  const { status, headers, text: got } = await served.request(url)
  expect([status, got]).toEqual([200, text])
  expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(headers.get('content-length')).toBe(String(text.length))
  expect(headers.get('accept-ranges')).toBe('bytes')
  expect(headers.get('cache-control')).toBe('public, max-age=0')
  expect(headers.get('etag')).toMatch(/^"[\w-]+"$/)
  expect(Date.parse(headers.get('last-modified')!)).toBeLessThanOrEqual(Date.now())
})

test.each([
  ['bytes=0-4', 206, 'plain', 'bytes 0-4/29'],
  ['bytes=24-', 206, 'line\n', 'bytes 24-28/29'],
  ['bytes=-5', 206, 'line\n', 'bytes 24-28/29'],
  ['bytes=24-999', 206, 'line\n', 'bytes 24-28/29'],
  ['bytes=-999', 206, text, 'bytes 0-28/29'],
  ['bytes=29-', 416, '', 'bytes */29'],
  ['bytes=-0', 416, '', 'bytes */29'],
  ['bytes=5-2', 200, text, null],
  ['bytes=0-1,3-4', 200, text, null],
  ['lines=0-4', 200, text, null],
])('the range %s is %i', async (range, status, content, contentRange) => {
  const answer = await served.request(url, { headers: { range } })
  expect([answer.status, answer.text, answer.headers.get('content-range')]).toEqual([status, content, contentRange])
})

test('HEAD has the same headers without the content', async () => {
  const [get, head] = [await served.request(url), await served.request(url, { method: 'HEAD' })]
  expect([head.status, head.text]).toEqual([200, ''])
  for (const name of ['content-type', 'content-length', 'etag', 'last-modified']) expect(head.headers.get(name)).toBe(get.headers.get(name))
  for (const range of ['bytes=0-4', 'bytes=29-']) {
    const ranged = await served.request(url, { method: 'HEAD', headers: { range } })
    expect([ranged.status, ranged.headers.get('content-length'), ranged.headers.get('content-range')]).toEqual([
      200,
      String(text.length),
      null,
    ])
  }
})

test('unchanged content is not sent again', async () => {
  const { headers } = await served.request(url)
  const etag = headers.get('etag')!
  const modified = headers.get('last-modified')!
  const conditions = [
    ['if-none-match', etag],
    ['if-none-match', `"x", W/${etag}`],
    ['if-none-match', '*'],
    ['if-modified-since', modified],
  ] as const
  for (const [name, value] of conditions) {
    const answer = await served.request(url, { headers: { [name]: value } })
    const sent = value.includes('W/') ? `W/${etag}` : etag
    expect([answer.status, answer.text, answer.headers.get('etag')]).toEqual([304, '', sent])
  }
  expect((await served.request(url, { headers: { 'if-none-match': '"x"', 'if-modified-since': modified } })).status).toBe(200)
  expect((await served.request(url, { headers: { 'if-range': '"x"', range: 'bytes=0-4' } })).status).toBe(200)
  expect((await served.request(url, { headers: { 'if-range': etag, range: 'bytes=0-4' } })).status).toBe(206)
})

test('an empty file is served as one', async () => {
  const { body } = await send(served, [file('', 'empty.txt'), file('x', 'x.txt')])
  const answer = await served.request(body[0].url)
  expect([answer.status, answer.text, answer.headers.get('content-length')]).toEqual([200, '', '0'])
})

test('files on their way, hidden files and folders are not served', async () => {
  const uploads = join(served.folder, 'uploads')
  mkdirSync(join(uploads, 'below'), { recursive: true })
  writeFileSync(join(uploads, 'below', 'fine.txt'), 'fine')
  writeFileSync(join(uploads, '.hidden'), 'hidden')
  mkdirSync(join(uploads, '.octavo', 'other'), { recursive: true })
  writeFileSync(join(uploads, '.octavo', 'other', 'a.part'), 'half')
  expect((await served.request('/uploads/below/fine.txt')).text).toBe('fine')
  for (const path of [
    '.hidden',
    '.octavo/other/a.part',
    '.octavo',
    'below',
    'below/',
    '',
    'below/../.hidden',
    '%2ehidden',
    'below%2f..%2f.hidden',
    'nothing.png',
    '..%5c.env',
    '%00',
    `${'x'.repeat(400)}.png`,
  ]) {
    const { status, body } = await served.request(`/uploads/${path}`)
    expect([path, status, body.error.name]).toEqual([path, 404, 'NotFoundError'])
  }
  expect((await served.request('/uploads/below/fine.txt', { method: 'POST' })).status).toBe(405)
})

test('while a file is replaced, every reader gets the old bytes or the new ones', async () => {
  const versions = await Promise.all([1, 2, 3].map(() => noise(400, 400).jpeg({ quality: 10 }).toBuffer()))
  const seen = new Set(versions.map((version) => version.toString('base64')))
  const { body } = await send(served, [file(versions[0]!, 'changing.jpg')])
  let replacing = true
  const reading = Promise.all(
    [1, 2, 3].map(async () => {
      for (let reads = 0; replacing || reads < 20; reads++) {
        const answer = await fetch(served.origin + body[0].url)
        const content = Buffer.from(await answer.arrayBuffer())
        expect(Number(answer.headers.get('content-length'))).toBe(content.length)
        expect(seen.has(content.toString('base64'))).toBe(true)
      }
    }),
  )
  for (let round = 0; round < 12; round++) {
    expect((await send(served, [file(versions[round % 3]!, 'changing.jpg')], { path: `/api/upload?id=${body[0].id}` })).status).toBe(200)
  }
  replacing = false
  await reading
})
