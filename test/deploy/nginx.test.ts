// deploy/nginx.conf, which docs/guide/production.md shows: it passes addresses on and buffers neither requests nor responses.
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../bench/free-port.mjs'
import type { CustomRoute } from '../../src/service/index.js'
import { describeWith } from '../support/describe-with.js'
import { programOf } from '../support/programs.js'
import { type Served, serveProject } from '../support/serve.js'
import { until } from '../support/until.js'
import { root, textOf } from './composed.js'
import { runProcess, type Started, startProcess } from './processes.js'

test('the guide shows the file', () => {
  const [, ...lines] = textOf('nginx.conf').split('\n')
  expect(readFileSync(join(root, 'docs', 'guide', 'production.md'), 'utf8')).toContain(`\`\`\`nginx\n${lines.join('\n')}\`\`\``)
})

describeWith(['nginx'], 'nginx', () => {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-nginx-'))
  const progress = new EventEmitter()
  const received = once(progress, 'received')
  const read = once(progress, 'read')
  let served: Served
  let proxy: Started
  let port: number

  const routes: readonly CustomRoute[] = [
    {
      method: 'GET',
      path: '/caller',
      auth: false,
      handle: ({ request: { ip, headers } }) => [ip, headers['x-forwarded-proto'], headers.host],
    },
    {
      method: 'GET',
      path: '/lines',
      auth: false,
      handle: async function* () {
        yield 'first\n'
        await read
        yield 'second\n'
      },
    },
    {
      method: 'POST',
      path: '/bytes',
      auth: false,
      body: 'stream',
      handle: async ({ body }) => {
        let bytes = 0
        for await (const chunk of body as AsyncIterable<Uint8Array>) {
          bytes += chunk.length
          progress.emit('received')
        }
        return bytes
      },
    },
  ]

  const send = (path: string, options: RequestOptions = {}) =>
    request({ host: '127.0.0.1', port, path, rejectUnauthorized: false, ...options })
  const responseTo = (sent: ReturnType<typeof send>): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => sent.on('response', resolve).on('error', reject))
  const textIn = async (response: IncomingMessage): Promise<string> => Buffer.concat(await response.toArray()).toString('utf8')

  beforeAll(async () => {
    served = await serveProject({}, { config: { trustProxy: 1 }, code: { routes } })
    port = await freePort()
    const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')]
    const subject = ['-subj', '/CN=content.example.org', '-newkey', 'rsa:2048', '-nodes', '-days', '1']
    await runProcess(['openssl', 'req', '-x509', ...subject, '-keyout', key, '-out', certificate])
    const server = textOf('nginx.conf')
      .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
      .replace('127.0.0.1:1337', new URL(served.origin).host)
      .replace(/ssl_certificate .*;/, `ssl_certificate ${certificate};`)
      .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`)
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${join(folder, name)};`)
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off;\npid ${join(folder, 'nginx.pid')};\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${temporary.join('\n')}\n${server}}\n`,
    )
    proxy = startProcess([programOf('nginx')!, '-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], {})
    await until('nginx responds', () =>
      responseTo(send('/_health').end()).then(
        (response) => response.resume().statusCode === 204,
        () => false,
      ),
    )
  })
  afterAll(async () => {
    await proxy?.stop()
    await served?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('the service sees the address, the scheme and the host of the client', async () => {
    const headers = { host: 'content.example.org', 'x-forwarded-for': '203.0.113.9' }
    const response = await responseTo(send('/api/caller', { headers }).end())
    expect(JSON.parse(await textIn(response))).toEqual(['127.0.0.1', 'https', 'content.example.org'])
  })

  test('a response reaches the client while it is written', async () => {
    const response = await responseTo(send('/api/lines').end())
    const [first] = (await response.take(1).toArray()) as readonly Buffer[]
    expect(first?.toString('utf8')).toBe('first\n')
    progress.emit('read')
  })

  test('a request reaches the service while it is sent', async () => {
    const sent = send('/api/bytes', { method: 'POST', headers: { 'content-type': 'application/octet-stream' } })
    const response = responseTo(sent)
    sent.write(Buffer.alloc(1000))
    await received
    sent.end(Buffer.alloc(3_000_000))
    expect(await textIn(await response)).toBe('3001000')
  })
})
