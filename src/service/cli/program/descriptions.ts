// The commands that describe a project, with arguments and options. Their code is loaded only when they run.
import { type Command, Option } from 'commander'

export function addDescriptionCommands(program: Command): void {
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
