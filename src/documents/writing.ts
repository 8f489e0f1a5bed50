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
  /** Which side of their targets copied links show. */
  readonly copies: 'draft' | 'published'
}
