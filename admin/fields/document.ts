// The surroundings of fields: the form of a document, its type, and the actions that fields have from their screen.
import { type ComponentType, createContext, type ReactNode, use } from 'react'
import type { DocumentStore } from '../form/store.js'
import { type Entry, type FormAttribute, type FormAttributes, isObject, kindOf } from '../form/values.js'
import type { FieldControl } from '../parts/field.js'
import type { Data } from '../server/client.js'
import { wordsOf } from '../words/format.js'
import type { Folding } from './folding.js'

/** A type with its components and layouts. */
export type TypeDescription = Data<'/types/{type}', 'GET'>

/** A linked document. */
export interface Link extends Entry {
  readonly documentId: string
  readonly type?: string
  readonly locale?: string | null
}

/** The form of one document in one language, around its fields. */
export interface DocumentFields {
  readonly store: DocumentStore
  readonly type: TypeDescription
  /** Null: not stored yet. */
  readonly document: string | null
  readonly locale: string | null
  readonly isPublished: boolean
  /** Names of attributes that may be written, dotted below components; null: nothing may be written. */
  readonly mayUpdate: readonly string[] | null
  readonly folding: Folding
  /** Begins the ids of fields, since two languages can be on one page. */
  readonly idPrefix: string
  /** Opens a linked document next to this one. */
  readonly openLink?: (link: Link) => void
  /** Creates a document next to this one for the field at `path`; `onCreated` receives its link once it is stored. */
  readonly createLink?: (type: string, name: string, path: string, onCreated: (link: Link) => void) => void
  /** Content next to the label of a field: people, comparisons. */
  readonly renderAside?: (path: string) => ReactNode
  /** Under a field: the other side of a conflict. */
  readonly renderBelow?: (path: string) => ReactNode
}

const DocumentFieldsContext = createContext<DocumentFields | null>(null)

/** Gives the form to the fields inside. */
export const DocumentFieldsProvider = DocumentFieldsContext.Provider

/** The form around a field. */
export function useDocumentFields(): DocumentFields {
  const found = use(DocumentFieldsContext)
  if (found === null) throw new Error('DocumentFieldsProvider is missing.')
  return found
}

/** Layout of a type or a component. */
export type Layout = TypeDescription['layout']

/** The label of an attribute: as an administrator wrote it, or its name as words. */
export const labelOf = ({ metadatas }: Layout, name: string): string => metadatas[name]?.edit.label || wordsOf(name)

/** The attributes of a document or of one entry, and where these are. */
export interface Section {
  /** Path in the form; empty: the document. */
  readonly path: string
  /** Names for the API: `seo.social`, `sections[block.quote]`; empty: the document. */
  readonly names: string
  readonly attributes: FormAttributes
  readonly layout: Layout
}

/** The fields of a section that its layout shows. */
export const fieldsOf = ({ layout, attributes }: Pick<Section, 'layout' | 'attributes'>): Layout['layouts']['edit'][number] =>
  layout.layouts.edit.flat().filter(({ name }) => attributes[name] !== undefined && layout.metadatas[name]?.edit.visible !== false)

/** The section of the document itself. */
export const documentSection = ({ attributes, layout }: TypeDescription): Section => ({
  ...{ path: '', names: '', attributes: attributes as FormAttributes, layout },
})

/** The section of an entry of a component. */
export function entrySection({ components }: TypeDescription, uid: string, path: string, names: string): Section | null {
  const component = components[uid]
  return component === undefined ? null : { path, names, attributes: component.attributes as FormAttributes, layout: component.layout }
}

/** Joins names of attributes as the API writes them. */
export const joinNames = (above: string, name: string): string => (above === '' ? name : `${above}.${name}`)

