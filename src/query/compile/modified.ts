// Compares a draft with its published version, as a condition on the two rows: their values, components, files and links. Lists
// and publishing writes share it (decision 017).
import { sql } from 'kysely'
import type { Dialect, Expression } from '../../database/dialect.js'
import {
  andSameLocale,
  cast,
  concat,
  differs,
  isSame,
  joinedTexts,
  type ListedDocuments,
  type SelectedRows,
} from '../../database/portable-sql.js'
import { type ColumnRelation, columnRelations } from '../../model/schema/graph.js'
import type { Attribute, ContentType, LinkStorage, Model, MorphFrom, MorphTo, Relation, Scalar, Schema } from '../../model/schema/types.js'
import { column } from './joins.js'

type LinkRelation = Relation & { readonly storage: LinkStorage }
export interface VersionComparison {
  readonly dialect: Dialect
  readonly model: Model
  /** Binds a text of the model. */
  readonly text: (value: string) => Expression
  readonly nextAlias: () => string
  /**
   * `publication`: everything that publishing the draft would change. `list`: ignores changes that Strapi's publication itself makes
   * in its copy, and invisible ones, unless the draft was changed since; the components and links of an unsaved draft count as unchanged.
   */
  readonly purpose: 'publication' | 'list'
}

interface Comparison extends VersionComparison {
  /** The condition for an exact comparison; null: always exact. */
  readonly exact: Expression | null
  /** Two locales of one state are compared: links lead to the same documents, each in its locale. */
  readonly isAcross?: boolean
}

const any = (conditions: readonly Expression[]): Expression =>
  conditions.length === 0 ? sql`1 = 0` : sql`(${sql.join([...conditions], sql` or `)})`
const texts = ({ text }: VersionComparison, values: readonly string[]): Expression => sql.join(values.map(text))

/** True if the draft `draft` of `type` differs from the published row `live` of the same document and locale. */
export function isModified(comparing: VersionComparison, type: ContentType, draft: string, live: string): Expression {
  const noted = sql`exists (select 1 from octavo_modified_drafts as n where n.type = ${comparing.text(type.uid)} and n.row_id = ${column(draft, 'id')})`
  const [saved, published] = [column(draft, 'updated_at'), column(live, 'updated_at')]
  const isList = comparing.purpose === 'list'
  const within: Comparison = { ...comparing, exact: isList ? sql`(${saved} > ${published} or ${noted})` : null }
  const relations = getLinkRelations(type)
  const lists = relations.filter(({ storage }) => !storage.owner)
  // The lists of the other side may be long. A change of one is either Octavo's, which notes it, or saves the draft.
  const isSaved = sql`(${differs(saved, published)} or ${noted})`
  const others = [
    ...lists.map((relation) => linksDiffer(within, relation, draft, live)),
    ...[...type.attributes.values()].flatMap((attribute) =>
      attribute.kind === 'morphFrom' ? pointingDiffer(within, attribute, type, draft, live) : [],
    ),
  ]
  const inverse = others.length === 0 ? [] : [sql`(${isSaved} and ${any(others)})`]
  const rest = [...ownedRowsDiffer(within, type, draft, live, isBidirectional), ...inverse]
  return any([
    ...valuesDiffer(within, type, draft, live),
    ...relations.filter(isBidirectional(within.model)).map((relation) => linksDiffer(within, relation, draft, live)),
    ...(rest.length === 0 ? [] : [isList ? sql`(${isSaved} and ${any(rest)})` : any(rest)]),
  ])
}

/** True if two rows of `type` in one state, in two locales, differ in the attributes selected by `isMeant`. Relations of the rows do not count. */
export function areOutOfSync(
  comparing: VersionComparison,
  type: ContentType,
  one: string,
  other: string,
  isMeant: (attribute: Attribute) => boolean,
): Expression {
  const attributes = new Map([...type.attributes].filter(([, attribute]) => isMeant(attribute)))
  const within: Comparison = { ...comparing, exact: null, isAcross: true }
  const shape = { ...type, attributes }
  return any([...valuesDiffer(within, shape, one, other), ...ownedRowsDiffer(within, shape, one, other)])
}

