// `octavo backup` and `octavo restore`, with arguments and options. Their code is loaded only when they run.
import type { Command } from 'commander'

export function addBackupCommands(program: Command): void {
  program
    .command('backup')
    .description('write the database, files and schemas of a project into a folder, also while a service runs; or check such a folder')
    .argument('[folder]', 'the project', '.')
    .option('--to <path>', 'the folder to write, which must not exist')
    .option('--verify <backup>', 'check a backup instead')
    .option('--allow-missing-files', 'end with the status 0 although files that rows refer to are not there')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../backup.js')).backupCommand(folder, options))

  program
    .command('restore')
    .description('put the database, files and schemas of a backup in the places of those of a project')
    .argument('<backup>', 'the folder that octavo backup has written')
    .argument('[folder]', 'the project', '.')
    .option('--replace', 'put aside the database and files that the project has')
    .option('--schemas', 'restore the schemas of the backup, and put aside those that differ')
    .option('--keep-schemas', 'keep the schemas of the project although they differ')
    .action(async (backup: string, folder: string, options) => (await import('../restore.js')).restoreCommand(backup, folder, options))
}
