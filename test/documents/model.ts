// Documents in memory, as docs/spec defines them: products in locales, with drafts, related to tags from both sides and to each other
// from one. Published lists preserve the positions of unpublished targets (relations.11).
import { isDeepStrictEqual } from 'node:util'

export interface Values {
  name: string
  price: number
  stock: number
  images: readonly number[]
  variants: readonly string[]
  width: number | null
}
export interface Version extends Values {
  tags: string[]
  crossSell: string[]
}
export interface Pair {
  draft: Version
  live: Version | null
}
export interface Tag {
  draft: { name: string; color: string }
  live: { name: string; color: string } | null
  /** The products, as `documentId locale`, that name the tag, for each state in the order of the tag's own list. */
  readonly products: { draft: string[]; live: string[] }
  /** The rules no longer determine the order of its lists. */
  isLoose: boolean
}
export interface Change {
  readonly set?: readonly string[]
  readonly connect?: readonly {
    readonly documentId: string
    readonly position?: { readonly before?: string; readonly after?: string; readonly start?: true; readonly end?: true }
  }[]
  readonly disconnect?: readonly string[]
}
export type Data = Partial<Values> & { readonly tags?: Change; readonly crossSell?: readonly string[] }

export const defaultLocale = 'en'
const shared = ['price', 'stock', 'images', 'variants', 'width'] as const
const keyOf = (id: string, locale: string) => `${id} ${locale}`

/** writing.26: where `entry` is put into `list`, when it comes from `source`. */
export function placed(list: readonly string[], source: readonly string[], entry: string): string[] {
  const at = source.indexOf(entry)
  if (list.includes(entry)) return [...list]
  if (at === source.length - 1 || at === -1) return [...list, entry]
  const before = source.slice(0, at).findLast((other) => list.includes(other))
  const index = before === undefined ? 0 : list.indexOf(before) + 1
  return [...list.slice(0, index), entry, ...list.slice(index)]
}

/** relations.1, relations.6 */
export function changed(list: readonly string[], { set, connect = [], disconnect = [] }: Change): string[] {
  if (set !== undefined) return [...new Set(set)]
  let now = [...list]
  for (const { documentId, position } of connect) {
    now = now.filter((id) => id !== documentId)
    const neighbour = position?.before ?? position?.after
    const index = position?.start
      ? 0
      : neighbour === undefined
        ? now.length
        : now.indexOf(neighbour) + (position?.after === undefined ? 0 : 1)
    now.splice(index, 0, documentId)
  }
  return now.filter((id) => !disconnect.includes(id) || connect.some(({ documentId }) => documentId === id))
}

export class Documents {
  readonly products = new Map<string, Map<string, Pair>>()
  readonly tags = new Map<string, Tag>()

  pair = (id: string, locale: string): Pair | undefined => this.products.get(id)?.get(locale)

  /** Writes a draft, or creates a locale; publishes it if `publishes` is set. */
  write(id: string, locale: string, data: Data, publishes: boolean): void {
    const pairs = this.products.get(id) ?? new Map<string, Pair>()
    this.products.set(id, pairs)
    const { tags, crossSell, ...values } = data
    let pair = pairs.get(locale)
    if (pair === undefined) {
      const others = [...pairs].sort(([one], [other]) => (one === defaultLocale ? -1 : other === defaultLocale ? 1 : one < other ? -1 : 1))
      const source: Values = others[0]?.[1].draft ?? { name: '', price: 0, stock: 0, images: [], variants: [], width: null }
      pair = { draft: { ...source, name: '', tags: [], crossSell: [] }, live: null }
      pairs.set(locale, pair)
    }
    // writing.13: what a new locale is given as null it takes from the others.
    const inherits = pair.draft.name === '' && values.width === null && pairs.size > 1
    Object.assign(pair.draft, inherits ? { ...values, width: pair.draft.width } : values)
    if (tags !== undefined) this.#link(id, locale, changed(pair.draft.tags, tags))
    if (crossSell !== undefined) pair.draft.crossSell = [...new Set(crossSell)]
    if (publishes) this.publish(id, locale)
    this.#share(pairs, pair, 'draft')
  }

  publish(id: string, locale: string): void {
    const pairs = this.products.get(id)!
    const pair = pairs.get(locale)!
    const before = pair.live
    pair.live = { ...pair.draft, tags: [...pair.draft.tags], crossSell: [...pair.draft.crossSell] }
    const key = keyOf(id, locale)
    for (const [tagId, tag] of this.tags) {
      if (tag.live === null) continue
      if (pair.live.tags.includes(tagId)) tag.products.live = placed(tag.products.live, tag.products.draft, key)
      else if (before?.tags.includes(tagId)) tag.products.live = tag.products.live.filter((each) => each !== key)
    }
    this.#share(pairs, pair, 'live')
  }

  unpublish(id: string, locale: string): void {
    this.pair(id, locale)!.live = null
    for (const tag of this.tags.values()) tag.products.live = tag.products.live.filter((key) => key !== keyOf(id, locale))
  }

  discard(id: string, locale: string): void {
    const pairs = this.products.get(id)!
    const pair = pairs.get(locale)!
    const { tags, ...rest } = pair.live!
    const key = keyOf(id, locale)
    for (const [tagId, tag] of this.tags) {
      if (!tags.includes(tagId)) tag.products.draft = tag.products.draft.filter((each) => each !== key)
      else tag.products.draft = placed(tag.products.draft, tag.live === null ? [] : tag.products.live, key)
    }
    pair.draft = { ...rest, tags: [...tags], crossSell: [...rest.crossSell] }
    this.#share(pairs, pair, 'draft')
  }

