// Stored values as JSON texts in Strapi's form: with all their digits, where Strapi rounds them.
import type { RowValue } from '../../database/transfer/rows.js'
import { attributeTypes } from '../../model/schema/attributes.js'
import { assertNever, type Scalar } from '../../model/schema/types.js'

/** Writes a stored value as JSON. */
export function exportedValue({ type }: Scalar, value: RowValue): string {
  if (value === null) return 'null'
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('utf8'))
  const { family } = attributeTypes[type]
  switch (family) {
    case 'number':
      return numberText(value)
    case 'biginteger':
      return JSON.stringify(wholeText(value))
    case 'boolean':
      return String(!falses.includes(value))
    case 'datetime':
      return type === 'timestamp' ? timestampText(value) : momentText(value)
    case 'json':
      return jsonText(value)
    case 'text':
    case 'date':
    case 'time':
      return JSON.stringify(String(value))
    default:
      return assertNever(family)
  }
}

/** What responses show as false, too. */
const falses: readonly RowValue[] = [0, '0', 'false']

/** A number of any precision is a number of JSON. What is none stays text. */
function numberText(value: string | number | bigint): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return 'null'
  const text = String(value)
  return typeof value !== 'string' || /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text) ? text : JSON.stringify(text)
}

/** The digits of an integer. A double has those that responses show: beyond 64 bits, so that it is read as a double again. */
function wholeText(value: string | number | bigint): string {
  const text = String(value)
  return typeof value === 'number' && Number.isInteger(value) && text.includes('e') ? BigInt(value).toString() : text
}

const lastMoment = 8.64e15

/** A moment in ISO form, which has milliseconds. A text is one that is finer, or was written by another program. */
function momentText(value: string | number | bigint): string {
  const milliseconds = typeof value === 'string' ? Date.parse(value) : Number(value)
  return JSON.stringify(Math.abs(milliseconds) <= lastMoment ? new Date(milliseconds).toISOString() : String(value))
}

/** Milliseconds as text. Strapi reads those before 1970 as a year, so they are written as a date. */
function timestampText(value: string | number | bigint): string {
  return typeof value === 'string' || value >= 0 ? JSON.stringify(wholeText(value)) : momentText(value)
}

/** Stored JSON as it is written; a text that is not JSON is a string. */
export function jsonText(value: string | number | bigint): string {
  if (typeof value !== 'string') return numberText(value)
  try {
    JSON.parse(value)
  } catch {
    return JSON.stringify(value)
  }
  return compactJson(value)
}

/** JSON in one line; numbers stay as they are written. */
const compactJson = (json: string): string =>
  /\s/.test(json) ? json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, text: string | undefined) => text ?? '') : json
