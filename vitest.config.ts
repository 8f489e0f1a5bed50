import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.js'
import { MissingPrograms } from './test/support/programs.js'

/** Files that are not run on a database server: about SQLite itself, or without an equivalent there yet. */
const aboutSqlite = [
  // Tables, statements and access paths of SQLite; those of servers are in test/postgres and test/mysql.
  'test/database/**',
  // Damage to the file; damage to rows is in test/servers/doctor.test.ts.
  'test/documents/doctor.test.ts',
  // The database file, its log and its locks, and threads that read it.
  'test/faults/{configuration,database-files,disk,half-open,heavy-reads,kill-start,log-size,pauses,schema-changes,stalled-stop}.test.ts',
  // Faults between the statements and threads of SQLite; for servers test/servers injects them between the service and its server.
  'test/faults/{kill,kill-model-kinds,kill-once,kill-together,messages}.test.ts',
  // Tests that fill the file before the service starts.
  'test/faults/{floods,gone-clients,memory,shutdown}.test.ts',
  // Expected results are computed with SQLite's comparison of texts.
  'test/fuzz/**',
  'test/attacks/{long-texts,long-values}.test.ts',
  // Recorded on SQLite; the recordings of servers have files of their own.
  'test/golden/replay.test.ts',
]

const isOnServer = /^(postgres|mysql)$/.test(process.env.DATABASE_CLIENT ?? '')

/** Rules of docs/spec whose tests wait, start processes or need seconds of computing. */
const slowRules = ['spec/{administration*,authentication,errors,live-model-refused,project-code,rights,route*,shared-locales,slow-log}']

/** The slowest of the others: half of the time of all of them. `npm run test:all` runs them first, and so does `.ci/run`, always. */
const slowest = [
  'archive/leave',
  'clients/{package,preview}',
  'compare/writes',
  'description/{command,docs-page,openapi}',
  'fuzz/shapeless',
  'paths/budget',
  'spec/administration-{bulk,content,doctor,events,media,page,preview,retries,schedule}',
  'spec/{left-out-routes,linked-files,project-code,rights,slow-log}',
  'spec/{audit,caching,compression,event-stream,hints,history,live-model,metrics,operations,schedules,several-rows,shared-links}',
  'spec/{source-maps,start-page,table-names,webhooks}',
  'start/{adopt,bill-of-materials,command-line,foreign-databases,older-strapi,project-files,schemas}',
  'types/{cases,guide}',
  'uploads/{attacks,links,s3,slow-clients,starting,static}',
]

/** Files that take ten seconds of computing or more and prove details. */
const long = [
  'account/{admin-commands,commands,floods,instances,limits,names,recovery,secrecy}',
  'archive/{hostile,import,kill,round-trip,serving,storage}',
  'compare/{reads,sources}',
  'database/{cached-tables,ways}',
  'description/{attribute-type,recorded-reads}',
  'documents/{concurrency,doctor,outbox}',
  'golden/schemas',
  'live-model/**',
  'model-plans/recorded',
  'paths/hints',
  'spec/schedule-kills',
  'start/{absent,dev,hangup,init,locales,management,project-code,secrets,strapi-folders,tracing,whole-installation}',
  'types/generated',
  'uploads/{bombs,crash,folder,markup,pictures,workplace}',
]

interface Project {
  /** Patterns of paths below test/, without `.test.ts`. */
  readonly files: readonly string[]
  readonly except?: readonly string[]
  /** Whether the files of a worker share its process, which saves loading the service for each. Default: no. */
  readonly sharesProcess?: boolean
  readonly env?: Readonly<Record<string, string>>
}

/** `npm run test:fast` runs the first, `npm test` those down to `smoke`, `npm run test:all` all of them. */
export const projects: Readonly<Record<string, Project>> = {
  // Rules of the code and most of docs/spec, by a service in the process of the test.
  fast: {
    files: ['*', 'spec/**', 'golden/plans', 'model-plans/**', 'content-type-builder/**', 'database/layout', 'paths/**', 'page/*'],
    except: [...slowRules, ...slowest, ...long],
    sharesProcess: true,
  },
  spec: { files: slowRules, except: slowest, sharesProcess: true },
  // Areas of the service, the recordings on SQLite, and the tools.
  api: {
    files: [
      '{account,administration,archive,clients,compare,database,description,documents,fuzz,types,uploads}/**',
      'golden/{replay,schemas}',
    ],
    except: ['database/layout', ...slowest, ...long],
    sharesProcess: true,
  },
  start: { files: ['start/**'], except: [...slowest, ...long], sharesProcess: true },
  // Each kind of request on each database server, and one kill for each kind of write.
  smoke: { files: ['servers/smoke', 'faults/kill'], env: { FAULTS: process.env.FAULTS ?? 'once' } },

  slowest: { files: slowest, sharesProcess: true },
  long: { files: long },
  servers: { files: ['{servers,postgres,mysql,instances}/**', 'golden/replay-{postgres,mysql}'], except: ['servers/smoke'] },
  faults: { files: ['{faults,backup}/**'] },
  attacks: { files: ['attacks/**'] },
  engines: { files: ['{engines,deploy}/**'] },
  browser: { files: ['browser/**', 'page/browser/**'] },
}

const asTests = (files: readonly string[]): string[] => files.map((file) => `test/${file}.test.ts`)

export default defineConfig({
  test: {
    // Many files wait for services of their own.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new MissingPrograms()],
    projects: Object.entries(projects).map(([name, { files, except = [], sharesProcess = false, env = {} }]) => ({
      test: {
        name,
        include: asTests(files),
        exclude: [...configDefaults.exclude, ...asTests(except), ...(isOnServer ? aboutSqlite : [])],
        isolate: !sharesProcess,
        globalSetup: ['test/support/shared-servers.ts'],
        env,
        // Only what hangs: a busy machine takes many times as long, and a test that kills at every statement takes hours.
        testTimeout: process.env.FAULTS === 'all' ? 4 * 3600_000 : 600_000,
        hookTimeout: 600_000,
        // Concurrent tests of a file start processes too.
        maxConcurrency: 2,
        // The built service runs as Node loads it; transformed like a test's own files, it would start and run slower.
        server: { deps: { external: [/\/dist\//] } },
      },
    })),
  },
})
