// Merging of three versions of a document: the common base, mine and theirs; lists by the keys of their entries.
import { applyOrder, compareOrders } from './order.js'
import { joinPath } from './paths.js'
import { type Entry, hasEqualContent, isEntry, isEqual, isKeyed, keyOf } from './values.js'

/** Author and date of another person's change, if known. */
export interface ChangedBy {
  readonly person: string | null
  readonly time: string | null
}

/** A value that both changed. `theirs` undefined: they removed the entry; `mine` undefined: I did. */
export interface Conflict {
  readonly path: string
  readonly base: unknown
  readonly mine: unknown
  readonly theirs: unknown
  readonly by?: ChangedBy
}

/** Outcome of a merge. Conflicting values are mine; an entry that I removed and they changed is theirs. */
export interface Merged {
  readonly value: unknown
  readonly conflicts: readonly Conflict[]
}

/** Merges my changes since `base` with theirs. */
export function merge(base: unknown, mine: unknown, theirs: unknown, path = ''): Merged {
  const conflicts: Conflict[] = []
  const value = mergeValue(base, mine, theirs, { path, conflicts })
  return { value, conflicts }
}

interface Merging {
  readonly path: string
  readonly conflicts: Conflict[]
}

function mergeValue(base: unknown, mine: unknown, theirs: unknown, merging: Merging): unknown {
  if (isEqual(mine, theirs) || isEqual(theirs, base)) return mine
  if (isEqual(mine, base)) return takeTheirs(mine, theirs)
  if (isKeyed(mine) && isKeyed(theirs)) return mergeLists(isKeyed(base) ? base : [], mine, theirs, merging)
  if (isEntry(mine) && isEntry(theirs) && keyOf(mine) === keyOf(theirs))
    return mergeMembers(isEntry(base) ? base : {}, mine, theirs, merging)
  merging.conflicts.push({ path: merging.path, base, mine, theirs })
  return mine
}

/** Their value, with mine where nothing differs, so that these parts are not drawn again. */
function takeTheirs(mine: unknown, theirs: unknown): unknown {
  if (isEqual(mine, theirs)) return mine
  if (isKeyed(mine) && isKeyed(theirs)) {
    const byKey = new Map(mine.map((item) => [keyOf(item), item]))
    return theirs.map((item) => takeTheirs(byKey.get(keyOf(item)), item))
  }
  if (!isEntry(mine) || !isEntry(theirs) || keyOf(mine) !== keyOf(theirs)) return theirs
  return mapEntry(theirs, (name) => takeTheirs(mine[name], theirs[name]))
}

const mapEntry = (entry: Entry, map: (name: string) => unknown): Entry => {
  const members = Object.fromEntries(Object.keys(entry).map((name) => [name, map(name)]))
  return { ...entry, ...members }
}

function mergeMembers(base: Entry, mine: Entry, theirs: Entry, { path, conflicts }: Merging): Entry {
  return mapEntry({ ...theirs, ...mine }, (name) =>
    mergeValue(base[name], mine[name], theirs[name], { path: joinPath(path, name), conflicts }),
  )
}

const byKeys = (list: readonly Entry[]): ReadonlyMap<string, Entry> => new Map(list.map((item) => [keyOf(item)!, item]))

function mergeLists(base: readonly Entry[], mine: readonly Entry[], theirs: readonly Entry[], merging: Merging): readonly Entry[] {
  const [b, m, t] = [byKeys(base), byKeys(mine), byKeys(theirs)]
  const at = (key: string): Merging => ({ path: joinPath(merging.path, key), conflicts: merging.conflicts })
  const mineKeys = [...m.keys()]
  const changes = compareOrders([...b.keys()], mineKeys)
  // An entry that they removed and I changed stays until one of us decides, as does one that I removed and they changed.
  const changed = (item: Entry | undefined, key: string) => !isEqual(item, b.get(key))
  const restored = new Set(changes.removed.filter((key) => t.has(key) && changed(t.get(key), key)))
  const lost = mineKeys.filter((key) => b.has(key) && !t.has(key) && changed(m.get(key), key))
  const placed = new Set(changes.placed.map(({ key }) => key))
  const order = applyOrder([...t.keys()], mineKeys, {
    removed: changes.removed.filter((key) => !restored.has(key)),
    placed: mineKeys.flatMap((key) =>
      lost.includes(key) || (placed.has(key) && (t.has(key) || !b.has(key))) ? [{ key, after: null, isNew: false }] : [],
    ),
  })
  return order.map((key) => {
    const [inBase, inMine, inTheirs] = [b.get(key), m.get(key), t.get(key)]
    if (inMine === undefined && inBase === undefined) return inTheirs!
    if (inMine === undefined || inTheirs === undefined) {
      if (inBase !== undefined) merging.conflicts.push({ path: at(key).path, base: inBase, mine: inMine, theirs: inTheirs })
      return inMine ?? inTheirs!
    }
    return mergeValue(inBase, inMine, inTheirs, at(key)) as Entry
  })
}

/**
 * The base after a request without a response: `sent` where `theirs` shows that it was carried out, `base` elsewhere. Without this, a
 * merge would mistake my own change for theirs.
 */