/** Links of drafts that also change when a draft of the other side is saved, without a trace on this side. */
const isBidirectional =
  ({ types }: Model) =>
  ({ storage, inverse, target }: LinkRelation): boolean =>
    storage.owner && inverse !== null && types.get(target)!.draftAndPublish

function valuesDiffer(within: Comparison, shape: Schema, draft: string, live: string): readonly Expression[] {
  const scalars = [...shape.attributes.values()].filter((attribute): attribute is Scalar => attribute.kind === 'scalar')
  return [
    ...scalars.filter(({ system }) => !system).map((scalar) => valueDiffers(within, scalar, draft, live)),
    ...columnRelations([...shape.attributes.values()]).map((pointer) => pointerDiffers(within, pointer, draft, live)),
  ]
}

/** True if columns point to different documents. */
function pointerDiffers(within: Comparison, { storage, target: uid }: ColumnRelation, draft: string, live: string): Expression {
  const target = within.model.types.get(uid)!
  const versions = target.draftAndPublish || (within.isAcross === true && target.localized)
  const named = (row: string) => column(row, storage.column)
  if (storage.references !== 'id' || !versions) return within.dialect.differs(named(draft), named(live))
  const document = (row: string) => {
    const alias = within.nextAlias()
    const text = within.isAcross ? column(alias, 'document_id') : toDocument(target, alias)
    return sql`(select ${text} from ${sql.table(target.table)} as ${sql.id(alias)} where ${column(alias, 'id')} = ${named(row)})`
  }
  return differs(document(draft), document(live))
}

/** Differences in everything that a row owns except its columns; without the relations that are compared separately. */
function ownedRowsDiffer(
  within: Comparison,
  shape: Schema,
  draft: string,
  live: string,
  isApart: typeof isBidirectional = () => () => false,
): readonly Expression[] {
  const attributes = [...shape.attributes.values()]
  const owned = getLinkRelations(shape).filter((relation) => relation.storage.owner && !isApart(within.model)(relation))
  return [
    ...owned.map((relation) => linksDiffer(within, relation, draft, live)),
    ...mediaDiffer(within, shape, attributes, draft, live),
    ...entriesDiffer(within, shape, attributes, draft, live),
    ...attributes.flatMap((attribute) => (attribute.kind === 'morphTo' ? [pointersDiffer(within, attribute, draft, live)] : [])),
  ]
}

const getLinkRelations = (shape: Schema): readonly LinkRelation[] =>
  [...shape.attributes.values()].filter(
    (attribute: Attribute): attribute is LinkRelation => attribute.kind === 'relation' && attribute.storage.kind === 'link',
  )

/** Strapi's publication hashes passwords again, rounds large integers, and misreads timestamps next to 1970. */
const coarseComparisons: Partial<Record<Scalar['type'], (dialect: Dialect, one: Expression, other: Expression) => Expression>> = {
  password: (_dialect, one, other) => sql`(${one} is null) <> (${other} is null)`,
  biginteger: (_dialect, one, other) => differs(cast(one, 'double precision'), cast(other, 'double precision')),
  timestamp: (dialect, one, other) => dialect.timestampsDiffer(one, other),
}

function valueDiffers({ dialect, exact }: Comparison, { type, column: name }: Scalar, draft: string, live: string): Expression {
  const [one, other] = [column(draft, name), column(live, name)]
  const isOther = dialect.differs(one, other)
  const blurred = coarseComparisons[type]
  return blurred === undefined || exact === null ? isOther : sql`(${isOther} and (${blurred(dialect, one, other)} or ${exact}))`
}

/** A set of rows as a function of alias and owner, and the equality of two of them. Sets differ in number, or in a row without an equal. */
interface Rows {
  readonly from: (alias: string, owner: string) => Expression
  readonly same: (one: string, other: string) => Expression
}

