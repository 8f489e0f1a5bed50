// Text to a descriptor of the process that may be slow, full, closed or never read: it waits in a bounded buffer, what does
// not fit is counted, and nothing here ever blocks the event loop.
import { closeSync, constants, fstatSync, openSync, write, writeSync } from 'node:fs'
import { isatty } from 'node:tty'

export interface Output {
  /** Takes a line, or several. Beyond the bound of the buffer it is counted as lost. */
  write(text: string): void
  /**
   * Resolves when everything is written, or after so many milliseconds: `written`, `waiting` where the descriptor takes nothing, or
   * `blocked` where the system has not even returned from a write.
   */
  settle(atMost: number): Promise<'written' | 'waiting' | 'blocked'>
  /** Tries once to write what waits, for a process that ends now. */
  writeNow(): void
  /** Lets go of the descriptor: what waits, and what is written from now on, is lost. */
  close(): void
}

export interface OutputOptions {
  /** Bytes that may wait. */
  readonly bytes: number
  /** Collect lines until there are so many bytes, a second at most; 0: write at once. */
  readonly batchBytes: number
  /** The line that says how many others were lost. */
  readonly lostLine: (lost: number) => string
}

/** Milliseconds until another attempt: where a pipe is full, and where the descriptor reports an error. */
const [whenFull, whenBroken] = [20, 1_000]
/** Milliseconds that a batch waits at most. */
const batchTime = 1_000
/** Bytes of one write. */
const pieceBytes = 65_536

/** Opens the output behind standard output (1) or standard error (2). */
export function openOutput(descriptor: 1 | 2, { bytes, batchBytes, lostLine }: OutputOptions): Output {
  const { target, letGo } = nonBlocking(descriptor)
  const waiting: string[] = []
  let waitingBytes = 0
  let lost = 0
  /** What is being written. */
  let piece: Buffer = Buffer.alloc(0)
  let underWay = false
  let isOpen = true
  let timer: NodeJS.Timeout | null = null
  let settled: (() => void) | null = null
  const isEmpty = (): boolean => piece.length === 0 && waiting.length === 0 && lost === 0

  function pump(): void {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (underWay || !isOpen) return
    if (piece.length === 0) piece = nextPiece()
    if (piece.length === 0) {
      settled?.()
      return
    }
    underWay = true
    write(target, piece, 0, piece.length, null, (error, written) => {
      underWay = false
      if (error === null) piece = piece.subarray(written)
      if (error === null && written > 0) pump()
      else pumpIn(error !== null && error.code !== 'EAGAIN' ? whenBroken : whenFull)
    })
  }

  function pumpIn(milliseconds: number): void {
    timer ??= setTimeout(pump, settled === null ? milliseconds : whenFull)
    timer.unref()
  }

  function nextPiece(): Buffer {
    let [count, size] = [0, 0]
    while (count < waiting.length && size < pieceBytes) size += Buffer.byteLength(waiting[count++]!)
    const lines = waiting.splice(0, count)
    waitingBytes -= size
    if (waiting.length === 0) lines.push(takeLost())
    return Buffer.from(lines.join(''))
  }

  function takeLost(): string {
    const line = lost === 0 ? '' : lostLine(lost)
    lost = 0
    return line
  }

  return {
    write(text) {
      if (!isOpen) return
      const size = Buffer.byteLength(text)
      if (waitingBytes + piece.length + size > bytes) {
        lost++
        return
      }
      const line = takeLost() + text
      waiting.push(line)
      waitingBytes += Buffer.byteLength(line)
      if (underWay || (timer !== null && waitingBytes < batchBytes) || piece.length > 0) return
      if (waitingBytes >= batchBytes) pump()
      else pumpIn(batchTime)
    },
    settle: (atMost) =>
      new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(deadline)
          settled = null
          resolve(isEmpty() ? 'written' : underWay ? 'blocked' : 'waiting')
        }
        const deadline = setTimeout(end, atMost)
        settled = end
        pump()
      }),
    writeNow() {
      if (underWay || isEmpty()) return
      try {
        writeSync(target, Buffer.concat([piece, Buffer.from(waiting.join('') + takeLost())]))
      } catch {
        // There is nobody left who could be told.
      }
    },
    close() {
      if (timer !== null) clearTimeout(timer)
      isOpen = false
      letGo(underWay)
    },
  }
}

interface Target {
  readonly target: number
  /** Closes what was opened for it, unless the system has not returned from a write to it. */
  letGo(isBusy: boolean): void
}

/** A descriptor for the same file, pipe, socket or terminal on which a write returns where there is no room. */
function nonBlocking(descriptor: 1 | 2): Target {
  const stream = descriptor === 1 ? process.stdout : process.stderr
  // Opening its stream makes a pipe or a socket non-blocking. An error of it without a listener would end the process.
  const ignored = (): void => {}
  stream.on('error', ignored)
  const target = ownTerminal(descriptor) ?? descriptor
  return {
    target,
    letGo: (isBusy) => {
      stream.off('error', ignored)
      if (target !== descriptor && !isBusy) closeSync(target)
    },
  }
}

/** A terminal that is held would block: it is opened anew, which leaves those who share it as they are. */
function ownTerminal(descriptor: 1 | 2): number | null {
  if (!isatty(descriptor)) return null
  try {
    const own = openSync(`/dev/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    if (fstatSync(own).isCharacterDevice()) return own
    closeSync(own)
  } catch {
    // A system without /dev/fd, or a terminal of somebody else.
  }
  return null
}