export function settle(base: unknown, sent: unknown, theirs: unknown): unknown {
  if (isEqual(base, sent) || isEqual(base, theirs)) return base
  if (isEqual(sent, theirs)) return sent
  if (isKeyed(sent) && isKeyed(theirs)) return settleLists(isKeyed(base) ? base : [], sent, theirs)
  if (isEntry(sent) && isEntry(theirs) && keyOf(sent) === keyOf(theirs)) {
    // A component that exists only since the request.
    if (!isEntry(base)) return sent
    return mapEntry({ ...base, ...sent }, (name) => settle(base[name], sent[name], theirs[name]))
  }
  return base
}

function settleLists(base: readonly Entry[], sent: readonly Entry[], theirs: readonly Entry[]): readonly Entry[] {
  const [b, s, t] = [byKeys(base), byKeys(sent), byKeys(theirs)]
  const isDone = (key: string) => (s.has(key) ? t.has(key) : !t.has(key))
  const arrived = [...s.keys()].some((key) => !b.has(key) && t.has(key)) || [...b.keys()].some((key) => !s.has(key) && !t.has(key))
  const common = (keys: Iterable<string>) => [...keys].filter((key) => b.has(key) && s.has(key) && t.has(key)).join()
  const isMoved = common(s.keys()) !== common(b.keys()) && common(s.keys()) === common(t.keys())
  const sentKeys = [...s.keys()]
  const baseKeys = [...b.keys()]
  const missing = baseKeys.filter((key) => !s.has(key) && !isDone(key)).map((key) => ({ key, after: null, isNew: false }))
  const added = sentKeys.filter((key) => !b.has(key)).map((key) => ({ key, after: null, isNew: true }))
  const order =
    arrived || isMoved
      ? applyOrder(sentKeys, baseKeys, { removed: [], placed: missing })
      : applyOrder(baseKeys, sentKeys, { removed: [], placed: added })
  return order.flatMap((key) => {
    const [inBase, inSent, inTheirs] = [b.get(key), s.get(key), t.get(key)]
    if (inBase === undefined) return inSent !== undefined && isDone(key) ? [inSent] : []
    if (inSent === undefined) return isDone(key) ? [] : [inBase]
    return inTheirs === undefined ? [inBase] : [settle(inBase, inSent, inTheirs) as Entry]
  })
}

/** Least share of equal members of two entries that count as one. */
const similar = 0.5

function similarity(one: Entry, other: Entry): number {
  if (one.__component !== other.__component) return -1
  if (hasEqualContent(one, other)) return 1
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((name) => name !== '__component')
  return names.filter((name) => hasEqualContent(one[name], other[name])).length / Math.max(1, names.length)
}

/** An entry of mine that they have under another name. */
interface MatchedEntry {
  readonly path: string
  readonly name: string
}

/** Finds new entries of mine in `theirs`, such as those of a request without a response. `isNew` says which of mine may have another name. */
export function matchNewEntries(
  base: unknown,
  mine: unknown,
  theirs: unknown,
  isNew: (path: string) => boolean,
  path = '',
): readonly MatchedEntry[] {
  if (isKeyed(mine) && isKeyed(theirs)) {
    const [b, m, t] = [byKeys(isKeyed(base) ? base : []), byKeys(mine), byKeys(theirs)]
    const open = [...t].filter(([key]) => !m.has(key) && !b.has(key))
    return [...m].flatMap(([key, entry]) => {
      const at = joinPath(path, key)
      if (!isEntry(entry)) return []
      const found = t.has(key) || !isNew(at) ? undefined : takeMostSimilar(open, entry)
      const other = t.get(key) ?? found?.[1]
      const own = found === undefined ? [] : [{ path: at, name: found[0] }]
      return [...own, ...matchNewEntries(b.get(key), entry, other, isNew, at)]
    })
  }
  if (!isEntry(mine) || !isEntry(theirs)) return []
  return Object.keys(mine).flatMap((name) =>
    matchNewEntries((base as Entry | null | undefined)?.[name], mine[name], theirs[name], isNew, joinPath(path, name)),
  )
}

function takeMostSimilar(open: [string, Entry][], entry: Entry): [string, Entry] | undefined {
  const grades = open.map(([, other]) => similarity(entry, other))
  const best = Math.max(...grades)
  return best < similar ? undefined : open.splice(grades.indexOf(best), 1)[0]
}

/** Paths of the values that differ, as precisely as entries have keys. */
export function changedPaths(one: unknown, other: unknown, path = ''): readonly string[] {
  if (isEqual(one, other)) return []
  if (isKeyed(one) && isKeyed(other)) {
    const [before, after] = [byKeys(one), byKeys(other)]
    const below = [...after].flatMap(([key, item]) => (before.has(key) ? changedPaths(before.get(key), item, joinPath(path, key)) : []))
    const { removed, placed } = compareOrders([...before.keys()], [...after.keys()])
    return removed.length + placed.length > 0 || below.length === 0 ? [path, ...below] : below
  }
  if (!isEntry(one) || !isEntry(other) || keyOf(one) !== keyOf(other)) return [path]
  return Object.keys({ ...one, ...other }).flatMap((name) => changedPaths(one[name], other[name], joinPath(path, name)))
}
