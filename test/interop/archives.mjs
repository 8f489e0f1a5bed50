// Archives between Octavo and the real Strapi, in both directions and every form, and octavo leave before Strapi starts:
// `node test/interop/archives.mjs [--database sqlite|postgres|mysql] [--parts to-strapi,from-strapi,leave] [--writes 200]
// [--seed 1]`.

import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { temporaryFolder } from '../../bench/launch.mjs'
import { seededRandom } from '../../bench/random.mjs'
import { goldenProject, octavoFolder } from '../../bench/servers.mjs'
import { prepareStrapi, strapiFolder } from '../../bench/strapi.mjs'
import { archiveDifferences, contentOfArchive } from './archives-content.mjs'
import { emptyDatabase, startServer } from './handover-databases.mjs'
import { giveToken } from './handover-fill.mjs'
import { start } from './handover-servers.mjs'
import { loadShapes } from './handover-shapes.mjs'
import { writeAtRandom, writeWithStrapi } from './handover-writes.mjs'
import { check, say } from './report.mjs'

/** @typedef {import('./handover-databases.mjs').HandedDatabase} HandedDatabase */

const { values } = parseArgs({
  options: {
    database: { type: 'string', default: 'sqlite' },
    parts: { type: 'string', default: 'to-strapi,from-strapi,leave' },
    writes: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
  },
})
const octavo = join(octavoFolder, 'main.js')
const strapi = join(strapiFolder, 'node_modules', '.bin', 'strapi')
const golden = join(goldenProject, '..', 'archive', 'golden-export.tar.gz')
const folder = temporaryFolder()
const project = join(folder, 'project')
const key = 'a key of both'
const shapes = loadShapes(project, () => cpSync(goldenProject, project, { recursive: true }))
const random = seededRandom(Number(values.seed))
const uploads = { octavo: join(project, 'uploads'), strapi: join(strapiFolder, 'public', 'uploads') }
let files = 0

/** The forms of an archive: options of both exports, and the end of its name. */
const forms = [
  { name: 'plain', options: ['--no-encrypt', '--no-compress'], ending: '.tar', key: false },
  { name: 'compressed', options: ['--no-encrypt'], ending: '.tar.gz', key: false },
  { name: 'encrypted', options: ['-k', key], ending: '.tar.gz.enc', key: true },
  { name: 'a folder', options: ['--no-encrypt', '--format', 'dir'], ending: '', key: false },
]

