// A connection to a MySQL or MariaDB server. Statements are sequential; rows are lists of stored values.
import type { Socket } from 'node:net'
import { type Connection, type ConnectionOptions, createConnection, type FieldPacket, type ResultSetHeader } from 'mysql2'
import type { ServerSettings } from '../../../foundation/config/database.js'
import type { Stored } from '../../portable-sql.js'
import { fromWallClock } from '../time-zone.js'
import { statementTooLarge, timeoutError } from './errors.js'

export interface MysqlExecuted {
  readonly rows: readonly (readonly Stored[])[]
  readonly columns: readonly string[]
  /** Number of matched rows, including those that were already equal. */
  readonly changed: number
  /** Id generated for the first inserted row; 0: none. */
  readonly inserted: number
}

export interface Client {
  readonly thread: number
  /** Whether the server was a node of a Galera cluster when the connection was opened: locks only apply to this node. */
  readonly isGalera: boolean
  /** The connection was cut or lost, and is unusable. */
  readonly isBroken: boolean
  /** Executes a statement that contains its values. `shown`: the part that errors may show. */
  query(text: string, shown?: string): Promise<MysqlExecuted>
  /** Closes the connection at once; running statements fail with a connection loss. */
  cut(): void
  end(): void
}

export type MysqlQueryable = Pick<Client, 'query'>

/** Milliseconds without traffic before TCP keepalive probes. */
const keepAliveDelayMs = 10_000

/** Seconds that a statement waits for a row lock, and maximum idle seconds of a transaction, after which its locks are released. */
const lockTimeoutSeconds = 3
const idleTimeoutSeconds = 30

/** Seconds that a statement waits for a table that is being altered. */
export const tableTimeoutSeconds = 10

/** Idle timeout of connections where transactions have none: longer than the pool keeps idle connections. */
const idleConnectionTimeout = 60

/**
 * Executed on every new connection: an explicit character set, in which literals are unambiguous and every text can be stored; ANSI quotes,
 * pipes as concatenation and strict mode, as on other databases; concatenations as long as a response; one snapshot per transaction.
 * Session defaults that statements rely on are set explicitly.
 */
const greetings = [
  'set names utf8mb4',
  `set session sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION',
     group_concat_max_len = 268435456, innodb_lock_wait_timeout = ${lockTimeoutSeconds}, lock_wait_timeout = ${tableTimeoutSeconds},
     autocommit = 1, completion_type = 0, foreign_key_checks = 1, unique_checks = 1, sql_safe_updates = 0, sql_select_limit = 18446744073709551615,
     collation_connection = if(@@character_set_database = 'utf8mb4', @@collation_database, 'utf8mb4_general_ci')
     /*!80000 , information_schema_stats_expiry = 0 */`,
  'set session transaction isolation level repeatable read',
]

/**
 * Additionally executed on write connections: serializable transactions lock everything they read. Without autocommit, since statements
 * after a deadlock would otherwise run outside of the transaction.
 */
export const writeGreetings: readonly string[] = [
  'set session transaction isolation level serializable',
  // A failed attempt is retried, and frees the connection for other writes.
  `set session lock_wait_timeout = ${lockTimeoutSeconds}`,
  `set session autocommit = 0 /*M!100300 , idle_transaction_timeout = ${idleTimeoutSeconds} */ /*!80000 , wait_timeout = ${idleConnectionTimeout} */`,
]

/** For grouped writes: shorter lock timeouts, since others wait for them. */
export const groupWriteGreetings: readonly string[] = [...writeGreetings, 'set session lock_wait_timeout = 1, innodb_lock_wait_timeout = 1']

/** `ON` on a node of a Galera cluster; may not exist elsewhere. */
const nodeVariable = 'wsrep_on'

/** Makes statements on a Galera node wait until it has everything that other nodes have committed. */
const syncWait = 'set session wsrep_sync_wait = 7'

/** Maximum bytes of a statement; fixed for the lifetime of a connection. */
const packetVariable = 'max_allowed_packet'

/** Queried on every connection: each may lead to a different server, or the server may have joined a cluster. */
const askServer = `show variables where variable_name in ('${packetVariable}', '${nodeVariable}')`

/** Bytes of a packet not available to the statement. */
const aroundStatement = 16

