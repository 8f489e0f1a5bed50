// The log of a service: JSON lines on standard output, which never blocks it. With `octavo start`, all other output of the process takes
// the same way.
import { closeSync, constants, fstatSync, openSync, write, writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { type Logger, pino } from 'pino'
import { maxWaitingLogBytes } from '../config/limits.js'

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
interface LogOptions {
  readonly level: string
  /** Write lines in batches. */
  readonly batches: boolean
}

/** Bytes of a batch of lines. */
const batchBytes = 65_536

/** A line of the log that ignores the level. */
export const logLine = (level: number, msg: string, fields: Readonly<Record<string, unknown>>): string =>
  `${JSON.stringify({ level, time: Date.now(), ...fields, msg })}\n`

/** Opens the log. */
export function openLog({ level, batches }: LogOptions): Log {
  const lostLine = (lostLines: number): string => logLine(40, 'log lines were lost because the output did not accept them', { lostLines })
  const out = openOutput(1, { bytes: maxWaitingLogBytes, batchBytes: batches ? batchBytes : 0, lostLine })
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
      const errors = openOutput(2, { bytes: maxWaitingLogBytes, batchBytes: 0, lostLine })
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

/** A non-blocking output. */
interface Output {
  /** Buffers one or several lines; if the buffer is full, they are counted as lost. */
  write(text: string): void
  /**
   * Resolves when everything is written or after `atMost` milliseconds: to `written`, to `waiting` if the descriptor accepts nothing, or to
   * `blocked` if the system does not return from a write, which takes a second more to know.
   */
  flush(atMost: number): Promise<'written' | 'waiting' | 'blocked'>
  /** Tries once to write the buffer synchronously, for a process that is exiting. */
  writeNow(): void
  /** Releases the descriptor; buffered and later text is lost. */
  close(): void
}

/** Options of an output. */
interface OutputOptions {
  /** Size of the buffer. */
  readonly bytes: number
  /** Collect lines up to this many bytes, for one second at most; 0 writes immediately. */
  readonly batchBytes: number
  /** Creates the line that reports lost lines. */
  readonly lostLine: (lost: number) => string
}

/** Milliseconds until the next attempt if a pipe is full, and if the descriptor reports an error. */
const [retryWhenFull, retryAfterError] = [20, 1_000]
/** The longest time a batch waits, in milliseconds. */
const batchTime = 1_000
/** Milliseconds until a write that has begun is taken for one that never returns; it is short, but threads and the event loop may be busy. */
const returnTimeout = 1_000
/** The most bytes of one write. */
const chunkBytes = 65_536

/** Opens an output on standard output (1) or standard error (2). */
function openOutput(descriptor: 1 | 2, { bytes, batchBytes, lostLine }: OutputOptions): Output {
  const { target, release } = nonBlocking(descriptor)
  const lines = openLineBuffer(lostLine)
  const pump = openPump(target, lines, batchBytes)
  return {
    write(text) {
      if (!pump.isOpen() || !lines.add(text, bytes - pump.chunk().length)) return
      if (pump.isWriting() || (pump.isWaiting() && lines.bytes() < batchBytes) || pump.chunk().length > 0) return
      if (lines.bytes() >= batchBytes) pump.start()
      else pump.startIn(batchTime)
    },
    flush: (atMost) =>
      new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(deadline)
          pump.listen(null)
          resolve(pump.isEmpty() ? 'written' : pump.isWriting() ? 'blocked' : 'waiting')
        }
        const giveUp = (): void => {
          if (pump.isWriting()) {
            deadline = setTimeout(end, returnTimeout)
            pump.listen({ flushed: end, returned: end })
          } else end()
        }
        let deadline = setTimeout(giveUp, atMost)
        pump.listen({ flushed: end, returned: () => {} })
        pump.start()
      }),
    writeNow() {
      if (!pump.isWriting() && !pump.isEmpty()) tryToWrite(target, Buffer.concat([pump.chunk(), Buffer.from(lines.all())]))
    },
    close() {
      pump.close()
      release(pump.isWriting())
    },
  }
}

/** Writes the lines of a buffer in chunks, one at a time, and tries again while the descriptor accepts nothing. */
interface Pump {
  isOpen(): boolean
  /** True during a write. */
  isWriting(): boolean
  /** True if the next write waits for its time. */
  isWaiting(): boolean
  /** True if nothing is left to write. */
  isEmpty(): boolean
  /** The chunk of the current write. */
  chunk(): Buffer
  /** Writes now; `startIn`: after some milliseconds, unless it waits already. */
  start(): void
  startIn(milliseconds: number): void
  /** Replaces the listener. While there is one, failed writes are repeated sooner. */
  listen(listener: PumpListener | null): void
  close(): void
}
interface PumpListener {
  /** Nothing is left to write. */
  flushed(): void
  /** A write has returned, successful or not. */
  returned(): void
}

