// Values of a form: the attributes of a document as JSON, with the keys of entries and links as symbols.

/** An attribute as the API describes it. */
export interface FormAttribute {
  readonly type: string
  readonly component?: string
  readonly components?: readonly string[]
  readonly repeatable?: boolean
  readonly relation?: string
  readonly multiple?: boolean
  readonly [option: string]: unknown
}

/** True if each locale has its own value. */
export const isLocalized = ({ pluginOptions }: FormAttribute): boolean =>
  (pluginOptions as { readonly i18n?: { readonly localized?: boolean } } | undefined)?.i18n?.localized === true

export type FormAttributes = Readonly<Record<string, FormAttribute>>

/** The attributes of a content-type and of its components. */
export interface Shape {
  readonly attributes: FormAttributes
  readonly components: Readonly<Record<string, { readonly attributes: FormAttributes }>>
}

/** Kinds of values: `list` and `zone` have entries, `links` and `files` have links, the last is anything else. */
export type ValueKind = 'component' | 'list' | 'zone' | 'link' | 'links' | 'file' | 'files' | 'value'

/** An entry of a list, a component, or a document. */
export type Entry = Readonly<Record<string, unknown>>

const entryKey = Symbol('key of an entry')
const linkKey = Symbol('key of a link')
const unfinishedKey = Symbol('unfinished text')

/** The kind of the values of an attribute. */
export function kindOf({ type, repeatable, relation = '', multiple }: FormAttribute): ValueKind {
  if (type === 'component') return repeatable === true ? 'list' : 'component'
  if (type === 'dynamiczone') return 'zone'
  if (type === 'media') return multiple === true ? 'files' : 'file'
  if (type === 'relation') return relation.endsWith('Many') ? 'links' : 'link'
  return 'value'
}

/** The attributes of an entry of a component, list or zone. */
export function attributesOf(shape: Shape, attribute: FormAttribute, entry: Entry): FormAttributes {
  const uid = attribute.type === 'dynamiczone' ? String(entry.__component) : (attribute.component ?? '')
  return shape.components[uid]?.attributes ?? {}
}

/** True for an object other than a list. */
export const isObject = (value: unknown): value is Entry => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value if it is a text, otherwise an empty one. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const tagOf = (value: unknown, tag: symbol): string | undefined =>
  isObject(value) ? (value as { readonly [key: symbol]: string | undefined })[tag] : undefined

/** The key of an entry or of a link; undefined for other values. A component that is not in a list has an empty key. */
export const keyOf = (value: unknown): string | undefined => tagOf(value, entryKey) ?? tagOf(value, linkKey)

/** True for a component or an entry of a list. */
export const isEntry = (value: unknown): value is Entry => tagOf(value, entryKey) !== undefined

/** True for a list of entries or links, also an empty one. */
export const isKeyed = (value: unknown): value is readonly Entry[] =>
  Array.isArray(value) && value.every((item) => keyOf(item) !== undefined)

/** Marks an object as an entry with a key. */
export const toEntry = (members: Entry, key: string): Entry => ({ ...members, [entryKey]: key })

/** Marks a linked document as a link. */
export function toLink(link: Entry): Entry {
  const { documentId, locale, __type: type } = link
  const key = `@${[type, documentId, locale].filter((part) => typeof part === 'string' && part !== '').join(':')}`
  return { ...link, [linkKey]: key }
}

/** Marks a file as a link. */
export const toFile = (file: Entry): Entry => ({ ...file, [linkKey]: `@file:${String(file.id)}` })

/** A text that does not parse yet, such as JSON without its last bracket. It is kept in the form and its copies, and never sent. */
export const toUnfinished = (text: string): Entry => ({ [unfinishedKey]: text })

/** The text of an unfinished value; undefined for other values. */
export const unfinishedText = (value: unknown): string | undefined => tagOf(value, unfinishedKey)

/** A key for a new entry. */
export const newKey = (): string => `new-${crypto.randomUUID().slice(0, 18)}`

/** Creates an entry from values that have no keys, such as defaults, or from another entry, with new keys throughout. */
export function createEntry(shape: Shape, attributes: FormAttributes, values: Entry, key = newKey()): Entry {
  const { __component: uid } = values
  return toEntry({ ...(uid === undefined ? {} : { __component: uid }), ...readEntry(shape, attributes, values, newKey) }, key)
}

/** The key of a stored entry by its component and id. */
type KeyFor = (uid: string, id: number, isInZone: boolean) => string

/** The name of a stored entry in requests, and its key unless the page created it. */
export const storedName: KeyFor = (uid, id, isInZone) => `${isInZone ? uid : ''}#${id}`

