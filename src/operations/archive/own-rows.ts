// Rows of Octavo's own tables that are about content: Strapi's format has no place for them, so they are lines of a folder that Strapi
// ignores. Without them, relations that wait for a publication would be lost.

import { fileType } from '../../model/schema/link.js'
import type { Component, ContentType, Model } from '../../model/schema/types.js'
import { type OctavoColumnType, octavoTables } from '../../model/tables/octavo-tables.js'

/** A value of such a row. */
export type OwnValue = string | number | null

/** One of the tables. */
export interface OwnTable {
  readonly name: string
  /** Its columns, but for the number of a row. */
  readonly columns: Readonly<Record<string, OctavoColumnType>>
  /** The column with a row id, and the uid of the type or component that it belongs to; undefined: the model has none. */
  readonly reference: { readonly column: string; uidOf(model: Model, row: Readonly<Record<string, OwnValue>>): string | undefined } | null
}

const userType = 'plugin::users-permissions.user'

function ownTable(name: string, reference: OwnTable['reference']): OwnTable {
  const { columns } = octavoTables.find((table) => table.name === name)!
  return { name, columns: Object.fromEntries(Object.entries(columns).filter(([column]) => column !== 'id')), reference }
}

export const ownTables: readonly OwnTable[] = [
  ownTable('octavo_pending_links', {
    column: 'owner_id',
    uidOf: (model, { link_table }) => ownersOfTables(model).get(String(link_table))?.uid,
  }),
  ownTable('octavo_modified_drafts', { column: 'row_id', uidOf: (_, { type }) => String(type) }),
  ownTable('octavo_out_of_sync_locales', null),
  ownTable('octavo_identities', { column: 'user_id', uidOf: () => userType }),
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
