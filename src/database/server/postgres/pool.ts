// Connection pools for a PostgreSQL server, and prepared statements, whose values are encoded by the parameter types that the server
// infers.
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

/** Milliseconds without traffic before TCP keepalive probes. */
const keepAliveDelay = 10_000

export function connectionOptions({ url, host, port, name, user, password, schema, ssl }: ServerSettings): pg.ClientConfig {
  return {
    ...(url === null ? { host, port, database: name, user, password } : { connectionString: url }),
    ...(ssl !== false && { ssl }),
    // The only startup parameter, and only if needed: a pooler in transaction mode does not support any.
    ...(schema !== 'public' && { options: `-c search_path="${schema.replaceAll('"', '""')}"` }),
    application_name: 'octavo',
  }
}

interface PoolOptions {
  readonly max: number
  /** Sends statements before earlier ones have been executed. */
  readonly pipelined: boolean
  /** Accepts a standby, such as a read replica (false). */
  readonly mayBeStandby?: boolean
  /** Receives errors of idle connections, which are replaced. */
  failed(error: Error): void
}

/** Opens a pool, which connects on demand. */
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
    onConnect: (client: pg.ClientBase) => prepareConnection(client, mayBeStandby),
  } as pg.PoolConfig)
  pool.on('error', failed)
  pool.on('connect', (client) => {
    // Errors of a connection in use reach its pending statements; without a listener they would also end the process.
    client.on('error', () => {})
    watchReplication(client)
  })
  return pool
}

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

/** Closes a connection at once; running statements fail with a connection loss. */
function destroyConnection(client: pg.PoolClient): void {
  const { connection } = client as unknown as { readonly connection: { readonly stream: Socket } }
  connection.stream.destroy()
}

/** Maximum prepared statements per connection. */
const maxPrepared = 1_000

const countPrepared = (client: pg.PoolClient): number =>
  Object.keys((client as unknown as { readonly connection: { readonly parsedStatements: object } }).connection.parsedStatements).length

/** Closing the connection makes the server roll back an open transaction. */
function isInTransaction(client: pg.PoolClient): boolean {
  const status = client.getTransactionStatus()
  return status !== null && status !== 'I'
}

/**
 * Runs work on a connection of the pool. A broken connection, or one with too many prepared statements, is not reused. `milliseconds`:
 * timeout, after which the statement is cancelled and the connection cut; 0: none.
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
    // A cancellation in flight may arrive at any time.
    const isUseless = isBroken || cancelling !== null || isInTransaction(client) || isUnconfirmed(client)
    client.release(isUseless || countPrepared(client) > maxPrepared)
  }
}

export interface PreparedStatement {
  /** Name of the prepared statement; undefined: not prepared. */
  readonly name: string | undefined
  readonly text: string
  /** Parameter types. */
  readonly types: readonly number[]
  /** Called when the server rejects a prepared statement as outdated; absent if not prepared. */
  outdated?(): void
}

/** Timeout for describing a statement, which blocks while its table is being altered. */
const describeTimeout = 5_000

/** Maximum number of statements with cached parameter types. */
const maxStatements = 5_000

/** The statements of one database, with cached parameter types, which hold for all connections. */
export interface Statements {
  /** The statement if its types are cached. */
  known(text: string): PreparedStatement | undefined
  /** Asks the server for the types, on `client` if it does not pipeline. @throws the server's error for an invalid statement */
  describe(text: string, client?: pg.PoolClient): Promise<PreparedStatement>
  /** Discards all types and prepared statements after schema changes. */
  forget(): void
}

/** `pool`: not pipelined, and separate from other work, since schema changes block describing. */
export function createStatements(pool: pg.Pool): Statements {
  const statements = new LRUCache<string, PreparedStatement>({ max: maxStatements })
  const asked = new Map<string, Promise<readonly number[]>>()
  /** Number of calls of `forget`; part of the names of prepared statements. */
  let age = 0

  /** Describes a statement; concurrent requests share the result. */
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
      const ageBefore = age
      const named: PreparedStatement = { ...statement, name, outdated: () => void (ageBefore === age && forget()) }
      statements.set(text, named)
      return named
    },
    describe: async (text, client) => {
      const ageBefore = age
      const types = await (client === undefined ? askTypes(text) : parameterTypes(client, text)).catch(failureOf(text))
      const statement = { name: undefined, text, types }
      if (ageBefore === age) statements.set(text, statement)
      return statement
    },
    forget,
  }
}

