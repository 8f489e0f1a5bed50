// Non-localized components with relations. A write in one locale copies its entries to the others, and removes only links that it has
// removed itself: if a target lacks a locale, only that locale lacks the link.
import { sql } from 'kysely'
import type { Transaction } from '../../../database/database.js'
import type { Attribute, ContentType, Model, Relation } from '../../../model/schema/types.js'
import type { ComponentLink, ComponentTree, ComponentTrees } from '../store/component-trees.js'
import { getStoredRelations, holdsRelations, readComponents } from '../store/component-trees.js'
import { copyBelow, removeBelow } from '../store/components.js'
import { setLinks } from '../store/pending-links.js'
import type { RowContext } from '../store/row-context.js'
import type { StoredVersion } from '../store/rows.js'
import { findPublished, replaceBelow } from './publish.js'

const holders = new WeakMap<ContentType, readonly Attribute[]>()

/** Attributes shared by all locales whose components have relations. */
export function getSharedHolders(model: Model, type: ContentType): readonly Attribute[] {
  const known =
    holders.get(type) ?? [...type.attributes.values()].filter((attribute) => !attribute.localized && holdsRelations(model, attribute))
  if (!holders.has(type)) holders.set(type, known)
  return known
}

/** The versions of a document, as they were before a write, and the context for changing them. */
export interface DocumentVersions {
  readonly writing: RowContext
  readonly type: ContentType
  readonly versions: readonly StoredVersion[]
  /** The time of the write, stored in the rows it changes. */
  readonly now: number
}

/** The effect of a write on non-localized components with relations. */
export interface SharedWrite {
  /** Given attributes. */
  readonly given: readonly Attribute[]
  /** Components of the row before the write; null: it is new. */
  readonly before: ComponentTrees | null
  /** Published components of the locale before the write; equal entries have the ids of `before`. */
  readonly published: ComponentTrees | null
  /** First publication of a draft: links that it lost earlier are found in the drafts of other locales. */
  readonly isFirst: boolean
}

/** Rows of a locale before a write. */
interface SharedRows {
  /** The draft, or the only row of a type without drafts; null: a new one. */
  readonly current: StoredVersion | null
  /** The published row to overwrite, if it may differ from the draft. */
  readonly published: StoredVersion | null
  /** The write publishes the whole draft. */
  readonly publishesAll: boolean
}

/** Reads the given attributes of a write's rows before the write. */
export async function readSharedWrite(
  { writing, type, versions }: DocumentVersions,
  { current, published, publishesAll }: SharedRows,
  touched: ReadonlySet<Attribute>,
): Promise<SharedWrite> {
  const { transaction, model } = writing
  const isAlone = !type.localized || versions.every(({ locale }) => locale === current?.locale)
  const given = isAlone ? [] : getSharedHolders(model, type).filter((attribute) => touched.has(attribute))
  const read = async (row: StoredVersion | null) => {
    if (row === null || given.length === 0) return row === null ? null : new Map()
    return readComponents(transaction, model, { shape: type, id: row.id }, given)
  }
  const before = await read(current)
  const had = await read(published)
  const isFirst = publishesAll && published === null && current !== null
  return { given, before, published: had === null ? before : withIdsFrom(before ?? new Map(), had), isFirst }
}

/** Gives components the ids of their counterparts in another row, recursively. */
function withIdsFrom(other: ComponentTrees, trees: ComponentTrees): ComponentTrees {
  return new Map(
    [...trees].map(([field, list]) => {
      const places = matchTrees(list, other.get(field) ?? [])
      const renamed = (tree: ComponentTree): ComponentTree => {
        const match = places.get(tree)
        return match === undefined ? tree : { ...tree, id: match.id, below: withIdsFrom(match.below, tree.below) }
      }
      return [field, list.map(renamed)]
    }),
  )
}

/** A row to compare. */
interface ComparedRow {
  readonly locale: string | null
  readonly trees: ComponentTrees
}

/** A row whose components are copied to others. */
export interface SharedSource {
  /** The draft, or the only row of a type without drafts. */
  readonly id: number
  readonly locale: string | null
  readonly write: SharedWrite
}

