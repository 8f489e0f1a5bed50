// Headers, addresses of files, and responses that must not be confused.
import { describe, expect, test } from 'vitest'
import type { TestResponse } from '../support/serve.js'
import type { Caller } from './fixture.js'
import { attackFixture, tokens } from './fixture.js'
import { raw } from './raw.js'

const evil = 'https://evil.example'
const allowOrigin = ({ headers }: TestResponse) => headers.get('access-control-allow-origin')
const allowCredentials = ({ headers }: TestResponse) => headers.get('access-control-allow-credentials')

describe('as it comes', () => {
  const golden = attackFixture()
  const { request } = golden

  test('S134 any origin may read, and none with credentials', async () => {
    const preflight = { 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authorization' }
    for (const origin of [evil, 'null', 'http://127.0.0.1', 'https://evil.example:8443']) {
      const sent: readonly Record<string, string>[] = [
        { origin },
        { origin, cookie: 'jwt=1' },
        { origin, authorization: `Bearer ${tokens.full}` },
        { origin, ...preflight },
      ]
      for (const headers of sent) {
        for (const method of 'access-control-request-method' in headers ? ['OPTIONS'] : ['GET', 'POST', 'HEAD', 'DELETE']) {
          const answer = await request('/articles', { method, headers })
          expect(allowOrigin(answer)).toBe('*')
          expect(allowCredentials(answer)).toBeNull()
          expect(answer.headers.get('vary')).toMatch(/\borigin\b/i)
        }
      }
    }
    const refused = await request('/secret-notes', { headers: { origin: evil } })
    expect([refused.status, allowOrigin(refused), allowCredentials(refused)]).toEqual([403, '*', null])
    expect((await request('/articles')).headers.get('vary')).toMatch(/\borigin\b/i)
  })

  test('S134 every response forbids browsers to guess its type', async () => {
    for (const path of ['/articles', '/secret-notes', '/nothing', '/articles?filters[x]=1', '../', '../_health', '../uploads/nothing']) {
      const { headers } = await request(path)
      expect(headers.get('x-content-type-options'), path).toBe('nosniff')
      expect(headers.get('server'), path).toBeNull()
      expect(headers.get('x-powered-by'), path).toBeNull()
    }
  })

  test('S139 nothing of the project or of the service is served by address', async () => {
    const addresses = [
      ...[
        '/metrics',
        '/debug',
        '/documentation',
        '/openapi.json',
        '/swagger.json',
        '/graphql',
        '/server-status',
        '/debug/pprof',
        '/json/list',
      ],
      ...[
        '/.env',
        '/.git/config',
        '/docs/.env',
        '/docs/..%2ftokens.json',
        '/.git/HEAD',
        '/package.json',
        '/octavo.config.json',
        '/tokens.json',
        '/.tmp/data.db',
        '/data.db',
        '/content.db.gz',
      ],
      ...[
        '/.tmp/data.db-wal',
        '/dist/main.js',
        '/dist/main.js.map',
        '/src/api/article/content-types/article/schema.json',
        '/uploads',
        '/uploads/',
        '/uploads/.env',
      ],
      ...[
        '/uploads/.tmp/data.db',
        '/uploads/../.env',
        '/uploads/../tokens.json',
        '/uploads/..%2ftokens.json',
        '/uploads/%2e%2e/tokens.json',
      ],
      ...[
        '/uploads/%2e%2e%2ftokens.json',
        '/uploads/..%5ctokens.json',
        '/uploads/..%c0%aftokens.json',
        '/uploads/....//tokens.json',
        '/uploads//etc/passwd',
      ],
      ...[
        '/uploads/%00',
        '/uploads/x%00.png',
        '/uploads/%zz',
        '/../tokens.json',
        '/..%2ftokens.json',
        '/uploads/../../../../../etc/passwd',
      ],
    ]
    for (const path of addresses) {
      const { text } = await raw(golden.served.origin, [`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`])
      golden.search(text, 'public', path)
      expect(text, path).toMatch(/^HTTP\/1\.1 (400|403|404) /)
      expect(text, path).not.toMatch(/goldenJwtSecret|SQLite format|root:|"collectionName"/)
    }
  })

  test('S139 files that a browser could run do not run', async () => {
    const names = (await golden.look("select url from files where ext in ('.svg', '.html', '.xml')")) as string[]
    expect(names.length).toBeGreaterThan(0)
    for (const url of names) {
      const { status, headers } = await request(`..${url}`)
      expect(status, url).toBe(200)
      expect(headers.get('content-security-policy'), url).toMatch(/sandbox/)
      expect(headers.get('x-content-type-options'), url).toBe('nosniff')
    }
  })

  test('S140 responses do not cross between callers, methods, formats and encodings', async () => {
    const query = '/articles?populate[0]=note&populate[1]=tags&pagination[pageSize]=20'
    const callers: readonly Caller[] = ['public', 'alice', 'bob', 'custom', 'full', 'readonly', 'wrong', 'expired', 'carol']
    const variants: readonly Record<string, string>[] = [
      {},
      { 'strapi-response-format': 'v4' },
      { 'strapi-encode-source-maps': 'true' },
      { 'accept-encoding': 'identity' },
      { 'accept-encoding': 'br' },
      { accept: 'text/html' },
    ]
    const keyOf = ({ status, text }: TestResponse) => `${status} ${text}`
    const alone = new Map<string, string>()
    for (const as of callers)
      for (const [index, headers] of variants.entries()) alone.set(`${as} ${index}`, keyOf(await request(query, { as, headers })))
    const mixed = Array.from({ length: 3 }, () =>
      callers.flatMap((as) => variants.map((headers, index) => ({ as, headers, index }))),
    ).flat()
    const order = mixed.map((_each, index) => mixed[(index * 37) % mixed.length]!)
    const answers = await Promise.all(
      order.map(async ({ as, headers, index }) => {
        const [answer, head] = await Promise.all([request(query, { as, headers }), request(query, { as, headers, method: 'HEAD' })])
        return { as, index, answer, head }
      }),
    )
    for (const { as, index, answer, head } of answers) {
      expect(keyOf(answer), `${as} ${index}`).toBe(alone.get(`${as} ${index}`))
      expect([head.status, head.text], `${as} HEAD`).toEqual([answer.status, ''])
    }
    expect(new Set(callers.slice(0, 5).map((as) => alone.get(`${as} 0`))).size).toBeGreaterThan(2)
    expect(alone.get('public 1')).not.toBe(alone.get('public 0'))
    expect(alone.get('public 2')).not.toBe(alone.get('public 0'))
    expect((await request(query)).headers.get('vary')).toMatch(/\bstrapi-encode-source-maps\b/i)
  })

  test('S143 a log line holds the route and the caller, and nothing that was sent', async () => {
    const before = golden.served.log.length
    const marks = { value: 'zzfiltervalue', header: 'zzheader', cookie: 'zzcookie', token: 'zztoken', document: 'zzdocument' }
    const headers = {
      cookie: `jwt=${marks.cookie}`,
      'x-custom': marks.header,
      referer: `https://x/?${marks.header}`,
      'user-agent': marks.header,
    }
    await request(`/articles?filters[title]=${marks.value}&_q=${marks.value}&locale=${marks.value}`, { headers, as: 'bob' })
    await request(`/articles/${marks.document}?access_token=${marks.token}`, { headers })
    await request('/articles', { headers: { ...headers, authorization: `Bearer ${marks.token}` } })
    await request(`/nothing/${marks.document}?password=${marks.value}`, { headers })
    await request(`/articles?filters[${marks.value}]=1`, { headers })
    const lines = golden.served.log.slice(before).map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines.length).toBe(5)
    const known = 'level time pid hostname requestId reqId method route path uid error status milliseconds bytes caller ip msg'.split(' ')
    for (const line of lines) {
      expect(Object.keys(line).filter((key) => !known.includes(key))).toEqual([])
      for (const mark of Object.values(marks)) expect(JSON.stringify(line)).not.toContain(mark)
    }
    expect(lines[0]).toMatchObject({ method: 'GET', path: '/api/articles', uid: 'api::article.article', status: 200, caller: 'user 2' })
    expect(lines[1]).toMatchObject({ path: '/api/articles/:documentId' })
    expect(lines[3]).not.toHaveProperty('uid')
  })
})