function rowsDiffer({ nextAlias }: VersionComparison, { from, same }: Rows, draft: string, live: string): Expression {
  const [one, other] = [nextAlias(), nextAlias()]
  const count = (owner: string) => sql`(select count(*) from ${from(one, owner)})`
  return sql`(${count(draft)} <> ${count(live)} or exists (select 1 from ${from(one, draft)} and not exists (select 1 from ${from(other, live)} and ${same(one, other)})))`
}

function mediaDiffer(
  within: Comparison,
  shape: Schema,
  attributes: readonly Attribute[],
  draft: string,
  live: string,
): readonly Expression[] {
  const { unindexed } = within.dialect
  const fields = attributes.filter(({ kind }) => kind === 'media').map(({ name }) => name)
  if (fields.length === 0) return []
  const from = (
    alias: string,
    owner: string,
  ) => sql`files_related_mph as ${sql.id(alias)} where ${column(alias, 'related_id')} = ${column(owner, 'id')}
    and ${unindexed(column(alias, 'related_type'))} = ${within.text(shape.uid)} and ${unindexed(column(alias, 'field'))} in (${texts(within, fields)})`
  const same = (one: string, other: string) =>
    sql.join(
      ['file_id', 'field', 'order'].map((name) => isSame(unindexed(column(other, name)), column(one, name))),
      sql` and `,
    )
  const listed = (owner: string): Expression => {
    const link = within.nextAlias()
    const order = ['field', 'order', 'id'].map((name) => column(link, name))
    return sql`(select ${joinedTexts(concat(column(link, 'field'), ' ', column(link, 'file_id')), sql.join(order))} from ${from(link, owner)})`
  }
  return [sql`(${rowsDiffer(within, { from, same }, draft, live)} and ${differs(listed(draft), listed(live))})`]
}

function entriesDiffer(
  within: Comparison,
  shape: Schema,
  attributes: readonly Attribute[],
  draft: string,
  live: string,
): readonly Expression[] {
  const holders = attributes.flatMap((attribute) => {
    if (attribute.kind === 'component') return [{ name: attribute.name, components: [attribute.component] }]
    return attribute.kind === 'dynamiczone' ? [{ name: attribute.name, components: attribute.components }] : []
  })
  const uids = [...new Set(holders.flatMap(({ components }) => components))]
  if (uids.length === 0) return []
  const fields = holders.map(({ name }) => name)
  const { unindexed } = within.dialect
  const from = (alias: string, owner: string) => sql`${sql.table(shape.componentTable!)} as ${sql.id(alias)}
    where ${column(alias, 'entity_id')} = ${column(owner, 'id')} and ${unindexed(column(alias, 'field'))} in (${texts(within, fields)})
    and ${unindexed(column(alias, 'component_type'))} in (${texts(within, uids)})`
  const same = (one: string, other: string) => {
    const below = uids.map((uid) => {
      const component = within.model.components.get(uid)!
      const [mine, theirs] = [within.nextAlias(), within.nextAlias()]
      const differs = any([...valuesDiffer(within, component, mine, theirs), ...ownedRowsDiffer(within, component, mine, theirs)])
      const tables = within.dialect.joinedInOrder([mine, theirs].map((alias) => sql`${sql.table(component.table)} as ${sql.id(alias)}`))
      return sql`when ${within.text(uid)} then exists (select 1 from ${tables}
        where ${column(mine, 'id')} = ${column(one, 'cmp_id')} and ${column(theirs, 'id')} = ${column(other, 'cmp_id')} and not ${differs})`
    })
    const alike = ['field', 'component_type', 'order'].map((name) => isSame(unindexed(column(other, name)), column(one, name)))
    return sql`${sql.join(alike, sql` and `)} and case ${column(one, 'component_type')} ${sql.join(below, sql` `)} end`
  }
  return [rowsDiffer(within, { from, same }, draft, live)]
}

/** The document that a row belongs to, in its locale, if its type has locales. */
const toDocument = ({ localized }: ContentType, row: string): Expression =>
  concat(column(row, 'document_id'), ' ', ...(localized ? [sql`coalesce(${column(row, 'locale')}, '')`] : []))

