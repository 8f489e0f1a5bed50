// The commands for tokens, users and roles next to a service, which follows at the next request.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { contentType } from '../spec/library.js'
import { createDatabase, isOnServer } from '../support/databases.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { goldenTokens, serveExisting } from '../support/serve.js'
import { until } from '../support/until.js'
import { logIn, post, serveAccounts } from './golden.js'

const main = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'dist', 'main.js')
let served: Served
beforeAll(async () => {
  served = await serveAccounts({ config: { limits: { authRateLimit: 0 } } })
})
afterAll(() => served.close())

function octavo(given: readonly string[], input = '', database: Readonly<Record<string, string>> = served.sameDatabase) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...given], {
    input,
    encoding: 'utf8',
    env: { ...process.env, ...database },
  })
  return { status, out: stdout.trim(), error: stderr.trim() }
}

const status = async (path: string, token?: string) => (await served.request(path, token === undefined ? {} : { token })).status

describe('octavo tokens', () => {
  rule('tokens.1', 'a token of each type does what its type says', async () => {
    const make = (...more: string[]) => octavo(['tokens', 'create', served.folder, ...more]).out
    const reading = make('--name', 'reading', '--type', 'read-only')
    const all = make('--name', 'all', '--type', 'full-access', '--expires', '7')
    const custom = make('--name', 'one', '--type', 'custom', '--permissions', 'api::tag.tag.find')
    for (const key of [reading, all, custom]) expect(key).toMatch(/^[0-9a-f]{256}$/)
    expect([await status('/api/tags', reading), await status('/api/users/count', reading)]).toEqual([200, 403])
    expect(await status('/api/users/count', all)).toBe(200)
    expect([await status('/api/tags', custom), await status('/api/articles', custom)]).toEqual([200, 403])
    const [row] = await served.sql("select access_key, lifespan, expires_at, kind from strapi_api_tokens where name = 'all'")
    expect(row).toMatchObject({ lifespan: 7 * 86_400_000, kind: 'content-api' })
    expect(row!.access_key).toMatch(/^[0-9a-f]{128}$/)
    expect(JSON.stringify(await served.sql('select * from strapi_api_tokens'))).not.toContain(all)
  })

  rule('tokens.2', 'a token is given another key, and taken away, in a running service', async () => {
    const old = 'a-key-of-my-own-that-is-long-enough-0001'
    octavo(['tokens', 'create', served.folder, '--name', 'own', '--type', 'full-access', '--key', old])
    expect(await status('/api/users/count', old)).toBe(200)
    const { out: key } = octavo(['tokens', 'regenerate', 'own', served.folder])
    expect([await status('/api/users/count', old), await status('/api/users/count', key)]).toEqual([401, 200])
    expect(octavo(['tokens', 'list', served.folder]).out).toMatch(/own +full-access +- /)
    expect(octavo(['tokens', 'revoke', 'own', served.folder])).toMatchObject({ status: 0, out: 'Revoked token "own".' })
    expect(await status('/api/users/count', key)).toBe(401)
  })

  test('errors are printed as a sentence, with status 1', () => {
    const wrong = (...more: string[]) => octavo(['tokens', 'create', served.folder, '--name', 'wrong', ...more])
    for (const more of [
      ['--type', 'king'],
      ['--type', 'custom'],
      ['--type', 'custom', '--permissions', 'api::nope.nope.find'],
      ['--permissions', 'api::tag.tag.find'],
      ['--expires', 'soon'],
      ['--key', 'short'],
    ]) {
      const { status: code, error, out } = wrong(...more)
      expect([more, code, out, error.split('\n').length]).toEqual([more, 1, '', 1])
      expect(error).toMatch(/^octavo: .+/)
    }
    expect(octavo(['tokens', 'revoke', 'nothing', served.folder])).toMatchObject({
      status: 1,
      error: 'octavo: There is no token "nothing"',
    })
    expect(octavo(['tokens', 'list', '/nowhere']).status).toBe(1)
  })
})

rule('tokens.3', 'the last use of a token is noted, at most hourly', async () => {
  const used = async () =>
    (await served.sql("select last_used_at as at from strapi_api_tokens where name = 'readonly'"))[0]!.at as number | null
  const { readonly } = goldenTokens()
  const before = Date.now()
  expect(await status('/api/tags', readonly)).toBe(200)
  await until('the use is stored', async () => (await used()) !== null)
  const first = await used()
  expect(first).toBeGreaterThanOrEqual(before)
  await status('/api/tags', readonly)
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(await used()).toBe(first)
})

