// Keeps the accounts in order: arrows between rooms, no cycles, opening comments, no dead files, no banned names, no SQL of one
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
      return /node_modules|dist|strapi$|golden.project$/.test(path.slice(root.length)) ? [] : filesBelow(path, ending)
    return ending.test(entry.name) ? [path] : []
  })
}

const sources = [source, join(root, 'packages')].flatMap((folder) => filesBelow(folder, /\.ts$/))
/** The path of a file below src/; below the root for one of packages/. */
const name = (file: string) =>
  relative(root, file)
    .replaceAll('\\', '/')
    .replace(/^src\//, '')
const textOf = (file: string) => readFileSync(file, 'utf8')

/** The files that a file imports, type imports and dynamic imports included. */
function importsOf(file: string): string[] {
  const text = textOf(file)
  const found = [...text.matchAll(/(?:from|import\(|new URL\()\s*'(\.[^']+)'/g)].map(([, path]) => path!)
  return found.map((path) => {
    const direct = resolve(dirname(file), path.replace(/\.js$/, '.ts'))
    return existsSync(direct) ? direct : join(source, 'database', path.replace(/^.*\//, '').replace(/\.js$/, '.ts'))
  })
}

/** The storeys of src/ from the ground; each imports from those below it. */
const storeys = [
  ...['foundation', 'model', 'database', 'query', 'content', 'identity', 'project', 'operations', 'admin', 'http', 'service'],
] as const
const storeyOf = (file: string): string => name(file).split('/')[0]!

/** Imports between storeys, or within one, that the order of storeys would allow. */
const forbidden: readonly (readonly [from: RegExp, to: RegExp])[] = [
  // These choose the driver; no other file knows which one it is.
  [/^database\/(?!open\.ts|transfer\/open-rows\.ts|sqlite|server)/, /^database\/(sqlite|server)\//],
  [/^database\/sqlite\//, /^database\/server\//],
  [/^database\/server\//, /^database\/sqlite\//],
  [/^database\/server\/postgres\//, /^database\/server\/mysql\//],
  [/^database\/server\/mysql\//, /^database\/server\/postgres\//],
  [/^query\//, /^database\/(?!dialect|portable-sql|plan)/],
  [/^query\/(?!compile|rest)/, /^query\/(compile|rest)\//],
  [/^query\/compile\//, /^query\/rest\//],
  [/^query\/rest\//, /^query\/compile\//],
  [/^(identity|project|admin|http|service)\//, /^database\/(sqlite|server)\//],
  [/^packages\//, /^(?!packages|foundation|model\/schema\/types)/],
  [/^packages\/client\//, /^(?!packages\/client|foundation\/public)/],
]

test('a storey imports from those below it, and packages from the foundation and types', () => {
  const wrong = sources.flatMap((file) =>
    importsOf(file).flatMap((target) => {
      const [here, there] = [storeyOf(file), storeyOf(target)]
      const isBelow = here === 'packages' || there === 'packages' || storeys.indexOf(there as never) <= storeys.indexOf(here as never)
      const isForbidden = forbidden.some(([from, to]) => from.test(name(file)) && to.test(name(target)))
      return isBelow && !isForbidden ? [] : [`${name(file)} → ${name(target)}`]
    }),
  )
  expect(wrong).toEqual([])
})

test('every file is in a storey or a package, and ARCHITECTURE.md names them all', () => {
  expect([...new Set(sources.map(storeyOf))].sort()).toEqual([...storeys, 'packages'].sort())
  const text = textOf(join(root, 'ARCHITECTURE.md'))
  expect([...storeys, 'packages'].filter((storey) => !text.includes(`\`${storey}/\``))).toEqual([])
})

/** Rooms of the page at /admin, and the rooms that each may import. `start` composes them. */
const pageRooms: Readonly<Record<string, readonly string[]>> = {
  // The function of the client that the editor sends to previewed pages.
  client: [],
  look: [],
  words: [],
  form: [],
  server: ['words'],
  parts: ['look', 'words'],
  blocks: ['parts', 'words'],
  markdown: ['parts', 'words'],
  fields: ['form', 'parts', 'server', 'words', 'blocks', 'markdown'],
  screens: ['form', 'fields', 'parts', 'server', 'words', 'addresses', 'client'],
  addresses: ['server'],
}

/** Libraries that one room of the page wraps for the others. */
const wrapped: readonly (readonly [library: RegExp, rooms: RegExp])[] = [
  [/^react-aria|^@react-aria|^@internationalized/, /^(parts|start)$/],
  [/^prosemirror/, /^blocks$/],
  [/^@codemirror|^@lezer/, /^markdown$/],
  [/^react/, /^(?!form$|server$|words$)/],
]

test('a room of the page imports only from the rooms that it may, and its libraries through their room', () => {
  const page = join(root, 'admin')
  const client = join(root, 'packages', 'client', 'preview.js')
  const roomOf = (file: string) => (file === client ? 'client' : relative(page, file).split(/[\\/.]/)[0]!)
  const wrong = filesBelow(page, /\.tsx?$/).flatMap((file) => {
    const room = roomOf(file)
    if (room === 'vite') return []
    return [...textOf(file).matchAll(/(?:from|import\(|import) ?'([^']+)'/g)].flatMap(([, target = '']) => {
      const there = roomOf(resolve(dirname(file), target))
      const isAllowed = target.startsWith('.')
        ? room === 'start' || there === room || pageRooms[room]?.includes(there)
        : wrapped.every(([library, rooms]) => !library.test(target) || rooms.test(room) || (room === 'form' && /hooks\.ts$/.test(file)))
      return isAllowed === true ? [] : [`${relative(page, file)} → ${target}`]
    })
  })
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
  load(join(source, 'service', 'cli', 'serve.ts'))
  expect(loaded.size).toBeGreaterThan(100)
  expect([...loaded].filter((file) => name(file).startsWith('database/server/')).map(name)).toEqual([])
})

/** Files that import at a start, in a command, or in a replaceable thread or process. */
const importsAtStart =
  /^(?:service\/cli\/.*|foundation\/config\/files|database\/open|database\/response\/signed-addresses|http\/server|operations\/(?:management|tracing)\/prepare|operations\/seed\/loader|project\/fields|service\/project-model|service\/service|content\/media\/(?:images\/image-process|storage\/open|stored-files)|database\/sqlite\/(?:readers|writer)\/.*-thread)\.ts$/

test('modules of a request are loaded before the service listens: Node remembers a failed import', () => {
  const importsIn = (file: string) =>
    [...textOf(file).matchAll(/(?<!typeof )\bimport\('([^']+)'\)(?!\.[A-Z])/g)].map(([, path]) =>
      path!.startsWith('.') ? name(resolve(dirname(file), path!)) : path!,
    )
  const loaded = new Set(
    ['service/service.ts', 'project/model-changes/builder-request.ts'].flatMap((file) => importsIn(join(source, file))),
  )
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
    'service/main.ts',
    'service/index.ts',
    'packages/client/index.ts',
    'packages/client/preview.ts',
    'database/sqlite/readers/reader-thread.ts',
    'database/sqlite/writer/writer-thread.ts',
    'database/sqlite/index-thread.ts',
    'content/media/images/image-process.ts',
    'http/pages/browser/start-page.ts',
    'http/pages/browser/new-password.ts',
    'http/pages/browser/docs-page/page.ts',
    // Bundled by the build, for the editors of schemas.
    'model/schema/json-schema.ts',
    'packages/strapi-code/project-code-thread.ts',
  ])
  const used = new Set(sources.flatMap(importsOf).map(name))
  expect(sources.map(name).filter((file) => !used.has(file) && !entries.has(file))).toEqual([])
})

test('files over 500 lines and functions over 80 are few', () => {
  const files = sources.filter((file) => textOf(file).split('\n').length > 500).map(name)
  const functions = parsedSources.flatMap((file) => longFunctions(file, 80))
  for (const one of [...files, ...functions]) console.warn(`long: ${one}`)
  expect([...files, ...functions].length).toBeLessThanOrEqual(10)
})

test('every file opens with one to three lines that state its purpose', () => {
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
  // Examples of projects get their imports as arguments.
  expect(outside(others, { ...dependencies, ...devDependencies, ...tools, [self]: true })).toEqual([])
})

test('no file or folder is called utils, helpers, common, misc or manager', () => {
  const all = [...sources, ...filesBelow(join(root, 'test'), /\.ts$/), ...filesBelow(join(root, 'bench'), /\.mjs$/)]
  expect(all.filter((file) => /(?:^|[/-])(utils?|helpers?|common|misc|manager)(?:[./-]|$)/i.test(relative(root, file)))).toEqual([])
})

test('only the public interface re-exports', () => {
  const barrels = sources.filter(
    (file) => name(file) !== 'service/index.ts' && name(file) !== 'packages/client/index.ts' && /^export .* from '/m.test(textOf(file)),
  )
  expect(barrels.map(name)).toEqual([])
})

test('no TODO, no commented-out code', () => {
  const marked = sources.filter(
    (file) => /\b(TODO|FIXME|XXX)\b/.test(textOf(file)) || /^\s*\/\/ (const|let|return|if|await|import|for) .*[;{(]$/m.test(textOf(file)),
  )
  expect(marked.map(name)).toEqual([])
})

test('errors are ApiErrors or sentences for the operator: no other classes', () => {
  const classes = sources.flatMap((file) =>
    [...textOf(file).matchAll(/^(?:export )?class (\w+)/gm)].map(([, found]) => `${name(file)} ${found}`),
  )
  expect(classes.sort()).toEqual([
    'database/response/write.ts ResponseTooLarge',
    'foundation/errors/errors.ts ApiError',
    'foundation/errors/errors.ts ConfigError',
    'packages/client/errors.ts ApiError',
  ])
})

test('SQL stays out of http, model and query stays pure', () => {
  const httpSql = sources.filter(
    (file) =>
      storeyOf(file) === 'http' &&
      /\b(select|insert into|update \w+ set|delete from)\b.*\bfrom\b|from 'kysely'|better-sqlite3/i.test(textOf(file)),
  )
  const waiting = sources.filter(
    (file) =>
      (storeyOf(file) === 'query' ||
        (name(file).startsWith('model/schema/') &&
          name(file) !== 'model/schema/load.ts' &&
          name(file) !== 'model/schema/schema-files.ts')) &&
      /\bawait\b|Date\.now\(\)|new Date\(\)|performance\.now/.test(textOf(file)),
  )
  expect([...httpSql, ...waiting].map(name)).toEqual([])
})

test('no words of one SQL dialect outside of database/ and model/tables/', () => {
  const outside = parsedSources.filter((file) => !/^(database|model\/tables)\//.test(file.name))
  expect(outside.flatMap((file) => dialectWords(file).map((word) => `${file.name}: ${word}`))).toEqual([])
})

const types = parsedSources.flatMap(declaredTypes)

test('the name of an exported type is declared once in a storey', () => {
  const folder = (file: string) => file.split('/', file.startsWith('packages/') ? 2 : 1).join('/')
  const wrong = types
    .filter(({ isExported }) => isExported)
    .flatMap(({ file, name: declared }) =>
      types.filter((other) => other.name === declared && other.file !== file && folder(other.file) === folder(file)),
    )
  expect(wrong.map(({ file, name: declared }) => `${declared}: ${file}`)).toEqual([])
})

test('no type is declared in two files', () => {
  const places = new Map<string, string[]>()
  for (const { file, text } of types) places.set(text, [...(places.get(text) ?? []), file])
  expect([...places].filter(([, files]) => files.length > 1)).toEqual([])
})

test('references in comments exist: rules, decisions, pages of docs, files, and nothing outside of the repository', () => {
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

/** Files that need the time of day: times that are stored or shown, expiry of foreign tokens and codes. */
const wallClock = new Set([
  'service/project-model.ts',
  'identity/access/identify.ts',
  'identity/access/jwt.ts',
  'identity/access/sessions.ts',
  'service/cli/dev.ts',
  'service/cli/dev/service-process.ts',
  'service/cli/admins.ts',
  'service/cli/changes.ts',
  'service/cli/webhooks.ts',
  'project/installation.ts',
  'operations/metrics/scraped-metrics.ts',
  'database/response/signed-addresses.ts',
  'database/sqlite/file/copied-database.ts',
  'content/documents/idempotency.ts',
  'content/documents/operation.ts',
  'content/events/outbox.ts',
  'content/documents/write.ts',
  'http/cookies.ts',
  'foundation/runtime/audit-log.ts',
  'foundation/runtime/log.ts',
  'project/schedules/schedules.ts',
  'service/parts.ts',
  'content/media/library.ts',
  'content/media/signing.ts',
])

test('deadlines and intervals go by a clock that never jumps: Date.now is for the time of day', () => {
  const wrong = sources.filter((file) => /\bDate\.now\b/.test(textOf(file)) && !wallClock.has(name(file)))
  expect(wrong.map(name)).toEqual([])
})