  remove(id: string, locale: string | null): void {
    const pairs = this.products.get(id)!
    for (const each of locale === null ? [...pairs.keys()] : [locale]) {
      pairs.delete(each)
      for (const { products } of this.tags.values()) {
        for (const state of ['draft', 'live'] as const) products[state] = products[state].filter((key) => key !== keyOf(id, each))
      }
      for (const others of this.products.values()) {
        const { draft, live } = others.get(each) ?? {}
        for (const version of [draft, live]) if (version) version.crossSell = version.crossSell.filter((other) => other !== id)
      }
    }
    if (pairs.size === 0) this.products.delete(id)
  }

  /** The drafts of products in the default locale that name the tag. */
  linkTag(tagId: string, change: Change): void {
    const tag = this.tags.get(tagId)!
    const suffix = ` ${defaultLocale}`
    const keyed: Change = {
      ...(change.set && { set: change.set.map((id) => id + suffix) }),
      ...(change.connect && { connect: change.connect.map(({ documentId }) => ({ documentId: documentId + suffix })) }),
      ...(change.disconnect && { disconnect: change.disconnect.map((id) => id + suffix) }),
    }
    const now = changed(tag.products.draft, keyed)
    for (const [id, pairs] of this.products) {
      for (const [locale, { draft }] of pairs) {
        const isNamed = now.includes(keyOf(id, locale))
        if (isNamed && !draft.tags.includes(tagId)) draft.tags.push(tagId)
        if (!isNamed) draft.tags = draft.tags.filter((each) => each !== tagId)
      }
    }
    tag.products.draft = now
  }

  /** `givesProducts`: by a write that says which products it has. */
  publishTag(tagId: string, givesProducts = false): void {
    const tag = this.tags.get(tagId)!
    const isFirst = tag.live === null
    tag.live = { ...tag.draft }
    const shown: string[] = []
    const waited: string[] = []
    for (const [id, pairs] of this.products) {
      for (const [locale, { draft, live }] of pairs) {
        if (live === null) continue
        const key = keyOf(id, locale)
        if (tag.products.draft.includes(key)) {
          live.tags = placed(live.tags, draft.tags, tagId)
          shown.push(key)
        } else if (live.tags.includes(tagId)) {
          if (isFirst && !givesProducts) waited.push(key)
          else live.tags = live.tags.filter((each) => each !== tagId)
        }
      }
    }
    tag.products.live = [...tag.products.draft.filter((key) => shown.includes(key)), ...waited]
    if (waited.length > 1) tag.isLoose = true
  }

  unpublishTag(tagId: string): void {
    const tag = this.tags.get(tagId)!
    tag.live = null
    tag.products.live = []
  }

  discardTag(tagId: string): void {
    const tag = this.tags.get(tagId)!
    tag.draft = { ...tag.live! }
    const lasting: string[] = []
    for (const [id, pairs] of this.products) {
      for (const [locale, { draft, live }] of pairs) {
        const key = keyOf(id, locale)
        if (live === null) {
          if (tag.products.draft.includes(key)) lasting.push(key)
        } else if (!tag.products.live.includes(key)) draft.tags = draft.tags.filter((each) => each !== tagId)
        else draft.tags = placed(draft.tags, live.tags, tagId)
      }
    }
    if (lasting.length > 0) tag.isLoose = true
    tag.products.draft = [...tag.products.live, ...lasting]
  }

  removeTag(tagId: string): void {
    this.tags.delete(tagId)
    for (const pairs of this.products.values()) {
      for (const { draft, live } of pairs.values()) {
        for (const version of [draft, live]) if (version) version.tags = version.tags.filter((each) => each !== tagId)
      }
    }
  }

  /** status.7 */
  isModified = ({ draft, live }: Pair): boolean => live !== null && !isDeepStrictEqual(draft, live)

  /** The same for tags: their list of published products counts, in all locales. Null: undetermined by the rules. */
  isTagModified = ({ draft, live, products, isLoose }: Tag): boolean | null => {
    if (live === null) return false
    const shown = products.draft.filter((key) => {
      const [id, locale] = key.split(' ') as [string, string]
      return this.pair(id, locale)?.live
    })
    if (!isDeepStrictEqual(draft, live) || !isDeepStrictEqual(shown.toSorted(), products.live.toSorted())) return true
    if (isDeepStrictEqual(shown, products.live) && !isLoose) return false
    return isLoose ? null : true
  }

  /** The visible documents among the targets of a published version. */
  seen = {
    tags: (tags: readonly string[]) => tags.filter((id) => this.tags.get(id)?.live),
    products: (ids: readonly string[], locale: string) => ids.filter((id) => this.pair(id, locale)?.live),
  }

  #link(id: string, locale: string, wanted: string[]): void {
    const { draft } = this.pair(id, locale)!
    const key = keyOf(id, locale)
    for (const tagId of wanted.filter((each) => !draft.tags.includes(each))) this.tags.get(tagId)!.products.draft.push(key)
    for (const tagId of draft.tags.filter((each) => !wanted.includes(each))) {
      const { products } = this.tags.get(tagId)!
      products.draft = products.draft.filter((each) => each !== key)
    }
    draft.tags = wanted
  }

  /** locale.8 */
  #share(pairs: ReadonlyMap<string, Pair>, { draft, live }: Pair, state: 'draft' | 'live'): void {
    const source = state === 'draft' ? draft : live!
    for (const other of pairs.values()) {
      const version = other[state]
      if (version !== null) Object.assign(version, Object.fromEntries(shared.map((name) => [name, source[name]])))
    }
  }
}
