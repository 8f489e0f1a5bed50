// Drafts that a write of this process has left in sync with their publications. As long as no other connection has written to the
// database and the draft is not noted as changed, their contents need not be compared again (decision 017).

/** A draft that is in sync, and the version of the database that its transaction saw (`writtenByOthers`). */
export interface Synced {
  readonly draft: string
  readonly version: number
}

export interface InSync {
  /** The version in which a draft was in sync; undefined where that is not known. */
  versionOf(draft: string): number | undefined
  /** The transaction that left the draft in sync is committed. */
  note(synced: Synced): void
}

/** Drafts that are remembered, some hundred bytes each; the oldest are forgotten first. */
const remembered = 5_000

/** What a draft is remembered by. */
export const draftName = (type: string, documentId: string, locale: string | null): string => `${type} ${documentId} ${locale ?? ''}`

export function openInSync(): InSync {
  const versions = new Map<string, number>()
  return {
    versionOf: (draft) => versions.get(draft),
    note: ({ draft, version }) => {
      versions.delete(draft)
      versions.set(draft, version)
      if (versions.size > remembered) versions.delete(versions.keys().next().value!)
    },
  }
}