/** Copies given components to the selected rows among `others`. Returns the changed ones. */
export async function shareComponents(
  { writing, type }: DocumentVersions,
  { id, locale, write }: SharedSource,
  others: readonly StoredVersion[],
  isMeant: (other: StoredVersion) => boolean,
): Promise<readonly StoredVersion[]> {
  const { given } = write
  const meant = others.filter(isMeant)
  if (given.length === 0 || meant.length === 0) return []
  const { transaction, model } = writing
  const from = { shape: type, id }
  const read = (row: number) => readComponents(transaction, model, { shape: type, id: row }, given)
  const source = { locale, trees: await read(id) }
  const changed: StoredVersion[] = []
  for (const other of meant) {
    const to = { shape: type, id: other.id }
    const theirs = { locale: other.locale, trees: await read(other.id) }
    const targetSide = !type.draftAndPublish ? 'same' : other.published_at === null ? 'draft' : 'published'
    const draft = others.find(({ locale: its, published_at }) => its === other.locale && published_at === null)
    // The draft may have changed since its publication: the published row loses links removed since then.
    let before = targetSide === 'published' ? write.published : write.before
    if (targetSide === 'published' && write.isFirst && before !== null && draft !== undefined)
      before = await withLostLinks(writing, locale, before, theirs.trees, await read(draft.id))
    if (await hasAll(writing, source, before, theirs)) continue
    await removeBelow(writing, type, [other.id], given)
    await copyBelow({ ...writing, targetSide, targetLocale: other.locale }, from, to, given)
    const copied = await read(other.id)
    for (const kept of matchCopies(source.trees, before, theirs.trees, copied)) await keepLinks(writing, locale, kept)
    changed.push(other)
  }
  return changed
}

/** Adds links that another locale has published and removed from its draft, to documents with a version in the row's locale. */
async function withLostLinks(
  writing: RowContext,
  locale: string | null,
  before: ComponentTrees,
  published: ComponentTrees,
  draft: ComponentTrees,
): Promise<ComponentTrees> {
  const found = new Map<string, readonly ComponentTree[]>()
  for (const [field, list] of before) {
    const publishedPlaces = matchTrees(list, published.get(field) ?? [])
    const draftPlaces = matchTrees(list, draft.get(field) ?? [])
    const trees: ComponentTree[] = []
    for (const tree of list) {
      const theirs = publishedPlaces.get(tree)
      const drafted = draftPlaces.get(tree)
      if (theirs === undefined || drafted === undefined) {
        trees.push(tree)
        continue
      }
      const below = await withLostLinks(writing, locale, tree.below, theirs.below, drafted.below)
      const links = new Map(tree.links)
      for (const relation of getStoredRelations(tree.component)) {
        const lost = await lostLinks(writing, locale, relation, theirs, drafted)
        links.set(relation, [...(links.get(relation) ?? []), ...lost])
      }
      trees.push({ ...tree, links, below })
    }
    found.set(field, trees)
  }
  return found
}

/** Links of a published component that its draft lacks, to documents with a version in a locale. */
async function lostLinks(
  { transaction, model }: RowContext,
  locale: string | null,
  relation: Relation,
  published: ComponentTree,
  draft: ComponentTree,
): Promise<readonly ComponentLink[]> {
  const still = getDocuments(draft, relation)
  const lost = getDocuments(published, relation).filter((document) => !still.includes(document))
  const known = await inLocale(transaction, model.types.get(relation.target)!, lost, locale)
  return (published.links.get(relation) ?? []).filter(({ document }) => lost.includes(document) && known.has(document))
}

/** True if a row already has all entries of the write: its component rows are retained. */
async function hasAll(writing: RowContext, source: ComparedRow, before: ComponentTrees | null, theirs: ComparedRow): Promise<boolean> {
  const pairs = pairTrees(source.trees, theirs.trees)
  if (pairs === null || (await lacksLinks(writing, pairs, theirs.locale))) return false
  const isUnchanged = before !== null && isEqual(before, source.trees)
  return isUnchanged || (await areEqualButForLocales(writing, source, theirs))
}

/** True if two rows have the same components, and each lacks only links to documents without a version in its locale. */
async function areEqualButForLocales(writing: RowContext, one: ComparedRow, other: ComparedRow): Promise<boolean> {
  const pairs = pairTrees(one.trees, other.trees)
  if (pairs === null || pairs.some(([mine, theirs]) => isOrderedOtherwise(mine, theirs))) return false
  const swapped = pairs.map(([mine, theirs]) => [theirs, mine] as const)
  return !(await lacksLinks(writing, pairs, other.locale)) && !(await lacksLinks(writing, swapped, one.locale))
}

