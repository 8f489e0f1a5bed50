// Commands that create, serve, describe and change a project. Their code is loaded only when they run.
import { type Command, Option } from 'commander'

function addDevelopmentCommands(program: Command): void {
  program
    .command('init')
    .description('create a project from a template, with questions in a terminal')
    .argument('[folder]', 'an empty or new folder')
    .option('--template <name>', 'blank, blog or magazine')
    .option('--database <name>', 'sqlite, postgres or mysql')
    .option('--database-url <url>', 'where the server is: postgres://user:password@host:5432/database; written to .env')
    .option('--typescript', 'octavo.config.ts')
    .option('--no-typescript', 'octavo.config.mjs')
    .option('--install', 'install the dependencies')
    .option('--no-install', 'leave that for later')
    .option('--git', 'create a git repository')
    .option('--no-git', 'create none')
    .option('-y, --yes', 'no questions: blank, SQLite, TypeScript, install, git, unless flags say otherwise')
    .action(async (folder: string | undefined, options) => (await import('../init.js')).init(folder, options))

  program
    .command('dev')
    .description('serve a project and reload it when a schema, the configuration or .env changes')
    .argument('[folder]', 'the project', '.')
    .option('--poll [milliseconds]', 'look for changes at this interval: for file systems that report none (300)')
    .action(async (folder: string, options) => (await import('../dev.js')).dev(folder, options))
}

function addServiceCommands(program: Command): void {
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

function addDescriptionCommands(program: Command): void {
  program
    .command('types')
    .description('print the content-types of a project as TypeScript')
    .argument('[folder]', 'the project', '.')
    .option('--out <file>', 'write to this file, such as types/octavo.d.ts')
    .option('--check', 'write nothing; exit with 1 if the file (--out, or types/octavo.d.ts) is out of date')
    .option('--standalone', 'include all declarations, for projects without the client; pass the types: createClient<Types>(…)')
    .addOption(
      new Option('--client <package>', 'the package that the project imports the client from')
        .choices(['octavo/client', 'octavo-client'])
        .conflicts('standalone'),
    )
    .action(async (folder: string, options) => (await import('../types.js')).typesCommand(folder, options))

  program
    .command('openapi')
    .description('print the OpenAPI 3.1 description of what a role may do')
    .argument('[folder]', 'the project', '.')
    .option('--role <role>', 'type, name or id of the role', 'public')
    .option('--all', 'describe everything that anybody may do; needs no database')
    .option('--out <file>', 'write to this file, such as openapi.json')
    .option('--check', 'write nothing; exit with 1 if the file (--out, or openapi.json) is out of date')
    .action(async (folder: string, options) => (await import('../openapi.js')).openapiCommand(folder, options))
}

/** Options that decide about a change. */
const addDecisionOptions = (command: Command): Command =>
  command
    .option(
      '--rename <renames>',
      'what is renamed: api::note.note.body=text, api::note.note=api::memo.memo, shared.seo=shared.meta; commas between',
    )
    .option('--publish-drafts', 'publish documents that were never published, where Draft & Publish is switched off')
    .option('--json', 'print JSON')

function addModelCommands(program: Command): void {
  const model = program.command('model').description('plan, apply, undo and list changes of the content model')
  addDecisionOptions(model.command('plan').description('show what the changed schema files would do to the database, and do nothing'))
    .argument('[folder]', 'the project', '.')
    .action(async (folder: string, options) => (await import('../model.js')).planCommand(folder, options))
  addDecisionOptions(model.command('apply').description('change the database as the schema files say'))
    .argument('[folder]', 'the project', '.')
    .option('--agree <names>', 'content that may be hidden, as the plan names it; commas between')
    .action(async (folder: string, options) => (await import('../model.js')).applyCommand(folder, options))
  model
    .command('undo')
    .description('undo the last change, or the one with this number: files, database, and what was kept aside')
    .argument('[folder]', 'the project', '.')
    .option('--change <number>', 'the number of the change')
    .option('--agree <names>', 'content that may be hidden; commas between')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../model.js')).undoCommand(folder, options))
  model
    .command('history')
    .description('list the changes')
    .argument('[folder]', 'the project', '.')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../model.js')).historyCommand(folder, options))
}

export function addProjectCommands(program: Command): void {
  addDevelopmentCommands(program)
  addServiceCommands(program)
  addDescriptionCommands(program)
  addModelCommands(program)
}