rule('writing.22', 'publishing, unpublishing and discarding are granted by name', async () => {
  const actions = ['create', 'publish', 'unpublish', 'discard'].map((action) => `api::article.article.${action}`)
  expect(octavo(['roles', 'create', 'publisher', served.folder, '--permissions', actions.slice(0, 1).join(',')]).status).toBe(0)
  octavo([
    'users',
    'create',
    served.folder,
    '--username',
    'pia',
    '--email',
    'pia@example.test',
    '--role',
    'publisher',
    '--password',
    'pia-Secret1',
  ])
  const { jwt } = (await logIn(served, 'pia', 'pia-Secret1')).body
  const request = (path: string, body: object = {}) =>
    served.request(path, { method: 'POST', token: jwt, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const { documentId } = (await request('/api/articles?status=draft', { data: { title: 'Waits', slug: 'waits-for-pia' } })).body.data
  const acts = async () => {
    const found = []
    for (const action of ['publish', 'discard', 'unpublish'])
      found.push((await request(`/api/articles/${documentId}/actions/${action}`)).status)
    return found
  }
  expect(await acts()).toEqual([403, 403, 403])
  for (const action of actions) expect(octavo(['roles', 'grant', 'publisher', action, served.folder]).status).toBe(0)
  expect(await acts()).toEqual([200, 200, 200])
  octavo(['users', 'delete', 'pia', served.folder])
  octavo(['roles', 'delete', 'publisher', served.folder])
})

rule('errors.12', 'a command that is refused prints every error with its path', () => {
  const create = (username: string, email: string) =>
    octavo(['users', 'create', served.folder, '--username', username, '--email', email, '--password', 'a-long-pass-phrase'])
  const { status, out, error } = create('x', 'x@y.z')
  expect([status, out]).toEqual([1, ''])
  expect(error.split('\n')).toEqual([
    'octavo: 2 errors occurred',
    expect.stringMatching(/^ {2}username: username must be at least 3 characters/),
    expect.stringMatching(/^ {2}email: email must be at least 6 characters/),
  ])
  expect(create('x', 'x@y.example').error).toMatch(/^octavo: username must be at least 3 characters[^\n]*$/)
})

test('octavo users: adding, passwords, blocking, deleting', async () => {
  const run = (given: readonly string[], input = '') => octavo(['users', ...given], input)
  expect(
    run(['create', served.folder, '--username', 'zoe', '--email', 'Zoe@example.test', '--role', 'editor', '--password', 'zoe-Secret1'])
      .status,
  ).toBe(0)
  const { jwt } = (await logIn(served, 'zoe', 'zoe-Secret1')).body
  expect(await status('/api/users/me', jwt)).toBe(200)
  expect(run(['list', served.folder]).out).toMatch(/zoe +zoe@example.test +editor +confirmed/)
  expect(run(['password', 'zoe', served.folder, '--password', '-'], 'zoe-Secret2\n').out).toBe('Set the password of "zoe".')
  expect([await status('/api/users/me', jwt), (await logIn(served, 'zoe', 'zoe-Secret2')).status]).toEqual([401, 200])
  expect(run(['block', 'zoe@example.test', served.folder]).status).toBe(0)
  expect((await logIn(served, 'zoe', 'zoe-Secret2')).body.error.message).toBe('Your account has been blocked by an administrator')
  expect(run(['unblock', 'zoe', served.folder]).status).toBe(0)
  expect((await logIn(served, 'zoe', 'zoe-Secret2')).status).toBe(200)
  expect(run(['delete', 'zoe', served.folder]).out).toBe('Deleted user "zoe".')
  expect(run(['delete', 'zoe', served.folder])).toMatchObject({ status: 1, error: 'octavo: There is no user "zoe".' })
  expect(run(['create', served.folder, '--username', 'alice', '--email', 'a@example.test']).status).toBe(1)
  expect(run(['create', served.folder, '--username', 'short', '--email', 's@example.test', '--password', 'x']).status).toBe(1)
})

test('octavo roles: what a role allows holds at the next request', async () => {
  const run = (...given: string[]) => octavo(['roles', ...given])
  expect(await status('/api/secret-notes')).toBe(403)
  expect(run('grant', 'public', 'api::secret-note.secret-note.find', served.folder).status).toBe(0)
  expect(await status('/api/secret-notes')).toBe(200)
  expect(run('revoke', 'public', 'api::secret-note.secret-note.find', served.folder).status).toBe(0)
  expect(await status('/api/secret-notes')).toBe(403)
  expect(run('create', 'Night Shift', served.folder, '--permissions', 'api::tag.tag.find').status).toBe(0)
  expect(run('list', served.folder).out).toMatch(/Night Shift +night_shift +0 +1/)
  expect(run('grant', 'nobody', 'api::tag.tag.find', served.folder).error).toMatch(/^octavo: There is no role "nobody"/)
})

test('octavo roles: a role that is deleted leaves its users to the public one', async () => {
  const run = (...given: string[]) => octavo(given)
  expect(run('roles', 'create', 'Day Shift', served.folder).status).toBe(0)
  expect(run('roles', 'create', 'day shift', served.folder)).toMatchObject({
    status: 1,
    error: 'octavo: A role "Day Shift" of type day_shift already exists.',
  })
  run('users', 'create', served.folder, '--username', 'daisy', '--email', 'daisy@example.test', '--password', 'daisy-Secret1')
  const { jwt } = (await logIn(served, 'daisy', 'daisy-Secret1')).body
  expect(await status('/api/users/me', jwt)).toBe(200)
  expect(run('users', 'role', 'daisy', 'day_shift', served.folder).out).toBe('The user "daisy" now has the role "Day Shift".')
  expect(await status('/api/users/me', jwt)).toBe(403)
  expect(run('roles', 'delete', 'day_shift', served.folder).out).toBe('Deleted role "Day Shift". Its users (1) now have the public role.')
  expect(run('users', 'list', served.folder).out).toMatch(/daisy +daisy@example.test +public/)
  expect(run('roles', 'delete', 'public', served.folder).status).toBe(1)
  expect(run('roles', 'grant', 'public', ' , ', served.folder)).toMatchObject({ status: 1, error: 'octavo: Name at least one action.' })
})

test('octavo settings: what an installation allows holds at the next request', async () => {
  const run = (...given: string[]) => octavo(['settings', ...given])
  const register = async (name: string) => {
    const answer = await post(served, '/api/auth/local/register', { username: name, email: `${name}@example.test`, password: 'secret-1' })
    return answer.body.error?.message ?? answer.body.user.confirmed
  }
  expect(await register('settled1')).toBe(true)
  expect(run('set', 'allow-register', 'no', served.folder).out).toBe('allow-register is now no.')
  expect(await register('settled2')).toBe('Register action is currently disabled')
  run('set', 'allow-register', 'yes', served.folder)
  run('set', 'email-confirmation', 'yes', served.folder)
  run('set', 'default-role', 'editor', served.folder)
  expect(await register('settled3')).toBe(false)
  const users = () => octavo(['users', 'list', served.folder]).out
  expect(users()).toMatch(/settled3 +settled3@example.test +editor +not confirmed/)
  expect(octavo(['users', 'confirm', 'settled3', served.folder]).out).toBe('Confirmed the e-mail address of "settled3".')
  expect(users()).toMatch(/settled3 +settled3@example.test +editor +confirmed/)
  run('set', 'email-confirmation', 'off', served.folder)
  // Names of others are shown without what a terminal would act on, in a table and in a sentence.
  const username = '\u001b[2J\u001b]0;owned\u0007\u202e'
  await served.sql(`update up_users set username = ? where username = 'settled1'`, username)
  expect(users()).toContain(String.raw`\u001b[2J\u001b]0;owned\u0007\u202e  settled1@example.test`)
  const blocked = octavo(['users', 'block', username, served.folder])
  expect(`${blocked.out}${blocked.error}`).toContain(String.raw`\u001b[2J`)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
  expect(`${users()}${blocked.out}${blocked.error}`).not.toMatch(/[\u001b\u0007\u202e]/)
  expect(run('set', 'reset-page', 'https://site.example.test/new', served.folder).out).toBe(
    'reset-page is now https://site.example.test/new.',
  )
  expect(run('list', served.folder).out).toMatch(/^setting +value\nallow-register +yes .*\nemail-confirmation +no /)
  for (const [name, value] of [
    ['allow-register', 'maybe'],
    ['default-role', 'nobody'],
    ['reset-page', 'javascript:alert(1)'],
    ['constructor', 'x'],
  ] as const) {
    const { status: code, out, error } = run('set', name, value, served.folder)
    expect([name, code, out, error.split('\n').length]).toEqual([name, 1, '', 1])
  }
})

test('octavo roles: * selects all actions of a type; an unknown action is refused with the known ones', async () => {
  const run = (...given: string[]) => octavo(['roles', ...given])
  const actionsOf = async (role: string) =>
    (JSON.parse(run('list', served.folder, '--json').out) as { readonly type: string; readonly actions: readonly string[] }[]).find(
      ({ type }) => type === role,
    )!.actions
  expect(run('create', 'Notes', served.folder, '--permissions', 'api::secret-note.secret-note.*, api::tag.tag.find').status).toBe(0)
  const [all, tag] = [await actionsOf('notes'), 'api::tag.tag.find']
  expect(all).toContain('api::secret-note.secret-note.delete')
  expect(all.filter((action) => !action.startsWith('api::secret-note.secret-note.'))).toEqual([tag])
  expect(run('revoke', 'notes', 'api::secret-note.secret-note.*', served.folder).status).toBe(0)
  expect(await actionsOf('notes')).toEqual([tag])
  const refused: readonly (readonly [string, RegExp])[] = [
    [
      'api::tag.tag.fnid',
      /^octavo: Unknown action api::tag\.tag\.fnid; did you mean "find"\? api::tag\.tag has find, findOne, create, .*\.$/,
    ],
    ['api::tga.tag.find', /^octavo: Unknown action api::tga\.tag\.find; did you mean "api::tag\.tag\.find"\? An action looks like /],
    ['*', /^octavo: Unknown action \*\. /],
  ]
  for (const [action, said] of refused) {
    const { status: code, error } = run('grant', 'notes', `${tag},${action}`, served.folder)
    expect([action, code, error]).toEqual([action, 1, expect.stringMatching(said)])
  }
  expect(run('remove', 'notes', served.folder).out).toBe('Deleted role "Notes".')
})

test('lists are JSON with --json, without anything secret', () => {
  octavo(['users', 'create', served.folder, '--username', 'joan', '--email', 'joan@example.test', '--password', 'joan-Secret1'])
  octavo(['tokens', 'create', served.folder, '--name', 'listed', '--expires', '1'])
  const list = (group: string) => JSON.parse(octavo([group, 'list', served.folder, '--json']).out)
  const listed = list('tokens').find(({ name }: { readonly name: string }) => name === 'listed')
  expect(listed).toEqual({
    ...{ id: expect.any(Number), name: 'listed', type: 'read-only' },
    ...{ expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/), lastUsedAt: null },
  })
  expect(list('users').find(({ username }: { readonly username: string }) => username === 'joan')).toEqual({
    ...{ id: expect.any(Number), username: 'joan', email: 'joan@example.test', role: 'authenticated', confirmed: true, blocked: false },
  })
  expect(list('roles')[0]).toMatchObject({ id: 1, type: 'authenticated', users: expect.any(Number), actions: expect.any(Array) })
  expect(list('locales')[0]).toMatchObject({ code: 'en', isDefault: true, documents: expect.any(Number) })
  expect(list('settings')).toMatchObject({
    ...{ 'unique-email': expect.any(Boolean), 'default-role': expect.any(String) },
    ...{ 'reset-page': expect.toBeOneOf([null, expect.any(String)]) },
  })
  octavo(['tokens', 'delete', 'listed', served.folder])
  octavo(['users', 'remove', 'joan', served.folder])
  expect(list('tokens').map(({ name }: { readonly name: string }) => name)).not.toContain('listed')
  expect(list('users').map(({ username }: { readonly username: string }) => username)).not.toContain('joan')
})

test('a word that is taken for a folder: the message says that the current folder is the project', () => {
  mkdirSync(join(served.folder, 'public'), { recursive: true })
  const { status: code, stderr } = spawnSync(process.execPath, [main, 'roles', 'list', 'public'], {
    cwd: served.folder,
    encoding: 'utf8',
    env: { ...process.env, ...served.sameDatabase },
  })
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/public is not a content project.* The current folder is one: leave out "public"\.$/m),
  ])
})

