// Changes of the model while serving: how long a change takes until its response, with few and with many content-types, and a start with many.
// `node bench/model-changes.mjs [--types 10,300] [--changes 20]`

import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from './free-port.mjs'
import { temporaryFolder } from './launch.mjs'
import { median } from './report.mjs'
import { octavoFolder } from './servers.mjs'

const { values } = parseArgs({ options: { types: { type: 'string', default: '10,300' }, changes: { type: 'string', default: '20' } } })
const octavo = join(octavoFolder, 'main.js')
if (!existsSync(octavo)) throw new Error('dist/main.js is missing: run `npm run build` first')
const folder = temporaryFolder()
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** @param {number} number @param {Record<string, object>} more */
const schemaOf = (number, more = {}) => ({
  kind: 'collectionType',
  collectionName: `things_${number}`,
  info: { singularName: `thing-${number}`, pluralName: `things-${number}`, displayName: `Thing ${number}` },
  options: { draftAndPublish: number % 2 === 0 },
  attributes: {
    title: { type: 'string' },
    body: { type: 'richtext' },
    count: { type: 'integer' },
    ...(number === 0 ? {} : { parent: { type: 'relation', relation: 'manyToOne', target: 'api::thing-0.thing-0' } }),
    ...more,
  },
})

/** @param {number} types */
async function measure(types) {
  const project = join(folder, `project-${types}`)
  for (let number = 0; number < types; number++) {
    const place = join(project, 'src', 'api', `thing-${number}`, 'content-types', `thing-${number}`)
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, 'schema.json'), JSON.stringify(schemaOf(number), null, 2))
  }
  writeFileSync(join(project, 'octavo.config.json'), JSON.stringify({ admin: { model: 'always' } }))
  const accessKey = 'a key of the bench that is long enough'.replaceAll(' ', '-')
  execFileSync(process.execPath, [octavo, 'tokens', 'create', project, '--name', 'bench', '--type', 'full-access', '--key', accessKey])
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const started = performance.now()
  const service = spawn(process.execPath, [octavo, 'start', project], {
    env: { ...process.env, NODE_ENV: 'production', HOST: '127.0.0.1', PORT: String(port), LOG_LEVEL: 'error' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  try {
    while (!(await isServing(`${origin}/api/things-0`, accessKey))) await new Promise((resolve) => setTimeout(resolve, 5))
    const boot = performance.now() - started
    const times = { 'an attribute is added': [], 'a type is created': [] }
    /** @type {Record<string, object>} */
    const added = {}
    for (let number = 0; number < Number(values.changes); number++) {
      added[`field${number}`] = { type: 'string' }
      times['an attribute is added'].push(await change(origin, accessKey, { 'api::thing-0.thing-0': schemaOf(0, added) }))
      const made = types + number
      times['a type is created'].push(await change(origin, accessKey, { [`api::thing-${made}.thing-${made}`]: schemaOf(made) }))
      if (!(await isServing(`${origin}/api/things-${made}?populate=*`, accessKey))) throw new Error(`things-${made} is not there`)
    }
    return { boot, times }
  } finally {
    service.kill()
  }
}

/** @param {string} url @param {string} token */
const isServing = (url, token) =>
  fetch(url, { headers: { authorization: `Bearer ${token}` } }).then(
    ({ ok }) => ok,
    () => false,
  )

/** Resolves to the milliseconds until the response. @param {string} origin @param {string} token @param {object} data */
async function change(origin, token, data) {
  const began = performance.now()
  const response = await fetch(`${origin}/api/content-type-builder/schemas`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ data }),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(text)
  return performance.now() - began
}

for (const types of values.types.split(',').map(Number)) {
  const { boot, times } = await measure(types)
  console.log(`${types} content-types: start to the first response ${Math.round(boot)} ms`)
  for (const [what, all] of Object.entries(times))
    console.log(`  ${what}: ${Math.round(median(all))} ms (${Math.round(Math.min(...all))} to ${Math.round(Math.max(...all))})`)
}
