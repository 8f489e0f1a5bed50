// A database changes hands: Octavo writes to a copy of the golden one, Strapi takes it over, then Octavo again. Both have to answer
// alike, and neither may find anything to repair: `node test/interop/handover.mjs [--writes 400] [--seed 1]`.

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { launch, temporaryFolder } from '../../bench/launch.mjs'
import { seededRandom } from '../../bench/random.mjs'
import { copyDatabase, goldenProject, octavoFolder } from '../../bench/servers.mjs'
import { prepareStrapi, strapiFolder } from '../../bench/strapi.mjs'
import { differences, readsOf } from './handover-reads.mjs'
import { loadShapes } from './handover-shapes.mjs'
import { writeAtRandom, writeWithStrapi } from './handover-writes.mjs'

const { values } = parseArgs({ options: { writes: { type: 'string', default: '400' }, seed: { type: 'string', default: '1' } } })
const octavo = join(octavoFolder, 'main.js')
const folder = temporaryFolder()
const project = join(folder, 'project')
const environment = { DATABASE_FILENAME: copyDatabase(folder), UPLOADS_DIR: join(project, 'uploads'), OCTAVO_DATABASE_READER_THREADS: '1' }
const shapes = loadShapes(project, () => cpSync(goldenProject, project, { recursive: true }))
const random = seededRandom(Number(values.seed))
let failed = false

try {
  await prepareStrapi()
  const untouched = await whatStrapiDoes()

  const first = await startOctavo()
  const written = await writeAtRandom(first, shapes, random, Number(values.writes))
  say(`Octavo wrote: ${sentenceOf(written.counts)}; ${written.refused.length} refused`)
  for (const line of written.refused.slice(0, 5)) say(`  ${line}`)
  check('less than a tenth of the writes is refused', written.refused.length < Number(values.writes) / 10)
  const reads = readsOf(shapes, written.world, random)
  const answers = await first.answers(reads)
  await first.stop()
  await doctor('after Octavo')

  const before = schema()
  const second = await startStrapi()
  compare('Strapi reads what Octavo wrote', reads, answers, await second.answers(reads))
  await second.stop()
  const changed = schemaChanges(before, schema()).filter((line) => !untouched.includes(line))
  check(`Strapi leaves the ${before.size} tables and indexes as they are`, changed.length === 0, changed)
  await doctor('after Strapi has started and stopped')

  const third = await startStrapi()
  const more = await writeWithStrapi(third, shapes, random)
  say(`Strapi wrote: ${sentenceOf(more.counts)}; ${more.refused.length} refused`)
  for (const line of more.refused.slice(0, 5)) say(`  ${line}`)
  check('Strapi goes on writing', more.refused.length < more.total / 10)
  const readsAfter = readsOf(shapes, more.world, random)
  const expected = await third.answers(readsAfter)
  await third.stop()
  const left = examine().wrong
  say(`Strapi left ${left.length} things that the doctor calls wrong`)
  for (const line of left.slice(0, 10)) say(`  ${line}`)

  const fourth = await startOctavo()
  compare('Octavo reads what Strapi wrote', readsAfter, await fourth.answers(readsAfter), expected)
  const last = await writeAtRandom(fourth, shapes, random, 50)
  check('Octavo goes on writing', last.refused.length < 5, last.refused)
  await fourth.stop()
  await doctor('after both, but for what Strapi left', left)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
if (failed) process.exitCode = 1

/** @param {string} line */
function say(line) {
  console.log(line)
}

/**
 * @param {string} what
 * @param {boolean} holds
 * @param {readonly string[]} [details]
 */
function check(what, holds, details = []) {
  console.log(`${holds ? 'pass' : 'FAIL'}  ${what}`)
  if (holds) return
  failed = true
  for (const line of details.slice(0, 40)) console.log(`      ${line}`)
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
 * @param {string} when
 * @param {readonly string[]} [known] what was wrong before
 */
async function doctor(when, known = []) {
  const { wrong, notes } = examine()
  const found = wrong.filter((line) => !known.includes(line))
  check(`octavo doctor is content ${when}`, found.length === 0, found)
  for (const line of notes) say(`      ${line}`)
}

/** What the doctor calls wrong, a line for each thing, and the headings of its notes. */
function examine() {
  let text = ''
  try {
    text = execFileSync(process.execPath, [octavo, 'doctor', project], { env: { ...process.env, ...environment }, encoding: 'utf8' })
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

/** @returns {Map<string, string>} the text of every table and index by its name */
function schema(file = environment.DATABASE_FILENAME) {
  const database = new Database(file, { readonly: true })
  const rows = /** @type {{ name: string, sql: string | null }[]} */ (database.prepare('select name, sql from sqlite_master').all())
  database.close()
  return new Map(rows.map(({ name, sql }) => [name, sql ?? '']))
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

/** What Strapi does to the schema of a database of its own when it is started and stopped. */
async function whatStrapiDoes() {
  const own = join(folder, 'own')
  mkdirSync(own)
  const file = copyDatabase(own)
  const before = schema(file)
  const strapi = await startStrapi(file)
  await strapi.stop()
  const changes = schemaChanges(before, schema(file))
  say(`Strapi itself changes ${changes.length === 0 ? 'nothing' : changes.join(', ')} in the schema of its own database`)
  return changes
}

function startOctavo() {
  return start('Octavo', [octavo, 'start', project], undefined, environment)
}

function startStrapi(file = environment.DATABASE_FILENAME) {
  return start('Strapi', [join(strapiFolder, 'node_modules', '.bin', 'strapi'), 'start'], strapiFolder, { DATABASE_FILENAME: file })
}

/**
 * @param {string} name
 * @param {string[]} command
 * @param {string | undefined} workingFolder
 * @param {Record<string, string>} given
 */
async function start(name, command, workingFolder, given) {
  const server = await launch({ name, command, folder: temporaryFolder(), workingFolder, environment: given, patience: 180_000 })
  const { full: token } = JSON.parse(readFileSync(join(goldenProject, 'tokens.json'), 'utf8'))
  /**
   * @param {string} method
   * @param {string} path
   * @param {object} [data]
   * @returns {Promise<import('./handover-reads.mjs').Answer>}
   */
  const ask = async (method, path, data) => {
    const headers = { authorization: `Bearer ${token}`, ...(data === undefined ? {} : { 'content-type': 'application/json' }) }
    const answer = await fetch(server.origin + path, { method, headers, ...(data === undefined ? {} : { body: JSON.stringify({ data }) }) })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
  }
  const answers = async (/** @type {readonly string[]} */ paths) => {
    const all = []
    for (const path of paths) all.push(await ask('GET', path))
    return all
  }
  return { name, ask, answers, stop: server.stop }
}
