// Filling attributes of a draft from another locale of the same document.
import { isWritable } from '../../content/documents/input/keys.js'
import type { Body } from '../../content/documents/input/types.js'
import { notFound, validationError } from '../../foundation/errors/errors.js'
import { isGranted, noAttributes } from '../../foundation/grants.js'
import type { Attribute, ContentType } from '../../model/schema/types.js'
import { type ContentAccess, checkLocales, type DocumentName, findVersions, inLocale, wrongAt } from './content-access.js'
import { type Copying, copiedValue } from './document-copy.js'
import { viewerOf } from './document-view.js'
import { updateDocument } from './document-writes.js'
import { fileIdsIn, hasMoreThan, isExclusive, linksOf, targetsOf } from './found-links.js'
import { hiddenInDraft } from './hidden-parts.js'
import { wholePopulate } from './shown-attributes.js'
import type { Expected } from './write-policy.js'

/** What is taken from where. */
export interface WantedFill {
  readonly from: string
  /** Names of attributes. */
  readonly fields: readonly string[]
}

/**
 * Gives attributes of a draft the values that they have in the draft of another locale. Links lead to the same documents in this locale, as far
 * as these have it.
 * @throws ApiError 400 for what cannot be taken, 403, 404, 412
 */
export async function fillDocument(
  access: ContentAccess,
  name: DocumentName,
  { from, fields }: WantedFill,
  expected: Expected,
): Promise<void> {
  const { type, documentId, locale } = name
  if (!type.localized || locale === null) throw wrongAt(['from'], `${type.uid} has no locales`)
  if (from === locale) throw wrongAt(['from'], 'This is the locale that is filled')
  await checkLocales(access, [from], ['from'])
  const attributes = fields.map((field, index) => fillable(access, type, field, index))
  for (const side of [{ type, documentId, locale: from }, name]) {
    const [hidden] = await hiddenInDraft(access, side, fields)
    if (hidden !== undefined) throw wrongAt(['fields', String(fields.indexOf(hidden))], `${hidden} has parts that you may not see`)
  }
  const whole = wholePopulate(viewerOf(access), type)
  const populate = Object.fromEntries(fields.filter((field) => field in whole).map((field) => [field, whole[field]]))
  const parameters = { ...inLocale(from), status: 'draft', populate }
  const { filledLinks } = access.limits
  const linkPage = { start: 0, limit: filledLinks + 1, others: filledLinks + 1 }
  const source = (await findVersions(access, { type, mode: 'first', documentId, parameters, linkPage })) as Body | null
  if (source === null) throw notFound()
  if (hasMoreThan(access.documents.context.model, type, pick(source, fields), filledLinks)) throw tooMany(filledLinks)
  const copying = await copyingTo(access, type, locale, pick(source, fields))
  const data = Object.fromEntries(attributes.map((attribute) => [attribute.name, filledValue(copying, attribute, source[attribute.name])]))
  await updateDocument(access, name, data, {
    fields,
    expected,
    copiedFiles: new Set(fileIdsIn(access.documents.context.model, type, source)),
  })
}

const tooMany = (most: number) => validationError(`More than ${most} links, entries or files cannot be taken at once (limits.filledLinks)`)

const pick = (source: Body, fields: readonly string[]): Body => Object.fromEntries(fields.map((field) => [field, source[field]]))

/** The attribute of a field that can be filled. @throws ApiError 400 */
function fillable({ documents, grants }: ContentAccess, type: ContentType, field: string, index: number): Attribute {
  const path = ['fields', String(index)]
  const attribute = type.attributes.get(field)
  const readable = grants.content?.readable.get(type.uid) ?? noAttributes
  if (attribute === undefined || !isGranted(readable, field) || !isWritable(type, attribute)) throw wrongAt(path, `Invalid key ${field}`)
  const { model } = documents.context
  if (!('localized' in attribute) || !attribute.localized) throw wrongAt(path, `${field} is the same in all locales`)
  const isPassword = attribute.kind === 'scalar' && attribute.type === 'password'
  const isShared = attribute.kind === 'relation' && isExclusive(attribute) && !model.types.get(attribute.target)!.localized
  if (isPassword || isShared || attribute.kind === 'morphTo' || attribute.kind === 'morphFrom')
    throw wrongAt(path, `${field} cannot be taken from another locale`)
  if (attribute.kind === 'relation' && !grants.may(`${attribute.target}.find`)) throw wrongAt(path, `Invalid key ${field}`)
  return attribute
}

/** How values are copied to a locale. What other documents have there already is left out. */
async function copyingTo(access: ContentAccess, type: ContentType, locale: string, source: Body): Promise<Copying> {
  const { model } = access.documents.context
  const links = linksOf(model, type, source, ({ localized }) => localized).map((link) => ({ ...link, locale }))
  if (links.length > access.limits.filledLinks) throw tooMany(access.limits.filledLinks)
  const isThere = await targetsOf(access, links, 'draft')
  return {
    ...{ model, keepsUnique: true, keepsPolymorphic: true },
    linkTo: (attribute, { documentId }) => {
      const target = model.types.get(attribute.target)!
      if (!target.localized) return isExclusive(attribute) ? null : { documentId }
      return isThere(target, String(documentId), locale) ? { documentId, locale } : null
    },
  }
}

/** A value as it is taken; what is empty there becomes empty here. */
function filledValue(copying: Copying, attribute: Attribute, value: unknown): unknown {
  const isList =
    attribute.kind === 'dynamiczone' ||
    (attribute.kind === 'component' && attribute.repeatable) ||
    (attribute.kind === 'media' && attribute.many)
  if (value !== null && value !== undefined) return copiedValue(copying, attribute, value, 'all')
  if (attribute.kind === 'relation') return { set: [] }
  return isList ? [] : null
}
