// The ids of events in a stream. A sequence shows how many events there are, also those that a client may not see, so an id is the
// encrypted sequence, and no two ids of one sequence are the same.
import { createHash } from 'node:crypto'
import { openSealing, sealBytes } from '../../../foundation/runtime/sealing.js'

/** Ids of events. */
export interface EventIds {
  /** The id of a sequence. */
  of(sequence: number): string
  /** The sequence of an id; null if this installation has not issued it. */
  read(id: string): number | null
}

const sequenceBytes = 8

/** Opens the ids. Processes with the same secret understand each other's. */
export function openEventIds(secret: string): EventIds {
  const { seal, open } = openSealing(createHash('sha256').update(`event stream ${secret}`).digest())
  return {
    of: (sequence) => {
      const plain = Buffer.alloc(sequenceBytes)
      plain.writeBigUInt64BE(BigInt(sequence))
      return seal(plain).toString('base64url')
    },
    read: (id) => {
      const bytes = Buffer.from(id, 'base64url')
      const plain = bytes.length === sequenceBytes + sealBytes ? open(bytes) : null
      return plain === null ? null : Number(plain.readBigUInt64BE())
    },
  }
}
