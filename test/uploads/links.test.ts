// Symbolic links in the folder of uploads are not followed (S090), and every file is served under a policy that
// lets nothing run (S135).
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { serveExisting, serveGolden } from '../support/serve.js'
import { file, noise, sample, send } from './sending.js'

let served: Served
let outside: string
const uploads = (...names: string[]) => join(served.folder, 'uploads', ...names)
beforeAll(async () => {
  served = await serveGolden()
  outside = mkdtempSync(join(tmpdir(), 'octavo-outside-'))
  writeFileSync(join(outside, 'secret.txt'), 'SECRET')
  mkdirSync(uploads('real', 'deep'), { recursive: true })
  writeFileSync(uploads('real', 'deep', 'own.txt'), 'own')
})
afterAll(async () => {
  await served.close()
  rmSync(outside, { recursive: true, force: true })
})

describe('S090: reading', () => {
  test.each<readonly [string, () => void, string]>([
    ['a link to a file outside', () => symlinkSync(join(outside, 'secret.txt'), uploads('a.txt')), 'a.txt'],
    ['a link to a file beside', () => symlinkSync(uploads('real', 'deep', 'own.txt'), uploads('b.txt')), 'b.txt'],
    ['a relative link', () => symlinkSync('../.env', uploads('c.txt')), 'c.txt'],
    ['a link to a folder', () => symlinkSync(outside, uploads('d')), 'd/secret.txt'],
    ['a link to a folder inside', () => symlinkSync(uploads('real'), uploads('e')), 'e/deep/own.txt'],
    ['a link below a real folder', () => symlinkSync(outside, uploads('real', 'f')), 'real/f/secret.txt'],
    [
      'a link at the end of real folders',
      () => symlinkSync(join(outside, 'secret.txt'), uploads('real', 'deep', 'g.txt')),
      'real/deep/g.txt',
    ],
    ['a link to the folder above', () => symlinkSync('..', uploads('h')), 'h/uploads/real/deep/own.txt'],
    ['a link to a link', () => symlinkSync(uploads('a.txt'), uploads('i.txt')), 'i.txt'],
    ['a link that leads nowhere', () => symlinkSync('nowhere', uploads('j.txt')), 'j.txt'],
    ['a link to itself', () => symlinkSync('k.txt', uploads('k.txt')), 'k.txt'],
    ['a folder', () => {}, 'real'],
  ])('%s is not there', async (_what, make, path) => {
    make()
    for (const method of ['GET', 'HEAD']) expect((await served.request(`/uploads/${path}`, { method })).status).toBe(404)
  })

  test.skipIf(process.platform === 'win32')('a pipe that nobody writes into is not there, and holds nobody up', async () => {
    execFileSync('mkfifo', [uploads('pipe.txt')])
    const answers = await Promise.all(Array.from({ length: 12 }, () => served.request('/uploads/pipe.txt')))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404))
    expect((await served.request('/uploads/real/deep/own.txt')).text).toBe('own')
  })

  test('real files are there, in folders too', async () => {
    writeFileSync(uploads('plain.txt'), 'plain')
    expect((await served.request('/uploads/plain.txt')).text).toBe('plain')
    expect((await served.request('/uploads/real/deep/own.txt')).text).toBe('own')
  })

  test('a folder that is exchanged for a link again and again never shows what the link leads to', async () => {
    mkdirSync(uploads('swap'))
    writeFileSync(uploads('swap', 'secret.txt'), 'own')
    symlinkSync(outside, uploads('link'))
    const [seen, end] = [new Set<string>(), performance.now() + 2_000]
    const request = async () => {
      while (performance.now() < end) seen.add((await served.request('/uploads/swap/secret.txt')).text.slice(0, 20))
    }
    const swap = async () => {
      while (performance.now() < end) {
        renameSync(uploads('swap'), uploads('away'))
        renameSync(uploads('link'), uploads('swap'))
        await new Promise((resolve) => setImmediate(resolve))
        renameSync(uploads('swap'), uploads('link'))
        renameSync(uploads('away'), uploads('swap'))
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await Promise.all([swap(), request(), request(), request(), request()])
    expect(seen).toContain('own')
    expect([...seen].filter((text) => text.includes('SECRET'))).toEqual([])
  })
})

