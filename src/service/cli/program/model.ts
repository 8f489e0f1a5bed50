// `octavo model`: changes of the content model, with arguments and options. Their code is loaded only when they run.
import type { Command } from 'commander'

/** What is decided about a change. */
const decided = (command: Command): Command =>
  command
    .option(
      '--rename <renames>',
      'what is renamed: api::note.note.body=text, api::note.note=api::memo.memo, shared.seo=shared.meta; commas between',
    )
    .option('--publish-drafts', 'publish documents that were never published, where Draft & Publish is switched off')
    .option('--json', 'print JSON')

export function addModelCommands(program: Command): void {
  const model = program.command('model').description('plan, apply, undo and list changes of the content model')
  decided(model.command('plan').description('show what the changed schema files would do to the database, and do nothing'))
    .argument('[folder]', 'the project', '.')
    .action(async (folder: string, options) => (await import('../model.js')).planCommand(folder, options))
  decided(model.command('apply').description('change the database as the schema files say'))
    .argument('[folder]', 'the project', '.')
    .option('--agree <names>', 'content that may be hidden, as the plan names it; commas between')
    .action(async (folder: string, options) => (await import('../model.js')).applyCommand(folder, options))
  model
    .command('undo')
    .description('undo the last change, or the one with this number: files, database, and what was kept aside')
    .argument('[folder]', 'the project', '.')
    .option('--change <number>', 'the number of the change')
    .option('--agree <names>', 'content that may be hidden; commas between')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../model.js')).undoCommand(folder, options))
  model
    .command('history')
    .description('list the changes')
    .argument('[folder]', 'the project', '.')
    .option('--json', 'print JSON')
    .action(async (folder: string, options) => (await import('../model.js')).historyCommand(folder, options))
}