describe('with listed origins', () => {
  const good = 'https://good.example'
  const { request } = attackFixture('strapi', { config: { cors: { origins: [good, 'https://second.example:8443'] } } })

  test('S134 only the listed origins may read, to the byte, and with credentials', async () => {
    for (const origin of [good, 'https://second.example:8443']) {
      const answer = await request('/articles', { headers: { origin } })
      expect([allowOrigin(answer), allowCredentials(answer)]).toEqual([origin, 'true'])
      expect(answer.headers.get('vary')).toMatch(/\borigin\b/i)
    }
    const others = [
      ...[
        evil,
        'null',
        '*',
        '',
        'http://good.example',
        'https://good.example.evil.example',
        'https://evil-good.example',
        'https://good.example:444',
      ],
      ...[
        'https://good.example/',
        'https://good.example@evil.example',
        'https://sub.good.example',
        'https://second.example',
        'https://good.example, https://evil.example',
      ],
    ]
    for (const origin of others) {
      for (const headers of [{ origin }, { origin, 'access-control-request-method': 'GET' }] as Record<string, string>[]) {
        const answer = await request('/articles', { method: 'access-control-request-method' in headers ? 'OPTIONS' : 'GET', headers })
        expect([allowOrigin(answer), allowCredentials(answer)], origin).toEqual([null, null])
        expect(answer.headers.get('vary')).toMatch(/\borigin\b/i)
      }
    }
  })
})