/** Values of a document from a response. Members that are no attributes are left out. */
export const readDocument = (shape: Shape, data: Entry, keyFor: KeyFor = storedName): Entry =>
  toEntry(readEntry(shape, shape.attributes, data, keyFor), '')

function readEntry(shape: Shape, attributes: FormAttributes, data: Entry, keyFor: KeyFor): Entry {
  const members = Object.entries(attributes).filter(([name]) => Object.hasOwn(data, name))
  return Object.fromEntries(members.map(([name, attribute]) => [name, readValue(shape, attribute, data[name], keyFor)]))
}

function readValue(shape: Shape, attribute: FormAttribute, value: unknown, keyFor: KeyFor): unknown {
  const kind = kindOf(attribute)
  if (kind === 'value') return value
  if (kind === 'list' || kind === 'zone' || kind === 'links' || kind === 'files') {
    const items = Array.isArray(value) ? value.filter(isObject) : []
    if (kind === 'links') return items.map(toLink)
    if (kind === 'files') return items.map(toFile)
    return items.map((item) => {
      const uid = kind === 'zone' ? String(item.__component) : (attribute.component ?? '')
      const members = readEntry(shape, attributesOf(shape, attribute, item), item, keyFor)
      return toEntry(kind === 'zone' ? { __component: uid, ...members } : members, keyFor(uid, Number(item.id), kind === 'zone'))
    })
  }
  if (!isObject(value)) return null
  if (kind === 'link') return toLink(value)
  if (kind === 'file') return toFile(value)
  return toEntry(readEntry(shape, attributesOf(shape, attribute, value), value, keyFor), '')
}

const isInstant = (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text)

function isEqualScalar(one: unknown, other: unknown): boolean {
  if (one === other) return true
  // Decimals and big integers are texts in some responses; null and a missing member mean the same.
  if ((one ?? null) === null) return (other ?? null) === null
  if (typeof one === 'number' && typeof other === 'string') return other.trim() !== '' && Number(other) === one
  if (typeof one === 'string' && typeof other === 'number') return isEqualScalar(other, one)
  if (typeof one === 'string' && typeof other === 'string' && isInstant(one) && isInstant(other))
    return Date.parse(one) === Date.parse(other)
  return false
}

/** True if two values are the same for the server. Links and files are compared by their keys. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => isEqual(item, other[index]))
  if (!isObject(one) || !isObject(other)) return isEqualScalar(one, other)
  if (keyOf(one) !== keyOf(other) || unfinishedText(one) !== unfinishedText(other)) return false
  if (tagOf(one, linkKey) !== undefined) return true
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((name) => isEqual(one[name], other[name]))
}

/** True if two entries have the same content, with the same or other keys. */
export function hasEqualContent(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => hasEqualContent(item, other[index]))
  if (!isEntry(one) || !isEntry(other)) return isEqual(one, other)
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((name) => hasEqualContent(one[name], other[name]))
}

/** Minimum length of a list packed as text, which browsers clone faster than objects. */
const longList = 200

/** Packed values by the values of a form, which never change. */
const packed = new WeakMap<object, unknown>()

/** Values with their keys as JSON, for storage that drops symbols. */
export function pack(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return { value }
  if (!packed.has(value)) packed.set(value, packMembers(value))
  return packed.get(value)
}

function packMembers(value: object): unknown {
  const key = tagOf(value, entryKey)
  const unfinished = unfinishedText(value)
  if (unfinished !== undefined) return { unfinished }
  if (key !== undefined) return { entry: key, members: mapMembers(value as Entry, pack) }
  if (tagOf(value, linkKey) !== undefined) return { link: keyOf(value), value: { ...(value as Entry) } }
  if (!isKeyed(value) || value.length === 0) return { value }
  const items = value.map(pack)
  return items.length < longList ? { items } : { text: JSON.stringify(items) }
}

/** The values of `pack`. */
export function unpack(packed: unknown): unknown {
  const { entry, members, link, items, text, unfinished, value } = packed as Readonly<Record<string, unknown>>
  if (typeof entry === 'string') return toEntry(mapMembers(members as Entry, unpack), entry)
  if (typeof unfinished === 'string') return toUnfinished(unfinished)
  if (typeof link === 'string') return { ...(value as Entry), [linkKey]: link }
  const list = typeof text === 'string' ? (JSON.parse(text) as unknown) : items
  return Array.isArray(list) ? list.map(unpack) : value
}

const mapMembers = (entry: Entry, map: (value: unknown) => unknown): Entry =>
  Object.fromEntries(Object.entries(entry).map(([name, value]) => [name, map(value)]))
