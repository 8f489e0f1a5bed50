// The checks of `octavo doctor` over HTTP: the same findings, during requests, one at a time and for a limited time.
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { allowAdmins } from '../support/administration.js'
import { rule } from '../support/rule.js'
import type { Served } from '../support/serve.js'
import { patience } from '../support/until.js'
import { type AdminClient, newsroomRoles, serveNewsroom, signInClient, story } from './newsroom.js'

let served: Served
let ada: AdminClient
beforeAll(async () => {
  served = await serveNewsroom()
  ada = await signInClient(served, 'ada@office.example')
})
afterAll(() => served?.close())

/** Output of the command. */
async function command(): Promise<unknown> {
  const main = join(import.meta.dirname, '..', '..', 'dist', 'main.js')
  const env = { ...process.env, ...served.sameDatabase, UPLOADS_DIR: 'uploads' }
  const { stdout } = await promisify(execFile)(process.execPath, [main, 'doctor', served.folder, '--json'], { env }).catch(
    (error: { readonly stdout: string }) => error,
  )
  return JSON.parse(stdout)
}

const checkNamed = (body: { readonly data: { readonly checks: readonly { readonly name: string }[] } }, name: string) =>
  body.data.checks.find((check) => check.name === name)

rule('administration-doctor.1', 'the findings are those of the command', async () => {
  await served.sql('UPDATE admin_roles SET document_id = code WHERE document_id IS NULL')
  const sound = await ada.get('/doctor')
  expect([sound.status, sound.body.data.sound]).toEqual([200, true])
  expect(sound.body.data).toEqual(await command())
  const { body } = await ada.send('POST', `/content/${story}`, { data: { title: 'Twice' } })
  const id: string = body.data.documentId
  await served.sql(
    'INSERT INTO stories (document_id, locale, title) SELECT document_id, locale, title FROM stories WHERE document_id = ? RETURNING id',
    id,
  )
  const file = [
    'INSERT INTO files (name, url, provider, hash, mime) VALUES (?, ?, ?, ?, ?) RETURNING id',
    'lost.jpg',
    '/uploads/lost.jpg',
    'local',
    'lost',
    'image/jpeg',
  ] as const
  await served.sql(...file)
  const found = await ada.get('/doctor')
  expect([found.status, found.body.data.sound]).toEqual([200, false])
  expect(found.body.data).toEqual(await command())
  expect(checkNamed(found.body, 'a document has at most one draft and one published row per locale')).toMatchObject({
    ...{ verdict: 'wrong', count: 1, remedy: expect.any(String) },
    examples: [expect.stringContaining(id)],
  })
  expect(checkNamed(found.body, 'every local file is in the uploads folder')).toMatchObject({
    examples: [expect.stringContaining('lost.jpg')],
  })
})

rule('administration-doctor.2', 'the checks are for super administrators, as findings name what other rights do not show', async () => {
  for (const code of [...Object.keys(newsroomRoles), 'settings']) {
    if (code === 'settings') await allowAdmins(served, code, 'admin::project-settings.read', 'plugin::upload.read')
    const client = await signInClient(served, `${code}@doctor.example`, [code])
    expect([code, (await client.get('/doctor')).status]).toEqual([code, 403])
  }
  expect((await served.request('/admin/api/doctor')).status).toBe(401)
})

const examination = join(import.meta.dirname, '..', '..', 'dist', 'doctor-process.js')
/** The processes of examinations that go on. */
const examinations = () =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(examination)
    } catch {
      return false
    }
  })

rule('administration-doctor.3', 'one process checks for all concurrent requests, and other requests do not wait for it', async () => {
  const answers = Promise.all([ada.get('/doctor'), ada.get('/doctor'), ada.get('/doctor')])
  await expect.poll(() => examinations().length, patience).toBe(1)
  const other = await ada.get(`/content/${story}?limit=1`)
  expect(other.status).toBe(200)
  expect(examinations()).toHaveLength(1)
  const [one, two, three] = await answers
  expect([two!.body, three!.body]).toEqual([one!.body, one!.body])
  await expect.poll(() => examinations(), patience).toEqual([])
})

rule('administration-doctor.4', 'checks that take too long are 503, and their process ends', async () => {
  const hasty = await serveNewsroom({ config: { limits: { routeTimeout: 1 } } })
  try {
    const client = await signInClient(hasty, 'hasty@office.example')
    expect((await client.get('/doctor')).status, 'a routeTimeout for short routes').toBe(200)
    // The next process waits for ever before it begins.
    vi.stubEnv('NODE_OPTIONS', '--import=data:text/javascript,Atomics.wait(new(Int32Array)(new(SharedArrayBuffer)(4)),0,0)')
    const late = await client.get('/doctor')
    expect([late.status, late.body.error.message]).toEqual([503, expect.stringContaining('limits.routeTimeout, at least 30000')])
    await expect.poll(() => examinations(), patience).toEqual([])
  } finally {
    vi.unstubAllEnvs()
    await hasty.close()
  }
})

rule('administration-doctor.4', 'a service that stops ends its checks', async () => {
  const short = await serveNewsroom()
  const client = await signInClient(short, 'short@office.example')
  const asked = client.get('/doctor')
  await expect.poll(() => examinations().length, patience).toBe(1)
  const closed = short.close()
  expect((await asked).status).toBe(503)
  expect(examinations()).toEqual([])
  await closed
})
