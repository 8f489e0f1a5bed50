// Programs of a database engine as processes of a test's own, with their files in one temporary folder.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { volatileFolder } from '../../bench/volatile-folder.mjs'
import { programOf } from '../support/programs.js'

const isRoot = userInfo().uid === 0

interface User {
  readonly uid: number
  readonly gid: number
}

/** The user of a name; null: there is none. */
function userOf(name: string): User | null {
  const idOf = (option: string) => Number(spawnSync('id', [option, name], { encoding: 'utf8' }).stdout || Number.NaN)
  const [uid, gid] = [idOf('-u'), idOf('-g')]
  return Number.isInteger(uid) && Number.isInteger(gid) ? { uid, gid } : null
}

/** A program that runs. */
export interface Program {
  readonly pid: number
  /** Its recent output. */
  output(): string
  isRunning(): boolean
  /** Ends it as a crash does. */
  kill(): Promise<void>
  stop(): Promise<void>
}

/** Programs that run as one user, and end with the test. */
export interface Programs {
  readonly folder: string
  /** A folder below `folder` that belongs to the user. */
  makeFolder(name: string): string
  run(name: string, options: readonly string[], environment?: Readonly<Record<string, string>>): Program
  /** Runs a program to its end. @throws Error with its output if it fails */
  finish(name: string, options: readonly string[]): void
  /** Ends all of them and removes their files. */
  close(): Promise<void>
}

/** Maximum length of the stored output of a program, in characters. */
const keptOutput = 20_000

/** Milliseconds after which a stopping program is killed. */
const stopTime = 10_000

/** `user`: the account that runs programs which refuse to run as root. */
export function openPrograms(label: string, user: string): Programs {
  const as = isRoot ? userOf(user) : null
  const folder = mkdtempSync(join(volatileFolder(), `octavo-${label}-`))
  const own = (path: string) => {
    if (as !== null) chownSync(path, as.uid, as.gid)
    return path
  }
  own(folder)
  const running = new Set<Program>()
  const remove = () => {
    for (const { pid } of running) signal(pid, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
  process.on('exit', remove)
  return {
    folder,
    makeFolder: (name) => own(mkdtempSync(join(folder, `${name}-`))),
    run: (name, options, environment = {}) => {
      // A separate process group: children that a program leaves end with it.
      const child = spawn(programOf(name)!, options, {
        ...as,
        cwd: folder,
        detached: true,
        env: { ...process.env, HOME: folder, ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const program = programFrom(child)
      running.add(program)
      child.once('exit', () => running.delete(program))
      return program
    },
    finish: (name, options) => {
      const { status, stdout, stderr } = spawnSync(programOf(name)!, options, { ...as, cwd: folder, encoding: 'utf8' })
      if (status !== 0) throw new Error(`${name} failed: ${stdout}${stderr}`)
    },
    close: async () => {
      process.off('exit', remove)
      await Promise.all([...running].map((program) => program.stop()))
      remove()
    },
  }
}

/** Sends a signal to a process group. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name)
  } catch {
    // It has ended.
  }
}

function programFrom(child: ChildProcess): Program {
  const pid = child.pid!
  let output = ''
  const note = (bytes: Buffer) => {
    output = (output + bytes.toString('utf8')).slice(-keptOutput)
  }
  child.stdout!.on('data', note)
  child.stderr!.on('data', note)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const isRunning = () => child.exitCode === null && child.signalCode === null
  const end = async (name: NodeJS.Signals) => {
    if (!isRunning()) return signal(pid, 'SIGKILL')
    signal(pid, name)
    const timer = setTimeout(() => signal(pid, 'SIGKILL'), stopTime)
    await ended
    clearTimeout(timer)
    signal(pid, 'SIGKILL')
  }
  return { pid, output: () => output, isRunning, kill: () => end('SIGKILL'), stop: () => end('SIGTERM') }
}
