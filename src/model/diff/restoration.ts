// Restores archived content into a model that has its tables and columns again.
import { allSchemas, type OwnedLink, ownedLinks, ownedMorphs } from '../schema/graph.js'
import type { ContentType, Model } from '../schema/types.js'
import type { Table } from '../tables/table.js'
import { describeTables } from '../tables/tables.js'
import { archiveNames, type NameChange, orderRenames as orderOf } from './comparison.js'
import { mayContainComponent } from './entries.js'
import { type AppliedChange, describeApplied, type FollowedContent, formerNames, type UndoContext } from './followed.js'
import { filesTable } from './polymorphic.js'
import { appendMoved, fieldBehind, positionsIn } from './positions.js'
import { createDraftsStep, redirectToSuccessors } from './rows.js'
import { withoutDuplicates } from './schemas.js'
import { defaultLocale, id, joinedText, type SqlText, sqlText } from './sql-text.js'
import type { PlanStep } from './steps.js'
import type { ArchivedContent } from './types.js'

/**
 * Adds the restoration of archived content to the steps of a plan, for a model with tables and columns of the same names and types.
 * `before`: see `ModelPlan.restoreBefore`. Rows keep their ids, so that links, components and files match. Newer values are not replaced.
 * @throws Error if the model lacks its table or column
 */
export function withRestoration(
  steps: readonly PlanStep[],
  before: PlanStep | null,
  model: Model,
  kept: readonly ReturningContent[],
): readonly PlanStep[] {
  const tables = new Map(describeTables(model).map((table) => [table.name, table]))
  const own = new Set(allSchemas(model).map(({ table }) => table))
  // Referenced rows first.
  const inOrder = [...kept.filter(({ table }) => own.has(table)), ...kept.filter(({ table }) => !own.has(table))]
  const back = inOrder.flatMap((place) => restore(place, { tables, model, own, all: kept }))
  const restoring = steps.map((step) => restoringValues(step, kept))
  const at = before === null ? steps.length : steps.indexOf(before)
  const made = new Set(steps.flatMap((step) => (step.kind === 'makeDrafts' ? [step.schema] : [])))
  const led = new Set(kept.flatMap(({ draftsSince }) => (draftsSince === undefined || made.has(draftsSince) ? [] : [draftsSince])))
  const leading = [...led].map((uid) => createDraftsStep(model, (name) => tables.get(name)!, model.types.get(uid)!))
  const all = [...restoring.slice(0, at), ...back, ...restoring.slice(at), ...leading]
  // Drops cannot be undone.
  return [...all.filter(({ kind }) => kind !== 'dropTable'), ...all.filter(({ kind }) => kind === 'dropTable')]
}

/** A conversion back gives the values that an earlier one led from. */
function restoringValues(step: PlanStep, kept: readonly ArchivedContent[]): PlanStep {
  if (step.kind !== 'convertColumn') return step
  const place = kept.find(({ kind, table, name }) => kind === 'column' && table === step.table && name === step.column.name)
  return place?.conversion === undefined ? step : { ...step, restores: { from: place.as, conversion: place.conversion } }
}

interface Restoring {
  readonly model: Model
  /** The tables of the model. */
  readonly tables: ReadonlyMap<string, Table>
  /** The names of those of types and components. */
  readonly own: ReadonlySet<string>
  readonly all: readonly ReturningContent[]
}

function restore(place: ReturningContent, restoring: Restoring): readonly PlanStep[] {
  const { kind, table: name, name: what, as } = place
  const { model } = restoring
  const table = restoring.tables.get(name)
  const column = kind === 'field' ? 'field' : what
  const hasPlace = table !== undefined && (kind === 'table' || kind === 'rows' || table.columns.some((each) => each.name === column))
  if (!hasPlace) throw new Error(`The model cannot restore ${as}: ${name}${kind === 'column' ? `.${what}` : ''} is missing`)
  if (kind === 'table' || kind === 'rows') return restoreRows(place, table, restoring)
  const [value, where] = valuesOf({ kind, table: name, name: what, as })
  return [
    ...(kind === 'field' && name === filesTable.name ? ownerless(what, as, model) : []),
    ...(kind === 'field' ? positionsIn(model, name).map((positions) => fieldBehind(name, positions, as, what)) : []),
    { kind: 'setValues', table: name, column, value, where, risk: 'slow' },
  ]
}

