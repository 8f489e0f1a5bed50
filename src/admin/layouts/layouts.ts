// The list and edit settings of content-types and components as Strapi stores them: read as its next start would have them, and written so
// that it keeps them.
import { createHash } from 'node:crypto'
import { storedSettings, writeSetting } from '../../content/documents/store/settings.js'
import type { RowReader } from '../../database/database.js'
import { ApiError, forbidden, mistakenInput, notFound } from '../../foundation/errors/errors.js'
import type { AttributeSource, Model, Schema } from '../../model/schema/types.js'
import { type ActingAdministrator, doAct } from '../activity.js'
import type { Administration } from '../context.js'
import type { Administrator } from '../identity/identify.js'
import { checkLayout } from './layout-check.js'
import { type AttributeLayout, defaultLayout, isEdited, isListed, type Layout, placed, shownAttributes, sizeOf } from './layout-defaults.js'

const keyOf = ({ uid, kind }: Schema): string =>
  `plugin_content_manager_configuration_${kind === 'component' ? 'components' : 'content_types'}::${uid}`

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const recordOf = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {})

/** Reads the settings of some types and components, in this order. */
export async function readLayouts(database: RowReader, model: Model, schemas: readonly Schema[]): Promise<readonly Layout[]> {
  const stored = await storedSettings(database, schemas.map(keyOf))
  return schemas.map((schema) => layoutOf(model, schema, stored.get(keyOf(schema))))
}

/** Stored settings as they are of the model now: what is gone is left out, what is new is added as Strapi adds it. */
export function layoutOf(model: Model, schema: Schema, stored: unknown): Layout {
  const made = defaultLayout(model, schema)
  if (!isRecord(stored)) return made
  const attributes = shownAttributes(schema)
  const metadatas = recordOf(stored.metadatas)
  const { list, edit } = recordOf(stored.layouts)
  const settings = { ...made.settings, ...recordOf(stored.settings) }
  const known = (name: unknown): string =>
    typeof name === 'string' && isListed(name, attributes.get(name)) ? name : String(made.settings.mainField)
  const kept = Array.isArray(list) ? list.filter((name) => typeof name === 'string' && isListed(name, attributes.get(name))) : []
  return {
    settings: { ...settings, mainField: known(settings.mainField), defaultSortBy: known(settings.defaultSortBy) },
    metadatas: Object.fromEntries(
      Object.entries(made.metadatas).map(([name, usual]) => [name, merged(model, attributes.get(name), usual, metadatas[name])]),
    ),
    layouts: {
      list: kept.length === 0 ? made.layouts.list : withNew([...new Set(kept as string[])], attributes, metadatas),
      edit: editOf(schema, edit, metadatas) ?? made.layouts.edit,
    },
  }
}

/** What lists show at least, as long as there are new attributes. */
const fewestListed = 4

/** What a list shows, with attributes that have no settings yet behind it while it is short. */
function withNew(
  list: readonly string[],
  attributes: ReadonlyMap<string, AttributeSource>,
  metadatas: Readonly<Record<string, unknown>>,
): readonly string[] {
  const added = [...attributes].filter(
    ([name, attribute]) => isListed(name, attribute) && !Object.hasOwn(metadatas, name) && !list.includes(name),
  )
  return [...list, ...added.slice(0, Math.max(0, fewestListed - list.length)).map(([name]) => name)]
}

/** The settings of an attribute; the naming attribute of a relation must be one of its target. */
function merged(model: Model, attribute: AttributeSource | undefined, usual: AttributeLayout, stored: unknown): AttributeLayout {
  const { edit, list } = recordOf(stored)
  const whole = { edit: { ...usual.edit, ...recordOf(edit) }, list: { ...usual.list, ...recordOf(list) } } as AttributeLayout
  const target = model.types.get(String(attribute?.target))
  const { mainField } = whole.edit
  if (mainField === undefined || target === undefined) return whole
  const isThere = typeof mainField === 'string' && isListed(mainField, shownAttributes(target).get(mainField))
  return isThere ? whole : { ...whole, edit: { ...whole.edit, mainField: usual.edit.mainField } }
}

/** Stored rows of the edit view, with attributes that have no settings yet behind them; null where none are stored. */
function editOf(schema: Schema, stored: unknown, metadatas: Readonly<Record<string, unknown>>): Layout['layouts']['edit'] | null {
  if (!Array.isArray(stored)) return null
  const attributes = shownAttributes(schema)
  const seen = new Set<string>()
  const rows = stored.map((row) =>
    (Array.isArray(row) ? row : []).flatMap((field) => {
      const { name, size } = recordOf(field)
      if (typeof name !== 'string' || !attributes.has(name) || !isEdited(name) || seen.has(name)) return []
      seen.add(name)
      return [{ name, size: typeof size === 'number' ? size : sizeOf(attributes.get(name)!) }]
    }),
  )
  const added = [...attributes].filter(([name]) => isEdited(name) && !seen.has(name) && !Object.hasOwn(metadatas, name))
  return placed(
    rows.filter((row) => row.length > 0),
    added.map(([name, attribute]) => ({ name, size: sizeOf(attribute) })),
  )
}

/** Changes with the settings. */
export const layoutRevision = (layout: Layout): string =>
  createHash('sha256').update(JSON.stringify(layout)).digest('base64url').slice(0, 27)

/** A type of the project or a component of which an administrator may change the settings. @throws ApiError 404, 403 */
export function configurable(model: Model, { may }: Administrator, uid: string): Schema {
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
 * Replaces the settings of a type or component; what is stored and is none of ours stays.
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
  return doAct(administration, actor, async (transaction) => {
    const key = keyOf(schema)
    const stored = (await storedSettings(transaction, [key])).get(key)
    const present = layoutOf(model, schema, stored)
    if (!revisions.includes(layoutRevision(present)))
      throw new ApiError('PreconditionFailedError', 'The settings have changed since they were read')
    const { settings, metadatas, layouts } = layout
    const value = {
      ...recordOf(stored),
      settings: { ...present.settings, ...settings },
      metadatas: Object.fromEntries(
        Object.entries(present.metadatas).map(([name, one]) => [
          name,
          { edit: { ...one.edit, ...metadatas[name]?.edit }, list: { ...one.list, ...metadatas[name]?.list } },
        ]),
      ),
      layouts: { ...recordOf(recordOf(stored).layouts), ...layouts },
      uid: schema.uid,
      ...(schema.kind === 'component' ? { isComponent: true } : {}),
    }
    await writeSetting(transaction, key, value)
    const parts = { settings, metadatas, layouts }
    const fields = (['settings', 'metadatas', 'layouts'] as const).filter(
      (part) => JSON.stringify(recordOf(value[part])) !== JSON.stringify(present[part]) && parts[part] !== undefined,
    )
    return [{ action: 'layout', subject: schema.uid, id: '', name: schema.uid, fields }, undefined]
  })
}
