// A file to which lines are appended behind what the process does. A full disk fails nothing: lines wait, and are counted where they do not fit.
import { type FileHandle, open, stat } from 'node:fs/promises'

/** A file that only grows, until somebody moves it away. */
export interface AppendedFile {
  /** Appends a line, without its end. Waits for nothing. */
  add(line: string): void
  /** Resolves when all lines are written, or cannot be. */
  close(): Promise<void>
}

/** What becomes of the file. */
export interface AppendedFileOptions {
  /** Bytes of lines that wait at most. */
  readonly bytes: number
  /** Lines cannot be written; they wait. Called once, until they can. */
  failed(error: unknown): void
  /** They are written again. `lost`: lines that had no room meanwhile. */
  recovered(lost: number): void
}

/** Milliseconds between two looks whether the file was moved away, and after a failure until the next attempt. */
const [lookEvery, retryAfter] = [1_000, 1_000]

/** Opens a file, which only its owner can read where it is new. @throws Error if it cannot be opened */
export async function openAppendedFile(path: string, { bytes, failed, recovered }: AppendedFileOptions): Promise<AppendedFile> {
  const file = await openFollowed(path)
  const waiting: string[] = []
  /** What of the lines before them is still to be written. */
  let rest: Buffer = Buffer.alloc(0)
  let [size, lost] = [0, 0]
  let isFailing = false
  let writing: Promise<void> | null = null
  let timer: NodeJS.Timeout | undefined

  async function writeAll(): Promise<void> {
    while (rest.length > 0 || waiting.length > 0) {
      if (rest.length === 0) rest = Buffer.from(waiting.splice(0).join(''))
      try {
        const written = await file.write(rest)
        rest = rest.subarray(written)
        size -= written
        if (isFailing || lost > 0) recovered(lost)
        ;[isFailing, lost] = [false, 0]
      } catch (error) {
        if (!isFailing) failed(error)
        isFailing = true
        timer = setTimeout(start, retryAfter)
        timer.unref()
        return
      }
    }
  }

  function start(): void {
    writing ??= writeAll().finally(() => {
      writing = null
    })
  }

  return {
    add: (line) => {
      const added = Buffer.byteLength(line) + 1
      if (size + added > bytes) {
        lost++
        return
      }
      size += added
      waiting.push(`${line}\n`)
      if (!isFailing) start()
    },
    close: async () => {
      clearTimeout(timer)
      await writing
      start()
      await writing
      clearTimeout(timer)
      await file.close()
    },
  }
}

const openOwn = (path: string): Promise<FileHandle> => open(path, 'a', 0o600)

/** A file at a path, whatever is at that path. */
interface FollowedFile {
  /** Appends bytes, and resolves to how many of them. */
  write(bytes: Uint8Array): Promise<number>
  close(): Promise<void>
}

/** Opens a file, and opens it anew where it is not at its place any more. */
async function openFollowed(path: string): Promise<FollowedFile> {
  let handle = await openOwn(path)
  let looked = performance.now()

  async function follow(): Promise<void> {
    if (performance.now() - looked < lookEvery) return
    looked = performance.now()
    const [there, own] = [await stat(path).catch(() => null), await handle.stat()]
    if (there !== null && there.ino === own.ino && there.dev === own.dev) return
    const next = await openOwn(path)
    await handle.close().catch(() => {})
    handle = next
  }

  return {
    write: async (bytes) => {
      await follow()
      return (await handle.write(bytes)).bytesWritten
    },
    close: () => handle.close(),
  }
}
