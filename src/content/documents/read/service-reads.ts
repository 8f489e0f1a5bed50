// Reads for the service itself, regardless of permissions: locales, and files in responses to writes.

import { fileType } from '../../../model/schema/link.js'
import type { DocumentReads } from './find.js'

/** A locale in API responses. */
interface Locale {
  readonly code: string
  readonly [attribute: string]: unknown
}

export async function readLocales({
  context,
  findAsService,
}: Pick<DocumentReads, 'context' | 'findAsService'>): Promise<readonly Locale[]> {
  const type = context.model.types.get('plugin::i18n.locale')!
  return (await findAsService({ type, mode: 'many', paged: false, query: '', envelope: 'bare' })) as readonly Locale[]
}

/** Codes of all locales, default locale first. */
export async function localeCodes(
  documents: Pick<DocumentReads, 'context' | 'findAsService'>,
  defaultLocale: string,
): Promise<readonly string[]> {
  const codes = (await readLocales(documents)).map(({ code }) => code)
  return [...codes.filter((code) => code === defaultLocale), ...codes.filter((code) => code !== defaultLocale)]
}

/** Adds `isUrlSigned: false` to files. If some URLs are signed, the code that writes the response sets it for each file. */
export const fileConstants = (signsAddresses: boolean) => (signsAddresses ? [] : [{ name: 'isUrlSigned', json: 'false' }])

/** Reads a file by row id, regardless of permissions; null if it does not exist. */
export function readStoredFile(documents: DocumentReads, id: number, signsAddresses: boolean): Promise<unknown> {
  const type = documents.context.model.types.get(fileType)!
  const identity = { attribute: 'id' as const, value: id }
  const constants = fileConstants(signsAddresses)
  return documents.findAsService({ type, mode: 'first', identity, appliesFilters: false, query: '', envelope: 'bare', constants })
}
