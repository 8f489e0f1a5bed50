// An invalid configuration stops the start: one sentence that names the problem, exit status 1, nothing listens.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { copyGolden, remove, start } from './child.js'

let folder: string
beforeEach(async () => {
  folder = await copyGolden()
})
afterEach(() => remove(folder))

/** Starts and expects one line on standard error that holds all of `named`, and nothing that listens. */
async function expectRefusal(
  named: readonly (string | RegExp)[],
  environment: Readonly<Record<string, string>> = {},
  where = folder,
): Promise<void> {
  const child = start(where, environment)
  const started = await Promise.race([
    child.origin.then(
      () => 'it listens',
      () => 'it ended',
    ),
    child.ended.then(() => 'it ended'),
    new Promise<string>((resolve) => setTimeout(resolve, 12_000, 'it lives on and does not listen')),
  ])
  child.process.kill('SIGKILL')
  const { code } = await child.ended
  expect(started, child.errors()).toBe('it ended')
  expect(code).toBe(1)
  const lines = child.errors().trim().split('\n')
  expect(lines, 'one sentence').toHaveLength(1)
  expect(lines[0]).toMatch(/^octavo: ./)
  for (const name of named) expect(lines[0]).toMatch(name)
}

const schema = (name: string) => join(folder, 'src', 'api', name, 'content-types', name, 'schema.json')
const write = (path: string, content: unknown) => writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
const config = (content: unknown) => write(join(folder, 'octavo.config.json'), content)

describe('environment', () => {
  test('a port that is not a number', () => expectRefusal([/PORT/, /abc/], { PORT: 'abc' }))
  test('a port beyond all ports', () => expectRefusal([/PORT/, /70000/], { PORT: '70000' }))
  test('a database client that there is not', () => expectRefusal([/DATABASE_CLIENT/, /oracle/], { DATABASE_CLIENT: 'oracle' }))
  test('a switch that is neither true nor false', () =>
    expectRefusal([/OCTAVO_DATABASE_INDEXES/, /maybe/], { OCTAVO_DATABASE_INDEXES: 'maybe' }))
  test('more reader threads than octavo.config may have', () =>
    expectRefusal([/OCTAVO_DATABASE_READER_THREADS is 65; it must be from 1 to 64/], { OCTAVO_DATABASE_READER_THREADS: '65' }))
  test('no reader thread', () => expectRefusal([/OCTAVO_DATABASE_READER_THREADS/], { OCTAVO_DATABASE_READER_THREADS: '0' }))
  test('a log level that there is not', () => expectRefusal([/LOG_LEVEL/, /loud/], { LOG_LEVEL: 'loud' }))
  test('a bucket without a name, an address that is none', async () => {
    config({ uploads: { storage: { provider: 'aws-s3' } } })
    const keys = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'a', AWS_ACCESS_SECRET: 'b' }
    await expectRefusal([/uploads\.storage\.bucket/, /AWS_BUCKET/], keys)
    await expectRefusal([/uploads\.storage\.endpoint/, /AWS_ENDPOINT/], { ...keys, AWS_BUCKET: 'c', AWS_ENDPOINT: 'localhost' })
    await expectRefusal([/signedUrlExpires/], { ...keys, AWS_BUCKET: 'c', AWS_SIGNED_URL_EXPIRES: 'soon' })
  })
  test('a variable that has a new name', () =>
    expectRefusal([/OCTAVO_PROXIES is now called OCTAVO_TRUST_PROXY\.$/], { OCTAVO_PROXIES: '1' }))
  test('a host that is not here', () => expectRefusal([/203\.0\.113\.1/], { HOST: '203.0.113.1' }))

  test('a port that is taken', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    try {
      await expectRefusal([new RegExp(String(port))], { PORT: String(port) })
    } finally {
      taken.close()
    }
  })
})

describe('octavo.config.json', () => {
  test('a key that there is not', async () => {
    config({ ports: 1 })
    await expectRefusal([/octavo\.config\.json/, /"ports"; did you mean "port"\?$/])
  })
  test('a key that there is not, deep inside', async () => {
    config({ api: { rest: { maxLimits: 1 } } })
    await expectRefusal([/octavo\.config\.json/, /api\.rest/, /"maxLimits"; did you mean "maxLimit"\?/])
  })
  test('a key that has a new name', async () => {
    config({ limits: { planNodes: 100 } })
    await expectRefusal([/octavo\.config\.json/, /limits/, /"planNodes"; it is now called "queryComplexity"\.$/])
  })
  test('a limit of the wrong kind', async () => {
    config({ limits: { readQueue: '5000' } })
    await expectRefusal([/octavo\.config\.json/, /limits\.readQueue/])
  })
  test('a contract that there is not', async () => {
    config({ api: { rest: { contract: 'strict' } } })
    await expectRefusal([/octavo\.config\.json/, /api\.rest\.contract/])
  })
  test('invalid JSON', async () => {
    config('{ "port": 1337, }')
    await expectRefusal([/octavo\.config\.json/, /JSON/])
  })
})

describe('the project', () => {
  test('a folder that does not exist', () => expectRefusal([/not-there/], {}, join(folder, 'not-there')))

  test('a schema with invalid JSON', async () => {
    write(schema('city'), '{ "kind": ')
    await expectRefusal([/city/, /schema\.json/])
  })
  test('a schema of another shape', async () => {
    write(schema('city'), { kind: 'table', info: 1 })
    await expectRefusal([/city/, /schema\.json/])
  })
  test('an attribute of an unknown type', async () => {
    write(schema('city'), { info: { singularName: 'city', pluralName: 'cities' }, attributes: { name: { type: 'strng' } } })
    await expectRefusal([/city/, /name/, /strng/])
  })
  test('a relation to a type that does not exist', async () => {
    const attributes = { mayor: { type: 'relation', relation: 'oneToOne', target: 'api::mayor.mayor' } }
    write(schema('city'), { info: { singularName: 'city', pluralName: 'cities' }, attributes })
    await expectRefusal([/city/, /mayor/, /api::mayor\.mayor/])
  })
  test('a component that does not exist', async () => {
    const attributes = { box: { type: 'component', component: 'parts.box' } }
    write(schema('city'), { info: { singularName: 'city', pluralName: 'cities' }, attributes })
    await expectRefusal([/city/, /box/, /parts\.box/])
  })
  test('two types at one address', async () => {
    mkdirSync(join(folder, 'src', 'api', 'town', 'content-types', 'town'), { recursive: true })
    write(schema('town'), { info: { singularName: 'town', pluralName: 'cities' }, attributes: {} })
    await expectRefusal([/town/, /city/, /\/api\/cities/])
  })
  test('a database that is none', async () => {
    rmSync(join(folder, '.tmp'), { recursive: true })
    mkdirSync(join(folder, '.tmp'))
    write(join(folder, '.tmp', 'data.db'), 'this is no database, and long enough to be looked at as one. '.repeat(40))
    await expectRefusal([/data\.db/])
  })
  test('a database in a place where no folder can be', () => expectRefusal([/tokens\.json/], { DATABASE_FILENAME: 'tokens.json/data.db' }))
})
