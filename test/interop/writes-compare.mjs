// Compares the responses of two servers: generated row ids, documentIds and times are replaced by symbols.

const times = new Set(['createdAt', 'updatedAt', 'publishedAt'])

/** A response with generated values replaced by symbols. `names`: its documentIds to symbols. */
export function normal(value, names, key = '') {
  if (Array.isArray(value)) return value.map((one) => normal(one, names))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => name !== 'id')
        .map(([name, inner]) => [name, normal(inner, names, name)]),
    )
  }
  if (times.has(key) && typeof value === 'string') return 'time'
  if (typeof value !== 'string') return value
  let text = value
  for (const [id, symbol] of names) if (text.includes(id)) text = text.replaceAll(id, symbol)
  if (key === 'message')
    text = text
      .replace(/(relation with id |"(?:before|after)":|relation with id )\d+/g, '$1#')
      .replace(/("id": )"\d+"/g, '$1#')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
  return text
}

/** The path and the two values of the first difference, or null. The order of keys is free. */
export function firstDifference(one, other, path = '') {
  if (
    typeof one === 'object' &&
    typeof other === 'object' &&
    one !== null &&
    other !== null &&
    Array.isArray(one) === Array.isArray(other)
  ) {
    for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
      const found = firstDifference(one[key], other[key], `${path}.${key}`)
      if (found !== null) return found
    }
    return null
  }
  return one === other ? null : { path: path.slice(1), strapi: one, octavo: other }
}
