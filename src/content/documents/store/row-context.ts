// The context of a write for all code that writes components, files and links of a row.
import type { Transaction } from '../../../database/database.js'
import type { Attribute, Model } from '../../../model/schema/types.js'
import type { TargetResolution } from './targets.js'

/** An entry of a component: its row, and its position. */
export interface ComponentEntry {
  readonly cmp_id: number
  readonly component_type: string
  readonly field: string
  readonly order: number | null
}

/** Components and links of a row created by this write. */
export interface CreatedRow {
  /** In the order of their rows. */
  readonly entries: ComponentEntry[]
  /** Relations and media that may have links. */
  readonly given: ReadonlySet<Attribute>
}

export interface RowContext {
  readonly transaction: Transaction
  readonly model: Model
  readonly resolving: TargetResolution
  readonly hashPassword: (password: string) => Promise<string>
  /** Side of targets of copied links; `same`: that of the original. */
  readonly targetSide: 'draft' | 'published' | 'same'
  /** Locale of localized targets of copied links; absent: unchanged. */
  readonly targetLocale?: string | null
  /** Writes a draft without publishing: documents on the other side of its links are marked as modified. */
  readonly isDraftWrite: boolean
  /** By uid and id; copying such rows needs no queries. */
  readonly createdRows: Map<string, CreatedRow>
  /** Inverse sides of polymorphic relations given by this write, by uid, id and name, with the rows removed from them. */
  readonly inverses: Map<string, readonly number[]>
}
