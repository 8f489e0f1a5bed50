// Attacks on uploads, S088 to S101 of the list of attacks: uploads cannot break out, run, remain or take the service down.
import { request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isOnPostgres } from '../support/databases.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { serveGolden } from '../support/serve.js'
import { until } from '../support/until.js'
import { file, formOf, leftovers, noise, sample, send, sendRaw, stored, tokens } from './sending.js'

let served: Served
beforeAll(async () => {
  served = await serveGolden({
    config: { limits: { fileBytes: 3_000_000, uploadBytes: 6_000_000, imagePixels: 5_000_000 } },
  })
})
afterAll(() => served.close())

const count = async (): Promise<number> => (await served.sql('select count(*) as n from files'))[0]!.n

describe('S088: a body is not read before its caller is known to be allowed', () => {
  test.each([
    ['/api/upload', 'none', 403],
    ['/api/upload', 'alice', 403],
    ['/api/upload', 'wrong', 401],
    ['/api/articles', 'none', 403],
    ['/api/nothing-here', 'none', 405],
  ])('POST %s as %s is %i at once, and the line is cut', async (path, caller, status) => {
    const headers = {
      'content-type': 'multipart/form-data; boundary=b',
      'content-length': '200000000',
      ...(caller === 'none' ? {} : { authorization: `Bearer ${tokens[caller] ?? 'wrong'}` }),
    }
    const answer = await new Promise<number>((resolve, reject) => {
      const sending = request(served.origin + path, { method: 'POST', headers }, (response) => {
        response.resume()
        resolve(response.statusCode!)
      })
      sending.on('error', reject)
      // Some of the body, never its end.
      sending.write('--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'.padEnd(100_000, 'x'))
      sending.on('close', () => {})
    })
    expect(answer).toBe(status)
    expect(leftovers(served)).toEqual([])
  })

  rule('uploads.5', 'the rest of a large body is cut off', async () => {
    const { port } = new URL(served.origin)
    const cut = await new Promise<boolean>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => {})
      socket.on('close', () => resolve(true))
      socket.write(
        'POST /api/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 200000000\r\n\r\n',
      )
      socket.resume()
      setTimeout(() => resolve(false), 5_000).unref()
    })
    expect(cut).toBe(true)
  })
})

describe('S089: names', () => {
  const names = [
    '../../x',
    '..\\x',
    '/etc/x',
    'x\0.png',
    'CON',
    'x'.repeat(10_000),
    '.htaccess',
    '\u202egnp.exe',
    '..',
    '.',
    'a\r\nb',
    'a:b',
    'nul',
    '%2e%2e%2fx',
    '-rf',
    '$(x).png',
    "'; drop table files; --",
  ]
  test.each(names.map((name) => [JSON.stringify(name).slice(0, 40), name]))('%s is harmless', async (_shown, name) => {
    const before = stored(served)
    const { status, body } = await send(served, [file(sample('tiny.png'), name)])
    expect([201, 400]).toContain(status)
    const added = stored(served).filter((one) => !before.includes(one))
    if (status === 400) expect(added).toEqual([])
    else {
      expect(added).toEqual([body[0].hash + body[0].ext])
      expect(added[0]).toMatch(/^[A-Za-z0-9_]+\.[A-Za-z0-9]+$/)
      expect(added[0]!.length).toBeLessThan(230)
    }
  })

  rule('uploads.7', 'a name that someone gives later cannot reach the disk either', async () => {
    const { body } = await send(served, [
      file(sample('tiny.png'), 'a.png'),
      ['fileInfo', JSON.stringify({ name: `../../../evil/${isOnPostgres ? '' : '\0'}<b>.html` })],
    ])
    expect(body[0].hash).toMatch(/^[A-Za-z0-9_]+$/)
    expect(body[0].ext).toBe('.png')
  })
})

