// Pools of connections to a PostgreSQL server, and statements on them: prepared once for each connection, their values encoded by the
// types that the server gives the parameters.
import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { LRUCache } from 'lru-cache'
import type { Connection as Wire } from 'pg'
import pg from 'pg'
import type { ServerSettings } from '../../../foundation/config/database-server.js'
import type { PoolActivity } from '../../database.js'
import type { Stored } from '../../portable-sql.js'
import { type ConnectionWaits, openConnectionWaits } from '../connections.js'
import { encodeParameter, parserOf } from './codec.js'
import { cancelled, codeOf, isConnectionLoss, isExhaustion, isOutdatedStatement, onStandby, timeoutOf } from './errors.js'

/** Seconds after which a connection is replaced: what it keeps of statements goes with it. */
const lifetime = 1_800

/** Milliseconds after which an idle connection is closed. */
const idleTime = 30_000

/** Milliseconds without traffic after which the system asks whether the other end of a connection is still there. */
const keepAliveDelay = 10_000

/** How a connection reaches the server. */
export function serverOf({ url, host, port, name, user, password, schema, ssl }: ServerSettings): pg.ClientConfig {
  return {
    ...(url === null ? { host, port, database: name, user, password } : { connectionString: url }),
    ...(ssl !== false && { ssl }),
    // The only setting of a connection, and only where it is not the server's own: a pooler in transaction mode knows none.
    ...(schema !== 'public' && { options: `-c search_path="${schema.replaceAll('"', '""')}"` }),
    application_name: 'octavo',
  }
}

/** What a pool is for. */
export interface PoolOptions {
  /** Connections at most. */
  readonly max: number
  /** Whether statements are sent before those before them have been executed. */
  readonly pipelined: boolean
  /** Whether the server may be a standby, as a read replica is (false). */
  readonly mayBeStandby?: boolean
  /** Receives errors of idle connections, which are replaced. */
  failed(error: Error): void
}

/** Opens a pool; connections are made when they are needed. */
export function openPool(settings: ServerSettings, { max, pipelined, mayBeStandby = false, failed }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...serverOf(settings),
    max,
    min: Math.min(settings.pool.min, max),
    connectionTimeoutMillis: settings.connectionTimeout,
    idleTimeoutMillis: idleTime,
    maxLifetimeSeconds: lifetime,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelay,
    pipeline: pipelined,
    types: { getTypeParser: parserOf },
    ...(mayBeStandby ? {} : { onConnect: refuseStandby }),
  } as pg.PoolConfig)
  pool.on('error', failed)
  pool.on('connect', (client) => {
    // An error of a connection in use reaches the statements under way. Without a listener it would end the process.
    client.on('error', () => {})
    watchReplication(client)
  })
  return pool
}

/** The connections of a pool. */
export const poolActivity = (name: PoolActivity['name'], pool: pg.Pool): PoolActivity => ({
  name,
  idle: pool.idleCount,
  used: pool.totalCount - pool.idleCount,
  most: pool.options.max,
  waiting: pool.waitingCount,
  ...waitsOf(pool).counts(),
})

const waitsByPool = new WeakMap<pg.Pool, ConnectionWaits>()

function waitsOf(pool: pg.Pool): ConnectionWaits {
  const waits = waitsByPool.get(pool) ?? openConnectionWaits(isExhaustion)
  waitsByPool.set(pool, waits)
  return waits
}

/** Closes a connection at once, whatever is under way on it: the statements fail as with a connection that was lost. */
function cut(client: pg.PoolClient): void {
  const { connection } = client as unknown as { readonly connection: { readonly stream: Socket } }
  connection.stream.destroy()
}

/** Prepared statements that one connection may keep. */
const mostPrepared = 1_000

const keptBy = (client: pg.PoolClient): number =>
  Object.keys((client as unknown as { readonly connection: { readonly parsedStatements: object } }).connection.parsedStatements).length

/** Whether a transaction was left open; the server rolls it back when the connection is closed. */
function isInTransaction(client: pg.PoolClient): boolean {
  const status = client.getTransactionStatus()
  return status !== null && status !== 'I'
}

/**
 * Runs work on a connection of the pool. One that broke is not used again, nor one that keeps too many statements. `milliseconds`: after
 * them the server is asked to end what it executes, and the connection is cut; 0: the work may take any time.
 */
export async function onConnection<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
  milliseconds = 0,
): Promise<Result> {
  const client = await waitsOf(pool).count(() => pool.connect())
  let isBroken = false
  let [isEnded, cancelling]: [boolean, Promise<void> | null] = [false, null]
  const timer =
    milliseconds === 0
      ? undefined
      : setTimeout(() => {
          cancelling = cancel(pool.options, client).then(() => void (isEnded || cut(client)))
        }, milliseconds)
  try {
    return await work(client)
  } catch (error) {
    isBroken = isConnectionLoss(error)
    if (cancelling !== null && (isBroken || codeOf(error) === cancelled)) throw timeoutOf(error)
    throw error
  } finally {
    isEnded = true
    clearTimeout(timer)
    if (isBroken) cut(client)
    // Once a request to end something is under way, it may come at any time.
    const isUseless = isBroken || cancelling !== null || isInTransaction(client) || isUnconfirmed(client)
    client.release(isUseless || keptBy(client) > mostPrepared)
  }
}

