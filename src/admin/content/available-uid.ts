// Available uids, generated from a text as in the content API.

import { findAvailableUid } from '../../content/documents/store/unique.js'
import type { RowReader } from '../../database/database.js'
import { forbidden, invalidAt, notFound } from '../../foundation/errors/errors.js'
import { isGranted, noAttributes } from '../../foundation/grants.js'
import { type ContentAccess, readableType } from './content-access.js'
import { localeStates } from './document-view.js'

interface UidRequest {
  readonly text: string
  /** The document of the uid; its own uids are available. */
  readonly documentId: string | null
}

/**
 * Generates a uid from a text that no other document of the type has. Requires the right to write the attribute.
 * @throws ApiError 403; 404 where there is no such attribute or document; 400 for an empty text
 */
export async function generateUid(
  access: ContentAccess,
  database: RowReader,
  uid: string,
  name: string,
  { text, documentId }: UidRequest,
): Promise<string> {
  const type = readableType(access, uid)
  const attribute = type.attributes.get(name)
  const { content } = access.grants
  const readable = content.readable.get(uid) ?? noAttributes
  if (attribute?.kind !== 'scalar' || attribute.type !== 'uid' || !isGranted(readable, name)) throw notFound(`${uid} has no uid ${name}`)
  const rights = ['create', 'update'].flatMap((action) => content.toWrite(uid, action))
  if (!rights.some(({ attributes }) => isGranted(attributes, name))) throw forbidden()
  if (text.trim() === '') throw invalidAt(['text'], 'The text is empty', 'required')
  // Otherwise the response would reveal whether a hidden document has a uid.
  if (documentId !== null && (await localeStates(access, type, documentId)).length === 0) throw notFound()
  return findAvailableUid(database, type, attribute, text, documentId)
}
