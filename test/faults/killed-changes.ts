// Shared by the tests that kill a service during a change of its model, on any database: afterwards model, files and
// content are all those before the change, or all those after it, and the doctor finds nothing.
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { expect } from 'vitest'
import { getDriver } from '../../src/database/open.js'
import { loadConfig } from '../../src/foundation/config/config.js'
import { loadModel } from '../../src/model/schema/load.js'
import { runChecks } from '../../src/operations/doctor/checks.js'
import { agreed, contentOf, modelOf, newProject, type Step, send, undo } from '../live-model/changing-project.js'
import { requestFor } from '../live-model/kinds-of-changes.js'
import { octavo } from '../start/command.js'
import { isThorough } from '../support/thorough.js'
import { start } from './child.js'
import { clientOf, end, type Faulty } from './faulty.js'
import { committing, recording } from './statement-kinds.mjs'

/**
 * The point of a kill: a statement that does not only read, a statement or a commit counted from the statement that records the
 * change, or a call on files in src/.
 */
export interface Point {
  readonly of: 'writes' | 'record' | 'commit' | 'files'
  /** The first is 1. */
  readonly n: number
  /** True if the step completes before the process dies. */
  readonly isDone: boolean
}

/** The steps of a change, in their order. */
export interface Counted {
  readonly statements: readonly string[]
  readonly files: readonly string[]
}

/** A separate project on a separate database. */
export interface KillFixture {
  readonly folder: string
  /** Environment with which commands of the project find its database. */
  readonly environment: Readonly<Record<string, string>>
  start(): Promise<Faulty>
  /** Steps count from now on; the process dies at this point, or (null) at none. */
  arm(point: Point | null, running: Faulty): void
  /** True if the steps of a change are one transaction; otherwise they are committed one by one, and a start resumes them. */
  readonly isAtomic: boolean
  /** Stops counting steps; returns the counted ones. */
  disarm(): Counted
  remove(): Promise<void>
}

interface Kind {
  /** SQL to run before the change. */
  readonly prepare?: string
  /** The name of the change in `kindsOfChanges`; null: to undo the one before. */
  readonly change: string | null
}

const changes = [
  ...['types created', 'a type removed', 'a type renamed', 'types with other tables'],
  ...['attributes added', 'attributes removed', 'attributes renamed', 'text becomes a number'],
  ...['many-to-many becomes many-to-one', 'a relation changes its side', 'relations removed'],
  ...['a component renamed', 'another component of an attribute', 'a zone has another component and one less'],
  ...['Draft & Publish on', 'localization on', 'Draft & Publish off', 'localization off'],
]

/** The kinds of changes that are killed. */
export const kinds: Readonly<Record<string, Kind>> = {
  ...Object.fromEntries(changes.map((change) => [change, { change }])),
  'a removal undone': { prepare: 'a type with everything removed', change: null },
}

/** Kinds for a database whose steps are one transaction, so that they differ little; FAULTS=all runs all of them. */
export const kindsInOneTransaction: readonly string[] = isThorough
  ? Object.keys(kinds)
  : ['types created', 'attributes removed', 'text becomes a number', 'relations removed', 'Draft & Publish off', 'a removal undone']

/** The project of the recorded changes with its files, and its database as a SQLite file at Octavo's default location. */
export function newBase(): string {
  const project = newProject()
  for (const name of ['.tmp', 'uploads']) mkdirSync(join(project, name))
  const database = databaseOf(project)
  renameSync(join(project, 'content.db'), database)
  const rows = new Database(database, { readonly: true })
  for (const url of rows.prepare('select url from files').pluck().all() as string[]) writeFileSync(join(project, url), url)
  rows.close()
  return project
}

/** The file of a project's database. */
export const databaseOf = (project: string): string => join(project, '.tmp', 'data.db')

