#!/usr/bin/env node
// The `octavo` command.
import { Command } from 'commander'
import { indexes } from './cli/indexes.js'
import { start } from './cli/start.js'

const program = new Command('octavo').description("A headless content service that speaks Strapi 5's content API")

program
  .command('start', { isDefault: true })
  .description('serve the content project in a folder')
  .argument('[folder]', 'the project', '.')
  .action(start)

program
  .command('indexes')
  .description("make Octavo's own indexes on the project's database")
  .argument('[folder]', 'the project', '.')
  .action(indexes)

await program.parseAsync()
