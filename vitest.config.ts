import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.js'

/** What a run on a database server leaves out: it is about SQLite itself, or not yet written for another database. */
const aboutSqlite = [
  // Its tables, statements and ways to rows; those of servers are in test/postgres and test/mysql.
  'test/database/**',
  // Damage to its file; damage to rows is in test/servers/doctor.test.ts.
  'test/documents/doctor.test.ts',
  // Its file, log and locks, and threads that read it.
  'test/faults/{configuration,database-files,disk,half-open,heavy-reads,kill-start,log-size,pauses,schema-changes,stalled-stop}.test.ts',
  // Its statements and threads, between which they stand; for servers test/servers stands between the service and its server.
  'test/faults/{kill,kill-model-kinds,kill-once,kill-together,messages}.test.ts',
  // These fill the file themselves before the service starts.
  'test/faults/{floods,gone-clients,memory,shutdown}.test.ts',
  // What is expected is computed as SQLite, or our functions in it, compare texts, and how long that takes.
  'test/fuzz/**',
  'test/attacks/{long-texts,long-values}.test.ts',
  // Recorded on SQLite; the recordings on servers are replayed beside it.
  'test/golden/replay.test.ts',
]

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(/^(postgres|mysql)$/.test(process.env.DATABASE_CLIENT ?? '') ? aboutSqlite : [])],
    globalSetup: ['test/support/databases.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Every file starts servers of its own, and many wait for them: three at a time keep two cores busy.
    maxWorkers: 3,
    // Tests that run beside each other in a file start processes too.
    maxConcurrency: 2,
    sequence: { sequencer: LongestFirst },
    // The built service runs as Node loads it; transformed like a test's own files, it would start and run slower.
    server: { deps: { external: [/\/dist\//] } },
    reporters: ['default'],
  },
})