function openPump(target: number, lines: LineBuffer, batchBytes: number): Pump {
  let chunk: Buffer = Buffer.alloc(0)
  let isWriting = false
  let isOpen = true
  let timer: NodeJS.Timeout | null = null
  let listener: PumpListener | null = null

  function start(): void {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (isWriting || !isOpen) return
    if (chunk.length === 0) chunk = lines.takeChunk()
    if (chunk.length === 0) listener?.flushed()
    if (chunk.length === 0) return
    isWriting = true
    write(target, chunk, 0, chunk.length, null, (error, written) => {
      isWriting = false
      if (error === null) chunk = chunk.subarray(written)
      listener?.returned()
      if (error === null && written > 0) next()
      else startIn(error !== null && error.code !== 'EAGAIN' ? retryAfterError : retryWhenFull)
    })
  }

  /** Continues at once with a begun chunk or a full batch; later with less. */
  function next(): void {
    if (chunk.length > 0 || lines.isEmpty() || lines.bytes() >= batchBytes || listener !== null) start()
    else startIn(batchTime)
  }

  function startIn(milliseconds: number): void {
    timer ??= setTimeout(start, listener === null ? milliseconds : retryWhenFull)
    timer.unref()
  }

  return {
    isOpen: () => isOpen,
    isWriting: () => isWriting,
    isWaiting: () => timer !== null,
    isEmpty: () => chunk.length === 0 && lines.isEmpty(),
    chunk: () => chunk,
    start,
    startIn,
    listen: (next) => {
      listener = next
    },
    close: () => {
      if (timer !== null) clearTimeout(timer)
      isOpen = false
    },
  }
}

function tryToWrite(target: number, bytes: Buffer): void {
  try {
    writeSync(target, bytes)
  } catch {
    // The process exits, so the error cannot be reported.
  }
}

/** The lines that wait to be written, and the number of lines lost since the last one that fitted. */
interface LineBuffer {
  isEmpty(): boolean
  bytes(): number
  /** Adds text; if the buffer would exceed `most` bytes, counts it as lost and returns false. */
  add(text: string, most: number): boolean
  /** Removes the lines for one write. The chunk is valid until the next one is taken. */
  takeChunk(): Buffer
  /** Returns everything as text. */
  all(): string
}

function openLineBuffer(lostLine: (lost: number) => string): LineBuffer {
  const waiting: string[] = []
  /** Memory of the chunk that is being written. A new one for each would be garbage outside of V8's heap, which is collected late. */
  const memory = Buffer.allocUnsafeSlow(chunkBytes)
  let [bytes, lost] = [0, 0]

  function takeLost(): string {
    const line = lost === 0 ? '' : lostLine(lost)
    lost = 0
    return line
  }

  return {
    isEmpty: () => waiting.length === 0 && lost === 0,
    bytes: () => bytes,
    add: (text, most) => {
      if (bytes + Buffer.byteLength(text) > most) {
        lost++
        return false
      }
      const line = takeLost() + text
      waiting.push(line)
      bytes += Buffer.byteLength(line)
      return true
    },
    takeChunk: () => {
      let [count, size] = [0, 0]
      for (const line of waiting) {
        const lineBytes = Buffer.byteLength(line)
        if (count > 0 && size + lineBytes > chunkBytes) break
        size += lineBytes
        count++
      }
      const lines = waiting.splice(0, count)
      bytes -= size
      if (waiting.length === 0) lines.push(takeLost())
      const text = lines.join('')
      const length = Buffer.byteLength(text)
      if (length > memory.length) return Buffer.from(text)
      memory.write(text)
      return memory.subarray(0, length)
    },
    all: () => waiting.join('') + takeLost(),
  }
}

interface Target {
  readonly target: number
  /** Closes a descriptor that was opened for this output, unless a write to it is still blocked. */
  release(isBusy: boolean): void
}

/** Returns a descriptor for the same file, pipe, socket or terminal in non-blocking mode. */
function nonBlocking(descriptor: 1 | 2): Target {
  const stream = descriptor === 1 ? process.stdout : process.stderr
  // Opening its stream makes a pipe or socket non-blocking. Its errors need a listener, or they would end the process.
  const ignored = (): void => {}
  stream.on('error', ignored)
  const target = ownTerminal(descriptor) ?? descriptor
  return {
    target,
    release: (isBusy) => {
      stream.off('error', ignored)
      if (target !== descriptor && !isBusy) closeSync(target)
    },
  }
}

/** Opens a terminal again in non-blocking mode, without affecting other processes that share it; null for other descriptors. */
function ownTerminal(descriptor: 1 | 2): number | null {
  if (!isatty(descriptor)) return null
  try {
    const own = openSync(`/dev/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    if (fstatSync(own).isCharacterDevice()) return own
    closeSync(own)
  } catch {
    // The system has no /dev/fd, or the terminal belongs to another user.
  }
  return null
}
