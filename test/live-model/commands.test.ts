// Changes of the schema files: what a start does with them, and `octavo model`.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect } from 'vitest'
import { addToken, secrets } from '../spec/callers.js'
import { isOnMysql } from '../support/databases.js'
import { rule } from '../support/rule.js'
import { type Served, serveExisting, serveProject } from '../support/serve.js'

const main = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'dist', 'main.js')
const file = 'src/api/note/content-types/note/schema.json'
const token = 'may-do-everything'

const note = (attributes: object, draftAndPublish = false) => ({
  kind: 'collectionType',
  collectionName: 'notes',
  info: { singularName: 'note', pluralName: 'notes', displayName: 'note' },
  options: { draftAndPublish },
  attributes,
})
const text = { type: 'string' }

let served: Served
let running: Served | null = null
beforeAll(async () => {
  served = await serveProject({ [file]: note({ title: text, size: text }) }, { environment: secrets })
  await addToken(served, token, { type: 'full-access' })
  for (const size of ['1', 'wide']) await write({ title: `size ${size}`, size })
})
afterAll(async () => {
  await running?.close()
  await served.close()
})

const write = (data: object) =>
  served.request('/api/notes', { method: 'POST', token, body: JSON.stringify({ data }), headers: { 'content-type': 'application/json' } })

const save = (schema: object) => writeFileSync(join(served.folder, file), JSON.stringify(schema))

function octavo(...given: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'model', ...given], {
    encoding: 'utf8',
    env: { ...process.env, ...secrets, ...served.sameDatabase },
  })
  return { status, out: stdout.trim(), error: stderr.trim() }
}

/** Starts another service on the project as its files are now, and reads. */
async function afterStart(query = ''): Promise<readonly object[]> {
  running = await serveExisting(served, secrets)
  try {
    const answer = await running.request(`/api/notes?sort=id${query}`, { token })
    expect(answer.status, answer.text).toBe(200)
    return answer.body.data
  } finally {
    await running.close()
    running = null
  }
}

rule('live-model.15', 'a start applies additions and changes that hide nothing', async () => {
  save(note({ title: text, size: text, more: { type: 'integer' } }))
  expect(await afterStart()).toMatchObject([{ title: 'size 1', more: null }, { size: 'wide' }])
  save(note({ title: text, size: text }, true))
  expect(await afterStart('&status=draft')).toMatchObject([{ title: 'size 1' }, { size: 'wide' }])
  expect(JSON.parse(octavo('history', served.folder, '--json').out).at(-1)).toMatchObject({ summary: `files: ${file}`, undoes: 0 })
  save(note({ title: text, size: text }))
  expect(await afterStart()).toHaveLength(2)
})

rule('live-model.15', 'a start that would hide content fails, and changes nothing', async () => {
  save(note({ title: text }))
  await expect(serveExisting(served, secrets)).rejects.toThrow(
    'content would no longer be shown: api::note.note.size (2). Nothing was changed.',
  )
  save(note({ title: text, size: { type: 'integer' } }))
  await expect(serveExisting(served, secrets)).rejects.toThrow('api::note.note.size (1)')
  save(note({ title: text, size: text }))
  expect(await afterStart()).toMatchObject([{ size: '1' }, { size: 'wide' }])
})

rule('live-model.16', 'a change of the files is planned, made, listed and undone by commands', async () => {
  expect(octavo('plan', served.folder)).toMatchObject({ status: 0, out: 'The database has the model of the schema files.' })
  const former = readFileSync(join(served.folder, file), 'utf8')
  save(note({ title: text, size: { type: 'integer' } }))
  const planned = octavo('plan', served.folder)
  expect(planned.status, planned.error).toBe(0)
  expect(planned.out).toContain('api::note.note.size: 1.')
  expect(planned.out).toMatch(/convertColumn \(losesData, \d+ rows?\)\n {4}alter table "notes" rename column "size"/)
  expect(JSON.parse(octavo('plan', served.folder, '--json').out).losses).toMatchObject([{ name: 'api::note.note.size', count: 1 }])
  const refused = octavo('apply', served.folder)
  expect(refused.status).toBe(1)
  expect(refused.error).toContain('--agree api::note.note.size')
  const applied = octavo('apply', served.folder, '--agree', 'api::note.note.size')
  expect(applied.status, applied.error).toBe(0)
  expect(applied.out).toMatch(/^Change \d+ was made\.$/)
  expect(await afterStart()).toMatchObject([{ size: 1 }, { size: null }])
  expect(octavo('undo', served.folder)).toMatchObject({ status: 0 })
  expect(readFileSync(join(served.folder, file), 'utf8')).toBe(former)
  expect(await afterStart()).toMatchObject([{ size: '1' }, { size: 'wide' }])
  expect(octavo('history', served.folder).out).toContain('undone')
})

rule('live-model.16', 'a declared rename keeps the content', async () => {
  save(note({ title: text, width: text }))
  expect(octavo('apply', served.folder, '--rename', 'api::note.note.size').error).toContain('expected api::note.note.body=text')
  const applied = octavo('apply', served.folder, '--rename', 'api::note.note.size=width')
  expect(applied.status, applied.error).toBe(0)
  expect(await afterStart('&filters[width]=wide')).toMatchObject([{ title: 'size wide', width: 'wide' }])
})

