// The JSON Schema of what a project describes a value with: JSON Schema itself, or a schema of a library that can be converted to it.
import type { JsonSchema, StandardSchema } from '../../../foundation/public/standard-schema.js'
import type { Components, DescriptionObject } from './schema.js'

/** What is described: the value that a schema takes, or the one that it returns. */
export type SchemaSide = 'input' | 'output'

/** A described value. */
export interface DescribedValue {
  /** The schema, or a reference to it where it refers to parts of itself. */
  readonly schema: DescriptionObject
  /** The schema itself. */
  readonly whole: DescriptionObject
}

/**
 * Describes a value. A schema that refers to parts of itself becomes the component `name`, because references in a document begin at its root.
 * A schema that has no JSON Schema describes any value; `$comment` has the reason.
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

/** The name, or one with a number where another route has it. */
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

/** What a library is told besides, by its name: to describe the rest of a schema in which one type has no JSON Schema. */
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

/** True for a schema of a library. */
const isStandard = (given: JsonSchema | StandardSchema): given is StandardSchema => '~standard' in given

/** The references in a schema, at every depth. */
function referencesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => (key === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner)))
}

const componentsBase = '#/components/'
/** True for a reference to a part of the schema that it is in. */
const isOwn = (reference: string): boolean => reference.startsWith('#') && !reference.startsWith(componentsBase)

/** True if a reference leads somewhere. Those to other documents are left to readers. */
function isKnown(components: Components, schema: DescriptionObject, reference: string): boolean {
  if (reference.startsWith(componentsBase)) return components.has(reference)
  if (!reference.startsWith('#')) return true
  const steps = reference.slice(1).split('/').slice(1)
  return steps.reduce<unknown>((at, step) => (at as JsonSchema | undefined)?.[nameOf(step)], schema) !== undefined
}

/** A step of a JSON pointer. */
const nameOf = (step: string): string => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')

/** The same schema at another place: its references to itself begin at `base`. */
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
