// Attribute types whose values are JSON.
import type { AttributeType, InputForm } from './attribute-type.js'
import { toList } from './casts.js'
import * as options from './options.js'

const input: InputForm = { cast: (value) => value, type: null, nullable: true, rules: [], columnRules: [] }

const isJson = (value: unknown): boolean =>
  typeof value === 'number' ? Number.isFinite(value) : !['bigint', 'function', 'symbol', 'undefined'].includes(typeof value)

export const json: AttributeType = {
  about: 'Any JSON.',
  options: options.anyDefault,
  column: 'json',
  family: 'json',
  answer: 'json',
  stored: 'json',
  search: null,
  isLong: true,
  input,
  parseQuery: (value) => String(value),
  // Strings are stored unchanged, other values as JSON. The driver decides about values that JSON lacks, which only hooks can give.
  store: (value) => (typeof value === 'string' || !isJson(value) ? (value as string) : JSON.stringify(value)),
  schema: { response: {} },
  typescript: { response: 'unknown', filter: 'Octavo.JsonFilter' },
}

/** Rich text. `content/documents/input/blocks.ts` checks its structure. */
export const blocks: AttributeType = {
  ...json,
  about: "Rich text as a list of blocks, as Strapi's editor writes it.",
  stored: 'blocks',
  input: { cast: toList, type: 'array', nullable: false, rules: [], columnRules: [] },
  typescript: { response: 'Octavo.BlocksContent', filter: 'Octavo.JsonFilter' },
}
