#!/usr/bin/env node
// The `octavo` command. Every subcommand is loaded when it is asked for.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Command } from 'commander'
import { limitYoungGeneration } from './runtime/gc.js'

limitYoungGeneration()

const { version } = createRequire(import.meta.url)('../package.json') as { readonly version: string }
const program = new Command('octavo').description("A headless content service that speaks Strapi 5's content API").version(version)
program.configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'octavo: ')) })

program
  .command('start', { isDefault: true })
  .description('serve the content project in a folder; what happens without a command')
  .argument('[folder]', 'the project', '.')
  .option('--new', 'make an empty database although the project had one')
  .action(async (folder: string, options) => (await import('./cli/start.js')).start(folder, options))

program
  .command('indexes')
  .description("make Octavo's own indexes on the project's database")
  .argument('[folder]', 'the project', '.')
  .action(async (folder: string) => (await import('./cli/indexes.js')).indexes(folder))

program
  .command('doctor')
  .description("examine the project's database and files, without changing anything")
  .argument('[folder]', 'the project', '.')
  .option('--links', 'list the links that published entries get when their target is published')
  .action(async (folder: string, options) => (await import('./cli/doctor.js')).doctorCommand(folder, options))

program
  .command('events')
  .description('print what has happened to content, one event a line (setting events.outbox)')
  .argument('[folder]', 'the project', '.')
  .option('--after <sequence>', 'the last event that is known already', '0')
  .option('--limit <number>', 'events to print at most')
  .action(async (folder: string, options) => (await import('./cli/events.js')).eventsCommand(folder, options))

const tokens = program.command('tokens').description('API tokens of a project')
tokens
  .command('create')
  .description('make a token and print its key')
  .argument('[folder]', 'the project', '.')
  .requiredOption('--name <name>', 'what the token is called')
  .option('--type <type>', 'read-only, full-access or custom', 'read-only')
  .option('--description <text>')
  .option('--expires <days>', 'days until it ends, or never', 'never')
  .option('--permissions <actions>', 'what a custom token allows, separated by commas')
  .option('--key <key>', 'the key, if it must be a certain one')
  .action(async (folder: string, options) => (await import('./cli/tokens.js')).createTokenCommand(folder, options))
tokens
  .command('list')
  .description('show names, types and ends; never keys')
  .argument('[folder]', 'the project', '.')
  .action(async (folder: string) => (await import('./cli/tokens.js')).listTokensCommand(folder))
tokens
  .command('revoke')
  .description('take a token away')
  .argument('<token>', 'its name or id')
  .argument('[folder]', 'the project', '.')
  .action(async (token: string, folder: string) => (await import('./cli/tokens.js')).revokeTokenCommand(token, folder))
tokens
  .command('regenerate')
  .description('give a token another key and print it')
  .argument('<token>', 'its name or id')
  .argument('[folder]', 'the project', '.')
  .option('--key <key>', 'the key, if it must be a certain one')
  .action(async (token: string, folder: string, options) =>
    (await import('./cli/tokens.js')).regenerateTokenCommand(token, folder, options),
  )

const users = program.command('users').description('users of a project')
users
  .command('create')
  .description('add a user, whose address counts as confirmed')
  .argument('[folder]', 'the project', '.')
  .requiredOption('--username <name>')
  .requiredOption('--email <address>')
  .option('--password <password>', 'a new one is printed if none is given; - reads it from standard input')
  .option('--role <type>', 'the type of the role', 'authenticated')
  .action(async (folder: string, options) => (await import('./cli/users.js')).createUserCommand(folder, options))
users
  .command('list')
  .description('show users with their roles')
  .argument('[folder]', 'the project', '.')
  .action(async (folder: string) => (await import('./cli/users.js')).listUsersCommand(folder))
users
  .command('block')
  .description('let a user in no more; whoever is signed in is signed out')
  .argument('<user>', 'name, address or id')
  .argument('[folder]', 'the project', '.')
  .action(async (user: string, folder: string) => (await import('./cli/users.js')).blockUserCommand(true)(user, folder))
users
  .command('unblock')
  .description('let a user in again')
  .argument('<user>', 'name, address or id')
  .argument('[folder]', 'the project', '.')
  .action(async (user: string, folder: string) => (await import('./cli/users.js')).blockUserCommand(false)(user, folder))
users
  .command('delete')
  .description('remove a user')
  .argument('<user>', 'name, address or id')
  .argument('[folder]', 'the project', '.')
  .action(async (user: string, folder: string) => (await import('./cli/users.js')).deleteUserCommand(user, folder))
