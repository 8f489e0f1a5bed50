// The command as a process: its output and its files when it cannot start, and its warnings when it can.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { access, contentType, plain, reading, seeded } from '../spec/library.js'
import { rule } from '../support/rule.js'
import { serveMagazine, serveProject } from '../support/serve.js'
import { octavo, project, removeProjects, root } from './command.js'

afterAll(removeProjects)

const notes = contentType('note', { name: { type: 'string' }, rank: { type: 'integer' } })
const oneSentence = /^octavo: [^\n]+\n$/

test('a port in use ends the start with one sentence, before anything is created', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  const folder = project(notes)
  const { status, err } = await octavo(['start', folder], { PORT: String(port) })
  other.close()
  expect(readdirSync(folder)).toEqual(['src'])
  expect(err).toMatch(oneSentence)
  expect(err).toContain(`Port ${port} is in use`)
  expect(status).toBe(1)
})

test('a schema that is none ends the start with one sentence; LOG_LEVEL=debug shows the stack', async () => {
  const file = 'src/api/note/content-types/note/schema.json'
  for (const content of ['{', { info: 1 }, { info: { singularName: 'note' } }]) {
    const { status, err } = await octavo(['start', project({ [file]: content })])
    expect(err).toMatch(oneSentence)
    expect(err).toContain('note')
    expect(status).toBe(1)
  }
  expect((await octavo(['start', project({ [file]: '{' })], { LOG_LEVEL: 'debug' })).err).toMatch(/\n {4}at /)
})

test('a database that is none ends the start with one sentence', async () => {
  const { status, err } = await octavo(['start', project({ ...notes, '.tmp/data.db': 'no database, '.repeat(100) })])
  expect(err).toMatch(oneSentence)
  expect(err).toMatch(/The database .*data\.db cannot be used/)
  expect(status).toBe(1)
})

test('the commands name a database that is none in one sentence', async () => {
  const folder = project({ ...notes, '.tmp/data.db': 'no database, '.repeat(100) })
  for (const words of [['roles', 'list'], ['roles', 'create', 'Editor'], ['locales', 'list'], ['events'], ['indexes']]) {
    const { status, err } = await octavo([...words, folder])
    expect(err.replace(/^octavo: events\.outbox is off.*\n/, ''), words.join(' ')).toMatch(oneSentence)
    expect(err, words.join(' ')).toMatch(/The database .*data\.db cannot be used: file is not a database\./)
    expect(status).toBe(1)
  }
})

test('an unwritable folder ends a command with one sentence', async () => {
  const { status, err } = await octavo(['roles', 'create', 'Editor', project({ ...notes, '.tmp': 'a file' })])
  expect(err).toMatch(oneSentence)
  expect(err).toContain('.tmp')
  expect(status).toBe(1)
})

test('a HOST that has no address is named', async () => {
  const { status, err } = await octavo(['start', project(notes)], { HOST: 'nobody.invalid' })
  expect(err).toBe('octavo: HOST is "nobody.invalid", which is not an address of this machine.\n')
  expect(status).toBe(1)
})

test('a command whose reader has left works to its end, quietly', async () => {
  const folder = project(notes)
  await octavo(['roles', 'create', 'Editor', folder])
  for (const words of [['roles', 'list', '--actions'], ['doctor'], ['locales', 'add', 'fr']]) {
    const command = [process.execPath, join(root, 'dist', 'main.js'), ...words, folder].map((word) => `'${word}'`).join(' ')
    const { stdout, stderr } = spawnSync('bash', ['-c', `{ sleep 1.5; ${command}; echo "status $?" >&2; } | true`], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH },
    })
    expect([stdout, stderr.split('\n').at(-2)], words.join(' ')).toEqual(['', 'status 0'])
    expect(stderr, words.join(' ')).not.toMatch(/EPIPE|\n {4}at /)
  }
  expect((await octavo(['locales', 'list', folder])).out).toContain('fr')
})

