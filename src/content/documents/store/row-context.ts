// What every file that writes rows below a row needs to know about the write it is part of.
import type { Transaction } from '../../../database/database.js'
import type { Attribute, Model } from '../../../model/schema/types.js'
import type { TargetResolution } from './targets.js'

/** A component of a row: where its own row stands, and its place. */
export interface ComponentEntry {
  readonly cmp_id: number
  readonly component_type: string
  readonly field: string
  readonly order: number | null
}

/** All that stands below a row which this very write has made. */
export interface CreatedRow {
  /** Its components, in the order of their rows. */
  readonly entries: ComponentEntry[]
  /** The relations and media that may have links. */
  readonly given: ReadonlySet<Attribute>
}

/** What writing below a row needs. */
export interface RowContext {
  readonly transaction: Transaction
  readonly model: Model
  readonly resolving: TargetResolution
  readonly hashPassword: (password: string) => Promise<string>
  /** Which side of their targets copied links show; `same`: the one that they show already. */
  readonly targetSide: 'draft' | 'published' | 'same'
  /** Copied links lead to this locale of localized targets; absent: to the one that they lead to already. */
  readonly targetLocale?: string | null
  /** Drafts are written and nothing is published: the other sides of their links drift (`drift`). */
  readonly isDraftWrite: boolean
  /** By uid and id: what is copied from such rows need not be looked up. */
  readonly createdRows: Map<string, CreatedRow>
  /** The inverse sides of polymorphic relations that this write has given, by uid, id and name, with the rows that left them. */
  readonly inverses: Map<string, readonly number[]>
}
