// Converts values of a query string to the attribute's type, or refuses them.
import { ApiError, validationError } from '../../foundation/errors/errors.js'
import type { Scalar } from '../../model/schema/types.js'
import { attributeTypes } from '../../model/types/attribute-types.js'

/**
 * The value to compare `attribute` with. `strictBooleans`: row 15 of the contract.
 * @throws ApiError 400 with the recorded message if the value does not have the attribute's type.
 */
export function readValue(attribute: Scalar, value: unknown, strictBooleans = false): unknown {
  if (value === null || value === undefined) return null
  if (typeof value === 'object') throw validationError(`Invalid value for ${attribute.name}`)
  // Row ids are compared unchecked: a documentId instead finds nothing and does not fail.
  if (attribute.system && attribute.name === 'id') return readId(String(value))
  return attributeTypes[attribute.type].parseQuery(value, attribute, strictBooleans)
}

function readId(text: string): unknown {
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  // Digits before a NUL would be read as the number.
  return text.includes('\0') ? '' : text
}

/** The operand of LIKE and similar operators; null matches nothing. */
export function readText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'object' && value !== null) throw new ApiError('ValidationError', 'Invalid value')
  return String(value)
}
