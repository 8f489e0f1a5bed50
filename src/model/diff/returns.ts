// Links that come back meet other versions of documents than they left: Draft & Publish or locales of what they lead to were switched since.
import { type OwnedLink, ownedLinks, ownedMorphs, schemasOf } from '../schema/owners.js'
import type { ContentType, Model } from '../schema/types.js'
import { type FollowedPlace, formerNames, type MadeChange, named, type Undoing } from './followed.js'
import { keptNames } from './kept.js'
import { reachesComponent } from './reach.js'
import { defaultLocale, id, type SqlText, sqlText } from './sql-text.js'
import type { KeptPlace } from './types.js'

/** Rows of the targets of links that have gone since the links were kept aside. */
export interface GoneTargets {
  /** The columns of the kept links. */
  readonly owner: string
  readonly target: string
  readonly type: ContentType
  /** Tables with the rows. */
  readonly rows: readonly string[]
}

/** What comes back, and what the links in it lead to. */
export interface ReturningPlace extends FollowedPlace {
  readonly gone?: GoneTargets
  /** A type that has drafts by now, and had none when links to it were kept aside. */
  readonly draftsSince?: string
}

/** Content that would be lost for good if it came back now. */
export interface Obstacle {
  /** Selects one row with the column `count`, before the steps run. */
  readonly count: SqlText
  /** The sentence about so many links or rows. */
  about(count: number): string
}

/** What is found of a place: what comes back, and what may be in the way. */
export interface Return {
  readonly place: ReturningPlace
  readonly obstacles: readonly Obstacle[]
}

/** Tables that rows of a type were kept in by later changes, the last change first. */
interface AsideRows {
  readonly change: MadeChange
  readonly as: string
  /** True if other rows have taken their place. */
  readonly isStale: boolean
}

function asideRows(type: ContentType, undoing: Undoing): readonly AsideRows[] {
  return formerNames(type.table, undoing).flatMap(({ change, name }): readonly AsideRows[] => {
    const { from, to } = change.pairs.schemas.find((pair) => pair.from.table === name) ?? {}
    if (change === undoing.own || from?.kind !== 'contentType' || to?.kind !== 'contentType') return []
    const { rowsOf } = keptNames(change.number)
    const isAside = (from.draftAndPublish && !to.draftAndPublish) || (from.localized && !to.localized)
    return [
      ...(isAside ? [{ change, as: rowsOf(from.table), isStale: false }] : []),
      ...(!from.draftAndPublish && to.draftAndPublish ? [{ change, as: rowsOf(`stale_${to.table}_${to.table}`), isStale: true }] : []),
    ]
  })
}

/**
 * Finds what has become of the rows that kept links lead to; `isThere` says whether there is a table.
 * Links to versions that were kept aside since lead to the versions that stayed, as links that were there do, if undoing the later change leads
 * them back. Otherwise they are in the way.
 */
export async function returnOf(place: FollowedPlace, undoing: Undoing, isThere: (table: string) => Promise<boolean>): Promise<Return> {
  const copied = obstaclesOfCopies(place, undoing)
  const link = ownedLinks(undoing.pairs.to).find(({ storage }) => storage.table === place.table)
  if (link === undefined || (place.kind !== 'table' && place.kind !== 'rows')) return { place, obstacles: copied }
  const { shape, target } = link
  const keptAs = (column: string) => place.columns?.find(({ to }) => to === column)?.from ?? column
  const columns = { owner: keptAs(link.storage.here), target: keptAs(link.storage.there) }
  const present = async (rows: readonly AsideRows[]) => {
    const found: AsideRows[] = []
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
    const as = links === undefined ? null : keptNames(aside.change.number).rowsOf(links.name)
    const sameLinks = as !== null && (await isThere(as)) ? as : null
    obstacles.push(obstacle(link, aside, blockedOwners(place, columns.owner, aside, sameLinks, tableNow(shape.table, undoing))))
  }
  const draftsSince =
    shape.kind === 'contentType' && target.draftAndPublish && !hadDrafts(target, undoing) ? { draftsSince: target.uid } : {}
  const gone = targets.length === 0 ? {} : { gone: { ...columns, type: target, rows: targets.map(({ as }) => as) } }
  return { place: { ...place, ...gone, ...draftsSince }, obstacles }
}

const tableNow = (table: string, { moves }: Undoing): string => moves.find(({ to }) => to === table)?.from ?? table

/** Whether a type had drafts when the change kept links to it aside; of what the undo makes again, nothing has changed. */
function hadDrafts({ table }: ContentType, undoing: Undoing): boolean {
  const former = formerNames(table, undoing).find(({ change }) => change === undoing.own)
  const type = former && schemasOf(undoing.own.pairs.from).find((schema) => schema.table === former.name)
  return type?.kind !== 'contentType' || type.draftAndPublish
}

