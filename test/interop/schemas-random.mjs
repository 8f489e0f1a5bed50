// Small content models at random: two or three types with relations of every kind, as the builder writes them and as people write them by hand,
// components, zones, files, polymorphic relations, locales, drafts, long and odd names; and a conversation about each.

import { seededRandom } from '../../bench/random.mjs'
import { withoutOwner } from './schemas-differences.mjs'

/**
 * @typedef {ReturnType<typeof seededRandom> & { chance(of: number): boolean }} Random
 * @typedef {Record<string, any>} Attributes
 * @typedef {{ api: string, name: string, plural: string, uid: string, collection: string, single: boolean, drafts: boolean, localized: boolean, attributes: Attributes }} Type
 * @typedef {{ prefix: string, files: Record<string, any>, types: readonly Type[], user: Attributes, requests: readonly import('./schemas-strapi.mjs').Request[] }} RandomSchema
 */

const letters = 'abcdefghijkmnpqrstuvwxyz'
const words = [
  'thing',
  'part',
  'unit-of-work',
  'news',
  'box2',
  'a',
  'web3-item',
  'a-rather-long-name-for-a-content-type-of-some-project',
  'person',
  'x1y2',
]
const attributeWords = [
  'owner',
  'items',
  'URL',
  'myURLField',
  'line2',
  'snake_case',
  'Upper',
  'related2x',
  'x',
  'HTMLBody',
  'a1',
  'kindOfThing',
  '_hidden',
  'aVeryLongAttributeNameThatStrapiHasToShortenInItsTables',
  'another_very_long_attribute_name_with_underscores_in_it',
]
const scalars = ['string', 'text', 'integer', 'boolean', 'decimal', 'float', 'date', 'datetime', 'json', 'email', 'biginteger', 'richtext']

/** The prefix of everything that belongs to one schema: letters only, so that no word is cut at them. @param {number} index */
export const prefixOf = (index) => `q${letters[Math.floor(index / 529) % 23]}${letters[Math.floor(index / 23) % 23]}${letters[index % 23]}`

/**
 * @param {number} seed
 * @param {number} index
 * @returns {RandomSchema}
 */
export function randomSchema(seed, index) {
  const numbers = seededRandom(seed * 100_003 + index)
  /** @type {Random} */
  const random = { ...numbers, chance: (of) => numbers.integer(1000) < of * 1000 }
  const prefix = prefixOf(index)
  const types = Array.from({ length: random.chance(0.6) ? 2 : 3 }, (_, at) => randomType(random, prefix, at))
  for (const type of types) addScalars(random, type)
  for (let count = 1 + random.integer(3); count > 0; count--) addRelation(random, types)
  const components = random.chance(0.45) ? randomComponents(random, prefix, types) : {}
  if (random.chance(0.2)) addPolymorphic(random, types)
  if (Object.keys(components).length > 0) for (const type of types) addComponents(random, type, Object.keys(components))
  for (const type of types)
    if (random.chance(0.25)) put(random, type.attributes, { type: 'media', multiple: random.chance(0.5), allowedTypes: ['images'] })
  /** @type {Attributes} */
  const user = {}
  if (random.chance(0.15)) addUserRelation(random, prefix, types, user)
  return { prefix, files: filesOf(types, components), types, user, requests: requestsOf(random, types, components, user) }
}

/** @param {Random} random @param {string} prefix @param {number} at @returns {Type} */
function randomType(random, prefix, at) {
  const word = random.pick(words)
  const name = `${prefix}-${word}-${letters[at]}`
  const api = random.chance(0.15) ? `${prefix}-${letters[22 - at]}` : name
  const collection = random.pick([
    `${prefix}_${word.replaceAll('-', '_')}_${letters[at]}s`,
    `${prefix}${random.pick(['Camel', 'UP', '-with-dash-', '_x2y'])}${letters[at]}`,
    `${prefix}_${letters[at]}_a_collection_name_that_is_nearly_as_long_as_it_may`,
  ])
  return {
    ...{ api, name, plural: `${name}s`, uid: `api::${api}.${name}`, collection, single: random.chance(0.08) },
    ...{ drafts: random.chance(0.35), localized: random.chance(0.2), attributes: { title: { type: 'string' } } },
  }
}

/** Puts an attribute under a name that is free. @param {Random} random @param {Attributes} attributes @param {any} attribute @param {string} [wanted] */
function put(random, attributes, attribute, wanted) {
  const taken = new Set(Object.keys(attributes).map((name) => name.replaceAll('_', '').toLowerCase()))
  const name = wanted ?? random.pick(attributeWords.filter((word) => !taken.has(word.replaceAll('_', '').toLowerCase())))
  attributes[name] = attribute
  return name
}