/**
 * After a publication, publishes in other locales the components that all drafts share. If drafts differ, another locale has unpublished
 * changes; if every write shares with drafts (`areDraftsShared`), links that only one locale has do not count as such. Returns the changed
 * versions.
 */
export async function publishShared(
  { writing, type }: DocumentVersions,
  { id, locale, write }: SharedSource,
  others: readonly StoredVersion[],
  areDraftsShared: boolean,
): Promise<readonly StoredVersion[]> {
  const { transaction, model } = writing
  const read = (row: number, attribute: Attribute) => readComponents(transaction, model, { shape: type, id: row }, [attribute])
  const drafts = others.filter(({ published_at }) => published_at === null)
  const changed = new Set<StoredVersion>()
  for (const attribute of getSharedHolders(model, type).filter((each) => !write.given.includes(each))) {
    const published = { locale, trees: await read(id, attribute) }
    const compared = await Promise.all(
      drafts.map(async (draft) => ({ draft, locale: draft.locale, trees: await read(draft.id, attribute) })),
    )
    const isSame = (each: ComparedRow) =>
      areDraftsShared ? pairTrees(published.trees, each.trees) !== null : areEqualButForLocales(writing, published, each)
    if ((await Promise.all(compared.map(isSame))).includes(false)) continue
    for (const { draft, trees } of compared) {
      const version = findPublished(others, draft.locale)
      if (version === null || isEqual(trees, await read(version.id, attribute))) continue
      const from = { shape: type, id: draft.id }
      const to = { shape: type, id: version.id }
      await replaceBelow({ ...writing, targetSide: 'published' }, from, to, [attribute])
      changed.add(version)
    }
  }
  return [...changed]
}

type Pair = readonly [ComponentTree, ComponentTree]

/** Pairs the components of two rows, recursively; null if they differ, ignoring links. */
function pairTrees(one: ComponentTrees, other: ComponentTrees): readonly Pair[] | null {
  const pairs: Pair[] = []
  for (const field of new Set([...one.keys(), ...other.keys()])) {
    const mine = one.get(field) ?? []
    const theirs = other.get(field) ?? []
    if (mine.length !== theirs.length) return null
    for (const [index, tree] of mine.entries()) {
      const match = theirs[index]!
      const below = tree.component === match.component && tree.content === match.content ? pairTrees(tree.below, match.below) : null
      if (below === null) return null
      pairs.push([tree, match], ...below)
    }
  }
  return pairs
}

const getDocuments = (tree: ComponentTree, relation: Relation): readonly string[] => [
  ...new Set((tree.links.get(relation) ?? []).map(({ document }) => document)),
]

/** True if two rows have the same components with links to the same documents. */
export function isEqual(one: ComponentTrees, other: ComponentTrees): boolean {
  const isSame = ([mine, theirs]: Pair) =>
    getStoredRelations(mine.component).every((relation) => String(getDocuments(mine, relation)) === String(getDocuments(theirs, relation)))
  return pairTrees(one, other)?.every(isSame) === true
}

function isOrderedOtherwise(one: ComponentTree, other: ComponentTree): boolean {
  return getStoredRelations(one.component).some((relation) => {
    const mine = getDocuments(one, relation)
    const theirs = getDocuments(other, relation)
    return String(mine.filter((each) => theirs.includes(each))) !== String(theirs.filter((each) => mine.includes(each)))
  })
}

/** True if the second of a pair lacks a link of the first to a document with a version in its locale. */
async function lacksLinks({ transaction, model }: RowContext, pairs: readonly Pair[], locale: string | null): Promise<boolean> {
  for (const [one, other] of pairs) {
    for (const relation of getStoredRelations(one.component)) {
      const has = getDocuments(other, relation)
      const missing = getDocuments(one, relation).filter((document) => !has.includes(document))
      if ((await inLocale(transaction, model.types.get(relation.target)!, missing, locale)).size > 0) return true
    }
  }
  return false
}

/** The documents with a version in a locale. */
async function inLocale(
  transaction: Transaction,
  target: ContentType,
  documents: readonly string[],
  locale: string | null,
): Promise<ReadonlySet<string>> {
  if (documents.length === 0 || !target.localized) return new Set(documents)
  const rows = await transaction.rows<{ document: string }>(
    sql`select distinct document_id as document from ${sql.table(target.table)}
      where document_id in (${transaction.dialect.list(documents)}) and locale = ${locale}`,
  )
  return new Set(rows.map(({ document }) => document))
}