function restoreRows(place: ReturningContent, table: Table, { model, own, all }: Restoring): readonly PlanStep[] {
  const { kind, table: name, as, gone, uids = [] } = place
  const formerName = new Map(place.columns?.map(({ from, to }) => [to, from]))
  const keptAs = (column: string): string => formerName.get(column) ?? column
  // Of tables between rows both have the columns; one that was added since has no values.
  const isBetween = place.columns !== undefined && !own.has(name)
  const columns = isBetween ? place.columns! : table.columns.map((column) => ({ from: keptAs(column.name), to: column.name }))
  const there = new Set(columns.map(({ to }) => to))
  const positions = positionsIn(model, name).filter(({ order }) => there.has(order))
  // Redirected links point to the restored rows again.
  const passedOn: PlanStep = { kind: 'deleteRows', table: name, where: sqlText`id in (select id from ${id(as)})`, risk: 'safe' }
  return [
    ...withoutDuplicates(place, all),
    ...typeColumnsOf(model, name).flatMap((column) => renamedTypes(as, keptAs(column), uids)),
    ...(gone === undefined ? [] : [redirectGone(as, gone)]),
    ...dangling(table, as, keptAs),
    ...(kind === 'rows' ? [passedOn] : []),
    ...positions.map((each) => appendMoved(as, name, each, keptAs)),
    { kind: 'moveRows', from: as, to: name, columns, withKept: true, risk: 'slow' },
    { kind: 'dropTable', table: as, risk: 'safe' },
  ]
}

/** The columns of a table that name types or components of rows. */
const typeColumnsOf = (model: Model, table: string): readonly string[] => [
  ...(table === filesTable.name ? [filesTable.type] : []),
  ...(allSchemas(model).some(({ componentTable }) => componentTable === table) ? ['component_type'] : []),
  ...ownedMorphs(model).flatMap(({ storage }) => (storage.kind === 'table' && storage.table === table ? [storage.type] : [])),
]

const renamedTypes = (table: string, column: string, uids: readonly NameChange[]): readonly PlanStep[] =>
  orderOf(uids).map(({ from, to }) => ({
    ...{ kind: 'setValues', table, column, risk: 'slow' },
    ...{ value: sqlText`${to}`, where: sqlText`${id(column)} = ${from}` },
  }))

/** Links to rows deleted since are redirected to other versions of their documents. */
function redirectGone(as: string, { owner, target, type, rows }: GoneTargets): PlanStep {
  const selects = rows.map((table) => sqlText`select id, document_id, published_at, locale from ${id(table)}`)
  const gone = sqlText`(${joinedText(selects, ' union ')})`
  const isGone = sqlText`link.${id(target)} not in (select id from ${id(type.table)})`
  return { ...redirectToSuccessors({ table: as, owner, target }, { gone, isGone, heir: joinSuccessorOfGone(type) }), risk: 'slow' }
}

/** Skips rows whose target was deleted since; rows of other kinds have no targets then. */
const dangling = ({ foreignKeys }: Table, as: string, keptAs: (column: string) => string): readonly PlanStep[] =>
  foreignKeys.map(({ columns, references, onDelete }) => {
    const [column, target] = [keptAs(columns[0]!), references.columns[0]!]
    const where = sqlText`${id(column)} is not null and ${id(column)} not in (select ${id(target)} from ${id(references.table)})`
    if (onDelete === 'CASCADE') return { kind: 'deleteRows', table: as, where, risk: 'safe' }
    return { kind: 'setValues', table: as, column, value: null, where, risk: 'safe' }
  })

