// docs/spec/archives.md: exports and imports next to a service with readers and writers, and archives that are never half written.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rule } from '../support/rule.js'
import { goldenTokens, type Served, serveExisting } from '../support/serve.js'
import { until } from '../support/until.js'
import { begin, emptyFolder, exported, golden, type Project, removeAll, run } from './projects.js'

const { full, bob } = goldenTokens()
const json = { 'content-type': 'application/json' }

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

const post = (path: string, data: object) =>
  served.request(path, { method: 'POST', token: full!, headers: json, body: JSON.stringify({ data }) })

rule('archives.2', 'an export is a snapshot of the rows and files at its start', async () => {
  const base = join(emptyFolder(), 'archive')
  const { child, ended } = begin(['export', project.folder, '-f', base, '--format', 'dir'])
  const staging = join(project.folder, 'uploads', '.octavo')
  const kept = () => readdirSync(staging).flatMap((folder) => readdirSync(join(staging, folder)).filter((name) => name.endsWith('.kept')))
  // The files are linked right after the snapshot of the rows.
  await until('the content is exported', () => kept().length === 29 || child.exitCode !== null)
  child.kill('SIGSTOP')
  expect((await post('/api/cities', { name: 'Behind the snapshot' })).status).toBe(201)
  const [file] = (await served.request('/api/upload/files', { token: full! })).body as {
    id: number
    url: string
    hash: string
    ext: string
  }[]
  const name = `${file!.hash}${file!.ext}`
  const bytes = readFileSync(join(project.folder, 'uploads', name))
  expect((await served.request(`/api/upload/files/${file!.id}`, { method: 'DELETE', token: full! })).status).toBe(200)
  expect(existsSync(join(project.folder, 'uploads', name))).toBe(false)
  child.kill('SIGCONT')
  expect(await ended).toMatchObject({ status: 0 })
  expect(readFileSync(join(base, 'entities', 'entities_00001.jsonl'), 'utf8')).not.toContain('Behind the snapshot')
  expect(readFileSync(join(base, 'assets', 'uploads', name)).equals(bytes)).toBe(true)
  expect(kept()).toEqual([])
})

test('archives.2: an export while documents are written has no relation without its ends', async () => {
  let isOver = false
  const writing = (async () => {
    for (let number = 0; !isOver; number++) {
      const tag = (await post('/api/tags', { name: `Written ${number} ${Date.now()}` })).body.data.documentId
      await post('/api/articles', { title: `Written beside ${number}`, tags: [tag], seo: { metaTitle: 'seo' } })
    }
  })()
  const base = await exported(project, '--format', 'dir').finally(() => {
    isOver = true
  })
  await writing
  const lines = (kind: string) => readFileSync(join(base, kind, `${kind}_00001.jsonl`), 'utf8').split('\n')
  const entities = lines('entities').map((line) => JSON.parse(line) as { type: string; id: number; data: { title?: string } })
  const rows = new Set(entities.map(({ type, id }) => `${type} ${id}`))
  const links = lines('links').map(
    (line) => JSON.parse(line) as { left: { type: string; ref: unknown; field: string }; right: { type: string; ref: unknown } },
  )
  const dangling = links
    .filter(({ left }) => left.field !== 'localizations')
    .filter(({ left, right }) => [left, right].some(({ type, ref }) => type.includes('::') && !rows.has(`${type} ${ref}`)))
  expect(dangling).toEqual([])
  // Each written article has its tag.
  const written = entities.filter(({ type, data }) => type === 'api::article.article' && data.title?.startsWith('Written beside') === true)
  const tagged = new Set(
    links.filter(({ left }) => left.type === 'api::article.article' && left.field === 'tags').map(({ left }) => left.ref),
  )
  expect(written.filter(({ id }) => !tagged.has(id))).toEqual([])
})

