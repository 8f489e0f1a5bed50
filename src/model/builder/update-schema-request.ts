// The body of POST /content-type-builder/update-schema: its shape, and the rules about a single type, component or attribute. The order of the
// keys is their order in schema files; unions hide most errors as `Invalid input`, as in Strapi.
import * as z from 'zod'
import type { AttributeSource } from '../schema/types.js'
import { attributeTypes } from '../types/attribute-types.js'
import { attributeName, categoryName, iconName, isReservedAttribute, isReservedType, kebabCase, sameColumns } from './names.js'

const isOrdered = (low: string, high: string) => (value: Readonly<Record<string, unknown>>) => {
  const min = value[low]
  const max = value[high]
  return typeof min !== 'number' || typeof max !== 'number' || max >= min
}
const minAndMax = { path: ['max'], message: 'max must be greater or equal to min' }
const lengths = { path: ['maxLength'], message: 'maxLength must be greater or equal to minLength' }

const flag = z.boolean().optional()
const length = z.number().int().positive().optional()
const text = z.string().optional()
const regex = z
  .string()
  .superRefine((source, context) => {
    try {
      new RegExp(source)
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message })
    }
  })
  .optional()

const conditions = z.object({ visible: z.record(z.string(), z.array(z.unknown())) }).optional()
const commonOptions = {
  configurable: z.boolean().nullish(),
  private: z.boolean().nullish(),
  searchable: flag,
  pluginOptions: z.record(z.string(), z.unknown()).optional(),
  conditions,
}
const attribute = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ type: z.literal(type), ...commonOptions, ...shape })

const texts = { default: text, minLength: length, maxLength: length, required: flag, unique: flag, regex }
const isJson = (value: unknown): boolean => {
  if (typeof value !== 'string') return ['boolean', 'number', 'object'].includes(typeof value)
  try {
    JSON.parse(value)
    return true
  } catch {
    return false
  }
}
const enumeration = attribute('enumeration', {
  required: flag,
  default: text,
  enumName: z
    .string()
    .refine((name) => name === '' || attributeName.test(name), 'Invalid enum name')
    .optional(),
  enum: z
    .array(z.string().refine((value) => !/^\d/.test(value)))
    .min(1)
    .refine((values) => new Set(values).size === values.length),
}).refine((value) => value.default === undefined || value.enum.includes(value.default), {
  path: ['default'],
  message: 'Default value must be one of the enum values',
})

const digits = z.string().regex(/^\d*$/).nullish()
const integer = z.number().int().optional()
const number = z.number().optional()
const temporal = <Type extends string>(type: Type) => attribute(type, { required: flag, unique: flag, default: text })
const fraction = <Type extends string>(type: Type) =>
  attribute(type, { required: flag, unique: flag, default: number, min: number, max: number }).refine(isOrdered('min', 'max'), minAndMax)

const uidAttribute = attribute('uid', {
  targetField: text.nullable(),
  required: flag,
  default: text.nullable(),
  minLength: length,
  maxLength: length,
  options: z
    .object({
      separator: text,
      lowercase: flag,
      decamelize: flag,
      customReplacements: z.array(z.array(z.string()).min(2).max(2)).optional(),
      preserveLeadingUnderscore: flag,
    })
    .optional(),
  regex,
})
  .refine((value) => typeof value.default !== 'string' || !value.targetField, {
    path: ['default'],
    message: 'Cannot define a default UID if the targetField is set',
  })
  .refine(isOrdered('minLength', 'maxLength'), lengths)

const zone = attribute('dynamiczone', { components: z.array(z.string()).min(1), required: flag, min: number, max: number }).refine(
  isOrdered('min', 'max'),
  minAndMax,
)

