// Replays the recorded conversations on PostgreSQL: those of the golden project on SQLite, or where they differ the responses of Strapi 5.54
// there. The differences are those that are listed for SQLite, and a few of this database's own.
import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describePostgres, environmentOf, goldenContent, kinds } from '../servers/server.js'
import type { Served, TestResponse } from '../support/serve.js'
import { serveGolden } from '../support/serve.js'
import { allowed, conversationsOf, differing, hold } from './conversations.js'

// Strapi stores the wall clock of its process; it was recorded in UTC.
process.env.TZ = 'UTC'

const folder = dirname(fileURLToPath(import.meta.url))
const files = readdirSync(folder).filter((file) => /^(read|write)-.*\.jsonl\.gz$/.test(file))
const [reads, writes] = [files.filter((file) => file.startsWith('read-')), files.filter((file) => file.startsWith('write-'))]

/** Responses that differ from Strapi's on PostgreSQL only. */
const ownDifferences: Readonly<Record<string, readonly string[]>> = {
  // docs/differences.md, "PostgreSQL": a relation that is `true` is ignored on every database.
  'write-relations.jsonl.gz': ['relations/create true'],
}

/** The listed differences of a file, in the order of its conversations; those of what Strapi fails at here are none. */
function named(file: string): readonly string[] {
  const listed = new Set([...(allowed[file] ?? []).map(({ name }) => name), ...(ownDifferences[file] ?? [])])
  return conversationsOf(file, 'postgres').flatMap(({ name }) => (listed.has(name) ? [name] : []))
}

describePostgres('the recordings on PostgreSQL', (server) => {
  const content = goldenContent(kinds.postgres)
  let served: Served
  const serve = async () => {
    const url = await server().createDatabase(content)
    // The recorded Strapi did not limit attempts, and malformed ones count here too.
    return serveGolden({ config: { limits: { authRateLimit: 0 } }, environment: environmentOf(url) })
  }

  beforeAll(async () => {
    served = await serve()
  })
  afterAll(() => served.close())

  test.each(reads)('%s is answered as recorded, but for the listed differences', async (file) => {
    expect(await differing(served, file, 'postgres')).toEqual(named(file))
  })

  test.each(writes)('%s is answered as recorded on a fresh database, but for the listed differences', async (file) => {
    const fresh = await serve()
    try {
      expect(await differing(fresh, file, 'postgres')).toEqual(named(file))
    } finally {
      await fresh.close()
    }
  })

  test.each(readdirSync(folder).filter((file) => file.startsWith('quirk-500-')))('%s: what Strapi fails at is no failure', async (file) => {
    const failed: string[] = []
    const fresh = await serve()
    try {
      for (const { name, steps } of conversationsOf(file, 'postgres')) {
        const answers: TestResponse[] = []
        for (const step of steps) answers.push(await hold(fresh, step, answers))
        if (answers.some(({ status }) => status >= 500)) failed.push(name)
      }
    } finally {
      await fresh.close()
    }
    expect(failed).toEqual([])
  })
})
