// JSON Schemas of a description, and the collection of those that others refer to. Only what is referred to is part of it.

/** A JSON Schema (2020-12), or another object of an OpenAPI description. */
export type DescriptionObject = Readonly<Record<string, unknown>>

/** The kinds of objects that operations refer to by name. */
export type ComponentKind = 'schemas' | 'parameters' | 'responses'

/** Collects the components of one description. */
export interface Components {
  /** Returns a reference to a component, which is made if it is not there yet. It may refer to itself. */
  ref(kind: ComponentKind, name: string, make: () => DescriptionObject): DescriptionObject
  /** True if there is a component at a reference. */
  has(reference: string): boolean
  /** The components that a value refers to, directly or through others, by kind and name in alphabetical order. */
  usedBy(value: unknown): Readonly<Record<string, Readonly<Record<string, DescriptionObject>>>>
}

export function openComponents(): Components {
  const made = new Map<string, DescriptionObject>()
  return {
    ref(kind, name, make) {
      const path = `#/components/${kind}/${name}`
      if (!made.has(path)) {
        made.set(path, {})
        made.set(path, make())
      }
      return { $ref: path }
    },
    has: (reference) => made.has(reference),
    usedBy(value) {
      const used = new Set<string>()
      const waiting: unknown[] = [value]
      while (waiting.length > 0) {
        for (const reference of referencesIn(waiting.pop())) {
          // A reference may lead into a component.
          const path = reference.split('/', 4).join('/')
          if (used.has(path)) continue
          used.add(path)
          waiting.push(made.get(path))
        }
      }
      const found: Record<string, Record<string, DescriptionObject>> = {}
      for (const path of [...used].sort()) {
        const [kind, name] = path.split('/').slice(2) as [string, string]
        found[kind] ??= {}
        found[kind][name] = made.get(path)!
      }
      return found
    },
  }
}

/** The references in a value, at every depth. */
function referencesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  const found: string[] = []
  for (const [key, inner] of Object.entries(value)) {
    if (key === '$ref' && typeof inner === 'string') found.push(inner)
    else found.push(...referencesIn(inner))
  }
  return found
}

/** An object with these properties. */
export const object = (
  properties: Readonly<Record<string, DescriptionObject>>,
  required: readonly string[] = [],
  more: DescriptionObject = {},
): DescriptionObject => ({
  type: 'object',
  ...(required.length === 0 ? {} : { required }),
  properties,
  ...more,
})

export const list = (items: DescriptionObject): DescriptionObject => ({ type: 'array', items })
export const text: DescriptionObject = { type: 'string' }
export const integer: DescriptionObject = { type: 'integer' }
export const yesOrNo: DescriptionObject = { type: 'boolean' }

/** The schema of a value that may also be null. */
export function orNull(schema: DescriptionObject): DescriptionObject {
  const { type, enum: choices } = schema
  if (typeof type !== 'string') return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: 'null' }] }
  return { ...schema, type: [type, 'null'], ...(Array.isArray(choices) ? { enum: [...choices, null] } : {}) }
}
