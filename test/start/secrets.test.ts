// Secrets of a project: made once, kept in .env, and nothing that is unset, half written or elsewhere voids what was made with them.
import { chmodSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { contentType } from '../spec/library.js'
import { octavo, project, removeProjects } from './command.js'

afterAll(removeProjects)

const notes = contentType('note', { name: { type: 'string' } })
const strong = 'a-secret-that-nobody-guesses'

test('an empty variable is not set: .env counts, and stays as it is', async () => {
  const folder = project(notes)
  expect((await octavo(['start', folder])).out).toContain('Made API_TOKEN_SALT and JWT_SECRET and kept them in .env.')
  const kept = readFileSync(join(folder, '.env'), 'utf8')
  const { status, out } = await octavo(['start', folder], { API_TOKEN_SALT: '', JWT_SECRET: '', HOST: '', DATABASE_FILENAME: '' })
  expect([status, out]).toEqual([0, expect.not.stringContaining('Made')])
  expect(readFileSync(join(folder, '.env'), 'utf8')).toBe(kept)
})

test('a secret that .env names without a value is filled in there; mode, comments and last lines of .env stay', async () => {
  const folder = project({ ...notes, '.env': `# mine\nJWT_SECRET=\nAPI_TOKEN_SALT=${strong}\nOTHER=1` })
  chmodSync(join(folder, '.env'), 0o640)
  expect((await octavo(['start', folder])).out).toContain('Made JWT_SECRET and kept')
  const text = readFileSync(join(folder, '.env'), 'utf8')
  expect(text).toMatch(new RegExp(`^# mine\\nJWT_SECRET=[\\w-]{32}\\nAPI_TOKEN_SALT=${strong}\\nOTHER=1\\n# Made by Octavo [^\\n]*\\n$`))
  expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o640)
  expect(readdirSync(folder).filter((name) => name.startsWith('.env'))).toEqual(['.env'])
})

test('a database with tokens is not given another salt; one without is', async () => {
  const folder = project({ ...notes, '.env': `API_TOKEN_SALT=${strong}\nJWT_SECRET=${strong}\n` })
  expect((await octavo(['tokens', 'create', '--name', 'site', folder])).status).toBe(0)
  rmSync(join(folder, '.env'))
  const { status, err } = await octavo(['start', folder])
  expect([status, err]).toEqual([
    1,
    expect.stringMatching(/^octavo: API_TOKEN_SALT is not set, and the database has 1 API tokens [^\n]+\n$/),
  ])
  expect(readdirSync(folder)).not.toContain('.env')
  const database = new Database(join(folder, '.tmp', 'data.db'))
  database.exec('delete from strapi_api_tokens')
  database.close()
  expect((await octavo(['start', folder])).status).toBe(0)
})

test('a .env that cannot be written ends the start with a sentence', async () => {
  // Whoever runs the tests may be allowed everything: a folder is in its place.
  const { status, err } = await octavo(['start', project({ ...notes, '.env/here': 'a folder' })])
  expect([status, err]).toEqual([1, expect.stringMatching(/^octavo: [^\n]*\.env[^\n]+\n$/)])
})

test('a secret that is none ends the start, a weak one is told', async () => {
  for (const value of ['b', 'xxxxxxxx']) {
    const { status, err } = await octavo(['start', project(notes)], { JWT_SECRET: value })
    expect([status, err]).toEqual([1, expect.stringMatching(/^octavo: JWT_SECRET is no secret: [^\n]+\n$/)])
  }
  const { status, out } = await octavo(['start', project(notes)], { JWT_SECRET: 'tobe', API_TOKEN_SALT: strong })
  expect([status, out]).toEqual([0, expect.stringContaining('JWT_SECRET has only 4 letters')])
})
