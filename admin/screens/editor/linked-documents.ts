// Linked documents in a panel next to the editor, at the request of a field.
import { createContext } from 'react'
import { addresses, pagePath } from '../../addresses.js'
import type { Link } from '../../fields/document.js'

/** A document requested by a field. */
export interface LinkedDocument {
  readonly type: string
  /** Null: a new document. */
  readonly link: Link | null
  /** The name of a new document. */
  readonly name: string
  /** The language, on types that have languages. */
  readonly locale: string | null
  /** Called when a new document is stored. */
  readonly onCreated: (link: Link) => void
  /** Called when the panel has closed; name and state may have changed. Null: nothing was stored. */
  readonly onClosed: (link: Link | null) => void
}

const LinkedDocumentsContext = createContext<((wanted: LinkedDocument) => void) | null>(null)

/** Provides the panel to the fields inside; without it, links open in another tab. */
export const LinkedDocuments = LinkedDocumentsContext.Provider
export { LinkedDocumentsContext }

/** Opens a document in another tab. */
export const openInTab = (type: string, documentId: string, locale: string | null): void =>
  void window.open(pagePath + addresses.document(type, documentId, locale), '_blank', 'noreferrer')
