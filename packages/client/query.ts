// Query strings in the form that the API reads: `filters[title][$eq]=x&populate[0]=author`.

/** More parameters than this are dropped by the service, conditions included. */
const mostParameters = 1000

/** Lists that mean nothing when they are empty; an empty list of values holds for no document. */
const meaningless = /^(?:populate|sort|\$and|\$or|\$not)$/

const encode = (text: string): string => encodeURIComponent(text).replaceAll('%24', '$')

/**
 * Writes parameters as a query string without the question mark. `undefined` is left out, null has no value, dates become ISO 8601.
 * @throws RangeError for more than 1000 parameters
 */
export function stringifyQuery(parameters: object): string {
  const pairs: string[] = []
  const add = (name: string, key: string, value: unknown): void => {
    if (value === undefined) return
    if (value === null) pairs.push(name)
    else if (value instanceof Date) pairs.push(`${name}=${encode(value.toISOString())}`)
    else if (typeof value !== 'object') pairs.push(`${name}=${encode(String(value))}`)
    else if (Array.isArray(value) && value.length === 0) pairs.push(...(meaningless.test(key) ? [] : [`${name}[]`]))
    else for (const [inner, one] of Object.entries(value)) add(`${name}[${encode(inner)}]`, inner, one)
  }
  for (const [key, value] of Object.entries(parameters)) add(encode(key), key, value)
  if (pairs.length > mostParameters) throw new RangeError(`A query has at most ${mostParameters} parameters, not ${pairs.length}`)
  return pairs.join('&')
}
