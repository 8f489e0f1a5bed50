// The write-ahead log beside the database's file, as bytes: how much of it has come into the file by a checkpoint that has not ended.
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'

/** Frames of a log that are looked at, and pages of the file that are compared with it. */
const [mostFrames, mostPages] = [100_000, 64]
const [headerBytes, frameHeaderBytes] = [32, 24]

/** A file of a database that is only read here. Descriptors are kept for good: closing one would end all locks that the process has on the file. */
const descriptors = new Map<string, number>()

function descriptorOf(path: string): number {
  const { dev, ino } = statSync(path)
  const name = `${dev}:${ino}`
  const descriptor = descriptors.get(name) ?? openSync(path, 'r')
  descriptors.set(name, descriptor)
  return descriptor
}

/** The sequence and the salts in the header of a log. SQLite has no locks on this file that closing it could end. */
export function generationOf(log: string): string {
  const header = Buffer.alloc(12)
  try {
    withFile(log, (file) => readSync(file, header, 0, header.length, 12))
  } catch {
    // One that is gone is told of where the files themselves are looked at.
  }
  return header.toString('base64')
}

function withFile<Result>(path: string, use: (descriptor: number) => Result): Result {
  const descriptor = openSync(path, 'r')
  try {
    return use(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Whether a checkpoint has begun to write the frames from `checkpointed` on into the file of `database`: one that is under way, failed on a
 * full disk, or was killed. It writes pages in their order, and makes the file as long as the log says before.
 */
export function isBegun(database: string, checkpointed: number, pageBytes: number, knownBytes: number): boolean {
  const file = descriptorOf(database)
  return withFile(`${database}-wal`, (log) => {
    const { pages, databasePages } = framesOf(log, checkpointed, pageBytes)
    const { size } = fstatSync(file)
    if (size !== knownBytes && size === databasePages * pageBytes) return true
    const [page, frame] = [Buffer.alloc(pageBytes), Buffer.alloc(pageBytes)]
    return [...pages.keys()]
      .sort((one, other) => one - other)
      .slice(0, mostPages)
      .some((number) => {
        if (readSync(file, page, 0, pageBytes, (number - 1) * pageBytes) < pageBytes) return false
        return pages.get(number)!.some((at) => readSync(log, frame, 0, pageBytes, at) === pageBytes && frame.equals(page))
      })
  })
}

/** Where each page's contents stand in the log, from the frame `first` on, and how many pages its last commit gives the database. */
function framesOf(log: number, first: number, pageBytes: number) {
  const header = Buffer.alloc(headerBytes)
  const salts = Buffer.alloc(8)
  if (readSync(log, header, 0, headerBytes, 0) === headerBytes) header.copy(salts, 0, 16, 24)
  const pages = new Map<number, number[]>()
  let databasePages = 0
  const frame = Buffer.alloc(frameHeaderBytes)
  for (let index = first; index < first + mostFrames; index++) {
    const at = headerBytes + index * (frameHeaderBytes + pageBytes)
    // Behind the last frame there may be older ones, with other salts.
    if (readSync(log, frame, 0, frameHeaderBytes, at) < frameHeaderBytes || !frame.subarray(8, 16).equals(salts)) break
    const number = frame.readUInt32BE(0)
    databasePages = frame.readUInt32BE(4) || databasePages
    const contents = pages.get(number)
    if (contents === undefined) pages.set(number, [at + frameHeaderBytes])
    else contents.push(at + frameHeaderBytes)
  }
  return { pages, databasePages }
}
