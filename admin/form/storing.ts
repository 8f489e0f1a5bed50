// Exchange of a form with the server: requests, their outcomes, and documents of others.

import { openConflicts } from './editing.js'
import { type ErrorSource, type FieldError, placeErrors, type ServerError } from './errors.js'
import { type ChangedBy, type Conflict, changedPaths, matchNewEntries, merge, settle } from './merge.js'
import { buildDocument, buildPatch, type Patch, withoutRefused } from './patch.js'
import { joinPath, lastPart, leadsSomewhere, placePath, valueAt, withValueAt } from './paths.js'
import { entryPaths, type FormState, isRefused, keyFor, nameAt, noteId, patchTerms } from './state.js'
import { type Entry, isEntry, isEqual, isKeyed, keyOf, pack, readDocument, toLink } from './values.js'

/** Changes of others after a merge. */
export interface Received {
  /** Paths that have their values now. */
  readonly taken: readonly string[]
  readonly conflicts: readonly Conflict[]
}

/** The state of a form as JSON, for a copy in the browser. */
export interface StoredForm {
  readonly base: unknown
  readonly mine: unknown
  readonly sent: unknown
  readonly keys: Readonly<Record<string, string>>
  /** Open conflicts; absent in copies of earlier versions of the page. */
  readonly conflicts?: readonly Conflict[]
}

/** The outcome of a request that the server has carried out. */
interface StoredRequest {
  readonly next: Entry
  readonly inserted?: ReadonlyMap<string, string>
  /** Errors of values that were not stored, by paths of the form. */
  readonly refused?: readonly FieldError[]
  /** Ids of new entries by their paths in the request. */
  readonly ids?: Readonly<Record<string, number>>
}

/** The exchange of a form with the server. */
export interface Storing {
  /** The next request; `retriesRefused`: also with values that the server has refused. */
  patch(retriesRefused?: boolean): Patch
  /** The values of a document that does not exist yet. */
  newDocument(retriesRefused?: boolean): { readonly data: Entry; readonly next: Entry }
  /** Notes the document that a request under way leads to; null: it was not carried out. */
  sending(next: Entry | null): void
  stored(request: StoredRequest): void
  /** Notes values of a request that the server would not store: they are not sent again before they change. */
  refuse(errors: readonly FieldError[], next: Entry): void
  /** The document that a request without a response leads to; null: there is none. */
  readonly sent: Entry | null
  /** Makes the form one of a document that does not exist: all of my values are new. */
  detach(): void
  /** Sets values that the server has generated, such as a uid, unless the form has changed them since. */
  fill(values: Readonly<Record<string, unknown>>): void
  /** Merges the document of the server; `by`: its last change. */
  receive(data: Entry, by?: ChangedBy): Received
  /** Learns the ids of new entries from a response with the state that the base has. */
  learnIds(data: Entry): void
  /** Takes the document of the server. My changes and the steps of undo are dropped. */
  reset(data: Entry): void
  /** Adds links that were loaded after the first ones of a relation. */
  extendLinks(path: string, links: readonly Entry[], isComplete: boolean): void
  isPartial(path: string): boolean
  /** Updates the description of a linked document, such as its name, in all links of the form to it. */
  describeLink(link: Entry): void
  /** Replaces the errors of a source by errors of the server. */
  placeErrors(
    source: ErrorSource,
    errors: readonly ServerError[],
    request?: Pick<StoredRequest, 'next' | 'inserted'>,
  ): readonly FieldError[]
  toJSON(): StoredForm
}

/** Their document in the keys of the form, with links that only the form has loaded. */
function read(state: FormState, data: Entry): Entry {
  let document = readDocument(state.shape, data, keyFor(state))
  for (const [path, { links }] of state.extensions) {
    const first = valueAt(document, path)
    if (!isKeyed(first)) continue
    const keys = new Set(first.map(keyOf))
    document = withValueAt(document, path, [...first, ...links.filter((link) => !keys.has(keyOf(link)))]) as Entry
  }
  return document
}

