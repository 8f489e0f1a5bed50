#!/usr/bin/env node
// The `octavo` command. Its subcommands are rows of cli/commands.ts; their code is loaded when they run.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Command } from 'commander'
import { didYouMean } from '../foundation/errors/did-you-mean.js'
import { describeNativeModule } from '../foundation/errors/explain-failure.js'
import { limitYoungGeneration } from '../foundation/runtime/gc.js'
import { explainWords, noteCalled } from './cli/called-command.js'
import { addCommands } from './cli/commands.js'
import { endAsFirstProcess } from './cli/signals.js'

endAsFirstProcess()
limitYoungGeneration()

const { version } = createRequire(import.meta.url)('../package.json') as { readonly version: string }
const program = new Command('octavo').description("A headless content service that speaks Strapi 5's content API").version(version)
program.configureOutput({ outputError: (text, write) => write(explainWords(program, process.argv.slice(2), text)) })

addCommands(program)
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
  // A native module of a command is missing.
  const problem = describeNativeModule(error)
  if (problem === null) throw error
  program.error(`octavo: ${problem}`)
}
