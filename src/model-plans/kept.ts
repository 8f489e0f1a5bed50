// The names of what is kept aside: nothing of a model has such a name, and Strapi drops no table or column that it has not made.
import { joinName } from '../model/names.js'

/** Names of what one change keeps aside. */
export interface KeptNames {
  /** `octavo_kept_3_notes` for a table, column or value of `field` */
  of(name: string): string
  /** `octavo_kept_3_rows_notes` for rows of a table that stays */
  rowsOf(table: string): string
}

/** The names that change `number` gives. */
export function keptNames(number: number): KeptNames {
  const name = (prefix: string, text: string) => joinName([{ text: prefix, keep: true }, { text }])
  return { of: (text) => name(`octavo_kept_${number}`, text), rowsOf: (table) => name(`octavo_kept_${number}_rows`, table) }
}