/** Finds entries that the page created in the document of the server, which has them by id. */
function recognize(state: FormState, data: Entry): Entry {
  const known = state.sent ?? state.base
  const theirs = read(state, data)
  const isUnknown = (path: string) => !leadsSomewhere(state.base, path) || nameAt(state, path) === null
  for (const { path, name } of matchNewEntries(state.base, known, theirs, isUnknown))
    noteId(state, known, path, Number(name.split('#').pop()))
  return read(state, data)
}

/** The exchange of a form with the server. */
export function createStoring(state: FormState): Storing {
  return {
    patch: (retriesRefused = false) => buildPatch(state.base, state.mine, patchTerms(state, retriesRefused)),
    newDocument: (retriesRefused = false) => buildDocument(state.mine, patchTerms(state, retriesRefused)),
    sending(next) {
      state.sent = next
    },
    stored: (request) => store(state, request),
    refuse(errors, next) {
      refuse(state, errors, next)
      state.sent = null
      state.listeners.call('')
    },
    get sent() {
      return state.sent
    },
    detach() {
      state.base = readDocument(state.shape, {})
      state.sent = null
      state.keys.clear()
      state.conflicts.clear()
      state.edits += 1
      state.listeners.call('')
    },
    fill(values) {
      for (const [path, value] of Object.entries(values)) {
        const isUntouched = isEqual(valueAt(state.base, path), valueAt(state.mine, path))
        state.base = withValueAt(state.base, path, value) as Entry
        if (isUntouched) state.mine = withValueAt(state.mine, path, value) as Entry
        state.listeners.call(path)
      }
    },
    receive: (data, by) => receive(state, data, by),
    learnIds(data) {
      const theirs = read(state, data)
      learn(state, state.base, theirs, '')
    },
    reset(data) {
      state.base = read(state, data)
      state.mine = state.base
      state.sent = null
      state.conflicts.clear()
      state.refused.clear()
      state.undo.clear()
      state.errors.replace('refused', [])
      state.listeners.call('')
    },
    extendLinks(path, given, isComplete) {
      const links = given.map(toLink)
      const earlier = state.extensions.get(path)?.links ?? []
      state.extensions.set(path, { links: [...earlier, ...links], isComplete })
      const insert = (root: Entry): Entry => extend(root, path, links, valueAt(state.base, path))
      state.mine = insert(state.mine)
      if (state.sent !== null) state.sent = insert(state.sent)
      state.base = insert(state.base)
      state.listeners.call(path)
    },
    isPartial: (path) => state.extensions.get(path)?.isComplete === false,
    describeLink(given) {
      const link = toLink(given)
      state.base = describe(state.base, link) as Entry
      state.mine = describe(state.mine, link) as Entry
      if (state.sent !== null) state.sent = describe(state.sent, link) as Entry
      state.listeners.call('')
    },
    placeErrors(source, errors, { next, inserted = new Map() } = { next: state.base }) {
      const names = namesIn(state, next, inserted)
      return placeErrors(next, errors, { keyOfName: (name) => names.get(name) }, source)
    },
    toJSON: () => ({
      base: pack(state.base),
      mine: pack(state.mine),
      sent: state.sent === null ? null : pack(state.sent),
      keys: Object.fromEntries(state.keys),
      conflicts: mapConflicts([...state.conflicts.values()], pack),
    }),
  }
}

/** Converts the values of conflicts. */
export const mapConflicts = (conflicts: readonly Conflict[], map: (value: unknown) => unknown): readonly Conflict[] =>
  conflicts.map((conflict) => ({ ...conflict, base: map(conflict.base), mine: map(conflict.mine), theirs: map(conflict.theirs) }))

/** Keys of entries by the names that requests and responses give them. */
function namesIn(state: FormState, root: Entry, inserted: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const stored = entryPaths(root).flatMap((path): (readonly [string, string])[] => {
    const name = nameAt(state, path)
    return name === null ? [] : [[name, lastPart(path)]]
  })
  return new Map([...stored, ...[...inserted].map(([name, path]) => [name, lastPart(path)] as const)])
}

