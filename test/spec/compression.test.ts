// docs/spec/headers.md, compression: which responses are compressed, how, and what their headers say of it.
import { writeFileSync } from 'node:fs'
import { get as httpGet, type IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect } from 'vitest'
import { rule } from '../support/rule.js'
import { type Served, serveMagazine } from '../support/serve.js'
import { addToken, secrets } from './callers.js'

let magazine: Served
let plain: Served
let narrow: Served
beforeAll(async () => {
  magazine = await serveMagazine({ environment: secrets })
  await addToken(magazine, 'desk', { type: 'full-access' })
  plain = await serveMagazine({ config: { compression: false } })
  narrow = await serveMagazine({ config: { limits: { compressionBytes: 200_000 } } })
})
afterAll(() => Promise.all([magazine, plain, narrow].map((served) => served.close())))

interface Raw {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** As they came. */
  readonly bytes: Buffer
}

/** Sends a request with these headers and no others, and returns the bytes of the response as they are. */
function raw({ origin }: Served, path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const request = httpGet(origin + encodeURI(path), { headers, method, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, bytes: Buffer.concat(chunks) }))
      response.on('error', reject)
    })
    request.on('error', reject)
  })
}

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  none: (bytes) => bytes,
}
const codingOf = ({ headers }: Raw): string => headers['content-encoding'] ?? 'none'
const decoded = (answer: Raw): string => decoders[codingOf(answer)]!(answer.bytes).toString()
const accepting = (coding: string) => ({ 'accept-encoding': coding })

const long = '/api/articles?populate=*'
const longPaths = [long, '/', '/api/upload/files', '/api/users-permissions/roles']

rule('headers.12', 'lists, documents, pages and errors are compressed if the client accepts it', async () => {
  const error = `/api/articles?fields[0]=${'x'.repeat(4_000)}`
  for (const path of ['/api/articles', long, '/api/homepage?populate=*', '/', error]) {
    const whole = await raw(magazine, path)
    expect([path, codingOf(whole), whole.bytes.length >= 1_024]).toEqual([path, 'none', true])
    for (const coding of ['br', 'gzip']) {
      const answer = await raw(magazine, path, accepting(coding))
      expect([path, answer.status, codingOf(answer)]).toEqual([path, whole.status, coding])
      expect(decoded(answer)).toBe(whole.bytes.toString())
      expect(answer.headers['content-length']).toBe(String(answer.bytes.length))
      expect(answer.bytes.length).toBeLessThan(whole.bytes.length)
    }
  }
})

rule('headers.12', 'responses to writes are compressed', async () => {
  const headers = { 'accept-encoding': 'br', 'content-type': 'application/json' }
  const body = [{ type: 'paragraph', children: [{ type: 'text', text: 'The same words. '.repeat(100) }] }]
  const data = { title: 'Compressed', slug: 'compressed', summary: 'Words', format: 'report', body }
  const made = await magazine.request('/api/articles?status=draft&populate=*', {
    method: 'POST',
    token: 'desk',
    headers,
    body: JSON.stringify({ data }),
  })
  expect([made.status, made.body.data?.title]).toEqual([201, 'Compressed'])
  expect(made.headers.get('content-encoding')).toBe('br')
})

