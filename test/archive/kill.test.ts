// docs/spec/archives.md: an import that is killed at any step leaves the old content or the new, with the files of it (R10). FAULTS=all kills
// after every statement and every step on files; on a server, where statements have no hook, an import is killed at intervals.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { start } from '../faults/child.js'
import { isOnServer } from '../support/databases.js'
import { rule } from '../support/rule.js'
import { isThorough } from '../support/thorough.js'
import { type Content, contentOf, differences } from './content.js'
import { newContent, oldContent, schemas, settled } from './harbour.js'
import { begin, emptyFolder, exported, type Project, removeAll, run } from './projects.js'

/** Kills, spread over all steps; each of the last ones, which end the transaction and move files, is tested. */
const [spread, last] = [6, 10]
const patience = isThorough ? 7_200_000 : 900_000

/** Rows and files. */
interface State {
  readonly content: Content
  readonly files: Readonly<Record<string, string>>
}

async function stateOf({ folder, database }: Project): Promise<State> {
  const names = readdirSync(join(folder, 'uploads')).filter((name) => name !== '.octavo')
  return {
    content: await contentOf(database),
    files: Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, 'uploads', name), 'utf8')])),
  }
}

const isSame = (one: State, other: State): boolean =>
  differences(one.content, other.content).length === 0 && JSON.stringify(one.files) === JSON.stringify(other.files)

let archive: string
let before: Project
let states: { readonly old: State; readonly new: State }
beforeAll(async () => {
  archive = await exported(await settled({ ...schemas(), ...newContent }))
  before = await settled({ ...schemas(), ...oldContent })
  const old = await stateOf(before)
  states = { old, new: old }
}, patience)
afterAll(removeAll)

const importing = (folder: string) => ['import', folder, '-f', archive, '--force']

/** A copy of the old project: its database is a file in it. */
function copy(): Project {
  const folder = join(emptyFolder(), 'project')
  cpSync(before.folder, folder, { recursive: true })
  // The marker file names its folder.
  rmSync(join(folder, '.tmp', 'data.db.octavo'))
  return { folder, database: join(folder, '.tmp', 'data.db') }
}

/** State after a killed import, as a start finds it. */
async function recovered({ folder }: Project): Promise<void> {
  const child = start(folder)
  await child.origin
  child.signal('SIGTERM')
  expect((await child.ended).code).toBe(0)
  const staging = join(folder, 'uploads', '.octavo')
  expect(existsSync(staging) ? readdirSync(staging) : []).toEqual([])
}

async function check(project: Project): Promise<'old' | 'new'> {
  await recovered(project)
  const state = await stateOf(project)
  const found = isSame(state, states.new) ? 'new' : 'old'
  expect(differences(states[found].content, state.content)).toEqual([])
  expect(state.files).toEqual(states[found].files)
  expect((await run(['doctor', project.folder])).out).toMatch(/No problems found\.\n$/)
  return found
}

async function onSteps(): Promise<void> {
  const failing = (folder: string, at: number) =>
    run(importing(folder), {
      NODE_OPTIONS: `--import ${join(import.meta.dirname, '..', 'faults', 'start-failpoints.mjs')}`,
      ...{ KILL_IN: folder, KILL_COUNT: `${folder}.steps`, KILL_AT: String(at) },
    })
  const rehearsal = copy()
  expect(await failing(rehearsal.folder, 0)).toMatchObject({ status: 0 })
  states = { ...states, new: await stateOf(rehearsal) }
  const steps = Number(readFileSync(`${rehearsal.folder}.steps`, 'utf8'))
  const chosen = Array.from({ length: steps }, (_, index) => index + 1).filter(
    (step) => isThorough || step > steps - last || step % Math.ceil(steps / spread) === 0,
  )
  const found: string[] = []
  for (const step of chosen) {
    const project = copy()
    expect((await failing(project.folder, step)).status, `step ${step}`).toBe(null)
    found.push(await check(project))
  }
  // Once it is new, it stays new.
  expect(found.join(' ')).toMatch(/^(?:old )+(?:new ?)+$/)
}

/** Kills after fractions of the time of an undisturbed import; the project continues from the state after the last kill. */
async function atMoments(): Promise<void> {
  const second = await settled({ ...schemas(), ...oldContent })
  const since = performance.now()
  expect(await run(importing(second.folder))).toMatchObject({ status: 0 })
  const whole = performance.now() - since
  // Ids of users go on with every import.
  const withoutUsers = ({ content: { up_users: _, up_users_role_lnk: __, ...content }, files }: State): State => ({ content, files })
  states = { old: withoutUsers(states.old), new: withoutUsers(await stateOf(second)) }
  for (const part of [0.5, 0.65, 0.75, 0.85, 0.95]) {
    const { child, ended } = begin(importing(before.folder))
    const timer = setTimeout(() => child.kill('SIGKILL'), whole * part)
    const { status } = await ended
    clearTimeout(timer)
    await recovered(before)
    const state = withoutUsers(await stateOf(before))
    expect(isSame(state, states.old) || isSame(state, states.new), `${part}`).toBe(true)
    expect((await run(['doctor', before.folder])).out).toMatch(/No problems found\.\n$/)
    // It is new, and would be new again.
    if (status === 0 || isSame(state, states.new)) break
  }
}

test(
  'R10: archives.9: killed at any step, the project has the old content or the new, with its files',
  () => (isOnServer ? atMoments() : onSteps()),
  patience,
)

rule('archives.9', 'an interrupted import says so, and reverts its changes', async () => {
  const project = await settled({ ...schemas(), ...oldContent })
  const old = await stateOf(project)
  const { child, ended } = begin(importing(project.folder))
  // As soon as the process says nothing of signals: it listens to them before it unpacks.
  const timer = setInterval(() => {
    if (existsSync(join(project.folder, 'uploads', '.octavo')) && readdirSync(join(project.folder, 'uploads', '.octavo')).length > 0)
      child.kill('SIGTERM')
  }, 5)
  const { status, err } = await ended
  clearInterval(timer)
  const state = await stateOf(project)
  if (status === 0) expect(isSame(state, old)).toBe(false)
  else {
    expect(err).toBe('octavo: Interrupted; nothing was changed\n')
    expect(isSame(state, old)).toBe(true)
  }
  expect(readdirSync(join(project.folder, 'uploads', '.octavo'))).toEqual([])
})
