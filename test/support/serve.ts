// Starts the built service on a separate project in a temporary folder, and sends requests to it over HTTP.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { pino } from 'pino'
import type * as Octavo from '../../src/service/index.js'
import { environmentOf } from '../servers/server.js'
import { createDatabase, isOnServer, nameDatabase, removeDatabase } from './databases.js'
import { type Row, runStatement, type Value } from './statements.js'
import { noteTrouble } from './troubles.js'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
export const goldenProject = join(root, 'test', 'golden', 'project')
const magazineProject = join(root, 'examples', 'magazine')

export interface TestResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly body: any
}

export interface RequestOptions {
  readonly method?: string
  readonly headers?: Record<string, string>
  /** A bearer token. */
  readonly token?: string
  readonly body?: string | FormData
}

export interface Served {
  readonly origin: string
  readonly folder: string
  /** The path of the SQLite file, or the URL of the PostgreSQL database. */
  readonly database: string
  /** Environment with which another process opens the same database. */
  readonly sameDatabase: Readonly<Record<string, string>>
  /** Every line that was logged so far. */
  readonly log: readonly string[]
  /** The service as a script in the same process sees it. */
  readonly service: Octavo.Service
  request(path: string, asked?: RequestOptions): Promise<TestResponse>
  /** Runs a statement on the project's database as another program would; see `runStatement`. */
  sql(text: string, ...values: readonly Value[]): Promise<readonly Row[]>
  close(): Promise<void>
}

export interface ServeOptions {
  /** Merged into the project's octavo.config.json. */
  readonly config?: Octavo.UserConfig
  readonly environment?: Readonly<Record<string, string>>
  /** Options that only a JavaScript octavo.config can have. */
  readonly code?: {
    readonly hooks?: readonly Octavo.Hook[]
    readonly listeners?: readonly Octavo.EventListener[]
    readonly types?: Readonly<Record<string, Octavo.TypeSettings>>
    readonly routes?: readonly Octavo.CustomRoute[]
    readonly schedules?: readonly Octavo.Schedule[]
  }
}

/** A connection without traffic is closed after eight seconds, unless one of these is raised. */
export const briefLimits = {
  ...{ keepAliveTimeout: 1, readTimeout: 3_000, writeTimeout: 3_000 },
  ...{ routeTimeout: 1, hookTimeout: 1, storageTimeout: 1, imageCpuTime: 1 },
}

/** The golden project: Strapi's own database. The contract is `strapi` unless the configuration says otherwise. */
export function serveGolden(options: ServeOptions = {}): Promise<Served> {
  return serveCopy(fillGolden, { ...options, environment: { UPLOADS_DIR: 'uploads', ...options.environment } }, true)
}

function fillGolden(folder: string): void {
  cpSync(goldenProject, folder, { recursive: true })
  mkdirSync(join(folder, '.tmp'))
  writeFileSync(join(folder, '.tmp', 'data.db'), gunzipSync(readFileSync(join(folder, 'content.db.gz'))))
}

/** Copies the golden project with its content to a folder, for separate processes; resolves to the location of the database. */
export async function copyGoldenTo(folder: string): Promise<string> {
  fillGolden(folder)
  const database = isOnServer ? await createDatabase(true) : {}
  databases.set(folder, database)
  nameDatabase(folder, database)
  return database.DATABASE_URL ?? join(folder, '.tmp', 'data.db')
}

/** Removes a project and its database. */
export async function removeProject(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  const database = databases.get(folder)
  if (database?.DATABASE_URL !== undefined) await removeDatabase(database)
}

/** The example project with its seeded content, without its website, which needs the package. */
export function serveMagazine(options: ServeOptions = {}): Promise<Served> {
  const isCopied = (path: string): boolean => !path.includes('.tmp') && !/\.env$|(?:config|website)\.mjs$/.test(path)
  return serveCopy((folder) => {
    cpSync(magazineProject, folder, { recursive: true, filter: isCopied })
    writeFileSync(join(folder, 'octavo.config.json'), '{ "admin": { "demo": true }, "database": { "indexes": true } }')
  }, options)
}

