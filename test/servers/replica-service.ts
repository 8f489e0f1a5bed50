// Statements on a PostgreSQL server and its replica for tests, their settings, and where a service has executed its reads.
import pg from 'pg'
import type { Cluster } from '../../bench/postgres-cluster.mjs'
import { scrape, sumOf } from '../support/management.js'
import { until } from '../support/until.js'
import type { NotesService } from './notes-service.js'

export type SqlRows = readonly Readonly<Record<string, unknown>>[]

/** Runs statements on a server; resolves to the rows of the last one. */
export async function sqlAt(at: Pick<Cluster, 'url'>, text: string): Promise<SqlRows> {
  const client = new pg.Client(at.url)
  // A server that ends: the statement fails.
  client.on('error', () => {})
  await client.connect()
  try {
    return [await client.query<Readonly<Record<string, unknown>>>(text)].flat().at(-1)!.rows
  } finally {
    await client.end()
  }
}

/** Gives a running server another setting, and waits until it is in force. An empty value: its default. */
export async function configure(at: Pick<Cluster, 'url'>, name: string, value: string): Promise<void> {
  await sqlAt(at, value === '' ? `alter system reset ${name}` : `alter system set ${name} = '${value}'`)
  const shown = async () => String((await sqlAt(at, `show ${name}`))[0]![name])
  const before = await shown()
  await sqlAt(at, 'select pg_reload_conf()')
  if (value !== before) await until(`${name} is '${value}'`, async () => value === '' || (await shown()) === value)
}

/** Makes a primary send its replicas the logged work that is not committed, or that needs no commit. */
export const flush = "select pg_logical_emit_message(true, 'octavo', 'flush')"

export const flushLog = async (primary: Pick<Cluster, 'url'>): Promise<void> => void (await sqlAt(primary, flush))

/** The rows of this are the exclusive locks on a table. */
export const heldOn = (table: string): string =>
  `select from pg_locks where relation = '${table}'::regclass and mode = 'AccessExclusiveLock'`

/** The rows of this are services' statements that wait for locks. */
export const waitingForLocks = "select from pg_stat_activity where application_name = 'octavo' and wait_event_type = 'Lock'"

/** Number of reads by location: on a replica, on the primary because no replica was recent enough, or there because a replica failed. */
export interface ExecutedReads {
  readonly used: number
  readonly fellBack: number
  readonly repeated: number
}

/** Begins to count the reads of a service, which has a management port. Each call returns those since the call before. */
export function countReads(service: NotesService): () => Promise<ExecutedReads> {
  let counted: readonly number[] = [0, 0, 0]
  return async () => {
    const samples = await scrape(service)
    const now = ['used', 'fell_back', 'repeated'].map((result) => sumOf(samples, 'octavo_replica_reads_total', { result }) ?? 0)
    const [used, fellBack, repeated] = now.map((value, index) => value - counted[index]!)
    counted = now
    return { used: used!, fellBack: fellBack!, repeated: repeated! }
  }
}
