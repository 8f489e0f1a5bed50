// Rows of Octavo's own tables that are about content: Strapi's format has no place for them, so they are lines of a folder that Strapi
// ignores. Without them, relations that wait for a publication would be lost.
import { fileType } from '../model/link.js'
import type { Component, ContentType, Model } from '../model/types.js'

type Value = string | number | null

/** One of the tables. */
export interface OwnTable {
  readonly name: string
  /** Its columns, but for the number of a row. */
  readonly columns: Readonly<Record<string, 'text' | 'text?' | 'integer' | 'real?'>>
  /** The column with a row id, and the uid of the type or component that it belongs to; undefined: the model has none. */
  readonly reference: { readonly column: string; uidOf(model: Model, row: Readonly<Record<string, Value>>): string | undefined } | null
}

const userType = 'plugin::users-permissions.user'

export const ownTables: readonly OwnTable[] = [
  {
    name: 'octavo_pending_links',
    columns: {
      link_table: 'text',
      owner_id: 'integer',
      target_type: 'text',
      target_document: 'text',
      target_locale: 'text?',
      place: 'real?',
    },
    reference: { column: 'owner_id', uidOf: (model, { link_table }) => ownersOfTables(model).get(String(link_table))?.uid },
  },
  {
    name: 'octavo_modified_drafts',
    columns: { type: 'text', row_id: 'integer' },
    reference: { column: 'row_id', uidOf: (_, { type }) => String(type) },
  },
  { name: 'octavo_out_of_sync_locales', columns: { type: 'text', document_id: 'text' }, reference: null },
  {
    name: 'octavo_identities',
    columns: { provider: 'text', subject: 'text', user_id: 'integer' },
    reference: { column: 'user_id', uidOf: () => userType },
  },
]

const owners = new WeakMap<Model, ReadonlyMap<string, ContentType | Component>>()

/** The types and components that own relations with a table, by these tables. */
export function ownersOfTables(model: Model): ReadonlyMap<string, ContentType | Component> {
  const known = owners.get(model)
  if (known !== undefined) return known
  const found = new Map<string, ContentType | Component>()
  for (const shape of [...model.types.values(), ...model.components.values()])
    for (const attribute of shape.attributes.values()) {
      if (attribute.kind === 'relation' && attribute.storage.kind === 'link' && attribute.storage.owner)
        found.set(attribute.storage.table, shape)
      if (attribute.kind === 'morphTo' && attribute.storage.kind === 'table' && shape.uid !== fileType)
        found.set(attribute.storage.table, shape)
    }
  owners.set(model, found)
  return found
}
