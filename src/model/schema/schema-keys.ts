// What a schema file may say beside its attributes: keys, names and options, with what they mean. Used by the checks of a start and the JSON
// schemas for editors.

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

/** The keys of a schema file. */
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
