// `octavo locales`: locales, with arguments and options. Their code is loaded only when they run.
import type { Command } from 'commander'

export function addLocaleCommands(program: Command): void {
  const locales = program.command('locales').description('manage locales')
  locales
    .command('list')
    .description('list locales, the number of documents in each, and the default locale')
    .argument('[folder]', 'the project', '.')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../locales.js')).listLocalesCommand(folder, options))
  locales
    .command('add')
    .description('add a locale')
    .argument('<code>', 'de, en-GB, …')
    .argument('[folder]', 'the project', '.')
    .option('--name <name>', 'display name; by default its English name: German (de)')
    .action(async (code: string, folder: string, options) => (await import('../locales.js')).addLocaleCommand(code, folder, options))
  locales
    .command('remove')
    .alias('delete')
    .description('remove a locale that no document uses')
    .argument('<code>')
    .argument('[folder]', 'the project', '.')
    .action(async (code: string, folder: string) => (await import('../locales.js')).removeLocaleCommand(code, folder))
  locales
    .command('default')
    .description('set the locale of requests that name none')
    .argument('<code>')
    .argument('[folder]', 'the project', '.')
    .action(async (code: string, folder: string) => (await import('../locales.js')).defaultLocaleCommand(code, folder))
}
