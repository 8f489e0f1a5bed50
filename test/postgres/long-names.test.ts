// Names with letters beyond ASCII that PostgreSQL cuts off at 63 bytes (portability.6): of a table, a column, foreign keys and indexes.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import pg from 'pg'
import { afterAll, beforeAll, expect } from 'vitest'
import { changedTables, tableKey } from '../../src/database/cache/table-changes.js'
import { createDependents } from '../../src/database/server/postgres/commit-log.js'
import { loadModel } from '../../src/model/schema/load.js'
import { emptyFolder, removeAll, run } from '../archive/projects.js'
import { layoutDifferences } from '../servers/model-layout.js'
import { describePostgres, environmentOf } from '../servers/server.js'
import { access, component, contentType, plain, reading, seeded } from '../spec/library.js'
import { rule } from '../support/rule.js'
import { removeProject, type Served, serveExisting, serveProject } from '../support/serve.js'

type Files = Record<string, unknown>

/** The schema of a type or component, with another table. */
const inTable = (table: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, schema]) => [path, { ...(schema as object), collectionName: table }]))

const relation = (kind: string, target: string, more: object = {}) => ({
  ...{ type: 'relation', relation: kind, target: `api::${target}.${target}` },
  ...more,
})

/** 70 bytes: PostgreSQL cuts them to 31 letters. */
const motto = `m${'ж'.repeat(35)}`
/** 54 bytes, so that all names of its indexes and foreign keys have 63 or more, and differ before that. */
const writers = 'ж'.repeat(27)
/** 71 bytes. Tables between it and others have ASCII letters in their names, as in Strapi. */
const sails = `components_${'ä'.repeat(30)}`

const project: Files = {
  ...inTable(
    writers,
    contentType('writer', {
      name: { type: 'string' },
      [motto]: { type: 'string' },
      b: relation('manyToOne', 'note', { inversedBy: 'writers' }),
      sail: { type: 'component', component: 'parts.sail' },
    }),
  ),
  ...contentType('note', { name: { type: 'string' }, writers: relation('oneToMany', 'writer', { mappedBy: 'b' }) }),
  ...inTable(sails, component('parts', 'sail', { area: { type: 'integer' }, made: relation('oneToOne', 'note') })),
  ...seeded('note', plain({ first: {} })),
  ...seeded('writer', plain({ Ida: { [motto]: 'per aspera', b: '@note:first', sail: { area: 12, made: '@note:first' } } })),
  ...access(reading('writer', 'note')),
}

const ida = {
  ...{ name: 'Ida', [motto]: 'per aspera', b: { name: 'first' } },
  sail: { area: 12, made: { name: 'first' } },
}