describe('S091: what could run in a browser is stored, and does not run', () => {
  const script = '<script>alert(1)</script>'
  const active: readonly (readonly [string, string, string])[] = [
    ['page.html', `<html>${script}</html>`, 'text/html'],
    ['page.htm', `<!doctype html>${script}`, 'image/png'],
    ['page.xhtml', `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">${script}</html>`, 'image/png'],
    ['drawing.svg', `<svg xmlns="http://www.w3.org/2000/svg">${script}</svg>`, 'image/svg+xml'],
    ['foreign.svg', `<svg xmlns="http://www.w3.org/2000/svg"><foreignObject>${script}</foreignObject></svg>`, 'image/png'],
    ['sheet.xml', '<?xml version="1.0"?><?xml-stylesheet href="x.xsl" type="text/xsl"?><a/>', 'text/xml'],
    ['sheet.xsl', '<xsl:stylesheet/>', 'text/xsl'],
    ['archive.mhtml', 'MIME-Version: 1.0\nContent-Type: text/html', 'message/rfc822'],
    ['movie.swf', 'FWS\x06', 'application/x-shockwave-flash'],
    ['code.js', 'alert(1)', 'text/javascript'],
    ['code.mjs', 'alert(1)', 'text/plain'],
    ['both.gif', 'GIF89a/*\0\0*/=1;alert(1)', 'text/html'],
    ['code.wasm', '\0asm', ''],
    ['picture.png', `<html>${script}</html>`, 'image/png'],
    ['x.svgz', 'x', ''],
    ['page.shtml', script, ''],
    ['app.webmanifest', '{}', ''],
    ['script.pdf', '%PDF-1.4 /OpenAction', 'application/pdf'],
  ]
  const roads = ['new', 'replaced'] as const
  test.each(active.flatMap((one) => roads.map((road) => [...one, road] as const)))('%s', async (name, content, type, road) => {
    const first = await send(served, [road === 'new' ? file(content, name, type) : file('x', name)])
    if (first.status === 400) return expect(first.body.error.message).toBe('File is not a valid image')
    const [{ id, url }] = first.body
    if (road === 'replaced') await send(served, [file(content, name, type)], { path: `/api/upload?id=${id}` })
    const { headers } = await served.request(url)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    const shown = headers.get('content-type')!
    const harmless = /^(image\/(?!svg)|audio\/|video\/|font\/|application\/pdf|text\/plain)/.test(shown)
    const sandboxed = /default-src 'none'.*sandbox/.test(headers.get('content-security-policy') ?? '')
    expect(harmless || (sandboxed && (shown === 'image/svg+xml' || headers.get('content-disposition') === 'attachment'))).toBe(true)
  })
})

rule('uploads.6', 'S092: with a list of allowed types the bytes decide, and the extension must agree', async () => {
  const strict = await serveGolden({ config: { uploads: { allowedTypes: ['image/*', 'text/csv'], deniedTypes: ['image/svg+xml'] } } })
  try {
    const png = await noise(20, 20).png().toBuffer()
    const refused = [
      file(png, 'a.html', 'image/png'),
      file('<html></html>', 'a.png', 'image/png'),
      file('just text', 'a.png', 'image/png'),
      file('<svg xmlns="http://www.w3.org/2000/svg"/>', 'a.svg', 'image/svg+xml'),
      file('<svg xmlns="http://www.w3.org/2000/svg"/>', 'a.png', 'image/png'),
      file('%PDF-1.4', 'a.csv', 'text/csv'),
      file('text', 'a.txt', 'image/png'),
    ]
    for (const part of refused) expect([(await send(strict, [part])).status, part[2]]).toEqual([400, part[2]])
    for (const part of [file(png, 'a.png'), file(png, 'a'), file('a,b', 'a.csv')]) expect((await send(strict, [part])).status).toBe(201)
    const { body } = await send(strict, [file(png, 'a.png')])
    expect((await send(strict, [file('<html></html>', 'a.png')], { path: `/api/upload?id=${body[0].id}` })).status).toBe(400)
  } finally {
    await strict.close()
  }
})

