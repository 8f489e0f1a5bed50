// Which attributes the data of a write may give.
import type { Attribute, Component, ContentType } from './types.js'

/** Written by the service alone. */
export const serviceAttributes: ReadonlySet<string> = new Set(['createdAt', 'updatedAt', 'createdBy', 'updatedBy', 'localizations'])

/** True for attributes that a body may give, false for what the service itself writes. */
export function isWritable(shape: ContentType | Component, attribute: Attribute | undefined): attribute is Attribute {
  if (attribute === undefined || (attribute.kind === 'scalar' && attribute.system)) return false
  return shape.kind === 'component' || !serviceAttributes.has(attribute.name)
}

/** `writable: false`: filled by code or by its default, never by a body. */
export const isReadOnly = (attribute: Attribute | undefined): boolean => attribute?.source.writable === false
