// Positions in PostgreSQL's write-ahead log.

/** A position as a number; PostgreSQL writes it as two hexadecimal ones, such as `16/B374D848`. */
export function positionOf(text: string): bigint {
  const [high, low] = text.split('/')
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}