test('a folder without a project is refused, and nothing is created in it', async () => {
  const folder = project({ 'package.json': { dependencies: { express: '5' } } })
  const { status, err } = await octavo(['start', folder])
  expect(err).toMatch(oneSentence)
  for (const sign of ['src/api', 'src/components', 'octavo.config.json', 'package.json']) expect(err).toContain(sign)
  expect(status).toBe(1)
  expect(readdirSync(folder)).toEqual(['package.json'])
})

test('in production every line on standard output is JSON, at any log level, the first start included', async () => {
  const folder = project(notes)
  const lines = ({ out }: { readonly out: string }) =>
    out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  const first = await octavo(['start', folder])
  expect([first.status, lines(first)]).toEqual([
    0,
    expect.arrayContaining([
      expect.objectContaining({ level: 30, msg: 'Generated API_TOKEN_SALT and JWT_SECRET and saved them in .env.' }),
      expect.objectContaining({
        ...{ level: 30, time: expect.any(Number), folder, contract: 'specification' },
        ...{ address: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/), msg: expect.stringMatching(/^Octavo serves /) },
      }),
    ]),
  ])
  const quiet = await octavo(['start', folder], { LOG_LEVEL: 'silent' })
  expect(lines(quiet)).toEqual([expect.objectContaining({ msg: expect.stringMatching(/^Octavo serves /) })])
  const read = await octavo(['start', folder], { NODE_ENV: '', LOG_LEVEL: 'silent' })
  expect(read.out).toMatch(/^Octavo serves .* after [\d.]+ s, with the database .*data\.db\.\n$/)
})

rule('projects.16', 'a first start logs the database that it creates, every start names the one that it serves', async () => {
  for (const files of [{}, seeded('note', plain({ one: {} }))]) {
    const folder = project({ ...notes, ...files })
    const database = join(folder, '.tmp', 'data.db')
    const linesOf = async () =>
      (await octavo(['start', folder])).out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    const created = (lines: readonly { readonly msg: string }[]) => lines.filter(({ msg }) => msg.startsWith('created the database'))
    const serving = expect.objectContaining({ database, msg: expect.stringContaining(` s, with the database ${database}.`) })
    const first = await linesOf()
    expect(created(first)).toEqual([expect.objectContaining({ level: 30, database })])
    expect(first).toContainEqual(serving)
    const second = await linesOf()
    expect([created(second), second]).toEqual([[], expect.arrayContaining([serving])])
  }
})

test('--version prints the version, an unknown command is refused with a list of commands', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(await octavo(['--version'])).toEqual({ status: 0, out: `${version}\n`, err: '' })
  const { status, err } = await octavo(['frobnicate'])
  expect(err).toMatch(oneSentence)
  for (const word of ['frobnicate', 'start', 'indexes', 'tokens', 'users', 'roles']) expect(err).toContain(word)
  expect(status).toBe(1)
})

test('relations to types of plugins that are not there are left out with a warning', async () => {
  const menu = { type: 'relation', relation: 'oneToOne', target: 'plugin::menus.menu' }
  const { status, out } = await octavo(['start', project(contentType('note', { name: { type: 'string' }, menu }))])
  const warned = out.split('\n').flatMap((line) => (line.startsWith('{"level":40') ? [JSON.parse(line)] : []))
  expect(warned.map(({ attributes }) => attributes)).toEqual([['api::note.note.menu (plugin::menus.menu)']])
  expect(status).toBe(0)
})

test("a plugin's custom field is text unless its attribute has a type; relations to absent plugins are left out", async () => {
  const served = await serveProject({
    ...contentType('note', {
      name: { type: 'string' },
      colour: { type: 'customField', customField: 'plugin::color-picker.color' },
      mood: { customField: 'plugin::moods.mood' },
      tags: { type: 'customField', customField: 'plugin::multi-select.multi-select', customType: 'json' },
      menu: { type: 'relation', relation: 'manyToOne', target: 'plugin::menus.menu', inversedBy: 'notes' },
    }),
    ...seeded('note', plain({ first: { colour: '#fff', mood: 'calm', tags: ['a'] } })),
    ...access(reading('note')),
  })
  const { data } = (await served.request('/api/notes?populate=*&filters[colour]=%23fff')).body
  await served.close()
  expect(data).toMatchObject([{ name: 'first', colour: '#fff', mood: 'calm', tags: ['a'] }])
  expect(data[0]).not.toHaveProperty('menu')
})

