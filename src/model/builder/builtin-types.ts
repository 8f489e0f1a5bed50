// The content that Strapi writes into src/extensions when a relation adds an attribute to a type of a plugin.
import { builtinSchemas } from '../schema/builtin.js'
import type { ProjectSchema, SchemaContent } from './project-schemas.js'

const fixed = { configurable: false }
const hidden = { configurable: false, private: true, searchable: false }

/** Users, which most projects point at, in Strapi's own order. */
const user: SchemaContent = {
  kind: 'collectionType',
  collectionName: 'up_users',
  info: { name: 'user', description: '', singularName: 'user', pluralName: 'users', displayName: 'User' },
  options: { timestamps: true },
  attributes: {
    username: { type: 'string', minLength: 3, unique: true, ...fixed, required: true },
    email: { type: 'email', minLength: 6, ...fixed, required: true },
    provider: { type: 'string', ...fixed },
    password: { type: 'password', minLength: 6, ...hidden },
    resetPasswordToken: { type: 'string', ...hidden },
    confirmationToken: { type: 'string', ...hidden },
    confirmed: { type: 'boolean', default: false, ...fixed },
    blocked: { type: 'boolean', default: false, ...fixed },
    role: { type: 'relation', relation: 'manyToOne', target: 'plugin::users-permissions.role', inversedBy: 'users', ...fixed },
  },
}

const role: SchemaContent = {
  kind: 'collectionType',
  collectionName: 'up_roles',
  info: { name: 'role', description: '', singularName: 'role', pluralName: 'roles', displayName: 'Role' },
  pluginOptions: { 'content-manager': { visible: false }, 'content-type-builder': { visible: false } },
  attributes: {
    name: { type: 'string', minLength: 3, required: true, ...fixed },
    description: { type: 'string', ...fixed },
    type: { type: 'string', unique: true, ...fixed },
    permissions: { type: 'relation', relation: 'oneToMany', target: 'plugin::users-permissions.permission', mappedBy: 'role', ...fixed },
    users: { type: 'relation', relation: 'oneToMany', target: 'plugin::users-permissions.user', mappedBy: 'role', ...fixed },
  },
}

/** Folders of the media library, whose attributes are not marked. */
const folder = (content: SchemaContent): SchemaContent => {
  const { kind, collectionName, info, attributes, indexes } = content
  return { kind, collectionName, info, options: {}, pluginOptions: role.pluginOptions, attributes, indexes }
}

const known: Readonly<Record<string, (content: SchemaContent) => SchemaContent>> = {
  'plugin::users-permissions.user': () => user,
  'plugin::users-permissions.role': () => role,
  'plugin::upload.file': (content) => notConfigurable({ ...content, info: { ...content.info, description: '' } }),
  'plugin::upload.folder': folder,
}

/** The types that Strapi brings along, without files. Their own attributes cannot be changed by requests. */
export const builtinTypes = (): ProjectSchema[] =>
  builtinSchemas.map(({ uid, ...content }) => ({ uid, path: null, content: (known[uid] ?? notConfigurable)(content) }))

/** Marks all attributes as not configurable, in the key order of Strapi: scalars after their type, relations at the end. */
function notConfigurable(content: SchemaContent): SchemaContent {
  const attributes = Object.entries(content.attributes).map(([name, attribute]) => {
    const { type, ...others } = attribute
    return [name, type === 'relation' ? { ...attribute, ...fixed } : { type, ...fixed, ...others }] as const
  })
  return { ...content, attributes: Object.fromEntries(attributes) }
}
