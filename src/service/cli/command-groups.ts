// The commands that share a word with others, such as `octavo tokens create`.
import { type AddCommands, collect, folder, group, json, type Parameter, required } from './command-rows.js'

const password: Parameter = [
  '--password <password>',
  'the password; - reads it from standard input; by default one is generated and printed',
]

/** Options for decisions about a model change. */
const decisions: readonly Parameter[] = [
  ['--rename <renames>', 'renames: api::note.note.body=text, api::note.note=api::memo.memo, shared.seo=shared.meta; commas between'],
  ['--publish-drafts', 'publish documents that were never published, where Draft & Publish is switched off'],
  json,
]

const token: Parameter = ['<token>', 'its name or id']
const key: Parameter = ['--key <key>', 'use this key instead of a generated one']
const user: Parameter = ['<user>', 'name, e-mail address or id']
const administrator: Parameter = ['<administrator>', 'e-mail address or id']
const role: Parameter = ['<role>', 'type, name or id']
const webhook: Parameter = ['<webhook>', 'its name or id']

/** Changes of the model. */
export const modelCommands: AddCommands = group(
  'model',
  'plan, apply, undo and list changes of the content model, and restore archived values',
  () => import('./model.js'),
  [
    [
      'plan',
      'show what the changed schema files would do to the database, and do nothing',
      [folder, ...decisions],
      (code) => code.planCommand,
    ],
    [
      'apply',
      'change the database as the schema files say',
      [folder, ...decisions, ['--agree <names>', 'content that may be hidden, as the plan names it; commas between']],
      (code) => code.applyCommand,
    ],
    [
      'undo',
      'undo the last change: files, database, and archived content',
      [
        folder,
        ['--change <number>', 'the number of the last change; refused if another one followed'],
        ['--agree <names>', 'content that may be hidden; commas between'],
        json,
      ],
      (code) => code.undoCommand,
    ],
    [
      'restore',
      'restore the archived values of an attribute that the model has again',
      [['<attribute>', 'its name, such as api::note.note.body'], folder, json],
      (code) => code.restoreCommand,
    ],
    ['history', 'list the changes', [folder, json], (code) => code.historyCommand],
  ],
)

