// Processes of a test: started with an environment of their own, waited for, and ended with the test.
import { type ChildProcess, spawn } from 'node:child_process'

/** A process, with what it has written so far. */
export interface Started {
  readonly child: ChildProcess
  output(): string
  /** Its exit status; null: a signal ended it. */
  readonly ended: Promise<number | null>
  /** Ends it, if it has not ended. */
  stop(): Promise<number | null>
}

type Environment = Readonly<Record<string, string | undefined>>

/** Milliseconds that a process may take to end after SIGTERM; Octavo drains for 30 seconds at most. */
const patience = 8_000

/** Starts a program. */
export function startProcess(command: readonly string[], environment: Environment, folder?: string): Started {
  const [program, ...words] = command
  const child = spawn(program!, words, { env: { PATH: process.env.PATH, ...environment }, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes) => {
      output += bytes
    })
  const ended = new Promise<number | null>((resolve) => {
    child.on('error', (error) => {
      output += String(error)
      resolve(null)
    })
    child.on('close', resolve)
  })
  return {
    child,
    output: () => output,
    ended,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      // PostgreSQL waits for its clients after SIGTERM, and not after SIGINT.
      const impatient = setTimeout(() => child.kill('SIGINT'), patience)
      return ended.finally(() => clearTimeout(impatient))
    },
  }
}

/** Runs a program to its end and returns what it writes. @throws Error with that, unless its status is 0 */
export async function runProcess(command: readonly string[], environment: Environment = {}, folder?: string): Promise<string> {
  const started = startProcess(command, environment, folder)
  const status = await started.ended
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}: ${started.output()}`)
  return started.output()
}

/** Waits until `check` is true. @throws Error with what `about` says, after a minute or when `about` says that it has ended */
export async function until(check: () => Promise<boolean>, about: () => string): Promise<void> {
  const end = Date.now() + 60_000
  while (!(await check().catch(() => false))) {
    if (Date.now() > end) throw new Error(`waited in vain: ${about()}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
