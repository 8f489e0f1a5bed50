// What every file that writes rows below a row needs to know about the write it is part of.
import type { Transaction } from '../database/database.js'
import type { Model } from '../model/types.js'
import type { Resolving } from './references.js'

/** What writing below a row needs. */
export interface Writing {
  readonly transaction: Transaction
  readonly model: Model
  readonly resolving: Resolving
  readonly hashPassword: (password: string) => Promise<string>
  /** Which side of their targets copied links show; `same`: the one that they show already. */
  readonly copies: 'draft' | 'published' | 'same'
  /** Copied links lead to this locale of localized targets; absent: to the one that they lead to already. */
  readonly into?: string | null
  /** Drafts are written and nothing is published: the other sides of their links drift (`drift`). */
  readonly drafts: boolean
}
