// Where the files of a server are that need not outlive the machine.
import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const memory = '/dev/shm'

/** Bytes that servers beside each other need at most: their logs take a gigabyte before they are reused. */
const needed = 4 * 1024 ** 3

/** A folder in memory, where many small files are written fast; the folder for temporary files where memory has too little space. */
export function volatileFolder() {
  if (!existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize >= needed ? memory : tmpdir()
}
