// The revision of a draft: a keyed hash of its row, components and links. Whoever sends it with a write means this very state.
import { createHmac } from 'node:crypto'

/** Characters of a revision. */
const length = 27

/** The revision of a whole row, as JSON. Without the key nobody can find out by it what else is in the row. */
export const revisionOf = (key: string, bytes: Uint8Array): string =>
  createHmac('sha256', key).update(bytes).digest('base64url').slice(0, length)
