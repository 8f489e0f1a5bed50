// The descriptions that an installation serves, made when they are asked for and kept for callers with the same permissions.
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Grants } from '../../../foundation/grants.js'
import { type DescriptionSource, describe } from './description.js'

/** A description as it is sent. */
export interface ServedDescription {
  readonly bytes: Buffer
  /** Its strong ETag, with quotes. */
  readonly tag: string
}

/** The descriptions of one model. */
export interface Descriptions {
  /** Returns what a caller with these grants may do; `open`: the grants of callers without credentials. */
  of(grants: Grants, open: Grants): ServedDescription
}

/** Opens the descriptions; at most `most` are kept. `read` is called when the first one is asked for. */
export function openDescriptions(read: () => DescriptionSource, most: number): Descriptions {
  let described: DescriptionSource | undefined
  const kept = new LRUCache<string, ServedDescription>({ maxSize: most, sizeCalculation: () => 1 })
  return {
    of(grants, open) {
      const key = `${grants.key} ${open.key}`
      const known = kept.get(key)
      if (known !== undefined) return known
      described ??= read()
      const bytes = Buffer.from(JSON.stringify(describe(described, { may: grants.may, isOpen: open.may })))
      const served = { bytes, tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"` }
      kept.set(key, served)
      return served
    },
  }
}
