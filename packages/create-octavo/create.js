#!/usr/bin/env node
// `npm create octavo my-project`: runs `octavo init` with the same arguments.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

process.argv.splice(2, 0, 'init')
const folder = dirname(createRequire(import.meta.url).resolve('octavo/package.json'))
await import(pathToFileURL(join(folder, 'dist', 'main.js')).href)
