// Where an answer's text goes: piece by piece into bytes, so that a large answer never is one large string.
import { type ApiError, validationError } from '../../foundation/errors/errors.js'
import type { ReadAnswer } from '../database.js'

export interface Sink {
  /** Starts an answer in `room`; it moves to memory of its own when it outgrows that. */
  begin(room: Buffer): void
  /** Appends text as UTF-8. @throws AnswerTooLarge beyond the limit. */
  write(text: string): void
  /** The length of the answer, and its bytes where they are not in the room it began in. */
  end(): { readonly length: number; readonly own: Uint8Array<ArrayBuffer> | null }
}

/** An answer grew beyond the limit `answerBytes`. */
export class AnswerTooLarge extends Error {}
/** Whether an answer was too large; its text may outgrow what a string can be before it is written anywhere. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof AnswerTooLarge || (error instanceof RangeError && error.message === 'Invalid string length')
/** The code by which threads tell of it. */
export const answerTooLarge = 'ANSWER_TOO_LARGE'
/** What is told whoever asked for it. */
export const tooLarge = (): ApiError => validationError('The answer is too large, ask for fewer entries or fewer populated levels')

/** Opens a sink for answers of at most `limit` bytes. */
export function openSink(limit: number): Sink {
  let buffer: Buffer = Buffer.alloc(0)
  let length = 0
  let own: Buffer<ArrayBuffer> | null = null

  function grow(needed: number): void {
    if (length + needed / 3 > limit) throw new AnswerTooLarge()
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
      if (length > limit) throw new AnswerTooLarge()
    },
    end: () => ({ length, own: own === null ? null : own.subarray(0, length) }),
  }
}

/** The text of an answer; `null` where there is none. */
export const textOf = (answer: ReadAnswer): string => {
  if (answer === null) return 'null'
  const text = Buffer.from(answer.bytes).toString('utf8')
  answer.release()
  return text
}