/** Skips links of files whose row was deleted since. */
const ownerless = (attribute: string, as: string, model: Model): readonly PlanStep[] =>
  allSchemas(model)
    .filter((schema) => schema.attributes.get(attribute)?.kind === 'media')
    .map(({ uid, table }) => ({
      ...{ kind: 'deleteRows', table: filesTable.name, risk: 'safe' },
      where: sqlText`field = ${as} and ${id(filesTable.type)} = ${uid} and related_id not in (select id from ${id(table)})`,
    }))

function valuesOf({ kind, table, name, as }: ArchivedContent) {
  if (kind === 'field') return [sqlText`${name}`, sqlText`${id('field')} = ${as}`] as const
  if (kind === 'column') return [sqlText`${id(as)}`, sqlText`${id(name)} is null and ${id(as)} is not null`] as const
  const former = sqlText`(select former.${id(name)} from ${id(as)} as former where former.id = ${id(table)}.id)`
  return [former, sqlText`${id(name)} is null`] as const
}

/** Targets deleted after the links were archived. */
interface GoneTargets {
  /** Columns of the archived links. */
  readonly owner: string
  readonly target: string
  readonly type: ContentType
  /** Tables with the rows. */
  readonly rows: readonly string[]
}

/** Restored content and the targets of its links. */
export interface ReturningContent extends FollowedContent {
  readonly gone?: GoneTargets
  /** A type that had no drafts when links to it were archived. */
  readonly draftsSince?: string
}

/** Content that would be lost for good if it came back now. */
interface Obstacle {
  /** Selects one row with the column `count`, before the steps run. */
  readonly count: SqlText
  about(count: number): string
}

interface Return {
  readonly place: ReturningContent
  readonly obstacles: readonly Obstacle[]
}

/** Tables in which later changes archived rows of a type, latest first. */
interface ArchivedRows {
  readonly change: AppliedChange
  readonly as: string
  /** True if other rows replaced them. */
  readonly isStale: boolean
}

function asideRows(type: ContentType, undoing: UndoContext): readonly ArchivedRows[] {
  return formerNames(type.table, undoing).flatMap(({ change, name }): readonly ArchivedRows[] => {
    const { from, to } = change.pairs.schemas.find((pair) => pair.from.table === name) ?? {}
    if (change === undoing.own || from?.kind !== 'contentType' || to?.kind !== 'contentType') return []
    const { rowsOf } = archiveNames(change.number)
    const isAside = (from.draftAndPublish && !to.draftAndPublish) || (from.localized && !to.localized)
    return [
      ...(isAside ? [{ change, as: rowsOf(from.table), isStale: false }] : []),
      ...(!from.draftAndPublish && to.draftAndPublish ? [{ change, as: rowsOf(`stale_${to.table}_${to.table}`), isStale: true }] : []),
    ]
  })
}

/**
 * Finds the current targets of archived links; `isThere` checks a table. Links to versions archived later are redirected to the remaining
 * versions, as existing links were, if the undo of the later change redirects them back. Otherwise they are obstacles.
 */
