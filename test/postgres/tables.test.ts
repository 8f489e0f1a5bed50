// The tables that Octavo creates on PostgreSQL are those of Strapi 5.54: compared with those of Strapi for the golden project.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { createOctavoStatements, createStatements } from '../../src/database/server/postgres/create-tables.js'
import { loadModel } from '../../src/model/schema/load.js'
import { storedName } from '../../src/model/tables/table.js'
import { describeTables } from '../../src/model/tables/tables.js'
import { describePostgres } from '../servers/server.js'
import { catalogOf } from './catalog.js'

const here = import.meta.dirname
const strapisStatements = gunzipSync(readFileSync(join(here, 'strapi-schema.sql.gz'))).toString()

describePostgres('tables on PostgreSQL', (server) => {
  it('are those that Strapi makes: columns, indexes, constraints and sequences', async () => {
    const [strapis, ours] = [await server().createDatabase(), await server().createDatabase()]
    await server().run(strapis, strapisStatements)
    const model = await loadModel({ folder: join(here, '../golden/project') })
    await server().run(ours, createStatements(describeTables(model)).join(';\n'))
    const [expected, found] = [await catalogOf(server(), strapis), await catalogOf(server(), ours)]
    expect(expected.columns.length).toBeGreaterThan(700)
    expect(found.columns).toEqual(expected.columns)
    expect(found.indexes).toEqual(expected.indexes)
    expect(found.constraints).toEqual(expected.constraints)
    expect(found.sequences).toEqual(expected.sequences)
  })

  it('are created for a project of awkward names', async () => {
    const url = await server().createDatabase()
    const tables = describeTables(await loadModel({ folder: join(here, '../database/awkward') }))
    await server().run(url, createStatements(tables).join(';\n'))
    const rows = await server().run(url, "select tablename from pg_tables where schemaname = 'public'")
    expect(rows.map(({ tablename }) => tablename).sort()).toEqual(tables.map(({ name }) => storedName(name)).sort())
  })

  it('of Octavo are created once, regardless of existing ones', async () => {
    const url = await server().createDatabase()
    const text = createOctavoStatements().join(';\n')
    await server().run(url, text)
    const first = await catalogOf(server(), url)
    await server().run(url, `drop table octavo_identities; ${text}`)
    expect(await catalogOf(server(), url)).toEqual(first)
    expect(first.constraints).toContain('octavo_modified_drafts octavo_modified_drafts_pkey: PRIMARY KEY (type, row_id)')
    expect(first.constraints).toContain('octavo_idempotency_keys octavo_idempotency_keys_caller_key_key: UNIQUE (caller, key)')
    expect(first.columns).toContain("octavo_outbox.sequence bigint not null default nextval('octavo_outbox_sequence_seq'::regclass)")
    expect(first.columns).toContain('octavo_rate_limits.ends_at bigint not null')
  })

  it('have names that are cut off as PostgreSQL cuts them', async () => {
    const names = ['a'.repeat(70), 'ä'.repeat(40), `a${'ä'.repeat(40)}`, '€'.repeat(30)]
    for (const name of names) {
      const url = await server().createDatabase()
      await server().run(url, `create table "${name}" ()`)
      expect(await server().run(url, "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace")).toEqual(
        [{ relname: storedName(name) }],
      )
    }
  })
})
