// Folder for files of a server that need not outlive the machine.
import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const memory = '/dev/shm'

/** Maximum number of bytes for servers that run at the same time: their logs take a gigabyte before they are reused. */
const needed = 4 * 1024 ** 3

/** A folder in memory, where many small files are written fast; the folder for temporary files where memory has too little space. */
export function volatileFolder() {
  if (!existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize >= needed ? memory : tmpdir()
}