/** A copy of the project for change-failpoints.mjs, with its orders next to it. */
export function copyOf(base: string) {
  const folder = `${dirname(base)}/${Math.random().toString(36).slice(2)}`
  const orders = `${folder}-orders`
  const [order, counted] = [join(orders, 'order'), join(orders, 'counted')]
  cpSync(base, folder, { recursive: true })
  mkdirSync(orders)
  let number = 0
  return {
    folder,
    start: async (environment: Readonly<Record<string, string>>): Promise<Faulty> => {
      const child = start(folder, {
        NODE_OPTIONS: `--import ${join(import.meta.dirname, 'change-failpoints.mjs')}`,
        FAULTS: orders,
        OCTAVO_DATABASE_READER_THREADS: '1',
        LOG_LEVEL: 'error',
        ...environment,
      })
      return { child, request: clientOf(await child.origin) }
    },
    arm: (point: Point | null): void => {
      rmSync(counted, { force: true })
      writeFileSync(`${order}-new`, JSON.stringify({ number: ++number, point }))
      renameSync(`${order}-new`, order)
    },
    disarm: (): Counted => {
      rmSync(order)
      const steps = linesOf(counted).map((line) => JSON.parse(line) as readonly [keyof Counted, string])
      const stepsOf = (wanted: keyof Counted) => steps.filter(([kind]) => kind === wanted).map(([, text]) => text)
      return { statements: stepsOf('statements'), files: stepsOf('files') }
    },
    remove: (): void => {
      for (const path of [folder, orders]) rmSync(path, { recursive: true, force: true })
    },
  }
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1)
  } catch {
    return []
  }
}

/** The served model, its files, and all content. */
interface State {
  readonly model: string
  readonly files: Readonly<Record<string, string>>
  readonly content: unknown
}

const nothing: State = { model: '', files: {}, content: null }

async function stateOf(running: Faulty, folder: string): Promise<State> {
  const [model, content] = [await modelOf(running), await contentOf(running)]
  const source = join(folder, 'src')
  const paths = (readdirSync(source, { recursive: true }) as string[]).sort()
  const files = paths.map((path) => [path, statSync(join(source, path)).isFile() ? readFileSync(join(source, path), 'utf8') : ''])
  return { model, files: Object.fromEntries(files), content }
}

const wrongIn = (checks: readonly { readonly name: string; readonly isWrong: boolean; readonly examples: readonly string[] }[]) =>
  checks.filter(({ isWrong }) => isWrong).map(({ name, examples }) => `${name}: ${examples}`)

/** Findings of `octavo doctor`. The command is a process, so it is run once for a kind of change. */
async function findingsOfCommand({ folder, environment }: KillFixture): Promise<readonly string[]> {
  const { out, err } = await octavo(['doctor', folder, '--json'], { ...environment, UPLOADS_DIR: 'uploads' })
  expect(out, err).not.toBe('')
  type Check = { readonly name: string; readonly verdict: string; readonly examples: readonly string[] }
  return wrongIn((JSON.parse(out).checks as readonly Check[]).map((check) => ({ ...check, isWrong: check.verdict === 'wrong' })))
}

/** Findings of the checks of `octavo doctor` in the database. */
async function findingsOfChecks({ folder, environment }: KillFixture): Promise<readonly string[]> {
  const config = await loadConfig(folder, environment)
  const [driver, model] = [await getDriver(config), await loadModel({ folder })]
  const view = await driver.openSnapshot(config)
  try {
    const found = (await runChecks({ database: view, model })).map((check) => ({ ...check, isWrong: check.count > 0 && !check.warning }))
    return [...wrongIn(found), ...(await view.mismatches(model)).types]
  } finally {
    await view.close()
  }
}

/** A change of this kind as a request, and the names of the data that it hides. */
async function requestOf({ change }: Kind, running: Faulty, folder: string): Promise<{ step: Step; losses: readonly string[] }> {
  if (change === null) {
    const made = (await send(running, { method: 'GET', path: '/api/content-type-builder/changes' })).body.data
    const body = { data: { change: made.at(-1).id } }
    return { step: { method: 'POST', path: '/api/content-type-builder/undo', body }, losses: [] }
  }
  const step = requestFor(folder, change)
  const planned = await send(running, { ...step, method: 'POST', path: '/api/content-type-builder/plan' })
  expect(planned.status, planned.text).toBe(200)
  const losses = planned.body.data.losses as readonly { readonly name: string }[]
  return { step, losses: losses.map(({ name }) => name) }
}

type Outcome = 'former' | 'new'

/** A point and its expected outcome, if that is certain. */
type Aim = readonly [Point, Outcome | null]

