// `octavo admins`: administrators, with arguments and options. Their code is loaded only when they run.
import type { Command } from 'commander'

const password = ['--password <password>', 'the password; - reads it from standard input; by default one is generated and printed'] as const

export function addAdminCommands(program: Command): void {
  const admins = program.command('admins').description('manage administrators')
  admins
    .command('create')
    .description('create an active administrator')
    .argument('[folder]', 'the project', '.')
    .requiredOption('--email <address>')
    .option('--firstname <name>', 'first name', 'Admin')
    .option('--lastname <name>')
    .option(...password)
    .option('--role <codes>', 'codes of roles, separated by commas', 'strapi-super-admin')
    .action(async (folder: string, options) => (await import('../admins.js')).createAdminCommand(folder, options))
  admins
    .command('list')
    .description('list administrators and their roles')
    .argument('[folder]', 'the project', '.')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../admins.js')).listAdminsCommand(folder, options))
  admins
    .command('block')
    .description("block an administrator and end all of the administrator's sessions")
    .argument('<administrator>', 'e-mail address or id')
    .argument('[folder]', 'the project', '.')
    .action(async (who: string, folder: string) => (await import('../admins.js')).blockAdminCommand(true)(who, folder))
  admins
    .command('unblock')
    .description('unblock an administrator')
    .argument('<administrator>', 'e-mail address or id')
    .argument('[folder]', 'the project', '.')
    .action(async (who: string, folder: string) => (await import('../admins.js')).blockAdminCommand(false)(who, folder))
  admins
    .command('reset-password')
    .description("set a password, activate the account, and end all of the administrator's sessions")
    .argument('<administrator>', 'e-mail address or id')
    .argument('[folder]', 'the project', '.')
    .option(...password)
    .action(async (who: string, folder: string, options) => (await import('../admins.js')).resetAdminPasswordCommand(who, folder, options))
}
