// Processes of a test: started with a separate environment, waited for, and ended with the test.
import { type ChildProcess, spawn } from 'node:child_process'

/** A process, with its output so far. */
export interface Started {
  readonly child: ChildProcess
  output(): string
  /** Its exit status; null: a signal ended it. */
  readonly ended: Promise<number | null>
  /** Ends it, if it has not ended. */
  stop(): Promise<number | null>
}

type Environment = Readonly<Record<string, string | undefined>>

/** Starts a program. `stopSignal` ends it. */
export function startProcess(
  command: readonly string[],
  environment: Environment,
  folder?: string,
  stopSignal: NodeJS.Signals = 'SIGTERM',
): Started {
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
    stop: () => {
      if (child.exitCode === null && child.signalCode === null) child.kill(stopSignal)
      return ended
    },
  }
}

/** True if a URL responds with this status. */
export const responds = (url: string, status: number): Promise<boolean> =>
  fetch(url).then(
    (response) => response.status === status,
    () => false,
  )

/** Runs a program to its end and returns its output. @throws Error with that, unless its status is 0 */
export async function runProcess(command: readonly string[], environment: Environment = {}, folder?: string): Promise<string> {
  const started = startProcess(command, environment, folder)
  const status = await started.ended
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}: ${started.output()}`)
  return started.output()
}
