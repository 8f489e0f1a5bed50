// The log of a service: JSON lines on standard output, which never blocks it. With `octavo start`, all other output of the process takes
// the same way.
import { type Logger, pino } from 'pino'
import { type Output, openOutput } from './log-output.js'

/** The log of a service. */
export interface Log {
  readonly logger: Logger
  /** Redirects process.stdout, process.stderr and the console to the non-blocking outputs of the log. */
  takeOver(): void
  /** Waits until all lines are written, for `atMost` milliseconds. `blocked`: the system does not return from a write. */
  flush(atMost: number): Promise<'written' | 'waiting' | 'blocked'>
  /** Waits like `flush`, then closes the log; later lines are lost. For a log that has not taken over. */
  close(atMost: number): Promise<void>
}

/** Options of the log. */
export interface LogOptions {
  readonly level: string
  /** Size of the buffers for standard output and standard error. */
  readonly bytes: number
  /** Write lines in batches. */
  readonly batches: boolean
}

/** Bytes of a batch of lines. */
const batchBytes = 65_536

/** A line of the log that is written whatever its level is. */
export const logLine = (level: number, msg: string, fields: Readonly<Record<string, unknown>>): string =>
  `${JSON.stringify({ level, time: Date.now(), ...fields, msg })}\n`

/** Opens the log. */
export function openLog({ level, bytes, batches }: LogOptions): Log {
  const lostLine = (lostLines: number): string => logLine(40, 'log lines were lost because the output did not accept them', { lostLines })
  const out = openOutput(1, { bytes, batchBytes: batches ? Math.min(batchBytes, bytes / 4) : 0, lostLine })
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
  const flush = async (atMost: number): Promise<'written' | 'waiting' | 'blocked'> => {
    const ends = await Promise.all(opened.map((output) => output.flush(atMost)))
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
    flush,
    close: async (atMost) => {
      await flush(atMost)
      process.off('exit', writeLast)
      for (const output of opened) output.close()
    },
  }
}

type Write = typeof process.stdout.write
type Written = (error?: Error | null) => void

/** Creates a stream's `write` that passes everything to an output and never applies back-pressure. */
const into =
  (output: Output): Write =>
  (chunk: Uint8Array | string, encoding?: BufferEncoding | Written, written?: Written) => {
    output.write(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())
    const done = typeof encoding === 'function' ? encoding : written
    if (done !== undefined) queueMicrotask(() => done())
    return true
  }
