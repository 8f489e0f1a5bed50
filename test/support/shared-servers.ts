// The database servers of a run: one PostgreSQL and one MariaDB, on which each test file has databases.
import type { TestProject } from 'vitest/node'
import { kinds, type ServerClient, type ServerKind, type TestServer } from '../servers/server.js'
import { missingOf } from './programs.js'

/** The servers that a test project needs: both, or the one that DATABASE_CLIENT selects. */
function kindsFor({ name }: TestProject): readonly ServerKind[] {
  if (name === 'servers') return Object.values(kinds)
  const kind = kinds[process.env.DATABASE_CLIENT as ServerClient]
  return kind === undefined ? [] : [kind]
}

/** Starts the servers before the first file. Workers find them by a variable. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started: TestServer[] = []
  await Promise.all(
    kindsFor(project).map(async (kind) => {
      const isNamed = process.env[kind.variable] !== undefined || process.env[kind.sharedVariable] !== undefined
      if (isNamed || missingOf(kind.name).length > 0) return
      const server = await kind.start(undefined)
      process.env[kind.sharedVariable] = server.root
      started.push(server)
    }),
  )
  return async () => {
    for (const server of started) await server.close()
  }
}
