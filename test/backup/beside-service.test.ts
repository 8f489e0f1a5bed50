// docs/spec/backups.md: backups of a running service with writers, restored elsewhere (R62).
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { begin, emptyFolder, fresh, golden, type Project, removeAll, run } from '../archive/projects.js'
import { rule } from '../support/rule.js'
import { goldenTokens, type Served, serveExisting } from '../support/serve.js'
import { runStatement } from '../support/statements.js'
import { expectSound } from './backed-up.js'

const token = goldenTokens().full!

let project: Project
let served: Served
beforeAll(async () => {
  project = await golden()
  served = await serveExisting({ folder: project.folder })
})
afterAll(async () => {
  await served.close()
  await removeAll()
})

function upload(text: string, name: string, query = '') {
  const form = new FormData()
  form.append('files', new Blob([text], { type: 'text/plain' }), name)
  return served.request(`/api/upload${query}`, { method: 'POST', token, body: form as never })
}

const nameOf = (number: number): string => `Number ${String(number).padStart(6, '0')}`

/** Writers and uploaders until `isOver` says so. */
function work(isOver: () => boolean) {
  const counts = { begun: 0, acknowledged: 0, uploads: 0, replacements: 0, deleted: 0 }
  const write = async (): Promise<void> => {
    while (!isOver()) {
      const number = ++counts.begun
      const name = nameOf(number)
      await served.service.transaction((write) => {
        write('api::city.city').create({ data: { name } })
        write('api::tag.tag').create({ data: { name } })
      })
      counts.acknowledged = number
    }
  }
  const send = async (): Promise<void> => {
    while (!isOver()) {
      const { status, body } = await upload(`upload ${counts.uploads++}`, 'sent.txt')
      expect(status).toBe(201)
      if (counts.uploads % 3 !== 0) continue
      expect((await served.request(`/api/upload/files/${body[0].id}`, { method: 'DELETE', token })).status).toBe(200)
      counts.deleted++
    }
  }
  // Each content has another length, which its row has as kilobytes with two decimals.
  const replace = async (): Promise<void> => {
    const [{ id }] = (await upload('x'.repeat(100), 'replaced.txt')).body
    while (!isOver()) expect((await upload('x'.repeat(100 + 10 * ++counts.replacements), 'replaced.txt', `?id=${id}`)).status).toBe(200)
  }
  return { counts, ended: Promise.all([write(), send(), send(), send(), send(), replace()]) }
}

rule('backups.2', 'a backup during writes and uploads is a consistent snapshot, from which another service continues', async () => {
  let isOver = false
  const { counts, ended } = work(() => isOver)
  while (counts.acknowledged < 20 || counts.replacements < 3) await new Promise((resolve) => setTimeout(resolve, 5))
  const path = join(emptyFolder(), 'backup')
  const before = counts.acknowledged
  const made = await run(['backup', project.folder, '--to', path, '--json'])
  const after = counts.begun
  isOver = true
  await ended
  expect(JSON.parse(made.out)).toMatchObject({ missing: [], doctor: { sound: true } })
  expect(made).toMatchObject({ status: 0, err: '' })
  expect(after).toBeGreaterThan(before)
  expect(counts.uploads + counts.replacements).toBeGreaterThan(10)

  const elsewhere = await fresh()
  expect(await run(['restore', path, elsewhere.folder])).toMatchObject({ status: 0, err: '' })
  await expectSound(elsewhere)
  const names = async (table: string) =>
    (await runStatement(elsewhere.database, `select distinct name from ${table} where name like 'Number %' order by name`)).map(
      ({ name }) => name,
    )
  const cities = await names('cities')
  expect(await names('tags')).toEqual(cities)
  expect(cities).toEqual(Array.from({ length: cities.length }, (_, index) => nameOf(index + 1)))
  expect(cities.length).toBeGreaterThanOrEqual(before)
  expect(cities.length).toBeLessThanOrEqual(after)
  // The bytes of each file are those of its row.
  const uncertain = JSON.parse(made.out).uncertain as readonly string[]
  const texts = await runStatement(elsewhere.database, "select hash, ext, size from files where name = 'replaced.txt'")
  for (const { hash, ext, size } of texts) {
    const name = `${hash}${ext}`
    if (!uncertain.includes(name)) expect(readFileSync(join(elsewhere.folder, 'uploads', name)).length / 1000).toBeCloseTo(Number(size), 2)
  }

  const other = await serveExisting({ folder: elsewhere.folder })
  try {
    const { status, body } = await other.request('/api/cities?pagination[pageSize]=1&filters[name][$startsWith]=Number', { token })
    expect([status, body.meta.pagination.total]).toEqual([200, cities.length])
    const posted = await other.request('/api/cities', {
      ...{ method: 'POST', token, headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ data: { name: 'Written elsewhere' } }),
    })
    expect(posted.status).toBe(201)
  } finally {
    await other.close()
  }
})

rule('backups.3', 'a file that is replaced or deleted after the snapshot is in the backup as it was', async () => {
  const [replaced] = (await upload('the old text', 'kept.txt')).body
  const [deleted] = (await upload('soon gone', 'gone.txt')).body
  const path = join(emptyFolder(), 'backup')
  const { child, ended } = begin(['backup', project.folder, '--to', path])
  const parent = join(path, '..')
  // The database is copied once the snapshot and the hard links of files are there.
  const isCopying = () => readdirSync(parent).some((name) => existsSync(join(parent, name, 'database.db')))
  while (!isCopying()) {
    expect(child.exitCode).toBe(null)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  child.kill('SIGSTOP')
  expect((await upload('the new text, which is longer', 'kept.txt', `?id=${replaced.id}`)).status).toBe(200)
  expect((await served.request(`/api/upload/files/${deleted.id}`, { method: 'DELETE', token })).status).toBe(200)
  child.kill('SIGCONT')
  expect(await ended).toMatchObject({ status: 0 })
  const textIn = ({ hash, ext }: { hash: string; ext: string }) => readFileSync(join(path, 'uploads', `${hash}${ext}`), 'utf8')
  expect([textIn(replaced), textIn(deleted)]).toEqual(['the old text', 'soon gone'])
  // Nothing is left of the links.
  const left = readdirSync(join(project.folder, 'uploads', '.octavo'), { recursive: true, encoding: 'utf8' })
  expect(left.filter((name) => name.endsWith('.kept'))).toEqual([])
})

rule('backups.1', 'the schemas are those of the model that the database has, not those of files that were changed since', async () => {
  const schema = 'src/api/city/content-types/city/schema.json'
  const file = join(project.folder, schema)
  const before = readFileSync(file, 'utf8')
  const { attributes, ...rest } = JSON.parse(before)
  writeFileSync(file, JSON.stringify({ ...rest, attributes: { ...attributes, later: { type: 'string' } } }))
  const path = join(emptyFolder(), 'backup')
  expect(await run(['backup', project.folder, '--to', path])).toMatchObject({ status: 0, err: '' })
  writeFileSync(file, before)
  expect(readFileSync(join(path, 'project', schema), 'utf8')).toBe(before)
})

rule('backups.8', 'a restore over a project that is served is refused', async () => {
  const path = join(emptyFolder(), 'backup')
  expect(await run(['backup', project.folder, '--to', path])).toMatchObject({ status: 0 })
  const { status, err } = await run(['restore', path, project.folder, '--replace'])
  expect([status, err]).toEqual([1, 'octavo: Octavo is running on this project; stop it first. Nothing was changed\n'])
})
