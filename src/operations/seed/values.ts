// Converts a seed's values from the format of the content API to column values.
import { hashSync } from '@node-rs/bcrypt'
import type { Stored } from '../../database/portable-sql.js'
import { attributeTypes } from '../../model/schema/attributes.js'
import { assertNever, type Scalar, type Schema } from '../../model/schema/types.js'

/** The cost of password hashes, as in Strapi: 2^10 rounds. */
const passwordCost = 10

/** Hashes a password. */
export function passwordHash(password: string): string {
  return hashSync(password, passwordCost).replace('$2y$', '$2a$')
}

/**
 * Returns the scalar columns of a row; missing values get their default.
 * @throws Error with a sentence for an unknown name or an invalid value.
 */
export function scalars(shape: Schema, values: Readonly<Record<string, unknown>>, where: string): Record<string, Stored> {
  for (const name of Object.keys(values))
    if (!shape.attributes.has(name)) throw new Error(`${where}: ${shape.uid} has no attribute ${name}`)
  return Object.fromEntries(
    [...shape.attributes.values()].flatMap((attribute) => {
      if (attribute.kind !== 'scalar' || attribute.system) return []
      const value = values[attribute.name] === undefined ? attribute.source.default : values[attribute.name]
      return value === undefined ? [] : [[attribute.column, stored(attribute, value, `${where}, ${attribute.name}`)]]
    }),
  )
}

/**
 * Converts a value to its stored form.
 * @throws Error with a sentence that starts with `where` if the value is invalid for the attribute.
 */
export function stored(attribute: Scalar, value: unknown, where: string): Stored {
  if (value === null || value === undefined) return null
  if (attribute.type === 'password') return passwordHash(String(value))
  const wrong = (kind: string): never => {
    throw new Error(`${where}: ${JSON.stringify(value)} is not a valid ${kind}`)
  }
  const { family } = attributeTypes[attribute.type]
  switch (family) {
    case 'text':
      return typeof value === 'string' ? value : wrong('text')
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? value : wrong('number')
    case 'biginteger':
      return /^-?\d+$/.test(String(value)) ? BigInt(String(value)) : wrong('integer')
    case 'boolean':
      return typeof value === 'boolean' ? Number(value) : wrong('boolean')
    case 'date':
      return /^\d{4}-\d\d-\d\d/.test(String(value)) ? String(value).slice(0, 10) : wrong('date')
    case 'time':
      return timeOfDay(String(value)) ?? wrong('time')
    case 'datetime':
      return milliseconds(value) ?? wrong('date and time')
    case 'json':
      return typeof value === 'object' ? JSON.stringify(value) : typeof value === 'boolean' ? Number(value) : (value as string | number)
    default:
      return assertNever(family)
  }
}

/** `17:45` → `17:45:00.000`. */
function timeOfDay(text: string): string | null {
  const [, minutes, seconds = ':00', fraction = ''] = /^(\d\d:\d\d)(:\d\d)?(?:\.(\d{1,3}))?$/.exec(text) ?? []
  return minutes === undefined ? null : `${minutes}${seconds}.${fraction.padEnd(3, '0')}`
}

/** Returns milliseconds since 1970 from ISO text or a number (the format of `timestamp`); null for other values. */
export function milliseconds(value: unknown): number | null {
  const time = /^-?\d+$/.test(String(value)) ? Number(value) : Date.parse(String(value))
  return Number.isFinite(time) ? time : null
}
