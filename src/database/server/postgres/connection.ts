// Pools of connections to a PostgreSQL server, and statements on them: prepared once for each connection, their values encoded by the
// types that the server gives the parameters.
import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { LRUCache } from 'lru-cache'
import type { Connection as Wire } from 'pg'
import pg from 'pg'
import type { ServerSettings } from '../../../foundation/config/database.js'
import type { PoolActivity } from '../../database.js'
import type { Stored } from '../../portable-sql.js'
import { type ConnectionWaits, createConnectionWaits } from '../connections.js'
import { encodeParameter, getParser } from './codec.js'
import { cancelled, getCode, isConnectionLoss, isExhaustion, isOutdatedStatement, onStandby, timeoutError } from './errors.js'

/** Seconds after which a connection is replaced, along with its prepared statements. */
const lifetime = 1_800

/** Milliseconds after which an idle connection is closed. */
const idleTime = 30_000

/** Milliseconds without traffic after which the system asks whether the other end of a connection is still there. */
const keepAliveDelay = 10_000

export function connectionOptions({ url, host, port, name, user, password, schema, ssl }: ServerSettings): pg.ClientConfig {
  return {
    ...(url === null ? { host, port, database: name, user, password } : { connectionString: url }),
    ...(ssl !== false && { ssl }),
    // The only setting of a connection, and only where it is not the server's own: a pooler in transaction mode knows none.
    ...(schema !== 'public' && { options: `-c search_path="${schema.replaceAll('"', '""')}"` }),
    application_name: 'octavo',
  }
}

export interface PoolOptions {
  /** Connections at most. */
  readonly max: number
  /** Sends statements before earlier ones have been executed. */
  readonly pipelined: boolean
  /** Accepts a standby, such as a read replica (false). */
  readonly mayBeStandby?: boolean
  /** Receives errors of idle connections, which are replaced. */
  failed(error: Error): void
}

/** Opens a pool; connections are made when they are needed. */
export function openPool(settings: ServerSettings, { max, pipelined, mayBeStandby = false, failed }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...connectionOptions(settings),
    max,
    min: Math.min(settings.pool.min, max),
    connectionTimeoutMillis: settings.connectionTimeout,
    idleTimeoutMillis: idleTime,
    maxLifetimeSeconds: lifetime,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelay,
    pipeline: pipelined,
    types: { getTypeParser: getParser },
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
  max: pool.options.max,
  waiting: pool.waitingCount,
  ...getWaits(pool).counts(),
})

const waitsByPool = new WeakMap<pg.Pool, ConnectionWaits>()

function getWaits(pool: pg.Pool): ConnectionWaits {
  const waits = waitsByPool.get(pool) ?? createConnectionWaits(isExhaustion)
  waitsByPool.set(pool, waits)
  return waits
}

/** Closes a connection at once: running statements fail as if it was lost. */
function destroyConnection(client: pg.PoolClient): void {
  const { connection } = client as unknown as { readonly connection: { readonly stream: Socket } }
  connection.stream.destroy()
}

/** Prepared statements that one connection may keep. */
const maxPrepared = 1_000

const countPrepared = (client: pg.PoolClient): number =>
  Object.keys((client as unknown as { readonly connection: { readonly parsedStatements: object } }).connection.parsedStatements).length

/** The server rolls back an open transaction when the connection is closed. */
function isInTransaction(client: pg.PoolClient): boolean {
  const status = client.getTransactionStatus()
  return status !== null && status !== 'I'
}

/**
 * Runs work on a connection of the pool. A broken connection, or one with too many prepared statements, is not reused. `milliseconds`:
 * after this time the statement is cancelled and the connection is cut; 0: no limit.
 */
export async function onConnection<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
  milliseconds = 0,
): Promise<Result> {
  const client = await getWaits(pool).count(() => pool.connect())
  let isBroken = false
  let [isEnded, cancelling]: [boolean, Promise<void> | null] = [false, null]
  const timer =
    milliseconds === 0
      ? undefined
      : setTimeout(() => {
          cancelling = cancel(pool.options, client).then(() => void (isEnded || destroyConnection(client)))
        }, milliseconds)
  try {
    return await work(client)
  } catch (error) {
    isBroken = isConnectionLoss(error)
    if (cancelling !== null && (isBroken || getCode(error) === cancelled)) throw timeoutError(error)
    throw error
  } finally {
    isEnded = true
    clearTimeout(timer)
    if (isBroken) destroyConnection(client)
    // Once a request to end something is under way, it may come at any time.
    const isUseless = isBroken || cancelling !== null || isInTransaction(client) || isUnconfirmed(client)
    client.release(isUseless || countPrepared(client) > maxPrepared)
  }
}