rule('uploads.7', 'S094: fileInfo cannot set location or type of a file', async () => {
  const info = {
    folder: 9,
    folderPath: '/9',
    path: '../x',
    url: '/evil',
    hash: 'evil',
    provider: 'evil',
    ext: '.html',
    mime: 'text/html',
    size: 1,
    id: 1,
    documentId: 'evil',
  }
  const { body } = await send(served, [file(sample('tiny.png'), 'tiny.png'), ['fileInfo', JSON.stringify(info)], ['path', '../../x']])
  expect(body[0]).toMatchObject({ ext: '.png', mime: 'image/png', provider: 'local', width: 16 })
  expect(body[0].url).toBe(`/uploads/${body[0].hash}.png`)
  expect(JSON.stringify(body)).not.toContain('evil')
})

rule('uploads.2', 'S095: files are linked only to what the caller may write', async () => {
  const link = (ref: string, field: string) =>
    [
      ['ref', ref],
      ['refId', '1'],
      ['field', field],
    ] as const
  for (const [ref, field] of [
    ['plugin::users-permissions.role', 'avatar'],
    ['admin::user', 'x'],
    ['shared.seo', 'image'],
    ['plugin::upload.file', 'related'],
  ] as const) {
    expect((await send(served, [file(sample('tiny.png'), 'a.png'), ...link(ref, field)], { as: 'bob' })).status).toBe(403)
  }
})

describe('S097: invalid forms and pictures', () => {
  const type = 'multipart/form-data; boundary=b'
  const part = (headers: string, content = 'x') => `--b\r\n${headers}\r\n\r\n${content}\r\n`
  const fileHeader = 'Content-Disposition: form-data; name="files"; filename="a.txt"'
  test.each<readonly [string, string, string]>([
    ['no boundary', 'x', 'multipart/form-data'],
    ['an empty boundary', 'x', 'multipart/form-data; boundary='],
    ['nothing', '', type],
    ['no parts', '--b--\r\n', type],
    ['no end', part(fileHeader), type],
    ['an end in the middle of a header', '--b\r\nContent-Disp', type],
    ['an end in the middle of a file', `--b\r\n${fileHeader}\r\n\r\nabc`, type],
    ['no names', `${part('Content-Disposition: form-data')}--b--\r\n`, type],
    ['an empty name', `${part('Content-Disposition: form-data; name=""; filename="a.txt"')}--b--\r\n`, type],
    ['an empty file name', `${part('Content-Disposition: form-data; name="files"; filename=""')}--b--\r\n`, type],
    ['a name of brackets', `${part(`Content-Disposition: form-data; name="a${'[b]'.repeat(10_000)}"`)}--b--\r\n`, type],
    ['a name of the prototype', `${part('Content-Disposition: form-data; name="__proto__"')}--b--\r\n`, type],
    [
      'a nested form',
      `${part('Content-Disposition: form-data; name="files"\r\nContent-Type: multipart/mixed; boundary=c', '--c--')}--b--\r\n`,
      type,
    ],
    ['another encoding', `${part(`${fileHeader}\r\nContent-Transfer-Encoding: base64`, '')}--b--\r\n`, type],
    ['noise', 'x'.repeat(100_000), type],
    ['a header without end', `--b\r\n${'x'.repeat(100_000)}`, type],
    ['a part of its own boundary', `--b\r\n--b\r\n--b\r\n--b--\r\n`, type],
  ])('%s is 400', async (_what, body, contentType) => {
    expect(await sendRaw(served, body, contentType)).toBe(400)
    expect(leftovers(served)).toEqual([])
  })

  test.each<readonly [string, string]>([
    ['10,000 fields', `${part('Content-Disposition: form-data; name="a"').repeat(10_000)}--b--\r\n`],
    ['10,000 files', `${part(fileHeader).repeat(10_000)}--b--\r\n`],
    ['10,000 other files', `${part('Content-Disposition: form-data; name="x"; filename="a.txt"').repeat(10_000)}--b--\r\n`],
    ['a field without end', `${part('Content-Disposition: form-data; name="fileInfo"', 'x'.repeat(1_000_000))}--b--\r\n`],
    ['a file that is too large', `${part(fileHeader, 'x'.repeat(3_100_000))}--b--\r\n`],
    ['a form that is too large', `${part(fileHeader, 'x'.repeat(2_900_000)).repeat(3)}--b--\r\n`],
  ])('%s is 413', async (_what, body) => {
    const before = await count()
    expect(await sendRaw(served, body, type)).toBe(413)
    await until('no leftovers', () => leftovers(served).length === 0)
    expect(await count()).toBe(before)
  })

  rule('uploads.9', 'a form that does not say how large it is stops at the limit too', async () => {
    const endless = async function* () {
      yield Buffer.from(`--b\r\n${fileHeader}\r\n\r\n`)
      for (let chunks = 0; chunks < 1_000; chunks++) yield Buffer.alloc(10_000, 'x')
    }
    const answer = await fetch(`${served.origin}/api/upload`, {
      method: 'POST',
      headers: { 'content-type': type, authorization: `Bearer ${tokens.full}` },
      body: ReadableStream.from(endless()) as never,
      duplex: 'half',
    } as RequestInit).then(
      ({ status }) => status,
      () => 'cut',
    )
    expect([413, 'cut']).toContain(answer)
    await until('no leftovers', () => leftovers(served).length === 0)
  })

  rule('uploads.8', 'broken pictures are refused and leave nothing', async () => {
    const jpeg = await noise(300, 300).jpeg().toBuffer()
    const png = await noise(300, 300).png().toBuffer()
    const before = stored(served)
    for (const broken of [
      jpeg.subarray(0, jpeg.length / 2),
      png.subarray(0, 200),
      png.subarray(0, png.length / 2),
      Buffer.concat([png.subarray(0, 500), Buffer.alloc(5_000, 7)]),
    ]) {
      expect((await send(served, [file(sample('notes.txt'), 'fine.txt'), file(broken, 'broken.png', 'image/png')])).status).toBe(400)
    }
    expect(stored(served)).toEqual(before)
    expect(leftovers(served)).toEqual([])
  })

  rule('uploads.8', 'a picture that would unfold to more pixels than allowed is not unfolded', async () => {
    const bomb = await bombOf(3_000)
    expect(bomb.length).toBeLessThan(30_000)
    const { status, body } = await send(served, [file(bomb, 'bomb.png', 'image/png')])
    expect([status, body[0].width, body[0].formats]).toEqual([201, 3_000, null])
  })
})

