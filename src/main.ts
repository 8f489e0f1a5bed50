#!/usr/bin/env node
// The `octavo` command.
import { Command } from 'commander'
import { start } from './cli/start.js'

const program = new Command('octavo').description("A headless content service that speaks Strapi 5's content API")

program
  .command('start', { isDefault: true })
  .description('serve the content project in a folder')
  .argument('[folder]', 'the project', '.')
  .action(start)

await program.parseAsync()
