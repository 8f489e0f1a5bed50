// An example of the data of a write, to begin with.
import type { ApiDescription, SchemaObject } from './description.js'

/** Members beyond this are left out of an example. */
const mostMembers = 8

/** A value that fits a schema; `depth`: the levels that are filled in. */
export function exampleOf(description: ApiDescription, given: SchemaObject, depth = 3): unknown {
  const schema = description.resolve(given)
  if (schema.default !== undefined) return schema.default
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const [first] = (schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []) as readonly SchemaObject[]
  if (first !== undefined) return exampleOf(description, first, depth)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'object') return depth === 0 ? {} : objectExample(description, schema, depth - 1)
  if (type === 'array') return []
  if (type === 'integer' || type === 'number') return typeof schema.minimum === 'number' ? schema.minimum : 1
  if (type === 'boolean') return true
  if (type === 'string') return texts[String(schema.format)] ?? ''
  return null
}

const texts: Readonly<Record<string, string>> = {
  date: '2025-01-31',
  'date-time': '2025-01-31T12:00:00.000Z',
  email: 'name@example.org',
}

/** What is needed, and some of the rest: plain values come before relations and components. */
function objectExample(
  description: ApiDescription,
  { properties = {}, required, description: says }: SchemaObject,
  depth: number,
): unknown {
  const needed = new Set([...(Array.isArray(required) ? required : []), ...(/: (.+)\.$/.exec(String(says ?? ''))?.[1]?.split(', ') ?? [])])
  const entries = Object.entries(properties as Record<string, SchemaObject>).filter(([name]) => name !== 'id')
  const plain = entries.filter(([name, schema]) => needed.has(name) || description.resolve(schema).type !== undefined)
  const chosen = plain.sort(([a], [b]) => Number(needed.has(b)) - Number(needed.has(a))).slice(0, Math.max(mostMembers, needed.size))
  return Object.fromEntries(chosen.map(([name, schema]) => [name, exampleOf(description, schema, depth)]))
}
