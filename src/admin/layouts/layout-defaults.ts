// The list and edit settings that Strapi gives a content-type or a component that has none. Pure.
import type { AttributeSource, Model, Schema } from '../../model/schema/types.js'

/** How an attribute is shown, in Strapi's form. */
export interface AttributeLayout {
  /** Empty for ids. */
  readonly edit: Readonly<Record<string, unknown>>
  readonly list: Readonly<Record<string, unknown>>
}

/** A field in a row of the edit view, whose rows have twelve columns. */
export interface PlacedField {
  readonly name: string
  readonly size: number
}

/** The list and edit settings of a content-type or a component, in Strapi's form. */
export interface Layout {
  readonly settings: Readonly<Record<string, unknown>>
  readonly metadatas: Readonly<Record<string, AttributeLayout>>
  readonly layouts: { readonly list: readonly string[]; readonly edit: readonly (readonly PlacedField[])[] }
}

/** Columns of a row of the edit view. */
export const rowColumns = 12

/** Columns of an attribute by its type; six for those that are not listed. */
const sizes: Readonly<Record<string, number>> = {
  ...{ integer: 4, biginteger: 4, float: 4, decimal: 4, boolean: 4, date: 4, time: 4 },
  ...{ json: 12, richtext: 12, blocks: 12, component: 12, dynamiczone: 12 },
}

/** Values of these types are in no list. */
const unlisted = new Set(['json', 'richtext', 'blocks', 'dynamiczone', 'password'])
/** Values of these types are neither searched nor sorted by. */
const unsorted = new Set(['json', 'richtext', 'blocks', 'dynamiczone', 'media', 'component'])

/** Attributes of every content-type that lists show, and the edit view does not. */
const system: Readonly<Record<string, AttributeSource>> = {
  createdAt: { type: 'datetime' },
  updatedAt: { type: 'datetime' },
  createdBy: { type: 'relation', relation: 'oneToOne', target: 'admin::user' },
  updatedBy: { type: 'relation', relation: 'oneToOne', target: 'admin::user' },
}

/** The attributes that have settings, in their order; ids and polymorphic relations are not among them. */
export function shownAttributes({ source, kind }: Schema): ReadonlyMap<string, AttributeSource> {
  const own = Object.entries(source.attributes).filter(([name, { relation }]) => !(name in system) && !/^morph/.test(String(relation)))
  return new Map([...own, ...(kind === 'contentType' ? Object.entries(system) : [])])
}

/** Whether lists may show an attribute. */
export const isListed = (name: string, attribute: AttributeSource | undefined): boolean =>
  name === 'id' || name === 'documentId' || (attribute !== undefined && !unlisted.has(String(attribute.type)))

/** Whether the edit view shows an attribute. */
export const isEdited = (name: string): boolean => !(name in system)

/** The columns of an attribute in the edit view. */
export const sizeOf = ({ type }: AttributeSource): number => sizes[String(type)] ?? 6

/** The attribute by which entries are known where nothing else is said: the first text. */
export function mainFieldOf(schema: Schema | undefined): string {
  if (schema === undefined) return 'documentId'
  const texts = Object.entries(schema.source.attributes).filter(([, { type }]) => type === 'string')
  return texts[0]?.[0] ?? 'documentId'
}

/** How an attribute is shown where nothing else is said. */
export function defaultOf(model: Model, name: string, attribute: AttributeSource): AttributeLayout {
  const { type, relation, target } = attribute as { readonly type?: string; readonly relation?: string; readonly target?: string }
  const isMany = type === 'relation' && !/ToOne$/.test(String(relation))
  const mayBeSorted = !unsorted.has(String(type)) && !isMany
  const mainField =
    type === 'relation' ? { mainField: target === 'admin::user' ? 'firstname' : mainFieldOf(model.types.get(String(target))) } : {}
  return {
    edit: { label: name, description: '', placeholder: '', visible: !(name in system), editable: true, ...mainField },
    list: { label: name, searchable: mayBeSorted, sortable: mayBeSorted },
  }
}

/** How ids are shown. */
export const idLayout = (name: 'id' | 'documentId'): AttributeLayout => ({
  edit: {},
  list: { label: name, searchable: true, sortable: true },
})

/** The settings of a type or component that has none. */
export function defaultLayout(model: Model, schema: Schema): Layout {
  const attributes = shownAttributes(schema)
  const mainField = mainFieldOf(schema)
  const listed = [...attributes].filter(([name, attribute]) => isListed(name, attribute)).map(([name]) => name)
  return {
    settings: {
      ...{ bulkable: true, filterable: true, searchable: true, pageSize: 10, relationOpenMode: 'modal' },
      ...{ mainField, defaultSortBy: mainField, defaultSortOrder: 'ASC' },
    },
    metadatas: {
      id: idLayout('id'),
      ...Object.fromEntries([...attributes].map(([name, attribute]) => [name, defaultOf(model, name, attribute)])),
      documentId: idLayout('documentId'),
    },
    layouts: {
      list: ['id', ...listed.slice(0, 3)],
      edit: placed(
        [],
        [...attributes].filter(([name]) => isEdited(name)).map(([name, attribute]) => ({ name, size: sizeOf(attribute) })),
      ),
    },
  }
}

/** Rows of the edit view with fields behind those that are there: in the last row where they fit, or in a new one. */
export function placed(rows: readonly (readonly PlacedField[])[], fields: readonly PlacedField[]): readonly (readonly PlacedField[])[] {
  const filled = rows.map((row) => [...row])
  for (const field of fields) {
    const last = filled.at(-1)
    if (last !== undefined && widthOf(last) + field.size <= rowColumns) last.push(field)
    else filled.push([field])
  }
  return filled
}

/** The columns that the fields of a row take. */
export const widthOf = (row: readonly PlacedField[]): number => row.reduce((sum, { size }) => sum + size, 0)