/** A project of the test's own: files by their path in it, JSON values are written as JSON. */
export function serveProject(files: Readonly<Record<string, unknown>>, options: ServeOptions = {}): Promise<Served> {
  return serveCopy((folder) => {
    for (const [path, content] of Object.entries(files)) {
      const file = join(folder, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
    }
  }, options)
}

/** The tokens of the golden project's callers. */
export function goldenTokens(): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(join(goldenProject, 'tokens.json'), 'utf8')) as Record<string, string>
}

/** `isGolden`: with the golden content, where the database is not a file of the project. */
async function serveCopy(fill: (folder: string) => void, { config, environment, code }: ServeOptions, isGolden = false): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-test-'))
  fill(folder)
  if (config !== undefined) {
    const file = join(folder, 'octavo.config.json')
    writeFileSync(file, JSON.stringify(merge(readJson(file), config)))
  }
  const database = isOnServer && environment?.DATABASE_CLIENT === undefined ? await createDatabase(isGolden) : {}
  databases.set(folder, database)
  nameDatabase(folder, database)
  return serveFolder(folder, { environment: { ...database, ...environment }, code }, () => removeProject(folder))
}

/** The databases of projects that are served, by their folders. */
const databases = new Map<string, Readonly<Record<string, string>>>()

/** A service on an existing project: as a second process would run it, or after commands. */
export const serveExisting = (
  other: Pick<Served, 'folder'>,
  environment: ServeOptions['environment'] = {},
  code: ServeOptions['code'] = {},
): Promise<Served> =>
  serveFolder(
    other.folder,
    { environment: { UPLOADS_DIR: 'uploads', ...databases.get(other.folder), ...environment }, code },
    async () => {},
  )

async function serveFolder(folder: string, { environment, code = {} }: ServeOptions, afterwards: () => Promise<void>): Promise<Served> {
  const { createService, loadConfig } = (await import(join(root, 'dist', 'index.js'))) as typeof Octavo
  let secret = 0
  const loaded = await loadConfig(
    folder,
    { HOST: '127.0.0.1', PORT: '0', NODE_ENV: 'production', OCTAVO_DATABASE_READER_THREADS: '1', ...environment },
    () => `secret-${++secret}`,
  )
  const log: string[] = []
  const { listeners = loaded.events.listeners, ...own } = code
  const whole = { ...loaded, ...own, events: { ...loaded.events, listeners } }
  const service = await createService(
    whole,
    pino(
      { level: environment?.LOG_LEVEL ?? 'info' },
      {
        write(line: string) {
          log.push(line)
          noteTrouble(line)
        },
      },
    ),
  )
  const origin = await service.listen()
  const url = environment?.DATABASE_URL
  const database = url ?? loaded.database.filename
  return {
    origin,
    folder,
    database,
    sameDatabase: url === undefined ? { DATABASE_FILENAME: database } : environmentOf(url),
    log,
    service,
    request: (path, asked) => requestAt(origin, path, asked),
    sql: (text, ...values) => runStatement(database, text, values),
    close: async () => {
      await service.close()
      await afterwards()
    },
  }
}

/** Sends a request to a service at this origin. */
export async function requestAt(
  origin: string,
  path: string,
  { method = 'GET', headers = {}, token, body }: RequestOptions = {},
): Promise<TestResponse> {
  const response = await fetch(origin + path, {
    method,
    // Compressing what tests read at once would only take time; the client that replays recordings accepts it.
    headers: { 'accept-encoding': 'identity', ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  let parsed: unknown = text
  try {
    parsed = text === '' ? null : JSON.parse(text)
  } catch {
    // Not every response is JSON.
  }
  return { status: response.status, headers: response.headers, text, body: parsed }
}

function readJson(file: string): Record<string, unknown> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
  } catch {
    return {}
  }
}

function merge(base: Record<string, unknown>, over: object): Record<string, unknown> {
  const merged = { ...base }
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key]
    const nested = typeof value === 'object' && value !== null && !Array.isArray(value) && typeof below === 'object' && below !== null
    merged[key] = nested ? merge(below as Record<string, unknown>, value as object) : value
  }
  return merged
}
