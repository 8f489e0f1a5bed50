// All commands with their arguments, options and functions.
import { type Command, Option } from 'commander'
import { managementCommands, modelCommands } from './command-groups.js'
import { addRow, collect, folder, json, type Parameter, type Row, required } from './command-rows.js'

/** Strapi's options for parts of a project. */
const parts: readonly Parameter[] = [
  ['--only <parts>', 'only these: content, files, config; separated by commas'],
  ['--exclude <parts>', 'all but these: content, files, config, media-library'],
  ['--only-content-types <uids>', 'only entities of these content-types, separated by commas'],
  ['--exclude-content-types <uids>', 'all but those of these content-types'],
]

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

export function addCommands(program: Command): void {
  for (const row of projectCommands) addRow(program, async () => null, row)
  modelCommands(program)
  for (const row of transferCommands) addRow(program, async () => null, row)
  for (const add of managementCommands) add(program)
  // As with diff and grep, 1 means a difference.
  const compare = program.commands.find((command) => command.name() === 'compare')!
  compare.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
}
