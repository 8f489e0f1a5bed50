#!/usr/bin/env node
// The `octavo` command. The code of a subcommand is loaded only when it runs.
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
  .description('serve the content project in a folder (the default command)')
  .argument('[folder]', 'the project', '.')
  .option('--new', 'create an empty database although the project had one')
  .action(async (folder: string, options) => (await import('./cli/start.js')).start(folder, options))

program
  .command('indexes')
  .description("create Octavo's own indexes in the project's database")
  .argument('[folder]', 'the project', '.')
  .action(async (folder: string) => (await import('./cli/indexes.js')).indexes(folder))

program
  .command('doctor')
  .description("check the project's database and files without changing anything")
  .argument('[folder]', 'the project', '.')
  .option('--links', 'list pending links: relations of published entries to targets that are not published yet')
  .action(async (folder: string, options) => (await import('./cli/doctor.js')).doctorCommand(folder, options))

program
  .command('copy')
  .description('copy all rows of one database to another, from SQLite to PostgreSQL or back, and verify the copy')
  .argument('[folder]', 'the project whose tables they have', '.')
  .requiredOption('--from <database>', 'a SQLite file or postgres://user:password@host/database; nothing should write to it meanwhile')
  .requiredOption('--to <database>', 'the same for the copy; created or completed as a start would do it; an interrupted copy is resumed')
  .option('--adapt', 'change values that the copy cannot hold (rounded, cut off or null) and print them')
  .option('--overwrite', 'remove all rows that --to has')
  .action(async (folder: string, options) => (await import('./cli/copy.js')).copyCommand(folder, options))

program
  .command('events')
  .description('print recorded content events, one per line (requires events.outbox)')
  .argument('[folder]', 'the project', '.')
  .option('--after <sequence>', 'print only events after this sequence number', '0')
  .option('--limit <number>', 'maximum number of events to print')
  .action(async (folder: string, options) => (await import('./cli/events.js')).eventsCommand(folder, options))

const tokens = program.command('tokens').description('API tokens of a project')
tokens
  .command('create')
  .description('create a token and print its key')
  .argument('[folder]', 'the project', '.')
  .requiredOption('--name <name>', 'name of the token')
  .option('--type <type>', 'read-only, full-access or custom', 'read-only')
  .option('--description <text>')
  .option('--expires <days>', 'days until it expires, or never', 'never')
  .option('--permissions <actions>', 'actions that a custom token allows, separated by commas')
  .option('--key <key>', 'use this key instead of a generated one')
  .action(async (folder: string, options) => (await import('./cli/tokens.js')).createTokenCommand(folder, options))
tokens
  .command('list')
  .description('list names, types and expiry dates (never keys)')
  .argument('[folder]', 'the project', '.')
  .action(async (folder: string) => (await import('./cli/tokens.js')).listTokensCommand(folder))
tokens
  .command('revoke')
  .description('delete a token')
  .argument('<token>', 'its name or id')
  .argument('[folder]', 'the project', '.')
  .action(async (token: string, folder: string) => (await import('./cli/tokens.js')).revokeTokenCommand(token, folder))
tokens
  .command('regenerate')
  .description('replace the key of a token and print the new one')
  .argument('<token>', 'its name or id')
  .argument('[folder]', 'the project', '.')
  .option('--key <key>', 'use this key instead of a generated one')
  .action(async (token: string, folder: string, options) =>
    (await import('./cli/tokens.js')).regenerateTokenCommand(token, folder, options),
  )

const users = program.command('users').description('users of a project')
users
  .command('create')
  .description('create a user with a confirmed e-mail address')
  .argument('[folder]', 'the project', '.')
  .requiredOption('--username <name>')
  .requiredOption('--email <address>')
  .option('--password <password>', 'the password; - reads it from standard input; by default one is generated and printed')
  .option('--role <type>', 'type of the role', 'authenticated')
  .action(async (folder: string, options) => (await import('./cli/users.js')).createUserCommand(folder, options))
users
  .command('list')
  .description('list users and their roles')
  .argument('[folder]', 'the project', '.')
  .action(async (folder: string) => (await import('./cli/users.js')).listUsersCommand(folder))
users
  .command('block')
  .description("block a user and end all of the user's sessions")
  .argument('<user>', 'name, e-mail address or id')
  .argument('[folder]', 'the project', '.')
  .action(async (user: string, folder: string) => (await import('./cli/users.js')).blockUserCommand(true)(user, folder))
users
  .command('unblock')
  .description('unblock a user')
  .argument('<user>', 'name, e-mail address or id')
  .argument('[folder]', 'the project', '.')
  .action(async (user: string, folder: string) => (await import('./cli/users.js')).blockUserCommand(false)(user, folder))
users
  .command('delete')
  .description('delete a user')
  .argument('<user>', 'name, e-mail address or id')
  .argument('[folder]', 'the project', '.')
  .action(async (user: string, folder: string) => (await import('./cli/users.js')).deleteUserCommand(user, folder))
