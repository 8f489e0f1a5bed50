// A short text that is the same for the same bytes only.
import { createHash } from 'node:crypto'

/** The SHA-1 of bytes, as base64url. It tells versions apart; it is no protection against someone who forges bytes. */
export const contentHash = (bytes: Uint8Array): string => createHash('sha1').update(bytes).digest('base64url')
