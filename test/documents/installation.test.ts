// The state that serves requests is one value: replaced as a whole, and closed when its last request has ended.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Connection from 'better-sqlite3'
import { expect, test } from 'vitest'
import { type Database, databaseNames, type PlanHandle, type ReadDatabase, type WriteDatabase } from '../../src/database/database.js'
import type { Sink } from '../../src/database/response/write.js'
import { defineFunctions } from '../../src/database/sqlite/connection.js'
import { sqliteDialect } from '../../src/database/sqlite/dialect.js'
import { prepareRead } from '../../src/database/sqlite/execute.js'
import { createMainConnection } from '../../src/database/sqlite/main-connection.js'
import { loadConfig } from '../../src/foundation/config/config.js'
import { fullAccess } from '../../src/foundation/grants.js'
import { newPlanCounts } from '../../src/foundation/runtime/metrics.js'
import { loadModel } from '../../src/model/schema/load.js'
import type { Installation } from '../../src/project/installation.js'
import { openInstallations } from '../../src/project/installation.js'

const golden = join(import.meta.dirname, '..', 'golden', 'project')

/** The database of the golden project, and the number of plans that its readers received and were not asked to drop. */
async function openGolden() {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-installation-'))
  cpSync(golden, folder, { recursive: true })
  mkdirSync(join(folder, '.tmp'))
  writeFileSync(join(folder, '.tmp', 'data.db'), gunzipSync(readFileSync(join(golden, 'content.db.gz'))))
  const secrets = { API_TOKEN_SALT: 'a salt that is long enough', JWT_SECRET: 'a secret that is long enough' }
  const config = await loadConfig(folder, { ...process.env, ...secrets, DATABASE_FILENAME: join(folder, '.tmp', 'data.db') })
  const model = await loadModel(config)
  const connection = new Connection(config.database.filename)
  defineFunctions(connection, () => {})
  const registered = new Set<PlanHandle>()
  // The same statements as in the reader threads, on one connection.
  const reads: ReadDatabase = {
    dialect: sqliteDialect,
    register: (plan) => {
      const handle: PlanHandle = { id: registered.size, plan }
      registered.add(handle)
      return handle
    },
    unregister: (handle) => void registered.delete(handle),
    execute: async ({ plan }, values) => {
      let text = ''
      const write = (piece: string) => {
        text += piece
      }
      prepareRead({ database: connection, signer: null }, plan)(values, { write } as Sink)
      return { bytes: Buffer.from(text), release: () => {} }
    },
    close: async () => {},
  }
  const writes = { register: reads.register, unregister: reads.unregister } as WriteDatabase
  const database: Database = {
    reads,
    writes,
    main: createMainConnection(connection),
    commits: null,
    names: databaseNames.sqlite,
    spans: {},
    addMissing: async () => {},
    checkSteps: null,
    applyChange: async () => false,
    describeSteps: async () => [],
    mismatches: async () => ({ types: [], columns: [], tables: [] }),
    tableScans: null,
    activity: () => ({ pools: [], replicas: null, retriedTransactions: 0, walBytes: 0 }),
    trouble: () => null,
    close: async () => {},
  }
  const installations = openInstallations({
    config,
    model,
    change: 0,
    defaultLocale: 'en',
    dialect: sqliteDialect,
    database,
    hooks: null,
    policies: null,
    aroundReads: null,
    ...{ metrics: null, planCounts: newPlanCounts(), tracing: null, audit: null, slow: null },
    recording: {
      isOn: () => false,
      onChange: () => {},
      isFollowed: () => false,
      wants: () => false,
      unregistered: () => [],
      neededFrom: () => Number.POSITIVE_INFINITY,
      committed: () => {},
    },
    accounts: {} as never,
  })
  const close = async () => {
    installations.close()
    connection.close()
    rmSync(folder, { recursive: true })
  }
  return { installations, model, folder, config, registered, close }
}

async function titles({ documents, model }: Installation, query: string): Promise<readonly (string | null)[]> {
  const type = model.types.get('api::article.article')!
  const answer = await documents.find(fullAccess, { type, action: `${type.uid}.find`, mode: 'many', query, envelope: 'bare', paged: false })
  const found = JSON.parse(Buffer.from(answer!.bytes).toString('utf8')) as readonly { readonly locale: string | null }[]
  answer!.release()
  return [...new Set(found.map(({ locale }) => locale))]
}

test('a request keeps its default locale while another is put in force, and its plans are forgotten after it', async () => {
  const { installations, registered, close } = await openGolden()
  try {
    const english = await installations.enter('en')
    expect(await titles(english.installation, 'fields=locale')).toEqual(['en'])
    const german = await installations.enter('de')
    expect(german.installation).not.toBe(english.installation)
    expect((await installations.enter('de')).installation).toBe(german.installation)
    expect(await titles(german.installation, 'fields=locale')).toEqual(['de'])
    expect(registered.size).toBe(2)
    expect(await titles(english.installation, 'fields=locale')).toEqual(['en'])
    english.end()
    english.end()
    expect(registered.size).toBe(1)
    german.end()
    expect(registered.size).toBe(1)
  } finally {
    await close()
  }
})

test('a model is replaced as a whole: requests under way end on the old one', async () => {
  const { installations, config, model, registered, close } = await openGolden()
  try {
    const before = await installations.enter('en')
    const next = await loadModel(config)
    installations.replace(next, 1)
    expect(installations.model()).toBe(next)
    expect(before.installation.model).toBe(model)
    expect(await titles(before.installation, 'fields=locale')).toEqual(['en'])
    const after = await installations.enter('en')
    expect(after.installation.model).toBe(next)
    expect(after.installation.documents.context.model).toBe(next)
    expect(await titles(after.installation, 'fields=locale')).toEqual(['en'])
    expect(registered.size).toBe(2)
    before.end()
    expect(registered.size).toBe(1)
    after.end()
    installations.replace(model, 2)
    expect(registered.size).toBe(0)
  } finally {
    await close()
  }
})