users
  .command('password')
  .description('set a password; whoever is signed in must sign in again')
  .argument('<user>', 'name, address or id')
  .argument('[folder]', 'the project', '.')
  .option('--password <password>', 'a new one is printed if none is given; - reads it from standard input')
  .action(async (user: string, folder: string, options) => (await import('./cli/users.js')).passwordCommand(user, folder, options))

users
  .command('confirm')
  .description('count the address of a user as confirmed')
  .argument('<user>', 'name, address or id')
  .argument('[folder]', 'the project', '.')
  .action(async (user: string, folder: string) => (await import('./cli/users.js')).confirmUserCommand(user, folder))
users
  .command('role')
  .description('give a user another role')
  .argument('<user>', 'name, address or id')
  .argument('<role>', 'type, name or id')
  .argument('[folder]', 'the project', '.')
  .action(async (user: string, role: string, folder: string) => (await import('./cli/users.js')).roleOfUserCommand(user, role, folder))

const roles = program.command('roles').description('roles of a project, and what they allow')
roles
  .command('list')
  .description('show roles')
  .argument('[folder]', 'the project', '.')
  .option('--actions', 'show what each role allows')
  .action(async (folder: string, options) => (await import('./cli/roles.js')).listRolesCommand(folder, options))
roles
  .command('create')
  .description('add a role; its type is its name in lower case')
  .argument('<name>')
  .argument('[folder]', 'the project', '.')
  .option('--description <text>')
  .option('--permissions <actions>', 'what it allows, separated by commas')
  .action(async (name: string, folder: string, options) => (await import('./cli/roles.js')).createRoleCommand(name, folder, options))
roles
  .command('grant')
  .description('let a role do more')
  .argument('<role>', 'type, name or id')
  .argument('<actions>', 'separated by commas: api::article.article.find')
  .argument('[folder]', 'the project', '.')
  .action(async (role: string, actions: string, folder: string) => (await import('./cli/roles.js')).grantCommand(role, actions, folder))
roles
  .command('revoke')
  .description('let a role do less')
  .argument('<role>', 'type, name or id')
  .argument('<actions>', 'separated by commas')
  .argument('[folder]', 'the project', '.')
  .action(async (role: string, actions: string, folder: string) => (await import('./cli/roles.js')).revokeCommand(role, actions, folder))

roles
  .command('delete')
  .description('remove a role; its users get the public one')
  .argument('<role>', 'type, name or id')
  .argument('[folder]', 'the project', '.')
  .action(async (role: string, folder: string) => (await import('./cli/roles.js')).deleteRoleCommand(role, folder))

const settings = program.command('settings').description('what a project allows its users')
settings
  .command('list')
  .description('show the settings')
  .argument('[folder]', 'the project', '.')
  .action(async (folder: string) => (await import('./cli/settings.js')).listSettingsCommand(folder))
settings
  .command('set')
  .description('change a setting')
  .argument('<setting>', 'its name, as octavo settings list shows it')
  .argument('<value>', 'yes or no, the type of a role, an address or none')
  .argument('[folder]', 'the project', '.')
  .action(async (name: string, value: string, folder: string) => (await import('./cli/settings.js')).setSettingCommand(name, value, folder))

const locales = program.command('locales').description('languages of a project')
locales
  .command('list')
  .description('show locales, how many documents have them, and the default one')
  .argument('[folder]', 'the project', '.')
  .action(async (folder: string) => (await import('./cli/locales.js')).listLocalesCommand(folder))
locales
  .command('add')
  .description('add a locale')
  .argument('<code>', 'de, en-GB, …')
  .argument('[folder]', 'the project', '.')
  .option('--name <name>', 'what it is called; without it its name in English: German (de)')
  .action(async (code: string, folder: string, options) => (await import('./cli/locales.js')).addLocaleCommand(code, folder, options))
locales
  .command('remove')
  .description('take a locale away that no document has')
  .argument('<code>')
  .argument('[folder]', 'the project', '.')
  .action(async (code: string, folder: string) => (await import('./cli/locales.js')).removeLocaleCommand(code, folder))
locales
  .command('default')
  .description('choose the locale that is meant when none is named')
  .argument('<code>')
  .argument('[folder]', 'the project', '.')
  .action(async (code: string, folder: string) => (await import('./cli/locales.js')).defaultLocaleCommand(code, folder))

// A first word alone is a folder to serve, so an unknown command must be told from it.
const [word] = process.argv.slice(2)
const commands = [...program.commands.map((command) => command.name()), 'help']
if (word !== undefined && /^[\w-]+$/.test(word) && !word.startsWith('-') && !commands.includes(word) && !existsSync(word))
  program.error(`octavo: there is no command "${word}" and no such folder. The commands are ${commands.join(', ')}.`)

await program.parseAsync()