/** A statement as a connection executes it. */
export interface PreparedStatement {
  /** The name by which connections keep it; undefined: it is not kept. */
  readonly name: string | undefined
  readonly text: string
  /** The types of its parameters. */
  readonly types: readonly number[]
  /** Called when the server does not execute any more what connections keep of it; absent: they keep nothing. */
  outdated?(): void
}

/** Milliseconds for the server to tell the types of one statement; it waits where somebody changes the table. */
const describeTimeout = 5_000

/** Statements whose parameter types are kept. */
const keptStatements = 5_000

/** The statements of one database. Their parameter types are asked for once, whatever the connection. */
export interface Statements {
  /** The statement if its types are known. */
  known(text: string): PreparedStatement | undefined
  /**
   * Asks for the types, on `client` if it does not pipeline. @throws the server's error for a statement that it does not accept
   */
  describe(text: string, client?: pg.PoolClient): Promise<PreparedStatement>
  /** Columns may have other types now: types are asked for again, and no connection uses what it has prepared. */
  forget(): void
}

/** `pool`: of connections that do not pipeline, and that nothing depends on: a table that somebody changes holds them up. */
export function openStatements(pool: pg.Pool): Statements {
  const statements = new LRUCache<string, PreparedStatement>({ max: keptStatements })
  const asked = new Map<string, Promise<readonly number[]>>()
  /** How often all was forgotten: names of statements differ by it. */
  let age = 0

  /** The types of one statement are asked for once at a time. */
  function askTypes(text: string): Promise<readonly number[]> {
    const types =
      asked.get(text) ?? onConnection(pool, (free) => parameterTypes(free, text), describeTimeout).finally(() => asked.delete(text))
    asked.set(text, types)
    return types
  }

  function forget(): void {
    age++
    statements.clear()
    asked.clear()
  }

  return {
    known: (text) => {
      const statement = statements.get(text)
      if (statement === undefined || statement.name !== undefined) return statement
      // Connections keep only what comes again.
      const name = createHash('sha256').update(`${age} ${text}`).digest('base64url').slice(0, 32)
      const begun = age
      const named: PreparedStatement = { ...statement, name, outdated: () => void (begun === age && forget()) }
      statements.set(text, named)
      return named
    },
    describe: async (text, client) => {
      const begun = age
      const types = await (client === undefined ? askTypes(text) : parameterTypes(client, text)).catch(failureOf(text))
      const statement = { name: undefined, text, types }
      if (begun === age) statements.set(text, statement)
      return statement
    },
    forget,
  }
}

interface TypesMessage {
  readonly dataTypeIDs: readonly number[]
}

/** Asks the server which types it gives the parameters of a statement, without executing it. */
function parameterTypes(client: pg.PoolClient, text: string): Promise<readonly number[]> {
  return new Promise<readonly number[]>((resolve, reject) => {
    let types: readonly number[] = []
    const note = (message: TypesMessage) => {
      types = message.dataTypeIDs
    }
    let source: Wire | null = null
    client.query({
      submit: (connection: Wire) => {
        source = connection
        const messages = connection as unknown as Messages
        messages.once('parameterDescription', note)
        messages.parse({ text, name: '', types: [] })
        messages.describe({ type: 'S', name: '' })
        messages.sync()
      },
      handleError: (error: Error) => {
        source?.removeListener('parameterDescription', note)
        reject(error)
      },
      handleReadyForQuery: () => resolve(types),
      handleRowDescription: () => {},
    } as never)
  })
}

/** What of the protocol's messages is used directly. */
interface Messages {
  once(event: 'parameterDescription', listener: (message: TypesMessage) => void): void
  parse(message: { readonly text: string; readonly name: string; readonly types: readonly number[] }): void
  describe(message: { readonly type: 'S'; readonly name: string }): void
  sync(): void
}

/** Characters of a statement that an error shows. */
const shownText = 4_000

/** Adds a statement to the error that it fails with, for the log; values are not in it. */
const failureOf =
  (text: string) =>
  (error: Error): never => {
    throw Object.assign(error, { statement: text.slice(0, shownText) })
  }

/** What statements are executed on: one connection, or whichever of a pool is free. */
export type Connection = Pick<pg.ClientBase, 'query'>

/** Executes a statement on a connection that is free soon, and returns its rows. */
export type AskServer = (text: string, values: readonly unknown[]) => Promise<readonly (readonly unknown[])[]>

/** The result of a statement: rows as lists of values. */
export interface Executed {
  readonly rows: readonly (readonly Stored[])[]
  readonly columns: readonly string[]
  /** Rows that were changed. */
  readonly changed: number
}

