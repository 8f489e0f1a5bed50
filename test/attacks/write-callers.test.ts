// Every caller tries every write with a body that could succeed (security: S032): permitted callers succeed, and others leave the
// database unchanged, to the last commit.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../support/until.js'
import type { Caller } from './fixture.js'
import { attackFixture, callers, model } from './fixture.js'
import { grantsIn, refusedCallers } from './routes.js'
import { contents } from './watch.js'

const golden = attackFixture('strapi', { config: { limits: { authRateLimit: 0 } } })

interface Attempt {
  readonly method: 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly action: string
  readonly body?: () => FormData | object
}

let made = 0
const person = () => {
  const name = `w${++made}riter`
  return { username: name, email: `${name}@example.test`, password: 'secret-1', role: 1 }
}
const file = (): FormData => {
  const form = new FormData()
  form.append('files', new Blob(['text']), 'text.txt')
  return form
}
const tree = { 'api::tag': { controllers: { tag: { find: { enabled: true } } } } }

/** Writes of every type, and of users, roles and files. */
async function attempts(): Promise<readonly Attempt[]> {
  const one = async (table: string) => (await golden.look(`select document_id from "${table}" where document_id is not null limit 1`))[0]
  const first = new Map<string, string | undefined>()
  for (const { table } of model.paths.values()) first.set(table, await one(table))
  const content = [...model.paths].flatMap(([path, { uid, singleType, table }]): readonly Attempt[] => {
    const document = singleType ? `/${path}` : `/${path}/${first.get(table) ?? 'none'}`
    const data = () => ({ data: {} })
    return [
      ...(singleType ? [] : [{ method: 'POST', path: `/${path}`, action: `${uid}.create`, body: data } as const]),
      { method: 'PUT', path: document, action: `${uid}.update`, body: data },
      ...['publish', 'unpublish', 'discard'].map(
        (act) => ({ method: 'POST', path: `${document}/actions/${act}`, action: `${uid}.${act}` }) as const,
      ),
      { method: 'DELETE', path: document, action: `${uid}.delete` },
    ]
  })
  const plugin = (name: string) => `plugin::users-permissions.${name}`
  const [user] = await golden.look("select id from up_users where username = 'erin'")
  const [picture] = await golden.look('select id from files limit 1')
  const role = () => ({ name: `Role ${++made}`, permissions: tree })
  return [
    ...content,
    { method: 'POST', path: '/users', action: plugin('user.create'), body: person },
    { method: 'PUT', path: `/users/${user}`, action: plugin('user.update'), body: () => ({ username: `erin${++made}` }) },
    { method: 'PUT', path: `/users/${user}`, action: plugin('user.update'), body: () => ({ role: 3 }) },
    { method: 'DELETE', path: `/users/${user}`, action: plugin('user.destroy') },
    { method: 'POST', path: '/users-permissions/roles', action: plugin('role.createRole'), body: role },
    { method: 'PUT', path: '/users-permissions/roles/1', action: plugin('role.updateRole'), body: role },
    { method: 'DELETE', path: '/users-permissions/roles/3', action: plugin('role.deleteRole') },
    { method: 'POST', path: '/upload', action: 'plugin::upload.content-api.upload', body: file },
    {
      method: 'POST',
      path: `/upload?id=${picture}`,
      action: 'plugin::upload.content-api.upload',
      body: () => ({ fileInfo: { caption: 'x' } }),
    },
    { method: 'DELETE', path: `/upload/files/${picture}`, action: 'plugin::upload.content-api.destroy' },
    {
      method: 'POST',
      path: '/auth/change-password',
      action: plugin('auth.changePassword'),
      body: () => ({ currentPassword: 'x', password: 'secret-2', passwordConfirmation: 'secret-2' }),
    },
  ]
}

async function send({ method, path, body }: Attempt, as: Caller): Promise<number> {
  const given = body?.()
  const isForm = given instanceof FormData
  const { status } = await golden.request(path, {
    as,
    method,
    ...(given === undefined ? {} : { body: isForm ? given : JSON.stringify(given) }),
    ...(given === undefined || isForm ? {} : { headers: { 'content-type': 'application/json' } }),
  })
  return status
}

/** Tokens note their first use. */
const usesAreNoted = async () => {
  for (const as of callers) await golden.request('/articles', { as })
  const unnoted = () =>
    golden.look("select id from strapi_api_tokens where name in ('full', 'readonly', 'custom') and last_used_at is null")
  await until('the uses are stored', async () => (await unnoted()).length === 0)
}

test('S032 refused writes of any caller change nothing', async () => {
  const may = await grantsIn(golden)
  await usesAreNoted()
  const stored = () => readdirSync(join(golden.served.folder, 'uploads'), { recursive: true }).length
  const before = stored()
  const start = await contents(golden.served)
  let refused = 0
  for (const as of callers) {
    for (const attempt of await attempts()) {
      const isOut = refusedCallers.includes(as)
      if (!isOut && may(as, attempt.action)) continue
      expect([as, attempt.method, attempt.path, await send(attempt, as)]).toEqual([as, attempt.method, attempt.path, isOut ? 401 : 403])
      refused++
    }
  }
  expect(refused).toBeGreaterThan(700)
  expect(await contents(golden.served)).toEqual(start)
  expect(stored()).toBe(before)
})

test('S032 writes that are allowed are let in', async () => {
  const may = await grantsIn(golden)
  let done = 0
  for (const as of ['alice', 'bob', 'custom', 'readonly', 'full', 'public'] as const) {
    for (const attempt of await attempts()) {
      if (!may(as, attempt.action)) continue
      const status = await send(attempt, as)
      // Empty data may not be enough for a type, and an earlier caller may have removed the document.
      expect([200, 201, 204, 400, 404], `${as}: ${attempt.method} ${attempt.path} is ${status}`).toContain(status)
      if (status < 300) done++
    }
  }
  expect(done).toBeGreaterThan(60)
})

test('S032 no route is registered past the tables', () => {
  const folder = join(import.meta.dirname, '..', '..', 'src', 'http')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const found = files.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(/\bapp\.(?:route|get|head|post|put|patch|delete|all|register)\(/g)].map(
      () => name,
    ),
  )
  const known = {
    // The page for a new password, the page after a confirmation link, their script and style: they show and change nothing.
    'pages/account-pages.ts': 3,
    // The page of administrators and its files.
    'pages/admin-page.ts': 2,
    // The page at /docs, its script and style.
    'pages/docs-page.ts': 2,
    // The first type of a blank project: in development and from this machine only.
    'pages/first-type.ts': 1,
    // The start page, its script and style, its picture.
    'pages/start-page.ts': 3,
    // The tables, and the description.
    'rest/api.ts': 2,
    // Strapi's route for changes of the model: it needs an action, and does not exist where the model is locked.
    'rest/content-type-builder.ts': 1,
    // Content (two paths) and its actions.
    'rest/content.ts': 3,
    // One row for each route of the project, whose permissions are checked as those of the tables are.
    'rest/custom-routes.ts': 1,
    'rest/event-stream.ts': 1,
    // Health and the icon.
    'rest/root.ts': 2,
    'rest/uploads.ts': 1,
    // The routes of the administration API, which its table has (test/attacks/administration).
    'server.ts': 1,
  }
  expect(found.sort()).toEqual(Object.entries(known).flatMap(([name, count]) => Array(count).fill(name)))
})
