// `octavo dev`: serves a project for its developer, and reloads it when a schema, the configuration, its code or .env is saved.
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { ConfigError } from '../../foundation/errors/errors.js'
import { commandLine } from '../../foundation/runtime/terminal.js'
import { createReadableLog } from './dev/readable-log.js'
import { createServices, type StartOutcome } from './dev/services.js'
import { watchProject } from './dev/watch.js'
import { orExplain } from './explain-error.js'
import { checkProject } from './project.js'
import { endWithParent } from './signals.js'

interface DevOptions {
  /** Poll interval in milliseconds, instead of file system events; true: the default interval. */
  readonly poll?: string | true
}

/** Poll interval: the default, and the bounds of a given one. */
const defaultIntervalMs = 300
const minIntervalMs = 20
const maxIntervalMs = 60_000

/** Serves the project until a signal arrives. A project that fails to start is started again after the next change. */
export const dev = orExplain(async (folder: string, options: DevOptions) => {
  const root = resolve(folder)
  const poll = parseInterval(options.poll)
  checkProject(root)
  const { log, receive } = createOutput()
  const services = createServices(root, {
    output: receive,
    ended: (status) => log('warn', 'the service ended; it starts again when a change is saved', { status }),
  })
  const isStopping = stopOnSignals(() => services.stop())
  const serve = async (changed: readonly string[]): Promise<void> => {
    if (isStopping()) return
    if (changed.length > 0) log('info', `changed: ${changed.join(', ')}`)
    // Another version of this package may have been installed.
    const outcome = await services.start(changed.includes('package.json'))
    const report = isStopping() ? null : describeOutcome(outcome, changed.length > 0)
    if (report !== null) log(...report)
  }
  watchProject(root, {
    poll,
    changed: (paths) => void serve(paths),
    failed: (error) => log('warn', watchProblem(error)),
  })
  await serve([])
})

const levels = { info: 30, warn: 40 } as const
type LogLevel = keyof typeof levels

/** Output of this command and of the services: readable on a terminal, else as the services write it. */
function createOutput() {
  const isTerminal = process.stdout.isTTY === true
  const readable = isTerminal ? createReadableLog((process.env.NO_COLOR ?? '') === '') : (line: string) => line
  const print = (line: string): void => {
    const text = readable(line)
    if (text !== null) process.stdout.write(`${text}\n`)
  }
  return {
    log: (level: LogLevel, msg: string, fields: object = {}): void =>
      print(JSON.stringify({ level: levels[level], time: Date.now(), ...fields, msg })),
    receive: isTerminal ? (stream: NodeJS.ReadableStream) => void createInterface({ input: stream }).on('line', print) : null,
  }
}

/** Calls `stop` at the first signal and then exits; a second signal exits at once. The returned function is true after a signal. */
function stopOnSignals(stop: () => Promise<void>): () => boolean {
  let isStopping = false
  const end = async (): Promise<void> => {
    if (isStopping) process.exit(1)
    isStopping = true
    await stop()
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end())
  endWithParent(() => void end())
  return () => isStopping
}

function describeOutcome(outcome: StartOutcome, isChange: boolean): readonly [LogLevel, string] | null {
  switch (outcome.kind) {
    case 'serving':
      return isChange ? ['info', `serving the change at ${outcome.address} after ${Math.round(outcome.milliseconds)} ms`] : null
    case 'failed':
      return outcome.isServed
        ? ['warn', 'change not applied; still serving the previous version. Fix the file and save again']
        : ['warn', 'nothing is served until a change is saved']
    case 'superseded':
      return null
  }
}

function parseInterval(poll: DevOptions['poll']): number | null {
  if (poll === undefined) return null
  if (poll === true) return defaultIntervalMs
  const interval = Number(poll)
  if (Number.isInteger(interval) && interval >= minIntervalMs && interval <= maxIntervalMs) return interval
  throw new ConfigError(`--poll is "${poll}"; it must be a number of milliseconds from ${minIntervalMs} to ${maxIntervalMs}.`)
}

const watchProblem = ({ code, message }: NodeJS.ErrnoException): string =>
  code === 'ENOSPC' || code === 'EMFILE'
    ? `not all files can be watched (${code}): raise the limit of the system, or use ${commandLine('dev --poll', null)}`
    : `not all files can be watched: ${message}`