/** A black picture of a size's square, as a file of a few kilobytes. */
async function bombOf(size: number): Promise<Buffer> {
  const { default: sharp } = await import('sharp')
  return sharp({ create: { width: size, height: size, channels: 3, background: '#000' } })
    .png({ palette: true, colours: 2, compressionLevel: 9 })
    .toBuffer()
}

rule('uploads.9', 'S098: uploads that break off leave no file, no row and no descriptor', async () => {
  const before = await count()
  const { port } = new URL(served.origin)
  const half = Buffer.from(await new Response(formOf([file(Buffer.alloc(200_000, 'x'), 'half.bin')])).arrayBuffer())
  const boundary = half.subarray(2, half.indexOf('\r\n')).toString()
  const abort = () =>
    new Promise<void>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.write(
          `POST /api/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.full}\r\nContent-Type: multipart/form-data; boundary=${boundary}\r\nContent-Length: ${half.length}\r\n\r\n`,
        )
        socket.write(half.subarray(0, half.length / 2), () => setTimeout(() => socket.destroy(), 20))
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve())
    })
  for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 50 }, abort))
  await until('no leftovers', () => leftovers(served).length === 0)
  expect(await count()).toBe(before)
  expect(served.log.filter((line) => line.includes('a request failed'))).toEqual([])
  expect((await send(served, [file(sample('tiny.png'), 'after.png')])).status).toBe(201)
})

rule('uploads.4', 'S101: who may upload but not delete may not delete', async () => {
  const { body } = await send(served, [file(sample('tiny.png'), 'mine.png')])
  for (const as of ['alice', 'readonly', 'custom']) {
    expect((await served.request(`/api/upload/files/${body[0].id}`, { method: 'DELETE', token: tokens[as]! })).status).toBe(403)
  }
  expect((await served.request(`/api/upload/files/${body[0].id}`, { token: tokens.full! })).status).toBe(200)
})
