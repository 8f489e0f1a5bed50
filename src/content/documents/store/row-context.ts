// The context of a write for all code that writes components, files and links of a row.
import type { Transaction } from '../../../database/database.js'
import type { Attribute, Model } from '../../../model/schema/types.js'
import type { TargetResolution } from './targets.js'

/** A component of a row: its row, and its position. */
export interface ComponentEntry {
  readonly cmp_id: number
  readonly component_type: string
  readonly field: string
  readonly order: number | null
}

/** The components and links of a row that this write has created. */
export interface CreatedRow {
  /** Its components, in the order of their rows. */
  readonly entries: ComponentEntry[]
  /** The relations and media that may have links. */
  readonly given: ReadonlySet<Attribute>
}

export interface RowContext {
  readonly transaction: Transaction
  readonly model: Model
  readonly resolving: TargetResolution
  readonly hashPassword: (password: string) => Promise<string>
  /** The side of targets for copied links; `same`: that of the original. */
  readonly targetSide: 'draft' | 'published' | 'same'
  /** Copied links lead to this locale of localized targets; absent: to the one that they lead to already. */
  readonly targetLocale?: string | null
  /** Drafts are written and nothing is published: the other sides of their links drift (`drift`). */
  readonly isDraftWrite: boolean
  /** By uid and id: copies of such rows need no queries. */
  readonly createdRows: Map<string, CreatedRow>
  /** The inverse sides of polymorphic relations that this write has given, by uid, id and name, with the rows that left them. */
  readonly inverses: Map<string, readonly number[]>
}
