// A database changes hands between Octavo and Strapi. Both have to answer alike, and neither may find anything to repair:
// `node test/interop/handover.mjs [--database sqlite|postgres|mysql] [--server URL] [--writes 400] [--seed 1]`. Without a server, one is
// started for the run.

import { execFileSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { temporaryFolder } from '../../bench/launch.mjs'
import { seededRandom } from '../../bench/random.mjs'
import { goldenProject, octavoFolder } from '../../bench/servers.mjs'
import { prepareStrapi, strapiFolder } from '../../bench/strapi.mjs'
import { copyOfGolden, emptyDatabase, startServer } from './handover-databases.mjs'
import { fillAtRandom, giveLocales, giveToken, giveUploads, takeUploads } from './handover-fill.mjs'
import { differences, readsOf } from './handover-reads.mjs'
import { start } from './handover-servers.mjs'
import { loadShapes } from './handover-shapes.mjs'
import { writeAtRandom, writeWithStrapi } from './handover-writes.mjs'
import { check, say } from './report.mjs'

/** @typedef {import('./handover-databases.mjs').HandedDatabase} HandedDatabase */

const { values } = parseArgs({
  options: {
    database: { type: 'string', default: 'sqlite' },
    server: { type: 'string' },
    writes: { type: 'string', default: '400' },
    seed: { type: 'string', default: '1' },
  },
})
const octavo = join(octavoFolder, 'main.js')
const folder = temporaryFolder()
const project = join(folder, 'project')
const settings = { UPLOADS_DIR: join(project, 'uploads'), OCTAVO_DATABASE_READER_THREADS: '1' }
const shapes = loadShapes(project, () => cpSync(goldenProject, project, { recursive: true }))
const random = seededRandom(Number(values.seed))

try {
  await prepareStrapi()
  if (values.database === 'postgres' || values.database === 'mysql') await handOverOnServer(values.database)
  else await handOver(copyOfGolden(folder), await whatStrapiDoes())
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/**
 * A database that Octavo made, then one that Strapi made.
 * @param {'postgres' | 'mysql'} client
 */
async function handOverOnServer(client) {
  const own = values.server === undefined ? await startServer(client) : null
  const server = values.server ?? /** @type {{ url: string }} */ (own).url
  const ours = await emptyDatabase(server)
  const theirs = await emptyDatabase(server)
  try {
    say('A database that Octavo made')
    const first = await startOctavo(ours)
    await first.stop()
    giveToken(octavo, project, environmentOf(ours))
    giveLocales(octavo, project, environmentOf(ours))
    await fill(await startOctavo(ours))
    await handOver(ours, [])

    say('A database that Strapi made')
    const second = await startStrapi(theirs)
    await second.stop()
    const differing = schemaChanges(ours.schema(), theirs.schema())
    check('Octavo and Strapi make the same tables and indexes', differing.length === 0, differing)
    giveToken(octavo, project, environmentOf(theirs))
    giveLocales(octavo, project, environmentOf(theirs))
    await fill(await startStrapi(theirs))
    takeUploads(strapiFolder, settings.UPLOADS_DIR)
    await handOver(theirs, [])
  } finally {
    await ours.drop()
    await theirs.drop()
    await own?.stop()
  }
}

/**
 * The first documents of a database, and the files that they show.
 * @param {import('./handover-servers.mjs').Started} server
 */
async function fill(server) {
  await giveUploads(server, join(goldenProject, 'uploads'))
  const { counts, refused, total } = await fillAtRandom(server, shapes, random)
  say(`${server.name} wrote the first documents: ${sentenceOf(counts)}; ${refused.length} refused`)
  for (const line of refused.slice(0, 5)) say(`  ${line}`)
  check('less than a tenth of the first documents is refused', refused.length < total / 10)
  await server.stop()
}

/**
 * Octavo writes, Strapi takes over, Octavo again.
 * @param {HandedDatabase} database
 * @param {readonly string[]} untouched tables that Strapi changes in its own schema
 */
async function handOver(database, untouched) {
  const left = examine(database).wrong
  if (left.length > 0) say(`${left.length} things are wrong before Octavo writes`)
  for (const line of left.slice(0, 10)) say(`  ${line}`)
  const first = await startOctavo(database)
  const written = await writeAtRandom(first, shapes, random, Number(values.writes))
  say(`Octavo wrote: ${sentenceOf(written.counts)}; ${written.refused.length} refused`)
  for (const line of written.refused.slice(0, 5)) say(`  ${line}`)
  check('less than a tenth of the writes is refused', written.refused.length < Number(values.writes) / 10)
  const reads = readsOf(shapes, written.world, random)
  const answers = await first.answers(reads)
  await first.stop()
  doctor(database, 'after Octavo', left)

  const before = database.schema()
  const second = await startStrapi(database)
  compare('Strapi reads what Octavo wrote', reads, answers, await second.answers(reads))
  await second.stop()
  const changed = schemaChanges(before, database.schema()).filter((line) => !untouched.includes(line))
  check(`Strapi leaves the ${before.size} tables and indexes as they are`, changed.length === 0, changed)
  doctor(database, 'after Strapi has started and stopped', left)
  await handBack(database)
}

/**
 * Strapi writes, Octavo goes on.
 * @param {HandedDatabase} database
 */
async function handBack(database) {
  const third = await startStrapi(database)
  const more = await writeWithStrapi(third, shapes, random)
  say(`Strapi wrote: ${sentenceOf(more.counts)}; ${more.refused.length} refused`)
  for (const line of more.refused.slice(0, 5)) say(`  ${line}`)
  check('Strapi goes on writing', more.refused.length < more.total / 10)
  const reads = readsOf(shapes, more.world, random)
  const expected = await third.answers(reads)
  await third.stop()
  const left = examine(database).wrong
  say(`Strapi left ${left.length} things that the doctor calls wrong`)
  for (const line of left.slice(0, 10)) say(`  ${line}`)

  const fourth = await startOctavo(database)
  compare('Octavo reads what Strapi wrote', reads, await fourth.answers(reads), expected)
  const last = await writeAtRandom(fourth, shapes, random, 50)
  check('Octavo goes on writing', last.refused.length < 5, last.refused)
  await fourth.stop()
  doctor(database, 'after both, but for what Strapi left', left)
}

/**
 * @param {string} what
 * @param {readonly string[]} paths
 * @param {readonly import('./handover-reads.mjs').Answer[]} ours
 * @param {readonly import('./handover-reads.mjs').Answer[]} theirs
 */
function compare(what, paths, ours, theirs) {
  const found = differences(paths, ours, theirs)
  const good = theirs.filter(({ status }) => status === 200).length
  check(
    `${what}: ${paths.length - found.length} of ${paths.length} answers are equal, ${good} of them 200`,
    found.length === 0 && good >= 200,
    found,
  )
}

/** @param {Record<string, number>} counts */
function sentenceOf(counts) {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')
}

/**
 * @param {HandedDatabase} database
 * @param {string} when
 * @param {readonly string[]} [known] earlier findings
 */
function doctor(database, when, known = []) {
  const { wrong, notes } = examine(database)
  const found = wrong.filter((line) => !known.includes(line))
  check(`octavo doctor is content ${when}`, found.length === 0, found)
  for (const line of notes) say(`      ${line}`)
}

/**
 * Findings of the doctor, a line for each, and the headings of its notes.
 * @param {HandedDatabase} database
 */
function examine(database) {
  let text = ''
  try {
    const environment = { ...process.env, ...environmentOf(database) }
    text = execFileSync(process.execPath, [octavo, 'doctor', project], { env: environment, encoding: 'utf8' })
  } catch (error) {
    const { stdout = '', stderr = '' } = /** @type {{ stdout?: string, stderr?: string }} */ (error)
    text = `${stdout}${stderr}`
  }
  /** @type {string[]} */
  const wrong = []
  let heading = ''
  for (const line of text.split('\n')) {
    const isHeading = /^ *(ok|note|WRONG) +\d/.test(line)
    if (isHeading) heading = line
    else if (heading.includes('WRONG') && line.trim() !== '') wrong.push(`${heading.trim().replace(/^WRONG +\d+ +/, '')}: ${line.trim()}`)
  }
  return { wrong, notes: text.split('\n').filter((line) => /^ *note/.test(line)) }
}

/**
 * @param {Map<string, string>} before
 * @param {Map<string, string>} after
 */
function schemaChanges(before, after) {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    if (before.get(name) === after.get(name)) return []
    return [`${name}: ${before.has(name) ? (after.has(name) ? 'changed' : 'gone') : 'new'}`]
  })
}

/** Changes that Strapi makes to the schema of its own database in a start and stop. */
async function whatStrapiDoes() {
  const own = copyOfGolden(temporaryFolder())
  const before = own.schema()
  const strapi = await startStrapi(own)
  await strapi.stop()
  const changes = schemaChanges(before, own.schema())
  await own.drop()
  say(`Strapi itself changes ${changes.length === 0 ? 'nothing' : changes.join(', ')} in the schema of its own database`)
  return changes
}

/** @param {HandedDatabase} database */
function environmentOf({ environment }) {
  return { ...settings, ...environment }
}

/** @param {HandedDatabase} database */
function startOctavo(database) {
  return start('Octavo', [octavo, 'start', project], undefined, environmentOf(database))
}

/** @param {HandedDatabase} database */
function startStrapi({ environment }) {
  return start('Strapi', [join(strapiFolder, 'node_modules', '.bin', 'strapi'), 'start'], strapiFolder, environment)
}