/** @param {Random} random @param {Type} type */
function addScalars(random, type) {
  for (let count = random.integer(3); count > 0; count--) {
    const kind = random.pick(scalars)
    put(random, type.attributes, {
      type: kind,
      ...(random.chance(0.2) && ['string', 'integer', 'email'].includes(kind) && { unique: true }),
    })
  }
  if (random.chance(0.2)) put(random, type.attributes, { type: 'enumeration', enum: ['one', 'two'] })
  if (random.chance(0.1)) put(random, type.attributes, { type: 'uid', targetField: 'title' })
  if (!type.localized) return
  for (const attribute of Object.values(type.attributes)) if (random.chance(0.7)) attribute.pluginOptions = { i18n: { localized: true } }
}

const users = 'plugin::users-permissions.user'
const kinds = ['oneToOne', 'oneToMany', 'manyToOne', 'manyToMany']
/** @type {Record<string, string>} */
const opposite = { oneToOne: 'oneToOne', oneToMany: 'manyToOne', manyToOne: 'oneToMany', manyToMany: 'manyToMany' }

/** Words of the two sides, as the builder writes them and by mistake. @param {Random} random @param {string} kind */
function sides(random, kind) {
  const many = kind === 'oneToMany'
  const right = many ? ['mappedBy', 'inversedBy'] : ['inversedBy', 'mappedBy']
  if (random.chance(0.5)) return right
  return random.pick(
    /** @type {(readonly [string, string])[]} */ ([
      many ? ['mappedBy', ''] : ['', 'mappedBy'],
      ['', ''],
      ['', many ? 'inversedBy' : ''],
      [many ? '' : 'inversedBy', ''],
      many ? ['mappedBy', 'both'] : ['both', 'mappedBy'],
      kind === 'oneToOne' || kind === 'manyToMany' ? ['mappedBy', 'mappedBy'] : right,
      kind === 'oneToOne' || kind === 'manyToMany' ? ['inversedBy', 'inversedBy'] : right,
      kind === 'oneToOne' || kind === 'manyToMany' ? ['', 'inversedBy'] : right,
    ]),
  )
}

/** @param {Random} random @param {readonly Type[]} types */
function addRelation(random, types) {
  const [here, there] = [random.pick(types), random.pick(types)]
  const kind = random.pick(kinds)
  if (random.chance(0.3)) {
    put(random, here.attributes, { type: 'relation', relation: kind, target: there.uid, ...withoutTable(random, kind, '') })
    return
  }
  const [ours, theirs] = sides(random, kind)
  const name = put(random, here.attributes, { type: 'relation', relation: kind, target: there.uid })
  const back = random.chance(0.04) ? random.pick(kinds) : String(opposite[kind])
  const other = put(random, there.attributes, { type: 'relation', relation: back, target: here.uid })
  const wrong = random.chance(0.06)
  naming(here.attributes[name], ours, other, random, kind)
  if (random.chance(0.03)) here.attributes[name].inversedBy = random.pick(Object.keys(there.attributes))
  naming(there.attributes[other], theirs, wrong && theirs === 'mappedBy' ? 'nowhere' : name, random, back)
}

/** @param {any} attribute @param {string | undefined} word @param {string} other @param {Random} random @param {string} kind */
function naming(attribute, word, other, random, kind) {
  if (word === 'both') Object.assign(attribute, { mappedBy: other, inversedBy: other })
  else if (word !== '' && word !== undefined) attribute[word] = other
  if (word !== 'mappedBy') Object.assign(attribute, withoutTable(random, kind, word ?? ''))
}

/** @param {Random} random @param {string} kind @param {string} word */
const withoutTable = (random, kind, word) =>
  (kind === 'oneToOne' || kind === 'manyToOne') && word !== 'both' && random.chance(0.12) ? { useJoinTable: false } : {}

/** @param {Random} random @param {readonly Type[]} types */
function addPolymorphic(random, types) {
  const [here, there] = [random.pick(types), random.pick(types)]
  const many = random.chance(0.5)
  const name = put(random, here.attributes, { type: 'relation', relation: many ? 'morphToMany' : 'morphToOne' })
  if (random.chance(0.6))
    put(random, there.attributes, {
      type: 'relation',
      relation: random.chance(0.5) ? 'morphOne' : 'morphMany',
      target: here.uid,
      morphBy: name,
    })
}

