// The choices of `octavo init`, their defaults, and the flags that make them.
import { didYouMean } from '../../../foundation/errors/did-you-mean.js'
import { ConfigError } from '../../../foundation/errors/errors.js'
import { commandLine } from '../../../foundation/runtime/terminal.js'

export const templates = {
  blank: 'an empty project',
  blog: 'posts with authors and categories, and some content',
  magazine: 'every attribute type, two languages, 74 documents',
} as const
export type TemplateName = keyof typeof templates

/** Databases by the names of `DATABASE_CLIENT`, with their default ports. */
export const databases = {
  sqlite: { name: 'SQLite', about: 'a file in the project', port: null },
  postgres: { name: 'PostgreSQL', about: 'a server, 14 or later', port: 5432 },
  mysql: { name: 'MySQL or MariaDB', about: 'a server, 8.0.19 or 10.11 or later', port: 3306 },
} as const
export type DatabaseName = keyof typeof databases

export interface ServerConnection {
  readonly host: string
  readonly port: string
  readonly name: string
  readonly username: string
  readonly password: string
}

/** Used if no connection is given. */
export const defaultConnection = (database: DatabaseName): ServerConnection => ({
  host: 'localhost',
  port: String(databases[database].port),
  name: 'octavo',
  username: 'octavo',
  password: '',
})

/** The choices for a new project. */
export interface Choices {
  /** The folder as given. */
  readonly folder: string
  readonly template: TemplateName
  readonly database: DatabaseName
  readonly connection: ServerConnection
  readonly typescript: boolean
  readonly install: boolean
  readonly git: boolean
}

/** The flags of `octavo init`; absent ones become questions or defaults. */
export interface InitFlags {
  readonly template?: string
  readonly database?: string
  readonly databaseUrl?: string
  readonly typescript?: boolean
  readonly install?: boolean
  readonly git?: boolean
  readonly yes?: boolean
}

/** Choices made by the flags and the folder. */
export type GivenChoices = Partial<Choices>

/** @throws ConfigError for an unknown value */
export function readFlags(folder: string | undefined, flags: InitFlags): GivenChoices {
  const template = flags.template === undefined ? undefined : parseChoice('--template', flags.template, templates)
  const url = flags.databaseUrl === undefined ? undefined : readUrl(flags.databaseUrl)
  const database = flags.database === undefined ? url?.database : parseChoice('--database', flags.database, databases)
  if (url !== undefined && database !== url.database)
    throw new ConfigError(`--database is ${database}, and --database-url is of ${url.database}.`)
  const { typescript, install, git } = flags
  const all = { folder, template, database, connection: url?.connection, typescript, install, git }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/** @throws ConfigError without a folder */
export function withDefaults(given: GivenChoices): Choices {
  if (given.folder === undefined) throw new ConfigError(`Name the folder of the new project: ${commandLine('init my-project', null)}`)
  const { database = 'sqlite' } = given
  return {
    template: 'blank',
    typescript: true,
    install: true,
    git: true,
    database,
    connection: defaultConnection(database),
    ...given,
    folder: given.folder,
  }
}

function parseChoice<Name extends string>(flag: string, value: string, known: Readonly<Record<Name, unknown>>): Name {
  if (Object.hasOwn(known, value)) return value as Name
  const names = Object.keys(known)
  throw new ConfigError(`${flag} is "${value}"; it must be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}${didYouMean(value, names)}`)
}

const protocols: Readonly<Record<string, DatabaseName>> = { 'postgres:': 'postgres', 'postgresql:': 'postgres', 'mysql:': 'mysql' }

function readUrl(text: string): { readonly database: DatabaseName; readonly connection: ServerConnection } {
  const url = URL.canParse(text) ? new URL(text) : null
  const database = protocols[url?.protocol ?? '']
  if (url === null || database === undefined)
    throw new ConfigError('--database-url must be a URL like postgres://user:password@host:5432/database, or mysql://…')
  const defaults = defaultConnection(database)
  const given = {
    host: url.hostname,
    port: url.port,
    name: decodeURIComponent(url.pathname.slice(1)),
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
  }
  return { database, connection: { ...defaults, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')) } }
}
