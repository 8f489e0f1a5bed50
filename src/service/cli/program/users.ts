// `octavo users`: users, with arguments and options. Their code is loaded only when they run.
import type { Command } from 'commander'

export function addUserCommands(program: Command): void {
  const users = program.command('users').description('manage users')
  users
    .command('create')
    .description('create a user with a confirmed e-mail address')
    .argument('[folder]', 'the project', '.')
    .requiredOption('--username <name>')
    .requiredOption('--email <address>')
    .option('--password <password>', 'the password; - reads it from standard input; by default one is generated and printed')
    .option('--role <type>', 'type of the role', 'authenticated')
    .action(async (folder: string, options) => (await import('../users.js')).createUserCommand(folder, options))
  users
    .command('list')
    .description('list users and their roles')
    .argument('[folder]', 'the project', '.')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../users.js')).listUsersCommand(folder, options))
  users
    .command('block')
    .description("block a user and end all of the user's sessions")
    .argument('<user>', 'name, e-mail address or id')
    .argument('[folder]', 'the project', '.')
    .action(async (user: string, folder: string) => (await import('../users.js')).blockUserCommand(true)(user, folder))
  users
    .command('unblock')
    .description('unblock a user')
    .argument('<user>', 'name, e-mail address or id')
    .argument('[folder]', 'the project', '.')
    .action(async (user: string, folder: string) => (await import('../users.js')).blockUserCommand(false)(user, folder))
  users
    .command('delete')
    .alias('remove')
    .description('delete a user')
    .argument('<user>', 'name, e-mail address or id')
    .argument('[folder]', 'the project', '.')
    .action(async (user: string, folder: string) => (await import('../users.js')).deleteUserCommand(user, folder))
  users
    .command('password')
    .description("set a password and end all of the user's sessions")
    .argument('<user>', 'name, e-mail address or id')
    .argument('[folder]', 'the project', '.')
    .option('--password <password>', 'the password; - reads it from standard input; by default one is generated and printed')
    .action(async (user: string, folder: string, options) => (await import('../users.js')).passwordCommand(user, folder, options))

  users
    .command('confirm')
    .description('mark the e-mail address of a user as confirmed')
    .argument('<user>', 'name, e-mail address or id')
    .argument('[folder]', 'the project', '.')
    .action(async (user: string, folder: string) => (await import('../users.js')).confirmUserCommand(user, folder))
  users
    .command('role')
    .description('change the role of a user')
    .argument('<user>', 'name, e-mail address or id')
    .argument('<role>', 'type, name or id')
    .argument('[folder]', 'the project', '.')
    .action(async (user: string, role: string, folder: string) => (await import('../users.js')).roleOfUserCommand(user, role, folder))
}
