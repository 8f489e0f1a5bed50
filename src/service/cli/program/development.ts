// The commands for developers of a project, with arguments and options. Their code is loaded only when they run.
import type { Command } from 'commander'

export function addDevelopmentCommands(program: Command): void {
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
