// Values as literals in the text of a statement. Under every mode of the server a literal ends where it is meant to: quotes are doubled,
// never escaped.
import { wallClockOf } from '../wall-clock.js'

/** What a value stands beside: a column of moments, one that MySQL keeps as JSON, or anything else. */
export type LiteralKind = 'moment' | 'json' | 'plain'

/** Characters that end or change a literal. */
const special = /['\\\0]/

const replacements: Readonly<Record<string, string>> = { "'": "''", '\\': '\\\\', '\0': '\\0' }

const quotedText = (text: string): string => `'${special.test(text) ? text.replace(/['\\\0]/g, (found) => replacements[found]!) : text}'`

/** A moment as the wall clock of this process has it. Years that the columns do not reach are left to the server to refuse. */
function momentText(milliseconds: number): string {
  const { year, rest } = wallClockOf(milliseconds)
  return year < 0 ? `-${String(-year).padStart(4, '0')}-${rest}` : `${String(year).padStart(4, '0')}-${rest}`
}

/** A value as a literal. Numbers among moments are milliseconds since 1970, those in JSON are texts of it. */
export function literal(value: unknown, kind: LiteralKind): string {
  switch (typeof value) {
    case 'string':
      return quotedText(value)
    case 'number':
      if (!Number.isFinite(value)) return 'null'
      if (kind === 'json') return `'${value}'`
      return kind === 'moment' ? `'${momentText(value)}'` : String(value)
    case 'bigint':
      return String(value)
    case 'boolean':
      return value ? '1' : '0'
    default:
      if (value === null || value === undefined) return 'null'
      if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString('hex')}'`
      throw new Error('A value has no form in SQL')
  }
}
