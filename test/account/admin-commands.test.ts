// `octavo admins` next to a service, which follows at the next request.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect } from 'vitest'
import { requestAdmin, rowsOf } from '../support/administration.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { serveAccounts } from './golden.js'

const main = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'dist', 'main.js')
let served: Served
beforeAll(async () => {
  served = await serveAccounts({ config: { limits: { authRateLimit: 0 } } })
})
afterAll(() => served.close())

function admins(...given: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'admins', ...given], {
    encoding: 'utf8',
    env: { ...process.env, ...served.sameDatabase },
  })
  return { status, out: stdout.trim(), error: stderr.trim() }
}

const signIn = async (email: string, password: string) => requestAdmin(served, '/session', { method: 'POST', body: { email, password } })

rule('administration.12', 'administrators of a Strapi project are created, listed, blocked and get passwords', async () => {
  const made = admins('create', served.folder, '--email', 'Ada@Admins.example', '--firstname', 'Ada')
  expect(made.status, made.error).toBe(0)
  const password = /Password: (.+)$/.exec(made.out)![1]!
  const first = await signIn('ada@admins.example', password)
  expect(first.status, first.text).toBe(200)
  expect(admins('create', served.folder, '--email', 'ada@admins.example')).toMatchObject({
    status: 1,
    error: 'octavo: This email address is already taken',
  })
  const ed = ['create', served.folder, '--email', 'ed@admins.example', '--role', 'strapi-editor,strapi-author']
  expect(admins(...ed, '--password', 'weak').error).toBe('octavo: The password must have at least 8 characters.')
  expect(admins(...ed.with(-1, 'nobody'), '--password', 'Good-Enough-1').error).toContain('There is no role of administrators')
  expect(admins(...ed, '--password', 'Good-Enough-1').out).toBe('Created administrator "ed@admins.example".')
  const listed = JSON.parse(admins('list', served.folder, '--json').out)
  expect(listed).toMatchObject([
    { email: 'ada@admins.example', firstname: 'Ada', isActive: true, isBlocked: false, roles: ['strapi-super-admin'] },
    { email: 'ed@admins.example', roles: ['strapi-editor', 'strapi-author'] },
  ])
  expect(admins('list', served.folder).out).toMatch(/ada@admins.example +Ada +strapi-super-admin +active/)

  const all = (token: string) => requestAdmin(served, '/session/all', { token })
  const set = admins('reset-password', 'ada@admins.example', served.folder, '--password', 'Other-Horse-2')
  expect(set.out).toBe('Set the password of "ada@admins.example".')
  expect((await all(first.body.data.accessToken)).status).toBe(401)
  expect((await signIn('ada@admins.example', 'Other-Horse-2')).status).toBe(200)
  const editor = await signIn('ed@admins.example', 'Good-Enough-1')
  expect(admins('block', 'ed@admins.example', served.folder)).toMatchObject({ status: 0 })
  expect((await all(editor.body.data.accessToken)).status).toBe(401)
  expect(admins('unblock', String(listed[1].id), served.folder)).toMatchObject({ status: 0 })
  expect((await signIn('ed@admins.example', 'Good-Enough-1')).status).toBe(200)
  expect(admins('block', 'nobody@admins.example', served.folder).error).toBe('octavo: There is no administrator "nobody@admins.example".')
})

rule('administration.13', 'the last super administrator cannot be blocked', async () => {
  const { status, error } = admins('block', 'ada@admins.example', served.folder)
  expect([status, error]).toEqual([1, 'octavo: The last super administrator must stay, active and with this role'])
  admins('create', served.folder, '--email', 'bea@admins.example')
  expect(admins('block', 'ada@admins.example', served.folder).status).toBe(0)
  expect(admins('block', 'bea@admins.example', served.folder).status).toBe(1)
  const acts = (await rowsOf(served, 'octavo_activity')).map(({ action, name, fields }) => [action, name, fields])
  expect(acts.at(-1)).toEqual(['update', 'ada@admins.example', '["blocked"]'])
})
