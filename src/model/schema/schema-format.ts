// Keys and options of schemas and attributes. Schema checks and the JSON schemas for editors use these tables.
import { attributeTypes } from '../types/attribute-types.js'
import { any, anyDefault, count, flag, type OptionsByName, object, option, text, texts } from '../types/options.js'

export const commonOptions: OptionsByName = {
  type: option(text, 'What the attribute holds.'),
  required: option(flag, 'A document cannot be published without it; drafts may lack it.'),
  unique: option(flag, 'No two published documents have the same value.'),
  private: option(flag, 'Never part of a response.'),
  configurable: option(flag, 'Whether the admin panel of Strapi lets editors configure it.'),
  searchable: option(flag, 'false: the search with _q does not look at it.'),
  writable: option(flag, 'Of the admin panel of Strapi.'),
  visible: option(flag, 'Of the admin panel of Strapi.'),
  pluginOptions: option(object, 'i18n.localized: true gives each locale its own value in a localized content-type.', {
    schema: {
      type: ['object', 'null'],
      properties: { i18n: { type: 'object', properties: { localized: { type: 'boolean' } } } },
    },
  }),
  column: option(object, "Settings of Strapi's database layer; Octavo does not read them."),
  conditions: option(
    any,
    'visible: a rule in json-logic on the values next to it. Where it does not hold, the attribute is hidden and not validated.',
  ),
  description: option(any, 'A note for editors.'),
  displayName: option(any, 'A name for editors.'),
  useJoinTable: option(flag, 'false: a relation to one is stored in a column instead of a separate table.'),
}

const entries: OptionsByName = {
  min: option(count, 'The least number of entries.'),
  max: option(count, 'The greatest number of entries.'),
}
const unused = option(any, 'Of earlier versions of Strapi; it has no effect.')

export const relationKinds = [
  ...['oneToOne', 'oneToMany', 'manyToOne', 'manyToMany'],
  ...['morphToOne', 'morphToMany', 'morphOne', 'morphMany'],
] as const

/** The kinds of files that an attribute of the type `media` can be limited to. */
const fileKinds = ['images', 'videos', 'files', 'audios']
const uid = '^(?:api|plugin|admin)::.+$'
const componentUid = '^[^.]+\\..+$'

interface DescribedType {
  readonly about: string
  readonly options: OptionsByName
}

export const attributeOptions: Readonly<Record<string, DescribedType>> = {
  ...attributeTypes,
  media: {
    about: 'One file, or several, of the media library.',
    options: {
      multiple: option(flag, 'true: a list of files.'),
      allowedTypes: option(texts, 'The kinds of files that may be chosen.', {
        schema: { type: ['array', 'null'], items: { type: 'string', enum: fileKinds } },
      }),
      ...entries,
    },
  },
  component: {
    about: 'A component, or a list of it.',
    options: {
      component: option(text, 'Its uid: <category>.<name>.', { required: true, schema: { type: 'string', pattern: componentUid } }),
      repeatable: option(flag, 'true: a list of entries.'),
      ...anyDefault,
      ...entries,
    },
  },
  dynamiczone: {
    about: 'A list of entries of different components.',
    options: {
      components: option(texts, 'The uids of the components.', {
        required: true,
        schema: { type: 'array', items: { type: 'string', pattern: componentUid } },
      }),
      ...entries,
    },
  },
  relation: {
    about: 'Other documents.',
    options: {
      relation: option(text, 'How many documents each side has.', { required: true, schema: { type: 'string', enum: relationKinds } }),
      target: option(text, 'The uid of the content-type: api::article.article. Not for morphToOne and morphToMany.', {
        schema: { type: 'string', pattern: uid },
      }),
      inversedBy: option(text, 'The attribute of the target for the other side; this side owns the links.'),
      mappedBy: option(text, 'The attribute of the target for the other side, which owns the links.'),
      morphBy: option(text, 'The polymorphic attribute of the target, for morphOne and morphMany.'),
      morphColumn: option(object, 'Names of the columns of a morphToOne.'),
      joinColumn: option(object, 'Name of the column, with useJoinTable: false.'),
      joinTable: option(any, 'Names of the table of links and its columns.'),
      owner: unused,
      dominant: unused,
      autoPopulate: unused,
      targetAttribute: unused,
    },
  },
}

/** Names in kebab-case, as the names of content-types must be. */
export const kebabCase = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** Why a type cannot have one name for both in a project of Strapi, as the end of a sentence about `info.pluralName`. */
export const oneNameForBoth = 'must differ from singularName: Strapi does not start with one name for both'

/** Attributes that every document has, and those that every component entry has. A schema cannot use their names. */
export const documentAttributes = [
  ...['id', 'documentId', 'createdAt', 'updatedAt', 'publishedAt', 'createdBy', 'updatedBy', 'localizations'],
] as const
export const componentAttributes = ['id', '__component'] as const

/** Names of attributes that Strapi accepts in a schema and replaces by its own. */
export const replacedAttributes: readonly string[] = [
  ...['createdAt', 'updatedAt', 'publishedAt', 'createdBy', 'updatedBy', 'localizations'],
]

export const schemaKeys: Readonly<Record<string, string>> = {
  $schema: 'The path of this JSON schema, for editors.',
  kind: 'collectionType: many documents. singleType: one.',
  collectionName: 'The name of the table.',
  info: 'The names.',
  options: 'Draft & Publish, private attributes.',
  pluginOptions: 'Localization, and what plugins of Strapi look for.',
  attributes: 'The attributes by name.',
  indexes: "Indexes of Strapi's database layer.",
  foreignKeys: "Foreign keys of Strapi's database layer.",
  config: 'Settings of Strapi.',
  uid: 'Written by some versions of Strapi; it has no effect.',
  modelType: 'Written by some versions of Strapi; it has no effect.',
  modelName: 'Written by some versions of Strapi; it has no effect.',
  globalId: 'Written by some versions of Strapi; it has no effect.',
}

/** The options of a content-type or component. */
export const schemaOptions: Readonly<Record<string, string>> = {
  draftAndPublish: 'true: documents have a draft, and a published version once they are published.',
  populateCreatorFields: 'true: createdBy and updatedBy are part of responses that populate them.',
  privateAttributes: 'Names of attributes that are never part of a response.',
  timestamps: 'Of earlier versions of Strapi; it has no effect.',
  comment: 'A note.',
  increments: 'Of earlier versions of Strapi; it has no effect.',
  version: 'Of earlier versions of Strapi; it has no effect.',
  noStageNotification: "Of Strapi's review workflows.",
  reviewWorkflows: "Of Strapi's review workflows.",
  noSetStages: "Of Strapi's review workflows.",
}
