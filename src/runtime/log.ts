// The log of a service: JSON lines on standard output, which can never stop it. In the process of `octavo start` whatever else is
// printed goes the same way.
import { type Logger, pino } from 'pino'
import { type Output, openOutput } from './log-output.js'

export interface Log {
  readonly logger: Logger
  /** What is printed from now on through process.stdout, process.stderr or the console goes through the bounded outputs of the log. */
  takeOver(): void
  /** Waits until all lines are written, so many milliseconds at most. `blocked`: the system does not return from a write. */
  flush(atMost: number): Promise<'written' | 'waiting' | 'blocked'>
  /** Waits like that, then lets go of the process: whatever is logged later is lost. For a log that has not taken over. */
  close(atMost: number): Promise<void>
}

export interface LogOptions {
  readonly level: string
  /** Bytes of lines that may wait for each of standard output and standard error. */
  readonly bytes: number
  /** Write lines in batches. */
  readonly batches: boolean
}

/** Bytes of a batch of lines. */
const batchBytes = 4_096

export function openLog({ level, bytes, batches }: LogOptions): Log {
  const lostLine = (lostLines: number): string =>
    `${JSON.stringify({ level: 40, time: Date.now(), lostLines, msg: 'lines of the log were lost: its output did not take them' })}\n`
  const out = openOutput(1, { bytes, batchBytes: batches ? batchBytes : 0, lostLine })
  const opened: Output[] = [out]
  const writeLast = (): void => {
    for (const output of opened) output.writeNow()
  }
  process.on('exit', writeLast)
  const logger = pino(
    {
      level,
      base: undefined,
      redact: ['req.headers.authorization', 'req.headers.cookie', 'authorization', 'password', 'token'],
    },
    out,
  )
  const settle = async (atMost: number): Promise<'written' | 'waiting' | 'blocked'> => {
    const ends = await Promise.all(opened.map((output) => output.settle(atMost)))
    return ends.find((end) => end === 'blocked') ?? ends.find((end) => end === 'waiting') ?? 'written'
  }
  return {
    logger,
    takeOver: () => {
      const errors = openOutput(2, { bytes, batchBytes: 0, lostLine })
      opened.push(errors)
      process.stdout.write = into(out)
      process.stderr.write = into(errors)
    },
    flush: settle,
    close: async (atMost) => {
      await settle(atMost)
      process.off('exit', writeLast)
      for (const output of opened) output.close()
    },
  }
}

type Write = typeof process.stdout.write
type Written = (error?: Error | null) => void

/** `write` of a stream that hands everything to an output and is always ready for more. */
const into =
  (output: Output): Write =>
  (chunk: Uint8Array | string, encoding?: BufferEncoding | Written, written?: Written) => {
    output.write(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())
    const done = typeof encoding === 'function' ? encoding : written
    if (done !== undefined) queueMicrotask(() => done())
    return true
  }
