// Values of an archive, as JSON texts, in the form in which they are stored. What an attribute cannot have comes with a sentence.
import { exactNumber, type Fitted, isDecimal, type RowValue } from '../../database/transfer/rows.js'
import { attributeTypes } from '../../model/schema/attributes.js'
import { assertNever, type Scalar } from '../../model/schema/types.js'

/** Whether a JSON text is a string, a number, … */
const isString = (json: string): boolean => json.startsWith('"')
const isNumber = (json: string): boolean => /^[-\d]/.test(json)

/** A string's value, or the text of a number, `true` or `false`; null: it is an object or a list. */
function textOf(json: string): string | null {
  if (isString(json)) return JSON.parse(json) as string
  return json.startsWith('{') || json.startsWith('[') ? null : json
}

/** Reads the value of an attribute. */
export function importedValue({ type }: Scalar, json: string): Fitted {
  if (json === 'null') return { value: null }
  const { family } = attributeTypes[type]
  if (family === 'json') return { value: importedJson(json) }
  const text = textOf(json)
  if (text === null) return { value: null, problem: `is an object or a list, not a value of the type ${type}` }
  switch (family) {
    case 'text':
    case 'date':
    case 'time':
      return { value: text }
    case 'number':
      return isDecimal(text) ? { value: exactNumber(text) ?? text } : { value: null, problem: 'is not a number' }
    case 'biginteger':
      return importedInteger(text)
    case 'boolean':
      return importedBoolean(text)
    case 'datetime':
      return importedMoment(text, type === 'timestamp')
    default:
      return assertNever(family)
  }
}

/** Exact within 64 bits, the nearest double beyond them, as columns of SQLite keep it. */
function importedInteger(text: string): Fitted {
  if (!/^-?\d{1,400}$/.test(text)) return { value: null, problem: 'is not an integer' }
  const integer = BigInt(text)
  if (BigInt.asIntN(64, integer) !== integer) return { value: Number(integer) }
  return { value: Number.isSafeInteger(Number(integer)) ? Number(integer) : integer }
}

function importedBoolean(text: string): Fitted {
  if (/^(?:true|1)$/.test(text)) return { value: 1 }
  return /^(?:false|0)$/.test(text) ? { value: 0 } : { value: null, problem: 'is neither true nor false' }
}

/** `isTimestamp`: digits are milliseconds. */
function importedMoment(text: string, isTimestamp: boolean): Fitted {
  const isCount = /^-?\d{1,16}$/.test(text)
  const milliseconds = isCount && (isTimestamp || text.length > 8) ? Number(text) : Date.parse(text)
  return Number.isNaN(milliseconds) ? { value: null, problem: 'is not a timestamp' } : { value: milliseconds }
}

/** JSON as it is written; a string without its quotes, unless it is JSON then. */
export function importedJson(json: string): RowValue {
  if (isNumber(json)) return exactNumber(json) ?? json
  if (!isString(json)) return json
  const text = JSON.parse(json) as string
  return isJson(text) ? json : text
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
