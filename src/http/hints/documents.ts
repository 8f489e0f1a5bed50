// Documents that are not there: row ids and slugs in place of documentIds, other states and locales, and writes that found nothing.
import type { ContentType } from '../../model/schema/types.js'
import type { Hint, HintedExchange, ServedRequest } from './exchange.js'
import { listed, quoted } from './sentences.js'
import { labelOf, looksLikeDocumentId } from './shapes.js'

/** A version of a document that hints have found. */
interface FoundVersion {
  readonly documentId: string
  readonly locale: string | null
  readonly status: 'draft' | 'published'
}

/** 404 of a document, and 204 of a DELETE that deleted nothing. */
export const noDocument: Hint = async (exchange) => {
  const { type, documentId, status, asked, method } = exchange
  if (type === null || asked === null || !type.exposed) return null
  const isMissing = status === 404 || (method === 'DELETE' && status === 204 && asked.wroteNothing)
  if (!isMissing) return null
  const start = status === 204 ? 'Nothing was deleted. ' : ''
  if (documentId === null) return `${start}${await emptySingle(exchange, type, asked)}`
  const versions = await versionsBy(type, asked, 'documentId', documentId)
  return `${start}${versions.length > 0 ? otherVersion(exchange, type, versions) : await otherName(exchange, type, asked, documentId)}`
}

/** Users are deleted and read without an error, whether they are there or not. */
export const noUser: Hint = ({ type, documentId, status, method }) => {
  if (type?.uid !== 'plugin::users-permissions.user' || documentId === null || status !== 204) return null
  return `${method === 'DELETE' ? 'Nothing was deleted: there' : 'There'} is no user with the id ${quoted(documentId)}. Users are addressed by their numeric id.`
}

async function emptySingle(exchange: HintedExchange, type: ContentType, asked: ServedRequest): Promise<string> {
  const versions = await versionsBy(type, asked, null, '')
  if (versions.length > 0) return otherVersion(exchange, type, versions)
  return `${type.displayName} has no content yet: a PUT to ${pathOf(exchange, type)} creates it.`
}

/** The document exists, in another state or locale. */
function otherVersion(
  { parameters, config, asked, method, path }: HintedExchange,
  type: ContentType,
  versions: readonly FoundVersion[],
): string {
  const status = type.draftAndPublish ? (parameters.status === 'draft' ? 'draft' : 'published') : null
  const locale = type.localized ? String(parameters.locale ?? asked!.access.defaultLocale) : null
  const ofStatus = status === null ? versions : versions.filter((version) => version.status === status)
  const found = ofStatus.find((version) => locale === null || version.locale === locale)
  if (found !== undefined) {
    return config.types[type.uid]?.scope === undefined
      ? `The document exists, but does not fulfil the other conditions of the request${parameters.filters === undefined ? '' : ' (filters)'}.`
      : `The document exists, but is outside of the caller's scope of ${type.uid} in octavo.config.`
  }
  if (config.types[type.uid]?.scope !== undefined)
    return `The document exists, but not in the locale and state that the request names, or it is outside of the caller's scope of ${type.uid} in octavo.config.`
  const inLocale = versions.filter((version) => locale === null || version.locale === locale)
  if (inLocale.length > 0)
    return status === 'published'
      ? `The document is a draft that is not published${locale === null ? '' : ` in "${locale}"`}. ${method === 'GET' ? 'Read it with status=draft, or publish it' : 'Publish it'}: POST ${path}/actions/publish`
      : 'The document has no draft in this locale.'
  const locales = [...new Set(versions.map((version) => version.locale ?? ''))]
  return `The document exists in ${listed(locales)}, not in "${locale}": there is no fallback to another locale. Write locale=${locales[0]}`
}

/** What was sent is another name of a document, or of none. */
async function otherName(exchange: HintedExchange, type: ContentType, asked: ServedRequest, sent: string): Promise<string> {
  const names = ['id', ...[...type.attributes.values()].flatMap((attribute) => (isName(attribute) ? [attribute.name] : []))]
  for (const name of names) {
    if (name === 'id' && !/^\d{1,15}$/.test(sent)) continue
    const [found] = await versionsBy(type, asked, name, sent)
    if (found !== undefined) {
      const above = pathOf(exchange, type)
      const below = exchange.path.startsWith(`${above}/${sent}/`) ? exchange.path.slice(above.length + 1 + sent.length) : ''
      return `${quoted(sent)} is ${name === 'id' ? 'a row id' : `the ${name}`}. The documentId is ${found.documentId}: ${exchange.method} ${above}/${found.documentId}${below}`
    }
  }
  const label = labelOf(type) ?? 'documentId'
  const form = looksLikeDocumentId(sent) ? '' : ' (documentIds have 24 letters and digits)'
  return `No ${type.singularName} has the documentId ${quoted(sent)}${form}. List them: ${pathOf(exchange, type)}?fields=${label}`
}

const isName = (attribute: { readonly kind: string; readonly type?: string; readonly private: boolean }): boolean =>
  attribute.kind === 'scalar' && attribute.type === 'uid' && !attribute.private

/** The path of a type. */
export const pathOf = ({ config }: HintedExchange, type: ContentType): string =>
  `${config.rest.prefix}/${type.singleType ? type.singularName : type.pluralName}`

/** All versions with a value of an attribute, in every locale and state; null: every version. */
async function versionsBy(
  type: ContentType,
  { documents }: ServedRequest,
  attribute: string | null,
  value: string,
): Promise<readonly FoundVersion[]> {
  const states = type.draftAndPublish ? (['published', 'draft'] as const) : (['published'] as const)
  const condition = attribute === null ? '' : `&filters[${attribute}][$eq]=${encodeURIComponent(value)}`
  const found = await Promise.all(
    states.map(async (status) => {
      const query = `status=${status}&locale=*&limit=20&fields=${type.localized ? 'documentId,locale' : 'documentId'}${condition}`
      const rows = await documents.findAsService({ type, mode: 'many', paged: false, query, envelope: 'bare' })
      return (rows as readonly { readonly documentId: string; readonly locale?: string | null }[]).map(
        ({ documentId, locale = null }): FoundVersion => ({ documentId, locale, status }),
      )
    }),
  )
  return found.flat()
}
