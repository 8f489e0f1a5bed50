// JSON schemas (draft 7, which every editor reads) of content-types and components, from the tables that schema checks use.
import type { JsonSchema } from '../../foundation/public/routes.js'
import type { OptionsByName } from '../types/options.js'
import {
  attributeOptions,
  commonOptions,
  componentAttributes,
  documentAttributes,
  kebabCase,
  schemaKeys,
  schemaOptions,
} from './schema-format.js'

export const contentTypeSchema = (): JsonSchema =>
  createJsonSchema({
    title: 'Content-type',
    required: ['info', 'attributes'],
    nameFields: {
      singularName: { ...name('In the uid, and the path of a single type.'), pattern: kebabCase.source },
      pluralName: { ...name('The path of a collection type.'), pattern: kebabCase.source },
    },
    reserved: documentAttributes,
  })

export const componentSchema = (): JsonSchema =>
  createJsonSchema({ title: 'Component', required: ['info', 'attributes'], nameFields: {}, reserved: componentAttributes })

interface SchemaParts {
  readonly title: string
  readonly required: readonly string[]
  readonly nameFields: Readonly<Record<string, JsonSchema>>
  readonly reserved: readonly string[]
}

const name = (description: string): JsonSchema => ({ type: 'string', minLength: 1, description })

function createJsonSchema({ title, required, nameFields, reserved }: SchemaParts): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title,
    type: 'object',
    required,
    properties: properties(nameFields, reserved),
    additionalProperties: false,
    definitions: {
      attribute,
      ...Object.fromEntries(Object.entries(attributeOptions).map(([type, { options }]) => [type, typeSchema(type, options)])),
    },
  }
}

function properties(nameFields: SchemaParts['nameFields'], reserved: readonly string[]): JsonSchema {
  const described = Object.fromEntries(Object.entries(schemaKeys).map(([key, description]) => [key, { description }]))
  const add = (key: string, schema: JsonSchema) => ({ [key]: { ...described[key], ...schema } })
  return {
    ...described,
    ...add('$schema', { type: 'string' }),
    ...(Object.keys(nameFields).length === 0 ? {} : add('kind', { enum: ['collectionType', 'singleType'] })),
    ...add('collectionName', { type: 'string', minLength: 1 }),
    ...add('info', {
      type: 'object',
      required: [...Object.keys(nameFields), 'displayName'],
      properties: { ...nameFields, displayName: name('For people.'), description: { type: 'string' }, icon: { type: 'string' } },
    }),
    ...add('options', optionsSchema()),
    ...add('pluginOptions', {
      type: 'object',
      properties: {
        i18n: {
          type: 'object',
          properties: { localized: { type: 'boolean', description: 'true: documents have a version in each locale.' } },
        },
      },
    }),
    ...add('attributes', {
      type: 'object',
      propertyNames: { pattern: '^[A-Za-z_]', not: { enum: [...new Set(reserved.flatMap((one) => [one, snake(one)]))] } },
      additionalProperties: { $ref: '#/definitions/attribute' },
    }),
  }
}

/** `createdAt` → `created_at`. */
const snake = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The options of a schema. An editor marks an unknown one; a start warns of it, since it may belong to a plugin. */
function optionsSchema(): JsonSchema {
  const flags = ['draftAndPublish', 'populateCreatorFields']
  const described = Object.entries(schemaOptions).map(([option, description]) => [
    option,
    {
      description,
      ...(flags.includes(option)
        ? { type: 'boolean' }
        : option === 'privateAttributes'
          ? { type: 'array', items: { type: 'string' } }
          : {}),
    },
  ])
  return { type: 'object', properties: Object.fromEntries(described), additionalProperties: false }
}

/** An attribute: its type decides which options there are. A custom field has those of its plugin. */
const attribute: JsonSchema = {
  type: 'object',
  properties: {
    type: {
      oneOf: [
        ...Object.entries(attributeOptions).map(([type, { about }]) => constant(type, about)),
        constant('customField', 'A custom field of a plugin of Strapi.'),
      ],
    },
  },
  anyOf: [{ required: ['type'] }, { required: ['customField'] }],
  allOf: Object.keys(attributeOptions).map((type) => ({
    if: { properties: { type: { const: type } }, required: ['type'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { $ref: `#/definitions/${type}` },
  })),
}

function constant(value: string, description: string): JsonSchema {
  return { const: value, description }
}

/** The options of one attribute type. A relation to one named type needs its target. */
function typeSchema(type: string, own: OptionsByName): JsonSchema {
  const all = { ...commonOptions, ...own }
  const needed = Object.entries(all).flatMap(([option, { required }]) => (required === true ? [option] : []))
  return {
    properties: {
      ...Object.fromEntries(
        Object.entries(all).map(([option, { form, about, schema }]) => [option, { description: about, ...(schema ?? form.schema) }]),
      ),
      type: {},
    },
    additionalProperties: false,
    ...(needed.length === 0 ? {} : { required: needed }),
    ...(type === 'relation' ? targetNeeded : {}),
  }
}

const targetNeeded: JsonSchema = {
  if: { properties: { relation: { enum: ['morphToOne', 'morphToMany'] } } },
  else: { required: ['target'] },
}