interface TypesMessage {
  readonly dataTypeIDs: readonly number[]
}

/** Asks the server for a statement's parameter types, without executing it. */
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

/** Maximum characters of a statement in an error. */
const maxShownChars = 4_000

/** Adds the statement, without values, to its error, for the log. */
const failureOf =
  (text: string) =>
  (error: Error): never => {
    throw Object.assign(error, { statement: text.slice(0, maxShownChars) })
  }

export type Connection = Pick<pg.ClientBase, 'query'>

/** Executes a statement on a connection with short waits, and returns its rows. */
export type AskServer = (text: string, values: readonly unknown[]) => Promise<readonly (readonly unknown[])[]>

export interface Executed {
  readonly rows: readonly (readonly Stored[])[]
  readonly columns: readonly string[]
  /** Number of affected rows. */
  readonly changed: number
}

/** Sockets corked until the end of the tick. */
const corked = new WeakSet<Socket>()

/** Sends the statements of one tick in a single network write, which costs as much as a statement. */
export function sendTogether(client: Connection): void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection
  if (corked.has(stream)) return
  corked.add(stream)
  stream.cork()
  // Runs after all settled promises.
  process.nextTick(() => {
    corked.delete(stream)
    stream.uncork()
  })
}

/** Executes a prepared statement, sent immediately after earlier ones on the connection. */
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

/** Executes a statement, describing it first if its types are not cached. */
export async function execute(statements: Statements, client: Connection, text: string, values: readonly unknown[]): Promise<Executed> {
  return executePrepared(client, statements.known(text) ?? (await statements.describe(text)), values)
}

export const toObjects = ({ rows, columns }: Executed): readonly Readonly<Record<string, Stored>>[] =>
  rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]!])))

/** Driver internals: the session, and the protocol messages that precede one. */
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

/** Timeout of a cancellation request. */
const cancelTimeoutMs = 1_000

/** Cancels the current statement of `client`. Resolves once the server has the request or cannot be reached; never rejects. */
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

/** Timeout for the server to report its role. */
const roleTimeoutMs = 3_000

/**
 * Disables just-in-time compilation on a new connection: on reads it takes seconds, while their execution takes milliseconds. A pooler in
 * transaction mode may lose the setting, which affects nothing but speed.
 *
 * @throws Error with the code `onStandby`, after cutting the connection, if it has not reached a primary and must have
 */
async function prepareConnection(client: pg.ClientBase, mayBeStandby: boolean): Promise<void> {
  const look = {
    text: "select pg_is_in_recovery(), set_config('jit', 'off', false)",
    rowMode: 'array',
    query_timeout: roleTimeoutMs,
  } as const
  try {
    const { rows } = await client.query<[boolean, string]>(look as never)
    if (rows[0]![0] && !mayBeStandby) throw Object.assign(new Error('The server is a standby'), { code: onStandby })
  } catch (error) {
    // Terminating gracefully would block on an unresponsive server.
    const { connection } = client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }
    connection.stream.destroy()
    throw error instanceof Error && getCode(error) === '' ? timeoutError(error) : error
  }
}

/** The server function that waits for standbys. Its name does not depend on the language. */
const waitingFunction = 'SyncRepWaitForLSN'

const unconfirmed = new WeakSet<pg.ClientBase>()

/** Records connections with a commit that did not wait for its standbys. */
function watchReplication(client: pg.ClientBase): void {
  client.on('notice', ({ routine }) => {
    if (routine === waitingFunction) unconfirmed.add(client)
  })
}

/** True if a commit on this connection did not wait for its standbys; the connection is not reused. */
export const isUnconfirmed = (client: pg.ClientBase): boolean => unconfirmed.has(client)

/** Waits until synchronous standbys have all earlier commits of the primary, by an empty commit. @throws if they do not confirm */
export async function confirmReplication(client: pg.PoolClient): Promise<void> {
  await client.query("select from pg_logical_emit_message(true, 'octavo', '')")
  if (isUnconfirmed(client)) throw new Error('No standby has confirmed the commit')
}
