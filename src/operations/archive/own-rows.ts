// Rows of Octavo's own tables about content. Strapi's format lacks them, so they are in a folder that Strapi ignores. Without them, pending
// links would be lost.

import { fileType } from '../../model/schema/link.js'
import type { Component, ContentType, Model } from '../../model/schema/types.js'
import { type OctavoColumnType, octavoTables } from '../../model/tables/octavo-tables.js'

export type OwnValue = string | number | null

interface OwnTable {
  readonly name: string
  /** All columns except the row id. */
  readonly columns: Readonly<Record<string, OctavoColumnType>>
  /** The column with a row id, and the uid of its type or component; undefined if the model lacks it. */
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

/** Types and components by the link tables that they own. */
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
