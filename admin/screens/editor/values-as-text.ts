// Text of document values, and differing attributes of two versions.
import { linkState } from '../../fields/link-name.js'
import { type Entry, isEqual, readDocument, unfinishedText } from '../../form/values.js'
import { shapeOf, type TypeDescription } from './document-form.js'

/** Results for values of the right side, which never change: a list of thousands is not compared at each key elsewhere. */
const compared = new WeakMap<object, { readonly left: unknown; readonly isDifferent: boolean }>()

/** Attributes that differ between two versions, without regard to ids. */
export function differingAttributes(type: TypeDescription, left: Entry, right: Entry): readonly string[] {
  const shape = shapeOf(type)
  let position = 0
  const byPosition = () => `p${position++}`
  const read = (data: Entry): Entry => {
    position = 0
    return readDocument(shape, data, byPosition)
  }
  const names = type.layout.layouts.edit.flat().map(({ name }) => name)
  const others = Object.keys(type.attributes).filter((name) => !names.includes(name) && (name in left || name in right))
  return [...names, ...others].filter((name) => {
    if (type.attributes[name] === undefined || !(name in left) || !(name in right)) return false
    const [before, after] = [left[name], right[name]]
    const key = typeof after === 'object' ? after : null
    const known = key === null ? undefined : compared.get(key)
    if (known !== undefined && known.left === before) return known.isDifferent
    const isDifferent = !isEqual(read({ [name]: before })[name], read({ [name]: after })[name])
    if (key !== null) compared.set(key, { left: before, isDifferent })
    return isDifferent
  })
}

/** Attributes that a publication would change: links to documents that are not public appear once these are. */
export function unpublishedAttributes(type: TypeDescription, published: Entry, draft: Entry): readonly string[] {
  const isPublic = (link: Entry | null) => link === null || linkState(link) !== 'draft'
  return differingAttributes(type, published, draft).filter((name) => {
    if (type.attributes[name]!.type !== 'relation') return true
    const links = draft[name] as Entry | readonly Entry[] | null
    const left = Array.isArray(links) ? links.filter(isPublic) : isPublic(links as Entry | null) ? links : null
    return differingAttributes(type, { [name]: published[name] }, { [name]: left }).length > 0
  })
}

/** Deepest level of a value that is shown as a text. */
const maxDepth = 12

/** Any value as a text that can be compared: links and files by their names, entries by their members, blocks by their texts. */
export function textOf(value: unknown, depth = 0): string {
  if (value === null || value === undefined || depth > maxDepth) return ''
  if (Array.isArray(value))
    return value
      .map((item) => textOf(item, depth + 1))
      .filter(Boolean)
      .join(depth === 0 ? '\n' : ' ')
  if (typeof value !== 'object') return String(value)
  const unfinished = unfinishedText(value)
  if (unfinished !== undefined) return unfinished
  const entry = value as Entry
  if (typeof entry.text === 'string' && entry.type === 'text') return entry.text
  if (Array.isArray(entry.children)) return entry.children.map((child) => textOf(child, depth + 1)).join(entry.type === 'list' ? '\n' : '')
  if (typeof entry.documentId === 'string' || typeof entry.mime === 'string') return nameOf(entry)
  const members = Object.entries(entry).filter(([name]) => name !== 'id' && name !== '__component')
  return members
    .map(([, member]) => textOf(member, depth + 1))
    .filter(Boolean)
    .join('\n')
}

/** The name of a linked document or a file. */
export function nameOf(link: Entry): string {
  const name =
    link.name ??
    link.title ??
    Object.entries(link).find(
      ([key, value]) => typeof value === 'string' && !/^(documentId|locale|__type|type|publishedAt)$/.test(key),
    )?.[1]
  return String(name ?? link.documentId ?? link.id ?? '')
}
