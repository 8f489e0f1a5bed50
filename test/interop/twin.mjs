// One project with its code in Strapi's form and in Octavo's, both run on copies of one database: do they return the same responses?
// `node test/interop/twin.mjs [--verbose]`

import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { launch, temporaryFolder } from '../../bench/launch.mjs'
import { octavoFolder } from '../../bench/servers.mjs'
import { prepareStrapi } from '../../bench/strapi.mjs'
import { fill } from './twin/content.mjs'
import { addCode, writePlainProject } from './twin/project.mjs'
import { questions } from './twin/requests.mjs'

/** @typedef {import('./twin/requests.mjs').Question} Question */
/** @typedef {{ status: number, type: string, header: string | null, body: unknown }} Answer */
/** @typedef {{ path: string, strapi: unknown, octavo: unknown }} Difference */

const { verbose } = parseArgs({ options: { verbose: { type: 'boolean', default: false } } }).values
const octavo = join(octavoFolder, 'main.js')
const work = temporaryFolder()
const project = join(work, 'project')
const databases = { start: join(work, 'start.db'), strapi: join(work, 'strapi.db'), octavo: join(work, 'octavo.db') }

const startStrapi = (/** @type {string} */ database) =>
  launch({
    ...{ name: 'Strapi', folder: temporaryFolder(), workingFolder: project, patience: 180_000 },
    command: [join(project, 'node_modules', '.bin', 'strapi'), 'start'],
    environment: { DATABASE_FILENAME: database },
  })
const startOctavo = (/** @type {string} */ database) =>
  launch({
    ...{ name: 'Octavo', folder: temporaryFolder() },
    command: [octavo, 'start', project],
    environment: { DATABASE_FILENAME: database },
  })

let failed = false
try {
  await prepareStrapi()
  failed = !(await compare(await prepare()))
} finally {
  rmSync(work, { recursive: true, force: true })
}
if (failed) process.exitCode = 1

/** The content of both databases, by Strapi without the project's code; then the code, and what replaces bootstrap and `auth: false`. */
async function prepare() {
  writePlainProject(project)
  const plain = await startStrapi(databases.start)
  const filled = await fill(plain, project)
  await plain.stop()
  addCode(project)
  for (const copy of [databases.strapi, databases.octavo]) copyFileSync(databases.start, copy)
  const options = { env: { ...process.env, NODE_ENV: 'production', DATABASE_FILENAME: databases.octavo, LOG_LEVEL: 'error' } }
  const products = 'api::product.product.find,api::product.product.findOne'
  execFileSync(process.execPath, [octavo, 'roles', 'grant', 'public', products, project], options)
  execFileSync(process.execPath, [join(project, 'bootstrap.mjs')], options)
  return filled
}

/**
 * Asks both, and prints what differs. Resolves to true if nothing does that is not meant to.
 * @param {{ callers: Record<string, string>, names: Map<string, string> }} filled
 */
async function compare({ callers, names }) {
  const strapi = { ...(await startStrapi(databases.strapi)), names: new Map(names) }
  const twin = { ...(await startOctavo(databases.octavo)), names: new Map(names) }
  /** @type {Map<string, { asked: number, same: number, meant: number }>} */
  const kinds = new Map()
  let [unexpected, good] = [0, 0]
  for (const question of questions) {
    const [theirs, ours] = [await ask(strapi, question, callers), await ask(twin, question, callers)]
    const found = differences(theirs, ours)
    const problem = problemOf(question, found, ours)
    const count = kinds.get(question.kind) ?? { asked: 0, same: 0, meant: 0 }
    count.asked += 1
    if (found.length === 0) count.same += 1
    else if (problem === null) count.meant += 1
    kinds.set(question.kind, count)
    if (problem !== null) unexpected += 1
    if (theirs.status < 300) good += 1
    if (theirs.status >= 500) throw new Error(`Strapi fails at ${question.method} ${question.path}: ${JSON.stringify(theirs.body)}`)
    if (verbose)
      console.log(`${theirs.status} ${question.method} ${question.path} as ${question.as} ${JSON.stringify(theirs.body).slice(0, 300)}`)
    report(question, found, problem)
  }
  await strapi.stop()
  await twin.stop()
  console.log(`\n${questions.length} requests, by the kind of code:`)
  for (const [kind, { asked, same, meant }] of kinds)
    console.log(`  ${kind.padEnd(20)} ${asked} requests: ${same} the same, ${meant} different on purpose`)
  console.log(`Strapi's status was 2xx for ${good} of them.`)
  console.log(unexpected === 0 ? 'Nothing differs that is not meant to.' : `${unexpected} requests differ.`)
  return unexpected === 0
}

