// `octavo compare`: the source of its requests, their callers, omissions, and values that never reach the report or a recording.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { octavo, project, removeProjects } from '../start/command.js'
import { compare, documents, fileOf, report, type Stand, stand } from './compared.js'

let [theirs, ours] = [] as unknown as [Stand, Stand]
beforeAll(async () => {
  ;[theirs, ours] = [await stand(), await stand()]
})
beforeEach(() => {
  for (const one of [theirs, ours]) {
    one.got.length = 0
    one.answer = () => ({ body: documents })
  }
})
afterAll(() => {
  for (const one of [theirs, ours]) one.close()
  removeProjects()
})

const paths = ({ got }: Stand) => got.map(({ method, url }) => `${method} ${url}`).sort()

test('a file has paths, methods with paths, URLs and JSON lines with headers; only reads are sent', async () => {
  const found = await report(theirs.origin, ours.origin, [
    '# lists',
    '/api/articles?sort=name',
    'HEAD /api/articles',
    'https://cms.example.org/api/tags?filters[name]=Müller',
    { path: '/api/pages', headers: { 'Accept-Language': 'de' } },
    'POST /api/articles',
    { method: 'delete', path: '/api/articles/a' },
    '/api/auth/email-confirmation?confirmation=abc',
    '/api/connect/github',
    '/api/auth/github/callback?access_token=abc',
  ])
  expect(found).toMatchObject({ same: 4, different: 0, status: 0, leftOut: { 'requests that are not reads': 5 } })
  const sent = ['GET /api/articles?sort=name', 'GET /api/pages', 'GET /api/tags?filters[name]=M%C3%BCller', 'HEAD /api/articles']
  expect(paths(theirs)).toEqual(sent)
  expect(paths(ours)).toEqual(sent)
  expect(ours.got.find(({ url }) => url === '/api/pages')!.headers['accept-language']).toBe('de')
})

test('a line without a request is named, and nothing is sent', async () => {
  for (const [line, problem] of [
    ['articles and more', 'line 2: "articles and more" is not a path'],
    ['{"path": 1}', 'line 2: path: '],
    ['{"path"', 'line 2: '],
  ] as const) {
    const { status, err } = await compare(theirs.origin, ours.origin, '--requests', fileOf(['/api/articles', line]))
    expect([status, err.startsWith('octavo: ') && err.includes(problem)]).toEqual([2, true])
  }
  expect(theirs.got).toEqual([])
})

test('logs: of web servers, of Strapi and in JSON; each read below the prefix once, the most frequent first', async () => {
  const combined = (request: string) => `10.0.0.1 - - [12/Nov/2026:10:00:00 +0000] "${request} HTTP/1.1" 200 512 "-" "curl/8"`
  const file = fileOf([
    combined('GET /api/tags'),
    combined('GET /api/articles?page=1'),
    combined('GET /api/tags'),
    combined('POST /api/articles'),
    combined('GET /admin/init'),
    '[2026-11-24 10:00:00.000] \u001b[32mhttp\u001b[39m: GET /api/pages (23 ms) \u001b[32m200\u001b[39m'.replace('\u001b[32m200', '200'),
    { level: 30, req: { method: 'GET', url: '/api/authors' }, res: { statusCode: 200 } },
    { request: { method: 'GET', uri: '/uploads/a.png' }, status: 200 },
    { request_method: 'GET', request_uri: '/api/shops' },
    { level: 'http', message: 'GET /api/cities (7 ms) 200' },
    { request: 'GET /api/suppliers HTTP/1.1' },
    { level: 30, method: 'GET', route: '/api/:name', path: '/api/notes', msg: 'request' },
    { level: 30, method: 'GET', route: '/api/:name/:id', path: '/api/notes/:id', msg: 'request' },
    'listening on port 1337',
  ])
  const log = join(project({}), 'access.log.gz')
  writeFileSync(log, gzipSync(readFileSync(file)))
  const { out, status } = await compare(theirs.origin, ours.origin, '--json', '--log', log, '--concurrency', '1')
  expect(status).toBe(0)
  expect(theirs.got[0]!.url).toBe('/api/tags')
  const names = ['articles?page=1', 'authors', 'cities', 'notes', 'pages', 'shops', 'suppliers', 'tags']
  expect(paths(theirs)).toEqual([...names.map((name) => `GET /api/${name}`), 'GET /uploads/a.png'])
  expect(JSON.parse(out).leftOut).toEqual({
    'writes (lines of the log)': 1,
    'not below /api or /uploads (lines of the log)': 1,
    'paths without their ids (lines of the log)': 1,
    'no request in the line (lines of the log)': 1,
  })
  const limited = await compare(theirs.origin, ours.origin, '--json', '--log', log, '--limit', '4')
  expect(JSON.parse(limited.out)).toMatchObject({ same: 4, leftOut: { 'beyond --limit 4': 5 } })
})