/** @param {Random} random @param {string} prefix @param {readonly Type[]} types */
function randomComponents(random, prefix, types) {
  /** @type {Record<string, { collection: string, attributes: Attributes }>} */
  const components = {}
  const names = ['part', 'a-rather-long-component-name-for-its-table', 'inner']
  for (const name of names.slice(0, 1 + random.integer(3))) {
    /** @type {Attributes} */
    const attributes = { title: { type: 'string' } }
    if (random.chance(0.5)) put(random, attributes, { type: random.pick(scalars) })
    if (random.chance(0.5)) {
      const kind = random.pick(kinds)
      const target = random.pick(types)
      const astray = Object.keys(target.attributes).filter((one) => target.attributes[one].type === 'relation')
      const inversedBy = random.chance(0.1) && astray.length > 0 ? { inversedBy: random.pick(astray) } : {}
      put(random, attributes, { type: 'relation', relation: kind, target: target.uid, ...withoutTable(random, kind, ''), ...inversedBy })
    }
    const inner = Object.keys(components)
    if (inner.length > 0 && random.chance(0.5))
      put(random, attributes, { type: 'component', component: random.pick(inner), repeatable: random.chance(0.5) })
    if (random.chance(0.2)) put(random, attributes, { type: 'media', multiple: random.chance(0.5) })
    components[`${prefix}.${name}`] = {
      collection: `components_${prefix}_${name.replaceAll('-', '_')}${random.chance(0.3) ? 'Xy' : 's'}`,
      attributes,
    }
  }
  return components
}

/** @param {Random} random @param {Type} type @param {readonly string[]} uids */
function addComponents(random, type, uids) {
  if (random.chance(0.5)) put(random, type.attributes, { type: 'component', component: random.pick(uids), repeatable: random.chance(0.5) })
  if (random.chance(0.4)) put(random, type.attributes, { type: 'dynamiczone', components: [...uids] })
}

/** A relation between a type and the users, whose schema the project extends. @param {Random} random @param {string} prefix @param {readonly Type[]} types @param {Attributes} user */
function addUserRelation(random, prefix, types, user) {
  const type = random.pick(types)
  const kind = random.pick(kinds)
  const [ours, theirs] = sides(random, kind)
  const theirName = `${prefix}Likes`
  const name = put(random, type.attributes, { type: 'relation', relation: kind, target: users })
  user[theirName] = { type: 'relation', relation: opposite[kind], target: type.uid }
  if (random.chance(0.3)) delete user[theirName]
  else {
    naming(type.attributes[name], ours, theirName, random, kind)
    naming(user[theirName], theirs, name, random, String(opposite[kind]))
  }
}

/** @param {readonly Type[]} types @param {Record<string, { collection: string, attributes: Attributes }>} components */
function filesOf(types, components) {
  /** @type {Record<string, any>} */
  const files = {}
  for (const { api, name, plural, collection, single, drafts, localized, attributes } of types)
    files[`src/api/${api}/content-types/${name}/schema.json`] = {
      ...{ kind: single ? 'singleType' : 'collectionType', collectionName: collection },
      ...{ info: { singularName: name, pluralName: plural, displayName: name }, options: { draftAndPublish: drafts } },
      ...(localized && { pluginOptions: { i18n: { localized: true } } }),
      attributes,
    }
  for (const [uid, { collection, attributes }] of Object.entries(components))
    files[`src/components/${uid.replace('.', '/')}.json`] = { collectionName: collection, info: { displayName: uid }, attributes }
  return files
}

/** @param {Type} type */
const pathOf = ({ name, plural, single }) => `/api/${single ? name : plural}`

/**
 * Documents with links, lists, populated in every way, filters and orders through relations, links from both sides, read back.
 * @param {Random} random @param {readonly Type[]} types @param {Record<string, { collection: string, attributes: Attributes }>} components
 * @param {Attributes} user
 */
