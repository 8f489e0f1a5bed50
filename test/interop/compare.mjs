// `octavo compare` between Octavo and the real Strapi, on a project with code: does it find what the code does, do the defaults that it and
// the start suggest make the responses equal? `node test/interop/compare.mjs`

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { launch, temporaryFolder } from '../../bench/launch.mjs'
import { prepareStrapi } from '../../bench/strapi.mjs'
import { populate, writeProjectWithCode } from './compare-project.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const command = join(here, '..', '..', 'dist', 'main.js')
const golden = join(here, '..', 'golden', 'project')
const { full } = JSON.parse(readFileSync(join(golden, 'tokens.json'), 'utf8'))

await prepareStrapi()
const work = temporaryFolder()
const project = join(work, 'project')
writeProjectWithCode(project)

const content = gunzipSync(readFileSync(join(golden, 'content.db.gz')))
/** @param {string} name */
function database(name) {
  const file = join(work, `${name}.db`)
  writeFileSync(file, content)
  return file
}

/** @param {string} file @param {string} [folder] */
const startStrapi = (file, folder = temporaryFolder()) =>
  launch({
    ...{ name: 'strapi', folder, workingFolder: project, patience: 180_000 },
    command: [join(project, 'node_modules', '.bin', 'strapi'), 'start'],
    environment: { DATABASE_FILENAME: file },
  })
/** @param {string} file @param {string} folder of the project */
const startOctavo = (file, folder) =>
  launch({
    ...{ name: 'octavo', folder: temporaryFolder(), workingFolder: folder },
    command: [command, 'start', folder],
    environment: { DATABASE_FILENAME: file, UPLOADS_DIR: join(project, 'public', 'uploads') },
  })

/** The project as Octavo sees it, with this configuration. @param {string} name @param {object} config */
function projectOfOctavo(name, config) {
  const folder = join(work, name)
  for (const part of ['src', 'config', 'package.json', '.env']) cpSync(join(project, part), join(folder, part), { recursive: true })
  writeFileSync(join(folder, 'octavo.config.json'), JSON.stringify({ api: { rest: { contract: 'strapi' } }, ...config }))
  return folder
}

let failures = 0
/** @param {boolean} holds @param {string} what @param {unknown} [shown] */
function check(holds, what, shown) {
  if (!holds) failures += 1
  console.log(`${holds ? 'ok  ' : 'FAIL'} ${what}${holds || shown === undefined ? '' : `\n${JSON.stringify(shown, null, 1)}`}`)
}

/** @param {string[]} words */
async function compare(...words) {
  const child = spawn(process.execPath, [command, 'compare', ...words, '--json', '--rate', '500'], { cwd: work })
  const [out, err, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { status, err, report: out === '' ? null : JSON.parse(out) }
}
/** @param {any} report */
const causesOf = ({ groups }) => groups.map((/** @type {any} */ { cause, subject }) => `${cause} ${subject}`).sort()

const shared = database('shared')
const log = temporaryFolder()
const strapi = await startStrapi(shared, log)
const plain = projectOfOctavo('plain', {})
let octavo = await startOctavo(shared, plain)

// 1. Requests from the model: what the code does is found.
const asFull = ['--as', `full=${full}`, '--project', plain]
const first = await compare(strapi.origin, octavo.origin, ...asFull)
const expected = [
  'allowed api::supplier.supplier',
  'attributes missing api::tag.tag',
  'attributes shown api::article.article',
  'attributes shown api::tag.tag',
  'default order api::product.product',
  'documents shown api::tag.tag',
  'found api::category.category',
  'populate api::article.article',
  'populate replaced api::article.article',
]
check(first.status === 1 && isDeepStrictEqual(causesOf(first.report), expected), 'the code of the project is found', causesOf(first.report))
const group = (/** @type {string} */ cause) => first.report.groups.find((/** @type {any} */ one) => one.cause === cause)
check(group('populate')?.verified === 'equal', 'the defaults of articles were checked', group('populate'))
check(
  group('populate')?.files.includes('src/api/article/middlewares/populate.js (find, findOne): sets populate'),
  'its middleware is named',
  group('populate')?.files,
)

// 2. With the suggested defaults, of the comparison and of the start, the responses are equal.
const suggested = group('populate').config.types['api::article.article'].defaults
const sorted = group('default order').config.types['api::product.product'].defaults
await octavo.stop()
for (const [name, defaults] of Object.entries({ compared: suggested, read: { populate } })) {
  const types = { 'api::article.article': { defaults }, 'api::product.product': { defaults: sorted } }
  octavo = await startOctavo(shared, projectOfOctavo(name, { types }))
  const paths = ['/api/articles', '/api/articles?status=draft', '/api/articles?locale=de', '/api/products', '/api/products?sort=name']
  const list = join(work, `${name}.txt`)
  writeFileSync(list, paths.join('\n'))
  const again = await compare(strapi.origin, octavo.origin, '--as', `full=${full}`, '--requests', list)
  check(again.status === 0, `with the defaults that were ${name} nothing differs`, again.report?.groups)
  if (name === 'compared') await octavo.stop()
}

// 3. Strapi's own log is a source of requests; a custom route is named.
await fetch(`${strapi.origin}/api/top-authors`)
const read = await compare(strapi.origin, octavo.origin, '--as', `full=${full}`, '--log', join(log, 'server.log'), '--limit', '2000')
const logged = read.report.same + read.report.documented + read.report.different
check(
  logged > 50 && causesOf(read.report).includes('custom route top-authors'),
  `${logged} requests from Strapi's log`,
  causesOf(read.report),
)

// 4. Writes: refused on one database, equal on two except for the documented differences.
const conversation = join(work, 'writes.jsonl')
const lines = [
  { method: 'POST', path: '/api/tags', body: { data: { name: 'Compared', weight: 7 } }, name: 'tag' },
  {
    method: 'POST',
    path: '/api/articles?status=draft',
    body: { data: { title: 'Compared', tags: ['{{tag.data.documentId}}'] } },
    name: 'article',
  },
  { method: 'PUT', path: '/api/articles/{{article.data.documentId}}?status=draft', body: { data: { summary: 'Once more' } } },
  { path: '/api/articles/{{article.data.documentId}}?status=draft&fields=title,summary' },
  { method: 'POST', path: '/api/tags', body: { data: { weight: 'heavy' } } },
  { method: 'DELETE', path: '/api/articles/{{article.data.documentId}}' },
]
writeFileSync(conversation, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
const types = { 'api::article.article': { defaults: { populate } } }
octavo = await startOctavo(shared, projectOfOctavo('shared', { types }))
const refused = await compare(strapi.origin, octavo.origin, '--as', `full=${full}`, '--writes', '--requests', conversation)
check(refused.status === 2 && refused.err.includes('have the same database'), 'writes to one database are refused', refused)
await octavo.stop()
octavo = await startOctavo(database('own'), projectOfOctavo('own', { types }))
const written = await compare(strapi.origin, octavo.origin, '--as', `full=${full}`, '--writes', '--requests', conversation)
check(written.status === 0, 'writes to two databases are equal', written.report?.groups ?? written.err)

await octavo.stop()
await strapi.stop()
rmSync(work, { recursive: true, force: true })
console.log(failures === 0 ? 'All as expected.' : `${failures} failed.`)
process.exit(failures === 0 ? 0 : 1)
