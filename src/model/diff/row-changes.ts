// Draft & Publish and localization of a type that has rows: which rows go, and what becomes of those that stay.
// Rows go with their links and the rows that name their components; those components stay, so that a document can be restored as a whole.
import { ownedLinks, ownedMorphs } from '../schema/owners.js'
import type { ContentType, Model, Schema } from '../schema/types.js'
import type { ModelComparison } from './context.js'
import { nothing, type PlanFindings, planned, together } from './findings.js'
import { linksToHeirs } from './heirs.js'
import { type KeptNames, keptRows } from './kept.js'
import type { SchemaPair } from './pairs.js'
import { countText, defaultLocale, id, joinedText, type SqlText, sqlText } from './sql-text.js'
import type { DraftLinks, IncomingLinks, PlanStep } from './steps.js'
import type { KeptPlace, PlanLoss } from './types.js'

/** Compares Draft & Publish and localization of a type that both models have. */
export function compareRows(comparison: ModelComparison, { from, to }: SchemaPair): PlanFindings {
  if (from.kind !== 'contentType' || to.kind !== 'contentType') return nothing
  const draftsGo = from.draftAndPublish && !to.draftAndPublish
  const localesGo = from.localized && !to.localized
  return together([
    draftsGo || localesGo ? removeRows(comparison, from, to, { draftsGo, localesGo }) : nothing,
    !from.localized && to.localized ? giveLocale(to) : nothing,
    !from.draftAndPublish && to.draftAndPublish ? makeDrafts(comparison, to) : nothing,
  ])
}

const isDraft = sqlText`published_at is null`
/** Rows in a locale that is not the default one. */
export const isElsewhere = sqlText`locale <> ${defaultLocale}`

/** Another row of the same document; `more` says which, of `other` and `row`. */
const sibling = (type: ContentType, more: SqlText): SqlText =>
  sqlText`exists (select 1 from ${id(type.table)} as other where other.document_id = row_.document_id and ${more})`

const sameLocale = sqlText`coalesce(other.locale, '') = coalesce(row_.locale, '')`
const isPublished = sqlText`other.published_at is not null and ${sameLocale}`

/** The drafts whose document is published in their locale. */
const draftsOfPublished = (type: ContentType): SqlText =>
  sqlText`id in (select id from (select distinct row_.id as id from ${id(type.table)} as row_ where row_.published_at is null and ${sibling(type, isPublished)}) as found)`

function removeRows(
  { pairs, kept, neverPublished }: ModelComparison,
  from: ContentType,
  to: ContentType,
  { draftsGo, localesGo }: Going,
): PlanFindings {
  const publishes = draftsGo && neverPublished === 'publish'
  // Rows that are to be published are found by what they lack, as long as published rows are there.
  const drafts = publishes ? draftsOfPublished(from) : isDraft
  const going = joinedText([...(draftsGo ? [drafts] : []), ...(localesGo ? [isElsewhere] : [])], ' or ')
  const belonging = belongings(pairs.from, from, sqlText`(select id from ${id(from.table)} where ${going})`)
  const all = [...belonging, { table: from.table, where: going }]
  const places = all.map(({ table }) => keptRows(kept, table)).reverse()
  return {
    ...nothing,
    steps: [
      ...all.map(({ table, where }) => planned('keepRows', 'losesData', { kind: 'keepRows', table, as: kept.rowsOf(table), where })),
      ...passLinksOn(pairs.from, from, going, { draftsGo, localesGo }),
      ...all.map(({ table, where }) => planned('deleteRows', 'losesData', { kind: 'deleteRows', table, where })),
      ...(publishes ? [setRows(to.table, 'published_at', sqlText`updated_at`, isDraft)] : []),
      ...(localesGo ? [setRows(to.table, 'locale', null, sqlText`locale is not null`)] : []),
    ],
    losses: [...(draftsGo ? lostDrafts(from, places, publishes) : []), ...(localesGo ? lostLocales(from, places) : [])],
  }
}

/** Which versions of documents go. */
interface Going {
  readonly draftsGo: boolean
  readonly localesGo: boolean
}

