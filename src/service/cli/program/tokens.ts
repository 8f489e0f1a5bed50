// `octavo tokens`: API tokens, with arguments and options. Their code is loaded only when they run.
import type { Command } from 'commander'

export function addTokenCommands(program: Command): void {
  const tokens = program.command('tokens').description('manage API tokens')
  tokens
    .command('create')
    .description('create a token and print its key')
    .argument('[folder]', 'the project', '.')
    .requiredOption('--name <name>', 'name of the token')
    .option('--type <type>', 'read-only, full-access or custom', 'read-only')
    .option('--description <text>')
    .option('--expires <days>', 'days until it expires, or never', 'never')
    .option(
      '--permissions <actions>',
      'actions that a custom token allows, separated by commas; api::article.article.* means all of a type',
    )
    .option('--key <key>', 'use this key instead of a generated one')
    .action(async (folder: string, options) => (await import('../tokens.js')).createTokenCommand(folder, options))
  tokens
    .command('list')
    .description('list names, types and expiry dates (never keys)')
    .argument('[folder]', 'the project', '.')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../tokens.js')).listTokensCommand(folder, options))
  tokens
    .command('revoke')
    .alias('delete')
    .description('delete a token')
    .argument('<token>', 'its name or id')
    .argument('[folder]', 'the project', '.')
    .action(async (token: string, folder: string) => (await import('../tokens.js')).revokeTokenCommand(token, folder))
  tokens
    .command('regenerate')
    .description('replace the key of a token and print the new one')
    .argument('<token>', 'its name or id')
    .argument('[folder]', 'the project', '.')
    .option('--key <key>', 'use this key instead of a generated one')
    .action(async (token: string, folder: string, options) => (await import('../tokens.js')).regenerateTokenCommand(token, folder, options))
}
