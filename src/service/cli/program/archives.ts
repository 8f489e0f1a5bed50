// `octavo export`, `octavo import` and `octavo leave`: the ways to and from Strapi, with arguments and options. Their code is loaded only when
// they run.
import type { Command } from 'commander'

/** Strapi's options for parts of a project. */
const scoped = (command: Command): Command =>
  command
    .option('--only <parts>', 'only these: content, files, config; separated by commas')
    .option('--exclude <parts>', 'all but these: content, files, config, media-library')
    .option('--only-content-types <uids>', 'only entities of these content-types, separated by commas')
    .option('--exclude-content-types <uids>', 'all but those of these content-types')

export function addArchiveCommands(program: Command): void {
  scoped(
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

  scoped(
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
