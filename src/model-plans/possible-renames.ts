// What looks like a rename that nobody has declared: something went, and the only thing that came has the same definition.
import { isDeepStrictEqual } from 'node:util'
import type { Model, Schema } from '../model/types.js'
import { schemaOf } from './pairs.js'
import type { ModelChange, Rename } from './types.js'

/** Returns the renames that would keep the content of what goes. Where several things could be meant, there is none. */
export function possibleRenames(changes: readonly ModelChange[], from: Model, to: Model): readonly Rename[] {
  return [...renamedSchemas(changes, from, to), ...renamedAttributes(changes, from, to)]
}

function renamedSchemas(changes: readonly ModelChange[], from: Model, to: Model): readonly Rename[] {
  const uids = (kind: 'schemaRemoved' | 'schemaCreated') => changes.flatMap((change) => (change.kind === kind ? [change.schema] : []))
  const pairs = onlyPairs(uids('schemaRemoved'), uids('schemaCreated'), (removed, created) => {
    const [former, next] = [schemaOf(from, removed), schemaOf(to, created)]
    return former !== undefined && next !== undefined && isAlike(former, next)
  })
  return pairs.map(([removed, created]) => ({ kind: from.components.has(removed) ? 'component' : 'type', from: removed, to: created }))
}

const isAlike = (one: Schema, other: Schema): boolean =>
  'singularName' in one === 'singularName' in other && isDeepStrictEqual(one.source.attributes, other.source.attributes)

function renamedAttributes(changes: readonly ModelChange[], from: Model, to: Model): readonly Rename[] {
  const named = (kind: 'attributeRemoved' | 'attributeCreated') =>
    changes.flatMap((change) => (change.kind === kind ? [{ schema: change.schema, attribute: change.attribute }] : []))
  const definition = (model: Model, { schema, attribute }: { readonly schema: string; readonly attribute: string }) =>
    schemaOf(model, schema)?.attributes.get(attribute)?.source
  return onlyPairs(
    named('attributeRemoved'),
    named('attributeCreated'),
    (removed, created) => removed.schema === created.schema && isDeepStrictEqual(definition(from, removed), definition(to, created)),
  ).map(([removed, created]) => ({ kind: 'attribute', schema: removed.schema, from: removed.attribute, to: created.attribute }))
}

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
