// A checked value becomes what its column keeps (decision 001); dates and times that are none are refused here.
import type { Stored } from '../../../database/portable-sql.js'
import { validationError } from '../../../foundation/errors/errors.js'
import { attributeTypes } from '../../../model/schema/attributes.js'
import { assertNever, type Scalar } from '../../../model/schema/types.js'
import { readValue } from '../../../query/rest/values.js'
import type { Input } from './types.js'

const notADate = () => validationError('Invalid format, expected yyyy-MM-dd')
const notADatetime = () => validationError('Invalid format, expected a timestamp or an ISO date')

/**
 * The stored form of a value that has passed its attribute's checks.
 * @throws ApiError 400 with the recorded message for a date, time or datetime that is none.
 */
export function toStored(attribute: Scalar, value: unknown): Stored {
  if (value === null || value === undefined) return null
  const { family } = attributeTypes[attribute.type]
  switch (family) {
    case 'text':
    case 'number':
      return value as string | number
    case 'biginteger':
      return bigInteger(BigInt(value as string | number))
    case 'boolean':
      return Number(value)
    case 'date':
      if (typeof value !== 'string') throw notADate()
      return readValue(attribute, value) as string
    case 'time':
      if (typeof value !== 'string') throw validationError(`Expected a string, got a ${typeof value}`)
      return readValue(attribute, value) as string
    case 'datetime':
      return milliseconds(attribute, value)
    case 'json':
      return json(value)
    default:
      return assertNever(family)
  }
}

/** Exact within the range of the column, the nearest double beyond. */
const bigInteger = (value: bigint): bigint | number => (BigInt.asIntN(64, value) === value ? value : Number(value))

function milliseconds(attribute: Scalar, value: unknown): number {
  if (typeof value !== 'string' && typeof value !== 'number') throw notADatetime()
  // As in Strapi, fractions of a millisecond are no moment, and digits that are an ISO 8601 date are that date: 2023, 20230101.
  const time = readValue(attribute, String(value)) as number
  if (!Number.isInteger(time)) throw notADatetime()
  return time
}

/** Objects, lists, true and false as JSON text, texts and numbers as they are. */
function json(value: unknown): Stored {
  return typeof value === 'object' || typeof value === 'boolean' ? JSON.stringify(value) : (value as string | number)
}

/** The columns of an input's own values. Passwords are hashed on the way. */
export async function scalarColumns(input: Input, hashPassword: (password: string) => Promise<string>): Promise<Record<string, Stored>> {
  const columns: Record<string, Stored> = {}
  for (const [scalar, value] of input.scalars) {
    columns[scalar.column] = scalar.type === 'password' && typeof value === 'string' ? await hashPassword(value) : value
  }
  return columns
}
