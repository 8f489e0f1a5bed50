// All commands with their arguments, options and functions. The code of a command is loaded when it runs.
import { type Command, Option } from 'commander'

type Run = (...given: never[]) => Promise<void>
const required = Symbol('required')

/** An argument, such as `<token>`, or an option with its default or a function that collects its values. */
type Parameter =
  | Option
  | readonly [
      flags: string,
      about?: string,
      more?: string | typeof required | ((value: string, before?: readonly string[]) => readonly string[]),
    ]

type Row<Code> = readonly [
  name: string,
  about: string,
  parameters: readonly Parameter[],
  run: (code: Code) => Run | Promise<Run>,
  alias?: string,
]

type AddCommands = (program: Command) => void

function addRow<Code>(parent: Command, load: () => Promise<Code>, [name, about, parameters, run, alias]: Row<Code>): void {
  const command = parent.command(name, { isDefault: name === 'start' }).description(about)
  for (const parameter of parameters) addParameter(command, parameter)
  if (alias !== undefined) command.alias(alias)
  command.action(async (...given) => (await run(await load()))(...(given as never[])))
}

const group =
  <Code>(word: string, about: string, load: () => Promise<Code>, rows: readonly Row<Code>[]): AddCommands =>
  (program) => {
    const parent = program.command(word).description(about)
    for (const row of rows) addRow(parent, load, row)
  }

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]
const folder: Parameter = ['[folder]', 'the project', '.']
const json: Parameter = ['--json', 'print JSON']
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

/** Strapi's options for parts of a project. */
const parts: readonly Parameter[] = [
  ['--only <parts>', 'only these: content, files, config; separated by commas'],
  ['--exclude <parts>', 'all but these: content, files, config, media-library'],
  ['--only-content-types <uids>', 'only entities of these content-types, separated by commas'],
  ['--exclude-content-types <uids>', 'all but those of these content-types'],
]

const token: Parameter = ['<token>', 'its name or id']
const key: Parameter = ['--key <key>', 'use this key instead of a generated one']
const user: Parameter = ['<user>', 'name, e-mail address or id']
const administrator: Parameter = ['<administrator>', 'e-mail address or id']
const role: Parameter = ['<role>', 'type, name or id']
const webhook: Parameter = ['<webhook>', 'its name or id']

