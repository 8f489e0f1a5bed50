// node test/interop/schemas.mjs: random content models, as Strapi and Octavo create their tables and respond.
// `--record` runs Strapi and writes test/golden/schemas; without it, Octavo is compared with the recording, and the figures are printed.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import { ownUserAttributes } from './reads-model.mjs'
import { comparable, tablesIn } from './schemas-compare.mjs'
import { randomSchema } from './schemas-random.mjs'
import { replay } from './schemas-replay.mjs'
import { askStrapi } from './schemas-strapi.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const recordings = join(here, '..', 'golden', 'schemas')
const { values } = parseArgs({
  options: {
    record: { type: 'boolean', default: false },
    schemas: { type: 'string', default: '300' },
    together: { type: 'string', default: '25' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    strapi: { type: 'string', default: join(here, '..', '..', 'bench', 'strapi', 'node_modules') },
    folder: { type: 'string', default: recordings },
    show: { type: 'string', default: '40' },
  },
})

/** The schema of users in a project; every other one has a role without its other side. @param {readonly import('./schemas-random.mjs').RandomSchema[]} schemas @param {boolean} hasOtherSide */
const usersOf = (schemas, hasOtherSide) => ({
  kind: 'collectionType',
  collectionName: 'up_users',
  info: { name: 'user', description: '', singularName: 'user', pluralName: 'users', displayName: 'User' },
  options: { draftAndPublish: false },
  attributes: {
    ...ownUserAttributes,
    role: {
      type: 'relation',
      relation: 'manyToOne',
      target: 'plugin::users-permissions.role',
      ...(hasOtherSide && { inversedBy: 'users' }),
      configurable: false,
    },
    ...Object.assign({}, ...schemas.map((schema) => schema.user)),
  },
})

/** The schema that an error of Strapi is about. @param {string} text @param {readonly import('./schemas-random.mjs').RandomSchema[]} schemas */
const blamed = (text, schemas) => schemas.find(({ prefix }) => text.toLowerCase().includes(prefix))

/** @param {readonly import('./schemas-random.mjs').RandomSchema[]} schemas @param {boolean} hasOtherSide */
async function recordTogether(schemas, hasOtherSide) {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-schemas-'))
  /** @type {{ prefix: string, refusal: string, files: unknown, user: unknown }[]} */
  const refused = []
  let left = schemas
  try {
    for (;;) {
      const files = {
        ...Object.assign({}, ...left.map((schema) => schema.files)),
        'src/extensions/users-permissions/content-types/user/schema.json': usersOf(left, hasOtherSide),
      }
      const asked = await askStrapi(
        join(folder, 'project'),
        values.strapi,
        files,
        left.flatMap(({ types }) => types),
        left.map(({ requests }) => requests),
        ['de'],
      )
      if (!('refusal' in asked)) {
        const database = join(folder, 'project', 'data.db')
        const recorded = left.map(({ prefix, files: own, user: ofUsers, requests }, index) => {
          const documents = new Map()
          const responses = asked.answers[index].map(({ ends, ...response }) => ({
            ...comparable(response, documents),
            ...(ends && { ends }),
          }))
          return { prefix, files: own, user: ofUsers, requests, responses, tables: tablesIn(database, prefix) }
        })
        return [{ users: files['src/extensions/users-permissions/content-types/user/schema.json'] }, ...recorded, ...refused]
      }
      const error = asked.refusal.split('\n').find((line) => /Error: /.test(line)) ?? asked.refusal.slice(0, 500)
      const found = blamed(error, left) ?? (await bisected(left, hasOtherSide, folder))
      process.stdout.write(`refused: ${found.prefix} ${error}\n`)
      refused.push({ prefix: found.prefix, refusal: error.replace(/^.*?Error: /, ''), files: found.files, user: found.user })
      left = left.filter((schema) => schema !== found)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One schema that Strapi refuses, where its error does not name it. @param {readonly import('./schemas-random.mjs').RandomSchema[]} schemas @param {boolean} hasOtherSide @param {string} folder */
async function bisected(schemas, hasOtherSide, folder) {
  let left = schemas
  while (left.length > 1) {
    const half = left.slice(0, left.length >> 1)
    const files = {
      ...Object.assign({}, ...half.map((schema) => schema.files)),
      'src/extensions/users-permissions/content-types/user/schema.json': usersOf(half, hasOtherSide),
    }
    const asked = await askStrapi(
      join(folder, 'project'),
      values.strapi,
      files,
      half.flatMap(({ types }) => types),
      [],
      ['de'],
    )
    left = 'refusal' in asked ? half : left.slice(half.length)
  }
  return left[0]
}

async function record() {
  mkdirSync(values.folder, { recursive: true })
  const [count, together, from] = [values.schemas, values.together, values.from].map(Number)
  for (let first = from; first < count; first += together) {
    const schemas = Array.from({ length: Math.min(together, count - first) }, (_, index) =>
      randomSchema(Number(values.seed), first + index),
    )
    const started = performance.now()
    const lines = await recordTogether(schemas, (first / together) % 2 === 0)
    const text = lines.map((line) => JSON.stringify(line)).join('\n')
    writeFileSync(join(values.folder, `schemas-${String(first).padStart(3, '0')}.jsonl.gz`), gzipSync(text, { level: 9 }))
    process.stdout.write(`${first + schemas.length} of ${count}: ${Math.round((performance.now() - started) / 1000)} s\n`)
  }
}

async function compare() {
  const total = { schemas: 0, tables: 0, requests: 0, alike: 0, named: 0, refused: 0 }
  let shown = Number(values.show)
  for (const file of readdirSync(values.folder)
    .filter((name) => name.endsWith('.jsonl.gz'))
    .sort()) {
    const lines = gunzipSync(readFileSync(join(values.folder, file)))
      .toString()
      .split('\n')
      .map((line) => JSON.parse(line))
    const result = await replay(lines)
    for (const key of /** @type {(keyof typeof total)[]} */ (Object.keys(total))) total[key] += result[key]
    for (const difference of result.differences) if (shown-- > 0) process.stdout.write(`${file} ${difference}\n`)
  }
  const { schemas, tables, requests, alike, named, refused } = total
  process.stdout.write(
    `${schemas} schemas (${refused} of them Strapi refuses to start with), tables equal: ${tables} of ${schemas - refused}; requests alike: ${alike} of ${requests}, with named differences: ${named}\n`,
  )
  return tables === schemas - refused && alike + named === requests
}

if (values.record) await record()
else process.exitCode = (await compare()) ? 0 : 1
