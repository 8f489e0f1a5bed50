#!/usr/bin/env node
// The `octavo` command: its subcommands are declared in cli/program, and their code is loaded only when they run.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Command } from 'commander'
import { didYouMean } from '../foundation/errors/did-you-mean.js'
import { describeNativeModule } from '../foundation/errors/native-module.js'
import { limitYoungGeneration } from '../foundation/runtime/gc.js'
import { noteCalled } from './cli/called-command.js'
import { endAsFirstProcess } from './cli/first-process.js'
import { addAdminCommands } from './cli/program/admins.js'
import { addArchiveCommands } from './cli/program/archives.js'
import { addBackupCommands } from './cli/program/backups.js'
import { addCompareCommand } from './cli/program/compare.js'
import { addDescriptionCommands } from './cli/program/descriptions.js'
import { addDevelopmentCommands } from './cli/program/development.js'
import { addLocaleCommands } from './cli/program/locales.js'
import { addModelCommands } from './cli/program/model.js'
import { addRoleCommands } from './cli/program/roles.js'
import { addServiceCommands } from './cli/program/service.js'
import { addSettingCommands } from './cli/program/settings.js'
import { addTokenCommands } from './cli/program/tokens.js'
import { addUserCommands } from './cli/program/users.js'
import { addWebhookCommands } from './cli/program/webhooks.js'
import { explainWords } from './cli/wrong-words.js'

endAsFirstProcess()
limitYoungGeneration()

const { version } = createRequire(import.meta.url)('../package.json') as { readonly version: string }
const program = new Command('octavo').description("A headless content service that speaks Strapi 5's content API").version(version)
program.configureOutput({ outputError: (text, write) => write(explainWords(program, process.argv.slice(2), text)) })

const topics = [
  addDevelopmentCommands,
  addServiceCommands,
  addDescriptionCommands,
  addModelCommands,
  addArchiveCommands,
  addBackupCommands,
  addCompareCommand,
  addTokenCommands,
  addUserCommands,
  addAdminCommands,
  addRoleCommands,
  addSettingCommands,
  addLocaleCommands,
  addWebhookCommands,
]
for (const add of topics) add(program)
program.hook('preAction', (_program, command) => noteCalled(command))

// A single word may also be a folder to serve, so commander does not detect unknown commands.
const [word] = process.argv.slice(2)
const commands = [...program.commands.map((command) => command.name()), 'help']
if (word !== undefined && /^[\w-]+$/.test(word) && !word.startsWith('-') && !commands.includes(word) && !existsSync(word))
  program.error(
    `octavo: "${word}" is neither a command nor a folder${didYouMean(word, commands) || '.'} The commands are ${commands.join(', ')}.`,
  )

try {
  await program.parseAsync()
} catch (error) {
  // A command's code cannot be loaded without its libraries.
  const problem = describeNativeModule(error)
  if (problem === null) throw error
  program.error(`octavo: ${problem}`)
}
