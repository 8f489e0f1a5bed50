// The answer to a read as text.
import type { ReadAnswer } from '../database.js'

/** The text of an answer; `null` where there is none. */
export const textOf = (answer: ReadAnswer): string => {
  if (answer === null) return 'null'
  const text = Buffer.from(answer.bytes).toString('utf8')
  answer.release()
  return text
}
