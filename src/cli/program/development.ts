// The commands for developers of a project, with arguments and options. Their code is loaded only when they run.
import type { Command } from 'commander'

export function addDevelopmentCommands(program: Command): void {
  program
    .command('dev')
    .description('serve a project, and serve it anew whenever a schema, its configuration or .env is saved')
    .argument('[folder]', 'the project', '.')
    .option('--poll [milliseconds]', 'look for changes at this interval: for file systems that report none (300)')
    .action(async (folder: string, options) => (await import('../dev.js')).dev(folder, options))
}
