// Search over the names of types, documents and files, bounded in types, rows and time.

import { fileType } from '../../model/schema/link.js'
import type { ContentType } from '../../model/schema/types.js'
import { type ContentAccess, findRows, type VersionData } from './content-access.js'
import { namingAttribute, namingFields } from './document-view.js'

const maxTypes = 50
const maxDocumentsPerType = 5
/** Of each kind. */
const maxResults = 30
/** Time after which no further type is searched. */
const maxSearchMs = 1_500

/** A type, a document or a file that was found. */
interface SearchResult {
  readonly types: readonly { readonly uid: string; readonly displayName: string }[]
  readonly documents: readonly SearchedDocument[]
  readonly files: readonly VersionData[]
  /** All types were searched. */
  readonly isComplete: boolean
}

/** A document that was found, by its draft in one locale. */
interface SearchedDocument {
  readonly type: string
  readonly documentId: string
  readonly locale: string | null
  readonly name: string
}

/** Finds what the administrator may read by a text. */
export async function search(access: ContentAccess, text: string): Promise<SearchResult> {
  const { model } = access.documents.context
  const readable = [...model.types.values()].filter(({ uid, exposed }) => exposed && access.grants.may(`${uid}.find`))
  const words = text.toLowerCase()
  const types = readable.filter(({ uid, displayName }) => `${displayName} ${uid}`.toLowerCase().includes(words)).slice(0, maxResults)
  const until = performance.now() + maxSearchMs
  const files = access.grants.may(`${fileType}.find`) ? await searchFiles(access, model.types.get(fileType)!, text) : []
  const documents: SearchedDocument[] = []
  let searched = 0
  for (const type of readable.slice(0, maxTypes)) {
    if (documents.length >= maxResults || performance.now() > until) break
    documents.push(...(await searchDocuments(access, type, text)))
    searched += 1
  }
  return {
    types: types.map(({ uid, displayName }) => ({ uid, displayName })),
    documents: documents.slice(0, maxResults),
    files,
    isComplete: searched === readable.length,
  }
}

async function searchDocuments(access: ContentAccess, type: ContentType, text: string): Promise<readonly SearchedDocument[]> {
  const name = namingAttribute(access, type)
  if (name === null) return []
  const rows = await findRows(access, type, {
    status: 'draft',
    filters: { [name]: { $containsi: text } },
    fields: namingFields(access, type),
    limit: maxDocumentsPerType,
    ...(type.localized ? { locale: '*' } : {}),
  })
  return rows.map(({ documentId, locale, [name]: shown }) => ({
    type: type.uid,
    documentId: String(documentId),
    name: String(shown),
    locale: typeof locale === 'string' ? locale : null,
  }))
}

function searchFiles(access: ContentAccess, type: ContentType, text: string): Promise<readonly VersionData[]> {
  const contains = { $containsi: text }
  return findRows(access, type, {
    filters: { $or: [{ name: contains }, { alternativeText: contains }, { caption: contains }] },
    fields: ['documentId', 'name', 'alternativeText', 'mime', 'url'],
    limit: maxDocumentsPerType,
  })
}