rule('live-model.15', 'changes that Strapi has applied to files and database are not applied again', async () => {
  save(note({ title: text, colour: text }))
  await served.sql('alter table notes drop column width')
  await served.sql('alter table notes add column colour varchar(255)')
  expect(await afterStart()).toMatchObject([{ title: 'size 1', colour: null }, { title: 'size wide' }])
  expect(octavo('plan', served.folder).out).toBe('The database has the model of the schema files.')
})

rule(
  'live-model.15',
  'a process on another folder that was not there for a change gets its files, where production may change the model',
  async () => {
    const first = await serveProject(
      { [file]: note({ title: text, size: text }) },
      { environment: secrets, config: { admin: { model: 'always' } } },
    )
    const other = mkdtempSync(join(tmpdir(), 'octavo-behind-'))
    try {
      await addToken(first, token, { type: 'full-access' })
      cpSync(first.folder, other, { recursive: true, filter: (path) => !path.includes('.tmp') })
      const change = (data: object) =>
        first.request('/api/content-type-builder/schemas', {
          method: 'PUT',
          token,
          body: JSON.stringify({ data }),
          headers: { 'content-type': 'application/json' },
        })
      const page = {
        ...note({ title: text }),
        collectionName: 'pages',
        info: { singularName: 'page', pluralName: 'pages', displayName: 'page' },
      }
      for (const data of [
        { 'api::note.note': note({ title: text, size: text, more: text }) },
        { 'api::note.note': note({ title: text, more: text }), 'api::page.page': page },
      ]) {
        const made = await change(data)
        expect(made.status, made.text).toBe(200)
      }
      const late = await serveExisting({ folder: other }, { ...secrets, ...first.sameDatabase })
      try {
        expect((await late.request('/api/pages', { token })).status).toBe(200)
        const answer = await late.request('/api/notes?fields=more,size', { token })
        expect([answer.status, answer.body.error?.details.key]).toEqual([400, 'size'])
        for (const path of [file, 'src/api/page/content-types/page/schema.json', 'src/api/page/controllers/page.js'])
          expect(readFileSync(join(other, path), 'utf8')).toBe(readFileSync(join(first.folder, path), 'utf8'))
        expect((await first.request('/api/pages', { token })).status).toBe(200)
      } finally {
        await late.close()
      }
    } finally {
      rmSync(other, { recursive: true, force: true })
      await first.close()
    }
  },
)

/** Notes a change with a possible first step and an impossible second one, as left by a process that ends at once. */
async function leaveUnfinished(): Promise<void> {
  const steps = [
    { kind: 'renameColumn', table: 'notes', column: 'title', to: 'heading', risk: 'safe' },
    { kind: 'renameTable', table: 'notes', to: 'files', risk: 'safe' },
  ]
  await served.sql(`insert into octavo_model_history
      (follows, version, summary, files, former, renames, kept, narrowed, undoes, moves, steps, done, is_made, made_at, is_filed)
    values (1000, 'none', 'what cannot be done', '{}', '{}', '[]', '[]', '[]', 0, 1, '${JSON.stringify(steps)}', 0, 0, 0, 0)`)
}

const doctor = () =>
  spawnSync(process.execPath, [main, 'doctor', served.folder], {
    encoding: 'utf8',
    env: { ...process.env, ...secrets, ...served.sameDatabase },
  })

if (isOnMysql) {
  rule(
    'live-model.16',
    'a change that is not finished is shown with the step that fails, and is finished once its cause is removed',
    async () => {
      const before = await afterStart()
      await leaveUnfinished()
      expect(octavo('history', served.folder).out).toMatch(/what cannot be done +not finished: 0 of 2 steps are done/)
      const planned = octavo('plan', served.folder)
      expect([planned.status, planned.error]).toEqual([1, expect.stringContaining('is not finished: what cannot be done')])
      const examined = doctor()
      expect(examined.status, examined.stdout).toBe(1)
      expect(examined.stdout).toContain('no change of the model is unfinished')
      const failing = /1 of 2 steps are done, and step 2 \(renameTable of notes\) fails: .*files.* already exists/
      const applied = octavo('apply', served.folder)
      expect([applied.status, applied.error]).toEqual([1, expect.stringMatching(failing)])
      expect(octavo('history', served.folder).out).toContain('not finished: 1 of 2 steps are done')
      await expect(serveExisting(served, secrets)).rejects.toThrow(failing)
      // Nothing is lost: the column has its new name, and the rows are there.
      expect(await served.sql('select count(*) as count from notes where heading is not null')).toEqual([{ count: 2 }])
      const feasible = [{}, { kind: 'renameColumn', table: 'notes', column: 'heading', to: 'title', risk: 'safe' }]
      await served.sql('update octavo_model_history set steps = ? where is_made = 0', JSON.stringify(feasible))
      const finished = octavo('apply', served.folder)
      expect(finished.status, finished.error).toBe(0)
      expect(await afterStart()).toEqual(before)
      expect(await served.sql('select id from octavo_model_history where is_made <> 1')).toEqual([])
    },
  )
}
