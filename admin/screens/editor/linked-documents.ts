// Linked documents next to the editor: fields ask for them, and the screen shows one in a panel.
import { createContext } from 'react'
import { addresses, pagePath } from '../../addresses.js'
import type { Link } from '../../fields/document.js'

/** A document that a field asks for. */
export interface LinkedDocument {
  readonly type: string
  /** Null: a new document. */
  readonly link: Link | null
  /** The name of a new document. */
  readonly name: string
  /** The language, on types that have languages. */
  readonly locale: string | null
  /** A new document was stored. */
  readonly onCreated: (link: Link) => void
  /** The panel has closed: the name or the state may be another one. */
  readonly onClosed: (link: Link) => void
}

const LinkedDocumentsContext = createContext<((wanted: LinkedDocument) => void) | null>(null)

/** Shows documents for the fields inside; without it, they open in another tab. */
export const LinkedDocuments = LinkedDocumentsContext.Provider
export { LinkedDocumentsContext }

/** Opens a document in another tab. */
export const openInTab = (type: string, documentId: string, locale: string | null): void =>
  void window.open(pagePath + addresses.document(type, documentId, locale), '_blank', 'noreferrer')
