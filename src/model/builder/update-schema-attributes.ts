// The attributes of a request to update-schema. The order of the keys is the order in which the file has them; unions hide most mistakes
// behind `Invalid input`, as in Strapi.
import * as z from 'zod'
import { attributeName } from './names.js'

const atLeast = (low: string, high: string) => (value: Readonly<Record<string, unknown>>) => {
  const [least, most] = [value[low], value[high]]
  return typeof least !== 'number' || typeof most !== 'number' || most >= least
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
const common = {
  configurable: z.boolean().nullish(),
  private: z.boolean().nullish(),
  searchable: flag,
  pluginOptions: z.record(z.string(), z.unknown()).optional(),
  conditions,
}
const attribute = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ type: z.literal(type), ...common, ...shape })

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
const moment = <Type extends string>(type: Type) => attribute(type, { required: flag, unique: flag, default: text })
const fraction = <Type extends string>(type: Type) =>
  attribute(type, { required: flag, unique: flag, default: number, min: number, max: number }).refine(atLeast('min', 'max'), minAndMax)

const uid = attribute('uid', {
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
  .refine(atLeast('minLength', 'maxLength'), lengths)

const zone = attribute('dynamiczone', { components: z.array(z.string()).min(1), required: flag, min: number, max: number }).refine(
  atLeast('min', 'max'),
  minAndMax,
)

/** The attributes that components have too, without relations. */
const simple = [
  attribute('media', {
    multiple: flag,
    required: flag,
    allowedTypes: z
      .array(z.enum(['images', 'videos', 'files', 'audios']))
      .min(1)
      .optional(),
  }),
  attribute('string', { ...texts, default: text.nullable() }).refine(atLeast('minLength', 'maxLength'), lengths),
  attribute('text', texts).refine(atLeast('minLength', 'maxLength'), lengths),
  attribute('richtext', { required: flag, minLength: length, maxLength: length, default: text }).refine(
    atLeast('minLength', 'maxLength'),
    lengths,
  ),
  attribute('blocks', { required: flag }),
  attribute('json', { required: flag, default: z.unknown().refine(isJson).optional() }),
  enumeration,
  attribute('password', { required: flag, minLength: length, maxLength: length }).refine(atLeast('minLength', 'maxLength'), lengths),
  attribute('email', { required: flag, minLength: length, maxLength: length, default: z.email().optional(), unique: flag }).refine(
    atLeast('minLength', 'maxLength'),
    lengths,
  ),
  attribute('integer', { required: flag, default: integer, unique: flag, min: integer, max: integer }).refine(
    atLeast('min', 'max'),
    minAndMax,
  ),
  attribute('biginteger', { required: flag, unique: flag, default: digits, min: digits, max: digits }),
  fraction('float'),
  fraction('decimal'),
  moment('date'),
  moment('time'),
  moment('datetime'),
  attribute('timestamp', {}),
  attribute('boolean', { required: flag, default: flag }),
  attribute('component', { component: z.string(), repeatable: flag, required: flag, min: number, max: number }).refine(
    atLeast('min', 'max'),
    minAndMax,
  ),
  attribute('customField', { customField: z.string() }).loose(),
] as const

const toAdministrators = 'Relations to admin::user must be one of the following values: oneToOne, oneToMany without targetAttribute'
/** Relations have an order of their own, and are never searchable. */
const relationKeys = {
  configurable: common.configurable,
  required: flag,
  private: common.private,
  pluginOptions: common.pluginOptions,
  conditions,
}
const targetAttribute = z.string().nullish()
const relationOf = <Kind extends string, Inverse extends z.ZodType>(kinds: readonly Kind[], targetAttribute: Inverse) =>
  z.object({
    type: z.literal('relation'),
    relation: z.enum(kinds),
    target: z.string(),
    // Strapi drops it, and then fails at every populate (content-type-builder.9).
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

/** What an attribute of a collection type can be. */
export const collectionAttribute = z.union([
  ...simple,
  uid,
  zone,
  relation(['oneToOne', 'oneToMany', 'manyToOne', 'manyToMany', 'morphOne', 'morphMany']),
  polymorphic,
])
/** What an attribute of a single type can be. */
export const singleAttribute = z.union([...simple, uid, zone, relation(['oneToOne', 'oneToMany', 'morphOne', 'morphMany']), polymorphic])
/** What an attribute of a component can be. */
export const componentAttribute = z.union([...simple, relationOf(['oneToOne', 'oneToMany'], z.unknown().optional())])
