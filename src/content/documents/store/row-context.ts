// The context of a write for all code that writes components, files and links of a row.
import type { Transaction } from '../../../database/database.js'
import type { Attribute, Model } from '../../../model/schema/types.js'
import type { FindHidden } from '../guard/hidden-rows.js'

/** An entry of a component: its row, and its position. */
export interface ComponentEntry {
  readonly cmp_id: number
  readonly component_type: string
  readonly field: string
  readonly order: number | null
}

/** Components and links of a row created by this write. */
interface CreatedRow {
  /** In the order of their rows. */
  readonly entries: ComponentEntry[]
  /** Relations and media that may have links. */
  readonly given: ReadonlySet<Attribute>
}

/** A candidate row of a reference in a body. */
export interface TargetRow {
  readonly id: number
  readonly document_id: string
  readonly locale: string | null
  readonly published_at: number | null
}

/** The context that selects versions of a target. */
export interface TargetResolution {
  /** Locale of the write; null for types that are not localized. */
  readonly locale: string | null
  readonly defaultLocale: string
  /** `draft`: the owner is a draft. `both`: the owner has no drafts; its links show the side that a request asks for. */
  readonly side: 'draft' | 'both'
  /** Rows looked up before, by uid: all that the body references. */
  readonly known?: ReadonlyMap<string, readonly TargetRow[]>
  /** Finds rows that the caller cannot reference; null if there are none. */
  readonly hidden: FindHidden | null
  /** The written body, for errors about it as a whole. */
  readonly shown: unknown
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
