// /types/:type: a content-type with its attributes, components, layout and one's own fields; and the layouts that administrators set.
import * as z from 'zod'
import type { Layout } from '../../../admin/layouts/layouts.js'
import { configurableSchema, layoutRevision, readLayouts, replaceLayout } from '../../../admin/layouts/layouts.js'
import { readTypeView } from '../../../admin/layouts/type-view.js'
import type { Immutable } from '../../../admin/manage/operation.js'
import { previewUrlOf } from '../../../foundation/config/preview.js'
import type { AttributeSource, Schema } from '../../../model/schema/types.js'
import { typeInput } from '../content.js'
import { type Resource, type ResourceRequest, resource, respond } from '../resource.js'
import { cacheable, orCurrent } from '../revisions.js'

const name = z.string().min(1).max(255)
const words = z.string().max(10_000)

/** Partial settings of an attribute. */
const edit = { label: words, description: words, placeholder: words, visible: z.boolean(), editable: z.boolean(), mainField: name }
const list = { label: words, searchable: z.boolean(), sortable: z.boolean() }
const settings = {
  bulkable: z.boolean(),
  filterable: z.boolean(),
  searchable: z.boolean(),
  pageSize: z.int().min(10).max(100),
  relationOpenMode: z.enum(['modal', 'page']),
  mainField: name,
  defaultSortBy: name,
  defaultSortOrder: z.enum(['ASC', 'DESC']),
}
const placedField = z.strictObject({ name, size: z.int().min(1).max(12) })

const layoutInput = z.strictObject({
  settings: z.strictObject(settings),
  metadatas: z.record(name, z.strictObject({ edit: z.strictObject(edit).partial(), list: z.strictObject(list).partial() })),
  layouts: z.strictObject({
    list: z.array(name).min(1).max(1_000),
    edit: z.array(z.array(placedField).max(12)).max(2_000),
  }),
})

/** Stored settings may contain any values. */
const stored = z.record(z.string(), z.unknown())
const layoutAnswer = z.strictObject({
  settings: stored,
  metadatas: z.record(z.string(), z.strictObject({ edit: stored, list: stored })),
  layouts: z.strictObject({
    list: z.array(z.string()),
    edit: z.array(z.array(z.strictObject({ name: z.string(), size: z.number() }))),
  }),
})

const only = (values: Readonly<Record<string, unknown>>, known: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([key]) => key in known))

/** A layout in the form of the input, so that it can be sent back. */
const shownLayout = ({ settings: given, metadatas, layouts }: Layout): Immutable<z.input<typeof layoutAnswer>> => ({
  settings: only(given, settings),
  metadatas: Object.fromEntries(
    Object.entries(metadatas).map(([attribute, one]) => [attribute, { edit: only(one.edit, edit), list: only(one.list, list) }]),
  ),
  layouts,
})

/** The layout of a type or component: known settings with valid values. */
const typeLayout = z.strictObject({
  settings: z.strictObject(settings).partial(),
  metadatas: z.record(z.string(), z.strictObject({ edit: z.strictObject(edit).partial(), list: z.strictObject(list).partial() })),
  layouts: layoutAnswer.shape.layouts,
})

/** The known values of their types. */
const valid = (values: Readonly<Record<string, unknown>>, known: Readonly<Record<string, z.ZodType>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([key, value]) => known[key]?.safeParse(value).success))

/** A layout whose labels are words where they repeat the name of the attribute: `metaTitle` becomes `Meta title`. */
function labelledLayout(layout: Layout): Immutable<z.input<typeof typeLayout>> {
  const labelled = (name: string, values: Readonly<Record<string, unknown>>) =>
    values.label === name ? { ...values, label: toWords(name) } : values
  const entries = Object.entries(layout.metadatas).map(([name, stored]) => [
    name,
    { edit: labelled(name, valid(stored.edit, edit)), list: labelled(name, valid(stored.list, list)) },
  ])
  return { settings: valid(layout.settings, settings), metadatas: Object.fromEntries(entries), layouts: layout.layouts }
}

/** The words of a name; abbreviations stay: `sourceURL` becomes `Source URL`. */
function toWords(name: string): string {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])(?=[A-Z][a-z])/g, '$1 ')
    .split(/[\s_-]+/)
    .filter((word) => word !== '')
    .map((word) => (/^[A-Z]{2}/.test(word) ? word : word.toLowerCase()))
    .join(' ')
  return words === '' ? name : words[0]!.toUpperCase() + words.slice(1)
}

