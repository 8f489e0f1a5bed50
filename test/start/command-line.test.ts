// The commands that messages and pages show can be run where the service was started.
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { contentType } from '../spec/library.js'
import { octavo, project, removeProjects, root } from './command.js'

afterAll(removeProjects)

const files = { ...contentType('note', { name: { type: 'string' } }), 'octavo.config.json': { admin: { enabled: true } } }
const main = join(root, 'dist', 'main.js')
/** The log line about the first administrator. */
const shown = async (folder: string, cwd: string): Promise<string | undefined> =>
  / or run: ([^)]+)\)/.exec((await octavo(['start', folder], {}, { cwd })).out)?.[1]

test('a command names the folder of the project where the process works elsewhere', async () => {
  const folder = project({ ...files, 'node_modules/.bin/octavo': '' })
  expect(await shown(folder, folder)).toBe('npx octavo admins create')
  expect(await shown(folder, join(folder, 'src'))).toBe(`npx octavo admins create ${folder}`)
  expect(await shown(folder, root)).toBe(`npx octavo admins create ${folder}`)
  expect(await shown(folder, tmpdir())).toBe(`node ${main} admins create ${basename(folder)}`)
  // In JSON, as lines of the log are.
  const spaced = join(folder, "it's here")
  mkdirSync(spaced)
  cpSync(join(folder, 'src'), join(spaced, 'src'), { recursive: true })
  expect(await shown(spaced, folder)).toBe(`npx octavo admins create 'it'\\\\''s here'`)
})

test('a package that is linked into a project is found by npx', async () => {
  const folder = project(files)
  mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true })
  symlinkSync(main, join(folder, 'node_modules', '.bin', 'octavo'))
  expect(await shown(folder, folder)).toBe('npx octavo admins create')
})

test('in a clone npx runs the clone, without a registry', async () => {
  const run = promisify(execFile)
  for (const cwd of [root, join(root, 'examples', 'magazine')]) {
    const { stdout } = await run('npx', ['octavo', '--help'], { cwd, env: { ...process.env, npm_config_offline: 'true' } })
    expect(stdout).toContain("A headless content service that speaks Strapi 5's content API")
  }
})

test.each([
  [['start'], 'start <folder>'],
  [[], 'start <folder>'],
  [['dev'], 'dev <folder>'],
  [['doctor'], 'doctor <folder>'],
  [['roles', 'list'], 'roles list <folder>'],
  [['roles', 'grant', 'public', 'api::note.note.find'], 'roles grant <role> <actions> <folder>'],
])('in a folder that is no project, %j says how it is called', async (words, called) => {
  const folder = project({})
  const { status, err } = await octavo([...words, folder])
  expect([status, err]).toEqual([1, expect.stringContaining(`Pass the project's folder: node ${main} ${called}\n`)])
})
