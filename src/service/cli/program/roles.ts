// `octavo roles`: roles and the actions they allow, with arguments and options. Their code is loaded only when they run.
import type { Command } from 'commander'

export function addRoleCommands(program: Command): void {
  const roles = program.command('roles').description('manage roles and the actions they allow')
  roles
    .command('list')
    .description('list roles')
    .argument('[folder]', 'the project', '.')
    .option('--actions', 'also list the actions that each role allows')
    .option('--json', 'print JSON, with all actions')
    .action(async (folder: string, options) => (await import('../roles.js')).listRolesCommand(folder, options))
  roles
    .command('create')
    .description('create a role; its type is derived from its name')
    .argument('<name>')
    .argument('[folder]', 'the project', '.')
    .option('--description <text>')
    .option('--permissions <actions>', 'actions that it allows, separated by commas; api::article.article.* means all of a type')
    .action(async (name: string, folder: string, options) => (await import('../roles.js')).createRoleCommand(name, folder, options))
  roles
    .command('grant')
    .description('grant actions to a role')
    .argument('<role>', 'type, name or id')
    .argument('<actions>', 'separated by commas, such as api::article.article.find; api::article.article.* means all of a type')
    .argument('[folder]', 'the project', '.')
    .action(async (role: string, actions: string, folder: string) => (await import('../roles.js')).grantCommand(role, actions, folder))
  roles
    .command('revoke')
    .description('revoke actions from a role')
    .argument('<role>', 'type, name or id')
    .argument('<actions>', 'as for grant')
    .argument('[folder]', 'the project', '.')
    .action(async (role: string, actions: string, folder: string) => (await import('../roles.js')).revokeCommand(role, actions, folder))

  roles
    .command('delete')
    .alias('remove')
    .description('delete a role; its users get the public role')
    .argument('<role>', 'type, name or id')
    .argument('[folder]', 'the project', '.')
    .action(async (role: string, folder: string) => (await import('../roles.js')).deleteRoleCommand(role, folder))
}
