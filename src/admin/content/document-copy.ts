// Copies of drafts: as a new document, and from another locale of the same document.

import { getComponentEntries } from '../../content/documents/guard/missing-targets.js'
import { isWritable } from '../../content/documents/input/keys.js'
import type { Body } from '../../content/documents/input/types.js'
import { inputError, invalidAt, notFound } from '../../foundation/errors/errors.js'
import { type AttributeGrants, grantedBelow, isGranted, noAttributes, unionOf } from '../../foundation/grants.js'
import { type Attribute, assertNever, type ContentType, type Model, type Relation, type Schema } from '../../model/schema/types.js'
import { type ContentAccess, checkLocales, type DocumentName, findVersion } from './content-access.js'
import { findUnreadableFields, wholePopulate } from './document-view.js'
import { createDocument, updateDocument } from './document-writes.js'
import { fileIdsIn, findLinks, findTargets, hasMoreThan, isExclusive, toEntries } from './link-targets.js'
import type { Expected } from './write-policy.js'

/** The rules for copying the parts of a version. */
interface CopyRules {
  readonly model: Model
  /** Copies unique values too. */
  readonly keepsUnique: boolean
  readonly keepsPolymorphic: boolean
  /** The document that the copy links to instead of `linked`; null: none. */
  linkTo(attribute: Relation, linked: Body): Body | null
}

/** Rules for a new document: without unique values, and without targets that can have only one owner. */
const newDocumentRules = (model: Model): CopyRules => ({
  model,
  keepsUnique: false,
  keepsPolymorphic: true,
  linkTo: (attribute, { documentId, locale }) =>
    isExclusive(attribute) ? null : { documentId, ...(typeof locale === 'string' ? { locale } : {}) },
})

/** The data of a copy of `version`. Components and identifiers are new. */
export function copyData(copying: CopyRules, shape: Schema, version: Body, creatable: AttributeGrants): Readonly<Record<string, unknown>> {
  const values = [...shape.attributes.values()].flatMap((attribute): (readonly [string, unknown])[] => {
    const value = version[attribute.name]
    if (value === undefined || value === null || !isWritable(shape, attribute) || !isGranted(creatable, attribute.name)) return []
    const copied = copyValue(copying, attribute, value, grantedBelow(creatable, attribute.name))
    return copied === undefined ? [] : [[attribute.name, copied]]
  })
  return Object.fromEntries(values)
}

/** A copied value; undefined: it is left out. */
function copyValue(copying: CopyRules, attribute: Attribute, value: unknown, below: AttributeGrants): unknown {
  const { model, keepsUnique, keepsPolymorphic } = copying
  switch (attribute.kind) {
    case 'scalar':
      return (attribute.unique && !keepsUnique) || attribute.source.writable === false ? undefined : value
    case 'media':
      return toEntries(value).map(({ id }) => id)
    case 'relation':
      return { set: toEntries(value).flatMap((linked) => copying.linkTo(attribute, linked) ?? []) }
    case 'morphTo':
      return attribute.many && keepsPolymorphic ? { set: toEntries(value).map(({ id, __type }) => ({ id, __type })) } : undefined
    case 'morphFrom':
      return undefined
    case 'component': {
      const copies = getComponentEntries(model, attribute, value).map(([component, entry]) => copyData(copying, component, entry, below))
      return attribute.repeatable ? copies : copies[0]
    }
    case 'dynamiczone':
      return getComponentEntries(model, attribute, value).map(([component, entry]) => ({
        __component: component.uid,
        ...copyData(copying, component, entry, below),
      }))
    default:
      return assertNever(attribute)
  }
}

/** The attributes to copy, and their source. */
interface FillRequest {
  readonly from: string
  readonly fields: readonly string[]
}

/**
 * Copies attributes of a draft from another locale. Links lead to the same documents in this locale, where they exist.
 * @throws ApiError 400 for what cannot be taken, 403, 404, 412
 */
