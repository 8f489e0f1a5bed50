// Attacks below HTTP (security: S125, S128, S130): requests that two servers would read differently, and clients that are
// slow on purpose.
import { describe, expect, test } from 'vitest'
import { attackFixture } from './fixture.js'
import type { Heard, Pace } from './raw.js'
import { raw } from './raw.js'

const host = 'Host: x\r\n'
const post = `POST /api/articles HTTP/1.1\r\n${host}`
const get = `GET /api/articles?fields=id HTTP/1.1\r\n${host}`
/** Text that must not be parsed as a second request. */
const smuggled = `GET /api/smuggled HTTP/1.1\r\n${host}\r\n`

describe('smuggling', () => {
  const golden = attackFixture()
  const heard = async (request: string, pace: Pace = {}): Promise<Heard> => {
    const answer = await raw(golden.served.origin, [request], pace)
    golden.search(answer.text, 'public', request)
    return answer
  }

  const refused: Readonly<Record<string, string>> = {
    'a length and chunks': `${post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    'chunks and a length': `${post}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${smuggled}`,
    'chunks that are identity too': `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`,
    'two encodings': `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${smuggled}`,
    'an unknown encoding': `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`,
    'two lengths': `${post}Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello${smuggled}`,
    'the same length twice': `${post}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello${smuggled}`,
    'a list of lengths': `${post}Content-Length: 5, 5\r\n\r\nhello${smuggled}`,
    'a length with a sign': `${post}Content-Length: +5\r\n\r\nhello${smuggled}`,
    'a negative length': `${post}Content-Length: -1\r\n\r\n${smuggled}`,
    'a length in hexadecimal': `${post}Content-Length: 0x5\r\n\r\nhello${smuggled}`,
    'a length beyond numbers': `${post}Content-Length: 99999999999999999999\r\n\r\n${smuggled}`,
    'a bare line feed after the request line': `GET /api/articles HTTP/1.1\n${host}\r\n`,
    'a bare line feed after a header': `GET /api/articles HTTP/1.1\r\nHost: x\nX: y\r\n\r\n`,
    'a bare line feed at the end': `GET /api/articles HTTP/1.1\r\nHost: x\r\n\n${smuggled}`,
    'a bare carriage return in a header': 'GET /api/articles HTTP/1.1\r\nHost: x\rX: y\r\n\r\n',
    'a space before the colon': 'GET /api/articles HTTP/1.1\r\nHost : x\r\n\r\n',
    'a space before the colon of an encoding': `${post}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    'a folded header': `${get}X: a\r\n b\r\n\r\n`,
    'a folded length': `${post}Content-Length:\r\n 5\r\n\r\nhello`,
    'a NUL in a header': `${get}X: a\0b\r\n\r\n`,
    'a control character in the path': `GET /api/art\x01icles HTTP/1.1\r\n${host}\r\n`,
    'a line feed inside a chunk extension': `${post}Transfer-Encoding: chunked\r\n\r\n5;\nx\r\nhello\r\n0\r\n\r\n${smuggled}`,
    'a chunk that is longer than it says': `${post}Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n${smuggled}`,
    'a chunk size with a sign': `${post}Transfer-Encoding: chunked\r\n\r\n-1\r\nhello\r\n0\r\n\r\n${smuggled}`,
    'no host': 'GET /api/articles HTTP/1.1\r\n\r\n',
    'another protocol': '\x16\x03\x01\x02\x00\x01\x00',
    'another version': `GET /api/articles HTTP/9.9\r\n${host}\r\n`,
  }

  test.each(Object.entries(refused))('S128 %s: 400, and the connection ends', async (_what, request) => {
    const { text, closed } = await heard(request)
    // Requests before the invalid bytes may have been answered.
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
    expect(statuses.at(-1)).toBe('400')
    expect(statuses).not.toContain('404')
    expect(closed).toBe(true)
  })

  test('S128 headers beyond the limit: 431, and the connection ends', async () => {
    for (const header of [`X: ${'a'.repeat(20_000)}`, Array.from({ length: 4_000 }, (_, index) => `a${index}: 1`).join('\r\n')]) {
      const { text, closed } = await heard(`${get}${header}\r\n\r\n`)
      expect(text).toMatch(/^HTTP\/1\.1 431 /)
      expect(closed).toBe(true)
    }
  })

  test('S128 requests in one packet get their responses in order', async () => {
    const { text } = await heard(
      `GET /api/tags HTTP/1.1\r\n${host}\r\nGET /api/nothing HTTP/1.1\r\n${host}\r\nGET /_health HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
    )
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '404', '204'])
  })

  test('S128 requests for another protocol or a tunnel are refused', async () => {
    expect((await heard(`CONNECT 127.0.0.1:22 HTTP/1.1\r\n${host}\r\n`)).text).not.toMatch(/HTTP\/1\.1 2/)
    // This connection stays open.
    const upgraded = await heard(`${get}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`, { timeoutMs: 1_500 })
    expect(upgraded.text).not.toContain('101 Switching')
    expect((await heard(`TRACE /api/articles HTTP/1.1\r\n${host}X-Echo: me\r\nConnection: close\r\n\r\n`)).text).not.toMatch(
      /HTTP\/1\.1 2|X-Echo/,
    )
    expect((await heard(`GET http://evil.example/api/secret-notes HTTP/1.1\r\n${host}Connection: close\r\n\r\n`)).text).toMatch(
      /HTTP\/1\.1 40[34]/,
    )
  })
})

