// Reads after each change of hands, and the comparison of their responses.

import { isDeepStrictEqual } from 'node:util'

/** @typedef {{ status: number, body: any }} Answer */

const locales = ['en', 'fr', 'de']
/** Documents that are read one by one. */
const single = 80

/**
 * Lists of all types, in both states and all locales, flat, with everything on the first level and with two levels; then single documents.
 * @param {import('./handover-shapes.mjs').Shapes} shapes
 * @param {readonly import('./handover-writes.mjs').Known[]} world
 * @param {ReturnType<typeof import('../../bench/random.mjs').seededRandom>} random
 * @returns {readonly string[]}
 */
export function readsOf({ types, components }, world, random) {
  const paths = ['/api/i18n/locales', '/api/upload/files?sort=id', '/api/users?sort=id&populate=*']
  for (const shape of types) {
    const deep = deepPopulate(shape, components)
    for (const status of ['published', 'draft']) {
      for (const locale of shape.localized ? locales : ['']) {
        const version = `status=${status}${locale === '' ? '' : `&locale=${locale}`}`
        const list = shape.single ? '' : '&sort=id&pagination[pageSize]='
        paths.push(
          `/api/${shape.path}?${version}${list && `${list}100`}`,
          `/api/${shape.path}?${version}${list && `${list}50`}&populate=*`,
          `/api/${shape.path}?${version}${list && `${list}20`}&${deep}`,
          ...(shape.single ? [] : [`/api/${shape.path}?${version}&sort=id:desc&pagination[pageSize]=20&${deep}`]),
        )
      }
    }
  }
  for (let count = 0; count < single; count++) {
    const { shape, documentId, locale } = random.pick(world)
    const version = `status=${random.pick(['published', 'draft'])}${locale === null ? '' : `&locale=${locale}`}`
    paths.push(`/api/${shape.path}${shape.single ? '' : `/${documentId}`}?${version}&${deepPopulate(shape, components)}`)
  }
  return paths
}

/**
 * Everything below a document, and everything below that.
 * @param {import('./handover-shapes.mjs').Shape} shape
 * @param {import('./handover-shapes.mjs').Shapes['components']} components
 */
function deepPopulate({ attributes }, components) {
  const below = Object.entries(attributes).flatMap(([name, attribute]) => {
    if (attribute.type === 'component') {
      const nested = Object.values(components.get(attribute.component) ?? {}).some(({ type }) =>
        ['component', 'media', 'relation'].includes(type),
      )
      return [nested ? `populate[${name}][populate]=*` : `populate[${name}]=true`]
    }
    if (attribute.type === 'dynamiczone' || (attribute.type === 'relation' && attribute.target?.startsWith('api::')))
      return [`populate[${name}][populate]=*`]
    return attribute.type === 'relation' || attribute.type === 'media' ? [`populate[${name}]=true`] : []
  })
  return below.length === 0 ? 'populate=*' : below.join('&')
}

/** Attributes that Octavo never shows, and Strapi below the inverse side of polymorphic relations (docs/differences.md, Safer). */
const hidden = new Set(['pin', 'salary', 'secretCode', 'internalNote', 'hidden', 'password'])

/**
 * Below the inverse side of polymorphic relations Strapi shows the columns of rows unchanged, `locale: null` too. `localizations` in a
 * list of several locales lack those in the same list (docs/differences.md, Repaired): below the first level all lists may be such.
 * @param {string} key
 * @param {unknown} ours
 * @param {unknown} theirs
 * @param {string} path
 */
function isKnown(key, ours, theirs, path) {
  if (hidden.has(key) && ours === undefined) return true
  const isPolymorphic = /\/(comments|spotlight)(\/|$)/.test(path)
  if (isPolymorphic && key === 'locale' && ours === undefined && theirs === null) return true
  return key === 'localizations' && path.split('/').length > 4
}

/**
 * @param {readonly string[]} paths
 * @param {readonly Answer[]} ours
 * @param {readonly Answer[]} theirs
 * @returns {string[]} one line for each answer that differs
 */
export function differences(paths, ours, theirs) {
  return paths.flatMap((path, index) => {
    const different = firstDifference(ours[index], theirs[index], '')
    return different === null ? [] : [`${path}: ${different}`]
  })
}

/**
 * The locales of a document by id: Strapi asks for no order, and PostgreSQL returns changed rows last.
 * @param {string} key
 * @param {any} value
 */
function inOrder(key, value) {
  return key === 'localizations' && Array.isArray(value) ? [...value].sort((one, other) => one.id - other.id) : value
}

/**
 * @param {any} left
 * @param {any} right
 * @param {string} path
 * @returns {string | null}
 */
function firstDifference(left, right, path) {
  if (isDeepStrictEqual(left, right) || isSameInteger(left, right)) return null
  const both = [left, right]
  if (both.some((value) => typeof value !== 'object' || value === null)) {
    const [ours, theirs] = both.map((value) => String(JSON.stringify(value)).slice(0, 120))
    return `${path} is ${ours} in Octavo, ${theirs} in Strapi`
  }
  for (const key of new Set(both.flatMap(Object.keys))) {
    if (isKnown(key, left[key], right[key], path)) continue
    const different = firstDifference(inOrder(key, left[key]), inOrder(key, right[key]), `${path}/${key}`)
    if (different !== null) return different
  }
  return null
}

/**
 * Strapi rounds big integers to doubles (docs/differences.md, Repaired).
 * @param {unknown} left
 * @param {unknown} right
 */
function isSameInteger(left, right) {
  return [left, right].every((value) => typeof value === 'string' && /^-?\d{16,}$/.test(value)) && Number(left) === Number(right)
}
