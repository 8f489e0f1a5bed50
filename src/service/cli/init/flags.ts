// Reads the flags of `octavo init`, and completes them by the defaults.
import { didYouMean } from '../../../foundation/errors/did-you-mean.js'
import { ConfigError } from '../../../foundation/errors/errors.js'
import { commandLine } from '../../../foundation/runtime/command-line.js'
import {
  type Choices,
  type DatabaseName,
  databases,
  defaultConnection,
  type InitFlags,
  type ServerConnection,
  templates,
} from './choices.js'

/** What the flags and the folder decide. */
export type GivenChoices = Partial<Choices>

/** Reads the flags. @throws ConfigError for a value that does not exist */
export function readFlags(folder: string | undefined, flags: InitFlags): GivenChoices {
  const template = flags.template === undefined ? undefined : oneOf('--template', flags.template, templates)
  const url = flags.databaseUrl === undefined ? undefined : readUrl(flags.databaseUrl)
  const database = flags.database === undefined ? url?.database : oneOf('--database', flags.database, databases)
  if (url !== undefined && database !== url.database)
    throw new ConfigError(`--database is ${database}, and --database-url is of ${url.database}.`)
  const { typescript, install, git } = flags
  const all = { folder, template, database, connection: url?.connection, typescript, install, git }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/** Completes what was given. @throws ConfigError without a folder */
export function withDefaults(given: GivenChoices): Choices {
  if (given.folder === undefined) throw new ConfigError(`Name the folder of the new project: ${commandLine('init my-project', null)}`)
  const { database = 'sqlite' } = given
  return {
    ...{ template: 'blank', typescript: true, install: true, git: true, database, connection: defaultConnection(database) },
    ...given,
    folder: given.folder,
  }
}

function oneOf<Name extends string>(flag: string, value: string, known: Readonly<Record<Name, unknown>>): Name {
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
