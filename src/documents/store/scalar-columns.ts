// The scalars of an input as columns; passwords are hashed on the way.

import type { Stored } from '../../database/stored.js'
import type { Input } from '../input/input.js'

/** Columns and values of what was given. */
export async function scalarColumns(input: Input, hashPassword: (password: string) => Promise<string>): Promise<Record<string, Stored>> {
  const columns: Record<string, Stored> = {}
  for (const [scalar, value] of input.scalars) {
    columns[scalar.column] = scalar.type === 'password' && typeof value === 'string' ? await hashPassword(value) : value
  }
  return columns
}
