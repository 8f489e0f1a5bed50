// List and edit settings of content-types and components in the form of Strapi: defaults, stored settings, changes.

import { createHash } from 'node:crypto'
import { storedSettings, writeSetting } from '../../content/documents/store/settings.js'
import type { RowReader } from '../../database/database.js'
import { ApiError, forbidden, mistakenInput, notFound } from '../../foundation/errors/errors.js'
import type { InputMistake, IssueCode } from '../../foundation/errors/issues.js'
import type { AttributeSource, Model, Schema } from '../../model/schema/types.js'
import { isObject } from '../../query/request.js'
import { type ActingAdministrator, doAction } from '../activity.js'
import type { Administration } from '../context.js'
import type { Administrator } from '../identity/identify.js'

/** The settings of an attribute in the form of Strapi. */
export interface AttributeLayout {
  readonly edit: Readonly<Record<string, unknown>>
  readonly list: Readonly<Record<string, unknown>>
}

/** A field in a row of the edit view, whose rows have twelve columns. */
interface PlacedField {
  readonly name: string
  readonly size: number
}

/** The list and edit settings of a content-type or a component, in Strapi's form. */
export interface Layout {
  readonly settings: Readonly<Record<string, unknown>>
  readonly metadatas: Readonly<Record<string, AttributeLayout>>
  readonly layouts: { readonly list: readonly string[]; readonly edit: readonly (readonly PlacedField[])[] }
}

const rowColumns = 12

/** Widths by type; 6 for other types. */
const sizes: Readonly<Record<string, number>> = {
  integer: 4,
  biginteger: 4,
  float: 4,
  decimal: 4,
  boolean: 4,
  date: 4,
  time: 4,
  json: 12,
  richtext: 12,
  blocks: 12,
  component: 12,
  dynamiczone: 12,
}

/** Types that lists cannot show. */
const unlistedTypes = new Set(['json', 'richtext', 'blocks', 'dynamiczone', 'password'])
/** Types without search and sorting. */
const unsortedTypes = new Set(['json', 'richtext', 'blocks', 'dynamiczone', 'media', 'component'])

/** System attributes, shown in lists but not in the edit view. */
const systemAttributes: Readonly<Record<string, AttributeSource>> = {
  createdAt: { type: 'datetime' },
  updatedAt: { type: 'datetime' },
  createdBy: { type: 'relation', relation: 'oneToOne', target: 'admin::user' },
  updatedBy: { type: 'relation', relation: 'oneToOne', target: 'admin::user' },
}

/** The attributes with settings, in their order; without ids and polymorphic relations. */
function configurableAttributes({ source, kind }: Schema): ReadonlyMap<string, AttributeSource> {
  const own = Object.entries(source.attributes).filter(
    ([name, { relation }]) => !(name in systemAttributes) && !/^morph/.test(String(relation)),
  )
  return new Map([...own, ...(kind === 'contentType' ? Object.entries(systemAttributes) : [])])
}

const isListed = (name: string, attribute: AttributeSource | undefined): boolean =>
  name === 'id' || name === 'documentId' || (attribute !== undefined && !unlistedTypes.has(String(attribute.type)))

const isEdited = (name: string): boolean => !(name in systemAttributes)

const fieldSize = ({ type }: AttributeSource): number => sizes[String(type)] ?? 6

/** The default naming attribute: the first string. */
export function defaultMainField(schema: Schema | undefined): string {
  if (schema === undefined) return 'documentId'
  const texts = Object.entries(schema.source.attributes).filter(([, { type }]) => type === 'string')
  return texts[0]?.[0] ?? 'documentId'
}

/** The default settings of an attribute. */
function defaultAttributeLayout(model: Model, name: string, attribute: AttributeSource): AttributeLayout {
  const { type, relation, target } = attribute as { readonly type?: string; readonly relation?: string; readonly target?: string }
  const isMany = type === 'relation' && !/ToOne$/.test(String(relation))
  const mayBeSorted = !unsortedTypes.has(String(type)) && !isMany
  const mainField =
    type === 'relation' ? { mainField: target === 'admin::user' ? 'firstname' : defaultMainField(model.types.get(String(target))) } : {}
  return {
    edit: { label: name, description: '', placeholder: '', visible: !(name in systemAttributes), editable: true, ...mainField },
    list: { label: name, searchable: mayBeSorted, sortable: mayBeSorted },
  }
}

