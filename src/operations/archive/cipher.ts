// The encryption of archives, as Strapi does it: AES-128-ECB under a key that scrypt derives from a password without a salt. It hides the
// content from those who come across a file; it does not show that a file was changed, and equal blocks stay equal.
import { createCipheriv, createDecipheriv, scryptSync } from 'node:crypto'
import type { Transform } from 'node:stream'

const algorithm = 'aes-128-ecb'
const keyBytes = 16

const keyOf = (password: string): Buffer => scryptSync(password, '', keyBytes)

/** Encrypts what is written to it. */
export const encryption = (password: string): Transform => createCipheriv(algorithm, keyOf(password), null)

/** Decrypts what is written to it. It fails at the end, or yields nonsense, under another password. */
export const decryption = (password: string): Transform => createDecipheriv(algorithm, keyOf(password), null)
