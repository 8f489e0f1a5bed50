// `octavo locales` next to a service, which follows at the next request, and other hints for new projects.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { access, contentType, plain, reading, seeded } from '../spec/library.js'
import type { Served } from '../support/serve.js'
import { serveProject } from '../support/serve.js'

const main = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'dist', 'main.js')
const localized = { pluginOptions: { i18n: { localized: true } } }
// Written down, so that commands sign with what the service signs with.
const secrets = { '.env': 'API_TOKEN_SALT=salt-of-the-test\nJWT_SECRET=secret-of-the-test\n' }
let served: Served

beforeAll(async () => {
  served = await serveProject({
    ...secrets,
    ...contentType(
      'note',
      { name: { type: 'string', ...localized }, rank: { type: 'integer' } },
      { localized: true, draftAndPublish: true },
    ),
    ...contentType('stone', { name: { type: 'string' } }),
    ...seeded('stone', plain({ first: {} })),
    ...access([...reading('note', 'stone'), ...['create', 'update', 'delete'].map((action) => `api::note.note.${action}`), listing]),
  })
})
afterAll(() => served.close())

const listing = 'plugin::i18n.locales.listLocales'

function octavo(...given: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...given], { encoding: 'utf8' })
  return { status, out: stdout.trim(), error: stderr.trim() }
}
const locales = (...given: readonly string[]) => octavo('locales', ...given, served.folder)

const send = async (method: string, path: string, data?: object) => {
  const headers = { 'content-type': 'application/json' }
  const { status, body } = await served.request(path, {
    method,
    headers,
    ...(data === undefined ? {} : { body: JSON.stringify({ data }) }),
  })
  return { status, data: body?.data, message: body?.error?.message as string | undefined }
}
const listed = async () =>
  ((await served.request('/api/i18n/locales')).body as { code: string; isDefault: boolean }[]).map(({ code, isDefault }) => [
    code,
    isDefault,
  ])

test('a locale that is added can be written and is listed at the next request', async () => {
  expect(await send('POST', '/api/notes?locale=de', { name: 'Stein' })).toMatchObject({
    status: 400,
    message: 'The locale "de" does not exist',
  })
  expect(locales('add', 'de')).toEqual({ status: 0, out: 'Added locale de: German (de).', error: '' })
  expect(await send('POST', '/api/notes?locale=de', { name: 'Stein' })).toMatchObject({ status: 201, data: { locale: 'de' } })
  expect(await listed()).toEqual([
    ['en', true],
    ['de', false],
  ])
  const { data } = await send('POST', '/api/notes', { name: 'stone', rank: 4 })
  expect(await send('PUT', `/api/notes/${data.documentId}?locale=de`, { name: 'Stein' })).toMatchObject({
    status: 200,
    data: { documentId: data.documentId, locale: 'de', name: 'Stein', rank: 4 },
  })
  expect(locales('list').out.split('\n').slice(1)).toEqual([
    expect.stringMatching(/^en +English \(en\) +1 +default$/),
    expect.stringMatching(/^de +German \(de\) +2$/),
  ])
})

test("its row is as Strapi's are", async () => {
  expect(locales('add', 'en-GB', '--name', 'British').out).toBe('Added locale en-GB: British.')
  expect(locales('add', 'sr-Cyrl-BA').out).toContain('Serbian (Cyrillic, Bosnia & Herzegovina) (sr-Cyrl-BA)')
  const [first, added] = await served.sql("select * from i18n_locale where code in ('en', 'en-GB') order by id")
  expect(Object.entries(added!).map(([column, value]) => [column, typeof value])).toEqual(
    Object.entries(first!).map(([column, value]) => [column, typeof value]),
  )
  expect(added).toMatchObject({ name: 'British', code: 'en-GB', document_id: expect.stringMatching(/^[a-z0-9]{24}$/), locale: null })
  expect([added!.updated_at, added!.published_at]).toEqual([added!.created_at, added!.created_at])
})

test('the default locale changes for the next request', async () => {
  expect(locales('default', 'de')).toEqual({ status: 0, out: 'The default locale is now de.', error: '' })
  expect((await listed()).filter(([, isDefault]) => isDefault)).toEqual([['de', true]])
  expect((await send('POST', '/api/notes', { name: 'Kiesel' })).data).toMatchObject({ locale: 'de' })
  expect((await send('GET', '/api/notes')).data.map(({ locale }: { locale: string }) => locale)).toEqual(['de', 'de', 'de'])
  const stored = await served.sql('select value, type from strapi_core_store_settings where "key" = \'plugin_i18n_default_locale\'')
  expect(stored).toEqual([{ value: '"de"', type: 'string' }])
  expect(locales('default', 'en').status).toBe(0)
})

test('a locale is removed once no document has it, and is unknown then', async () => {
  expect(locales('remove', 'de')).toEqual({
    status: 1,
    out: '',
    error: 'octavo: 3 documents use the locale "de". Delete those versions first (DELETE …?locale=de).',
  })
  for (const { documentId } of (await send('GET', '/api/notes?locale=de')).data)
    expect((await send('DELETE', `/api/notes/${documentId}?locale=de`)).status).toBe(204)
  expect(locales('remove', 'de')).toEqual({ status: 0, out: 'Removed locale de.', error: '' })
  expect((await listed()).map(([code]) => code)).not.toContain('de')
  expect((await send('POST', '/api/notes?locale=de', { name: 'Stein' })).status).toBe(400)
})

test('errors are one sentence, with status 1', async () => {
  const before = await listed()
  for (const given of [
    ['add', 'en'],
    ['add', 'EN'],
    ['add', ''],
    ['add', 'de_DE'],
    ['add', 'de-'],
    ['add', "de'; drop table notes"],
    ['add', 'a'.repeat(36)],
    ['add', 'fr', '--name', ' '],
    ['add', 'fr', '--name', 'n'.repeat(51)],
    ['remove', 'en'],
    ['remove', 'xx'],
    ['default', 'xx'],
  ]) {
    const { status, out, error } = locales(...given)
    expect([given, status, out, error.split('\n').length]).toEqual([given, 1, '', 1])
    expect(error).toMatch(/^octavo: .+\.$/)
  }
  expect(locales('default', 'xx').error).toBe('octavo: There is no locale "xx". Existing locales: en, en-GB, sr-Cyrl-BA.')
  expect(await listed()).toEqual(before)
})

test('octavo events says on standard error that nothing is recorded', () => {
  expect(octavo('events', served.folder)).toEqual({
    status: 0,
    out: '',
    error: 'octavo: events are not recorded. Set events.outbox to true in octavo.config to record them.',
  })
})

test('--help names the default command', () => {
  expect(octavo('--help').out).toMatch(/start .+default\s+command/)
})

test('the start page of a project that shows nothing names a command that does', async () => {
  const files = { ...secrets, ...contentType('pebble', { name: { type: 'string' } }) }
  // In production the page names no type that is closed.
  const closed = await serveProject(files, { environment: { NODE_ENV: 'development' } })
  const page = await closed.request('/')
  const [, command] = /data-copy="npx octavo (roles grant [^"]+)"/.exec(page.text) ?? []
  expect(command).toBe(`roles grant public api::pebble.pebble.find,api::pebble.pebble.findOne ${closed.folder}`)
  expect(octavo(...command!.split(' ')).status).toBe(0)
  const answer = await closed.request('/api/pebbles')
  const open = await closed.request('/')
  await closed.close()
  expect(answer.status).toBe(200)
  expect(open.text).not.toContain('No content is public yet')
})