const idLayout = (name: 'id' | 'documentId'): AttributeLayout => ({
  edit: {},
  list: { label: name, searchable: true, sortable: true },
})

/** The default settings of a type or component. */
export function defaultLayout(model: Model, schema: Schema): Layout {
  const attributes = configurableAttributes(schema)
  const mainField = defaultMainField(schema)
  const listed = [...attributes].filter(([name, attribute]) => isListed(name, attribute))
  const others = listed.filter(([, { type }]) => type !== 'uid')
  return {
    settings: {
      bulkable: true,
      filterable: true,
      searchable: true,
      pageSize: 10,
      relationOpenMode: 'modal',
      mainField,
      defaultSortBy: mainField,
      defaultSortOrder: 'ASC',
    },
    metadatas: {
      id: idLayout('id'),
      ...Object.fromEntries([...attributes].map(([name, attribute]) => [name, defaultAttributeLayout(model, name, attribute)])),
      documentId: idLayout('documentId'),
    },
    layouts: {
      // Strapi has uids too; next to the text that they are made of they say nothing.
      list: ['id', ...(others.length > 0 ? others : listed).slice(0, 3).map(([name]) => name)],
      edit: placeFields(
        [],
        [...attributes].filter(([name]) => isEdited(name)).map(([name, attribute]) => ({ name, size: fieldSize(attribute) })),
      ),
    },
  }
}

/** Appends fields to the rows of the edit view: to the last row if they fit, or as a new row. */
function placeFields(rows: readonly (readonly PlacedField[])[], fields: readonly PlacedField[]): readonly (readonly PlacedField[])[] {
  const filled = rows.map((row) => [...row])
  for (const field of fields) {
    const last = filled.at(-1)
    if (last !== undefined && rowWidth(last) + field.size <= rowColumns) last.push(field)
    else filled.push([field])
  }
  return filled
}

const rowWidth = (row: readonly PlacedField[]): number => row.reduce((sum, { size }) => sum + size, 0)

const maxProblems = 100

/** Checks settings against the model. */
export function checkLayout(model: Model, schema: Schema, { settings, metadatas, layouts }: Layout): readonly InputMistake[] {
  const attributes = configurableAttributes(schema)
  const problems: InputMistake[] = []
  const report = (path: readonly string[], code: IssueCode, message: string) => {
    if (problems.length < maxProblems) problems.push({ path, message, code })
  }
  const listed = (name: unknown): boolean => isListed(String(name), attributes.get(String(name)))
  for (const key of ['mainField', 'defaultSortBy'] as const)
    if (!listed(settings[key])) report(['settings', key], 'unknown', `${schema.uid} has no attribute ${settings[key]} that lists show`)
  for (const [name, { edit }] of Object.entries(metadatas)) {
    const attribute = attributes.get(name)
    if (attribute === undefined && name !== 'id' && name !== 'documentId') {
      report(['metadatas', name], 'unknown', `${schema.uid} has no attribute ${name}`)
      continue
    }
    if (attribute === undefined && Object.keys(edit).length > 0) report(['metadatas', name, 'edit'], 'unsupported', `${name} is not edited`)
    if (edit.mainField === undefined) continue
    const target = model.types.get(String(attribute?.target))
    const isThere =
      target === undefined
        ? attribute?.type === 'relation'
        : isListed(String(edit.mainField), configurableAttributes(target).get(String(edit.mainField)))
    if (!isThere)
      report(
        ['metadatas', name, 'edit', 'mainField'],
        'unknown',
        `The target of ${name} has no attribute ${edit.mainField} that lists show`,
      )
  }
  const inList = new Set<string>()
  for (const [index, name] of layouts.list.entries()) {
    if (!listed(name)) report(['layouts', 'list', String(index)], 'unknown', `${schema.uid} has no attribute ${name} that lists show`)
    if (inList.has(name)) report(['layouts', 'list', String(index)], 'duplicate', `${name} is in the list twice`)
    inList.add(name)
  }
  const inEdit = new Set<string>()
  for (const [index, row] of layouts.edit.entries()) {
    if (rowWidth(row) > rowColumns) report(['layouts', 'edit', String(index)], 'tooMany', `A row has ${rowColumns} columns`)
    for (const [place, { name }] of row.entries()) {
      const path = ['layouts', 'edit', String(index), String(place)]
      if (!attributes.has(name) || !isEdited(name)) report(path, 'unknown', `${schema.uid} has no attribute ${name} to edit`)
      if (inEdit.has(name)) report(path, 'duplicate', `${name} is in the view twice`)
      inEdit.add(name)
    }
  }
  return problems
}