rule('archives.3', 'an export that ends early leaves nothing, and replaces nothing', async () => {
  const folder = emptyFolder()
  const base = join(folder, 'archive')
  expect(await run(['export', project.folder, '-f', base, '--no-encrypt'])).toMatchObject({ status: 0 })
  const before = readFileSync(`${base}.tar.gz`)
  expect((await run(['export', project.folder, '-f', base, '--no-encrypt'])).err).toMatch(/^octavo: \S+archive\.tar\.gz exists\. /)

  const { child, ended } = begin(['export', project.folder, '-f', base, '--no-encrypt', '--overwrite'])
  await until('the export has begun', () => readdirSync(folder).length === 2 || child.exitCode !== null)
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ status: 143, err: 'octavo: interrupted\n' })
  expect(readdirSync(folder)).toEqual(['archive.tar.gz'])
  expect(readFileSync(`${base}.tar.gz`).equals(before)).toBe(true)
})

rule('archives.13', 'a service answers from the new content with the next request after the commit', async () => {
  const other = await golden()
  const names = async () =>
    (await served.request('/api/suppliers?sort=name', { token: full! })).body.data.map((each: { name: string }) => each.name)
  // Another permission, another default locale, other documents.
  expect((await run(['roles', 'grant', 'public', 'api::supplier.supplier.find', project.folder])).status).toBe(0)
  expect((await run(['locales', 'default', 'de', other.folder])).status).toBe(0)
  const elsewhere = await serveExisting({ folder: other.folder })
  const { body } = await elsewhere.request('/api/suppliers', {
    ...{ method: 'POST', token: full!, headers: json },
    body: JSON.stringify({ data: { name: 'Another supplier' } }),
  })
  expect(body.data.name).toBe('Another supplier')
  const wanted = (await elsewhere.request('/api/suppliers?sort=name', { token: full! })).body
  await elsewhere.close()
  const archive = await exported(other)

  const before = await names()
  expect((await served.request('/api/suppliers')).status).toBe(200)
  const answers = new Set<string>()
  let isOver = false
  const reading = (async () => {
    while (!isOver) answers.add(JSON.stringify(await names()))
  })()
  expect(await run(['import', project.folder, '-f', archive, '--force'])).toMatchObject({ status: 0 })
  isOver = true
  await reading
  const after = await served.request('/api/suppliers?sort=name', { token: full! })
  expect(after.body).toEqual(wanted)
  // Each response was whole.
  const now = after.body.data.map((each: { name: string }) => each.name)
  expect([...answers].filter((each) => ![before, now].some((state) => JSON.stringify(state) === each))).toEqual([])
  // Permissions, the default locale and users are the new ones; the token of an administrator stays.
  expect((await served.request('/api/suppliers')).status).toBe(403)
  const [article] = (await served.request('/api/articles?pagination[pageSize]=1', { token: full! })).body.data
  expect(article.locale).toBe('de')
  expect((await served.request('/api/users/me', { token: bob! })).status).toBe(200)
  expect((await post('/api/suppliers', { name: 'Written afterwards' })).status).toBe(201)
})

test('archives.3: only an archive is replaced', async () => {
  const base = join(emptyFolder(), 'archive')
  const settings = (...options: readonly string[]) =>
    run(['export', project.folder, '-f', base, '--format', 'dir', '--only', 'config', ...options])
  mkdirSync(base)
  writeFileSync(join(base, 'mine.txt'), 'not of an archive')
  expect((await settings()).err).toMatch(/exists\. Choose another name/)
  expect((await settings('--overwrite')).err).toMatch(/is not an archive, and is not replaced/)
  expect(readdirSync(base)).toEqual(['mine.txt'])
  rmSync(join(base, 'mine.txt'))
  expect(await settings('--overwrite')).toMatchObject({ status: 0 })
  expect(await settings('--overwrite')).toMatchObject({ status: 0 })
  expect(readdirSync(base).sort()).toEqual(['configuration', 'metadata.json', 'octavo.json', 'schemas'])
})