export async function findReturn(
  place: FollowedContent,
  undoing: UndoContext,
  isThere: (table: string) => Promise<boolean>,
): Promise<Return> {
  const copied = obstaclesOfCopies(place, undoing)
  const link = ownedLinks(undoing.pairs.to).find(({ storage }) => storage.table === place.table)
  if (link === undefined || (place.kind !== 'table' && place.kind !== 'rows')) return { place, obstacles: copied }
  const { shape, target } = link
  const keptAs = (column: string) => place.columns?.find(({ to }) => to === column)?.from ?? column
  const columns = { owner: keptAs(link.storage.here), target: keptAs(link.storage.there) }
  const present = async (rows: readonly ArchivedRows[]) => {
    const found: ArchivedRows[] = []
    for (const each of rows) if (await isThere(each.as)) found.push(each)
    return found
  }
  const targets = await present(asideRows(target, undoing))
  const owners = shape.kind === 'contentType' ? (await present(asideRows(shape, undoing))).filter(({ isStale }) => !isStale) : []
  const obstacles = [...copied]
  for (const aside of targets)
    if (!aside.isStale) obstacles.push(obstacle(link, aside, blockedTargets(place, link, columns, aside, undoing)))
  for (const aside of owners) {
    const links = formerNames(place.table, undoing).find(({ change }) => change === aside.change)
    const as = links === undefined ? null : archiveNames(aside.change.number).rowsOf(links.name)
    const sameLinks = as !== null && (await isThere(as)) ? as : null
    obstacles.push(obstacle(link, aside, blockedOwners(place, columns.owner, aside, sameLinks, tableNow(shape.table, undoing))))
  }
  const draftsSince =
    shape.kind === 'contentType' && target.draftAndPublish && !hadDrafts(target, undoing) ? { draftsSince: target.uid } : {}
  const gone = targets.length === 0 ? {} : { gone: { ...columns, type: target, rows: targets.map(({ as }) => as) } }
  return { place: { ...place, ...gone, ...draftsSince }, obstacles }
}

const tableNow = (table: string, { moves }: UndoContext): string => moves.find(({ to }) => to === table)?.from ?? table

/** True if a type had drafts when links to it were archived; a type that the undo creates again is unchanged. */
function hadDrafts({ table }: ContentType, undoing: UndoContext): boolean {
  const former = formerNames(table, undoing).find(({ change }) => change === undoing.own)
  const type = former && allSchemas(undoing.own.pairs.from).find((schema) => schema.table === former.name)
  return type?.kind !== 'contentType' || type.draftAndPublish
}

const obstacle = ({ shape, relation }: OwnedLink, { change }: ArchivedRows, count: SqlText): Obstacle => ({
  count,
  about: (links) =>
    `${links === 1 ? '1 link' : `${links} links`} of ${shape.uid}.${relation.name} ${links === 1 ? 'refers' : 'refer'} to content that ${describeApplied(change)} archived. Undo change ${change.id} first`,
})

/** Joins `heir`, an existing version of a document, to `gone`, a deleted one. */
function joinSuccessorOfGone({ table, draftAndPublish, localized }: Pick<ContentType, 'table' | 'draftAndPublish' | 'localized'>): SqlText {
  const status = draftAndPublish ? sqlText`(heir.published_at is null) = (gone.published_at is null)` : sqlText`1 = 1`
  const locale = localized ? sqlText`coalesce(heir.locale, '') = coalesce(gone.locale, '')` : sqlText`1 = 1`
  return sqlText`join ${id(table)} as heir on heir.document_id = gone.document_id and ${status} and ${locale}`
}

/** Links to archived targets that nothing would restore. */
function blockedTargets(
  { as }: ArchivedContent,
  { shape, target }: OwnedLink,
  columns: Pick<GoneTargets, 'owner' | 'target'>,
  aside: ArchivedRows,
  undoing: UndoContext,
): SqlText {
  const [owner, column, table] = [id(columns.owner), id(columns.target), tableNow(target.table, undoing)]
  const heir = joinSuccessorOfGone({ ...target, table })
  const lost = sqlText`select count(*) as count from ${id(as)} as link join ${id(aside.as)} as gone on gone.id = link.${column}
    where link.${column} not in (select id from ${id(table)})`
  // Only links of documents are led to drafts again; what a component refers to stays with the published version.
  if (shape.kind === 'component') return lost
  const inherits = sqlText`select 1 from ${id(aside.as)} as gone ${heir} where gone.id = link.${column}`
  const isDefault = sqlText`(gone.locale is null or gone.locale = ${defaultLocale})`
  const inherited = target.localized ? inherits : sqlText`${inherits} and ${isDefault}`
  // A link of a document without drafts to a draft alone was not published.
  const isPublished = sqlText`exists (select 1 from ${id(as)} as present where present.${owner} = link.${owner} and present.${column} = heir.id)`
  return sqlText`${lost} and not exists (${shape.draftAndPublish ? inherited : sqlText`${inherited} and ${isPublished}`})`
}

