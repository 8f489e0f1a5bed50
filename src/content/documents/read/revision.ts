// The revision of a draft: what tells its states apart. Whoever sends it with a write means this very state.
import { createHmac } from 'node:crypto'
import type { ReadAnswer } from '../../../database/database.js'
import type { ContentType, Model } from '../../../model/schema/types.js'
import type { ReadRequest } from '../../../query/request.js'
import { bytesOf, rowOfOthers, type WhichRow, wholeRow } from './whole-document.js'

/** Characters of the part about the row itself, with its components and links, and of that about links that other documents keep. */
const [lengthOfOwn, lengthOfOthers] = [27, 16]

/** Reads with a plan of its own. */
type Execute = (request: ReadRequest) => Promise<ReadAnswer>

/**
 * Reads a row with its components and links, as JSON, and its revision: two keyed hashes, of the row itself, and of the first links that other
 * documents keep, where its type has relations with such. Without the key nobody can find out by it what else is in the row.
 */
export async function readRevised(
  execute: Execute,
  model: Model,
  key: string,
  type: ContentType,
  which: WhichRow,
): Promise<{ readonly revision: string; readonly bytes: Uint8Array } | null> {
  const hashOf = (bytes: Uint8Array) => createHmac('sha256', key).update(bytes).digest('base64url')
  // First: what is newer than its revision is told by the next write, what is older would be overwritten unknowingly.
  const request = rowOfOthers(model, type, which)
  const others = request === null ? null : bytesOf(await execute(request))
  const bytes = bytesOf(await execute(wholeRow(model, type, which, 'links')))
  if (bytes === null) return null
  const linked = others === null ? '' : hashOf(others).slice(0, lengthOfOthers)
  return { revision: hashOf(bytes).slice(0, lengthOfOwn) + linked, bytes }
}

/** Whether two revisions are of the same row, whatever links others keep to it. */
export const isSameRow = (one: string, other: string): boolean => one.slice(0, lengthOfOwn) === other.slice(0, lengthOfOwn)