/** True if the document of the row `t` is published in its locale. */
const hasPublishedVersion = (target: ContentType): Expression =>
  sql`exists (select 1 from ${sql.table(target.table)} as p where p.document_id = t.document_id${andSameLocale(target, sql`p.locale`, sql`t.locale`)} and p.published_at is not null)`

/** True if links lead to different documents, or in a different order. */
function linksDiffer(within: Comparison, { storage, target: uid }: LinkRelation, draft: string, live: string): Expression {
  const target = within.model.types.get(uid)!
  const { table, here, there } = storage
  const { documentList: listOf, joinedInOrder } = within.dialect
  const place = storage.order === null ? sql`0` : sql.id('l', storage.order)
  const linked = joinedInOrder([sql`${sql.table(table)} as l`, sql`${sql.table(target.table)} as t`])
  const targetsOf = (owner: string) => sql`${linked} where t.id = ${sql.id('l', there)} and ${sql.id('l', here)} = ${column(owner, 'id')}`
  if (within.isAcross && (target.localized || target.draftAndPublish)) {
    const rows = (owner: string) => listOf([{ document: sql`t.document_id`, place, id: sql`l.id`, from: targetsOf(owner) }])
    return differs(rows(draft), rows(live))
  }
  if (!target.draftAndPublish) {
    const rows = (owner: string) => {
      const from = sql`${sql.table(table)} as l where ${sql.id('l', here)} = ${column(owner, 'id')}`
      return listOf([{ document: sql.id('l', there), place, id: sql`l.id`, from }])
    }
    if (storage.order !== null) return differs(rows(draft), rows(live))
    const only = (owner: string) =>
      sql`(select ${sql.id('l', there)} from ${sql.table(table)} as l where ${sql.id('l', here)} = ${column(owner, 'id')} order by 1 limit 1)`
    return differs(only(draft), only(live))
  }
  const document = toDocument(target, 't')
  const isPublished = hasPublishedVersion(target)
  const counts = !storage.owner ? isPublished : within.exact === null ? sql`1 = 1` : sql`(${isPublished} or ${within.exact})`
  const drafted: ListedDocuments = { document, place, id: sql`l.id`, from: sql`${targetsOf(draft)} and ${counts}`, once: true }
  const shown: ListedDocuments = { document, place, id: sql`l.id`, from: targetsOf(live) }
  const rows = storage.owner ? [shown, pendingDocuments(within, table, live, [target])] : [shown]
  // Most documents use few of their type's relations.
  const links = (owner: string) => sql`exists (select 1 from ${sql.table(table)} as l where ${sql.id('l', here)} = ${column(owner, 'id')})`
  const hidden = storage.owner ? sql` or exists (select 1 from octavo_pending_links as h where h.owner_id = ${column(live, 'id')})` : sql``
  return sql`((${links(draft)} or ${links(live)}${hidden}) and ${differs(listOf([drafted]), listOf(rows))})`
}

/** The targets of a published row's pending links. */
function pendingDocuments(within: Comparison, table: string, live: string, targets: readonly ContentType[]): ListedDocuments {
  const isThere = targets.map(
    (target) => sql`exists (select 1 from ${sql.table(target.table)} as t where h.target_type = ${within.text(target.uid)}
      and t.document_id = h.target_document${andSameLocale(target, sql`t.locale`, sql`h.target_locale`)})`,
  )
  const counts = within.exact === null ? sql`` : sql` and ${within.exact}`
  return {
    document: concat(sql`h.target_document`, ' ', ...pendingLocale(within, targets)),
    place: sql`h.place`,
    id: sql`h.id`,
    from: sql`octavo_pending_links as h
    where h.owner_id = ${column(live, 'id')} and h.link_table = ${within.text(table)} and ${any(isThere)}${counts}`,
  }
}