export function connectionOptions({ url, host, port, name, user, password, ssl, connectionTimeout }: ServerSettings): ConnectionOptions {
  return {
    ...(url === null ? { ...addressOf(host, port), database: name, user, password } : partsOf(url)),
    ...(ssl !== false && { ssl: ssl as NonNullable<Exclude<ConnectionOptions['ssl'], string>> }),
    connectTimeout: connectionTimeout,
    enableKeepAlive: true,
    keepAliveInitialDelay: keepAliveDelayMs,
    multipleStatements: false,
    rowsAsArray: true,
    dateStrings: true,
    supportBigNumbers: true,
    decimalNumbers: true,
    jsonStrings: true,
  }
}

const addressOf = (host: string, port: number): ConnectionOptions => (host.startsWith('/') ? { socketPath: host } : { host, port })

function partsOf(url: string): ConnectionOptions {
  const { hostname, port, pathname, username, password, search } = new URL(url)
  if (search !== '') throw new Error(`Parameters after the URL of a database are not read (${search}): set DATABASE_SSL and others instead`)
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 3306 : Number(port),
    database: decodeURIComponent(pathname.slice(1)),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
  }
}

const socketOf = (connection: Connection): Socket | undefined => (connection as unknown as { readonly stream?: Socket }).stream

/** Connects. `own`: statements executed after the greetings. `lost`: called when the connection is lost while idle. */
export async function connect(options: ConnectionOptions, own: readonly string[], lost: (error: Error) => void): Promise<Client> {
  const connection = createConnection(options)
  connection.on('error', lost)
  let isLate = false
  let maxBytes = 0
  let isGalera = false
  const say = (text: string) => run(connection, text, text)
  // The driver's own timeout ends with its handshake.
  const timer = setTimeout(() => {
    isLate = true
    socketOf(connection)?.destroy()
  }, options.connectTimeout)
  try {
    await new Promise<void>((resolve, reject) => connection.connect((error) => (error === null ? resolve() : reject(bare(error)))))
    for (const greeting of [...greetings, ...own]) await say(greeting)
    const variables = new Map((await say(askServer)).rows as readonly (readonly [string, string])[])
    maxBytes = Number(variables.get(packetVariable)) - aroundStatement
    isGalera = variables.get(nodeVariable) === 'ON'
    if (isGalera) await say(syncWait)
  } catch (error) {
    connection.destroy()
    throw isLate ? timeoutError(error) : error
  } finally {
    clearTimeout(timer)
  }
  let isBroken = false
  return {
    thread: connection.threadId!,
    isGalera,
    get isBroken() {
      return isBroken
    },
    query: async (text, shown = text) => {
      // The server would reject it by closing the connection.
      if (text.length > maxBytes / maxBytesPerUnit && Buffer.byteLength(text) > maxBytes)
        throw Object.assign(statementTooLarge(Buffer.byteLength(text), maxBytes), shownIn(shown))
      return run(connection, text, shown).catch((error: Error & { readonly fatal?: boolean }) => {
        isBroken ||= error.fatal === true
        throw error
      })
    },
    cut: () => {
      isBroken = true
      // The driver's `destroy` would leave running statements without a result.
      socketOf(connection)?.destroy()
    },
    end: () => connection.end(() => {}),
  }
}

/** Maximum UTF-8 bytes per UTF-16 unit. */
const maxBytesPerUnit = 3

/** Maximum characters of a statement in an error. */
const shownText = 4_000

const shownIn = (shown: string): object => ({ statement: shown.slice(0, shownText) })

/** Removes the statement, which contains values, from an error. */
const bare = (error: Error & { sql?: unknown }): Error => {
  delete error.sql
  return error
}

function run(connection: Connection, text: string, shown: string): Promise<MysqlExecuted> {
  return new Promise((resolve, reject) => {
    connection.query({ sql: text, rowsAsArray: true }, (error, result, fields) => {
      if (error !== null) reject(Object.assign(bare(error), shownIn(shown)))
      else resolve(executed(result as unknown, fields))
    })
  })
}

const timestamp = 7
const datetime = 12

function executed(result: unknown, fields: readonly FieldPacket[] | undefined): MysqlExecuted {
  if (!Array.isArray(result)) {
    const { affectedRows, insertId } = result as ResultSetHeader
    return { rows: [], columns: [], changed: affectedRows, inserted: insertId }
  }
  const rows = result as Stored[][]
  const moments = (fields ?? []).flatMap(({ columnType }, at) => (columnType === datetime || columnType === timestamp ? [at] : []))
  for (const row of rows) for (const at of moments) if (row[at] !== null) row[at] = fromWallClock(row[at] as string)
  return { rows, columns: (fields ?? []).map(({ name }) => name), changed: rows.length, inserted: 0 }
}

export const toObjects = ({ rows, columns }: MysqlExecuted): readonly Readonly<Record<string, Stored>>[] =>
  rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]!])))
