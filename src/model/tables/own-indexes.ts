// Octavo's indexes in addition to Strapi's, as plain data, so that lists and counts do not scan the table. Named `octavo_*`; Strapi ignores
// them. Those for signing in always exist, the others with the setting `database.indexes`.

import type { ScalarType } from '../../foundation/public/attribute-types.js'
import { allSchemas, isWorthAnIndex, ownedLink } from '../schema/graph.js'
import type { ContentType, Model, Scalar, Schema } from '../schema/types.js'

export interface OwnIndex {
  readonly name: string
  readonly table: string
  readonly columns: readonly string[]
  /** Partial index condition as SQL; null: all rows. */
  readonly where: string | null
  /** True if its last column is descending. */
  readonly descending: boolean
  /** True if lists read it: rows with equal values are ordered by id. */
  readonly isOrder: boolean
}

/** Called before an index is created. */
export type ReportOwnIndex = (index: OwnIndex, done: number, missing: number) => void

/** Types that identify rows; conditions compare them in all versions and locales. */
const identifyingTypes: ReadonlySet<ScalarType> = new Set(['string', 'uid', 'email'])

/** Drafts are listed by latest change. */
const draftOrder: readonly string[] = ['updatedAt', 'createdAt']

/** Attributes listed latest first, with hardly any equal values. Equal values are ordered by id, which an index read backwards reverses. */
const latestFirst: readonly string[] = ['createdAt', 'updatedAt', 'publishedAt']

/**
 * One index for each default list, each attribute for sorting and comparison, each identifying attribute, each relation for the last
 * position among a target's owners, and those for users and their sessions.
 */
export function describeIndexes(model: Model): readonly OwnIndex[] {
  const content = [...model.types.values()].filter((type) => type.exposed && !type.singleType).flatMap(typeIndexes)
  const shapes = allSchemas(model)
  return [...content, ...[...model.components.values()].flatMap(valueIndexes), ...shapes.flatMap(linkIndexes), ...accountIndexes(model)]
}

/** Indexes for sign-in, sign-up and sign-out, which run on the event loop and must not scan all users, and for the history of documents. */
export const accountIndexes = (model: Model): readonly OwnIndex[] => [
  ...accountColumns.map(([table, suffix, columns]) => createIndex(table, suffix, columns)),
  ...roleIndexes(model),
]

/** Finds the last position among the users of a role. */
function roleIndexes(model: Model): readonly OwnIndex[] {
  const links = ownedLink(model.types.get('plugin::users-permissions.user'), 'role')
  return links === null || links.inverseOrder === null ? [] : [createIndex(links.table, 'by_role', [links.there, links.inverseOrder])]
}

/** Strapi's table of the history of documents. */
export const historyTable = 'strapi_history_versions'

const accountColumns: readonly (readonly [table: string, suffix: string, columns: readonly string[]])[] = [
  ['up_users', 'by_email', ['email']],
  ['up_users', 'by_username', ['username']],
  ['strapi_sessions', 'by_session', ['session_id']],
  ['strapi_sessions', 'by_user', ['user_id']],
  ['strapi_sessions', 'by_end', ['expires_at']],
  [historyTable, 'by_document', ['related_document_id']],
  [historyTable, 'by_age', ['created_at']],
]

const createIndex = (table: string, suffix: string, columns: readonly string[], where: string | null = null): OwnIndex => ({
  name: `octavo_${table}_${suffix}`,
  table,
  columns,
  where,
  descending: false,
  isOrder: false,
})

function typeIndexes(type: ContentType): OwnIndex[] {
  const locale = type.localized ? ['locale'] : []
  const published = type.draftAndPublish ? 'published_at is not null' : null
  const index = (suffix: string, columns: readonly string[], where: string | null) => createIndex(type.table, suffix, columns, where)
  const sorted = ({ column, name }: Scalar, suffix: string, where: string | null): OwnIndex => {
    const descending = latestFirst.includes(name)
    const kind = descending ? 'latest' : 'by'
    return { ...index(`${kind}_${column}${suffix}`, [...locale, column], where), descending, isOrder: true }
  }
  const lists = [
    ...(published === null
      ? []
      : [index('published', [...locale, 'id'], published), index('drafts', [...locale, 'id'], 'published_at is null')]),
    ...(published === null && type.localized ? [index('locale', ['locale', 'id'], null)] : []),
  ]
  const scalars = indexableScalars(type)
  const orders = scalars.map((attribute) => sorted(attribute, '', published))
  if (published === null && !type.localized) return [...lists, ...orders]
  const drafts = scalars.filter(({ name }) => published !== null && draftOrder.includes(name))
  return [...lists, ...orders, ...drafts.map((attribute) => sorted(attribute, '_of_drafts', 'published_at is null')), ...valueIndexes(type)]
}

const indexableScalars = ({ attributes }: Schema): readonly Scalar[] =>
  [...attributes.values()].filter((attribute): attribute is Scalar => attribute.kind === 'scalar' && isWorthAnIndex(attribute))

/** Drafts, and rows reached by relations, are searched in all versions and locales. */
function valueIndexes(shape: Schema): OwnIndex[] {
  const known = indexableScalars(shape).filter(({ type, name }) => identifyingTypes.has(type) && name !== 'documentId')
  return known.map(({ column }) => createIndex(shape.table, `with_${column}`, [column]))
}

/** A new link is appended to the others of its target, of which there may be as many as rows; components are joined to their owners. */
function linkIndexes({ attributes, componentTable }: Schema): OwnIndex[] {
  const owners = componentTable === null ? [] : [createIndex(componentTable, 'by_component', ['cmp_id'])]
  const places = [...attributes.values()].flatMap((attribute) => {
    if (attribute.kind !== 'relation' || attribute.storage.kind !== 'link') return []
    const { table, there, inverseOrder, owner } = attribute.storage
    return owner && inverseOrder !== null ? [createIndex(table, 'by_target', [there, inverseOrder])] : []
  })
  return [...owners, ...places]
}
