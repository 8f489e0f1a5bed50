// Authenticated encryption: AES-256-GCM with a random nonce for each message.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Seals bytes under one key. */
interface Sealing {
  seal(plain: Uint8Array): Buffer
  /** The bytes that were sealed; null: not under this key, or something has changed them. */
  open(sealed: Uint8Array): Buffer | null
}

const algorithm = 'aes-256-gcm'
const [nonceBytes, tagBytes] = [12, 16]

/** Bytes that sealing adds. */
export const sealBytes = nonceBytes + tagBytes

/** Seals under a key of 32 bytes. */
export const openSealing = (key: Buffer): Sealing => ({
  seal: (plain) => {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(algorithm, key, nonce)
    return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  },
  open: (sealed) => {
    if (sealed.length < sealBytes) return null
    try {
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
      decipher.setAuthTag(sealed.subarray(-tagBytes))
      return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()])
    } catch {
      return null
    }
  },
})
