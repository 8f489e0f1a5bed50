// What a new project is to be: the answers to the questions of `octavo init`, from its flags, from a terminal, or by default.

/** The templates, with what they are. */
export const templates = {
  blank: 'an empty project',
  blog: 'posts with authors and categories, and some content',
  magazine: 'every attribute type, two languages, 74 documents',
} as const
export type TemplateName = keyof typeof templates

/** The databases by the names of `DATABASE_CLIENT`, with their default ports. */
export const databases = {
  sqlite: { name: 'SQLite', about: 'a file in the project', port: null },
  postgres: { name: 'PostgreSQL', about: 'a server, 14 or later', port: 5432 },
  mysql: { name: 'MySQL or MariaDB', about: 'a server, 8.0.19 or 10.11 or later', port: 3306 },
} as const
export type DatabaseName = keyof typeof databases

/** Where a database server is. */
export interface ServerConnection {
  readonly host: string
  readonly port: string
  readonly name: string
  readonly username: string
  readonly password: string
}

/** The connection that is written where none is given. */
export const defaultConnection = (database: DatabaseName): ServerConnection => ({
  ...{ host: 'localhost', port: String(databases[database].port), name: 'octavo', username: 'octavo', password: '' },
})

/** A new project. */
export interface Choices {
  /** The folder as it was given. */
  readonly folder: string
  readonly template: TemplateName
  readonly database: DatabaseName
  readonly connection: ServerConnection
  /** Whether the configuration file is TypeScript. */
  readonly typescript: boolean
  readonly install: boolean
  readonly git: boolean
}

/** The flags of `octavo init`; what is absent is asked or has its default. */
export interface InitFlags {
  readonly template?: string
  readonly database?: string
  readonly databaseUrl?: string
  readonly typescript?: boolean
  readonly install?: boolean
  readonly git?: boolean
  readonly yes?: boolean
}
