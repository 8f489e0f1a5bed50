// Commands for tokens, users, administrators, roles, settings, locales and webhooks. Their code is loaded only when they run.
import type { Command } from 'commander'

function addTokenCommands(program: Command): void {
  const tokens = program.command('tokens').description('manage API tokens')
  tokens
    .command('create')
    .description('create a token and print its key')
    .argument('[folder]', 'the project', '.')
    .requiredOption('--name <name>', 'name of the token')
    .option('--type <type>', 'read-only, full-access or custom', 'read-only')
    .option('--description <text>')
    .option('--expires <days>', 'days until it expires, or never', 'never')
    .option(
      '--permissions <actions>',
      'actions that a custom token allows, separated by commas; api::article.article.* means all of a type',
    )
    .option('--key <key>', 'use this key instead of a generated one')
    .action(async (folder: string, options) => (await import('../tokens.js')).createTokenCommand(folder, options))
  tokens
    .command('list')
    .description('list names, types and expiry dates (never keys)')
    .argument('[folder]', 'the project', '.')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../tokens.js')).listTokensCommand(folder, options))
  tokens
    .command('revoke')
    .alias('delete')
    .description('delete a token')
    .argument('<token>', 'its name or id')
    .argument('[folder]', 'the project', '.')
    .action(async (token: string, folder: string) => (await import('../tokens.js')).revokeTokenCommand(token, folder))
  tokens
    .command('regenerate')
    .description('replace the key of a token and print the new one')
    .argument('<token>', 'its name or id')
    .argument('[folder]', 'the project', '.')
    .option('--key <key>', 'use this key instead of a generated one')
    .action(async (token: string, folder: string, options) => (await import('../tokens.js')).regenerateTokenCommand(token, folder, options))
}

function addUserCommands(program: Command): void {
  const users = program.command('users').description('manage users')
  users
    .command('create')
    .description('create a user with a confirmed e-mail address')
    .argument('[folder]', 'the project', '.')
    .requiredOption('--username <name>')
    .requiredOption('--email <address>')
    .option('--password <password>', 'the password; - reads it from standard input; by default one is generated and printed')
    .option('--role <type>', 'type of the role', 'authenticated')
    .action(async (folder: string, options) => (await import('../users.js')).createUserCommand(folder, options))
  users
    .command('list')
    .description('list users and their roles')
    .argument('[folder]', 'the project', '.')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../users.js')).listUsersCommand(folder, options))
  users
    .command('block')
    .description("block a user and end all of the user's sessions")
    .argument('<user>', 'name, e-mail address or id')
    .argument('[folder]', 'the project', '.')
    .action(async (user: string, folder: string) => (await import('../users.js')).blockUserCommand(true)(user, folder))
  users
    .command('unblock')
    .description('unblock a user')
    .argument('<user>', 'name, e-mail address or id')
    .argument('[folder]', 'the project', '.')
    .action(async (user: string, folder: string) => (await import('../users.js')).blockUserCommand(false)(user, folder))
  users
    .command('delete')
    .alias('remove')
    .description('delete a user')
    .argument('<user>', 'name, e-mail address or id')
    .argument('[folder]', 'the project', '.')
    .action(async (user: string, folder: string) => (await import('../users.js')).deleteUserCommand(user, folder))
  users
    .command('password')
    .description("set a password and end all of the user's sessions")
    .argument('<user>', 'name, e-mail address or id')
    .argument('[folder]', 'the project', '.')
    .option('--password <password>', 'the password; - reads it from standard input; by default one is generated and printed')
    .action(async (user: string, folder: string, options) => (await import('../users.js')).passwordCommand(user, folder, options))

  users
    .command('confirm')
    .description('mark the e-mail address of a user as confirmed')
    .argument('<user>', 'name, e-mail address or id')
    .argument('[folder]', 'the project', '.')
    .action(async (user: string, folder: string) => (await import('../users.js')).confirmUserCommand(user, folder))
  users
    .command('role')
    .description('change the role of a user')
    .argument('<user>', 'name, e-mail address or id')
    .argument('<role>', 'type, name or id')
    .argument('[folder]', 'the project', '.')
    .action(async (user: string, role: string, folder: string) => (await import('../users.js')).roleOfUserCommand(user, role, folder))
}

const password = ['--password <password>', 'the password; - reads it from standard input; by default one is generated and printed'] as const

