// Differences between two versions of a document, by attribute.

import { getComponentEntries } from '../../content/documents/guard/missing-targets.js'
import type { Body } from '../../content/documents/input/types.js'
import type { Attribute, Model, Schema } from '../../model/schema/types.js'
import { toEntries } from './link-targets.js'

/** Attributes that differ between all versions, or are written by the service. */
export const systemAttributes: ReadonlySet<string> = new Set([
  'id',
  'documentId',
  'locale',
  'localizations',
  'createdAt',
  'updatedAt',
  'publishedAt',
  'createdBy',
  'updatedBy',
])

/**
 * Names of attributes with another value in another version. Ids of component entries do not count; nor do links to unpublished
 * documents, which no published version shows.
 */
export const changedAttributes = (model: Model, shape: Schema, one: Body, other: Body): readonly string[] =>
  [...shape.attributes.values()]
    .filter(({ name }) => !systemAttributes.has(name) && (Object.hasOwn(one, name) || Object.hasOwn(other, name)))
    .filter((attribute) => toComparable(model, attribute, one) !== toComparable(model, attribute, other))
    .map(({ name }) => name)

/** The value of an attribute as a text that is equal for equal values. */
function toComparable(model: Model, attribute: Attribute, entry: Body): string {
  const value = entry[attribute.name]
  switch (attribute.kind) {
    case 'scalar':
      return JSON.stringify(value ?? null)
    case 'media':
      return JSON.stringify(toEntries(value).map(({ id }) => id))
    case 'component':
    case 'dynamiczone': {
      const entries = getComponentEntries(model, attribute, value).map(([component, one]) => [
        component.uid,
        ...[...component.attributes.values()].flatMap((inner) =>
          inner.name === 'id' || !Object.hasOwn(one, inner.name) ? [] : [inner.name, toComparable(model, inner, one)],
        ),
      ])
      return JSON.stringify(entries)
    }
    default:
      return JSON.stringify(
        toEntries(value)
          .filter(({ state }) => state !== 'draft')
          .map(({ __type, documentId, locale }) => [__type, documentId, locale ?? null]),
      )
  }
}