test('callers have their tokens on both sides, and the report has none of them', async () => {
  const secret = 'tops3cret-token-of-an-editor'
  ours.answer = ({ headers: { authorization } }) => ({
    body: { data: { name: authorization ?? 'nobody', password: 'pw', token: 'of a reset' } },
  })
  theirs.answer = () => ({ body: { data: { name: 'Strapi', password: 'other', token: 'another' } } })
  const file = join(project({ 'a.token': `${secret}\n` }), 'a.token')
  const words = ['--requests', fileOf(['/api/me?code=sesame', { path: '/api/mine', as: 'site' }, { path: '/api/x', as: 'unknown' }])]
  const callers = ['--as', `editor=@${file}`, '--as', 'public=', '--as', 'site=another-s3cret-token']
  const { out } = await compare(theirs.origin, ours.origin, ...words, ...callers)
  const asked = theirs.got
    .map(({ url, headers }) => [url, headers.authorization])
    .filter((_, index, all) => all.findIndex(([url, key]) => url === all[index]![0] && key === all[index]![1]) === index)
  expect(asked.sort()).toEqual(
    [
      ['/api/me?code=sesame', `Bearer ${secret}`],
      ['/api/me?code=sesame', 'Bearer another-s3cret-token'],
      ['/api/me?code=sesame', undefined],
      ['/api/mine', 'Bearer another-s3cret-token'],
    ].sort(),
  )
  expect(out).toContain('1 left out: requests of unknown: --as unknown=<token> asks them.')
  expect(out).toContain('GET /api/me?code=… as editor')
  expect(out).toContain('data.name: "Strapi" in Strapi, "…" in Octavo')
  for (const hidden of [secret, 's3cret', 'sesame', '"pw"', 'of a reset']) expect(out).not.toContain(hidden)
})

test('two tokens, and headers for both', async () => {
  const words = ['--strapi-token', 'token-of-strapi', '--octavo-token', 'token-of-octavo', '--header', 'Strapi-Response-Format: v4']
  expect(await report(theirs.origin, ours.origin, ['/api/articles'], ...words)).toMatchObject({ same: 1 })
  expect([theirs, ours].map(({ got }) => got[0]!.headers.authorization)).toEqual(['Bearer token-of-strapi', 'Bearer token-of-octavo'])
  expect(ours.got[0]!.headers['strapi-response-format']).toBe('v4')
})

test('--ignore takes names at any depth and paths with stars; signatures of URLs are always ignored', async () => {
  const body = (time: string, views: number, signature: string) => ({
    data: [{ id: 1, updatedAt: time, seo: { views }, url: `/uploads/a.png?expires=${views}&signature=${signature}` }],
  })
  theirs.answer = () => ({ body: body('2026', 1, 'abc') })
  ours.answer = () => ({ body: body('2027', 2, 'def') })
  const all = await report(theirs.origin, ours.origin, ['/api/articles'])
  expect(all.groups.flatMap(({ examples }) => examples[0]!.differences.map(({ path }) => path)).sort()).toEqual([
    'data[0].seo.views',
    'data[0].updatedAt',
  ])
  const words = ['--ignore', 'updatedAt', '--ignore', 'data.*.seo.views']
  expect(await report(theirs.origin, ours.origin, ['/api/articles'], ...words)).toMatchObject({ same: 1, status: 0 })
})

test('content that changes between the two responses is requested again', async () => {
  let version = 0
  theirs.answer = () => ({ body: { data: { version: Math.min(++version, 2) } } })
  ours.answer = () => ({ body: { data: { version: 2 } } })
  expect(await report(theirs.origin, ours.origin, ['/api/articles'])).toMatchObject({ same: 1, status: 0 })
})

test('a request to a briefly overloaded service is repeated; one that does not respond is reported, and the exit status is 2', async () => {
  let attempts = 0
  ours.answer = () => (++attempts === 1 ? { status: 503, body: {} } : { body: documents })
  expect(await report(theirs.origin, ours.origin, ['/api/articles'])).toMatchObject({ same: 1, status: 0 })
  theirs.answer = ({ socket }) => {
    socket.destroy()
    return { body: {} }
  }
  const broken = await report(theirs.origin, ours.origin, ['/api/articles'], '--retries', '0')
  expect(broken).toMatchObject({ same: 0, different: 0, status: 2 })
  expect(Object.keys(broken.failed)).toEqual([expect.stringMatching(/^Strapi: .*(socket hang up|ECONNRESET)/)])
})

test('a comparison that is not possible ends with one sentence and the exit status 2', async () => {
  const closed = 'http://127.0.0.1:9'
  for (const [words, problem] of [
    [[closed, ours.origin, '--requests', '-'], `Strapi cannot be reached at ${closed}: the connection was refused.`],
    [['nowhere', ours.origin], '"nowhere" is not a URL like http://localhost:1337.'],
    [[theirs.origin, ours.origin, '--rate', 'fast'], '--rate is "fast"; it must be a whole number from 1 to 10000.'],
    [[theirs.origin, ours.origin, '--as', 'editor'], '--as must be name=token, name=@file, or name= without a token.'],
    [[theirs.origin, ours.origin, '--writes'], '--writes needs --requests'],
    [[theirs.origin, ours.origin, '--log', 'a', '--requests', 'b'], '--requests and --log exclude each other.'],
    [[theirs.origin, ours.origin, '--requests', '/nothing/here'], '/nothing/here cannot be read (ENOENT'],
    [[theirs.origin], "missing required argument 'octavo-url'"],
    [[theirs.origin, ours.origin, '--nothing'], "unknown option '--nothing'"],
  ] as const) {
    const { status, err, out } = await octavo(['compare', ...words])
    expect(err).toContain(`octavo: ${problem}`)
    expect([status, out]).toEqual([2, ''])
  }
})
