// The type of any text is found in time that grows with its length; and ordinary drawings and pages are
// still recognised.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { copyGolden, remove, start } from '../faults/child.js'
import { rule } from '../support/rule.js'
import { formOf, tokens } from './sending.js'

/** Milliseconds for a form with a few dozen small files on a busy machine. */
const patience = 20_000
let folder: string
let child: ReturnType<typeof start>
let origin: string
beforeAll(async () => {
  folder = await copyGolden()
  child = start(folder)
  origin = await child.origin
})
afterAll(async () => {
  child.process.kill('SIGKILL')
  await child.ended
  await remove(folder)
})

interface Stored {
  readonly mime: string
  readonly width: number | null
  readonly height: number | null
}

/** Uploads texts with one form. */
async function uploadAll(contents: readonly (string | Uint8Array)[]): Promise<readonly Stored[]> {
  const answer = await fetch(`${origin}/api/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens.full}` },
    body: formOf(contents.map((content) => ['files', Buffer.from(content as string), 'text.txt'])),
    signal: AbortSignal.timeout(patience),
  })
  expect(answer.status).toBe(201)
  return (await answer.json()) as readonly Stored[]
}

const upload = async (content: string): Promise<Stored> => (await uploadAll([content]))[0]!

/** Repeated to the length that is looked at, and far beyond it. */
const repeated = [
  '<!---->',
  '<!-->',
  '<!--x--> ',
  '<!--',
  '-->',
  '<!--<!---->',
  '<?xml?>',
  '<?xml ',
  '<?xml><!---->',
  '<?php ?>',
  '<!doctype svg>',
  '<!doctype svg ',
  '<!doctype html>',
  '<!doctype',
  '<!doctype svg><!-- --> ',
  '<!entity a "b">',
  '<!doctype svg [<!entity a "&b;">]>',
  '&amp;',
  '&',
  ' ',
  '\n\t',
  '\u00a0',
  '\ufeff',
  '\ufeff<!---->',
  '<svg',
  '<svg ',
  '<svg width=',
  '<svg width="',
  '<svg><!---->',
  '<svg viewBox="0 0 1 1',
  '<',
  '<html',
  '<g>',
  ']]>',
  '<![CDATA[',
]
const ends = ['x', '<svg', '<svg width="1"', '<html', '']
const starts = ['', '<svg ', '<?xml version="1.0"?>', '<!doctype svg [']

describe('the time to look at a text', () => {
  test.each(repeated)('O03 of %j, many times', async (part) => {
    const texts = [420, 4_100, 100_000].flatMap((length) =>
      ends.flatMap((end) => starts.map((begin) => begin + part.repeat(Math.ceil(length / part.length)) + end)),
    )
    await uploadAll(texts)
  })

  test.each(['utf16le', 'latin1'] as const)('O03 in %s', async (encoding) => {
    const mark = encoding === 'utf16le' ? Buffer.from([0xff, 0xfe]) : Buffer.alloc(0)
    await uploadAll(repeated.map((part) => Buffer.concat([mark, Buffer.from(part.repeat(Math.ceil(2_000 / part.length)), encoding)])))
  })

  test('O03 the service serves others at the same time', async () => {
    const uploads = Array.from({ length: 20 }, () => upload(`${'<!---->'.repeat(500)}x`))
    expect((await fetch(`${origin}/_health`, { signal: AbortSignal.timeout(patience) })).status).toBe(204)
    await Promise.all(uploads)
  })
})

const svg = 'image/svg+xml'
const html = 'text/html'
const drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="12" height="34px"/>'.replace('/>', '></svg>')
const kinds: readonly (readonly [string, string, string, number | null])[] = [
  ['a drawing', drawing, svg, 12],
  ['a drawing in capitals', drawing.replaceAll('svg', 'SVG'), svg, 12],
  ['behind a declaration', `<?xml version="1.0" encoding="UTF-8"?>\n${drawing}`, svg, 12],
  ['behind a mark of the encoding', `\ufeff${drawing}`, svg, 12],
  ['behind blanks and comments', ` \n<!-- made by <svg width="99"> --> <!----> ${drawing}`, svg, 12],
  ['behind a style sheet', `<?xml version="1.0"?><?xml-stylesheet href="a.css"?>${drawing}`, svg, 12],
  ['behind a document type', `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd">\n${drawing}`, svg, 12],
  ['of a box', '<svg viewBox="0 0 640,480"><g/></svg>', svg, 640],
  ['of a percentage in a box', `<svg width='100%' viewBox=' 0 0 7 8 '></svg>`, svg, 7],
  ['without a size', '<svg ></svg>', svg, null],
  ['with a sign in a value', `<svg aria-label="a > b" width="5" height="6"></svg>`, svg, 5],
  ['that is cut', '<svg width="5" height="6"', svg, null],
  ['that is another tag', '<svgs width="5">', 'text/plain', null],
  ['behind text', `a ${drawing}`, 'text/plain', null],
  ['behind another tag', `<g/>${drawing}`, 'text/plain', null],
  ['a page', '<html><body>x</body></html>', html, null],
  ['a page with its document type', '<!DOCTYPE html><p>x', html, null],
  ['a page of an older kind', '<!doctype  html PUBLIC "-//W3C//DTD HTML 4.01//EN">x', html, null],
  ['a page behind comments', '<!-- a -->\n<!-- b --><HTML lang="en">', html, null],
  ['a page with a long comment', `<!doctype html><!-- ${'license '.repeat(1_000)}--><svg>`, html, null],
  ['a script', '<script>alert(1)</script>', html, null],
  ['a frame', ' <iframe src="x">', html, null],
  ['another tag', '<div>x</div>', 'text/plain', null],
  ['words', 'words', 'text/plain', null],
  ['nothing but blanks', '   ', 'text/plain', null],
]
test.each(kinds)('%s', async (_what, content, mime, width) => {
  const file = await upload(content)
  expect([file.mime, file.width]).toEqual([mime, width])
})

rule('uploads.6', 'a drawing that is named like a text is still one', async () => {
  expect(await upload(drawing)).toMatchObject({ mime: svg, width: 12, height: 34 })
})