/** Why a request fails; null if it does not. @param {Question} question @param {readonly Difference[]} found @param {Answer} ours */
function problemOf({ differs }, found, { status }) {
  if (differs === undefined) return found.length === 0 ? null : 'DIFFERENT'
  if (found.length === 0) return 'NO LONGER DIFFERENT'
  if (differs.status !== undefined && differs.status !== status) return 'DIFFERENT STATUS'
  return found.every(({ path }) => differs.at.some((prefix) => path.startsWith(prefix))) ? null : 'DIFFERENT ELSEWHERE'
}

/** @param {Question} question @param {readonly Difference[]} found @param {string | null} problem */
function report({ kind, as, method, path, differs }, found, problem) {
  if (problem === null && differs === undefined) return
  console.log(`${problem ?? 'on purpose'}  ${kind}: ${method} ${path} as ${as}${differs === undefined ? '' : `: ${differs.because}`}`)
  for (const { path: at, strapi, octavo: ours } of found)
    console.log(`    ${at}: ${JSON.stringify(strapi)} in Strapi, ${JSON.stringify(ours)} in Octavo`)
}

/**
 * @param {{ origin: string, names: Map<string, string> }} server
 * @param {Question} question
 * @param {Record<string, string>} callers
 * @returns {Promise<Answer>}
 */
async function ask({ origin, names }, question, callers) {
  const named = (/** @type {string} */ text) => text.replace(/\{\{(\w+)\}\}/g, (_, name) => names.get(name) ?? name)
  const body = question.raw ?? (question.body === undefined ? undefined : named(JSON.stringify(question.body)))
  const key = callers[question.as]
  /** @type {Record<string, string>} */
  const headers = {
    ...question.headers,
    ...(key && { authorization: `Bearer ${key}` }),
    ...(body && { 'content-type': 'application/json' }),
  }
  if (headers['x-signature'] === 'right')
    headers['x-signature'] = createHmac('sha256', 'payments')
      .update(body ?? '')
      .digest('hex')
  const once = async () => {
    const response = await fetch(origin + named(question.path), {
      method: question.method,
      headers,
      redirect: 'manual',
      ...(body && { body }),
    })
    const text = await response.text()
    const type = response.headers.get('content-type') ?? ''
    const header = question.header === undefined ? null : (response.headers.get(question.header)?.replace(origin, '') ?? null)
    return { status: response.status, type, header, body: type.startsWith('application/json') ? JSON.parse(text) : text }
  }
  let answer = await once()
  for (let tries = 0; question.untilFound && answer.body.data?.length === 0 && tries < 60; tries += 1) {
    await wait(500)
    answer = await once()
  }
  if (question.saveAs !== undefined) names.set(question.saveAs, answer.body.data?.documentId ?? 'nothing')
  return { ...answer, body: normal(answer.body, new Map([...names].map(([name, id]) => [id, name]))) }
}

/** Replaces generated values by the names of their origin. @param {any} value @param {Map<string, string>} known @param {string} [key] @returns {any} */
function normal(value, known, key = '') {
  if (Array.isArray(value)) return value.map((one) => normal(one, known, key))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, normal(inner, known, name)]))
  if (value === null || value === undefined) return value
  if (key === 'id') return 'id'
  if (['createdAt', 'updatedAt', 'publishedAt'].includes(key)) return 'time'
  if (typeof value === 'string' && known.has(value)) return `<${known.get(value)}>`
  return key === 'documentId' ? '<new>' : value
}

/** Every position at which two values differ. @param {any} strapi @param {any} ours @param {string} [path] @returns {Difference[]} */
function differences(strapi, ours, path = '') {
  const bothObjects = [strapi, ours].every((one) => typeof one === 'object' && one !== null)
  if (!bothObjects || Array.isArray(strapi) !== Array.isArray(ours)) return strapi === ours ? [] : [{ path, strapi, octavo: ours }]
  const keys = [...new Set([...Object.keys(strapi), ...Object.keys(ours)])]
  return keys.flatMap((key) => differences(strapi[key], ours[key], path === '' ? key : `${path}.${key}`))
}