function addAdminCommands(program: Command): void {
  const admins = program.command('admins').description('manage administrators')
  admins
    .command('create')
    .description('create an active administrator')
    .argument('[folder]', 'the project', '.')
    .requiredOption('--email <address>')
    .option('--firstname <name>', 'first name', 'Admin')
    .option('--lastname <name>')
    .option(...password)
    .option('--role <codes>', 'codes of roles, separated by commas', 'strapi-super-admin')
    .action(async (folder: string, options) => (await import('../admins.js')).createAdminCommand(folder, options))
  admins
    .command('list')
    .description('list administrators and their roles')
    .argument('[folder]', 'the project', '.')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../admins.js')).listAdminsCommand(folder, options))
  admins
    .command('block')
    .description("block an administrator and end all of the administrator's sessions")
    .argument('<administrator>', 'e-mail address or id')
    .argument('[folder]', 'the project', '.')
    .action(async (who: string, folder: string) => (await import('../admins.js')).blockAdminCommand(true)(who, folder))
  admins
    .command('unblock')
    .description('unblock an administrator')
    .argument('<administrator>', 'e-mail address or id')
    .argument('[folder]', 'the project', '.')
    .action(async (who: string, folder: string) => (await import('../admins.js')).blockAdminCommand(false)(who, folder))
  admins
    .command('reset-password')
    .description("set a password, activate the account, and end all of the administrator's sessions")
    .argument('<administrator>', 'e-mail address or id')
    .argument('[folder]', 'the project', '.')
    .option(...password)
    .action(async (who: string, folder: string, options) => (await import('../admins.js')).resetAdminPasswordCommand(who, folder, options))
}

function addRoleCommands(program: Command): void {
  const roles = program.command('roles').description('manage roles and the actions they allow')
  roles
    .command('list')
    .description('list roles')
    .argument('[folder]', 'the project', '.')
    .option('--actions', 'also list the actions that each role allows')
    .option('--json', 'print JSON, with all actions')
    .action(async (folder: string, options) => (await import('../roles.js')).listRolesCommand(folder, options))
  roles
    .command('create')
    .description('create a role; its type is derived from its name')
    .argument('<name>')
    .argument('[folder]', 'the project', '.')
    .option('--description <text>')
    .option('--permissions <actions>', 'actions that it allows, separated by commas; api::article.article.* means all of a type')
    .action(async (name: string, folder: string, options) => (await import('../roles.js')).createRoleCommand(name, folder, options))
  roles
    .command('grant')
    .description('grant actions to a role')
    .argument('<role>', 'type, name or id')
    .argument('<actions>', 'separated by commas, such as api::article.article.find; api::article.article.* means all of a type')
    .argument('[folder]', 'the project', '.')
    .action(async (role: string, actions: string, folder: string) => (await import('../roles.js')).grantCommand(role, actions, folder))
  roles
    .command('revoke')
    .description('revoke actions from a role')
    .argument('<role>', 'type, name or id')
    .argument('<actions>', 'as for grant')
    .argument('[folder]', 'the project', '.')
    .action(async (role: string, actions: string, folder: string) => (await import('../roles.js')).revokeCommand(role, actions, folder))

  roles
    .command('delete')
    .alias('remove')
    .description('delete a role; its users get the public role')
    .argument('<role>', 'type, name or id')
    .argument('[folder]', 'the project', '.')
    .action(async (role: string, folder: string) => (await import('../roles.js')).deleteRoleCommand(role, folder))
}

function addSettingCommands(program: Command): void {
  const settings = program.command('settings').description('manage settings for users')
  settings
    .command('list')
    .description('list the settings and their values')
    .argument('[folder]', 'the project', '.')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../settings.js')).listSettingsCommand(folder, options))
  settings
    .command('set')
    .description('change a setting')
    .argument('<setting>', 'name of the setting, as shown by octavo settings list')
    .argument('<value>', 'yes or no, the type of a role, a URL or none')
    .argument('[folder]', 'the project', '.')
    .action(async (name: string, value: string, folder: string) => (await import('../settings.js')).setSettingCommand(name, value, folder))
}

function addLocaleCommands(program: Command): void {
  const locales = program.command('locales').description('manage locales')
  locales
    .command('list')
    .description('list locales, the number of documents in each, and the default locale')
    .argument('[folder]', 'the project', '.')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../locales.js')).listLocalesCommand(folder, options))
  locales
    .command('add')
    .description('add a locale')
    .argument('<code>', 'de, en-GB, …')
    .argument('[folder]', 'the project', '.')
    .option('--name <name>', 'display name; by default its English name: German (de)')
    .action(async (code: string, folder: string, options) => (await import('../locales.js')).addLocaleCommand(code, folder, options))
  locales
    .command('remove')
    .alias('delete')
    .description('remove a locale that no document uses')
    .argument('<code>')
    .argument('[folder]', 'the project', '.')
    .action(async (code: string, folder: string) => (await import('../locales.js')).removeLocaleCommand(code, folder))
  locales
    .command('default')
    .description('set the locale of requests that name none')
    .argument('<code>')
    .argument('[folder]', 'the project', '.')
    .action(async (code: string, folder: string) => (await import('../locales.js')).defaultLocaleCommand(code, folder))
}