rule('headers.13', 'q-values of the client decide; otherwise brotli is preferred', async () => {
  const cases = [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0.2, gzip;q=0.8', 'gzip'],
    ['gzip;q=0.5', 'gzip'],
    ['GZIP', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['identity, br;q=0.5', 'none'],
    ['gzip;q=0, br;q=0', 'none'],
    ['*;q=0', 'none'],
    ['identity;q=0', 'none'],
    ['identity', 'none'],
    ['deflate', 'none'],
    ['zstd, x-unknown', 'none'],
    ['', 'none'],
    [',;q=,;;br;q=x', 'none'],
    ['gzip;q=0.5;q=0.1, br;q=0.000', 'gzip'],
  ] as const
  for (const [given, coding] of cases) {
    const answer = await raw(magazine, '/api/articles', accepting(given))
    expect([given, answer.status, codingOf(answer)]).toEqual([given, 200, coding])
  }
})

rule('headers.14', 'short responses, pictures and ranges are not compressed', async () => {
  for (const path of ['/api/tags?fields=name&pagination[pageSize]=2', '/api/nothing', '/uploads/mill_954c4cb065.jpg', '/_health'])
    expect([path, codingOf(await raw(magazine, path, accepting('br')))]).toEqual([path, 'none'])
})

rule('headers.14', 'responses with credentials are never compressed', async () => {
  const refused = await magazine.request('/api/auth/local', {
    method: 'POST',
    headers: { ...accepting('br'), 'content-type': 'application/json' },
    body: JSON.stringify({ identifier: { long: 'x'.repeat(3_000) }, password: 'x' }),
  })
  expect(refused.status).toBe(400)
  expect(refused.text.length).toBeGreaterThan(1_024)
  expect(refused.headers.get('content-encoding')).toBeNull()
})

rule('headers.15', 'compressible responses vary by Accept-Encoding for all callers', async () => {
  for (const path of [...longPaths, '/api/tags', '/api/pitches', '/uploads/tidewright_logo_11bd3cce54.svg']) {
    for (const headers of [{}, accepting('br'), accepting('identity')])
      expect([path, (await raw(magazine, path, headers)).headers.vary]).toEqual([path, expect.stringMatching(/, Accept-Encoding$/)])
  }
  expect((await raw(magazine, '/uploads/mill_954c4cb065.jpg')).headers.vary).not.toMatch(/Accept-Encoding/)
})

rule('headers.16', 'HEAD has the headers of GET', async () => {
  for (const path of ['/api/articles', '/', '/uploads/tidewright_logo_11bd3cce54.svg', '/api/tags?sort=nope'])
    for (const coding of ['br', 'gzip', 'identity']) {
      const [head, get] = [await raw(magazine, path, accepting(coding), 'HEAD'), await raw(magazine, path, accepting(coding))]
      expect([path, coding, head.bytes.length]).toEqual([path, coding, 0])
      for (const name of ['content-encoding', 'content-length', 'content-type', 'etag', 'vary'])
        expect([path, coding, name, head.headers[name]]).toEqual([path, coding, name, get.headers[name]])
    }
})

rule('headers.17', 'compressible files are compressed, with a weak tag for both forms', async () => {
  const text = 'The same line of a plain text.\n'.repeat(200)
  writeFileSync(join(magazine.folder, 'public', 'uploads', 'notes.txt'), text)
  const whole = await raw(magazine, '/uploads/notes.txt')
  const packed = await raw(magazine, '/uploads/notes.txt', accepting('br'))
  expect([codingOf(whole), codingOf(packed), decoded(packed)]).toEqual(['none', 'br', text])
  const tag = whole.headers.etag!
  expect([tag, packed.headers.etag, packed.headers['accept-ranges']]).toEqual([expect.stringMatching(/^"/), `W/${tag}`, undefined])
  for (const known of [tag, `W/${tag}`])
    for (const coding of ['br', 'identity'])
      expect((await raw(magazine, '/uploads/notes.txt', { ...accepting(coding), 'if-none-match': known })).status).toBe(304)
})

rule('headers.17', 'ranges refer to the uncompressed file', async () => {
  const text = '0123456789'.repeat(300)
  writeFileSync(join(magazine.folder, 'public', 'uploads', 'digits.txt'), text)
  const part = await raw(magazine, '/uploads/digits.txt', { ...accepting('br'), range: 'bytes=5-1999' })
  expect([part.status, codingOf(part), part.bytes.toString()]).toEqual([206, 'none', text.slice(5, 2_000)])
  const { etag } = (await raw(magazine, '/uploads/digits.txt', accepting('br'))).headers
  const again = await raw(magazine, '/uploads/digits.txt', { ...accepting('br'), range: 'bytes=5-1999', 'if-range': etag! })
  expect([again.status, again.bytes.toString()]).toEqual([200, text])
})

rule('headers.17', 'large files are not compressed', async () => {
  writeFileSync(join(magazine.folder, 'public', 'uploads', 'large.txt'), 'x'.repeat(1_000_001))
  const answer = await raw(magazine, '/uploads/large.txt', accepting('br'))
  expect([answer.status, codingOf(answer), answer.bytes.length]).toEqual([200, 'none', 1_000_001])
})

rule('headers.18', 'responses that would wait too long are not compressed', async () => {
  const path = '/api/articles?populate=*&pagination[pageSize]=5'
  const whole = (await raw(narrow, path)).bytes.toString()
  const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => raw(narrow, path, accepting(index % 2 === 0 ? 'br' : 'gzip'))))
  for (const answer of answers) expect(decoded(answer)).toBe(whole)
  expect(new Set(answers.map(codingOf))).toContain('none')
  // Nothing is held afterwards.
  expect(codingOf(await raw(narrow, path, accepting('br')))).toBe('br')
  expect(codingOf(await raw(narrow, long, accepting('br')))).toBe('none')
})

rule('headers.18', 'responses wait for their turn when the memory of readers is used up', async () => {
  const path = '/api/articles?populate=*&pagination[pageSize]=10'
  const whole = (await raw(magazine, path)).bytes.toString()
  const answers = await Promise.all(Array.from({ length: 100 }, () => raw(magazine, path, accepting('br'))))
  for (const answer of answers) expect([codingOf(answer), decoded(answer) === whole]).toEqual(['br', true])
})

rule('headers.19', 'compression can be turned off', async () => {
  for (const path of ['/api/articles', '/', '/uploads/tidewright_logo_11bd3cce54.svg']) {
    const answer = await raw(plain, path, accepting('br, gzip'))
    expect([path, codingOf(answer), answer.headers.vary?.includes('Accept-Encoding')]).toEqual([path, 'none', false])
  }
})
