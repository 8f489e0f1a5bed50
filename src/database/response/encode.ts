// A stored value becomes JSON text, by the attribute's kind. No objects in between: answers are text from the start.
import type { MemberColumn } from '../plan.js'
import type { Signer } from './signed-addresses.js'

/** Writes one value of a result row as JSON text. */
export type Encoder = (value: unknown, valid: unknown) => string

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what JSON must escape
const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/

/** A JSON string literal. */
export function quote(text: string): string {
  return needsEscape.test(text) ? JSON.stringify(text) : `"${text}"`
}

const text: Encoder = (value) => (typeof value === 'string' ? quote(value) : value === null ? 'null' : JSON.stringify(value))

const number: Encoder = (value) => (typeof value === 'number' ? (Number.isFinite(value) ? String(value) : 'null') : text(value, null))

const biginteger: Encoder = (value) => (value === null ? 'null' : `"${String(value)}"`)

const boolean: Encoder = (value) => (value === null ? 'null' : value === 0 || value === '0' || value === 'false' ? 'false' : 'true')

/** Milliseconds since 1970; other databases' tools may have left ISO text. */
const datetime: Encoder = (value) => {
  if (value === null) return 'null'
  const milliseconds = typeof value === 'number' ? value : Date.parse(value as string)
  return Math.abs(milliseconds) <= latest ? `"${iso(milliseconds)}"` : 'null'
}

/** The last moment that a Date can hold. */
const latest = 8_640_000_000_000_000
const dayLength = 86_400_000
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))
/** ISO texts of the days that answers showed lately: dates cluster, and Date's own formatting is a tenth of a list's time. */
const days = new Map<number, string>()

function iso(milliseconds: number): string {
  const day = Math.floor(milliseconds / dayLength)
  const rest = Math.trunc(milliseconds) - day * dayLength
  const hour = Math.floor(rest / 3_600_000)
  const minute = Math.floor(rest / 60_000) % 60
  const second = Math.floor(rest / 1000) % 60
  return `${dayText(day)}T${twoDigits[hour]}:${twoDigits[minute]}:${twoDigits[second]}.${String((rest % 1000) + 1000).slice(1)}Z`
}

function dayText(day: number): string {
  let text = days.get(day)
  if (text === undefined) {
    const full = new Date(day * dayLength).toISOString()
    text = full.slice(0, full.indexOf('T'))
    if (days.size >= 4096) days.clear()
    days.set(day, text)
  }
  return text
}

const timestamp: Encoder = (value) => (value === null ? 'null' : `"${String(value)}"`)

/**
 * Valid JSON is written as it is, other text as a string (resources.12). Strings are stored without quotes: a quoted one is written as its
 * content if that is JSON again, as in Strapi.
 */
const json: Encoder = (value, valid) => {
  if (typeof value !== 'string') return value === null ? 'null' : number(value, null)
  if (valid !== 1) return quote(value)
  return /^\s*"/.test(value) ? (innerJson(value) ?? quote(value)) : value
}

function innerJson(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(JSON.parse(text) as string))
  } catch {
    return null
  }
}

const encoders: Readonly<Record<Exclude<MemberColumn['answer'], 'componentDocumentId'>, Encoder>> = {
  text,
  number,
  biginteger,
  boolean,
  datetime,
  timestamp,
  json,
  never: () => 'null',
}

/** The encoder of a result column. `uid` seeds the documentIds that components get from the specification's contract. */
export function encoderFor(column: MemberColumn, uid: string): Encoder {
  return column.answer === 'componentDocumentId' ? (value) => `"${componentDocumentId(uid, value as number)}"` : encoders[column.answer]
}

/** The encoder of a file's column with addresses; null for its other columns. */
export function signedEncoderFor({ name }: MemberColumn, signer: Signer): Encoder | null {
  const signed = (address: unknown) => (typeof address === 'string' ? signer.sign(address) : null)
  if (name === 'url') return (value) => text(signed(value) ?? value, null)
  if (name !== 'formats') return null
  return (value, valid) => {
    if (typeof value !== 'string' || valid !== 1) return json(value, valid)
    const formats = Object.entries((JSON.parse(value) ?? {}) as Readonly<Record<string, { readonly url?: unknown } | null>>)
    const withSigned = formats.map(([key, format]) => {
      const url = signed(format?.url)
      return [key, url === null ? format : { ...format, url, isUrlSigned: true }]
    })
    return JSON.stringify(Object.fromEntries(withSigned))
  }
}

const letters = 'abcdefghijklmnopqrstuvwxyz'
const alphabet = `${letters}0123456789`

/**
 * A stable documentId for a component row: 24 lower-case letters and digits, the first a letter, derived from the component's uid and the
 * row id (contract, row 1). Not a secret: the row's id is public.
 */
export function componentDocumentId(uid: string, id: number): string {
  let state = 0x811c9dc5
  for (let index = 0; index < uid.length; index++) state = Math.imul(state ^ uid.charCodeAt(index), 0x01000193)
  state = Math.imul(state ^ id, 0x85ebca6b) ^ Math.floor(id / 2 ** 32)
  let made = ''
  for (let index = 0; index < 24; index++) {
    // One step of a 32-bit mixer per character.
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    const drawn = (mixed ^ (mixed >>> 15)) >>> 0
    made += index === 0 ? letters[drawn % 26] : alphabet[drawn % 36]
  }
  return made
}
