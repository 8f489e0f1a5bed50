// Sends Octavo and Strapi the same random reads, on the same database of a second project or of the golden one, and reports
// differences: `node test/interop/reads.mjs [--count 2000] [--seed 1] [--project second|golden] [--strapi URL --octavo URL]`.

import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { launch, temporaryFolder } from '../../bench/launch.mjs'
import { prepareStrapi, strapiFolder } from '../../bench/strapi.mjs'
import { compare } from './reads-compare.mjs'
import { fillDatabase, writeProject } from './reads-project.mjs'
import { requestsOf } from './reads-requests.mjs'
import { readWorld, sample } from './reads-world.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const octavo = join(here, '..', '..', 'dist', 'main.js')
const goldenProject = join(here, '..', 'golden', 'project')

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    project: { type: 'string', default: 'second' },
    modules: { type: 'string' },
    folder: { type: 'string' },
    strapi: { type: 'string' },
    octavo: { type: 'string' },
    keep: { type: 'boolean', default: false },
    show: { type: 'string', default: '20' },
    replay: { type: 'string' },
    out: { type: 'string' },
  },
})

const golden = options.project === 'golden'
const work = options.folder ?? temporaryFolder()
const project = golden ? goldenProject : join(work, 'project')
const database = join(work, 'content.db')

if (!existsSync(database)) {
  if (golden) writeFileSync(database, gunzipSync(readFileSync(join(goldenProject, 'content.db.gz'))))
  else {
    if (!options.modules) await prepareStrapi()
    writeProject(project, options.modules ?? join(strapiFolder, 'node_modules'))
    await fillDatabase(project, database)
  }
}

const servers = []
async function start(/** @type {'strapi' | 'octavo'} */ name) {
  const given = options[name]
  if (given) return given
  const folder = temporaryFolder()
  const copy = join(folder, 'content.db')
  copyFileSync(database, copy)
  if (name === 'strapi' && golden) await prepareStrapi()
  let place = project
  if (name === 'octavo') {
    place = join(folder, 'project')
    mkdirSync(place)
    for (const entry of ['src', '.env', 'octavo.config.json', 'package.json'])
      if (existsSync(join(project, entry))) cpSync(join(project, entry), join(place, entry), { recursive: true })
  }
  const server = await launch({
    name,
    folder,
    patience: 120_000,
    environment: { DATABASE_FILENAME: copy, NODE_ENV: 'production' },
    ...(name === 'octavo'
      ? { command: [octavo, 'start', place] }
      : {
          command: [join(golden ? strapiFolder : project, 'node_modules', '.bin', 'strapi'), 'start'],
          workingFolder: golden ? strapiFolder : project,
        }),
  })
  servers.push(server)
  return server.origin
}

const [strapi, ours] = [await start('strapi'), await start('octavo')]
if (options.keep) {
  console.log(`--strapi ${strapi} --octavo ${ours}`)
  await new Promise(() => setInterval(() => {}, 60_000))
}
const { full, ...others } = JSON.parse(readFileSync(join(project, 'tokens.json'), 'utf8'))
const world = readWorld(project, { public: undefined, ...others, full })
await sample(world, strapi, full)
const next = requestsOf(world, Number(options.seed))
const requests = options.replay ? JSON.parse(readFileSync(options.replay, 'utf8')) : Array.from({ length: Number(options.count) }, next)

/** @type {Map<string, number>} */
const outcomes = new Map()
/** @type {any[]} */
const differences = []
let at = 0
async function work4() {
  while (at < requests.length) {
    const request = requests[at++]
    const token = world.callers[request.caller]
    const headers = { ...request.headers, ...(token && { authorization: `Bearer ${token}` }) }
    const [left, right] = await Promise.all(
      [strapi, ours].map(async (origin) => {
        try {
          const answer = await fetch(origin + request.path, { headers })
          return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }
        } catch (error) {
          return { status: 0, type: null, text: String(error) }
        }
      }),
    )
    const { outcome, where } = compare(request, left, right)
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    if (where !== undefined) differences.push({ ...request, outcome, where, strapi: left, octavo: right })
  }
}
await Promise.all([work4(), work4(), work4()])
for (const server of servers) await server.stop()
if (options.out) writeFileSync(options.out, JSON.stringify(differences, null, 1))
for (const { path, caller, outcome, where } of differences.slice(0, Number(options.show)))
  console.log(`${outcome} [${caller}] ${decodeURIComponent(path.replace(/%(?![0-9a-f]{2})/gi, '%25'))}\n    ${where}`)
console.log([...outcomes].map(([name, count]) => `${name}: ${count}`).join(', '))
process.exit(differences.length === 0 ? 0 : 1)
