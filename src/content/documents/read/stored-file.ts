// A file of the media library as the responses to writes show it.
import { fileType } from '../../../model/schema/link.js'
import type { DocumentReads } from './find.js'

/** Adds `isUrlSigned: false` to files. If some URLs are signed, the code that writes the response sets it for each file. */
export const fileConstants = (signsAddresses: boolean) => (signsAddresses ? [] : [{ name: 'isUrlSigned', json: 'false' }])

/** Reads a file by its row id, independent of anybody's permissions; null if it is not there. */
export function readStoredFile(documents: DocumentReads, id: number, signsAddresses: boolean): Promise<unknown> {
  const type = documents.context.model.types.get(fileType)!
  const identity = { attribute: 'id' as const, value: id }
  const constants = fileConstants(signsAddresses)
  return documents.findAsService({ type, mode: 'first', identity, appliesFilters: false, query: '', envelope: 'bare', constants })
}