test("Octavo's indexes come with statistics, which open connections follow", async () => {
  const folder = project({
    ...contentType('note', { name: { type: 'string' }, half: { type: 'integer' }, rank: { type: 'integer' } }),
  })
  expect((await octavo(['start', folder])).status).toBe(0)
  const database = new Database(join(folder, '.tmp', 'data.db'))
  const insert = database.prepare('INSERT INTO notes (document_id, half, rank, published_at) VALUES (?, ?, ?, 1)')
  database.transaction(() => {
    for (let id = 1; id <= 4000; id++) insert.run(`d${id}`, id % 2, id)
  })()
  const statistics = () => database.prepare("SELECT count(*) FROM sqlite_stat1 WHERE idx LIKE 'octavo_notes_%'").pluck().get()
  const query = 'SELECT count(*) FROM notes WHERE half = 1 AND rank BETWEEN 7 AND 9 AND published_at IS NOT NULL'
  const plan = () => database.prepare(`EXPLAIN QUERY PLAN ${query}`).get() as { readonly detail: string }
  expect((await octavo(['indexes', folder])).out).toContain('Created')
  expect(database.prepare(query).pluck().get()).toBe(2)
  expect(plan().detail).toContain('octavo_notes_by_rank')
  expect(statistics()).toBeGreaterThan(0)
  for (const lost of ['DROP TABLE sqlite_stat1', 'DELETE FROM sqlite_stat1; ANALYZE sqlite_schema']) {
    database.exec(lost)
    expect((await octavo(['indexes', folder])).out).toContain('All indexes exist')
    expect(statistics()).toBeGreaterThan(0)
    expect(plan().detail).toContain('octavo_notes_by_rank')
  }
  database.close()
})

test("the example's documents with changed drafts are found", async () => {
  const magazine = await serveMagazine()
  const titles = async (query: string) => (await magazine.request(`/api/articles?${query}&fields[0]=title`)).body.data.length
  expect(await titles('status=draft&publicationFilter=modified')).toBeGreaterThan(0)
  expect(await titles('publicationFilter=modified')).toBeGreaterThan(0)
  await magazine.close()
})

test('git ignores files that the example creates', () => {
  const ignored = readFileSync(join(root, '.gitignore'), 'utf8').split('\n')
  expect(ignored).toEqual(expect.arrayContaining(['.tmp/', 'examples/magazine/public/']))
  expect(existsSync(join(root, 'examples', 'magazine', 'seed'))).toBe(true)
})

test('the default locale of a new database may be set in .env', async () => {
  const served = await serveProject({
    '.env': 'STRAPI_PLUGIN_I18N_INIT_LOCALE_CODE=nl\n',
    ...notes,
    ...access(['plugin::i18n.locales.listLocales']),
  })
  const { body } = await served.request('/api/i18n/locales')
  expect(body).toMatchObject([{ code: 'nl', isDefault: true }])
  await served.close()
})

rule('projects.32', 'a command line with a wrong word ends with one line that says what to write', async () => {
  const cases: readonly (readonly [readonly string[], string])[] = [
    [['strat'], '"strat" is neither a command nor a folder; did you mean "start"?'],
    [['start', '--port', '3000'], 'PORT=1400 npx octavo start'],
    [['roles', 'grant', 'public'], 'Usage: npx octavo roles grant [options] <role> <actions> [folder]'],
    [['tokens', 'create'], "required option '--name <name>' not specified. See npx octavo tokens create --help"],
    [['config', '--jsn'], "unknown option '--jsn' (Did you mean --json?)"],
  ]
  const ended = await Promise.all(cases.map(([words]) => octavo(words)))
  for (const [at, { status, out, err }] of ended.entries()) {
    expect([status, out, err.trim().split('\n').length]).toEqual([1, '', 1])
    expect(err).toContain(cases[at]![1])
  }
})
