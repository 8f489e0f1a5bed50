#!/usr/bin/env node
// The `octavo` command. Every subcommand is loaded when it is asked for.
import { Command } from 'commander'
import { holdNursery } from './memory.js'

holdNursery()

const program = new Command('octavo').description("A headless content service that speaks Strapi 5's content API")

program
  .command('start', { isDefault: true })
  .description('serve the content project in a folder')
  .argument('[folder]', 'the project', '.')
  .action(async (folder: string) => (await import('./cli/start.js')).start(folder))

program
  .command('indexes')
  .description("make Octavo's own indexes on the project's database")
  .argument('[folder]', 'the project', '.')
  .action(async (folder: string) => (await import('./cli/indexes.js')).indexes(folder))

await program.parseAsync()
