// Drafts that a write of this process has left in sync with their publications. As long as nobody has written to the database but what
// touches other documents only (`History`), and the draft is not noted as changed, their contents need not be compared again (decision 017).
import type { Moment } from '../../../database/database.js'

/** A draft that is in sync. */
export interface Synced {
  readonly draft: string
  readonly moment: Moment
}

export interface InSync {
  /** When a draft was last known to be in sync; undefined: never. */
  momentOf(draft: string): Moment | undefined
  /** The transaction that left the draft in sync is committed. */
  note(synced: Synced): void
}

/** Drafts that are remembered, some hundred bytes each; the oldest are forgotten first. */
const remembered = 5_000

/** What a draft is remembered by. */
export const draftName = (type: string, documentId: string, locale: string | null): string => `${type} ${documentId} ${locale ?? ''}`

export function openInSync(): InSync {
  const moments = new Map<string, Moment>()
  return {
    momentOf: (draft) => moments.get(draft),
    note: ({ draft, moment }) => {
      moments.delete(draft)
      moments.set(draft, moment)
      if (moments.size > remembered) moments.delete(moments.keys().next().value!)
    },
  }
}
