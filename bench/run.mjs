// Runs the benchmarks: node bench/run.mjs [--only read,boot,growth,beside,write,bodies,builds,scopes,compression,cached,processes] [--seconds 5] [--connections 32]
// [--without-strapi] [--large] [--articles 1000000] [--server octavo] [--database postgres [--network 1]] [--against FOLDER] [--request "list with everything"] [--busy] [--json FILE]

import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { measureBeside } from './beside.mjs'
import { measureBodies } from './bodies.mjs'
import { measureBoot } from './boot.mjs'
import { measureBuilds } from './builds.mjs'
import { measureCached } from './cached.mjs'
import { measureCompression } from './compression.mjs'
import { measureGrowth } from './growth.mjs'
import { addNetwork } from './postgres.mjs'
import { measureProcesses } from './processes.mjs'
import { measureRead } from './read.mjs'
import { measureScopes } from './scopes.mjs'
import { chooseDatabase } from './servers.mjs'
import { measureWrite } from './write.mjs'

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'read,boot,growth,beside,write,bodies' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '32' },
    'without-strapi': { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
    articles: { type: 'string', default: '1000000' },
    server: { type: 'string', default: 'octavo' },
    database: { type: 'string', default: 'sqlite' },
    network: { type: 'string', default: '0' },
    against: { type: 'string' },
    request: { type: 'string' },
    busy: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
})

chooseDatabase(values.database)
if (values.network !== '0') addNetwork(positive('network', values.network))
const options = {
  seconds: positive('seconds', values.seconds),
  connections: positive('connections', values.connections),
  articles: positive('articles', values.articles),
  strapi: !values['without-strapi'],
  large: values.large,
  server: values.server,
  against: values.against,
  request: values.request,
}

// Every core has other work to do.
const busy = values.busy ? cpus().map(() => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' })) : []
process.on('exit', () => {
  for (const child of busy) child.kill('SIGKILL')
})

/** @type {Record<string, (chosen: typeof options) => Promise<object | null>>} */
const parts = {
  read: measureRead,
  boot: measureBoot,
  growth: measureGrowth,
  beside: measureBeside,
  write: measureWrite,
  bodies: measureBodies,
  builds: measureBuilds,
  scopes: measureScopes,
  compression: measureCompression,
  cached: measureCached,
  processes: measureProcesses,
}

const chosen = values.only.split(',')
const unknown = chosen.filter((name) => !(name in parts))
if (unknown.length > 0) throw new Error(`Unknown part ${unknown.join(', ')}: ${Object.keys(parts).join(', ')}`)

const results = []
for (const name of chosen) {
  try {
    const result = await parts[name](options)
    if (result) results.push(result)
  } catch (error) {
    console.error(`\n${name} failed: ${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}
for (const child of busy) child.kill('SIGKILL')
if (values.json) writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`)

/**
 * @param {string} name
 * @param {string} text
 */
function positive(name, text) {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 1) throw new Error(`--${name} must be a positive whole number, not ${text}`)
  return number
}