/** Links of archived owners that were not archived with them. */
const blockedOwners = ({ as }: ArchivedContent, column: string, aside: ArchivedRows, sameLinks: string | null, table: string): SqlText => {
  const lost = sqlText`select count(*) as count from ${id(as)} as link join ${id(aside.as)} as gone on gone.id = link.${id(column)}
    where link.${id(column)} not in (select id from ${id(table)})`
  return sameLinks === null ? lost : sqlText`${lost} and link.id not in (select id from ${id(sameLinks)})`
}

/** Drafts created later copied components without their archived content. */
function obstaclesOfCopies(place: FollowedContent, undoing: UndoContext): readonly Obstacle[] {
  const { later, pairs } = undoing
  const component = getOwningComponent(pairs.to, place.table)
  // Tables of entries and files are copied as a whole.
  if (component === undefined || place.kind === 'field' || place.kind === 'values') return []
  const names = new Map(formerNames(component.table, undoing).map(({ change, name }) => [change, name]))
  const isCopying = ({ change, name }: { readonly change: AppliedChange; readonly name: string }): boolean => {
    const { schemas, to: model } = change.pairs
    const { from, to } = schemas.find((pair) => pair.from.table === name) ?? {}
    const uid = schemas.find((pair) => pair.from.table === names.get(change))?.to.uid
    if (from?.kind !== 'contentType' || to?.kind !== 'contentType' || uid === undefined) return false
    return !from.draftAndPublish && to.draftAndPublish && mayContainComponent(to, uid, model)
  }
  const inForce = changesInForce(later)
  const where = place.kind === 'column' ? sqlText`${id(place.as)} is not null` : sqlText`1 = 1`
  const held = id(place.kind === 'column' ? tableNow(place.table, undoing) : place.as)
  return [...pairs.to.types.values()].flatMap((type): readonly Obstacle[] => {
    const copying = formerNames(type.table, undoing).find((former) => inForce.has(former.change) && isCopying(former))?.change
    if (copying === undefined) return []
    const table = id(tableNow(type.table, undoing))
    // A draft that is older than its published version is not a copy.
    const made = sqlText`select count(*) as count from ${table} as published join ${table} as draft on draft.document_id = published.document_id
      and coalesce(draft.locale, '') = coalesce(published.locale, '') and draft.published_at is null and draft.id > published.id
      where published.published_at is not null and exists (select 1 from ${held} where ${where})`
    const lack = `lack content of ${component.uid} that change ${undoing.own.id} archived. Undo change ${copying.id} first`
    return [{ count: made, about: () => `Drafts of ${type.uid} that ${describeApplied(copying)} created ${lack}` }]
  })
}

/** The changes that neither were undone nor undo one of these. */
function changesInForce(changes: readonly AppliedChange[]): ReadonlySet<AppliedChange> {
  const ids = new Set(changes.map((change) => change.id))
  const undone = new Set<number>()
  for (const change of changes.toReversed()) if (!undone.has(change.id)) undone.add(change.undoes)
  return new Set(changes.filter((change) => !undone.has(change.id) && !ids.has(change.undoes)))
}

/** The component that owns a table or its rows. */
function getOwningComponent(model: Model, table: string) {
  const component = [...model.components.values()].find((each) => each.table === table || each.componentTable === table)
  if (component !== undefined) return component
  const owned = [...ownedLinks(model), ...ownedMorphs(model)].find(({ storage }) => 'table' in storage && storage.table === table)
  return owned?.shape.kind === 'component' ? owned.shape : undefined
}
