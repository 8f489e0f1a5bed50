// The locales of an installation, which are rows of a type of their own.
import type { DocumentReads } from './find.js'

/** A locale as the API shows it. */
export interface Locale {
  readonly code: string
  readonly [attribute: string]: unknown
}

/** Reads all locales with all that the API shows of them. */
export async function readLocales({
  context,
  findAsService,
}: Pick<DocumentReads, 'context' | 'findAsService'>): Promise<readonly Locale[]> {
  const type = context.model.types.get('plugin::i18n.locale')!
  return (await findAsService({ type, mode: 'many', paged: false, query: '', envelope: 'bare' })) as readonly Locale[]
}

/** The codes of all locales, the default one first. */
export async function localeCodes(
  documents: Pick<DocumentReads, 'context' | 'findAsService'>,
  defaultLocale: string,
): Promise<readonly string[]> {
  const codes = (await readLocales(documents)).map(({ code }) => code)
  return [...codes.filter((code) => code === defaultLocale), ...codes.filter((code) => code !== defaultLocale)]
}