function requestsOf(random, types, components, user) {
  /** @type {import('./schemas-strapi.mjs').Request[]} */
  const requests = []
  const collections = types.filter(({ single }) => !single)
  const star = (/** @type {Type} */ type, /** @type {string} */ more = '') =>
    requests.push({ method: 'GET', path: `${pathOf(type)}?populate=*${type.single ? '' : '&sort=title'}${more}` })
  for (const type of collections)
    for (const at of [1, 2])
      requests.push({
        method: 'POST',
        path: pathOf(type),
        body: { data: { title: `${type.name} ${at}` } },
        as: `${letters[types.indexOf(type)]}${at}`,
      })
  const linked = collections.flatMap((type) =>
    Object.entries(type.attributes).flatMap(([name, attribute]) => {
      const target = collections.find(({ uid }) => uid === attribute.target)
      return attribute.type === 'relation' && target !== undefined && !String(attribute.relation).startsWith('morph')
        ? [{ type, name, attribute, target }]
        : []
    }),
  )
  const ownerless = withoutOwner([...types, { uid: users, attributes: user }])
  for (const { type, name, attribute, target } of linked.slice(0, 5)) {
    const [here, there] = [letters[types.indexOf(type)], letters[types.indexOf(target)]]
    const many = attribute.relation.endsWith('Many')
    const first = here === there ? [] : [`\${${there}1}`]
    const value = many ? { connect: [...first, `\${${there}2}`] } : `\${${there}${here === there ? 2 : 1}}`
    const isWritten = !ownerless.has(`${type.uid}.${name}`)
    if (isWritten) requests.push({ method: 'PUT', path: `${pathOf(type)}/\${${here}1}?populate=*`, body: { data: { [name]: value } } })
    star(target)
    requests.push({ method: 'GET', path: `${pathOf(type)}?filters[${name}][title][$contains]=1&sort=title` })
    if (random.chance(0.5)) requests.push({ method: 'GET', path: `${pathOf(type)}?populate[${name}][populate]=*&sort=title` })
    if (random.chance(0.3)) requests.push({ method: 'GET', path: `${pathOf(type)}?sort[0]=${name}.title:desc&sort[1]=title` })
    if (random.chance(0.3) && isWritten)
      requests.push({ method: 'PUT', path: `${pathOf(type)}/\${${here}1}?populate=*`, body: { data: { [name]: many ? [] : null } } })
  }
  for (const type of collections) {
    const data = dataOf(random, type, types, components, ownerless)
    requests.push({ method: 'POST', path: `${pathOf(type)}?populate=*`, body: { data: { title: 'whole', ...data } } })
    star(type)
    if (type.drafts) star(type, '&status=draft')
    if (type.localized) {
      const here = letters[types.indexOf(type)]
      requests.push({ method: 'PUT', path: `${pathOf(type)}/\${${here}1}?locale=de&populate=*`, body: { data: { title: 'deutsch' } } })
      star(type, '&locale=de')
    }
  }
  for (const type of types.filter(({ single }) => single)) {
    requests.push({
      method: 'PUT',
      path: `${pathOf(type)}?populate=*`,
      body: { data: { title: 'single', ...dataOf(random, type, types, components, ownerless) } },
    })
    star(type)
  }
  return requests.slice(0, 28)
}

/** Content of a document in addition to its title: components, and links of all its relations. @param {Random} random @param {Type} type @param {readonly Type[]} types @param {Record<string, { collection: string, attributes: Attributes }>} components @param {ReadonlySet<string>} ownerless */
function dataOf(random, type, types, components, ownerless) {
  /** @type {Record<string, unknown>} */
  const data = {}
  /** @param {string} uid @param {number} depth @returns {Record<string, unknown>} */
  const entry = (uid, depth) => {
    /** @type {Record<string, unknown>} */
    const found = { title: `in ${uid}` }
    for (const [name, attribute] of Object.entries(components[uid]?.attributes ?? {})) {
      if (attribute.type === 'component' && depth > 0)
        found[name] = attribute.repeatable ? [entry(attribute.component, depth - 1)] : entry(attribute.component, depth - 1)
      if (attribute.type === 'relation') Object.assign(found, link(name, attribute))
    }
    return found
  }
  /** @param {string} name @param {any} attribute */
  const link = (name, attribute) => {
    const at = types.findIndex(({ uid, single }) => uid === attribute.target && !single)
    if (at === -1 || String(attribute.relation).startsWith('morph')) return {}
    return { [name]: attribute.relation.endsWith('Many') ? [`\${${letters[at]}2}`] : `\${${letters[at]}2}` }
  }
  for (const [name, attribute] of Object.entries(type.attributes)) {
    if (attribute.type === 'component')
      data[name] = attribute.repeatable ? [entry(attribute.component, 1), entry(attribute.component, 1)] : entry(attribute.component, 1)
    if (attribute.type === 'dynamiczone')
      data[name] = attribute.components.map((/** @type {string} */ uid) => ({ __component: uid, ...entry(uid, 1) }))
    if (attribute.type === 'relation' && random.chance(0.6) && !ownerless.has(`${type.uid}.${name}`))
      Object.assign(data, link(name, attribute))
    if (attribute.type === 'integer') data[name] = random.integer(100)
  }
  return data
}