const flag = z.boolean()
const text = z.string()
const bound = z.union([z.number(), text])
/** Known options of attributes. A schema may have others, and values of other kinds, which are left out. */
const attributeOptions = {
  ...{ required: flag, unique: flag, private: flag, configurable: flag, repeatable: flag, multiple: flag },
  ...{ minLength: z.number(), maxLength: z.number(), min: bound, max: bound, regex: text },
  ...{ relation: text, target: text, mappedBy: text, inversedBy: text, targetField: text, component: text, customField: text },
  ...{ components: z.array(text), allowedTypes: z.array(text), enum: z.array(text) },
  pluginOptions: z.looseObject({ i18n: z.looseObject({ localized: flag.optional() }).optional() }),
  conditions: z.looseObject({ visible: z.record(text, z.unknown()).optional() }),
}
const attributeSchema = z.looseObject({ type: text, ...z.object(attributeOptions).partial().shape })
const attributes = z.record(text, attributeSchema)

/** Attributes as in their schema, with known options of the right kinds only. */
const shownAttributes = (sources: Readonly<Record<string, AttributeSource>>): Immutable<z.input<typeof attributes>> =>
  Object.fromEntries(
    Object.entries(sources).map(([attribute, { type, ...source }]) => {
      const options = Object.entries(source).filter(
        ([option, value]) => attributeOptions[option as keyof typeof attributeOptions]?.safeParse(value).success !== false,
      )
      return [attribute, { type, ...Object.fromEntries(options) }]
    }),
  )
const typeAnswer = z.strictObject({
  uid: z.string(),
  kind: z.enum(['collectionType', 'singleType']),
  singularName: z.string(),
  pluralName: z.string(),
  displayName: z.string(),
  draftAndPublish: z.boolean(),
  localized: z.boolean(),
  /** Its documents have a preview. */
  previewed: z.boolean(),
  attributes,
  components: z.record(z.string(), z.strictObject({ displayName: z.string(), attributes, layout: typeLayout })),
  layout: typeLayout,
  /** By right, the attributes that a role names; each document may show or take fewer. */
  fields: z.strictObject({ read: z.array(z.string()), create: z.array(z.string()), update: z.array(z.string()) }),
  actions: z.array(z.enum(['create', 'read', 'update', 'delete', 'publish'])),
  /** By right, its locales; null: every locale. */
  locales: z.strictObject({ create: z.array(z.string()).nullable(), publish: z.array(z.string()).nullable() }),
})

const byType = z.strictObject({ type: typeInput })
const one = z.strictObject({ data: layoutAnswer.extend({ revision: z.string() }) })

async function respondLayout({ administration, installation }: ResourceRequest, schema: Schema) {
  const [layout] = await readLayouts(administration.database, installation.model, [schema])
  const revision = layoutRevision(layout!)
  return respond({ data: { ...shownLayout(layout!), revision } }, { etag: `"${revision}"` })
}

/** The resources of types. */
export const typeResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/types/:type',
    summary: 'Read a type: attributes, components, layout, and what one may do',
    who: 'byRoles',
    params: byType,
    response: z.strictObject({ data: typeAnswer }),
    handle: async ({ administration, administrator, installation, params, parts }) => {
      const found = await readTypeView(administration.database, installation.model, administrator, params.type)
      const { uid, singularName, pluralName, singleType, draftAndPublish, localized } = found.type
      const data = {
        uid,
        singularName,
        pluralName,
        draftAndPublish,
        localized,
        previewed: previewUrlOf(parts.config.admin.preview, uid, found.type) !== null,
        displayName: found.displayName,
        kind: singleType ? ('singleType' as const) : ('collectionType' as const),
        attributes: shownAttributes(found.attributes),
        components: Object.fromEntries(
          found.components.map((component) => [
            component.uid,
            {
              displayName: component.displayName,
              attributes: shownAttributes(component.attributes),
              layout: labelledLayout(component.layout),
            },
          ]),
        ),
        layout: labelledLayout(found.layout),
        fields: found.fields,
        actions: found.actions,
        locales: found.locales,
      }
      return cacheable(data)
    },
  }),
  resource({
    method: 'GET',
    path: '/types/:type/layout',
    summary: 'Read the list and edit settings of a type or component',
    who: 'byRoles',
    params: byType,
    response: one,
    handle: (context) => respondLayout(context, configurableSchema(context.installation.model, context.administrator, context.params.type)),
  }),
  resource({
    method: 'PUT',
    path: '/types/:type/layout',
    summary: 'Replace the list and edit settings of a type or component',
    who: 'byRoles',
    headers: { state: { of: 'the layout' } },
    params: byType,
    body: layoutInput,
    response: one,
    handle: async (context) => {
      const { administration, administrator, actor, installation, params, body, expected } = context
      const schema = configurableSchema(installation.model, administrator, params.type)
      const wanted = { revisions: expected, layout: body as Layout }
      return orCurrent(
        true,
        () => replaceLayout(administration, actor, installation.model, schema, wanted),
        () => respondLayout(context, schema),
      )
    },
  }),
]
