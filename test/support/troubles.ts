// Prints the warnings and errors that services logged below a failing test, so that a failure that occurs once can be explained.
import { afterEach } from 'vitest'

const latest: string[] = []

/** Takes a line of a service's log; keeps it when it is a warning or an error. */
export function noteTrouble(line: string): void {
  if (!/^\{"level":[456]0/.test(line)) return
  latest.push(line)
  if (latest.length > 20) latest.shift()
}

afterEach(({ task }) => {
  if (task.result?.state === 'fail' && latest.length > 0) console.error(`Logged meanwhile:\n${latest.join('')}`)
  latest.length = 0
})