/** Connections whose statements are held back for the rest of a moment. */
const held = new WeakSet<Socket>()

/** Sends what is executed on a connection in the same moment with one write to the network: each one costs as much as a statement. */
export function sendTogether(client: Connection): void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection
  if (held.has(stream)) return
  held.add(stream)
  stream.cork()
  // Behind all promises that are settled by now.
  process.nextTick(() => {
    held.delete(stream)
    stream.uncork()
  })
}

/** Executes a prepared statement; sent in the same moment, behind those that were sent before on the same connection. */
export async function executePrepared(
  client: Connection,
  { name, text, types, outdated }: PreparedStatement,
  values: readonly unknown[],
): Promise<Executed> {
  const encoded = values.map((value, index) => encodeParameter(types[index], value))
  const asked = { name, text, values: encoded, rowMode: 'array' } as never
  const { rows, fields, rowCount } = await client.query<Stored[]>(asked).catch((error: Error) => {
    if (isOutdatedStatement(error)) outdated?.()
    return failureOf(text)(error)
  })
  return { rows, columns: fields.map((field) => field.name), changed: rowCount ?? 0 }
}

/** Executes a statement wherever its types have to be asked for first. */
export async function execute(statements: Statements, client: Connection, text: string, values: readonly unknown[]): Promise<Executed> {
  return executePrepared(client, statements.known(text) ?? (await statements.describe(text)), values)
}

/** Rows as objects by the names of their columns. */
export const objectsOf = ({ rows, columns }: Executed): readonly Readonly<Record<string, Stored>>[] =>
  rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]!])))

/** What the driver knows of a session, and of the messages before one. */
interface ServerSession {
  readonly processID: number | null
  readonly secretKey: number | null
}
interface CancelMessages {
  readonly stream: Socket
  on(event: 'error' | 'end' | 'connect' | 'sslconnect', listener: () => void): void
  connect(port: number, host: string): void
  requestSsl(): void
  cancel(processID: number, secretKey: number): void
}

/** Milliseconds until the request counts as lost. */
const cancelTimeoutMs = 1_000

/** Asks the server to end what `client` executes. Resolves when it has the request, or cannot be reached; never rejects. */
export async function cancel(server: pg.ClientConfig, client: pg.PoolClient): Promise<void> {
  const { processID, secretKey } = client as unknown as ServerSession
  if (processID === null || secretKey === null) return
  const messenger = new pg.Client(server)
  const { connection, ssl } = messenger as unknown as { readonly connection: CancelMessages; readonly ssl: unknown }
  let timer: NodeJS.Timeout | undefined
  await new Promise<void>((resolve) => {
    const ask = () => connection.cancel(processID, secretKey)
    connection.on('error', resolve)
    connection.on('end', resolve)
    connection.on('sslconnect', ask)
    connection.on('connect', () => (ssl ? connection.requestSsl() : ask()))
    connection.connect(messenger.port, messenger.host)
    timer = setTimeout(() => {
      connection.stream.destroy()
      resolve()
    }, cancelTimeoutMs)
  })
  clearTimeout(timer)
}

/** Milliseconds for the server to say what it is. */
const roleTimeoutMs = 3_000

/** Looks whether a new connection reached a primary. @throws Error with the code `onStandby` where it did not; it is cut then */
export async function refuseStandby(client: pg.ClientBase): Promise<void> {
  const look = { text: 'select pg_is_in_recovery()', rowMode: 'array', query_timeout: roleTimeoutMs } as const
  try {
    const { rows } = await client.query<[boolean]>(look as never)
    if (rows[0]![0]) throw Object.assign(new Error('The server is a standby'), { code: onStandby })
  } catch (error) {
    // Saying goodbye would wait for an end that does not answer.
    const { connection } = client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }
    connection.stream.destroy()
    throw error instanceof Error && codeOf(error) === '' ? timeoutOf(error) : error
  }
}

/** What the server calls its function that waits for standbys, in every language. */
const waitingFunction = 'SyncRepWaitForLSN'

const unconfirmed = new WeakSet<pg.ClientBase>()

/** Notes on which connections a commit did not wait for its standbys. */
export function watchReplication(client: pg.ClientBase): void {
  client.on('notice', ({ routine }) => {
    if (routine === waitingFunction) unconfirmed.add(client)
  })
}

/** Whether a commit on the connection did not wait for its standbys. The connection is not used for another. */
export const isUnconfirmed = (client: pg.ClientBase): boolean => unconfirmed.has(client)

/**
 * Waits until standbys have what was committed on the primary so far, as long as the server waits for any: what is committed here comes
 * after all of it, and is nothing that anybody sees. @throws where they have not
 */
export async function confirmReplication(client: pg.PoolClient): Promise<void> {
  await client.query("select from pg_logical_emit_message(true, 'octavo', '')")
  if (isUnconfirmed(client)) throw new Error('No standby has confirmed what was committed')
}
