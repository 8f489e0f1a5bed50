// Indexes of our own beside Strapi's, as plain data: so that a page, its order and its total do not cost what the whole table does.
// Named `octavo_*`; Strapi leaves them alone. Those for signing in are always there, the others with the setting `database.indexes`.

import type { ScalarType } from '../../foundation/public/attribute-types.js'
import { isWorthAnIndex } from '../schema/indexable-attributes.js'
import { ownedLink, schemasOf } from '../schema/owners.js'
import type { ContentType, Model, Scalar, Schema } from '../schema/types.js'

/** An index of our own. */
export interface OwnIndex {
  readonly name: string
  readonly table: string
  readonly columns: readonly string[]
  /** Which rows it has, as SQL; null: all. */
  readonly where: string | null
  /** Whether its last column stands with the highest value first. */
  readonly descending: boolean
  /** Whether lists are read from it: rows with the same values stand in the order of their ids. */
  readonly isOrder: boolean
}

/** Called before an index is created: how many were created before it, and how many were missing. */
export type ReportOwnIndex = (index: OwnIndex, done: number, missing: number) => void

/** What rows are known by: conditions ask for one of these values, in whatever version or locale it is. */
const knownBy: ReadonlySet<ScalarType> = new Set(['string', 'uid', 'email'])

/** What drafts are sorted by: whoever works on them wants the last ones. */
const draftOrder: readonly string[] = ['updatedAt', 'createdAt']

/**
 * What is asked for with the latest first, and hardly ever the same in two rows. Those that are the same stand by their ids, which
 * an index read backwards has the other way round.
 */
const latestFirst: readonly string[] = ['createdAt', 'updatedAt', 'publishedAt']

/**
 * The indexes for a model: one per list that the API serves by default, one per attribute to sort and compare by, one per attribute
 * that rows are known by, one per relation for the last place among a target's owners; and those by which users and their sessions
 * are looked up.
 */
export function describeIndexes(model: Model): readonly OwnIndex[] {
  const content = [...model.types.values()].filter((type) => type.exposed && !type.singleType).flatMap(indexesOf)
  const shapes = schemasOf(model)
  return [...content, ...[...model.components.values()].flatMap(valueIndexesOf), ...shapes.flatMap(linkIndexesOf), ...accountIndexes(model)]
}

/** What signing in, up and out looks for, on the event loop: none of it may cost what all users do; and what the history of documents is found by. */
export const accountIndexes = (model: Model): readonly OwnIndex[] => [
  ...accountColumns.map(([table, suffix, columns]) => indexOf(table, suffix, columns)),
  ...usersOfRoles(model),
]

/** For the last place among the users of a role, where the links have places. */
function usersOfRoles(model: Model): readonly OwnIndex[] {
  const links = ownedLink(model.types.get('plugin::users-permissions.user'), 'role')
  return links === null || links.inverseOrder === null ? [] : [indexOf(links.table, 'by_role', [links.there, links.inverseOrder])]
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

const indexOf = (table: string, suffix: string, columns: readonly string[], where: string | null = null): OwnIndex => ({
  ...{ name: `octavo_${table}_${suffix}`, table, columns, where, descending: false, isOrder: false },
})

function indexesOf(type: ContentType): OwnIndex[] {
  const locale = type.localized ? ['locale'] : []
  const published = type.draftAndPublish ? 'published_at is not null' : null
  const index = (suffix: string, columns: readonly string[], where: string | null) => indexOf(type.table, suffix, columns, where)
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
  const scalars = scalarsOf(type)
  const orders = scalars.map((attribute) => sorted(attribute, '', published))
  if (published === null && !type.localized) return [...lists, ...orders]
  const drafts = scalars.filter(({ name }) => published !== null && draftOrder.includes(name))
  return [
    ...lists,
    ...orders,
    ...drafts.map((attribute) => sorted(attribute, '_of_drafts', 'published_at is null')),
    ...valueIndexesOf(type),
  ]
}

/** The attributes that are worth an index. */
const scalarsOf = ({ attributes }: Schema): readonly Scalar[] =>
  [...attributes.values()].filter((attribute): attribute is Scalar => attribute.kind === 'scalar' && isWorthAnIndex(attribute))

/** Drafts, and rows behind relations, are looked for in all versions and locales at once. */
function valueIndexesOf(shape: Schema): OwnIndex[] {
  const known = scalarsOf(shape).filter(({ type, name }) => knownBy.has(type) && name !== 'documentId')
  return known.map(({ column }) => indexOf(shape.table, `with_${column}`, [column]))
}

/**
 * A new link goes behind the others of its target, which may have as many as there are rows; and components lead to the rows that
 * they belong to.
 */
function linkIndexesOf({ attributes, componentTable }: Schema): OwnIndex[] {
  const owners = componentTable === null ? [] : [indexOf(componentTable, 'by_component', ['cmp_id'])]
  const places = [...attributes.values()].flatMap((attribute) => {
    if (attribute.kind !== 'relation' || attribute.storage.kind !== 'link') return []
    const { table, there, inverseOrder, owner } = attribute.storage
    return owner && inverseOrder !== null ? [indexOf(table, 'by_target', [there, inverseOrder])] : []
  })
  return [...owners, ...places]
}