const server = values.database === 'sqlite' ? null : await startServer(/** @type {'postgres' | 'mysql'} */ (values.database))
try {
  await prepareStrapi()
  const parts = values.parts.split(',')
  if (parts.includes('to-strapi')) await fromOctavo()
  if (parts.includes('from-strapi')) await fromStrapi()
  if (parts.includes('leave')) await leaveAndStart()
} finally {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** Octavo writes and exports; Strapi imports. */
async function fromOctavo() {
  say('From Octavo to Strapi')
  const own = await newDatabase()
  runOctavo(own, ['import', project, '-f', golden, '--force', '--adapt'])
  giveToken(octavo, project, environmentOf(own))
  const service = await start('Octavo', [octavo, 'start', project], undefined, environmentOf(own))
  const written = await writeAtRandom(service, shapes, random, Number(values.writes))
  await service.stop()
  say(
    `Octavo wrote: ${Object.entries(written.counts)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ')}`,
  )
  const wanted = contentOfArchive(exportWithOctavo(own, uploads.octavo))
  say(`The archive has ${sizeOf(wanted)}`)
  for (const form of forms) {
    const base = join(folder, `octavo-${++files}`)
    runOctavo(own, ['export', project, '-f', base, ...form.options])
    const theirs = await newDatabase()
    const said = runStrapi(theirs, ['import', '-f', base + form.ending, '--force', ...(form.key ? ['-k', key] : [])])
    check(
      `Strapi finds the schemas of an archive that is ${form.name} the same`,
      !said.includes('Schema Integrity'),
      said.split('\n').filter((line) => line.includes('Schema Integrity')),
    )
    check(
      `Strapi skips nothing of it`,
      !/Skipping|skipped/i.test(said),
      said.split('\n').filter((line) => /skip/i.test(line)),
    )
    const found = contentOfArchive(exportWithOctavo(theirs, uploads.strapi))
    compare(`Strapi has imported the archive that is ${form.name}`, wanted, found)
    await theirs.drop()
  }
  await own.drop()
}

/** Strapi writes and exports; Octavo imports. */
async function fromStrapi() {
  say('From Strapi to Octavo')
  const theirs = await newDatabase()
  runStrapi(theirs, ['import', '-f', golden, '--force'])
  giveToken(octavo, project, environmentOf(theirs))
  const service = await start('Strapi', [strapi, 'start'], strapiFolder, theirs.environment)
  const { counts } = await writeWithStrapi(service, shapes, random)
  await service.stop()
  say(
    `Strapi wrote: ${Object.entries(counts)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ')}`,
  )
  for (const form of forms) {
    const base = join(folder, `strapi-${++files}`)
    runStrapi(theirs, ['export', '-f', base, ...form.options])
    const archive = base + form.ending
    const wanted = contentOfArchive(unpacked(archive, form))
    const own = await newDatabase()
    runOctavo(own, ['import', project, '-f', archive, '--force', '--adapt', ...(form.key ? ['-k', key] : [])])
    const found = contentOfArchive(exportWithOctavo(own, uploads.octavo))
    say(`Strapi's archive that is ${form.name} has ${sizeOf(wanted)}`)
    compare('Octavo has imported it', wanted, found)
    const doctor = runOctavo(own, ['doctor', project], true)
    check(
      'octavo doctor is content',
      /No problems found\./.test(doctor),
      doctor.split('\n').filter((line) => /WRONG/.test(line)),
    )
    await own.drop()
  }
  await theirs.drop()
}

/** Octavo serves a database that Strapi has made, and leaves it; then Strapi starts. */
async function leaveAndStart() {
  say('octavo leave')
  const theirs = await newDatabase()
  runStrapi(theirs, ['import', '-f', golden, '--force'])
  const service = await start('Strapi', [strapi, 'start'], strapiFolder, theirs.environment)
  await service.stop()
  const before = theirs.schema()
  giveToken(octavo, project, environmentOf(theirs))
  runOctavo(theirs, ['indexes', project])
  const first = await start('Octavo', [octavo, 'start', project], undefined, environmentOf(theirs))
  await writeAtRandom(first, shapes, random, 50)
  const paths = shapes.types.map(({ path }) => `/api/${path}?populate=*`)
  await first.stop()
  const content = contentOfArchive(exportWithOctavo(theirs, uploads.octavo))
  runOctavo(theirs, ['leave', project, '--force'])
  const after = theirs.schema()
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name))
  check('the tables and indexes are those that Strapi made', changed.length === 0, changed)
  check('nothing is left of it', /^Nothing of Octavo/m.test(runOctavo(theirs, ['leave', project])))
  const last = await start('Strapi', [strapi, 'start'], strapiFolder, theirs.environment)
  const answers = await last.answers(paths)
  await last.stop()
  const wrong = answers.filter(({ status }) => status !== 200 && status !== 404)
  check(
    `Strapi starts, and answers ${paths.length} reads`,
    wrong.length === 0,
    wrong.map(({ status, body }) => `${status} ${JSON.stringify(body).slice(0, 200)}`),
  )
  compare('the content is the same', content, contentOfArchive(exportWithOctavo(theirs, uploads.octavo)))
  await theirs.drop()
}

