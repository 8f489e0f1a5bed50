// Undeclared renames: something was removed, and the only addition has the same definition, or for an attribute at least the same type.
import { isDeepStrictEqual } from 'node:util'
import type { AttributeSource, Model, Schema } from '../schema/types.js'
import { getSchema } from './comparison.js'
import type { ModelChange, Rename } from './types.js'

/** Returns renames that would keep content. Ambiguous cases have none. */
export function possibleRenames(changes: readonly ModelChange[], from: Model, to: Model): readonly Rename[] {
  return [...renamedSchemas(changes, from, to), ...renamedAttributes(changes, from, to)]
}

function renamedSchemas(changes: readonly ModelChange[], from: Model, to: Model): readonly Rename[] {
  const uids = (kind: 'schemaRemoved' | 'schemaCreated') => changes.flatMap((change) => (change.kind === kind ? [change.schema] : []))
  const pairs = onlyPairs(uids('schemaRemoved'), uids('schemaCreated'), (removed, created) => {
    const [former, next] = [getSchema(from, removed), getSchema(to, created)]
    return former !== undefined && next !== undefined && isAlike(former, next)
  })
  return pairs.map(([removed, created]) => ({ kind: from.components.has(removed) ? 'component' : 'type', from: removed, to: created }))
}

const isAlike = (one: Schema, other: Schema): boolean =>
  'singularName' in one === 'singularName' in other && isDeepStrictEqual(one.source.attributes, other.source.attributes)

/** An attribute that went or came, with its definition. */
interface Defined {
  readonly schema: string
  readonly attribute: string
  readonly source: AttributeSource
}

function renamedAttributes(changes: readonly ModelChange[], from: Model, to: Model): readonly Rename[] {
  const defined = (kind: 'attributeRemoved' | 'attributeCreated', model: Model): readonly Defined[] =>
    changes.flatMap((change) => {
      if (change.kind !== kind) return []
      const { schema, attribute } = change
      const source = getSchema(model, schema)?.attributes.get(attribute)?.source
      return source === undefined ? [] : [{ schema, attribute, source }]
    })
  const [removed, created] = [defined('attributeRemoved', from), defined('attributeCreated', to)]
  const same = onlyPairs(removed, created, (one, other) => one.schema === other.schema && isDeepStrictEqual(one.source, other.source))
  const isPaired = (one: Defined): boolean => same.some((pair) => pair.includes(one))
  const left = (all: readonly Defined[]): readonly Defined[] => all.filter((one) => !isPaired(one))
  const alike = onlyPairs(
    left(removed),
    left(created),
    (one, other) => one.schema === other.schema && isDeepStrictEqual(kindOf(one.source), kindOf(other.source)),
  )
  return [...same, ...alike].map(([one, other]) => ({ kind: 'attribute', schema: one.schema, from: one.attribute, to: other.attribute }))
}

/** Options such as `required` may change with a rename. */
const kindOf = (source: AttributeSource): readonly unknown[] => [
  ...[source.type, source.customField, source.relation, source.target, source.component, source.components],
  ...[source.repeatable ?? false, source.multiple ?? false, source.mappedBy !== undefined],
]

/** The pairs of what matches nothing else. */
function onlyPairs<Thing>(
  gone: readonly Thing[],
  come: readonly Thing[],
  matches: (gone: Thing, come: Thing) => boolean,
): readonly (readonly [Thing, Thing])[] {
  return gone.flatMap((one) => {
    const others = come.filter((other) => matches(one, other))
    const [only] = others
    return others.length === 1 && gone.filter((other) => matches(other, only!)).length === 1 ? [[one, only!] as const] : []
  })
}