describePostgres('names longer than 63 bytes', (server) => {
  let url: string
  let served: Served
  let beside: Served
  beforeAll(async () => {
    url = await server().createDatabase()
    served = await serveProject(project, { environment: environmentOf(url) })
    beside = await serveExisting(served, environmentOf(url))
  })
  afterAll(async () => {
    await beside.close()
    await served.close()
    await removeAll()
  })

  const found = async () => (await served.request('/api/writers?populate[b]=true&populate[sail][populate]=made')).body.data

  rule('portability.6', 'are there as the catalog has them, and the first content is in their columns', async () => {
    const names = await server().run(
      url,
      `select relname as name from pg_class where relname like '${'ж'.repeat(27)}%' or relname like 'components_%'
       union all select conname from pg_constraint where contype = 'f' union all select attname from pg_attribute`,
    )
    const stored = new Set(names.map(({ name }) => name))
    for (const name of [writers, `${writers}_created_`, `${writers}_b_lnk_if`, `components_${'ä'.repeat(26)}`, `m${'ж'.repeat(31)}`])
      expect([...stored], name).toContain(name)
    expect(await found()).toEqual([expect.objectContaining({ ...ida, b: expect.objectContaining(ida.b), sail: expect.anything() })])
    expect((await found())[0].sail).toMatchObject(ida.sail)
  })

  rule('portability.6', 'are no difference between the model and the database', async () => {
    expect(beside.log.join('')).not.toMatch(/added missing|not in the model/)
    const { status, out } = await run(['doctor', served.folder], environmentOf(url))
    expect([status, out]).toEqual([0, expect.not.stringMatching(/^(?:note|error)/m)])
  })

  rule('portability.6', 'are in an archive, and come back from it', async () => {
    const base = join(emptyFolder(), 'archive')
    const exported = await run(['export', served.folder, '--format', 'dir', '-f', base], environmentOf(url))
    expect(exported).toMatchObject({ status: 0, out: expect.stringMatching(/^Exported [^\n]*\n$/) })
    const entities = readFileSync(join(base, 'entities', 'entities_00001.jsonl'), 'utf8')
      .split('\n')
      .filter(Boolean)
    const writer = entities.map((line) => JSON.parse(line)).find(({ type }) => type === 'api::writer.writer')
    expect(writer.data).toMatchObject({ [motto]: 'per aspera', sail: { area: 12 } })

    await served.sql(`update "${writers}" set "${motto}" = null`)
    expect(await run(['import', served.folder, '-f', base, '--force'], environmentOf(url))).toMatchObject({ status: 0, err: '' })
    expect((await found())[0]).toMatchObject(ida)
  })

  rule('portability.6', 'are copied to SQLite and back; rows go with those that are missing, by the cascades of the target', async () => {
    const file = join(emptyFolder(), 'copy.db')
    const copy = (from: string, to: string, ...options: readonly string[]) =>
      run(['copy', served.folder, '--from', from, '--to', to, ...options], environmentOf(url))
    expect(await copy(url, file)).toMatchObject({ status: 0, out: expect.stringMatching(/^Copied [^\n]*\nNext, [^\n]*\n$/) })

    const links = `components_${'a'.repeat(30)}_made_lnk`
    const database = new Database(file)
    database.pragma('foreign_keys = off')
    const row = database.prepare(`select s."${motto}" as motto, c.area from "${writers}" s, "${sails}" c`)
    expect(row.all()).toEqual([{ motto: 'per aspera', area: 12 }])
    // A link of a deleted component.
    const columns = database.prepare('select name from pragma_table_info(?)').pluck().all(links) as string[]
    const [own, other] = columns.slice(1)
    database.prepare(`insert into "${links}" (id, "${own}", "${other}") values (99, 98, 1)`).run()
    database.close()

    const target = await server().createDatabase()
    expect(await copy(file, target)).toMatchObject({
      status: 1,
      err: expect.stringContaining(`there is no row of ${sails} with the id 98`),
    })
    expect(await copy(file, target, '--adapt')).toMatchObject({ status: 0 })
    expect(await server().run(target, `select count(*) as count from "${links}"`)).toEqual([{ count: 1 }])
    expect(await server().run(target, `select "${motto}" as motto, (select area from "${sails}") from "${writers}"`)).toEqual([
      { motto: 'per aspera', area: 12 },
    ])
  })

  rule('portability.6', 'are in a backup', async () => {
    const backup = join(emptyFolder(), 'backup')
    const made = await run(['backup', served.folder, '--to', backup], environmentOf(url))
    expect(made).toMatchObject({ status: 0, out: expect.not.stringMatching(/components_|ж/) })
    const database = new Database(join(backup, 'database.db'), { readonly: true })
    expect(database.prepare(`select s."${motto}" as motto, c.area from "${writers}" s, "${sails}" c`).all()).toEqual([
      { motto: 'per aspera', area: 12 },
    ])
    database.close()
  })

  rule('portability.6', 'do not hide from the cache what changes by a cascade', async () => {
    const client = new pg.Client(url)
    await client.connect()
    try {
      const dependents = createDependents(
        async (text, values) => (await client.query({ text, values: [...values], rowMode: 'array' })).rows,
      )
      await dependents.load()
      const [changed] = changedTables(`delete from "${sails}" where id = 1`)!
      expect(dependents.known()!.get(changed!)).toEqual([`components_${'a'.repeat(30)}_made_lnk`])
      expect(dependents.known()!.get(tableKey(writers))).toContain(`${writers}_b_lnk`)
    } finally {
      await client.end()
    }
  })

  rule('portability.6', 'are renamed, archived and restored by changes of the model', async () => {
    const place = await server().createDatabase()
    const changed = await serveProject(project, { environment: environmentOf(place) })
    try {
      await changed.service.close()
      const file = join(changed.folder, 'src/api/writer/content-types/writer/schema.json')
      const schema = JSON.parse(readFileSync(file, 'utf8'))
      const model = (...words: readonly string[]) => run(['model', ...words, changed.folder], environmentOf(place))
      const differences = async () => layoutDifferences(server(), place, await loadModel({ folder: changed.folder }))

      // Its link tables are recreated. The former ones are archived under names that would begin with the same 63 bytes otherwise.
      const table = 'ы'.repeat(27)
      writeFileSync(file, JSON.stringify({ ...schema, collectionName: table }))
      expect(await model('apply')).toMatchObject({ status: 0, err: '' })
      expect(await differences()).toEqual([])

      const { [motto]: _, ...attributes } = schema.attributes
      writeFileSync(file, JSON.stringify({ ...schema, collectionName: table, attributes }))
      expect(await model('apply', '--agree', `api::writer.writer.${motto}`)).toMatchObject({ status: 0, err: '' })
      expect(await model('undo')).toMatchObject({ status: 0, err: '' })
      expect(await differences()).toEqual([])
      expect(await server().run(place, `select "${motto}" as motto from "${table}"`)).toEqual([{ motto: 'per aspera' }])
    } finally {
      await removeProject(changed.folder)
    }
  })
})