/** @returns {Promise<HandedDatabase>} */
async function newDatabase() {
  if (server !== null) return emptyDatabase(server.url)
  const place = temporaryFolder()
  const file = join(place, 'content.db')
  return {
    environment: { DATABASE_FILENAME: file },
    schema: () => {
      const text = execFileSync(
        'sqlite3',
        [file, "select name || char(9) || coalesce(replace(sql, char(10), ' '), '') from sqlite_master"],
        { encoding: 'utf8' },
      )
      return new Map(
        text
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => /** @type {[string, string]} */ (line.split('\t'))),
      )
    },
    drop: async () => rmSync(place, { recursive: true, force: true }),
  }
}

/**
 * @param {HandedDatabase} database
 * @param {string} folderOfFiles
 * @returns {string} a folder
 */
function exportWithOctavo(database, folderOfFiles) {
  const base = join(folder, `export-${++files}`)
  runOctavo(database, ['export', project, '-f', base, '--format', 'dir'], false, folderOfFiles)
  return base
}

/**
 * @param {string} archive
 * @param {(typeof forms)[number]} form
 */
function unpacked(archive, form) {
  if (form.ending === '') return archive
  const place = join(folder, `unpacked-${++files}`)
  mkdirSync(place)
  if (form.key) {
    // Decrypted by a program other than Octavo.
    const hex = execFileSync(process.execPath, ['-p', `require('crypto').scryptSync(${JSON.stringify(key)}, '', 16).toString('hex')`], {
      encoding: 'utf8',
    }).trim()
    execFileSync('openssl', ['enc', '-d', '-aes-128-ecb', '-K', hex, '-in', archive, '-out', `${place}.tar.gz`])
  }
  execFileSync('tar', ['xf', form.key ? `${place}.tar.gz` : archive, '-C', place])
  return place
}

/**
 * @param {HandedDatabase} database
 * @param {string[]} words
 * @param {boolean} [mayFail]
 * @param {string} [folderOfFiles]
 */
function runOctavo(database, words, mayFail = false, folderOfFiles = uploads.octavo) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [octavo, ...words], {
    ...{ encoding: 'utf8', maxBuffer: 100_000_000 },
    env: { ...process.env, ...environmentOf(database), UPLOADS_DIR: folderOfFiles },
  })
  if (status !== 0 && !mayFail) throw new Error(`octavo ${words.join(' ')}: ${stdout.slice(-2_000)}${stderr.slice(-2_000)}`)
  return stdout
}

/**
 * @param {HandedDatabase} database
 * @param {string[]} words
 */
function runStrapi(database, words) {
  const { status, stdout, stderr } = spawnSync(strapi, words, {
    ...{ cwd: strapiFolder, encoding: 'utf8', maxBuffer: 100_000_000, timeout: 900_000, input: '' },
    env: { ...process.env, NODE_ENV: 'production', ...database.environment },
  })
  if (status !== 0) throw new Error(`strapi ${words.join(' ')}: ${stdout.slice(-3_000)}${stderr.slice(-3_000)}`)
  return stdout + stderr
}

/** @param {HandedDatabase} database */
function environmentOf({ environment }) {
  return { UPLOADS_DIR: uploads.octavo, OCTAVO_DATABASE_READER_THREADS: '1', ...environment }
}

/** @param {import('./archives-content.mjs').ArchiveContent} content */
function sizeOf({ entities, relations, files: assets }) {
  const links = [...relations.values()].reduce((sum, count) => sum + count, 0)
  return `${entities.size} entities, ${links} relations and ${assets.size} files`
}

/**
 * @param {string} what
 * @param {import('./archives-content.mjs').ArchiveContent} wanted
 * @param {import('./archives-content.mjs').ArchiveContent} found
 */
function compare(what, wanted, found) {
  const differing = archiveDifferences(wanted, found)
  check(`${what}: ${sizeOf(found)}, ${differing.length} differences`, differing.length === 0, differing)
}

if (existsSync(uploads.strapi))
  for (const name of readdirSync(uploads.strapi)) if (name === '.octavo') rmSync(join(uploads.strapi, name), { recursive: true })
