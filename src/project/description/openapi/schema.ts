// JSON Schemas of a description, with a registry of referenced ones. Unreferenced schemas are omitted.
import type { JsonSchema, StandardSchema } from '../../../foundation/public/routes.js'
import { fileType } from '../../../model/schema/link.js'
import type { Scalar } from '../../../model/schema/types.js'
import { attributeTypes } from '../../../model/types/attribute-types.js'
import { uidSource } from '../../../model/types/text.js'
import type { DescribedShape, View } from '../view.js'

/** A JSON Schema (2020-12), or another object of an OpenAPI description. */
export type DescriptionObject = Readonly<Record<string, unknown>>

/** Kinds of objects that operations reference by name. */
type ComponentKind = 'schemas' | 'parameters' | 'responses'

export interface Components {
  /** Returns a reference to a component, which is created on first use. It may reference itself. */
  ref(kind: ComponentKind, name: string, make: () => DescriptionObject): DescriptionObject
  /** True if the referenced component exists. */
  has(reference: string): boolean
  /** Components that a value references, directly or indirectly, sorted by kind and name. */
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
          // A reference may point into a component.
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

/** The references in a value, recursively. */
function referencesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  const found: string[] = []
  for (const [key, inner] of Object.entries(value)) {
    if (key === '$ref' && typeof inner === 'string') found.push(inner)
    else found.push(...referencesIn(inner))
  }
  return found
}

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

/** A nullable schema. */
export function orNull(schema: DescriptionObject): DescriptionObject {
  const { type, enum: choices } = schema
  if (typeof type !== 'string') return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: 'null' }] }
  return { ...schema, type: [type, 'null'], ...(Array.isArray(choices) ? { enum: [...choices, null] } : {}) }
}

/** Side of a schema: accepted or returned value. */
type SchemaSide = 'input' | 'output'

export interface DescribedValue {
  /** The schema, or a reference to it if it references parts of itself. */
  readonly schema: DescriptionObject
  /** The schema itself. */
  readonly whole: DescriptionObject
}

/**
 * Describes a value. A schema that references parts of itself becomes the component `name`, because references in a document are relative
 * to its root. A schema without a JSON Schema describes any value; `$comment` contains the reason.
 */
export function describedValue(components: Components, name: string, given: JsonSchema | StandardSchema, side: SchemaSide): DescribedValue {
  const plain = plainSchema(given, side)
  const references = referencesIn(plain)
  const missing = references.find((reference) => !isKnown(components, plain, reference))
  if (missing !== undefined) return inPlace(undescribed(`there is no ${missing}`))
  if (!references.some(isOwn)) return inPlace(plain)
  const free = freeName(components, name)
  const whole = rebased(plain, baseOf(free)) as DescriptionObject
  return { schema: components.ref('schemas', free, () => whole), whole }
}

const baseOf = (name: string): string => `#/components/schemas/${name}`

