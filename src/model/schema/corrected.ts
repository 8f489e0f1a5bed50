// Corrects the mistakes in a schema with which Strapi starts, as Strapi takes them, so that a project which Strapi serves can be served.
import type { AttributeSource, SchemaSource } from './types.js'

type Sources = ReadonlyMap<string, SchemaSource>

/** A schema with everything that it says. */
export type Unchecked = Readonly<Record<keyof SchemaSource, unknown>>

/**
 * Returns a schema without what Strapi passes over: relations to components, zone entries without
 * component, and values of a wrong form. The checks report each of them.
 */
export function corrected(schema: SchemaSource, sources: Sources): SchemaSource {
  const { options, pluginOptions } = schema as Unchecked
  const attributes = Object.entries(schema.attributes)
    .filter(([, source]) => hasOtherSide(source, sources))
    .map(([name, source]) => [name, withForms(withComponents(source, sources))])
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

/** False for a relation to a component, and for one that is morphed by no polymorphic relation. */
function hasOtherSide({ type, target, morphBy }: AttributeSource, sources: Sources): boolean {
  if (type !== 'relation' || typeof target !== 'string') return true
  const there = sources.get(target)
  if (there?.kind === 'component') return false
  if (there === undefined) return true
  return typeof morphBy !== 'string' || String(there.attributes[morphBy]?.relation).startsWith('morphTo')
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