test('the help of each command states its purpose, and a missing argument is named', () => {
  for (const group of ['tokens', 'users', 'roles', 'settings']) {
    const { status: code, out } = octavo([group, '--help'])
    const commands = out.slice(out.indexOf('Commands:')).split('\n').slice(1)
    expect([group, code]).toEqual([group, 0])
    // A name, its arguments, and a sentence; longer ones go on in the next line.
    for (const line of commands) expect(line).toMatch(/^ {2}\S.* {2}\S|^ {20}/)
    const wrong = octavo([group, 'nonsense'])
    expect([wrong.status, wrong.error]).toEqual([1, `octavo: unknown command 'nonsense'. See npx octavo ${group} --help`])
  }
  expect(octavo(['tokens', 'create'])).toMatchObject({
    status: 1,
    error: "octavo: required option '--name <name>' not specified. See npx octavo tokens create --help",
  })
})

test('a whole installation is set up by a script, before its first start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-script-'))
  const files = { ...contentType('note', { name: { type: 'string' } }) }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), JSON.stringify(content))
  }
  const database = isOnServer ? await createDatabase(false) : {}
  const run = (given: readonly string[], input = '') => octavo([...given, folder], input, database)
  const token = run(['tokens', 'create', '--name', 'script', '--type', 'full-access'])
  expect([token.status, token.out]).toEqual([0, expect.stringMatching(/^[0-9a-f]{256}$/)])
  const generated = 'Generated API_TOKEN_SALT and JWT_SECRET and saved them in .env.'
  // A database of a server is there before.
  expect(token.error.split('\n')).toEqual([
    generated,
    ...(isOnServer ? [] : [expect.stringMatching(/^Created the database .*data\.db\.$/)]),
  ])
  const steps: readonly (readonly [readonly string[], string?])[] = [
    [['roles', 'create', 'Writers', '--permissions', 'api::note.note.create']],
    [['roles', 'grant', 'public', 'api::note.note.find']],
    [['roles', 'grant', 'public', 'plugin::users-permissions.auth.callback']],
    [['settings', 'set', 'allow-register', 'no']],
    [['users', 'create', '--username', 'wim', '--email', 'wim@example.test', '--role', 'writers', '--password', '-'], 'wim-Secret1\n'],
  ]
  for (const [given, input] of steps) expect([given, run(given, input).status]).toEqual([given, 0])
  const service = await serveExisting({ folder }, database)
  expect((await logIn(service, 'wim', 'wim-Secret1')).status).toBe(200)
  const { jwt } = (await logIn(service, 'wim', 'wim-Secret1')).body
  expect((await post(service, '/api/notes', { data: { name: 'first' } }, jwt)).status).toBe(201)
  expect((await service.request('/api/notes')).body.data).toMatchObject([{ name: 'first' }])
  expect((await service.request('/api/users/count', { token: token.out })).body).toBe(1)
  expect(
    (await post(service, '/api/auth/local/register', { username: 'late', email: 'late@example.test', password: 'secret-1' })).status,
  ).toBe(400)
  await service.close()
  rmSync(folder, { recursive: true, force: true })
})

