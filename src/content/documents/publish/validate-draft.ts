// Validates a draft before its publication: the whole document has to satisfy every rule, with the recorded errors.
import { sql } from 'kysely'
import type { Transaction } from '../../../database/database.js'
import { andSameLocale } from '../../../database/portable-sql.js'
import { hasConditions } from '../../../model/schema/conditions.js'
import type { Attribute, ContentType, Model, Schema } from '../../../model/schema/types.js'
import { type ErrorReader, redactErrors } from '../input/errors.js'
import { attributeErrors, documentErrors, mayBePublished } from '../input/input.js'
import { hasRequiredLinks, isRequiredLink, leadsToDrafts, missingLinks } from '../input/required-links.js'
import type { Body, FindTaken, InputContext } from '../input/types.js'
import type { Plans } from '../read/plans.js'
import { type Extent, getLinkedType, readWhole } from '../read/whole-document.js'

/** The extent of the given data: all of a new document, everything in which the draft differs from the published row, or less than that. */
export type ValidatedPart = 'new' | 'part' | 'whole'

export interface ValidatedDraft {
  readonly type: ContentType
  readonly id: number
  /** The given data, and its extent. */
  readonly data: unknown
  readonly given: ValidatedPart
  readonly findTaken: FindTaken
  /** The recipient of errors. */
  readonly reader: ErrorReader
}

/**
 * Checks a draft before it is published. The given data has to satisfy the strict rules first; only if that fails, or when the draft
 * holds more than that, the whole stored document is read and validated.
 * @throws ApiError 400
 */
export async function validateDraft(
  context: InputContext,
  plans: Plans,
  transaction: Transaction,
  { type, id, data, given, findTaken, reader }: ValidatedDraft,
): Promise<void> {
  const { model } = context
  // Given values may reveal other attributes.
  const holdsLinks = context.strictRelations === true && hasRequiredLinks(model, type)
  const isDecided = !hasConditions(model, type) && !holdsLinks && !keepsUniqueEntries(model, type, data)
  const publishesLinks = holdsLinks && type.draftAndPublish && leadsToDrafts(model, type)
  const saysAll = (given === 'new' && !publishesLinks) || (given === 'part' && isDecided)
  if (saysAll && (await mayBePublished(context, type, data, given === 'new', findTaken))) return
  const read = (extent: Extent) => readWhole(context.model, plans, transaction, type, id, extent)
  const errorsOf = (document: Body) => documentErrors(context, type, document, reader, findTaken)
  const document = await read(holdsLinks ? 'required' : 'values')
  if (document === null) return
  const linked = publishesLinks ? await publishedLinks(model, transaction, type, document) : document
  const links = redactErrors(model, type, missingLinks(context, type, linked), reader)
  const errors = await errorsOf(document)
  if (errors.length + links.length === 0) return
  // Errors show components with the relations that they would be published with.
  const shown = await errorsOf(await shownRelations(context.model, transaction, type, (await read('components'))!))
  throw attributeErrors([...(shown.length > 0 ? shown : errors), ...links])
}

/**
 * True if the data retains list entries by their ids, without repeating their unique values: whether these differ from those of the
 * other entries only the stored document shows.
 */
function keepsUniqueEntries(model: Model, type: ContentType, data: unknown): boolean {
  if (typeof data !== 'object' || data === null) return false
  return Object.entries(data).some(([name, value]) => {
    const attribute = type.attributes.get(name)
    if (attribute?.kind !== 'component' || !Array.isArray(value) || value.length < 2) return false
    const attributes = [...model.components.get(attribute.component)!.attributes.values()]
    return attributes.some((inner) => inner.kind === 'scalar' && inner.unique) && value.some((entry) => entry?.id !== undefined)
  })
}

/** Replacement for an attribute's links; null keeps the attribute as it is. */
type Relink = (shape: Schema, attribute: Attribute) => ((rows: LinkedRows) => Promise<unknown>) | null
type LinkedRows = readonly { readonly id: number }[]

/** A stored document with other links, in its components too. */
async function replaceLinks(model: Model, shape: Schema, body: Body, relink: Relink): Promise<Body> {
  const changed: Record<string, unknown> = { ...body }
  const below = async (one: unknown, uid: string) => {
    const component = model.components.get(uid)
    return component === undefined ? one : replaceLinks(model, component, one as Body, relink)
  }
  for (const attribute of shape.attributes.values()) {
    const value = body[attribute.name]
    const links = relink(shape, attribute)
    if (links !== null) changed[attribute.name] = await links((Array.isArray(value) ? value : value ? [value] : []) as LinkedRows)
    else if (attribute.kind === 'component' && value)
      changed[attribute.name] = Array.isArray(value)
        ? await Promise.all(value.map((one) => below(one, attribute.component)))
        : await below(value, attribute.component)
    else if (attribute.kind === 'dynamiczone' && Array.isArray(value))
      changed[attribute.name] = await Promise.all(value.map((one) => below(one, String((one as Body).__component))))
  }
  return changed
}

const asLinks = (ids: readonly number[]) => ids.map((id) => ({ id }))

/** A stored document with the required links alone that it is published with: those to documents with a published version. */
const publishedLinks = (model: Model, transaction: Transaction, type: ContentType, body: Body): Promise<Body> =>
  replaceLinks(model, type, body, (_shape, attribute) => {
    const target = attribute.kind === 'relation' && isRequiredLink(attribute) ? model.types.get(attribute.target)! : null
    return target?.draftAndPublish === true ? async (rows) => asLinks(await publishedIds(transaction, target, rows)) : null
  })

/** A stored document with the relations of components in Strapi's form: the published rows, below `set`. */
const shownRelations = (model: Model, transaction: Transaction, type: ContentType, body: Body): Promise<Body> =>
  replaceLinks(model, type, body, (shape, attribute) => {
    const target = shape.kind === 'component' ? getLinkedType(model, attribute) : null
    const isMany = 'many' in attribute && attribute.many
    return target === null
      ? null
      : async (rows) => (rows.length === 0 && !isMany ? null : { set: asLinks(await publishedIds(transaction, target, rows)) })
  })

async function publishedIds(transaction: Transaction, target: ContentType, rows: LinkedRows): Promise<number[]> {
  if (!target.draftAndPublish || rows.length === 0) return rows.map(({ id }) => id)
  const found = await transaction.rows<{ draft: number; id: number }>(
    sql`select d.id as draft, p.id as id from ${sql.table(target.table)} d join ${sql.table(target.table)} p
      on p.document_id = d.document_id${andSameLocale(target, sql`p.locale`, sql`d.locale`)} and p.published_at is not null
      where d.id in (${transaction.dialect.list(rows.map(({ id }) => id))})`,
  )
  return rows.flatMap(({ id }) => found.filter(({ draft }) => draft === id).map((row) => row.id))
}
