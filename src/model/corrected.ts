// Corrects the mistakes in a schema with which Strapi starts, as Strapi takes them, so that a project which Strapi serves can be served.
import type { AttributeSource, SchemaSource } from './types.js'

type Sources = ReadonlyMap<string, SchemaSource>

/** A schema with everything that it says. */
export type Unchecked = Readonly<Record<keyof SchemaSource, unknown>>

/**
 * Returns a schema without what Strapi passes over: relations whose other side does not exist or leads elsewhere, zone entries without
 * component, and values of a wrong form. The checks report each of them.
 */
export function corrected(schema: SchemaSource, sources: Sources): SchemaSource {
  const { options, pluginOptions } = schema as Unchecked
  const attributes = Object.entries(schema.attributes)
    .filter(([, source]) => hasOtherSide(schema, source, sources))
    .map(([name, source]) => [name, withForms(withComponents(withInverse(schema, source, sources), sources))])
  return {
    ...schema,
    kind: schema.kind === 'component' || schema.kind === 'singleType' ? schema.kind : 'collectionType',
    options: withPrivateNames(isObject(options) ? options : {}),
    pluginOptions: isObject(pluginOptions) ? pluginOptions : {},
    attributes: Object.fromEntries(attributes),
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function withPrivateNames({ privateAttributes, ...options }: Readonly<Record<string, unknown>>): NonNullable<SchemaSource['options']> {
  return Array.isArray(privateAttributes) ? { ...options, privateAttributes: privateAttributes.map(String) } : options
}

/** False for a relation to a component, and for one whose links belong to an attribute that does not lead back. */
function hasOtherSide(schema: SchemaSource, { type, target, mappedBy, morphBy }: AttributeSource, sources: Sources): boolean {
  if (type !== 'relation' || typeof target !== 'string') return true
  const there = sources.get(target)
  if (there?.kind === 'component') return false
  if (there === undefined) return true
  if (typeof morphBy === 'string') return String(there.attributes[morphBy]?.relation).startsWith('morphTo')
  return typeof mappedBy !== 'string' || leadsBack(there.attributes[mappedBy], schema)
}

const leadsBack = (other: AttributeSource | undefined, { uid }: SchemaSource): boolean => other?.type === 'relation' && other.target === uid

/** An owning side whose counterpart leads elsewhere has none. */
function withInverse(schema: SchemaSource, source: AttributeSource, sources: Sources): AttributeSource {
  const { target, inversedBy, ...others } = source
  if (typeof inversedBy !== 'string' || leadsBack(sources.get(String(target))?.attributes[inversedBy], schema)) return source
  return { ...others, target }
}

function withComponents(source: AttributeSource, sources: Sources): AttributeSource {
  if (source.type !== 'dynamiczone') return source
  const { components } = source
  return {
    ...source,
    components: Array.isArray(components) ? components.filter((uid) => sources.get(String(uid))?.kind === 'component') : [],
  }
}

/** Strapi takes any value for true here, and digits for numbers. */
function withForms(source: AttributeSource): AttributeSource {
  const { required, repeatable, min, max } = source
  const isDigits = (value: unknown): value is string => typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value)
  return {
    ...source,
    ...(required === undefined ? {} : { required: Boolean(required) }),
    ...(repeatable === undefined ? {} : { repeatable: Boolean(repeatable) }),
    ...(isDigits(min) && source.type !== 'biginteger' ? { min: Number(min) } : {}),
    ...(isDigits(max) && source.type !== 'biginteger' ? { max: Number(max) } : {}),
  }
}
