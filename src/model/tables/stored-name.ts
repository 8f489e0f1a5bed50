// Names as PostgreSQL has them: it cuts off what is longer than 63 bytes.

import { createHash } from 'node:crypto'

/** Bytes of an identifier that PostgreSQL keeps, and characters of the hash that ends a long name. */
const [identifierBytes, hashLength] = [63, 8]

/** A name of our own that no database cuts off: a long one ends in a hash of what tells it from others. */
export function wholeName(name: string): string {
  if (Buffer.byteLength(name) <= identifierBytes) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, hashLength)
  let kept = name
  while (Buffer.byteLength(kept) > identifierBytes - hashLength - 1) kept = [...kept].slice(0, -1).join('')
  return `${kept}_${hash}`
}

/** An identifier as the catalog of PostgreSQL has it: long ones are cut off, at a whole character. */
export function storedName(identifier: string): string {
  if (Buffer.byteLength(identifier) <= identifierBytes) return identifier
  let name = ''
  for (const character of identifier) {
    if (Buffer.byteLength(name + character) > identifierBytes) return name
    name += character
  }
  return name
}