rule('accounts.21', 'roles are created, changed and removed over the API by permitted callers', async () => {
  const { full } = goldenTokens()
  const permissions = (enabled: boolean) => ({ 'api::tag': { controllers: { tag: { find: { enabled }, nonsense: { enabled: true } } } } })
  const made = await post(
    served,
    '/api/users-permissions/roles',
    { name: 'Über Gäste', description: 'd', permissions: permissions(true) },
    full,
  )
  expect([made.status, made.body]).toEqual([200, { ok: true }])
  const [role] = await served.sql("select id, type from up_roles where name = 'Über Gäste'")
  expect(role!.type).toBe('uber_gaste')
  const actions = () =>
    served.sql(
      'select p.action from up_permissions p join up_permissions_role_lnk l on l.permission_id = p.id where l.role_id = ?',
      role!.id,
    )
  expect(await actions()).toEqual([{ action: 'api::tag.tag.find' }])
  const headers = { 'content-type': 'application/json' }
  const path = `/api/users-permissions/roles/${role!.id}`
  const body = JSON.stringify({ name: 'Guests', permissions: permissions(false) })
  expect((await served.request(path, { method: 'PUT', token: full!, headers, body })).body).toEqual({ ok: true })
  expect(await actions()).toEqual([])
  const user = (
    await post(served, '/api/users', { username: 'guest', email: 'guest@example.test', password: 'secret-1', role: role!.id }, full)
  ).body
  expect((await served.request(path, { method: 'DELETE', token: full! })).body).toEqual({ ok: true })
  expect((await served.request(`/api/users/${user.id}?populate=role`, { token: full! })).body.role.type).toBe('public')
  expect((await served.request(path, { method: 'DELETE', token: full! })).status).toBe(404)
  expect((await served.request('/api/users-permissions/roles/2', { method: 'DELETE', token: full! })).status).toBe(400)
})
