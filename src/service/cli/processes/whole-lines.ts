// Passes the output of a process on line by line, so that the lines of several do not run into each other.
import type { Readable } from 'node:stream'

/** Passes each line of a stream on, with its end. */
export function passLines(stream: Readable, write: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) write(`${line}\n`)
  })
  stream.on('close', () => {
    if (rest !== '') write(`${rest}\n`)
    rest = ''
  })
}