/** The locale of a pending target, if its type has locales. */
function pendingLocale({ text }: Comparison, targets: readonly ContentType[]): readonly Expression[] {
  const localized = targets.filter((target) => target.localized)
  if (localized.length === 0) return []
  const locale = sql`coalesce(h.target_locale, '')`
  if (localized.length === targets.length) return [locale]
  return [sql`case when h.target_type in (${sql.join(localized.map(({ uid }) => text(uid)))}) then ${locale} else '' end`]
}

/** True if different documents point to the two rows. Targets without drafts have a single version, so nothing to compare. */
function pointingDiffer(
  within: Comparison,
  { name, target: uid, storage }: MorphFrom,
  type: ContentType,
  draft: string,
  live: string,
): readonly Expression[] {
  const target = within.model.types.get(uid)!
  if (!target.draftAndPublish) return []
  const { unindexed, documentList: listOf } = within.dialect
  const [id, kind] = [sql.id('l', storage.id), sql.id('l', storage.type)]
  const [from, place] =
    storage.kind === 'table'
      ? [
          sql`${sql.table(storage.table)} as l join ${sql.table(target.table)} as t on t.id = ${sql.id('l', storage.here)} and ${unindexed(sql`l.field`)} = ${within.text(name)}`,
          sql.id('l', storage.order),
        ]
      : [sql`${sql.table(target.table)} as l join ${sql.table(target.table)} as t on t.id = l.id`, sql`0`]
  const rows = (owner: string, which: Expression) =>
    listOf([
      {
        document: toDocument(target, 't'),
        place,
        id: sql`l.id`,
        from: sql`${from} where ${id} = ${column(owner, 'id')} and ${unindexed(kind)} = ${within.text(type.uid)} and ${which}`,
      },
    ])
  const drafted = rows(draft, sql`t.published_at is null and ${hasPublishedVersion(target)}`)
  return [differs(drafted, rows(live, sql`t.published_at is not null`))]
}

/** The same for relations whose target type is stored in each row. */
function pointersDiffer(within: Comparison, { storage }: MorphTo, draft: string, live: string): Expression {
  const sided = [...within.model.types.values()].filter(({ draftAndPublish }) => draftAndPublish)
  const document = (type: Expression, id: Expression): Expression => {
    if (sided.length === 0) return cast(id, 'text')
    const each = sided.map(
      (target) =>
        sql`when ${within.text(target.uid)} then (select ${toDocument(target, 't')} from ${sql.table(target.table)} as t where t.id = ${id})`,
    )
    return sql`coalesce(case ${type} ${sql.join(each, sql` `)} end, ${cast(id, 'text')})`
  }
  if (storage.kind === 'columns') {
    const named = (row: string) => document(column(row, storage.type), column(row, storage.id))
    return sql`(${differs(column(draft, storage.type), column(live, storage.type))} or ${differs(named(draft), named(live))})`
  }
  const [id, type] = [sql.id('l', storage.id), sql.id('l', storage.type)]
  const rows = (owner: string): ListedDocuments => ({
    document: concat(type, ' ', document(type, id)),
    place: sql`l."order"`,
    id: sql`l.id`,
    from: sql`${sql.table(storage.table)} as l where ${sql.id('l', storage.here)} = ${column(owner, 'id')}`,
  })
  const shown = sided.length === 0 ? [rows(live)] : [rows(live), pendingPointers(within, storage.table, live, sided)]
  return differs(within.dialect.documentList([rows(draft)]), within.dialect.documentList(shown))
}

/** The same as `pendingDocuments`, with the type of each. */
function pendingPointers(within: Comparison, table: string, live: string, targets: readonly ContentType[]): ListedDocuments {
  const { document, place, id, from } = pendingDocuments(within, table, live, targets)
  const found: SelectedRows = { columns: { document, place, id }, from }
  const rows = within.dialect.lateral([found], { document: 'text', place: 'real', id: 'integer' }, 'w')
  return {
    document: concat(sql`k.target_type`, ' ', sql`w.document`),
    place: sql`w.place`,
    id: sql`w.id`,
    from: sql`${rows}
    join octavo_pending_links as k on k.id = w.id`,
  }
}
