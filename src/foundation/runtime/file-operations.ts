// The byte order mark that editors on Windows put at the beginning of a file: it belongs to the encoding, not to the text.
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'

/** A text without the mark. */
export const withoutMark = (text: string): string => (text.startsWith('\uFEFF') ? text.slice(1) : text)

/** The SHA-1 of bytes, as base64url. It distinguishes versions; it does not protect against forgery. */
export const contentHash = (bytes: Uint8Array): string => createHash('sha1').update(bytes).digest('base64url')

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
