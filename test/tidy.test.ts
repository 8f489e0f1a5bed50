// Keeps the accounts in order: arrows between rooms, no cycles, sizes, opening comments, no dead files, no banned names, no SQL of one
// database outside of src/database, no type declared twice.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { declaredTypes, dialectWords, longFunctions, parsedSources } from './support/parsed-sources.js'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const source = join(root, 'src')

function filesBelow(folder: string, ending: RegExp): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory())
      return entry.name === 'node_modules' || entry.name === 'project' || entry.name === 'strapi' ? [] : filesBelow(path, ending)
    return ending.test(entry.name) ? [path] : []
  })
}

const sources = filesBelow(source, /\.ts$/)
const name = (file: string) => relative(source, file).replaceAll('\\', '/')
const textOf = (file: string) => readFileSync(file, 'utf8')

/** The files of ours that a file imports, type imports and dynamic imports included. */
function importsOf(file: string): string[] {
  const text = textOf(file)
  const found = [...text.matchAll(/(?:from|import\(|new URL\()\s*'(\.[^']+)'/g)].map(([, path]) => path!)
  return found.map((path) => {
    const direct = resolve(dirname(file), path.replace(/\.js$/, '.ts'))
    return existsSync(direct) ? direct : join(source, 'database', path.replace(/^.*\//, '').replace(/\.js$/, '.ts'))
  })
}

/** Folders that are rooms of their own inside another room. */
const inner = /^(documents|query|database)\/(input|store|publish|read|rest|compile|answer|schema|sqlite|postgres|mysql|server)\//

/** The room of a file: its folder below src/, or one of the inner rooms; a file beside the rooms is one by itself. */
function room(file: string): string {
  const path = name(file)
  if (/^database\/(?:open|open-rows|first-rows)\.ts$/.test(path)) return 'database/open'
  if (inner.test(path)) return path.split('/').slice(0, 2).join('/')
  // The entry of a room that is a program of its own.
  if (path === 'client.ts') return 'client'
  return path.includes('/') ? path.split('/')[0]! : path.replace(/\.ts$/, '')
}

const knownToAll = new Set(['config', 'errors', 'grants', 'model', 'public', 'runtime'])
const documents = ['documents', 'documents/read', 'documents/publish', 'documents/store', 'documents/input']
const query = ['query', 'query/rest', 'query/compile']
const database = ['database', 'database/answer', 'database/schema', 'database/sqlite']
/** What asks a database, and does not know which one it is. */
const anyDatabase = ['database', 'database/answer']
/** The rooms that each room may import from. */
const below: Readonly<Record<string, readonly string[]>> = {
  browser: [],
  main: ['cli'],
  cli: [
    'service',
    'project-model',
    'live-model',
    'model-plans',
    'description',
    'query',
    'seed',
    'access',
    'accounts',
    'administration',
    'archive',
    'backup',
    'compare',
    'project-code',
    'project-contract',
    'project-fields',
    'doctor',
    'events',
    'locales',
    'management',
    'uploads',
    'database',
    'database/open',
  ],
  archive: ['uploads', 'database', 'database/schema'],
  backup: ['project-fields', 'uploads', 'doctor', 'live-model', 'database', 'database/open', 'database/sqlite'],
  index: ['service'],
  'project-contract': ['database', 'database/open'],
  'project-fields': ['project-code', 'database', 'database/open'],
  'project-model': ['project-fields', 'live-model', 'installation', 'http', 'schedules', 'seed', 'documents', 'database', 'database/open'],
  service: [
    'service-parts',
    'project-contract',
    'installation',
    'live-model',
    'http',
    'content',
    'schedules',
    'hints',
    'access',
    'administration',
    'uploads',
    'events',
    'documents',
    'source-maps',
    'database',
  ],
  'service-parts': ['project-model', 'management', 'metrics', 'tracing', 'access', 'accounts', 'uploads', 'events', 'database'],
  content: ['installation', 'uploads', ...documents],
  'live-model': ['content-type-builder', 'model-plans', 'installation', 'database', 'database/schema'],
  installation: ['accounts', 'description', 'uploads', 'events', ...documents, ...query, ...anyDatabase],
  http: [
    'content',
    'live-model',
    'installation',
    'hints',
    'administration',
    'access',
    'accounts',
    'uploads',
    'events',
    'source-maps',
    ...documents,
  ],
  hints: ['access', 'documents/read', 'documents/input', 'query', 'query/rest'],
  administration: ['accounts', 'access', 'doctor', 'events', 'leases', 'locales', 'uploads', 'query/rest', ...documents, ...anyDatabase],
  accounts: ['access', ...documents, ...anyDatabase],
  access: ['documents/store', ...anyDatabase],
  uploads: ['events', 'documents/store', 'database/sqlite', ...anyDatabase],
  schedules: ['leases', ...anyDatabase],
  leases: anyDatabase,
  description: ['documents/input', 'query', 'query/rest'],
  client: [],
  seed: database,
  compare: [],
  'content-type-builder': [],
  'project-code': [],
  doctor: ['database/schema', 'database/open', 'model-plans', ...anyDatabase],
  locales: ['documents/store', ...anyDatabase],
  management: ['metrics'],
  metrics: ['access', 'uploads', 'database'],
  tracing: ['database'],
  'source-maps': ['database'],
  documents: [...documents, 'events', ...query, ...anyDatabase],
  'documents/publish': ['documents/read', 'documents/store', 'documents/input', ...query, ...anyDatabase],
  'documents/store': ['documents/input', 'database/sqlite', ...query, ...anyDatabase],
  'documents/read': [...query, ...anyDatabase],
  'documents/input': ['query', 'query/rest', 'database'],
  events: ['leases', ...query, ...anyDatabase],
  query: ['database'],
  'query/rest': ['query'],
  'query/compile': ['query', 'database'],
  database: ['database/schema', 'model-plans'],
  'database/open': ['database', 'database/sqlite', 'database/postgres', 'database/mysql'],
  'database/answer': ['database'],
  'database/schema': [],
  'model-plans': ['database/schema'],
  'database/sqlite': ['database', 'database/answer', 'database/schema', 'model-plans'],
  'database/server': ['database', 'database/answer', 'database/schema', 'model-plans'],
  'database/postgres': ['database', 'database/answer', 'database/schema', 'database/server', 'model-plans'],
  'database/mysql': ['database', 'database/answer', 'database/schema', 'database/server', 'model-plans'],
  config: [],
  errors: [],
  grants: [],
  model: [],
  public: [],
  runtime: [],
}
const seenByQuery = new Set(['database/dialect.ts', 'database/fragments.ts', 'database/plan.ts'])

test('arrows between rooms point down only', () => {
  const wrong = sources.flatMap((file) =>
    importsOf(file).flatMap((target) => {
      const [here, there] = [room(file), room(target)]
      const allowed = here === there || knownToAll.has(there) || (below[here] ?? []).includes(there)
      const seen = !here.startsWith('query') || there !== 'database' || seenByQuery.has(name(target))
      return allowed && seen ? [] : [`${name(file)} → ${name(target)}`]
    }),
  )
  expect(wrong).toEqual([])
})

test('ARCHITECTURE.md names every room, every file beside the rooms, and what all rooms know', () => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const [arrows = ''] = /```\ncli → [^`]*```/.exec(text) ?? []
  const names = (line: string) => (what: string) => new RegExp(`\\b${what}(?![\\w-])`).test(line)
  expect(
    [...new Set(sources.map(room))].filter((what) => !what.includes('/') && what !== 'index').filter((what) => !names(text)(what)),
  ).toEqual([])
  const toAll = arrows.split('\n').find((line) => line.endsWith('known to all')) ?? ''
  expect([...knownToAll].filter((what) => !names(toAll)(what))).toEqual([])
  const beside = sources.map(name).filter((file) => !file.includes('/') && file !== 'index.ts')
  expect(beside.map((file) => file.replace('.ts', '')).filter((what) => !names(arrows)(what))).toEqual([])
})

test('what all rooms know imports nothing of ours but each other', () => {
  const wrong = sources
    .filter((file) => knownToAll.has(room(file)))
    .flatMap((file) =>
      importsOf(file)
        .filter((target) => room(target) !== room(file) && !knownToAll.has(room(target)))
        .map((target) => `${name(file)} → ${name(target)}`),
    )
  expect(wrong).toEqual([])
})

test('a start loads no database driver that is not the configured one', () => {
  const loaded = new Set<string>()
  const load = (file: string) => {
    if (loaded.has(file)) return
    loaded.add(file)
    const text = textOf(file).replace(/^(?:import|export) type [^']*'[^']*'/gm, '')
    for (const [, path] of text.matchAll(/^(?:import|export|\}) (?:[^'\n]*from )?'(\.[^']+)'/gm))
      load(resolve(dirname(file), path!.replace(/\.js$/, '.ts')))
  }
  load(join(source, 'cli', 'serve.ts'))
  expect(loaded.size).toBeGreaterThan(100)
  expect([...loaded].filter((file) => /database\/(postgres|mysql|server)$/.test(room(file))).map(name)).toEqual([])
})

/** Files whose imports happen at a start, in a command, or in a thread or process that another one replaces. */
const importsAtStart =
  /^(?:cli\/.*|config\/files|database\/open|database\/answer\/signed-addresses|http\/server|management\/prepare|project-fields|project-model|seed\/loader|service|tracing\/prepare|uploads\/images\/image-process|uploads\/storage\/open|uploads\/stored-files|database\/sqlite\/(?:readers|writer)\/.*-thread)\.ts$/

test('what a request imports is loaded before the service listens: Node remembers an import that failed', () => {
  const importsIn = (file: string) =>
    [...textOf(file).matchAll(/(?<!typeof )\bimport\('([^']+)'\)(?!\.[A-Z])/g)].map(([, path]) =>
      path!.startsWith('.') ? name(resolve(dirname(file), path!)) : path!,
    )
  const loaded = new Set(['service.ts', 'live-model/builder-request.ts'].flatMap((file) => importsIn(join(source, file))))
  const later = sources.filter((file) => !importsAtStart.test(name(file)))
  expect(
    later.flatMap((file) =>
      importsIn(file)
        .filter((path) => !loaded.has(path))
        .map((path) => `${name(file)} → ${path}`),
    ),
  ).toEqual([])
})

test('no file imports itself through others', () => {
  const state = new Map<string, 'open' | 'done'>()
  const cycles: string[] = []
  const visit = (file: string, path: readonly string[]) => {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') {
      cycles.push([...path.slice(path.indexOf(file)), file].map(name).join(' → '))
      return
    }
    state.set(file, 'open')
    for (const target of importsOf(file)) visit(target, [...path, file])
    state.set(file, 'done')
  }
  for (const file of sources) visit(file, [])
  expect(cycles).toEqual([])
})

test('every file is used', () => {
  const entries = new Set([
    'main.ts',
    'index.ts',
    'client.ts',
    'database/sqlite/readers/reader-thread.ts',
    'database/sqlite/writer/writer-thread.ts',
    'database/sqlite/index-thread.ts',
    'uploads/images/image-process.ts',
    'browser/start-page.ts',
    'browser/new-password.ts',
    'browser/docs-page/page.ts',
    // Bundled by the build, for the editors of schemas.
    'model/json-schema.ts',
    'project-code/project-code-thread.ts',
  ])
  const used = new Set(sources.flatMap(importsOf).map(name))
  expect(sources.map(name).filter((file) => !used.has(file) && !entries.has(file))).toEqual([])
})

/** Vocabularies and tables may be longer. */
const tables = new Set(['model/builtin.ts', 'model/types.ts', 'database/schema/initial-settings.ts'])

test('files stay below 400 lines', () => {
  const long = sources.filter((file) => !tables.has(name(file)) && textOf(file).split('\n').length > 400).map(name)
  expect(long).toEqual([])
})

/** The lines of a screen. */
const longestFunction = 60

test(`functions have ${longestFunction} lines at most`, () => {
  expect(parsedSources.flatMap((file) => longFunctions(file, longestFunction))).toEqual([])
})

test('every file opens with one to three lines that say what it is for', () => {
  const files = [
    ...sources,
    ...filesBelow(join(root, 'test'), /\.ts$/),
    ...filesBelow(join(root, 'bench'), /\.mjs$/),
    ...filesBelow(join(root, 'scripts'), /\.mjs$/),
  ]
  const silent = files.filter((file) => {
    const lines = textOf(file)
      .split('\n')
      .filter((line) => !line.startsWith('#!'))
    const comment = lines.findIndex((line) => !line.startsWith('//'))
    return comment < 1 || comment > 3
  })
  expect(silent.map((file) => relative(root, file))).toEqual([])
})

test('every package that is imported is named in package.json; the product needs none that is neither installed with it nor bundled', () => {
  const { name: self, dependencies, devDependencies } = JSON.parse(textOf(join(root, 'package.json')))
  const { devDependencies: tools } = JSON.parse(textOf(join(root, 'test', 'tools', 'package.json')))
  const packagesOf = (file: string) =>
    [...textOf(file).matchAll(/(?:^(?:import|\}) .*from |^import |\bimport\()'((?:@[\w.-]+\/)?[\w.-]+)(?:\/[^']*)?'/gm)]
      .map(([, found]) => found!)
      .filter((found) => !found.startsWith('.'))
  const outside = (files: readonly string[], known: object) =>
    files.flatMap((file) =>
      packagesOf(file)
        .filter((found) => !(found in known))
        .map((found) => `${relative(root, file)}: ${found}`),
    )
  const others = ['test', 'bench', 'scripts'].flatMap((folder) => filesBelow(join(root, folder), /\.(ts|mjs)$/))
  expect(sources.flatMap(packagesOf)).toContain('fastify')
  const bundled = [...textOf(join(root, 'dist', 'THIRD-PARTY-LICENSES.txt')).matchAll(/^(\S+) \d+\.\d+\.\d+\S*$/gm)].map(([, found]) => [
    found,
    true,
  ])
  expect(outside(sources, { ...dependencies, ...Object.fromEntries(bundled) })).toEqual([])
  expect(outside(sources, { ...dependencies, ...devDependencies })).toEqual([])
  // Examples of projects import what they are given.
  expect(outside(others, { ...dependencies, ...devDependencies, ...tools, [self]: true })).toEqual([])
})

test('no file or folder is called utils, helpers, common, misc or manager', () => {
  const all = [...sources, ...filesBelow(join(root, 'test'), /\.ts$/), ...filesBelow(join(root, 'bench'), /\.mjs$/)]
  expect(all.filter((file) => /(?:^|[/-])(utils?|helpers?|common|misc|manager)(?:[./-]|$)/i.test(relative(root, file)))).toEqual([])
})

test('only the public interface re-exports', () => {
  const barrels = sources.filter(
    (file) => name(file) !== 'index.ts' && name(file) !== 'client.ts' && /^export .* from '/m.test(textOf(file)),
  )
  expect(barrels.map(name)).toEqual([])
})

test('no TODO, no commented-out code', () => {
  const marked = sources.filter(
    (file) => /\b(TODO|FIXME|XXX)\b/.test(textOf(file)) || /^\s*\/\/ (const|let|return|if|await|import|for) .*[;{(]$/m.test(textOf(file)),
  )
  expect(marked.map(name)).toEqual([])
})

test('errors are ApiErrors or sentences for whoever starts the service: no class but these', () => {
  const classes = sources.flatMap((file) =>
    [...textOf(file).matchAll(/^(?:export )?class (\w+)/gm)].map(([, found]) => `${name(file)} ${found}`),
  )
  expect(classes.sort()).toEqual([
    'client/errors.ts ApiError',
    'database/answer/sink.ts AnswerTooLarge',
    'errors/errors.ts ApiError',
    'errors/errors.ts ConfigError',
  ])
})

test('SQL stays out of http, model and query stays pure', () => {
  const httpSql = sources.filter(
    (file) =>
      room(file) === 'http' &&
      /\b(select|insert into|update \w+ set|delete from)\b.*\bfrom\b|from 'kysely'|better-sqlite3/i.test(textOf(file)),
  )
  const waiting = sources.filter(
    (file) =>
      (room(file) === 'query' || (room(file) === 'model' && name(file) !== 'model/load.ts' && name(file) !== 'model/schema-files.ts')) &&
      /\bawait\b|Date\.now\(\)|new Date\(\)|performance\.now/.test(textOf(file)),
  )
  expect([...httpSql, ...waiting].map(name)).toEqual([])
})

test('no words of one SQL dialect outside of src/database: fragments.ts and the dialects have them', () => {
  const outside = parsedSources.filter((file) => !file.name.startsWith('database/'))
  expect(outside.flatMap((file) => dialectWords(file).map((word) => `${file.name}: ${word}`))).toEqual([])
})

const types = parsedSources.flatMap(declaredTypes)

test('the name of an exported type is declared once', () => {
  const wrong = types
    .filter(({ isExported }) => isExported)
    .flatMap(({ file, name: declared }) => types.filter((other) => other.name === declared && other.file !== file))
  expect(wrong.map(({ file, name: declared }) => `${declared}: ${file}`)).toEqual([])
})

test('no type is declared in two files', () => {
  const places = new Map<string, string[]>()
  for (const { file, text } of types) places.set(text, [...(places.get(text) ?? []), file])
  expect([...places].filter(([, files]) => files.length > 1)).toEqual([])
})

test('what comments cite is there: rules, decisions, pages of docs, files, and nothing that is kept elsewhere', () => {
  const specified = readdirSync(join(root, 'docs', 'spec')).map((page) => page.replace('.md', ''))
  const rules = new Set(
    specified.flatMap((page) => [...textOf(join(root, 'docs', 'spec', `${page}.md`)).matchAll(/^\*\*([^*]+)\*\* /gm)].map(([, id]) => id!)),
  )
  const decisions = new Set(readdirSync(join(root, 'docs', 'decisions')).map((page) => page.slice(0, 3)))
  const scripts = ['test', 'bench', 'scripts'].flatMap((folder) => filesBelow(join(root, folder), /\.(ts|mjs|cjs)$/))
  const files = new Set([...sources, ...scripts].map((file) => basename(file)))
  const known: readonly (readonly [RegExp, (cited: string) => boolean])[] = [
    [new RegExp(`\\b(?:${specified.join('|')})\\.\\d+\\b`, 'g'), (id) => rules.has(id)],
    [/(?<=\bdecisions? )\d{3}\b/g, (number) => decisions.has(number)],
    [/\bdocs\/[\w/-]+\.md\b/g, (page) => existsSync(join(root, page))],
    [/(?<![\w./*-])[a-z][\w-]*\.ts\b/g, (file) => files.has(file)],
    [/\b(?:behaviour|layout|ecosystem|security|reliability|scale)[:,] "[^"]*"/g, () => false],
  ]
  const lost = sources.flatMap((file) => {
    const comments = [...textOf(file).matchAll(/^\s*(?:\/\/|\/?\*).*$/gm)].map(([line]) => line).join('\n')
    return known.flatMap(([form, isThere]) =>
      (comments.match(form) ?? []).filter((cited) => !isThere(cited)).map((cited) => `${name(file)}: ${cited}`),
    )
  })
  expect(lost).toEqual([])
})

/** Where the time of day is meant: moments that are stored or shown, ends of tokens and codes that others made. */
const wallClock = new Set([
  'project-model.ts',
  'access/identify.ts',
  'access/jwt.ts',
  'access/sessions.ts',
  'cli/dev.ts',
  'cli/dev/service-process.ts',
  'cli/locales.ts',
  'cli/roles.ts',
  'cli/tokens.ts',
  'cli/admins.ts',
  'cli/users.ts',
  'compare/proxy.ts',
  'cli/webhook-deliveries.ts',
  'cli/webhooks.ts',
  'installation/installation.ts',
  'metrics/scraped-metrics.ts',
  'database/answer/signed-addresses.ts',
  'database/sqlite/file/copied-database.ts',
  'documents/idempotency.ts',
  'documents/operation.ts',
  'events/outbox.ts',
  'documents/write.ts',
  'http/api/refresh-cookie.ts',
  'runtime/audit-output.ts',
  'runtime/log.ts',
  'schedules/schedules.ts',
  'service-parts.ts',
  'uploads/library.ts',
  'uploads/signing.ts',
])

test('deadlines and intervals go by a clock that never jumps: Date.now is for the time of day', () => {
  const wrong = sources.filter((file) => /\bDate\.now\b/.test(textOf(file)) && !wallClock.has(name(file)))
  expect(wrong.map(name)).toEqual([])
})