const settingKey = ({ uid, kind }: Schema): string =>
  `plugin_content_manager_configuration_${kind === 'component' ? 'components' : 'content_types'}::${uid}`

const toRecord = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {})

/** Reads the settings of types and components, in this order. */
export async function readLayouts(database: RowReader, model: Model, schemas: readonly Schema[]): Promise<readonly Layout[]> {
  const stored = await storedSettings(database, schemas.map(settingKey))
  return schemas.map((schema) => toLayout(model, schema, stored.get(settingKey(schema))))
}

/** Stored settings adapted to the current model: without removed attributes, and with new ones added as Strapi adds them. */
function toLayout(model: Model, schema: Schema, stored: unknown): Layout {
  const made = defaultLayout(model, schema)
  if (!isObject(stored)) return made
  const attributes = configurableAttributes(schema)
  const metadatas = toRecord(stored.metadatas)
  const { list, edit } = toRecord(stored.layouts)
  const settings = { ...made.settings, ...toRecord(stored.settings) }
  const known = (name: unknown): string =>
    typeof name === 'string' && isListed(name, attributes.get(name)) ? name : String(made.settings.mainField)
  const kept = Array.isArray(list) ? list.filter((name) => typeof name === 'string' && isListed(name, attributes.get(name))) : []
  return {
    settings: { ...settings, mainField: known(settings.mainField), defaultSortBy: known(settings.defaultSortBy) },
    metadatas: Object.fromEntries(
      Object.entries(made.metadatas).map(([name, usual]) => [
        name,
        mergeAttributeLayout(model, attributes.get(name), usual, metadatas[name]),
      ]),
    ),
    layouts: {
      list: kept.length === 0 ? made.layouts.list : addNewAttributes([...new Set(kept as string[])], attributes, metadatas),
      edit: toEditRows(schema, edit, metadatas) ?? made.layouts.edit,
    },
  }
}

/** New attributes are added to lists with fewer columns. */
const minListed = 4

/** Columns of a list, with new attributes appended to a short list. */
function addNewAttributes(
  list: readonly string[],
  attributes: ReadonlyMap<string, AttributeSource>,
  metadatas: Readonly<Record<string, unknown>>,
): readonly string[] {
  const added = [...attributes].filter(
    ([name, attribute]) => isListed(name, attribute) && !Object.hasOwn(metadatas, name) && !list.includes(name),
  )
  return [...list, ...added.slice(0, Math.max(0, minListed - list.length)).map(([name]) => name)]
}

/** Merged settings of an attribute; the main field of a relation must exist in its target. */
function mergeAttributeLayout(
  model: Model,
  attribute: AttributeSource | undefined,
  usual: AttributeLayout,
  stored: unknown,
): AttributeLayout {
  const { edit, list } = toRecord(stored)
  const whole = { edit: { ...usual.edit, ...toRecord(edit) }, list: { ...usual.list, ...toRecord(list) } } as AttributeLayout
  const target = model.types.get(String(attribute?.target))
  const { mainField } = whole.edit
  if (mainField === undefined || target === undefined) return whole
  const isThere = typeof mainField === 'string' && isListed(mainField, configurableAttributes(target).get(mainField))
  return isThere ? whole : { ...whole, edit: { ...whole.edit, mainField: usual.edit.mainField } }
}

