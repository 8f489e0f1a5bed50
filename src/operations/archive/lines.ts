// Reads files of lines, one line after the other, without ever holding more than one.
import { createReadStream } from 'node:fs'
import { ConfigError } from '../../foundation/errors/errors.js'

/** A line, and where it is: `entities/entities_00001.jsonl, line 12`. */
export interface ArchiveLine {
  readonly text: string
  readonly where: string
}

/** A file of lines: its name in the archive, and where it lies. */
export interface ArchiveLineFile {
  readonly name: string
  readonly path: string
}

const lineFeed = 0x0a

/**
 * The lines of files. Empty lines are left out.
 * @throws ConfigError for a line that is longer than `longest` bytes or is not UTF-8
 */
export async function* linesOf(files: readonly ArchiveLineFile[], longest: number): AsyncGenerator<ArchiveLine> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  for (const { name, path } of files) {
    let number = 0
    let pieces: Buffer[] = []
    let bytes = 0
    const whole = (last: Buffer): ArchiveLine => {
      const where = `${name}, line ${++number}`
      try {
        return { text: decoder.decode(pieces.length === 0 ? last : Buffer.concat([...pieces, last])), where }
      } catch {
        throw new ConfigError(`${where} is not UTF-8. Nothing was changed`)
      } finally {
        pieces = []
        bytes = 0
      }
    }
    for await (const chunk of createReadStream(path, { highWaterMark: 1_000_000 }) as AsyncIterable<Buffer>) {
      let start = 0
      for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
        const line = whole(chunk.subarray(start, end))
        if (line.text !== '') yield line
        start = end + 1
      }
      const rest = chunk.subarray(start)
      bytes += rest.length
      if (bytes > longest)
        throw new ConfigError(`${name}, line ${number + 1} has more than ${longest} bytes (limits.archiveLineBytes). Nothing was changed`)
      if (rest.length > 0) pieces.push(rest)
    }
    const line = whole(Buffer.alloc(0))
    if (line.text !== '') yield line
  }
}
