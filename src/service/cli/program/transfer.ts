// Commands for archives, backups and the way from Strapi and back. Their code is loaded only when they run.
import type { Command } from 'commander'

/** Strapi's options for parts of a project. */
const addPartOptions = (command: Command): Command =>
  command
    .option('--only <parts>', 'only these: content, files, config; separated by commas')
    .option('--exclude <parts>', 'all but these: content, files, config, media-library')
    .option('--only-content-types <uids>', 'only entities of these content-types, separated by commas')
    .option('--exclude-content-types <uids>', 'all but those of these content-types')

function addArchiveCommands(program: Command): void {
  addPartOptions(
    program
      .command('export')
      .description("export content, files and settings to an archive in Strapi's format")
      .argument('[folder]', 'the project', '.')
      .option('-f, --file <name>', 'path of the archive without its endings; export_<time> by default')
      .option('--no-encrypt', 'do not encrypt the archive')
      .option('--no-compress', 'do not compress the archive')
      .option('-k, --key <key>', 'key of the encryption; OCTAVO_ARCHIVE_KEY, or a question, by default')
      .option('--format <format>', 'tar, or dir for a folder', 'tar')
      .option('--overwrite', 'replace an archive of the same name'),
  ).action(async (folder: string, options) => (await import('../export.js')).exportCommand(folder, options))

  addPartOptions(
    program
      .command('import')
      .description('replace content, files and settings by those of an archive of Strapi or of octavo export')
      .argument('[folder]', 'the project', '.')
      .requiredOption('-f, --file <path>', 'the archive: a .tar, .tar.gz or .tar.gz.enc file, or a folder')
      .option('-k, --key <key>', 'key of an encrypted archive; OCTAVO_ARCHIVE_KEY, or a question, by default')
      .option('--force', 'delete what the project has, without a question')
      .option('--yes', 'the same as --force')
      .option('--adapt', 'leave out or change what the project cannot hold')
      .option('--new', 'create a database although the project had one'),
  ).action(async (folder: string, options) => (await import('../import.js')).importCommand(folder, options))

  program
    .command('leave')
    .description('remove everything Octavo added to a project, to go back to Strapi')
    .argument('[folder]', 'the project', '.')
    .option('--force', 'remove it without a question')
    .option('--yes', 'the same as --force')
    .action(async (folder: string, options) => (await import('../leave.js')).leaveCommand(folder, options))
}

function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('write the database, files and schemas of a project into a folder, also while a service runs; or check such a folder')
    .argument('[folder]', 'the project', '.')
    .option('--to <path>', 'the folder to write, which must not exist')
    .option('--verify <backup>', 'check a backup instead')
    .option('--allow-missing-files', 'end with the status 0 although files that rows refer to are not there')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../backup.js')).backupCommand(folder, options))

  program
    .command('restore')
    .description('put the database, files and schemas of a backup in the places of those of a project')
    .argument('<backup>', 'the folder that octavo backup has written')
    .argument('[folder]', 'the project', '.')
    .option('--replace', 'put aside the database and files that the project has')
    .option('--schemas', 'restore the schemas of the backup, and put aside those that differ')
    .option('--keep-schemas', 'keep the schemas of the project although they differ')
    .action(async (backup: string, folder: string, options) => (await import('../restore.js')).restoreCommand(backup, folder, options))
}

const collectValue = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

function addCompareCommand(program: Command): void {
  program
    .command('compare')
    .description(
      'send the same requests to Strapi and to Octavo and list what differs (exit status: 0 nothing, 1 something, 2 not compared)',
    )
    .argument('<strapi-url>', 'where Strapi runs, such as http://localhost:1337')
    .argument('<octavo-url>', 'where Octavo runs')
    .option('--requests <file>', 'requests to send: a path, METHOD path, or a JSON object per line; - reads standard input')
    .option(
      '--log <file>',
      "an access log to take requests from: nginx, Apache, Strapi's log, JSON lines; .gz is unpacked; - reads standard input",
    )
    .option('--as <name=token>', 'a caller; repeat it for several; name=@file reads the token from a file, name= has none', collectValue)
    .option('--header <header>', '"Name: value" for every request; may be repeated', collectValue)
    .option('--strapi-token <token>', 'an API token or JWT for both services')
    .option('--octavo-token <token>', 'another one for Octavo')
    .option('--prefix <path>', 'the prefix of the API', '/api')
    .option(
      '--project <folder>',
      "the project, for its schemas and code; not needed if a caller may read the model from a service's API",
      '.',
    )
    .option('--ignore <path>', 'a path of JSON that may differ, such as updatedAt or data.*.views; may be repeated', collectValue)
    .option('--writes', 'also send POST, PUT and DELETE of --requests; both need databases of their own')
    .option('--limit <number>', 'at most this many requests', '1000')
    .option('--rate <number>', 'at most this many requests per second to each service', '20')
    .option('--concurrency <number>', 'requests at the same time', '4')
    .option('--timeout <milliseconds>', 'for one response', '30000')
    .option('--retries <number>', 'further attempts of a read that fails', '2')
    .option('--show <number>', 'examples for each cause', '3')
    .option('--json', 'print the report as JSON')
    // As with diff and grep, 1 means that something differs.
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .action(async (strapi: string, octavo: string, options) => (await import('../compare.js')).compareCommand(strapi, octavo, options))
}

export function addTransferCommands(program: Command): void {
  addArchiveCommands(program)
  addBackupCommands(program)
  addCompareCommand(program)
}