/** Joins the version of a document that stays, `heir`, to one that goes, `gone`. */
function heirOf(type: ContentType, { draftsGo, localesGo }: Going): SqlText {
  const status = draftsGo ? sqlText`heir.published_at is not null` : sqlText`(heir.published_at is null) = (gone.published_at is null)`
  const locale = localesGo ? sqlText`heir.locale = ${defaultLocale}` : sqlText`coalesce(heir.locale, '') = coalesce(gone.locale, '')`
  return sqlText`join ${id(type.table)} as heir on heir.document_id = gone.document_id and ${status} and ${locale}`
}

/**
 * Links of other rows to versions that go lead to the version of the same document that stays, unless they do so already. A link of a type
 * without drafts that leads to the draft alone was not published: it goes.
 */
function passLinksOn(model: Model, type: ContentType, going: SqlText, which: Going): PlanFindings['steps'] {
  const heir = heirOf(type, which)
  const isUnpublished = (shape: Schema) => which.draftsGo && !which.localesGo && shape.kind === 'contentType' && !shape.draftAndPublish
  return ownedLinks(model)
    .filter(({ shape, target }) => target.uid === type.uid && shape.uid !== type.uid && !isUnpublished(shape))
    .map(({ storage: { table, here: owner, there: target } }) => {
      const isGone = sqlText`gone.id in (select id from ${id(type.table)} where ${going})`
      return planned('heirs', 'slow', linksToHeirs({ table, owner, target }, { gone: sqlText`${id(type.table)}`, isGone, heir }))
    })
}

const setRows = (table: string, column: string, value: SqlText | null, where: SqlText | null) =>
  planned('rows', 'slow', { kind: 'setValues', table, column, value, where })

function lostDrafts(type: ContentType, kept: readonly KeptPlace[], publishes: boolean): readonly PlanLoss[] {
  const rows = (where: SqlText) =>
    sqlText`select count(*) as count from ${id(type.table)} as row_ where row_.published_at is null and ${where}`
  const changes = {
    name: `${type.uid}:changes`,
    about: `Changes to documents of ${type.uid} that were not published yet are kept aside; the published versions stay.`,
    count: rows(sibling(type, sqlText`${isPublished} and other.updated_at < row_.updated_at`)),
    kept,
  }
  if (publishes) return [changes]
  const never = {
    name: `${type.uid}:drafts`,
    about: `Documents of ${type.uid} that were never published are kept aside; the API does not answer them any more.`,
    count: rows(sqlText`not ${sibling(type, isPublished)}`),
    kept,
  }
  return [never, changes]
}

function lostLocales(type: ContentType, kept: readonly KeptPlace[]): readonly PlanLoss[] {
  const isDefault = sqlText`other.locale = ${defaultLocale}`
  const documents = (where: SqlText) =>
    sqlText`select count(distinct row_.document_id) as count from ${id(type.table)} as row_ where row_.locale <> ${defaultLocale} and ${where}`
  return [
    {
      name: `${type.uid}:onlyElsewhere`,
      about: `Documents of ${type.uid} that exist only in other locales than the default are kept aside; the API does not answer them any more.`,
      count: documents(sqlText`not ${sibling(type, isDefault)}`),
      kept,
    },
    {
      name: `${type.uid}:locales`,
      about: `Versions of documents of ${type.uid} in other locales than the default are kept aside.`,
      count: countText(type.table, isElsewhere),
      kept,
    },
  ]
}

/** The rows of tables between rows that go with rows of a type. `ids`: a select of those. */
function belongings(model: Model, type: ContentType, ids: SqlText) {
  const found = new Map<string, SqlText[]>()
  const note = (table: string, column: string) => void found.set(table, [...(found.get(table) ?? []), sqlText`${id(column)} in ${ids}`])
  if (type.componentTable !== null) note(type.componentTable, 'entity_id')
  for (const { shape, target, storage } of ownedLinks(model)) {
    if (shape.uid === type.uid) note(storage.table, storage.here)
    if (target.uid === type.uid) note(storage.table, storage.there)
  }
  for (const { shape, storage } of ownedMorphs(model))
    if (shape.uid === type.uid && storage.kind === 'table') note(storage.table, storage.here)
  return [...found].map(([table, conditions]) => ({ table, where: joinedText(conditions, ' or ') }))
}