/** What the API and the page for editors manage too. */
export const managementCommands: readonly AddCommands[] = [
  group('tokens', 'manage API tokens', () => import('./tokens.js'), [
    [
      'create',
      'create a token and print its key',
      [
        folder,
        ['--name <name>', 'name of the token', required],
        ['--type <type>', 'read-only, full-access or custom', 'read-only'],
        ['--description <text>'],
        ['--expires <days>', 'days until it expires, or never', 'never'],
        ['--permissions <actions>', 'actions that a custom token allows, separated by commas; api::article.article.* means all of a type'],
        key,
      ],
      (code) => code.createTokenCommand,
    ],
    ['list', 'list names, types and expiry dates (never keys)', [folder, json], (code) => code.listTokensCommand],
    ['revoke', 'delete a token', [token, folder], (code) => code.revokeTokenCommand, 'delete'],
    ['regenerate', 'replace the key of a token and print the new one', [token, folder, key], (code) => code.regenerateTokenCommand],
  ]),
  group('users', 'manage users', () => import('./users.js'), [
    [
      'create',
      'create a user with a confirmed e-mail address',
      [
        folder,
        ['--username <name>', undefined, required],
        ['--email <address>', undefined, required],
        password,
        ['--role <type>', 'type of the role', 'authenticated'],
      ],
      (code) => code.createUserCommand,
    ],
    ['list', 'list users and their roles', [folder, json], (code) => code.listUsersCommand],
    ['block', "block a user and end all of the user's sessions", [user, folder], (code) => code.blockUserCommand(true)],
    ['unblock', 'unblock a user', [user, folder], (code) => code.blockUserCommand(false)],
    ['delete', 'delete a user', [user, folder], (code) => code.deleteUserCommand, 'remove'],
    ['password', "set a password and end all of the user's sessions", [user, folder, password], (code) => code.passwordCommand],
    ['confirm', 'mark the e-mail address of a user as confirmed', [user, folder], (code) => code.confirmUserCommand],
    ['role', 'change the role of a user', [user, role, folder], (code) => code.roleOfUserCommand],
  ]),
  group('admins', 'manage administrators', () => import('./admins.js'), [
    [
      'create',
      'create an active administrator',
      [
        folder,
        ['--email <address>', undefined, required],
        ['--firstname <name>', 'first name', 'Admin'],
        ['--lastname <name>'],
        password,
        ['--role <codes>', 'codes of roles, separated by commas', 'strapi-super-admin'],
      ],
      (code) => code.createAdminCommand,
    ],
    ['list', 'list administrators and their roles', [folder, json], (code) => code.listAdminsCommand],
    [
      'block',
      "block an administrator and end all of the administrator's sessions",
      [administrator, folder],
      (code) => code.blockAdminCommand(true),
    ],
    ['unblock', 'unblock an administrator', [administrator, folder], (code) => code.blockAdminCommand(false)],
    [
      'reset-password',
      "set a password, activate the account, and end all of the administrator's sessions",
      [administrator, folder, password],
      (code) => code.resetAdminPasswordCommand,
    ],
  ]),
  group('roles', 'manage roles and the actions they allow', () => import('./roles.js'), [
    [
      'list',
      'list roles',
      [folder, ['--actions', 'also list the actions that each role allows'], ['--json', 'print JSON, with all actions']],
      (code) => code.listRolesCommand,
    ],
    [
      'create',
      'create a role; its type is derived from its name',
      [
        ['<name>'],
        folder,
        ['--description <text>'],
        ['--permissions <actions>', 'actions that it allows, separated by commas; api::article.article.* means all of a type'],
      ],
      (code) => code.createRoleCommand,
    ],
    [
      'grant',
      'grant actions to a role',
      [role, ['<actions>', 'separated by commas, such as api::article.article.find; api::article.article.* means all of a type'], folder],
      (code) => code.grantCommand,
    ],
    ['revoke', 'revoke actions from a role', [role, ['<actions>', 'as for grant'], folder], (code) => code.revokeCommand],
    ['delete', 'delete a role; its users get the public role', [role, folder], (code) => code.deleteRoleCommand, 'remove'],
  ]),
  group('settings', 'manage settings for users', () => import('./settings.js'), [
    ['list', 'list the settings and their values', [folder, json], (code) => code.listSettingsCommand],
    [
      'set',
      'change a setting',
      [
        ['<setting>', 'name of the setting, as shown by octavo settings list'],
        ['<value>', 'yes or no, the type of a role, a URL or none'],
        folder,
      ],
      (code) => code.setSettingCommand,
    ],
  ]),
  group('locales', 'manage locales', () => import('./locales.js'), [
    ['list', 'list locales, the number of documents in each, and the default locale', [folder, json], (code) => code.listLocalesCommand],
    [
      'add',
      'add a locale',
      [['<code>', 'de, en-GB, …'], folder, ['--name <name>', 'display name; by default its English name: German (de)']],
      (code) => code.addLocaleCommand,
    ],
    ['remove', 'remove a locale that no document uses', [['<code>'], folder], (code) => code.removeLocaleCommand, 'delete'],
    ['default', 'set the locale of requests that name none', [['<code>'], folder], (code) => code.defaultLocaleCommand],
  ]),
  group('webhooks', 'manage webhooks', () => import('./webhooks.js'), [
    ['list', 'list webhooks (never the values of their headers)', [folder, json], (code) => code.listWebhooksCommand],
    [
      'create',
      'create a webhook and print its signing secret',
      [
        folder,
        ['--name <name>', 'name of the webhook', required],
        ['--url <url>', 'where events are sent', required],
        ['--events <events>', 'entry.create, entry.publish, media.create …, separated by commas, or all', required],
        ['--header <header>', 'a header of its requests as "Name: value"; may be given several times', collect],
        ['--disabled', 'do not send anything yet'],
      ],
      (code) => code.createWebhookCommand,
    ],
    [
      'update',
      'change a webhook',
      [
        webhook,
        folder,
        ['--name <name>', 'new name'],
        ['--url <url>', 'new URL'],
        ['--events <events>', 'the events that it gets from now on, separated by commas, or all'],
        ['--header <header>', 'add or replace a header, as "Name: value"; may be given several times', collect],
        ['--remove-header <name>', 'remove a header; may be given several times', collect],
      ],
      (code) => code.updateWebhookCommand,
    ],
    ['enable', 'send events from now on', [webhook, folder], (code) => code.switchWebhookCommand(true)],
    ['disable', 'send no events; those that wait count as given up', [webhook, folder], (code) => code.switchWebhookCommand(false)],
    ['delete', 'delete a webhook with the log of its deliveries', [webhook, folder], (code) => code.deleteWebhookCommand, 'remove'],
    [
      'secret',
      'print the secret that requests of a webhook are signed with',
      [webhook, folder, ['--rotate', 'replace it; for a day, requests are signed with the former one too']],
      (code) => code.webhookSecretCommand,
    ],
    ['trigger', 'send a test event to a webhook now and print the response', [webhook, folder], (code) => code.triggerWebhookCommand],
    [
      'deliveries',
      'list attempts to deliver events to a webhook, the latest first',
      [
        webhook,
        folder,
        ['--waiting', 'list the events that wait for another attempt instead'],
        ['--failed', 'list the events that were given up instead'],
        ['--limit <number>', 'maximum number of lines', '20'],
        json,
      ],
      (code) => code.listDeliveriesCommand,
    ],
    [
      'resend',
      'have events delivered again; a running service sends them',
      [
        webhook,
        folder,
        ['--failed', 'the events that were given up'],
        ['--after <sequence>', 'all events that it wants after this sequence number'],
        ['--sequence <numbers>', 'the events with these sequence numbers, separated by commas'],
      ],
      (code) => code.resendCommand,
    ],
  ]),
]
