// Asks in a terminal for choices that the flags of `octavo init` leave open.
import { confirm, intro, isCancel, password, select, text } from '@clack/prompts'
import { ConfigError } from '../../../foundation/errors/errors.js'
import {
  type Choices,
  type DatabaseName,
  databases,
  defaultConnection,
  type GivenChoices,
  type ServerConnection,
  templates,
  withDefaults,
} from './choices.js'

const defaultFolder = 'my-project'

/** Asks for missing choices. `problemOf` returns why a folder cannot be used. @throws ConfigError if the user cancels */
export async function askFor(given: GivenChoices, problemOf: (folder: string) => string | null): Promise<Choices> {
  intro('A new Octavo project')
  const folder = given.folder ?? (await askText('In which folder?', defaultFolder, (value) => problemOf(value) ?? undefined))
  const template = given.template ?? (await choose('What does it start with?', templates, (about) => ({ label: null, hint: about })))
  const database = given.database ?? (await choose('Which database?', databases, ({ name, about }) => ({ label: name, hint: about })))
  return withDefaults({
    folder,
    template,
    database,
    connection: given.connection ?? (database === 'sqlite' ? defaultConnection(database) : await askConnection(database)),
    typescript: given.typescript ?? (await answer(confirm({ message: 'Write its configuration in TypeScript?' }))),
    install: given.install ?? (await answer(confirm({ message: 'Install the dependencies now?' }))),
    git: given.git ?? (await answer(confirm({ message: 'Create a git repository?' }))),
  })
}

async function askConnection(database: DatabaseName): Promise<ServerConnection> {
  const defaults = defaultConnection(database)
  return {
    host: await askText('Host of the database server?', defaults.host),
    port: await askText('Port?', defaults.port, (value) => (/^\d{1,5}$/.test(value) ? undefined : 'A port is a number.')),
    name: await askText('Name of the database?', defaults.name),
    username: await askText('User?', defaults.username),
    password: (await answer(password({ message: 'Password? It is written to .env.' }))) ?? '',
  }
}

const askText = (message: string, fallback: string, validate: (value: string) => string | undefined = () => undefined): Promise<string> =>
  answer(text({ message, placeholder: fallback, defaultValue: fallback, validate: (value) => validate(value || fallback) }))

function choose<Name extends string, Row>(
  message: string,
  rows: Readonly<Record<Name, Row>>,
  describe: (row: Row) => { readonly label: string | null; readonly hint: string },
): Promise<Name> {
  const options = (Object.entries(rows) as [Name, Row][]).map(([value, row]) => {
    const { label, hint } = describe(row)
    return { value: value as string, label: label ?? value, hint }
  })
  return answer(select({ message, options })) as Promise<Name>
}

async function answer<Value>(asked: Promise<Value>): Promise<Exclude<Value, symbol>> {
  const value = await asked
  if (isCancel(value)) throw new ConfigError('Cancelled; nothing was created.')
  return value as Exclude<Value, symbol>
}
