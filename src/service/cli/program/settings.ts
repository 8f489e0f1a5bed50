// `octavo settings`: settings for users, with arguments and options. Their code is loaded only when they run.
import type { Command } from 'commander'

export function addSettingCommands(program: Command): void {
  const settings = program.command('settings').description('manage settings for users')
  settings
    .command('list')
    .description('list the settings and their values')
    .argument('[folder]', 'the project', '.')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../settings.js')).listSettingsCommand(folder, options))
  settings
    .command('set')
    .description('change a setting')
    .argument('<setting>', 'name of the setting, as shown by octavo settings list')
    .argument('<value>', 'yes or no, the type of a role, a URL or none')
    .argument('[folder]', 'the project', '.')
    .action(async (name: string, value: string, folder: string) => (await import('../settings.js')).setSettingCommand(name, value, folder))
}