const obstacle = ({ shape, relation }: OwnedLink, { change }: AsideRows, count: SqlText): Obstacle => ({
  count,
  about: (links) =>
    `${links === 1 ? '1 link' : `${links} links`} of ${shape.uid}.${relation.name} ${links === 1 ? 'leads' : 'lead'} to what ${named(change)} has kept aside. Undo change ${change.id} first`,
})

/** Joins `heir`, the version of a document that is there, to `gone`, one that is not. */
export function heirOfGone({ table, draftAndPublish, localized }: Pick<ContentType, 'table' | 'draftAndPublish' | 'localized'>): SqlText {
  const status = draftAndPublish ? sqlText`(heir.published_at is null) = (gone.published_at is null)` : sqlText`1 = 1`
  const locale = localized ? sqlText`coalesce(heir.locale, '') = coalesce(gone.locale, '')` : sqlText`1 = 1`
  return sqlText`join ${id(table)} as heir on heir.document_id = gone.document_id and ${status} and ${locale}`
}

/** Links whose target is kept aside, and that nothing would lead back to it. */
function blockedTargets(
  { as }: KeptPlace,
  { shape, target }: OwnedLink,
  columns: Pick<GoneTargets, 'owner' | 'target'>,
  aside: AsideRows,
  undoing: Undoing,
): SqlText {
  const [owner, column, table] = [id(columns.owner), id(columns.target), tableNow(target.table, undoing)]
  const heir = heirOfGone({ ...target, table })
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

/** Links whose owner is kept aside, without these links. */
const blockedOwners = ({ as }: KeptPlace, column: string, aside: AsideRows, sameLinks: string | null, table: string): SqlText => {
  const lost = sqlText`select count(*) as count from ${id(as)} as link join ${id(aside.as)} as gone on gone.id = link.${id(column)}
    where link.${id(column)} not in (select id from ${id(table)})`
  return sameLinks === null ? lost : sqlText`${lost} and link.id not in (select id from ${id(sameLinks)})`
}

/** Drafts that were made since have copies of components, which lack what was kept aside of these. */
function obstaclesOfCopies(place: FollowedPlace, undoing: Undoing): readonly Obstacle[] {
  const { later, pairs } = undoing
  const component = componentOf(pairs.to, place.table)
  // Entries and files lie in tables that are copied with all that is in them.
  if (component === undefined || place.kind === 'field' || place.kind === 'values') return []
  const names = new Map(formerNames(component.table, undoing).map(({ change, name }) => [change, name]))
  const isCopying = ({ change, name }: { readonly change: MadeChange; readonly name: string }): boolean => {
    const { schemas, to: model } = change.pairs
    const { from, to } = schemas.find((pair) => pair.from.table === name) ?? {}
    const uid = schemas.find((pair) => pair.from.table === names.get(change))?.to.uid
    if (from?.kind !== 'contentType' || to?.kind !== 'contentType' || uid === undefined) return false
    return !from.draftAndPublish && to.draftAndPublish && reachesComponent(to, uid, model)
  }
  const inForce = changesInForce(later)
  const where = place.kind === 'column' ? sqlText`${id(place.as)} is not null` : sqlText`1 = 1`
  const held = id(place.kind === 'column' ? tableNow(place.table, undoing) : place.as)
  return [...pairs.to.types.values()].flatMap((type): readonly Obstacle[] => {
    const copying = formerNames(type.table, undoing).find((former) => inForce.has(former.change) && isCopying(former))?.change
    if (copying === undefined) return []
    const table = id(tableNow(type.table, undoing))
    // A draft that was not made of its published version is older.
    const made = sqlText`select count(*) as count from ${table} as published join ${table} as draft on draft.document_id = published.document_id
      and coalesce(draft.locale, '') = coalesce(published.locale, '') and draft.published_at is null and draft.id > published.id
      where published.published_at is not null and exists (select 1 from ${held} where ${where})`
    const lack = `lack what change ${undoing.own.id} has kept aside of ${component.uid}. Undo change ${copying.id} first`
    return [{ count: made, about: () => `Drafts of ${type.uid} that ${named(copying)} has made ${lack}` }]
  })
}

/** The changes that neither were undone nor undo one of these. */
function changesInForce(changes: readonly MadeChange[]): ReadonlySet<MadeChange> {
  const ids = new Set(changes.map((change) => change.id))
  const undone = new Set<number>()
  for (const change of changes.toReversed()) if (!undone.has(change.id)) undone.add(change.undoes)
  return new Set(changes.filter((change) => !undone.has(change.id) && !ids.has(change.undoes)))
}

/** The component whose contents lie in a table, or whose rows own what does. */
function componentOf(model: Model, table: string) {
  const component = [...model.components.values()].find((each) => each.table === table || each.componentTable === table)
  if (component !== undefined) return component
  const owned = [...ownedLinks(model), ...ownedMorphs(model)].find(({ storage }) => 'table' in storage && storage.table === table)
  return owned?.shape.kind === 'component' ? owned.shape : undefined
}