/** True if an attribute or a part of it may be written. Zones are granted as a whole. */
export function mayWrite(mayUpdate: readonly string[] | null, names: string): boolean {
  if (mayUpdate === null) return false
  const plain = names.replace(/\[.*$/, '')
  const isBelow = (name: string, above: string) => name === above || name.startsWith(`${above}.`)
  const parts = mayUpdate.filter((name) => isBelow(name, plain))
  if (parts.length > 0) return true
  // Named parts restrict their whole, if it is named too.
  const above = mayUpdate.filter((name) => isBelow(plain, name))
  return above.some((name) => !mayUpdate.some((other) => other.startsWith(`${name}.`)))
}

/** True if an attribute may be replaced or removed as a whole: the right to parts of a component does not include that. */
export const mayReplace = (mayUpdate: readonly string[] | null, names: string): boolean =>
  mayWrite(mayUpdate, names) && mayUpdate?.some((name) => name.startsWith(`${names.replace(/\[.*$/, '')}.`)) === false

/** True if only parts of an attribute may be written. */
const isPartlyWritable = (mayUpdate: readonly string[] | null, names: string): boolean =>
  mayWrite(mayUpdate, names) && !mayReplace(mayUpdate, names)

/** Those values of an entry that may be written, also of the entries inside. */
export function writableValues(mayUpdate: readonly string[] | null, names: string, values: Entry): Entry {
  const written = Object.entries(values).flatMap(([name, value]) => {
    const path = joinNames(names, name)
    if (!mayWrite(mayUpdate, path)) return []
    const inner = (one: unknown) => (isObject(one) ? writableValues(mayUpdate, path, one) : one)
    if (!isPartlyWritable(mayUpdate, path)) return [[name, value] as const]
    return [[name, Array.isArray(value) ? value.map(inner) : inner(value)] as const]
  })
  return Object.fromEntries(written)
}

/**
 * True if a new entry can be stored: on types without drafts, each required attribute may be written or has a default. A draft can be
 * completed by others.
 */
export const mayBegin = (
  { mayUpdate, type }: Pick<DocumentFields, 'mayUpdate' | 'type'>,
  names: string,
  attributes: FormAttributes,
): boolean =>
  type.draftAndPublish ||
  Object.entries(attributes).every(
    ([name, { required, default: value }]) => required !== true || value !== undefined || mayWrite(mayUpdate, joinNames(names, name)),
  )

/** True for a value that was never written; entries that are not stored yet lack them. */
const isUnset = (attribute: FormAttribute, value: unknown): boolean =>
  value === undefined ||
  (kindOf(attribute) === 'value'
    ? JSON.stringify(value) === JSON.stringify(attribute.default ?? null)
    : value === null || (Array.isArray(value) && value.length === 0))

/** True if an entry may be removed: as a whole, or because it has no values in parts that may not be written. */
export function mayRemove(document: DocumentFields, { names, attributes }: Omit<Section, 'path' | 'layout'>, entry: Entry): boolean {
  const { mayUpdate, type } = document
  if (mayReplace(mayUpdate, names)) return true
  // The service refuses where parts that cannot be seen may have values.
  if (!mayReplace(type.fields.read, names)) return false
  return Object.entries(attributes).every(([name, attribute]) => {
    const value = entry[name]
    const path = joinNames(names, name)
    if (isUnset(attribute, value) || mayReplace(mayUpdate, path)) return true
    const section = mayWrite(mayUpdate, path) ? entrySection(type, String(attribute.component), '', path) : null
    return section !== null && [value].flat().every((inner) => isObject(inner) && mayRemove(document, section, inner))
  })
}

/** Id of the control of a field. */
export const fieldId = ({ idPrefix }: Pick<DocumentFields, 'idPrefix'>, path: string): string => `${idPrefix}${path}`

/** Properties of the editor of one attribute. */
export interface FieldProps {
  readonly control: FieldControl
  readonly path: string
  readonly names: string
  readonly name: string
  readonly attribute: FormAttribute
  readonly label: string
  readonly placeholder: string | undefined
  readonly isReadOnly: boolean
  /** Draws the fields of entries inside. */
  readonly Rows: ComponentType<{ readonly section: Section }>
}