export async function fillDocument(
  access: ContentAccess,
  name: DocumentName,
  { from, fields }: FillRequest,
  expected: Expected,
): Promise<void> {
  const { type, documentId, locale } = name
  if (!type.localized || locale === null) throw invalidAt(['from'], `${type.uid} has no locales`, 'unsupported')
  if (from === locale) throw invalidAt(['from'], 'This is the locale that is filled', 'conflict')
  await checkLocales(access, [from], ['from'])
  const attributes = fields.map((field, index) => fillableAttribute(access, type, field, index))
  for (const side of [{ type, documentId, locale: from }, name]) {
    const [hidden] = await findUnreadableFields(access, side, fields)
    if (hidden !== undefined)
      throw invalidAt(['fields', String(fields.indexOf(hidden))], `${hidden} has parts that you may not see`, 'forbidden')
  }
  const whole = wholePopulate(access, type)
  const populate = Object.fromEntries(fields.filter((field) => field in whole).map((field) => [field, whole[field]]))
  const { copiedLinks } = access.limits
  const linkPage = { start: 0, limit: copiedLinks + 1, others: copiedLinks + 1 }
  const source = await findVersion(access, { type, documentId, locale: from }, { populate }, linkPage)
  if (source === null) throw notFound()
  if (hasMoreThan(access.documents.context.model, type, pick(source, fields), copiedLinks)) throw tooManyError(copiedLinks)
  const copying = await fillRules(access, type, locale, pick(source, fields))
  const data = Object.fromEntries(attributes.map((attribute) => [attribute.name, fillValue(copying, attribute, source[attribute.name])]))
  await updateDocument(access, name, data, {
    fields,
    expected,
    copiedFiles: new Set(fileIdsIn(access.documents.context.model, type, source)),
  })
}

const tooManyError = (most: number) =>
  inputError(`More than ${most} links, entries or files cannot be taken at once (limits.copiedLinks)`, [], 'tooMany', { max: most })

const pick = (source: Body, fields: readonly string[]): Body => Object.fromEntries(fields.map((field) => [field, source[field]]))

/** An attribute that can be copied from another locale. @throws ApiError 400 */
function fillableAttribute({ documents, grants }: ContentAccess, type: ContentType, field: string, index: number): Attribute {
  const path = ['fields', String(index)]
  const attribute = type.attributes.get(field)
  const readable = grants.content.readable.get(type.uid) ?? noAttributes
  if (attribute === undefined || !isGranted(readable, field) || !isWritable(type, attribute))
    throw invalidAt(path, `Invalid key ${field}`, 'unknown', { name: field })
  const { model } = documents.context
  if (!('localized' in attribute) || !attribute.localized) throw invalidAt(path, `${field} is the same in all locales`, 'unsupported')
  const isPassword = attribute.kind === 'scalar' && attribute.type === 'password'
  const isShared = attribute.kind === 'relation' && isExclusive(attribute) && !model.types.get(attribute.target)!.localized
  if (isPassword || isShared || attribute.kind === 'morphTo' || attribute.kind === 'morphFrom')
    throw invalidAt(path, `${field} cannot be taken from another locale`, 'unsupported')
  if (attribute.kind === 'relation' && !grants.may(`${attribute.target}.find`))
    throw invalidAt(path, `Invalid key ${field}`, 'unknown', { name: field })
  return attribute
}

/** Rules for copying to a locale. Targets that other documents own are left out. */
async function fillRules(access: ContentAccess, type: ContentType, locale: string, source: Body): Promise<CopyRules> {
  const { model } = access.documents.context
  const links = findLinks(model, type, source, ({ localized }) => localized).map((link) => ({ ...link, locale }))
  if (links.length > access.limits.copiedLinks) throw tooManyError(access.limits.copiedLinks)
  const isThere = await findTargets(access, links, 'draft')
  return {
    model,
    keepsUnique: true,
    keepsPolymorphic: true,
    linkTo: (attribute, { documentId }) => {
      const target = model.types.get(attribute.target)!
      if (!target.localized) return isExclusive(attribute) ? null : { documentId }
      return isThere(target, String(documentId), locale) ? { documentId, locale } : null
    },
  }
}

/** The value for the target locale; empty values clear the attribute. */
function fillValue(copying: CopyRules, attribute: Attribute, value: unknown): unknown {
  const isList =
    attribute.kind === 'dynamiczone' ||
    (attribute.kind === 'component' && attribute.repeatable) ||
    (attribute.kind === 'media' && attribute.many)
  if (value !== null && value !== undefined) return copyValue(copying, attribute, value, 'all')
  if (attribute.kind === 'relation') return { set: [] }
  return isList ? [] : null
}

/** Copies a draft to a new document, with `data` replacing attributes. Returns its documentId. @throws ApiError 400, 403, 404, 409 */
export async function cloneDocument(access: ContentAccess, name: DocumentName, data: Body): Promise<string> {
  const { type, locale } = name
  const { model } = access.documents.context
  if (type.singleType) throw inputError('A single type has one document', [], 'unsupported')
  const version = await findVersion(access, name, { populate: wholePopulate(access, type) })
  if (version === null) throw notFound()
  const rights = access.grants.content.toWrite(type.uid, 'create')
  const creatable = rights.map(({ attributes }) => attributes).reduce(unionOf, noAttributes)
  const copied = copyData(newDocumentRules(model), type, version, creatable)
  return createDocument(access, type, locale, { ...copied, ...data }, { copiedFiles: new Set(fileIdsIn(model, type, version)) })
}