users
  .command('password')
  .description("set a password and end all of the user's sessions")
  .argument('<user>', 'name, e-mail address or id')
  .argument('[folder]', 'the project', '.')
  .option('--password <password>', 'the password; - reads it from standard input; by default one is generated and printed')
  .action(async (user: string, folder: string, options) => (await import('./cli/users.js')).passwordCommand(user, folder, options))

users
  .command('confirm')
  .description('mark the e-mail address of a user as confirmed')
  .argument('<user>', 'name, e-mail address or id')
  .argument('[folder]', 'the project', '.')
  .action(async (user: string, folder: string) => (await import('./cli/users.js')).confirmUserCommand(user, folder))
users
  .command('role')
  .description('change the role of a user')
  .argument('<user>', 'name, e-mail address or id')
  .argument('<role>', 'type, name or id')
  .argument('[folder]', 'the project', '.')
  .action(async (user: string, role: string, folder: string) => (await import('./cli/users.js')).roleOfUserCommand(user, role, folder))

const roles = program.command('roles').description('roles of a project and the actions they allow')
roles
  .command('list')
  .description('list roles')
  .argument('[folder]', 'the project', '.')
  .option('--actions', 'also list the actions that each role allows')
  .action(async (folder: string, options) => (await import('./cli/roles.js')).listRolesCommand(folder, options))
roles
  .command('create')
  .description('create a role; its type is derived from its name')
  .argument('<name>')
  .argument('[folder]', 'the project', '.')
  .option('--description <text>')
  .option('--permissions <actions>', 'actions that it allows, separated by commas')
  .action(async (name: string, folder: string, options) => (await import('./cli/roles.js')).createRoleCommand(name, folder, options))
roles
  .command('grant')
  .description('grant actions to a role')
  .argument('<role>', 'type, name or id')
  .argument('<actions>', 'separated by commas, such as api::article.article.find')
  .argument('[folder]', 'the project', '.')
  .action(async (role: string, actions: string, folder: string) => (await import('./cli/roles.js')).grantCommand(role, actions, folder))
roles
  .command('revoke')
  .description('revoke actions from a role')
  .argument('<role>', 'type, name or id')
  .argument('<actions>', 'separated by commas')
  .argument('[folder]', 'the project', '.')
  .action(async (role: string, actions: string, folder: string) => (await import('./cli/roles.js')).revokeCommand(role, actions, folder))

roles
  .command('delete')
  .description('delete a role; its users get the public role')
  .argument('<role>', 'type, name or id')
  .argument('[folder]', 'the project', '.')
  .action(async (role: string, folder: string) => (await import('./cli/roles.js')).deleteRoleCommand(role, folder))

const settings = program.command('settings').description('settings for users of a project')
settings
  .command('list')
  .description('list the settings and their values')
  .argument('[folder]', 'the project', '.')
  .action(async (folder: string) => (await import('./cli/settings.js')).listSettingsCommand(folder))
settings
  .command('set')
  .description('change a setting')
  .argument('<setting>', 'name of the setting, as shown by octavo settings list')
  .argument('<value>', 'yes or no, the type of a role, a URL or none')
  .argument('[folder]', 'the project', '.')
  .action(async (name: string, value: string, folder: string) => (await import('./cli/settings.js')).setSettingCommand(name, value, folder))

const locales = program.command('locales').description('locales of a project')
locales
  .command('list')
  .description('list locales, the number of documents in each, and the default locale')
  .argument('[folder]', 'the project', '.')
  .action(async (folder: string) => (await import('./cli/locales.js')).listLocalesCommand(folder))
locales
  .command('add')
  .description('add a locale')
  .argument('<code>', 'de, en-GB, …')
  .argument('[folder]', 'the project', '.')
  .option('--name <name>', 'display name; by default its English name: German (de)')
  .action(async (code: string, folder: string, options) => (await import('./cli/locales.js')).addLocaleCommand(code, folder, options))
locales
  .command('remove')
  .description('remove a locale that no document uses')
  .argument('<code>')
  .argument('[folder]', 'the project', '.')
  .action(async (code: string, folder: string) => (await import('./cli/locales.js')).removeLocaleCommand(code, folder))
locales
  .command('default')
  .description('set the locale of requests that name none')
  .argument('<code>')
  .argument('[folder]', 'the project', '.')
  .action(async (code: string, folder: string) => (await import('./cli/locales.js')).defaultLocaleCommand(code, folder))

// A single word may also be a folder to serve, so commander does not detect unknown commands.
const [word] = process.argv.slice(2)
const commands = [...program.commands.map((command) => command.name()), 'help']
if (word !== undefined && /^[\w-]+$/.test(word) && !word.startsWith('-') && !commands.includes(word) && !existsSync(word))
  program.error(`octavo: "${word}" is neither a command nor a folder. The commands are ${commands.join(', ')}.`)

await program.parseAsync()
