// Archives of large projects: duration and peak memory of `octavo export` and `octavo import`.
// `node bench/archives.mjs [--articles 10000,100000] [--forms tar,tar.gz] [--strapi]`; `--strapi` also measures the export of Strapi 5.54.

import { spawn } from 'node:child_process'
import { constants, copyFileSync, cpSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { databaseWith } from './data.mjs'
import { temporaryFolder } from './launch.mjs'
import { goldenProject, octavoFolder } from './servers.mjs'
import { prepareStrapi, strapiFolder } from './strapi.mjs'

/** @typedef {{ what: string, articles: number, seconds: number, processor: number, archive: number, memory: number }} Measurement */
/** @typedef {{ name: string, options: string[], ending: string }} Form */

const { values } = parseArgs({
  options: {
    articles: { type: 'string', default: '10000,100000' },
    forms: { type: 'string', default: 'tar,tar.gz' },
    strapi: { type: 'boolean', default: false },
  },
})
const octavo = join(octavoFolder, 'main.js')
const strapi = join(strapiFolder, 'node_modules', '@strapi', 'strapi', 'bin', 'strapi.js')
const preload = pathToFileURL(fileURLToPath(new URL('./peak-memory.mjs', import.meta.url))).href
/** @type {readonly Form[]} */
const allForms = [
  { name: 'tar', options: ['--no-encrypt', '--no-compress'], ending: '.tar' },
  { name: 'tar.gz', options: ['--no-encrypt'], ending: '.tar.gz' },
]
const forms = allForms.filter(({ name }) => values.forms.split(',').includes(name))
const megabyte = 1_000_000

if (!existsSync(octavo)) throw new Error('dist/main.js is missing: run `npm run build` first')
if (values.strapi) await prepareStrapi()
const folder = temporaryFolder()
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const project = join(folder, 'project')
cpSync(goldenProject, project, { recursive: true })

/** @type {Measurement[]} */
const measured = []
for (const articles of values.articles.split(',').map(Number)) for (const form of forms) await measure(articles, form)
compareSizes()

/**
 * Exports a database, imports the archive into a new one, and over the content that is there.
 * @param {number} articles
 * @param {Form} form
 */
async function measure(articles, form) {
  const database = copyOf(databaseWith(articles))
  const base = join(folder, `${articles}-${form.name}`)
  const archive = base + form.ending
  const exported = await octavoSeconds(['export', project, '-f', base, ...form.options], database)
  note(`octavo export, ${form.name}`, articles, exported, archive)
  const into = ['import', project, '-f', archive, '--force', '--adapt']
  note(
    `octavo import, ${form.name}, into a new database`,
    articles,
    await octavoSeconds([...into, '--new'], join(folder, 'new.db')),
    archive,
  )
  note(`octavo import, ${form.name}, over the same content`, articles, await octavoSeconds(into, database), archive)
  if (values.strapi) {
    const theirs = join(folder, 'strapi')
    const plain = copyOf(databaseWith(articles))
    note(
      `strapi export, ${form.name}`,
      articles,
      await strapiSeconds(['export', '-f', theirs, ...form.options], plain),
      theirs + form.ending,
    )
    rmSync(theirs + form.ending)
  }
  for (const name of ['content.db', 'new.db'])
    for (const end of ['', '-wal', '-shm', '.octavo']) rmSync(join(folder, name + end), { force: true })
  rmSync(archive)
}

/** @param {string} database */
function copyOf(database) {
  const copy = join(folder, 'content.db')
  for (const end of ['-wal', '-shm', '.octavo']) rmSync(copy + end, { force: true })
  copyFileSync(database, copy, constants.COPYFILE_FICLONE)
  return copy
}

/**
 * @param {string[]} words
 * @param {string} database
 */
function octavoSeconds(words, database) {
  return run([octavo, ...words], folder, { DATABASE_FILENAME: database, UPLOADS_DIR: join(project, 'uploads'), LOG_LEVEL: 'error' })
}

/**
 * @param {string[]} words
 * @param {string} database
 */
function strapiSeconds(words, database) {
  return run([strapi, ...words], strapiFolder, { DATABASE_FILENAME: database })
}

/**
 * Runs a program. Its seconds, those of the processor, and the most memory that it had.
 * @param {string[]} command
 * @param {string} workingFolder
 * @param {Record<string, string>} environment
 * @returns {Promise<{ seconds: number, processor: number, memory: number }>}
 */
async function run(command, workingFolder, environment) {
  const peaks = join(folder, 'peaks')
  rmSync(peaks, { force: true })
  const begun = performance.now()
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, ['--import', preload, ...command], {
    cwd: workingFolder,
    env: { PATH, HOME, NODE_ENV: 'production', OCTAVO_PEAK_FILE: peaks, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said = (said + text).slice(-3_000)))
  const status = await new Promise((resolve) => child.once('close', resolve))
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}: ${said}`)
  const [memory = 0, processor = 0] = readFileSync(peaks, 'utf8').split(' ').map(Number)
  return { seconds: (performance.now() - begun) / 1_000, processor, memory }
}

/**
 * @param {string} what
 * @param {number} articles
 * @param {{ seconds: number, processor: number, memory: number }} found
 * @param {string} path of the archive
 */
function note(what, articles, { seconds, processor, memory }, path) {
  const archive = statSync(path).size
  measured.push({ what, articles, seconds, processor, archive, memory })
  const cells = [
    what.padEnd(52),
    `${articles.toLocaleString('en')} articles`.padStart(18),
    `${seconds.toFixed(1)} s`.padStart(9),
    `${processor.toFixed(1)} s of the processor`.padStart(23),
    `${(archive / megabyte).toFixed(1)} MB`.padStart(10),
    `${(memory / megabyte).toFixed(0)} MB at most`.padStart(15),
  ]
  console.log(cells.join(' '))
}

/** Duration of the largest size divided by that of the smallest. */
function compareSizes() {
  const sizes = [...new Set(measured.map(({ articles }) => articles))].sort((one, other) => one - other)
  const [least, most] = [sizes[0], sizes.at(-1)]
  if (least === most) return
  console.log(`\n${most?.toLocaleString('en')} articles compared with ${least?.toLocaleString('en')}:`)
  for (const { what, processor, memory } of measured.filter(({ articles }) => articles === most)) {
    const small = measured.find((one) => one.what === what && one.articles === least)
    if (small === undefined) continue
    const [longer, larger] = [processor / small.processor, memory / small.memory].map((ratio) => ratio.toFixed(2))
    console.log(`${what.padEnd(52)} ${longer} × the processor, ${larger} × the memory`)
  }
  for (const { name } of forms) {
    const [ours, theirs] = ['octavo', 'strapi'].map((who) =>
      measured.find((one) => one.what === `${who} export, ${name}` && one.articles === most),
    )
    if (ours !== undefined && theirs !== undefined)
      console.log(
        `${`export, ${name}: Strapi's divided by Octavo's`.padEnd(52)} ${(theirs.processor / ours.processor).toFixed(1)} × the processor, ${(theirs.memory / ours.memory).toFixed(1)} × the memory`,
      )
  }
}
