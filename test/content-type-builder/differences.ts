// Steps in which the builder's response differs from Strapi's, each with the rule of docs/spec/content-type-builder.md that explains it.

/** By the name of the recording. */
export const differentChanges: ReadonlyMap<string, string> = new Map([
  ['add-relation-one-to-many-self-both-ways', 'content-type-builder.3'],
  ['add-relation-many-to-one-self-both-ways', 'content-type-builder.3'],
  ['add-relation-many-to-many-self-both-ways', 'content-type-builder.3'],
  ['add-relation-one-to-one-self-both-ways', 'content-type-builder.3'],
  ['change-relation-one-to-many-one-way-to-many-to-many', 'content-type-builder.3'],
  ['create-three-types-with-relations', 'content-type-builder.4'],
  ['remove-relation-self', 'content-type-builder.5'],
  ['add-relation-inverse-name-taken', 'content-type-builder.6'],
  ['add-relation-inverse-name-is-a-relation', 'content-type-builder.6'],
  ['add-relation-inverse-name-reserved', 'content-type-builder.7'],
  ['add-relation-morph-many-inverse', 'content-type-builder.9'],
  ['component-attribute-to-unknown-component', 'content-type-builder.11'],
  ['zone-with-unknown-component', 'content-type-builder.11'],
  ['collection-name-taken', 'content-type-builder.13'],
  ['plural-taken-update-schema', 'content-type-builder.13'],
  ['two-update-schemas-without-restart', 'content-type-builder.22'],
])
/** By the name of the recording. */
export const differentRefusals: ReadonlyMap<string, string> = new Map([
  ['update-schema/attribute: relation oneToOne self, inverse not declared', 'content-type-builder.3'],
  ['update-schema/attribute: relation targetAttribute bad', 'content-type-builder.7'],
  ['component/oneToOne with inverse', 'content-type-builder.8'],
  ['update-schema/attribute: component unknown', 'content-type-builder.11'],
])