const giveLocale = ({ table }: ContentType): PlanFindings => ({
  ...nothing,
  steps: [setRows(table, 'locale', defaultLocale, sqlText`locale is null`)],
})

/** A draft that comes back, and whose document was written since, gives way to a new one, and is kept aside. */
function removeStale(model: Model, kept: KeptNames, type: ContentType): PlanFindings['steps'] {
  const table = id(type.table)
  const stale = sqlText`id in (select id from (select draft.id as id from ${table} as draft join ${table} as written
    on written.document_id = draft.document_id and coalesce(written.locale, '') = coalesce(draft.locale, '')
    where draft.published_at is null and written.published_at is not null and written.updated_at > draft.updated_at) as stale)`
  const all = [...belongings(model, type, sqlText`(select id from ${table} where ${stale})`), { table: type.table, where: stale }]
  return [
    ...passLinksOn(model, type, stale, { draftsGo: true, localesGo: false }).map(({ step }) => ({ phase: 'stale' as const, step })),
    ...all.map(({ table: of, where }) =>
      planned('stale', 'safe', { kind: 'keepRows', table: of, as: kept.rowsOf(`stale_${type.table}_${of}`), where }),
    ),
    ...all.map(({ table: of, where }) => planned('stale', 'safe', { kind: 'deleteRows', table: of, where })),
  ]
}

/** Every row becomes the published version of its document, and gets a draft; one that still is the draft of a published row stays it. */
const makeDrafts = ({ pairs, kept, tableAfter }: ModelComparison, type: ContentType): PlanFindings => ({
  ...nothing,
  steps: [
    setRows(
      type.table,
      'published_at',
      sqlText`coalesce(updated_at, created_at)`,
      sqlText`${isDraft} and not (${draftsOfPublished(type)})`,
    ),
    ...removeStale(pairs.to, kept, type),
    { phase: 'drafts', step: draftsOf(pairs.to, tableAfter, type) },
  ],
})

/** The step that gives published rows of a type their drafts, and leads links to those where they should. */
export function draftsOf(model: Model, tableAfter: ModelComparison['tableAfter'], type: ContentType): PlanStep {
  const columns = tableAfter(type.table).columns.map(({ name }) => name)
  const others = (table: string, known: readonly string[]) =>
    tableAfter(table)
      .columns.map(({ name }) => name)
      .filter((name) => name !== 'id' && !known.includes(name))
  const links = ownedLinks(model)
  const own: DraftLinks[] = links
    .filter(({ shape }) => shape.uid === type.uid)
    .map(({ target, storage: { table, here, there } }) => ({
      table,
      here,
      there,
      others: others(table, [here, there]),
      within: target.uid === type.uid,
    }))
  const morphs: DraftLinks[] = ownedMorphs(model).flatMap(({ shape, storage }) =>
    shape.uid === type.uid && storage.kind === 'table'
      ? [
          {
            table: storage.table,
            here: storage.here,
            there: storage.id,
            others: others(storage.table, [storage.here, storage.id]),
            within: false,
          },
        ]
      : [],
  )
  const incoming: IncomingLinks[] = links
    .filter(({ target, shape }) => target.uid === type.uid && shape.uid !== type.uid && shape.kind === 'contentType')
    .map(({ shape, storage: { table, here, there } }) => ({
      table,
      here: there,
      there: here,
      others: others(table, [here, there]),
      within: false,
      owners: shape.table,
      ownersHaveDrafts: shape.kind === 'contentType' && shape.draftAndPublish,
    }))
  return {
    kind: 'makeDrafts',
    schema: type.uid,
    table: type.table,
    columns: columns.filter((name) => name !== 'id' && name !== 'published_at'),
    entries: type.componentTable,
    links: [...own, ...morphs],
    incoming,
    risk: 'slow',
  }
}
