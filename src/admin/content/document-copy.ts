// The data of a copy of a document: what its reader sees and may create, with entries of components anew and links to the same targets.

import { isWritable } from '../../content/documents/input/keys.js'
import type { Body } from '../../content/documents/input/types.js'
import { type AttributeGrants, grantedBelow, isGranted } from '../../foundation/grants.js'
import type { Attribute, Model, Relation, Schema } from '../../model/schema/types.js'
import { assertNever } from '../../model/schema/types.js'
import { isExclusive } from './found-links.js'

/** What becomes of the parts of a version that is copied. */
export interface Copying {
  readonly model: Model
  /** Whether values that must be unique are copied too. */
  readonly keepsUnique: boolean
  /** Whether polymorphic links are copied. */
  readonly keepsPolymorphic: boolean
  /** Which document of `attribute` the copy is linked to in place of `linked`; null: none. */
  linkTo(attribute: Relation, linked: Body): Body | null
}

/** A copy as a new document. What must be unique, and targets that can have one owner only, are left out. */
export const anewIn = (model: Model): Copying => ({
  ...{ model, keepsUnique: false, keepsPolymorphic: true },
  linkTo: (attribute, { documentId, locale }) =>
    isExclusive(attribute) ? null : { documentId, ...(typeof locale === 'string' ? { locale } : {}) },
})

/** The data that makes a copy of `version`. Entries of components and identifiers are made anew. */
export function copyOf(copying: Copying, shape: Schema, version: Body, creatable: AttributeGrants): Readonly<Record<string, unknown>> {
  const values = [...shape.attributes.values()].flatMap((attribute): (readonly [string, unknown])[] => {
    const value = version[attribute.name]
    if (value === undefined || value === null || !isWritable(shape, attribute) || !isGranted(creatable, attribute.name)) return []
    const copied = copiedValue(copying, attribute, value, grantedBelow(creatable, attribute.name))
    return copied === undefined ? [] : [[attribute.name, copied]]
  })
  return Object.fromEntries(values)
}

const isEntry = (value: unknown): value is Body => typeof value === 'object' && value !== null
const listOf = (value: unknown): readonly Body[] => (Array.isArray(value) ? value : [value]).filter(isEntry)

/** A value of an attribute as it is copied; undefined: it is left out. */
export function copiedValue(copying: Copying, attribute: Attribute, value: unknown, below: AttributeGrants): unknown {
  const { model, keepsUnique, keepsPolymorphic } = copying
  switch (attribute.kind) {
    case 'scalar':
      return (attribute.unique && !keepsUnique) || attribute.source.writable === false ? undefined : value
    case 'media':
      return listOf(value).map(({ id }) => id)
    case 'relation':
      return { set: listOf(value).flatMap((linked) => copying.linkTo(attribute, linked) ?? []) }
    case 'morphTo':
      return attribute.many && keepsPolymorphic ? { set: listOf(value).map(({ id, __type }) => ({ id, __type })) } : undefined
    case 'morphFrom':
      return undefined
    case 'component': {
      const component = model.components.get(attribute.component)!
      const copies = listOf(value).map((entry) => copyOf(copying, component, entry, below))
      return attribute.repeatable ? copies : copies[0]
    }
    case 'dynamiczone':
      return listOf(value).flatMap((entry) => {
        const component = model.components.get(String(entry.__component))
        return component === undefined ? [] : [{ __component: component.uid, ...copyOf(copying, component, entry, below) }]
      })
    default:
      return assertNever(attribute)
  }
}