const projectCommands: readonly Row<null>[] = [
  [
    'init',
    'create a project from a template, with questions in a terminal',
    [
      ['[folder]', 'an empty or new folder'],
      ['--template <name>', 'blank, blog or magazine'],
      ['--database <name>', 'sqlite, postgres or mysql'],
      ['--database-url <url>', 'where the server is: postgres://user:password@host:5432/database; written to .env'],
      ['--typescript', 'octavo.config.ts'],
      ['--no-typescript', 'octavo.config.mjs'],
      ['--install', 'install the dependencies'],
      ['--no-install', 'leave that for later'],
      ['--git', 'create a git repository'],
      ['--no-git', 'create none'],
      ['-y, --yes', 'no questions: blank, SQLite, TypeScript, install, git, unless flags say otherwise'],
    ],
    async () => (await import('./init.js')).init,
  ],
  [
    'dev',
    'serve a project and reload it when a schema, the configuration or .env changes',
    [folder, ['--poll [milliseconds]', 'look for changes at this interval: for file systems that report none (300)']],
    async () => (await import('./dev.js')).dev,
  ],
  [
    'start',
    'serve the content project in a folder (the default command)',
    [
      folder,
      ['--new', 'create an empty database although the project had one'],
      ['--processes <number>', 'service processes that share the port, or auto: one for each core (1)'],
    ],
    async () => (await import('./start.js')).start,
  ],
  ['indexes', "create Octavo's own indexes in the project's database", [folder], async () => (await import('./indexes.js')).indexes],
  [
    'config',
    'print the settings in force, with the source of each; secrets are masked',
    [folder, ['--changed', 'only those that are not the default'], json],
    async () => (await import('./config.js')).configCommand,
  ],
  [
    'adopt',
    "write the defaults that a Strapi project's own code sets for reads into octavo.config; its code is not run",
    [folder, ['--dry-run', 'print them, and write nothing']],
    async () => (await import('./adopt.js')).adoptCommand,
  ],
  [
    'doctor',
    "check the project's database and files without changing anything",
    [
      folder,
      ['--links', 'list pending links: relations of published entries to targets that are not published yet'],
      ['--json', 'print the findings as JSON'],
    ],
    async () => (await import('./doctor.js')).doctorCommand,
  ],
  [
    'copy',
    'copy all rows of one database to another, from SQLite to PostgreSQL or back, and verify the copy',
    [
      ['[folder]', 'the project whose tables they have', '.'],
      ['--from <database>', 'a SQLite file or postgres://user:password@host/database; stop programs that write to it', required],
      ['--to <database>', 'the same for the copy; created or completed as a start would do it; an interrupted copy is resumed', required],
      ['--adapt', 'change values that the copy cannot hold (rounded, cut off or null) and print them'],
      ['--overwrite', 'remove all rows that --to has'],
    ],
    async () => (await import('./copy.js')).copyCommand,
  ],
  [
    'events',
    'print recorded content events, one per line (requires events.outbox)',
    [
      folder,
      ['--after <sequence>', 'print only events after this sequence number', '0'],
      ['--limit <number>', 'maximum number of events to print'],
    ],
    async () => (await import('./events.js')).eventsCommand,
  ],
  [
    'types',
    'print the content-types of a project as TypeScript',
    [
      folder,
      ['--out <file>', 'write to this file, such as types/octavo.d.ts'],
      ['--check', 'write nothing; exit with 1 if the file (--out, or types/octavo.d.ts) is out of date'],
      ['--standalone', 'include all declarations, for projects without the client; pass the types: createClient<Types>(…)'],
      new Option('--client <package>', 'the package that the project imports the client from')
        .choices(['octavo/client', 'octavo-client'])
        .conflicts('standalone'),
    ],
    async () => (await import('./types.js')).typesCommand,
  ],
  [
    'openapi',
    'print the OpenAPI 3.1 description of what a role may do',
    [
      folder,
      ['--role <role>', 'type, name or id of the role', 'public'],
      ['--all', 'describe everything that anybody may do; needs no database'],
      ['--out <file>', 'write to this file, such as openapi.json'],
      ['--check', 'write nothing; exit with 1 if the file (--out, or openapi.json) is out of date'],
    ],
    async () => (await import('./openapi.js')).openapiCommand,
  ],
]

