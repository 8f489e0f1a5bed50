// Names as PostgreSQL has them: it cuts off what is longer than 63 bytes.

/** Bytes of an identifier that PostgreSQL keeps. */
export const identifierBytes = 63

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
