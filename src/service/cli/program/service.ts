// The commands that serve a project, and look at and move its database, with arguments and options. Their code is loaded only when they run.
import type { Command } from 'commander'

export function addServiceCommands(program: Command): void {
  program
    .command('start', { isDefault: true })
    .description('serve the content project in a folder (the default command)')
    .argument('[folder]', 'the project', '.')
    .option('--new', 'create an empty database although the project had one')
    .option('--processes <number>', 'service processes that share the port, or auto: one for each core (1)')
    .action(async (folder: string, options) => (await import('../start.js')).start(folder, options))

  program
    .command('indexes')
    .description("create Octavo's own indexes in the project's database")
    .argument('[folder]', 'the project', '.')
    .action(async (folder: string) => (await import('../indexes.js')).indexes(folder))

  program
    .command('config')
    .description('print the settings in force, with the source of each; secrets are masked')
    .argument('[folder]', 'the project', '.')
    .option('--changed', 'only those that are not the default')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../config.js')).configCommand(folder, options))

  program
    .command('doctor')
    .description("check the project's database and files without changing anything")
    .argument('[folder]', 'the project', '.')
    .option('--links', 'list pending links: relations of published entries to targets that are not published yet')
    .option('--json', 'print the findings as JSON')
    .action(async (folder: string, options) => (await import('../doctor.js')).doctorCommand(folder, options))

  program
    .command('copy')
    .description('copy all rows of one database to another, from SQLite to PostgreSQL or back, and verify the copy')
    .argument('[folder]', 'the project whose tables they have', '.')
    .requiredOption('--from <database>', 'a SQLite file or postgres://user:password@host/database; nothing should write to it meanwhile')
    .requiredOption('--to <database>', 'the same for the copy; created or completed as a start would do it; an interrupted copy is resumed')
    .option('--adapt', 'change values that the copy cannot hold (rounded, cut off or null) and print them')
    .option('--overwrite', 'remove all rows that --to has')
    .action(async (folder: string, options) => (await import('../copy.js')).copyCommand(folder, options))

  program
    .command('events')
    .description('print recorded content events, one per line (requires events.outbox)')
    .argument('[folder]', 'the project', '.')
    .option('--after <sequence>', 'print only events after this sequence number', '0')
    .option('--limit <number>', 'maximum number of events to print')
    .action(async (folder: string, options) => (await import('../events.js')).eventsCommand(folder, options))
}
