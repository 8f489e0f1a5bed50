// The names of what is kept aside: nothing of a model has such a name, and Strapi drops no table or column that it has not made.

import { joinName } from '../schema/names.js'
import { wholeName } from '../tables/stored-name.js'
import type { KeptPlace } from './types.js'

/** Names of what one change keeps aside. */
export interface KeptNames {
  /** `octavo_kept_3_notes` for a table, column or value of `field` */
  of(name: string): string
  /** `octavo_kept_3_rows_notes` for rows of a table that stays */
  rowsOf(table: string): string
}

/** A table that is kept aside as a whole. */
export const keptTable = (kept: KeptNames, table: string): KeptPlace => ({ kind: 'table', table, name: table, as: kept.of(table) })

/** Rows that are kept aside from a table that stays. */
export const keptRows = (kept: KeptNames, table: string): KeptPlace => ({ kind: 'rows', table, name: table, as: kept.rowsOf(table) })

/** A column or the entries of an attribute that are kept aside within their table. */
export const keptWithin = (kept: KeptNames, kind: 'column' | 'field', table: string, name: string): KeptPlace => ({
  kind,
  table,
  name,
  as: kept.of(name),
})

/** How every name of what is kept aside begins. */
export const keptPrefix = 'octavo_kept_'

/** Whether a table, column or value of `field` is kept aside. */
export const isKept = (name: string): boolean => name.startsWith(keptPrefix)

/** The names that change `number` gives. */
export function keptNames(number: number): KeptNames {
  const name = (prefix: string, text: string) => wholeName(joinName([{ text: prefix, keep: true }, { text }]))
  return { of: (text) => name(`${keptPrefix}${number}`, text), rowsOf: (table) => name(`${keptPrefix}${number}_rows`, table) }
}