/** A copied component, its source, the source before the write, and the replaced component. */
interface CopiedTree {
  readonly copy: ComponentTree
  readonly source: ComponentTree
  readonly before: ComponentTree | null
  readonly former: ComponentTree
}

/** Copied components that replace others, recursively. */
function matchCopies(
  source: ComponentTrees,
  before: ComponentTrees | null,
  former: ComponentTrees,
  copied: ComponentTrees,
): readonly CopiedTree[] {
  return [...source].flatMap(([field, trees]) => {
    const copies = copied.get(field) ?? []
    const own = before?.get(field) ?? []
    const theirs = former.get(field) ?? []
    const ownBefore = matchTrees(trees, own)
    const theirsBefore = matchTrees(own, theirs)
    const taken = new Set(theirsBefore.values())
    const isOwn = (tree: ComponentTree) => ownBefore.has(tree)
    const direct = matchTrees(
      trees.filter((tree) => !isOwn(tree)),
      theirs.filter((tree) => !taken.has(tree)),
    )
    return trees.flatMap((tree, index): CopiedTree[] => {
      const copy = copies[index]
      const was = ownBefore.get(tree) ?? null
      const match = was === null ? direct.get(tree) : theirsBefore.get(was)
      if (copy === undefined || match === undefined) return []
      return [{ copy, source: tree, before: was, former: match }, ...matchCopies(tree.below, was?.below ?? null, match.below, copy.below)]
    })
  })
}

/**
 * Matches components of a list with those that they replace: the same row, else the same content, else the next one of the same kind. In a
 * list with retained rows, other components are new and replace none.
 */
function matchTrees(list: readonly ComponentTree[], other: readonly ComponentTree[]): ReadonlyMap<ComponentTree, ComponentTree> {
  const free = new Set(other)
  const found = new Map<ComponentTree, ComponentTree>()
  const match = (isMatch: (one: ComponentTree, candidate: ComponentTree) => boolean): void => {
    for (const [index, one] of list.entries()) {
      if (found.has(one)) continue
      const fits = (each: ComponentTree | undefined) =>
        each !== undefined && free.has(each) && each.component === one.component && isMatch(one, each)
      const taken = fits(other[index]) ? other[index] : other.find(fits)
      if (taken === undefined) continue
      free.delete(taken)
      found.set(one, taken)
    }
  }
  match((one, each) => one.id === each.id)
  const keepsRows = found.size > 0
  match((one, each) => one.content === each.content)
  if (!keepsRows) match(() => true)
  return found
}

/** Restores links to a copied component that the write has not removed. */
async function keepLinks(writing: RowContext, locale: string | null, { copy, source, before, former }: CopiedTree): Promise<void> {
  const { transaction, model } = writing
  for (const relation of getStoredRelations(copy.component)) {
    const now = copy.links.get(relation) ?? []
    const had = former.links.get(relation) ?? []
    const given = getDocuments(source, relation)
    const shown = getDocuments(copy, relation)
    const missing = getDocuments(former, relation).filter((document) => !shown.includes(document))
    if (missing.length === 0) continue
    const was = before === null ? null : getDocuments(before, relation)
    // A new row lacks links to documents in its locale because they were not given.
    const seen = was === null ? await inLocale(transaction, model.types.get(relation.target)!, missing, locale) : new Set(was)
    const isTaken = (document: string) => seen.has(document) && !given.includes(document)
    const kept = had.filter(({ document }) => missing.includes(document) && !isTaken(document))
    if (kept.length === 0) continue
    const isChanged = was === null || String(was) !== String(given)
    if (!relation.many && isChanged && now.length > 0) continue
    setLinks(transaction, { shape: copy.component, id: copy.id }, relation, relation.many ? mergeLinks(now, kept, had) : kept)
  }
}

/** Merges retained links into `now`, each after its former predecessor. */
function mergeLinks(
  now: readonly ComponentLink[],
  kept: readonly ComponentLink[],
  before: readonly ComponentLink[],
): readonly ComponentLink[] {
  const list = [...now]
  for (const link of kept) {
    const priors = before.slice(0, before.indexOf(link)).map(({ document }) => document)
    list.splice(list.findLastIndex(({ document }) => priors.includes(document)) + 1, 0, link)
  }
  return list
}
