// An example of the data of a write, to begin with: what the service takes as it is.
import type { ApiDescription, SchemaObject } from './description.js'

/** Members beyond this are left out of an example, unless they are needed. */
const maxMembers = 8

/** A valid value for a schema; `depth`: levels with more than the required properties. */
export function createExample(description: ApiDescription, given: SchemaObject, name = 'text', depth = 3): unknown {
  const schema = description.resolve(given)
  const { default: fallback, const: only, enum: choices, examples, minimum, maximum } = schema
  if (fallback !== undefined) return fallback
  if (only !== undefined) return only
  if (Array.isArray(choices)) return choices[0]
  if (Array.isArray(examples)) return examples[0]
  if (Array.isArray(schema.allOf)) return Object.assign({}, ...schema.allOf.map((one) => createExample(description, one, name, depth)))
  const [first] = (schema.anyOf ?? schema.oneOf ?? []) as readonly SchemaObject[]
  if (first !== undefined) return createExample(description, first, name, depth)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'object') return objectExample(description, schema, depth - 1)
  if (type === 'array') return listExample(description, schema, name, depth - 1)
  if (type === 'integer' || type === 'number') return numberExample(minimum, maximum, isUnique(schema))
  if (type === 'boolean') return true
  if (type === 'string') return textExample(schema, name)
  return type === undefined ? {} : null
}

const isNumber = (value: unknown): value is number => typeof value === 'number'

const isUnique = ({ description }: SchemaObject): boolean => description === 'Unique.'

function numberExample(minimum: unknown, maximum: unknown, unique: boolean): number {
  if (unique) {
    const least = isNumber(minimum) ? Math.ceil(minimum) : 1
    const most = isNumber(maximum) ? Math.floor(maximum) : 1_000_000
    return least + Math.floor(Math.random() * Math.max(1, Math.min(most - least + 1, 1_000_000)))
  }
  if (isNumber(minimum)) return isNumber(maximum) && maximum < Math.ceil(minimum) ? minimum : Math.ceil(minimum)
  return isNumber(maximum) && maximum < 1 ? Math.floor(maximum) : 1
}

/** The minimum number of entries, or one if its required properties are sufficient. */
function listExample(description: ApiDescription, { items = {}, minItems = 0, maxItems }: SchemaObject, name: string, depth: number) {
  const length = Math.min(Math.max(Number(minItems), 1), isNumber(maxItems) ? maxItems : 1_000)
  return Array.from({ length }, () => createExample(description, items as SchemaObject, name, depth))
}

const forms: Readonly<Record<string, string>> = {
  date: '2025-01-31',
  'date-time': '2025-01-31T12:00:00.000Z',
  email: 'name@example.org',
}

/** Candidates for regular expressions. */
const likely: readonly string[] = [
  ...['example', 'Example', 'EXAMPLE', 'https://example.org', 'example.org', 'name@example.org', '/example', '#1a2b3c', 'en', 'EN'],
  ...['12:00:00', '2025-01-31', '+49 30 1234567', '+49301234567', '1.0', '1.0.0', 'A1', 'a-1', 'A-1', 'AB-123', 'ABC-1234', '12345-678'],
  ...Array.from({ length: 20 }, (_, index) => '12345678901234567890'.slice(0, index + 1)),
  ...Array.from({ length: 20 }, (_, index) => 'ABCDEFGHIJKLMNOPQRST'.slice(0, index + 1)),
]

/** A text with the form, the expression and the length that a schema asks for. */
function textExample(schema: SchemaObject, name: string): string {
  const { format, pattern, minLength = 0, maxLength = 1_000_000 } = schema
  const tail = isUnique(schema) ? Math.random().toString(36).slice(2, 8) : ''
  const form = forms[String(format)]
  if (form !== undefined) return tail === '' ? form : form.replace('@', `-${tail}@`)
  const least = Number(minLength)
  const most = Number(maxLength)
  const words = `Example ${name.replaceAll(/[_-]|(?<=[a-z\d])(?=[A-Z])/g, ' ').toLowerCase()}`
  const plain = withTail(words.padEnd(least, `, ${words.toLowerCase()}`), tail && ` ${tail}`, most)
  if (typeof pattern !== 'string') return plain
  const expression = new RegExp(pattern, 'u')
  const whole = withTail('example'.padEnd(least, '-example'), tail && `-${tail}`, most)
  return [plain, whole, ...likely].find((text) => text.length >= least && text.length <= most && expression.test(text)) ?? plain
}

/** A text with another one at its end, and not longer than `most`. */
const withTail = (text: string, tail: string, most: number): string =>
  `${text.slice(0, Math.max(0, most - tail.length))}${tail}`.slice(-most)

/** Required properties and optional plain values. Lists, relations and components are left out unless they are required. */
function objectExample(
  description: ApiDescription,
  { properties = {}, required, description: says }: SchemaObject,
  depth: number,
): Readonly<Record<string, unknown>> {
  const needed = new Set([...(Array.isArray(required) ? required : []), ...(/: (.+)\.$/.exec(String(says ?? ''))?.[1]?.split(', ') ?? [])])
  const entries = Object.entries(properties as Record<string, SchemaObject>).filter(([name]) => name !== 'id' || needed.has(name))
  const most = depth < 0 ? 0 : maxMembers
  const chosen = entries
    .filter(([name, schema]) => needed.has(name) || isPlain(description.resolve(schema)))
    .sort(([a], [b]) => Number(needed.has(b)) - Number(needed.has(a)))
    .slice(0, Math.max(most, needed.size))
  return Object.fromEntries(chosen.map(([name, schema]) => [name, createExample(description, schema, name, depth)]))
}

function isPlain({ type, pattern, default: fallback }: SchemaObject): boolean {
  const [first] = Array.isArray(type) ? type : [type]
  return first !== undefined && first !== 'array' && (pattern === undefined || fallback !== undefined)
}
