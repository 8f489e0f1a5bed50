// Draft & Publish and localization of a type with rows. Removed rows are archived with their links and entries; components stay, so that a
// document can be restored as a whole.
import { ownedLinks, ownedMorphs } from '../schema/graph.js'
import type { ContentType, Model, Schema } from '../schema/types.js'
import {
  type ArchiveNames,
  archivedRows,
  attributePath,
  type ModelComparison,
  mergeFindings,
  nothing,
  type PlanFindings,
  planned,
  type SchemaPair,
} from './comparison.js'
import { whereLacking } from './conditions.js'
import { countText, defaultLocale, id, joinedText, type SqlText, sqlText } from './sql-text.js'
import type { DraftLinks, IncomingLinks, PlanStep, StepAction } from './steps.js'
import type { ArchivedContent, PlanLoss } from './types.js'

/** Compares Draft & Publish and localization of a type that both models have. */
export function compareRows(comparison: ModelComparison, { from, to }: SchemaPair): PlanFindings {
  if (from.kind !== 'contentType' || to.kind !== 'contentType') return nothing
  const draftsGo = from.draftAndPublish && !to.draftAndPublish
  const localesGo = from.localized && !to.localized
  return mergeFindings([
    draftsGo || localesGo ? removeRows(comparison, from, to, { draftsGo, localesGo }) : nothing,
    !from.localized && to.localized ? giveLocale(to) : nothing,
    !from.draftAndPublish && to.draftAndPublish ? makeDrafts(comparison, to) : nothing,
  ])
}

const isDraft = sqlText`published_at is null`
/** Rows in a locale that is not the default one. */
const isOtherLocale = sqlText`locale <> ${defaultLocale}`

/** `more` is a condition on `other` and `row_`. */
const sibling = (type: ContentType, more: SqlText): SqlText =>
  sqlText`exists (select 1 from ${id(type.table)} as other where other.document_id = row_.document_id and ${more})`

const sameLocale = sqlText`coalesce(other.locale, '') = coalesce(row_.locale, '')`
const isPublished = sqlText`other.published_at is not null and ${sameLocale}`

/** The drafts whose document is published in their locale. */
const publishedDrafts = (type: ContentType): SqlText =>
  sqlText`id in (select id from (select distinct row_.id as id from ${id(type.table)} as row_ where row_.published_at is null and ${sibling(type, isPublished)}) as found)`

function removeRows(
  { pairs, kept, neverPublished }: ModelComparison,
  from: ContentType,
  to: ContentType,
  { draftsGo, localesGo }: RemovedVersions,
): PlanFindings {
  const publishes = draftsGo && neverPublished === 'publish'
  // Drafts to publish are those without a published row.
  const drafts = publishes ? publishedDrafts(from) : isDraft
  const going = joinedText([...(draftsGo ? [drafts] : []), ...(localesGo ? [isOtherLocale] : [])], ' or ')
  const belonging = dependentRows(pairs.from, from, sqlText`(select id from ${id(from.table)} where ${going})`)
  const all = [...belonging, { table: from.table, where: going }]
  const places = all.map(({ table }) => archivedRows(kept, table)).reverse()
  return {
    ...nothing,
    steps: [
      ...all.map(({ table, where }) => planned('keepRows', 'losesData', { kind: 'keepRows', table, as: kept.rowsOf(table), where })),
      ...redirectLinks(pairs.from, from, going, { draftsGo, localesGo }),
      ...all.map(({ table, where }) => planned('deleteRows', 'losesData', { kind: 'deleteRows', table, where })),
      ...(publishes ? [setRows(to.table, 'published_at', sqlText`updated_at`, isDraft)] : []),
      ...(localesGo ? [setRows(to.table, 'locale', null, sqlText`locale is not null`)] : []),
    ],
    losses: [...(draftsGo ? lostDrafts(from, places, publishes) : []), ...(localesGo ? lostLocales(from, places) : [])],
  }
}

/** Removed versions of documents. */
interface RemovedVersions {
  readonly draftsGo: boolean
  readonly localesGo: boolean
}

/** Joins `heir`, the remaining version of a document, to `gone`, a removed one. */
function joinSuccessor(type: ContentType, { draftsGo, localesGo }: RemovedVersions): SqlText {
  const status = draftsGo ? sqlText`heir.published_at is not null` : sqlText`(heir.published_at is null) = (gone.published_at is null)`
  const locale = localesGo ? sqlText`heir.locale = ${defaultLocale}` : sqlText`coalesce(heir.locale, '') = coalesce(gone.locale, '')`
  return sqlText`join ${id(type.table)} as heir on heir.document_id = gone.document_id and ${status} and ${locale}`
}

/**
 * Redirects links to removed versions to the remaining version of the document, without duplicates. A link of a type without drafts to a
 * draft alone was not published, and is removed.
 */
function redirectLinks(model: Model, type: ContentType, going: SqlText, which: RemovedVersions): PlanFindings['steps'] {
  const heir = joinSuccessor(type, which)
  const isUnpublished = (shape: Schema) => which.draftsGo && !which.localesGo && shape.kind === 'contentType' && !shape.draftAndPublish
  return ownedLinks(model)
    .filter(({ shape, target }) => target.uid === type.uid && shape.uid !== type.uid && !isUnpublished(shape))
    .map(({ storage: { table, here: owner, there: target } }) => {
      const isGone = sqlText`gone.id in (select id from ${id(type.table)} where ${going})`
      return planned('heirs', 'slow', redirectToSuccessors({ table, owner, target }, { gone: sqlText`${id(type.table)}`, isGone, heir }))
    })
}