/** The commit that decides: before it, after it; and in the midst of the files, or of steps that are committed one by one. */
function someAims({ statements, files }: Counted, isAtomic: boolean): Readonly<Record<'before' | 'after' | 'amid', Aim>> {
  const recorded = statements.slice(statements.findIndex((text) => recording.test(text)))
  const commit = recorded.findIndex((text) => committing.test(text)) + 1
  expect(commit, statements.join('\n')).toBeGreaterThan(1)
  const placing = files.flatMap((text, index) => (/^(?:rename|rm) /.test(text) ? [index + 1] : []))
  expect(placing.length).toBeGreaterThan(0)
  return {
    // Statements of other work may be among the counted ones; the commit is recognised by its text.
    before: [{ of: 'commit', n: 1, isDone: false }, 'former'],
    after: [{ of: 'commit', n: 1, isDone: true }, 'new'],
    amid: isAtomic
      ? [{ of: 'files', n: placing[Math.floor((placing.length - 1) / 2)]!, isDone: true }, 'new']
      : [{ of: 'record', n: Math.ceil((commit + recorded.length) / 2), isDone: false }, 'new'],
  }
}

/** Number of killed processes by kind, as a line. */
export function countedKills(database: string, kills: Readonly<Record<string, number>>): string {
  const all = Object.values(kills).reduce((sum, count) => sum + count, 0)
  return `${all} kills on ${database}: ${Object.entries(kills)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ')}`
}

/** A service whose model is changed, and that is killed during the change. */
async function openTarget(fixture: KillFixture, kind: Kind) {
  let running = await fixture.start()
  const see = (): Promise<State> => stateOf(running, fixture.folder)
  const change = async () => {
    const { step, losses } = await requestOf(kind, running, fixture.folder)
    return () => send(running, step, losses)
  }
  return {
    see,
    prepare: async () => {
      if (kind.prepare === undefined) return
      const prepared = await agreed(running, requestFor(fixture.folder, kind.prepare))
      expect(prepared.status, prepared.text).toBe(200)
    },
    /** Applies the change without faults, and undoes it; resolves to its result and steps. */
    rehearse: async (former: State) => {
      const make = await change()
      fixture.arm(null, running)
      const answer = await make()
      const counted = fixture.disarm()
      expect(answer.status, answer.text).toBe(200)
      const made = await see()
      await undo(running)
      expect(await see()).toEqual(former)
      return { made, counted }
    },
    /** Makes the change with a process that dies at a point, and starts another; resolves to whether it did. */
    killAt: async (point: Point): Promise<boolean> => {
      const make = await change()
      fixture.arm(point, running)
      const answer = await make().catch(() => null)
      if (answer !== null) expect(answer.status, answer.text).toBe(200)
      else expect((await running.child.ended).signal, running.child.errors()).toBe('SIGKILL')
      fixture.disarm()
      if (answer !== null) return false
      running = await fixture.start()
      return true
    },
    undo: () => undo(running),
    end: () => end(running),
  }
}

/** Kills processes during a change of this kind; resolves to their number. */
export async function killAtSteps(fixture: KillFixture, name: string): Promise<number> {
  const kind = kinds[name]!
  const target = await openTarget(fixture, kind)
  let kills = 0
  /** Resolves to whether the process died. */
  const proved = async ([point, expected]: Aim): Promise<boolean> => {
    const about = `${name}, killed ${point.isDone ? 'after' : 'before'} ${point.of} ${point.n}`
    const isKilled = await target.killAt(point)
    const state = await target.see()
    const isFormer = state.model === former.model
    expect(state, about).toEqual(isFormer ? former : made)
    if (isKilled && expected !== null) expect(isFormer ? 'former' : 'new', about).toBe(expected)
    expect(await findingsOfChecks(fixture), about).toEqual([])
    if (!isFormer) await target.undo()
    if (isKilled) kills++
    return isKilled
  }
  let [former, made] = [nothing, nothing]
  try {
    await target.prepare()
    former = await target.see()
    const rehearsed = await target.rehearse(former)
    made = rehearsed.made
    expect(made.model).not.toBe(former.model)
    const aims = someAims(rehearsed.counted, fixture.isAtomic)
    if (isThorough) {
      for (const [of, isDone] of [
        ['writes', false],
        ['files', true],
      ] as const)
        for (let n = 1; await proved([{ of, n, isDone }, null]); n++);
      await proved(aims.after)
      console.log(`${fixture.environment.DATABASE_CLIENT ?? 'sqlite'}: ${name}: ${kills} kills`)
      expect(await findingsOfCommand(fixture), name).toEqual([])
    } else {
      const aim = Object.keys(kinds).indexOf(name) % 2 === 0 ? aims.before : aims.amid
      expect(await proved(aim), `${name}: ${JSON.stringify(aim)} was not reached`).toBe(true)
    }
  } finally {
    await target.end()
  }
  return kills
}
