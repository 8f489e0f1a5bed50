// Material for requests: the content model of any project from its schema files, and values of its database.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @typedef {{ type: string, relation?: string, target?: string, component?: string, components?: string[], repeatable?: boolean, multiple?: boolean, private?: boolean, enum?: string[] }} Attribute
 * @typedef {{ uid: string, path: string, single: boolean, localized: boolean, attributes: Record<string, Attribute> }} Shape
 * @typedef {{ types: Shape[], shapes: Map<string, Shape>, values: Map<string, unknown[]>, documents: Map<string, string[]>, locales: string[], callers: Record<string, string | undefined> }} World
 */

/** @type {Record<string, Attribute>} */
const file = Object.fromEntries(
  Object.entries({
    name: 'string',
    alternativeText: 'text',
    caption: 'text',
    width: 'integer',
    height: 'integer',
    formats: 'json',
    hash: 'string',
    ext: 'string',
    mime: 'string',
    size: 'decimal',
    url: 'text',
    previewUrl: 'text',
    provider: 'string',
    provider_metadata: 'json',
  }).map(([name, type]) => [name, { type }]),
)
/** @type {Record<string, Attribute>} */
const user = {
  username: { type: 'string' },
  email: { type: 'email' },
  provider: { type: 'string' },
  password: { type: 'password', private: true },
  confirmed: { type: 'boolean' },
  blocked: { type: 'boolean' },
  role: { type: 'relation', relation: 'manyToOne', target: 'plugin::users-permissions.role' },
}
/** @type {Record<string, Attribute>} */
const role = {
  name: { type: 'string' },
  description: { type: 'string' },
  type: { type: 'string' },
  users: { type: 'relation', relation: 'oneToMany', target: 'plugin::users-permissions.user' },
}

/** @param {string} folder */
const list = (folder) => (existsSync(folder) ? readdirSync(folder) : [])
/** @param {string} path */
const read = (path) => JSON.parse(readFileSync(path, 'utf8'))

/** @param {any} schema @param {string} uid @returns {Shape} */
function typeOf(schema, uid) {
  const localized = schema.pluginOptions?.i18n?.localized === true
  const single = schema.kind === 'singleType'
  const hidden = schema.options?.privateAttributes ?? []
  const own = Object.fromEntries(
    Object.entries(schema.attributes).map(([name, attribute]) => [
      name,
      hidden.includes(name) ? { ...attribute, private: true } : attribute,
    ]),
  )
  return {
    uid,
    single,
    localized,
    path: single ? schema.info.singularName : schema.info.pluralName,
    attributes: {
      id: { type: 'integer' },
      documentId: { type: 'string' },
      ...own,
      createdAt: { type: 'datetime' },
      updatedAt: { type: 'datetime' },
      publishedAt: { type: 'datetime' },
      ...(localized && { locale: { type: 'string' }, localizations: { type: 'relation', relation: 'oneToMany', target: uid } }),
    },
  }
}

/**
 * @param {string} project
 * @param {Record<string, string | undefined>} callers tokens by name
 * @returns {World}
 */
export function readWorld(project, callers) {
  /** @type {Shape[]} */
  const types = []
  for (const api of list(join(project, 'src/api'))) {
    for (const name of list(join(project, 'src/api', api, 'content-types'))) {
      const schema = read(join(project, 'src/api', api, 'content-types', name, 'schema.json'))
      types.push(typeOf(schema, `api::${api}.${schema.info.singularName}`))
    }
  }
  const shapes = new Map(types.map((type) => [type.uid, type]))
  for (const category of list(join(project, 'src/components'))) {
    for (const name of list(join(project, 'src/components', category))) {
      const uid = `${category}.${name.slice(0, -5)}`.toLowerCase()
      shapes.set(uid, {
        uid,
        path: '',
        single: false,
        localized: false,
        attributes: { id: { type: 'integer' }, ...read(join(project, 'src/components', category, name)).attributes },
      })
    }
  }
  const extension = join(project, 'src/extensions/users-permissions/content-types/user/schema.json')
  for (const [uid, path, attributes] of /** @type {const} */ ([
    ['plugin::upload.file', 'upload/files', file],
    ['plugin::users-permissions.user', 'users', existsSync(extension) ? read(extension).attributes : user],
    ['plugin::users-permissions.role', '', role],
  ])) {
    shapes.set(uid, typeOf({ info: { pluralName: path }, attributes }, uid))
  }
  return { types, shapes, values: new Map(), documents: new Map(), locales: [], callers }
}

/**
 * Reads values from a server, so that conditions can match.
 * @param {World} world
 * @param {string} origin
 * @param {string} token
 */
export async function sample(world, origin, token) {
  const get = async (/** @type {string} */ path) => {
    const answer = await fetch(origin + path, { headers: { authorization: `Bearer ${token}` } })
    return answer.ok ? answer.json() : null
  }
  world.locales = ((await get('/api/i18n/locales')) ?? []).map((/** @type {{ code: string }} */ { code }) => code)
  for (const type of [...world.types, world.shapes.get('plugin::users-permissions.user'), world.shapes.get('plugin::upload.file')]) {
    if (!type) continue
    for (const status of ['published', 'draft']) {
      const answer = await get(`/api/${type.path}?status=${status}&populate=*${type.localized ? '&locale=*' : ''}&pagination[pageSize]=100`)
      const data = Array.isArray(answer) ? answer : answer?.data
      for (const entry of Array.isArray(data) ? data : data ? [data] : []) keep(world, type, entry)
    }
  }
}

/** @param {World} world @param {Shape} shape @param {any} entry */
function keep(world, shape, entry) {
  if (typeof entry !== 'object' || entry === null) return
  if (entry.documentId) add(world.documents, shape.uid, entry.documentId)
  for (const [name, value] of Object.entries(entry)) {
    const attribute = shape.attributes[name]
    if (!attribute) continue
    const target = world.shapes.get(attribute.component ?? attribute.target ?? (attribute.type === 'media' ? 'plugin::upload.file' : ''))
    for (const one of Array.isArray(value) && (target || attribute.type === 'dynamiczone') ? value : [value]) {
      const below = target ?? world.shapes.get(one?.__component)
      if (below) keep(world, below, one)
      else add(world.values, `${shape.uid}.${name}`, value)
    }
  }
}

/** @param {Map<string, any[]>} map @param {string} key @param {unknown} value */
function add(map, key, value) {
  const values = map.get(key) ?? []
  map.set(key, values)
  if (values.length < 40 && !values.includes(value)) values.push(value)
}