/** Collects an option that may be given several times. */
const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

function addWebhookCommands(program: Command): void {
  const webhooks = program.command('webhooks').description('manage webhooks')
  addDefinitionCommands(webhooks)
  addDeliveryCommands(webhooks)
}

function addDefinitionCommands(webhooks: Command): void {
  webhooks
    .command('list')
    .description('list webhooks (never the values of their headers)')
    .argument('[folder]', 'the project', '.')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../webhooks.js')).listWebhooksCommand(folder, options))
  webhooks
    .command('create')
    .description('create a webhook and print its signing secret')
    .argument('[folder]', 'the project', '.')
    .requiredOption('--name <name>', 'name of the webhook')
    .requiredOption('--url <url>', 'where events are sent')
    .requiredOption('--events <events>', 'entry.create, entry.publish, media.create …, separated by commas, or all')
    .option('--header <header>', 'a header of its requests as "Name: value"; may be given several times', collect)
    .option('--disabled', 'do not send anything yet')
    .action(async (folder: string, options) => (await import('../webhooks.js')).createWebhookCommand(folder, options))
  webhooks
    .command('update')
    .description('change a webhook')
    .argument('<webhook>', 'its name or id')
    .argument('[folder]', 'the project', '.')
    .option('--name <name>', 'new name')
    .option('--url <url>', 'new URL')
    .option('--events <events>', 'the events that it gets from now on, separated by commas, or all')
    .option('--header <header>', 'add or replace a header, as "Name: value"; may be given several times', collect)
    .option('--remove-header <name>', 'remove a header; may be given several times', collect)
    .action(async (webhook: string, folder: string, options) =>
      (await import('../webhooks.js')).updateWebhookCommand(webhook, folder, options),
    )
  const switches = [
    ['enable', 'send events from now on', true],
    ['disable', 'send no events; those that wait count as given up', false],
  ] as const
  for (const [name, description, isEnabled] of switches)
    webhooks
      .command(name)
      .description(description)
      .argument('<webhook>', 'its name or id')
      .argument('[folder]', 'the project', '.')
      .action(async (webhook: string, folder: string) => (await import('../webhooks.js')).switchWebhookCommand(webhook, folder, isEnabled))
  webhooks
    .command('delete')
    .alias('remove')
    .description('delete a webhook with the log of its deliveries')
    .argument('<webhook>', 'its name or id')
    .argument('[folder]', 'the project', '.')
    .action(async (webhook: string, folder: string) => (await import('../webhooks.js')).deleteWebhookCommand(webhook, folder))
  webhooks
    .command('secret')
    .description('print the secret that requests of a webhook are signed with')
    .argument('<webhook>', 'its name or id')
    .argument('[folder]', 'the project', '.')
    .option('--rotate', 'replace it; for a day, requests are signed with the former one too')
    .action(async (webhook: string, folder: string, options) =>
      (await import('../webhooks.js')).webhookSecretCommand(webhook, folder, options),
    )
}

function addDeliveryCommands(webhooks: Command): void {
  webhooks
    .command('trigger')
    .description('send a test event to a webhook now and print the response')
    .argument('<webhook>', 'its name or id')
    .argument('[folder]', 'the project', '.')
    .action(async (webhook: string, folder: string) => (await import('../webhooks.js')).triggerWebhookCommand(webhook, folder))
  webhooks
    .command('deliveries')
    .description('list attempts to deliver events to a webhook, the latest first')
    .argument('<webhook>', 'its name or id')
    .argument('[folder]', 'the project', '.')
    .option('--waiting', 'list the events that wait for another attempt instead')
    .option('--failed', 'list the events that were given up instead')
    .option('--limit <number>', 'maximum number of lines', '20')
    .option('--json', 'print JSON')
    .action(async (webhook: string, folder: string, options) =>
      (await import('../webhooks.js')).listDeliveriesCommand(webhook, folder, options),
    )
  webhooks
    .command('resend')
    .description('have events delivered again; a running service sends them')
    .argument('<webhook>', 'its name or id')
    .argument('[folder]', 'the project', '.')
    .option('--failed', 'the events that were given up')
    .option('--after <sequence>', 'all events that it wants after this sequence number')
    .option('--sequence <numbers>', 'the events with these sequence numbers, separated by commas')
    .action(async (webhook: string, folder: string, options) => (await import('../webhooks.js')).resendCommand(webhook, folder, options))
}

export function addAdministrationCommands(program: Command): void {
  addTokenCommands(program)
  addUserCommands(program)
  addAdminCommands(program)
  addRoleCommands(program)
  addSettingCommands(program)
  addLocaleCommands(program)
  addWebhookCommands(program)
}
