// Which values an enumeration may have, in a schema file and in a request that changes the model.
import slugify from '@sindresorhus/slugify'
import { shown } from './finding.js'

/** What is wrong with the values of an enumeration. */
export interface ValueFault {
  /** `unstartable`: this service serves them, and Strapi does not start with them. */
  readonly kind: 'wrong' | 'unstartable'
  /** The end of a sentence about them. */
  readonly message: string
}

/** The name that Strapi makes of a value for GraphQL, also in a project without it. */
const strapiName = (value: string): string => slugify(value, { separator: '_', lowercase: false, decamelize: false })

/** The first fault of the values of an enumeration; null: they have none. */
export function faultOfValues(values: readonly string[]): ValueFault | null {
  const seen = new Set<string>()
  const twice = values.find((value) => seen.size === seen.add(value).size)
  if (twice !== undefined) return { kind: 'wrong', message: `has ${shown(twice)} twice` }
  const blank = values.find((value) => value.trim() === '')
  if (blank !== undefined) return { kind: 'wrong', message: `has ${shown(blank)}, an empty value` }
  const message = faultInStrapi(values)
  return message === null ? null : { kind: 'unstartable', message }
}

function faultInStrapi(values: readonly string[]): string | null {
  const byName = new Map<string, string>()
  for (const value of values) {
    const name = strapiName(value)
    const former = byName.get(name)
    if (name === '')
      return `has ${shown(value)}. Strapi does not start with it: of each value it makes a name of Latin letters and digits, and nothing is left of this one`
    if (/^\d/.test(name))
      return `has ${shown(value)}. Strapi does not start with it: the name that it makes of each value must begin with a Latin letter`
    if (former !== undefined)
      return `has ${shown(former)} and ${shown(value)}. Strapi does not start with both: it makes the name ${shown(name)} of each`
    byName.set(name, value)
  }
  return null
}
