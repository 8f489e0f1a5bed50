// The recorded schemas of one project, served by Octavo: which tables and responses differ from Strapi's, apart from the differences with a name.

import { createHmac } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { converse, tableDifferences, tablesIn } from './schemas-compare.mjs'
import { namesOfDifferences } from './schemas-differences.mjs'

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'dist', 'index.js')
const token = 'for-everything'
const salt = 'salt'

const settings = {
  'package.json': { dependencies: { '@strapi/strapi': '5.54.0' } },
  'octavo.config.json': { api: { rest: { contract: 'strapi', defaultLimit: 25, maxLimit: 100 } } },
  'seed/access.json': { locales: [{ code: 'en', default: true }, { code: 'de' }] },
}

/** Compares the lines of one recording: all tables, and the responses of every n-th schema. @param {readonly any[]} lines */
export async function replay([{ users }, ...all], every = 1) {
  const recorded = all.filter(({ refusal }) => refusal === undefined)
  const project = await serve({
    ...settings,
    ...Object.assign({}, ...recorded.map(({ files }) => files)),
    'src/extensions/users-permissions/content-types/user/schema.json': users,
  })
  const result = {
    schemas: all.length,
    refused: all.length - recorded.length,
    tables: 0,
    requests: 0,
    alike: 0,
    named: 0,
    differences: /** @type {string[]} */ ([]),
  }
  try {
    for (const schema of recorded) {
      const differences = tableDifferences(schema.tables, tablesIn(project.database, schema.prefix))
      if (differences.length === 0) result.tables++
      result.differences.push(...differences.map((line) => `${schema.prefix} ${line}`))
    }
    for (const schema of recorded.filter((_, index) => index % every === 0))
      await compareResponses(schema, await converse(schema.requests, project.ask), result)
  } finally {
    await project.close()
  }
  return result
}

/** @param {any} schema @param {readonly { status: number, body: any }[]} responses @param {any} result */
function compareResponses(schema, responses, result) {
  const nameOf = namesOfDifferences(schema)
  responses.forEach((ours, index) => {
    const [request, theirs] = [schema.requests[index], schema.responses[index]]
    result.requests++
    const named = nameOf(request, theirs, ours)
    if (named === null) result.alike++
    else if (named !== undefined) result.named++
    else
      result.differences.push(
        `${schema.prefix} ${request.method} ${request.path} ${JSON.stringify(request.body ?? '')}\n  S ${JSON.stringify(theirs)}\n  O ${JSON.stringify(ours)}`,
      )
  })
}

/** A project with these files, served. @param {Readonly<Record<string, unknown>>} files */
async function serve(files) {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-schemas-'))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), JSON.stringify(content))
  }
  const { createService, loadConfig } = await import(dist)
  const environment = {
    HOST: '127.0.0.1',
    PORT: '0',
    NODE_ENV: 'production',
    API_TOKEN_SALT: salt,
    DATABASE_FILENAME: 'data.db',
    OCTAVO_DATABASE_READER_THREADS: '1',
  }
  const { pino } = await import('pino')
  const config = await loadConfig(folder, environment)
  const service = await createService(config, pino({ level: 'silent' }))
  const origin = await service.listen()
  const database = join(folder, 'data.db')
  addToken(database)
  return {
    database,
    /** @param {import('./schemas-strapi.mjs').Request} request */
    ask: async ({ method, path, body }) => {
      const response = await fetch(`${origin}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, body: text === '' ? null : JSON.parse(text) }
    },
    close: async () => {
      await service.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** @param {string} file */
function addToken(file) {
  const database = new Database(file)
  const key = createHmac('sha512', salt).update(token).digest('hex')
  database
    .prepare(
      "insert into strapi_api_tokens (name, type, kind, access_key, created_at, updated_at) values ('all', 'full-access', 'content-api', ?, 0, 0)",
    )
    .run(key)
  database.close()
}
