// O49: a schema's regular expression always runs with a bound, has its JavaScript meaning, and a dangerous one is named.
import { expect, test } from 'vitest'
import { runPatternChecks } from '../../src/content/documents/input/errors.js'
import { inSteps } from '../../src/foundation/runtime/event-loop.js'
import { linearEngine } from '../../src/model/schema/load.js'
import { createPatternChecks, findDangerousPatterns, getPattern, preparePatterns } from '../../src/model/schema/patterns.js'
import { access, component, contentType } from '../spec/library.js'
import { serveProject } from '../support/serve.js'

// Backtracking would take longer than the timeout of any test.
test('values that make an engine backtrack are refused, others are taken; the start names the patterns', async () => {
  const patterns = { nested: '^(a+)+$', ahead: '^(?=a)(a+)+$', harmless: '^[a-z0-9]+(?:-[a-z0-9]+)*$' }
  const attributes = Object.fromEntries(Object.entries(patterns).map(([name, regex]) => [name, { type: 'text', regex }]))
  const served = await serveProject({ ...contentType('note', attributes), ...access(['api::note.note.create']) })
  const post = (data: object) =>
    served.request('/api/notes', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ data }) })
  for (const name of ['nested', 'ahead']) {
    const { status, body } = await post({ [name]: `${'a'.repeat(60)}!` })
    expect([name, status, body.error.message]).toEqual([name, 400, expect.stringContaining('must match the following')])
    expect([name, (await post({ [name]: 'aaaa' })).status]).toEqual([name, 201])
  }
  expect((await post({ harmless: 'a-slug' })).status).toBe(201)
  expect((await post({ harmless: 'A slug' })).status).toBe(400)
  const named = served.log.map((line) => JSON.parse(line)).filter(({ level, msg }) => level === 40 && /^api::/.test(msg))
  expect(named.map(({ msg }) => /^\S+/.exec(msg)![0])).toEqual(['api::note.note.nested:', 'api::note.note.ahead:'])
  await served.close()
})

test('all values of a body have one deadline together, and the body is refused', async () => {
  const attributes = { parts: { type: 'component', component: 'blocks.part', repeatable: true }, title: { type: 'string' } }
  const served = await serveProject({
    ...contentType('note', attributes, { draftAndPublish: true }),
    ...component('blocks', 'part', { text: { type: 'text', regex: '^(?=a)(a+)+$' } }),
    ...access(['api::note.note.create']),
  })
  const post = (texts: readonly string[]) =>
    served.request('/api/notes', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data: { parts: texts.map((text) => ({ text })) } }),
    })
  const slow = Array.from({ length: 200 }, (_, index) => `${'a'.repeat(40 + index)}!`)
  const { status, body } = await post(['a', ...slow])
  expect([status, body.error.message]).toEqual([400, 'parts[1].text must match the following: "/^(?=a)(a+)+$/"'])
  expect((await post(['a', 'b', 'c'])).body.error.message).toBe('2 errors occurred')
  // A harmless pattern takes no noticeable part of the deadline.
  expect((await post(Array.from({ length: 2_000 }, (_, index) => 'a'.repeat(1 + (index % 20))))).status).toBe(201)
  await served.close()
})

test('characters beyond 16 bits count twice, however the pattern is written', async () => {
  const attributes = { plain: { type: 'text', regex: '^.{1,3}$' }, grouped: { type: 'text', regex: '^(.{1,3})$' } }
  const served = await serveProject({ ...contentType('note', attributes), ...access(['api::note.note.create']) })
  const headers = { 'content-type': 'application/json' }
  for (const name of Object.keys(attributes))
    for (const [value, status] of [
      ['👍a', 201],
      ['👍👍', 400],
    ] as const) {
      const body = JSON.stringify({ data: { [name]: value } })
      expect([name, value, (await served.request('/api/notes', { method: 'POST', headers, body })).status]).toEqual([name, value, status])
    }
  await served.close()
})

test("patterns match like in JavaScript's engine", async () => {
  const patterns = [
    ...[
      '^\\S+@\\S+\\.\\S+$',
      '\\s+$',
      '^[a-z0-9]+(?:-[a-z0-9]+)*$',
      '[\\w-.]+x',
      '^(\\+\\d{1,3}[- ]?)?\\d{10}$',
      '^#(?:[0-9a-f]{3}){1,2}$',
    ],
    ...[
      'a|b',
      '\\bfoo\\b',
      '[\\s\\S]*',
      '\\p{L}',
      '\\u00e9+é',
      '[[]a+',
      '[^]a',
      '[]|a',
      '^(https?:\\/\\/)?([\\w-]+\\.)+[\\w-]{2,}(\\/.*)?$',
    ],
    ...[
      '^(?!.*--)[a-z-]+$',
      '(a)\\1',
      '^.+\\n?$|x',
      '(?:^|,)[^,]{0,3}$',
      '[[:alpha:]]+|1',
      'a{2000}|b',
      '(?<name>a)\\k<name>|c',
      '\\cJ|\\0|\\x41',
    ],
    ...['^.{1,3}$', '^(.{1,3})$', '(😀)?x|y', '😀?|x', '[^😀]{2}', '^(\\W){2}$', '(\\ud83d)', '^(a|👍){2}$'],
  ]
  const values = [
    ...[
      '',
      'a',
      'aa',
      'b',
      'c',
      'aaa!',
      'slug-a-b',
      'foo',
      'a foo b',
      'x@y.z',
      '-x',
      '.x',
      'w-.x',
      'ab\n',
      '\u00a0',
      '\u2028',
      '\ufeff',
      ' ',
    ],
    ...[
      'é',
      'éé',
      '#fff',
      '#ffff',
      '+49 1234567890',
      'http://a.bc/d',
      'p{L}',
      'L',
      '[a',
      '[aa',
      'a--b',
      'a-b',
      'A',
      '\t',
      'ü',
      ',abc',
      ',abcd',
    ],
    ...['1', ':', '\0', 'name', 'x\ny'],
    ...['👍', '👍👍', 'a👍', '😀x', '\ud83d', '\ude00a'],
  ]
  await inSteps(preparePatterns(patterns, await linearEngine()))
  for (const pattern of patterns)
    for (const value of values) expect([pattern, value, matches(pattern, value)]).toEqual([pattern, value, new RegExp(pattern).test(value)])
})

/** As a body with this value alone is checked. */
function matches(source: string, value: string): boolean {
  const [pattern, trials] = [getPattern(source)!, createPatternChecks()]
  const said = pattern.test(value)
  if (said !== null) return said
  runPatternChecks(trials, [{ pattern, value }])
  return trials.results.get(pattern)!.get(value)!
}

test('usual patterns are not called dangerous', async () => {
  const usual = ['^[a-z0-9]+(?:-[a-z0-9]+)*$', '^#(?:[0-9a-f]{3}){1,2}$', '^[^\\s@]+@[^\\s@]+$', '\\d+']
  const dangerous = ['(a|a)*$', '^(\\w+\\s?)*$', '([a-z]+)*x!']
  expect([...(await inSteps(findDangerousPatterns([...usual, ...dangerous], () => performance.now())))]).toEqual(dangerous)
})