rule('uploads.10', 'the folder of uploads itself may be a link', async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'octavo-elsewhere-'))
  cpSync(uploads('real'), join(elsewhere, 'real'), { recursive: true })
  symlinkSync(elsewhere, join(served.folder, 'linked'))
  const other = await serveExisting(served, { UPLOADS_DIR: 'linked' })
  try {
    expect((await other.request('/uploads/real/deep/own.txt')).text).toBe('own')
    const { status, body } = await send(other, [file('text', 'text.txt')])
    expect(status).toBe(201)
    expect((await other.request(body[0].url)).text).toBe('text')
  } finally {
    await other.close()
    rmSync(elsewhere, { recursive: true, force: true })
  }
})

describe('S090: writing', () => {
  rule('uploads.10', 'a replacement takes the place of a link and does not follow it', async () => {
    const { body } = await send(served, [file('text', 'text.txt')])
    const { id, hash, url } = body[0]
    rmSync(uploads(`${hash}.txt`))
    symlinkSync(join(outside, 'secret.txt'), uploads(`${hash}.txt`))
    expect((await send(served, [file('other', 'text.txt')], { path: `/api/upload?id=${id}` })).status).toBe(200)
    expect((await served.request(url)).text).toBe('other')
    const { readFileSync } = await import('node:fs')
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('SECRET')
  })

  test('files that the service never wrote are never removed: names in rows and notes lead nowhere else', async () => {
    const { body } = await send(served, [file('text', 'text.txt')])
    const traversal = `../../../../../../../${outside}/secret`
    await served.sql('update files set hash = ?, ext = ? where id = ?', traversal, '.txt', body[0].id)
    await served.request(`/api/upload/files/${body[0].id}`, { method: 'DELETE', token: (await import('./sending.js')).tokens.full! })
    const { existsSync } = await import('node:fs')
    expect(existsSync(join(outside, 'secret.txt'))).toBe(true)
    expect(await served.sql(`select id from files where id = ${body[0].id}`)).toEqual([])
  })

  test('a workplace that is a link is not used', async () => {
    const target = mkdtempSync(join(tmpdir(), 'octavo-target-'))
    mkdirSync(join(served.folder, 'trapped'))
    symlinkSync(target, join(served.folder, 'trapped', '.octavo'))
    try {
      await expect(serveExisting(served, { UPLOADS_DIR: 'trapped' })).rejects.toThrow(/is a symbolic link/)
    } finally {
      rmSync(target, { recursive: true, force: true })
    }
  })
})

describe('S135: policies', () => {
  const policy = async (content: Uint8Array | string, name: string) => {
    const { body } = await send(served, [file(content, name)])
    const { headers } = await served.request(body[0].url)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    return headers.get('content-security-policy')
  }
  rule('uploads.11', 'every file has one; what runs in no viewer is in a sandbox', async () => {
    const picture = await noise(20, 20).jpeg().toBuffer()
    for (const [content, name] of [
      [picture, 'a.jpg'],
      [sample('tiny.png'), 'a.png'],
      ['words', 'a.txt'],
      ['a,b', 'a.csv'],
      ['{}', 'a.json'],
      ['<svg xmlns="http://www.w3.org/2000/svg"/>', 'a.svg'],
      ['<html></html>', 'a.html'],
      ['bytes', 'a'],
    ] as const)
      expect([name, await policy(content, name)]).toEqual([name, "default-src 'none'; style-src 'unsafe-inline'; sandbox"])
  })

  rule('uploads.11', 'PDF, sound and film stay outside of the sandbox that their viewers do not start in, and run nothing', async () => {
    for (const [content, name] of [
      ['%PDF-1.4\n', 'a.pdf'],
      ['x', 'a.mp4'],
      ['x', 'a.mp3'],
    ] as const) {
      const said = await policy(content, name)
      expect(said).toMatch(/^default-src 'none'; .*object-src 'self'; media-src 'self'/)
      expect(said).not.toMatch(/sandbox|script-src/)
    }
  })

  rule('uploads.11', 'also where only a part, or nothing new, is sent', async () => {
    const { body } = await send(served, [file('some words', 'a.txt')])
    const whole = await served.request(body[0].url)
    const etag = whole.headers.get('etag')!
    for (const headers of [{ range: 'bytes=0-1' }, { 'if-none-match': etag }, { range: 'bytes=99-' }] as Record<string, string>[])
      expect((await served.request(body[0].url, { headers })).headers.get('content-security-policy')).toMatch(/sandbox$/)
  })
})
