// Receives the text of a response piece by piece and stores bytes, so that a large response is never one large string.
import { type ApiError, validationError } from '../../foundation/errors/errors.js'
import type { ReadResult } from '../database.js'

export interface Sink {
  /** Starts a response in `room`; a response that outgrows it moves to separate memory. */
  begin(room: Buffer): void
  /** Appends text as UTF-8. @throws AnswerTooLarge beyond the limit. */
  write(text: string): void
  /** The length of the answer, and its bytes where they are not in the room it began in. */
  end(): { readonly length: number; readonly own: Uint8Array<ArrayBuffer> | null }
}

/** An answer grew beyond the limit `responseBytes`. */
export class ResponseTooLarge extends Error {}
/** Also recognizes a text that exceeds the maximum length of a string before it is written. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof ResponseTooLarge || (error instanceof RangeError && error.message === 'Invalid string length')
/** The code for messages between threads. */
export const responseTooLargeCode = 'ANSWER_TOO_LARGE'
export const responseTooLarge = (): ApiError => validationError('The answer is too large, ask for fewer entries or fewer populated levels')

/** Opens a sink for answers of at most `limit` bytes. */
export function createSink(limit: number): Sink {
  let buffer: Buffer = Buffer.alloc(0)
  let length = 0
  let own: Buffer<ArrayBuffer> | null = null

  function grow(needed: number): void {
    if (length + needed / 3 > limit) throw new ResponseTooLarge()
    own = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, length + needed))
    buffer.copy(own, 0, 0, length)
    buffer = own
  }

  return {
    begin: (room) => {
      buffer = room
      length = 0
      own = null
    },
    write: (text) => {
      // Three bytes are the most that one UTF-16 unit can take.
      const most = text.length * 3
      if (length + most > buffer.length) grow(most)
      length += buffer.write(text, length, 'utf8')
      if (length > limit) throw new ResponseTooLarge()
    },
    end: () => ({ length, own: own === null ? null : own.subarray(0, length) }),
  }
}

/** The text of an answer; `null` where there is none. */
export const toText = (answer: ReadResult): string => {
  if (answer === null) return 'null'
  const text = Buffer.from(answer.bytes).toString('utf8')
  answer.release()
  return text
}