/** A statement as a connection executes it. */
export interface PreparedStatement {
  /** The name of the prepared statement; undefined: it is not prepared. */
  readonly name: string | undefined
  readonly text: string
  /** The types of its parameters. */
  readonly types: readonly number[]
  /** Called when the server rejects a prepared statement as outdated; absent: nothing is prepared. */
  outdated?(): void
}

/** Milliseconds to describe one statement, which waits while its table is being changed. */
const describeTimeout = 5_000

/** Statements whose parameter types are kept. */
const maxStatements = 5_000

/** The statements of one database. Parameter types are requested once, on any connection. */
export interface Statements {
  /** The statement if its types are known. */
  known(text: string): PreparedStatement | undefined
  /**
   * Asks for the types, on `client` if it does not pipeline. @throws the server's error for a statement that it does not accept
   */
  describe(text: string, client?: pg.PoolClient): Promise<PreparedStatement>
  /** Types of columns may have changed: discards all types and prepared statements. */
  forget(): void
}

/** `pool`: without pipelining, and independent of other work, since changes of tables block it. */
export function createStatements(pool: pg.Pool): Statements {
  const statements = new LRUCache<string, PreparedStatement>({ max: maxStatements })
  const asked = new Map<string, Promise<readonly number[]>>()
  /** Number of calls of `forget`; a part of the statement names. */
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
      // Statements are prepared from their second execution on.
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

/** Protocol messages that are used directly. */
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

/** Executes statements: one connection, or any free one of a pool. */
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

/** Sends the statements of one tick with a single write to the network, which costs as much as a statement. */
export function sendTogether(client: Connection): void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection
  if (held.has(stream)) return
  held.add(stream)
  stream.cork()
  // After all promises that are settled by now.
  process.nextTick(() => {
    held.delete(stream)
    stream.uncork()
  })
}

/** Executes a prepared statement; it is sent immediately, after earlier ones on the same connection. */
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
export const toObjects = ({ rows, columns }: Executed): readonly Readonly<Record<string, Stored>>[] =>
  rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]!])))

/** Driver internals: a session, and the messages before one. */
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

/** Milliseconds for the server to report its role. */
const roleTimeoutMs = 3_000

/** Looks whether a new connection reached a primary. @throws Error with the code `onStandby` where it did not; it is cut then */
async function refuseStandby(client: pg.ClientBase): Promise<void> {
  const look = { text: 'select pg_is_in_recovery()', rowMode: 'array', query_timeout: roleTimeoutMs } as const
  try {
    const { rows } = await client.query<[boolean]>(look as never)
    if (rows[0]![0]) throw Object.assign(new Error('The server is a standby'), { code: onStandby })
  } catch (error) {
    // Saying goodbye would wait for an end that does not answer.
    const { connection } = client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }
    connection.stream.destroy()
    throw error instanceof Error && getCode(error) === '' ? timeoutError(error) : error
  }
}

/** The server's function that waits for standbys, named the same in every language. */
const waitingFunction = 'SyncRepWaitForLSN'

const unconfirmed = new WeakSet<pg.ClientBase>()

/** Records connections whose commit did not wait for its standbys. */
function watchReplication(client: pg.ClientBase): void {
  client.on('notice', ({ routine }) => {
    if (routine === waitingFunction) unconfirmed.add(client)
  })
}

/** A commit on the connection did not wait for its standbys; the connection is not reused. */
export const isUnconfirmed = (client: pg.ClientBase): boolean => unconfirmed.has(client)

/**
 * Waits until standbys have all commits of the primary so far, if the server waits for any: this commit comes after them, and is invisible.
 * @throws if they have not
 */
export async function confirmReplication(client: pg.PoolClient): Promise<void> {
  await client.query("select from pg_logical_emit_message(true, 'octavo', '')")
  if (isUnconfirmed(client)) throw new Error('No standby has confirmed the commit')
}