/** The attributes without relations that types and components share. */
const simple = [
  attribute('media', {
    multiple: flag,
    required: flag,
    allowedTypes: z
      .array(z.enum(['images', 'videos', 'files', 'audios']))
      .min(1)
      .optional(),
  }),
  attribute('string', { ...texts, default: text.nullable() }).refine(isOrdered('minLength', 'maxLength'), lengths),
  attribute('text', texts).refine(isOrdered('minLength', 'maxLength'), lengths),
  attribute('richtext', { required: flag, minLength: length, maxLength: length, default: text }).refine(
    isOrdered('minLength', 'maxLength'),
    lengths,
  ),
  attribute('blocks', { required: flag }),
  attribute('json', { required: flag, default: z.unknown().refine(isJson).optional() }),
  enumeration,
  attribute('password', { required: flag, minLength: length, maxLength: length }).refine(isOrdered('minLength', 'maxLength'), lengths),
  attribute('email', { required: flag, minLength: length, maxLength: length, default: z.email().optional(), unique: flag }).refine(
    isOrdered('minLength', 'maxLength'),
    lengths,
  ),
  attribute('integer', { required: flag, default: integer, unique: flag, min: integer, max: integer }).refine(
    isOrdered('min', 'max'),
    minAndMax,
  ),
  attribute('biginteger', { required: flag, unique: flag, default: digits, min: digits, max: digits }),
  fraction('float'),
  fraction('decimal'),
  temporal('date'),
  temporal('time'),
  temporal('datetime'),
  attribute('timestamp', {}),
  attribute('boolean', { required: flag, default: flag }),
  attribute('component', { component: z.string(), repeatable: flag, required: flag, min: number, max: number }).refine(
    isOrdered('min', 'max'),
    minAndMax,
  ),
  attribute('customField', { customField: z.string() }).loose(),
] as const

/** Attribute types without a row above: their options in schema files, in the forms that are checked there. */
const others = Object.entries(attributeTypes)
  .filter(([type]) => !simple.some(({ shape }) => shape.type.value === type) && type !== 'uid')
  .map(([type, { options }]) => {
    const forms = Object.entries(options).map(([name, { form }]) => [name, z.unknown().refine(form.fits).optional()])
    return attribute(type, { required: flag, unique: flag, ...Object.fromEntries(forms) })
  })

const toAdministrators = 'Relations to admin::user must be one of the following values: oneToOne, oneToMany without targetAttribute'
/** In the order of Strapi's files; relations are never searchable. */
const relationKeys = {
  configurable: commonOptions.configurable,
  required: flag,
  private: commonOptions.private,
  pluginOptions: commonOptions.pluginOptions,
  conditions,
}
const targetAttribute = z.string().nullish()
const relationOf = <Kind extends string, Inverse extends z.ZodType>(kinds: readonly Kind[], targetAttribute: Inverse) =>
  z.object({
    type: z.literal('relation'),
    relation: z.enum(kinds),
    target: z.string(),
    // Strapi drops it and then fails at every populate (content-type-builder.9).
    morphBy: text,
    targetAttribute,
    ...relationKeys,
  })
const relation = <Kind extends string>(kinds: readonly Kind[]) =>
  relationOf(kinds, targetAttribute).refine(
    (value) => value.target !== 'admin::user' || (value.targetAttribute === undefined && /^oneTo/.test(value.relation)),
    { path: ['relation'], message: toAdministrators },
  )
const polymorphic = z.object({
  type: z.literal('relation'),
  relation: z.enum(['morphToOne', 'morphToMany']),
  ...relationKeys,
})

const collectionAttribute = z.union([
  ...simple,
  ...others,
  uidAttribute,
  zone,
  relation(['oneToOne', 'oneToMany', 'manyToOne', 'manyToMany', 'morphOne', 'morphMany']),
  polymorphic,
])

const singleAttribute = z.union([
  ...simple,
  ...others,
  uidAttribute,
  zone,
  relation(['oneToOne', 'oneToMany', 'morphOne', 'morphMany']),
  polymorphic,
])

const componentAttribute = z.union([...simple, ...others, relationOf(['oneToOne', 'oneToMany'], z.unknown().optional())])

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

/** Refuses names that share a column, and uids without a valid target. */
const list = <Item extends z.ZodType>(item: Item) =>
  z.array(item).superRefine((items, context) => {
    const attributes = items as unknown as readonly ListedAttribute[]
    const refuse = (message: string) => context.addIssue({ code: 'custom', message })
    // A deleted name may be created again in another spelling of the same column.
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
  /** Checked in update-schema.ts: Strapi reports a missing one differently. */
  readonly category: string
}
/** The data of a request to update-schema. */
export interface UpdateSchema {
  readonly contentTypes: readonly (ListedType | Deleted)[]
  readonly components: readonly (ListedComponent | Deleted)[]
}

/** Parses the body of a request; returns Strapi's message if it is invalid. */
export function readUpdateSchema(sent: unknown): UpdateSchema | string {
  const parsed = z.object({ data: body }).safeParse(sent)
  return parsed.success ? (parsed.data.data as unknown as UpdateSchema) : (parsed.error.issues[0]?.message ?? 'Invalid input')
}
