// The ids of events in a stream. A sequence shows how many events there are, also those that a client may not see, so an id is the
// encrypted sequence, and no two ids of one sequence are the same.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** Ids of events. */
export interface EventIds {
  /** The id of a sequence. */
  of(sequence: number): string
  /** The sequence of an id; null if this installation has not issued it. */
  read(id: string): number | null
}

const algorithm = 'aes-256-gcm'
const [nonceBytes, sequenceBytes, tagBytes] = [12, 8, 16]

/** Opens the ids. Processes with the same secret understand each other's. */
export function openEventIds(secret: string): EventIds {
  const key = createHash('sha256').update(`event stream ${secret}`).digest()
  return {
    of: (sequence) => {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, key, nonce)
      const plain = Buffer.alloc(sequenceBytes)
      plain.writeBigUInt64BE(BigInt(sequence))
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64url')
    },
    read: (id) => {
      const bytes = Buffer.from(id, 'base64url')
      if (bytes.length !== nonceBytes + sequenceBytes + tagBytes) return null
      try {
        const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
        decipher.setAuthTag(bytes.subarray(-tagBytes))
        const plain = Buffer.concat([decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()])
        return Number(plain.readBigUInt64BE())
      } catch {
        return null
      }
    },
  }
}
