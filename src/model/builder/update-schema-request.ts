// The body of POST /content-type-builder/update-schema: its shape, and the rules that concern one type or component alone.
import * as z from 'zod'
import type { AttributeSource } from '../schema/types.js'
import { attributeName, categoryName, iconName, isReservedAttribute, isReservedType, kebabCase, sameColumns } from './names.js'
import { collectionAttribute, componentAttribute, singleAttribute } from './update-schema-attributes.js'

/** An attribute in a list of update-schema. */
interface ListedAttribute {
  readonly action: 'create' | 'update' | 'delete'
  readonly name: string
  readonly properties?: AttributeSource
}

const newName = z
  .string()
  .regex(attributeName)
  .refine((name) => !isReservedAttribute(name), 'Attribute name is reserved')
const created = <Properties extends z.ZodType>(properties: Properties) =>
  z.object({ action: z.literal('create'), name: newName, properties })
const changed = <Properties extends z.ZodType>(properties: Properties) =>
  z.union([
    created(properties),
    z.object({ action: z.literal('update'), name: z.string(), properties }),
    z.object({ action: z.literal('delete'), name: z.string() }),
  ])

/** A list without names that share a column, whose uids have a target. */
const list = <Item extends z.ZodType>(item: Item) =>
  z.array(item).superRefine((items, context) => {
    const attributes = items as unknown as readonly ListedAttribute[]
    const refuse = (message: string) => context.addIssue({ code: 'custom', message })
    // A deleted name may come back in another spelling of the same column.
    const kept = attributes.filter(({ action }) => action !== 'delete').map(({ name }) => name)
    const deleted = attributes.filter(({ action }) => action === 'delete').map(({ name }) => name)
    if (sameColumns(kept).length > 0 || new Set([...kept, ...deleted]).size < attributes.length) refuse('Attributes must have unique names')
    const named = new Map(attributes.toReversed().map((attribute) => [attribute.name, attribute]))
    for (const { action, properties } of attributes) {
      if (properties?.type !== 'uid' || !properties.targetField) continue
      const target = named.get(properties.targetField as string)
      if (target === undefined && action === 'create') refuse('Target does not exist')
      if (target !== undefined && !['string', 'text'].includes(target.properties?.type ?? '')) refuse('Invalid target type')
    }
  })

const json = z.record(z.string(), z.unknown()).optional()
const kebab = z
  .string()
  .min(1)
  .regex(kebabCase, 'Must be kebab case')
  .refine((name) => !isReservedType(name), 'Model name is reserved')
const uid = z.custom<string>((value) => typeof value === 'string' && value !== '')
const common = {
  uid,
  displayName: z.string().min(1),
  description: z.string().optional(),
  draftAndPublish: z.boolean(),
  options: json,
  pluginOptions: json,
}

const newType = <Kind extends string, Properties extends z.ZodType>(kind: Kind, properties: Properties) =>
  z
    .object({
      action: z.literal('create'),
      ...common,
      kind: z.literal(kind),
      singularName: kebab,
      pluralName: kebab,
      plugin: z.string().min(1).regex(kebabCase).optional(),
      collectionName: z.string().regex(categoryName).optional(),
      config: json,
      attributes: list(created(properties)),
    })
    .refine((type) => type.singularName !== type.pluralName, {
      path: ['pluralName'],
      message: 'Singular and plural names must be different',
    })
const changedType = <Kind extends z.ZodType, Properties extends z.ZodType>(kind: Kind, properties: Properties) =>
  z.object({ action: z.literal('update'), ...common, kind, attributes: list(changed(properties)) })

const component = {
  uid,
  displayName: z.string().min(1),
  icon: z.string().regex(iconName).or(z.literal('')).optional(),
  description: z.string().optional(),
  pluginOptions: json,
}
const category = z.string().min(1).regex(categoryName)
const deleted = z.object({ action: z.literal('delete'), uid })

const body = z.object({
  contentTypes: z
    .array(
      z.union([
        newType('collectionType', collectionAttribute),
        newType('singleType', singleAttribute),
        changedType(z.literal('collectionType').optional(), collectionAttribute),
        changedType(z.literal('singleType'), singleAttribute),
        deleted,
      ]),
    )
    .default([]),
  components: z
    .array(
      z.union([
        z.object({ action: z.literal('create'), ...component, category, attributes: list(created(componentAttribute)) }),
        z.object({
          action: z.literal('update'),
          ...component,
          category: category.optional(),
          attributes: list(changed(componentAttribute)),
        }),
        deleted,
      ]),
    )
    .default([]),
})

interface ListedSchema {
  readonly uid: string
  readonly displayName: string
  readonly description?: string
  readonly pluginOptions?: Readonly<Record<string, unknown>>
  readonly attributes: readonly ListedAttribute[]
}
interface Deleted {
  readonly action: 'delete'
  readonly uid: string
}
/** A type in a request to update-schema. */
export interface ListedType extends ListedSchema {
  readonly action: 'create' | 'update'
  readonly kind?: 'collectionType' | 'singleType'
  readonly singularName?: string
  readonly pluralName?: string
  readonly plugin?: string
  readonly collectionName?: string
  readonly draftAndPublish: boolean
  readonly options?: Readonly<Record<string, unknown>>
  readonly config?: Readonly<Record<string, unknown>>
}
/** A component in a request to update-schema. */
export interface ListedComponent extends ListedSchema {
  readonly action: 'create' | 'update'
  readonly icon?: string
  /** Checked to be there (update-schema.ts). */
  readonly category: string
}
/** The data of a request to update-schema. */
export interface UpdateSchema {
  readonly contentTypes: readonly (ListedType | Deleted)[]
  readonly components: readonly (ListedComponent | Deleted)[]
}

/** Reads the body of update-schema; a text is Strapi's message for what is wrong with it. */
export function readUpdateSchema(sent: unknown): UpdateSchema | string {
  const parsed = z.object({ data: body }).safeParse(sent)
  return parsed.success ? (parsed.data.data as unknown as UpdateSchema) : (parsed.error.issues[0]?.message ?? 'Invalid input')
}