describe('slow clients', () => {
  const golden = attackFixture('strapi', { config: { limits: { requestTimeout: 1_200, keepAliveTimeout: 600 } } })
  const { request: sendRequest } = golden
  const slow = (pieces: readonly string[], gap: number) => raw(golden.served.origin, pieces, { gap })

  test('S125 headers that come byte by byte are cut off', async () => {
    const { closed } = await slow([...`${get}X: ${'a'.repeat(100)}`], 100)
    expect(closed).toBe(true)
  })

  test('S125 a connection that says nothing is cut off', async () => {
    const { closed } = await slow([], 100)
    expect(closed).toBe(true)
  })

  test('S125 a body that comes byte by byte is cut off', async () => {
    const { closed } = await slow([`${post}Content-Length: 1000\r\n\r\n`, ...'a'.repeat(100)], 100)
    expect(closed).toBe(true)
  })

  test('S125 an idle connection is closed when its time is over', async () => {
    const { text, closed } = await slow([`GET /_health HTTP/1.1\r\n${host}\r\n`], 1)
    expect(text).toMatch(/^HTTP\/1\.1 204 /)
    expect(closed).toBe(true)
  })

  test('S125 others are served next to five hundred slow connections', async () => {
    let go = () => {}
    const leave = new Promise<void>((resolve) => {
      go = resolve
    })
    const pace = { gap: 200, leave }
    const crowd = Promise.all(Array.from({ length: 500 }, () => raw(golden.served.origin, [...'GET /api/articles'], pace)))
    for (let request = 0; request < 20; request++) expect((await sendRequest('/tags?pagination[pageSize]=1')).status).toBe(200)
    go()
    await crowd
  })

  test('S125 clients that leave in the middle of a response do no harm', async () => {
    const large = `GET /api/articles?populate=author.articles.author&pagination[pageSize]=100 HTTP/1.1\r\n${host}\r\n`
    await Promise.all(Array.from({ length: 40 }, (_, index) => raw(golden.served.origin, [large], { timeoutMs: 5 + index * 4 })))
    expect((await sendRequest('/articles?populate=author.articles.author&pagination[pageSize]=100')).status).toBe(200)
    expect(golden.served.log.filter((line) => (JSON.parse(line) as { level: number }).level >= 50)).toEqual([])
  })
})

describe('floods', () => {
  const golden = attackFixture()

  test('S130 thousands of health checks are answered from memory', async () => {
    const before = golden.served.log.length
    const requests = Array.from(
      { length: 250 },
      (_, index) => `GET /_health HTTP/1.1\r\n${host}${index === 249 ? 'Connection: close\r\n' : ''}\r\n`,
    ).join('')
    const heard = await Promise.all(Array.from({ length: 20 }, () => raw(golden.served.origin, [requests])))
    for (const { text } of heard) expect(text.match(/HTTP\/1\.1 204 /g)?.length).toBe(250)
    // They would fill the log.
    expect(golden.served.log.length - before).toBeLessThan(10)
  })
})
