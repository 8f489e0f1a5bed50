// The data of a copy of a document: what its reader sees and may create, with entries of components anew and links to the same targets.

import { isWritable } from '../../documents/input/keys.js'
import type { Body } from '../../documents/input/types.js'
import { type AttributeGrants, grantedBelow, isGranted } from '../../grants.js'
import type { Attribute, Model, Schema } from '../../model/types.js'
import { assertNever } from '../../model/types.js'

/** The data that makes a copy of `version`. What must be unique is left out; identifiers are made anew. */
export function copyOf(model: Model, shape: Schema, version: Body, creatable: AttributeGrants): Readonly<Record<string, unknown>> {
  const values = [...shape.attributes.values()].flatMap((attribute): (readonly [string, unknown])[] => {
    const value = version[attribute.name]
    if (value === undefined || value === null || !isWritable(shape, attribute) || !isGranted(creatable, attribute.name)) return []
    const copied = copiedValue(model, attribute, value, grantedBelow(creatable, attribute.name))
    return copied === undefined ? [] : [[attribute.name, copied]]
  })
  return Object.fromEntries(values)
}

const isEntry = (value: unknown): value is Body => typeof value === 'object' && value !== null
const listOf = (value: unknown): readonly Body[] => (Array.isArray(value) ? value : [value]).filter(isEntry)

function copiedValue(model: Model, attribute: Attribute, value: unknown, below: AttributeGrants): unknown {
  switch (attribute.kind) {
    case 'scalar':
      return attribute.unique || attribute.source.writable === false ? undefined : value
    case 'media':
      return listOf(value).map(({ id }) => id)
    case 'relation':
      // A target that can have one owner only would be taken from the document that is copied.
      return attribute.relation === 'oneToOne' || attribute.relation === 'oneToMany'
        ? undefined
        : { connect: listOf(value).map(({ documentId, locale }) => ({ documentId, ...(typeof locale === 'string' ? { locale } : {}) })) }
    case 'morphTo':
      return attribute.many ? { set: listOf(value).map(({ id, __type }) => ({ id, __type })) } : undefined
    case 'morphFrom':
      return undefined
    case 'component': {
      const component = model.components.get(attribute.component)!
      const copies = listOf(value).map((entry) => copyOf(model, component, entry, below))
      return attribute.repeatable ? copies : copies[0]
    }
    case 'dynamiczone':
      return listOf(value).flatMap((entry) => {
        const component = model.components.get(String(entry.__component))
        return component === undefined ? [] : [{ __component: component.uid, ...copyOf(model, component, entry, below) }]
      })
    default:
      return assertNever(attribute)
  }
}
