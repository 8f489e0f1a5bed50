// Makes sure that a file or folder survives a loss of power.
import { open } from 'node:fs/promises'

/** Syncs a file or folder to the disk; some file systems do not allow it for folders. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } catch (error) {
    if ((await handle.stat()).isFile()) throw error
  } finally {
    await handle.close()
  }
}
