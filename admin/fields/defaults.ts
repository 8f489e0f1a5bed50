// Values that new documents and new entries begin with.
import type { Entry, FormAttributes } from '../form/values.js'

/** The defaults of a schema. Entries of required components begin with theirs when they are added. */
export function defaultsOf(attributes: FormAttributes): Entry {
  const named = Object.entries(attributes).filter(([, attribute]) => attribute.default !== undefined && attribute.default !== null)
  return Object.fromEntries(named.map(([name, attribute]) => [name, attribute.default]))
}
