// O03, O48, O49: every regular expression of the sources takes linear time on any text.
import { check } from 'recheck'
import { expect, test } from 'vitest'
import { expressionsIn, expressionsOfSources, isBounded } from './expressions.js'

/** Made while the service runs: an example of the pattern, or null where it is the project's own and model/patterns.ts bounds it. */
const madeLater: Readonly<Record<string, { readonly example: string | null; readonly why: string }>> = {
  'model/types/options.ts: new RegExp(source)': { example: null, why: 'compiled only, to see whether it is a pattern' },
  "project/description/openapi/schema.ts: new RegExp(source, 'u')": {
    example: null,
    why: 'compiled only, to see whether it is a pattern',
  },
  "packages/compare/differences.ts: new RegExp(`^${source.join('')}$`)": {
    example: '^(?:[^\\0]+\\0)*data\\0[^\\0]+\\0$',
    why: 'the parts are names that the operator gives, and * and **',
  },
  'model/builder/update-schema-request.ts: new RegExp(source)': {
    example: null,
    why: 'compiled only, to see whether it is a pattern',
  },
  "http/pages/browser/docs-page/example.ts: new RegExp(pattern, 'u')": {
    example: null,
    why: 'in the browser, held against short texts of the page',
  },
  "database/server/coerce-values.ts: new RegExp(unstorable, 'gu')": {
    example: '\\0|\\p{Surrogate}',
    why: 'a character that a server cannot store',
  },
  'model/schema/patterns.ts: new RegExp(source)': { example: null, why: "a schema's own pattern" },
  "service/cli/secrets.ts: new RegExp(`^([ \\\\t]*(?:export[ \\\\t]+)?${name}[ \\\\t]*=)[ \\\\t]*(?:(?:\"\"|'')[ \\\\t]*|#.*)?$`, 'm')": {
    example: '^([ \\t]*(?:export[ \\t]+)?JWT_SECRET[ \\t]*=)[ \\t]*(?:(?:""|\'\')[ \\t]*|#.*)?$',
    why: 'the name is one of a list; the text is the .env file of whoever runs the command',
  },
}

/** Files whose expressions need not be linear: their texts do not come from outside, or have a known form. */
const ownTexts: Readonly<Record<string, string>> = {
  'operations/archive/exported-rows.ts': 'valid JSON, in which every string ends',
  'http/pages/browser/docs-page/example.ts': 'in the browser: a sentence of the description',
  'http/pages/browser/docs-page/operation-view.ts': 'in the browser: valid JSON, in which every string ends',
  'service/cli/dev/watch.ts': 'source files of the project',
  'service/cli/init/project-files.ts': 'the name of a new folder',
  'packages/client/client.ts': 'the URL in the options of the client',
  'packages/compare/callers.ts': 'requests of the log that the operator replays',
  'packages/compare/documented.ts': 'the same',
  'packages/compare/server.ts': 'the same',
  'project/description/typescript/print.ts': 'declarations of this package',
}

const expressions = expressionsOfSources()

test('every regular expression is known: a literal, or made of constants, or named here', () => {
  const unknown = expressions.filter(({ file, text, pattern }) => pattern === null && !Object.hasOwn(madeLater, `${file}: ${text}`))
  expect(unknown.map(({ file, text }) => `${file}: ${text}`)).toEqual([])
  expect(expressions.length).toBeGreaterThan(50)
})

test('no regular expression takes more than linear time', async () => {
  const wanted = new Map<string, readonly [pattern: string, flags: string, where: string]>()
  for (const { file, text, pattern: own, flags } of expressions) {
    const pattern = own ?? madeLater[`${file}: ${text}`]?.example ?? null
    if (pattern === null || Object.hasOwn(ownTexts, file) || isBounded(pattern, flags)) continue
    const literal = `/${pattern}/${flags}`
    wanted.set(literal, [pattern, flags, [wanted.get(literal)?.[2], file].filter(Boolean).join(', ')])
  }
  const faults: string[] = []
  for (const [literal, [pattern, flags, where]] of wanted) {
    const told = await verdict(pattern, flags)
    if (told !== null) faults.push(`${where}: ${literal} is ${told}`)
  }
  expect(faults).toEqual([])
})

/** Null for linear time; otherwise the reason. */
async function verdict(pattern: string, flags: string): Promise<string | null> {
  const told = await check(pattern, flags, { timeout: 20_000 })
  if (told.status === 'safe') return null
  return told.status === 'vulnerable' ? told.complexity.summary : `unknown (${told.error.kind})`
}

test.each([
  ['/^a+$/', true],
  ['/a+$/', false],
  ['/^a+b+$/', false],
  ['/^(a+)+$/', false],
  ['/^(?:a|b)*$/', false],
  ['/^a+$/m', false],
  ['/^a|b+$/', false],
  ['/(a{0,9}){0,9}b/', false],
  ['/^[a-z]{1,8}-\\d{1,15}$/', true],
  ['/(a)\\1/', false],
  ['/(?=a*)b/', false],
] as const)('%s: bounded by its form is %s', (literal, bounded) => {
  const [found] = expressionsIn('a.ts', `export const a = ${literal}`)
  expect(isBounded(found!.pattern!, found!.flags)).toBe(bounded)
})

test('calls of RegExp are found, with the constants of their file', () => {
  const text = "const a = 'x+'; const b = `(${a})+`; let c = 'y'; new RegExp(`^${b}$`, 'i'); RegExp(c); globalThis.RegExp(a + a)"
  expect(expressionsIn('a.ts', text).map(({ pattern, flags }) => [pattern, flags])).toEqual([
    ['^(x+)+$', 'i'],
    [null, ''],
    [null, ''],
  ])
})

test('expressions of quadratic or higher cost are reported', async () => {
  expect(await verdict('\\/+$', '')).toMatch(/polynomial/)
  expect(await verdict('^(a+)+$', '')).toBe('exponential')
})