/** Stored rows of the edit view, with new attributes appended; null: none are stored. */
function toEditRows(schema: Schema, stored: unknown, metadatas: Readonly<Record<string, unknown>>): Layout['layouts']['edit'] | null {
  if (!Array.isArray(stored)) return null
  const attributes = configurableAttributes(schema)
  const seen = new Set<string>()
  const rows = stored.map((row) =>
    (Array.isArray(row) ? row : []).flatMap((field) => {
      const { name, size } = toRecord(field)
      if (typeof name !== 'string' || !attributes.has(name) || !isEdited(name) || seen.has(name)) return []
      seen.add(name)
      return [{ name, size: typeof size === 'number' ? size : fieldSize(attributes.get(name)!) }]
    }),
  )
  const added = [...attributes].filter(([name]) => isEdited(name) && !seen.has(name) && !Object.hasOwn(metadatas, name))
  return placeFields(
    rows.filter((row) => row.length > 0),
    added.map(([name, attribute]) => ({ name, size: fieldSize(attribute) })),
  )
}

export const layoutRevision = (layout: Layout): string =>
  createHash('sha256').update(JSON.stringify(layout)).digest('base64url').slice(0, 27)

/** A type or component with settings that the administrator may change. @throws ApiError 404, 403 */
export function configurableSchema(model: Model, { may }: Administrator, uid: string): Schema {
  const schema = model.types.get(uid) ?? model.components.get(uid)
  if (schema === undefined || (schema.kind === 'contentType' && !schema.exposed)) throw notFound(`There is no type or component ${uid}`)
  const what =
    schema.kind === 'component'
      ? 'components.configure-layout'
      : schema.singleType
        ? 'single-types.configure-view'
        : 'collection-types.configure-view'
  const action = `plugin::content-manager.${what}`
  if (!may(action)) throw forbidden(action)
  return schema
}

/**
 * Replaces the settings of a type or component. Unknown stored members are retained.
 * @throws ApiError 400 for what the model does not have; 412 with another revision
 */
export function replaceLayout(
  administration: Administration,
  actor: ActingAdministrator,
  model: Model,
  schema: Schema,
  { revisions, layout }: { readonly revisions: readonly string[]; readonly layout: Layout },
): Promise<void> {
  const problems = checkLayout(model, schema, layout)
  if (problems.length > 0) throw mistakenInput(problems)
  return doAction(administration, actor, async (transaction) => {
    const key = settingKey(schema)
    const stored = (await storedSettings(transaction, [key])).get(key)
    const present = toLayout(model, schema, stored)
    if (!revisions.includes(layoutRevision(present)))
      throw new ApiError('PreconditionFailedError', 'The settings have changed since they were read')
    const { settings, metadatas, layouts } = layout
    const value = {
      ...toRecord(stored),
      settings: { ...present.settings, ...settings },
      metadatas: Object.fromEntries(
        Object.entries(present.metadatas).map(([name, one]) => [
          name,
          { edit: { ...one.edit, ...metadatas[name]?.edit }, list: { ...one.list, ...metadatas[name]?.list } },
        ]),
      ),
      layouts: { ...toRecord(toRecord(stored).layouts), ...layouts },
      uid: schema.uid,
      ...(schema.kind === 'component' ? { isComponent: true } : {}),
    }
    await writeSetting(transaction, key, value)
    const parts = { settings, metadatas, layouts }
    const fields = (['settings', 'metadatas', 'layouts'] as const).filter(
      (part) => JSON.stringify(toRecord(value[part])) !== JSON.stringify(present[part]) && parts[part] !== undefined,
    )
    return [{ action: 'layout', subject: schema.uid, id: '', name: schema.uid, fields }, undefined]
  })
}