function store(state: FormState, { next, inserted = new Map(), refused = [], ids = {} }: StoredRequest): void {
  const names = namesIn(state, next, inserted)
  for (const [serverPath, id] of Object.entries(ids)) {
    const path = placePath(next, serverPath.split('/'), { keyOfName: (name) => names.get(name) })
    if (keyOf(valueAt(next, path))?.startsWith('@') === false && path !== '') noteId(state, next, path, id)
  }
  for (const path of [...state.refused.keys()]) if (isEqual(valueAt(next, path), state.refused.get(path))) state.refused.delete(path)
  refuse(state, refused, next)
  const paths = refused.map(({ path }) => path).filter((path) => path !== '')
  state.base = withoutRefused(next, state.base, paths)
  state.sent = null
  state.listeners.call('')
}

/** Notes refused values with their errors; earlier errors remain where the value is still the one that was refused. */
function refuse(state: FormState, errors: readonly FieldError[], next: Entry): void {
  for (const { path } of errors) if (path !== '') state.refused.set(path, valueAt(next, path))
  const paths = new Set(errors.map(({ path }) => path))
  const earlier = state.errors.all().filter(({ path, source }) => source === 'refused' && !paths.has(path) && isRefused(state, path))
  state.errors.replace('refused', [...earlier, ...errors])
}

const isEmpty = (value: unknown): boolean => value === undefined || value === null || (Array.isArray(value) && value.length === 0)

function receive(state: FormState, data: Entry, by?: ChangedBy): Received {
  const theirs = recognize(state, data)
  const base = state.sent === null ? state.base : (settle(state.base, state.sent, theirs) as Entry)
  const { value, conflicts } = merge(base, state.mine, theirs)
  const before = state.mine
  state.mine = value as Entry
  const open = openConflicts(state, theirs, conflicts, by)
  state.conflicts.clear()
  for (const conflict of open) state.conflicts.set(conflict.path, conflict)
  state.base = theirs
  state.sent = null
  // An empty list of the server is no change of a value that the form does not have.
  const isEmptyAt = (root: Entry, path: string) => isEmpty(valueAt(root, path))
  const taken = changedPaths(before, state.mine).filter((path) => !isEmptyAt(before, path) || !isEmptyAt(state.mine, path))
  if (taken.length > 0) state.undo.pause()
  state.listeners.call('')
  return { taken, conflicts }
}

/** Inserts links after the stored ones and before my new ones at the end. */
function extend(root: Entry, path: string, links: readonly Entry[], stored: unknown): Entry {
  const list = valueAt(root, path)
  if (!isKeyed(list)) return root
  const known = new Set(isKeyed(stored) ? stored.map(keyOf) : [])
  const present = new Set(list.map(keyOf))
  const end = list.findLastIndex((link) => known.has(keyOf(link))) + 1
  const added = links.filter((link) => !present.has(keyOf(link)))
  return withValueAt(root, path, list.toSpliced(end, 0, ...added)) as Entry
}

/** A value with the new description of a link; the same object if it does not contain the link. */
function describe(value: unknown, link: Entry): unknown {
  if (Array.isArray(value)) {
    const described = value.map((item: unknown) => describe(item, link))
    return described.some((item, index) => item !== value[index]) ? described : value
  }
  if (!isEntry(value)) return keyOf(value) === keyOf(link) ? toLink({ ...(value as Entry), ...link }) : value
  const changed = Object.entries(value).flatMap(([name, member]) => {
    const described = describe(member, link)
    return described === member ? [] : [[name, described] as const]
  })
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) }
}

/** Notes ids by position, where the lists of both documents are alike. */
function learn(state: FormState, mine: unknown, theirs: unknown, path: string): void {
  if (isKeyed(mine) && isKeyed(theirs)) {
    if (mine.length !== theirs.length) return
    mine.forEach((item, index) => {
      const [key, other] = [keyOf(item)!, keyOf(theirs[index])!]
      if (key.startsWith('@')) return
      const at = joinPath(path, key)
      if (key !== other && item.__component === theirs[index]!.__component) noteId(state, state.base, at, Number(other.split('#').pop()))
      learn(state, item, theirs[index], at)
    })
    return
  }
  if (keyOf(mine) === undefined || keyOf(theirs) === undefined || keyOf(mine)!.startsWith('@')) return
  for (const [name, value] of Object.entries(mine as Entry)) learn(state, value, (theirs as Entry)[name], joinPath(path, name))
}