const transferCommands: readonly Row<null>[] = [
  [
    'export',
    "export content, files and settings to an archive in Strapi's format",
    [
      folder,
      ['-f, --file <name>', 'path of the archive without its endings; export_<time> by default'],
      ['--no-encrypt', 'do not encrypt the archive'],
      ['--no-compress', 'do not compress the archive'],
      ['-k, --key <key>', 'key of the encryption; OCTAVO_ARCHIVE_KEY, or a question, by default'],
      ['--format <format>', 'tar, or dir for a folder', 'tar'],
      ['--overwrite', 'replace an archive of the same name'],
      ...parts,
    ],
    async () => (await import('./export.js')).exportCommand,
  ],
  [
    'import',
    'replace content, files and settings by those of an archive of Strapi or of octavo export',
    [
      folder,
      ['-f, --file <path>', 'the archive: a .tar, .tar.gz or .tar.gz.enc file, or a folder', required],
      ['-k, --key <key>', 'key of an encrypted archive; OCTAVO_ARCHIVE_KEY, or a question, by default'],
      ['--force', 'delete what the project has, without a question'],
      ['--yes', 'the same as --force'],
      ['--adapt', 'leave out or change what the project cannot hold'],
      ['--new', 'create a database although the project had one'],
      ...parts,
    ],
    async () => (await import('./import.js')).importCommand,
  ],
  [
    'leave',
    'remove everything Octavo added to a project, to go back to Strapi',
    [folder, ['--force', 'remove it without a question'], ['--yes', 'the same as --force']],
    async () => (await import('./leave.js')).leaveCommand,
  ],
  [
    'backup',
    'write the database, files and schemas of a project into a folder, also while a service runs; or check such a folder',
    [
      folder,
      ['--to <path>', 'the folder to write, which must not exist'],
      ['--verify <backup>', 'check a backup instead'],
      ['--allow-missing-files', 'end with the status 0 although files that rows refer to are not there'],
      json,
    ],
    async () => (await import('./backup.js')).backupCommand,
  ],
  [
    'restore',
    'put the database, files and schemas of a backup in the places of those of a project',
    [
      ['<backup>', 'the folder that octavo backup has written'],
      folder,
      ['--replace', 'put aside the database and files that the project has'],
      ['--schemas', 'restore the schemas of the backup, and put aside those that differ'],
      ['--keep-schemas', 'keep the schemas of the project although they differ'],
    ],
    async () => (await import('./restore.js')).restoreCommand,
  ],
  [
    'compare',
    'send the same requests to Strapi and to Octavo and list what differs (exit status: 0 nothing, 1 something, 2 not compared)',
    [
      ['<strapi-url>', 'where Strapi runs, such as http://localhost:1337'],
      ['<octavo-url>', 'where Octavo runs'],
      ['--requests <file>', 'requests to send: a path, METHOD path, or a JSON object per line; - reads standard input'],
      [
        '--log <file>',
        "an access log to take requests from: nginx, Apache, Strapi's log, JSON lines; .gz is unpacked; - reads standard input",
      ],
      ['--as <name=token>', 'a caller; repeat it for several; name=@file reads the token from a file, name= has none', collect],
      ['--header <header>', '"Name: value" for every request; may be repeated', collect],
      ['--strapi-token <token>', 'an API token or JWT for both services'],
      ['--octavo-token <token>', 'another one for Octavo'],
      ['--prefix <path>', 'the prefix of the API', '/api'],
      ['--project <folder>', "the project, for its schemas and code; not needed if a caller may read the model from a service's API", '.'],
      ['--ignore <path>', 'a path of JSON that may differ, such as updatedAt or data.*.views; may be repeated', collect],
      ['--writes', 'also send POST, PUT and DELETE of --requests; both need separate databases'],
      ['--limit <number>', 'at most this many requests', '1000'],
      ['--rate <number>', 'at most this many requests per second to each service', '20'],
      ['--concurrency <number>', 'requests at the same time', '4'],
      ['--timeout <milliseconds>', 'for one response', '30000'],
      ['--retries <number>', 'further attempts of a read that fails', '2'],
      ['--show <number>', 'examples for each cause', '3'],
      ['--json', 'print the report as JSON'],
    ],
    async () => (await import('./compare.js')).compareCommand,
  ],
]

const modelCommands: AddCommands = group(
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

const managementCommands: readonly AddCommands[] = [
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

function addParameter(command: Command, parameter: Parameter): void {
  if (parameter instanceof Option) {
    command.addOption(parameter)
    return
  }
  const [flags, about, more] = parameter
  if (!flags.startsWith('-')) command.argument(flags, about, more as string | undefined)
  else if (more === required) command.requiredOption(flags, about)
  else command.option(flags, about as string, more as string)
}

export function addCommands(program: Command): void {
  for (const row of projectCommands) addRow(program, async () => null, row)
  modelCommands(program)
  for (const row of transferCommands) addRow(program, async () => null, row)
  for (const add of managementCommands) add(program)
  // As with diff and grep, 1 means a difference.
  const compare = program.commands.find((command) => command.name() === 'compare')!
  compare.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
}