/** The name, with a number if another route has it. */
function freeName(components: Components, name: string): string {
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name}-${number}`
    if (!components.has(baseOf(free))) return free
  }
}

const inPlace = (schema: DescriptionObject): DescribedValue => ({ schema, whole: schema })
const undescribed = (reason: string): DescriptionObject => ({ $comment: `Not described: ${reason}` })

/** The dialect of OpenAPI 3.1. */
const target = 'draft-2020-12'

/** Options by library: if one type has no JSON Schema, the rest is described. */
const libraryOptions: Readonly<Record<string, Readonly<Record<string, unknown>>>> = { zod: { unrepresentable: 'any' } }

/** Converts a schema to plain data. */
function plainSchema(given: JsonSchema | StandardSchema, side: SchemaSide): DescriptionObject {
  try {
    // Converted schemas may contain functions and values of the library.
    const { $schema: _dialect, $id: _id, ...schema } = JSON.parse(JSON.stringify(converted(given, side))) as JsonSchema
    return schema
  } catch (error) {
    return undescribed((error as Error).message)
  }
}

function converted(given: JsonSchema | StandardSchema, side: SchemaSide): JsonSchema {
  if (!isStandard(given)) return given
  const { jsonSchema, vendor } = given['~standard']
  if (jsonSchema !== undefined) return jsonSchema[side]({ target, libraryOptions: libraryOptions[vendor] })
  const { toJSONSchema } = given as { toJSONSchema?: unknown }
  if (typeof toJSONSchema === 'function') return toJSONSchema.call(given, { target, io: side }) as JsonSchema
  throw new Error(`this schema of ${vendor} cannot be converted to JSON Schema`)
}

const isStandard = (given: JsonSchema | StandardSchema): given is StandardSchema => '~standard' in given

const componentsBase = '#/components/'
/** True for a reference to another part of the same schema. */
const isOwn = (reference: string): boolean => reference.startsWith('#') && !reference.startsWith(componentsBase)

/** True if a reference is resolvable. References to other documents are left to readers. */
function isKnown(components: Components, schema: DescriptionObject, reference: string): boolean {
  if (reference.startsWith(componentsBase)) return components.has(reference)
  if (!reference.startsWith('#')) return true
  const steps = reference.slice(1).split('/').slice(1)
  return steps.reduce<unknown>((at, step) => (at as JsonSchema | undefined)?.[nameOf(step)], schema) !== undefined
}

/** Decodes a step of a JSON pointer. */
const nameOf = (step: string): string => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')

/** Moves a schema: its references to itself get the prefix `base`. */
function rebased(value: unknown, base: string): unknown {
  if (Array.isArray(value)) return value.map((inner) => rebased(inner, base))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string' && isOwn(inner) ? base + inner.slice(1) : rebased(inner, base),
    ]),
  )
}

function base({ contract }: View, components: Components, attribute: Scalar): DescriptionObject {
  const { type } = attribute
  if (type === 'blocks') return components.ref('schemas', 'blocks-content', blocksSchema)
  const { schema, choices } = attributeTypes[type]
  const permitted = choices?.(attribute) ?? []
  if (permitted.length > 0) return { type: 'string', enum: [...new Set(permitted)] }
  // The other contract returns milliseconds as text.
  return type === 'timestamp' && contract.timestampsAsMilliseconds ? { type: 'string' } : schema.response
}

/** The schema of a value in responses, without null. */
export function responseScalar(view: View, components: Components, shape: DescribedShape, attribute: Scalar): DescriptionObject {
  if (shape.uid === fileType && attribute.name === 'formats')
    return components.ref('schemas', 'file-formats', () => fileFormats(components))
  return base(view, components, attribute)
}

/** The schema of a value in the data of a write, without null. */
export function inputScalar(view: View, components: Components, attribute: Scalar): DescriptionObject {
  const { source, type } = attribute
  const plain = attributeTypes[type].schema.input ?? base(view, components, attribute)
  const { minLength, maxLength, min, max, default: fallback } = source
  const isNumber = plain.type === 'number' || plain.type === 'integer'
  const pattern = type === 'uid' ? (source.regex ?? uidSource) : source.regex
  return {
    ...plain,
    ...(plain.type === 'string' && {
      ...(isCount(minLength) && { minLength }),
      ...(isCount(maxLength) && { maxLength }),
      ...(isPattern(pattern) && { pattern }),
    }),
    ...(isNumber && { ...(typeof min === 'number' && { minimum: min }), ...(typeof max === 'number' && { maximum: max }) }),
    ...(fallback !== undefined && type !== 'password' && { default: fallback }),
    ...((source.unique === true || type === 'uid') && { description: 'Unique.' }),
  }
}

/** True for a positive integer, which is a valid length or number of entries. */
export const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value > 0

/** True for expressions that are valid in JSON Schema, which is stricter than JavaScript. */
function isPattern(source: unknown): source is string {
  if (typeof source !== 'string') return false
  try {
    new RegExp(source, 'u')
    return true
  } catch {
    return false
  }
}

/** Nodes may have additional members from the editor. */
const blocksSchema = (): DescriptionObject => ({
  examples: [[{ type: 'paragraph', children: [{ type: 'text', text: 'Text' }] }]],
  ...list(
    object(
      {
        type: { type: 'string', enum: ['paragraph', 'heading', 'quote', 'code', 'list', 'image'] },
        children: list(object({ type: text }, [], { additionalProperties: true })),
        level: { type: 'integer', minimum: 1, maximum: 6 },
        format: { type: 'string', enum: ['ordered', 'unordered'] },
        image: { type: 'object' },
      },
      ['type', 'children'],
      { description: 'A block of rich text.', additionalProperties: true },
    ),
  ),
})

const fileFormats = (components: Components): DescriptionObject => {
  const format = components.ref('schemas', 'file-format', () =>
    object(
      {
        name: text,
        hash: text,
        ext: text,
        mime: text,
        url: text,
        path: { type: ['string', 'null'] },
        width: integer,
        height: integer,
        size: { type: 'number', description: 'Kilobytes.' },
        sizeInBytes: integer,
      },
      ['hash', 'ext', 'mime', 'width', 'height', 'size', 'url'],
    ),
  )
  return { type: 'object', description: 'Smaller versions of an image, by name.', additionalProperties: format }
}