const setRows = (table: string, column: string, value: SqlText | null, where: SqlText | null) =>
  planned('rows', 'slow', { kind: 'setValues', table, column, value, where })

function lostDrafts(type: ContentType, kept: readonly ArchivedContent[], publishes: boolean): readonly PlanLoss[] {
  const rows = (where: SqlText) =>
    sqlText`select count(*) as count from ${id(type.table)} as row_ where row_.published_at is null and ${where}`
  const changes = {
    name: `${type.uid}:changes`,
    about: `Changes to documents of ${type.uid} that were not published yet are archived; the published versions stay.`,
    count: rows(sibling(type, sqlText`${isPublished} and other.updated_at < row_.updated_at`)),
    kept,
  }
  if (publishes) return [changes]
  const never = {
    name: `${type.uid}:drafts`,
    about: `Documents of ${type.uid} that were never published are archived; the API no longer returns them.`,
    count: rows(sqlText`not ${sibling(type, isPublished)}`),
    kept,
  }
  return [never, changes]
}

function lostLocales(type: ContentType, kept: readonly ArchivedContent[]): readonly PlanLoss[] {
  const isDefault = sqlText`other.locale = ${defaultLocale}`
  const documents = (where: SqlText) =>
    sqlText`select count(distinct row_.document_id) as count from ${id(type.table)} as row_ where row_.locale <> ${defaultLocale} and ${where}`
  return [
    {
      name: `${type.uid}:onlyElsewhere`,
      about: `Documents of ${type.uid} that exist only in other locales than the default are archived; the API no longer returns them.`,
      count: documents(sqlText`not ${sibling(type, isDefault)}`),
      kept,
    },
    {
      name: `${type.uid}:locales`,
      about: `Versions of documents of ${type.uid} in other locales than the default are archived.`,
      count: countText(type.table, isOtherLocale),
      kept,
    },
  ]
}

/** The rows of tables between rows that go with rows of a type. `ids`: a select of those. */
function dependentRows(model: Model, type: ContentType, ids: SqlText) {
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

/** Archives a restored draft if its document was written since; it gets a new one. */
function removeStale(model: Model, kept: ArchiveNames, type: ContentType): PlanFindings['steps'] {
  const table = id(type.table)
  const stale = sqlText`id in (select id from (select draft.id as id from ${table} as draft join ${table} as written
    on written.document_id = draft.document_id and coalesce(written.locale, '') = coalesce(draft.locale, '')
    where draft.published_at is null and written.published_at is not null and written.updated_at > draft.updated_at) as stale)`
  const all = [...dependentRows(model, type, sqlText`(select id from ${table} where ${stale})`), { table: type.table, where: stale }]
  return [
    ...redirectLinks(model, type, stale, { draftsGo: true, localesGo: false }).map(({ step }) => ({ phase: 'stale' as const, step })),
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
    setRows(type.table, 'published_at', sqlText`coalesce(updated_at, created_at)`, sqlText`${isDraft} and not (${publishedDrafts(type)})`),
    ...removeStale(pairs.to, kept, type),
    { phase: 'drafts', step: createDraftsStep(pairs.to, tableAfter, type) },
  ],
})

/** The step that creates drafts of published rows, and redirects links to them. */
function createDraftsStep(model: Model, tableAfter: ModelComparison['tableAfter'], type: ContentType): PlanStep {
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

/** Compares the localization of the attributes of a type that stays localized. */
export function compareLocalizedValues({ pairs }: ModelComparison, pair: SchemaPair): PlanFindings {
  const { from, to } = pair
  if (from.kind !== 'contentType' || to.kind !== 'contentType' || !from.localized || !to.localized) return nothing
  const shared = pairs
    .attributes(pair)
    .filter(({ from: before, to: after }) => before.kind !== 'relation' && before.localized && !after.localized)
  return {
    ...nothing,
    losses: shared.map(({ from: before }) => {
      const lacking = whereLacking(from, before)
      return {
        name: `${attributePath(from, before.name)}:locales`,
        about: `Locales of a document of ${from.uid} share ${before.name} from its next write on; the values of the others are lost with it.`,
        count: countText(from.table, lacking === null ? isOtherLocale : sqlText`${isOtherLocale} and not (${lacking})`),
        kept: [],
        stays: true as const,
      }
    }),
  }
}

/** A table of links and its columns. */
interface Links {
  readonly table: string
  readonly owner: string
  readonly target: string
}

interface Succession {
  /** A table, or a select in parentheses. */
  readonly gone: SqlText
  /** A condition on `gone` and `link`. */
  readonly isGone: SqlText
  /** Joins `heir`, the remaining version, to `gone`. */
  readonly heir: SqlText
}

/** Redirects links to successors, unless the same link exists. */
function redirectToSuccessors({ table, owner, target }: Links, { gone, isGone, heir }: Succession): StepAction {
  const links = id(table)
  const own = id(owner)
  const column = id(target)
  const already = sqlText`exists (select 1 from ${links} as present where present.${own} = link.${own} and present.${column} = heir.id)`
  const passed = sqlText`select min(link.id) as id from ${links} as link join ${gone} as gone on gone.id = link.${column} ${heir}
        where ${isGone} and not ${already} group by link.${own}, heir.id`
  return {
    kind: 'setValues',
    table,
    column: target,
    value: sqlText`(select min(heir.id) from ${gone} as gone ${heir} where gone.id = ${links}.${column})`,
    where: sqlText`id in (select id from (${passed}) as passed)`,
  }
}
