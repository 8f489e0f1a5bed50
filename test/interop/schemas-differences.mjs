// The differences between Strapi's responses and Octavo's that docs/differences.md names, by what the schemas and requests look like.

import { isDeepStrictEqual } from 'node:util'

/** @typedef {{ uid: string, attributes: Record<string, any> }} Shape */

const isPlain = (/** @type {any} */ { type, relation }) => type === 'relation' && !String(relation).startsWith('morph')

/** The relations that get no table in Strapi, as `uid.name`: they have `mappedBy`, and no side gives them one. @param {readonly Shape[]} shapes @returns {ReadonlySet<string>} */
export function withoutOwner(shapes) {
  const given = new Set(
    shapes.flatMap(({ attributes }) =>
      Object.values(attributes).flatMap((one) => (isPlain(one) && one.inversedBy !== undefined ? [`${one.target}.${one.inversedBy}`] : [])),
    ),
  )
  return new Set(
    shapes.flatMap(({ uid, attributes }) =>
      Object.entries(attributes).flatMap(([name, one]) => {
        const isOwner = one.relation === 'manyToOne' || one.inversedBy !== undefined || one.mappedBy === undefined
        return isPlain(one) && !isOwner && !given.has(`${uid}.${name}`) ? [`${uid}.${name}`] : []
      }),
    ),
  )
}

const isOwner = (/** @type {any} */ { relation, inversedBy, mappedBy }) =>
  relation === 'manyToOne' || inversedBy !== undefined || mappedBy === undefined

/** All relations between two types, with the paths of their other sides. @param {readonly Shape[]} shapes */
const relationsOf = (shapes) =>
  shapes.flatMap(({ uid, attributes }) =>
    Object.entries(attributes).flatMap(([name, one]) =>
      isPlain(one)
        ? [
            {
              name,
              one,
              path: `${uid}.${name}`,
              gives: one.inversedBy === undefined ? null : `${one.target}.${one.inversedBy}`,
              follows: `${one.target}.${one.mappedBy}`,
            },
          ]
        : [],
    ),
  )

/** The names of relations whose links have two owners, and of their other sides. @param {readonly Shape[]} shapes */
function withTwoOwners(shapes) {
  const all = relationsOf(shapes)
  const contested = all
    .filter(({ path, one }) => all.filter(({ gives }) => gives === path).length + (isOwner(one) ? 1 : 0) > 1)
    .map(({ path }) => path)
  const given = all.filter(({ path }) => contested.includes(path)).map(({ gives }) => gives)
  return new Set(
    all
      .filter(({ path, gives }) => [path, String(gives)].some((one) => contested.includes(one)) || given.includes(path))
      .map(({ name }) => name),
  )
}

/** The names of relations that are a column, and of their other sides. @param {readonly Shape[]} shapes */
function withColumn(shapes) {
  const all = relationsOf(shapes)
  const columns = all.filter(({ one }) => one.useJoinTable === false)
  const isOther = (/** @type {string} */ path, /** @type {string} */ follows) =>
    columns.some((column) => column.gives === path || column.path === follows)
  return new Set(all.filter(({ path, one, follows }) => one.useJoinTable === false || isOther(path, follows)).map(({ name }) => name))
}

/** True if an `inversedBy` names an attribute that does not lead back: Strapi reads links of other types through it. @param {readonly Shape[]} shapes */
const hasAstray = (shapes) =>
  shapes.some(({ uid, attributes }) =>
    Object.values(attributes).some(
      (one) =>
        isPlain(one) &&
        one.inversedBy !== undefined &&
        shapes.find((shape) => shape.uid === one.target)?.attributes[one.inversedBy]?.target !== uid,
    ),
  )

/** @param {any} schema @returns {readonly Shape[]} */
const shapesOf = ({ files, user }) => [
  ...Object.entries(files).map(([path, { attributes }]) => {
    const [, folder, api, , name] = path.split('/')
    return { uid: folder === 'api' ? `api::${api}.${name}` : path, attributes }
  }),
  { uid: 'plugin::users-permissions.user', attributes: user },
]

/** A body without attributes of these names. @param {unknown} value @param {ReadonlySet<string>} names @returns {unknown} */
function without(value, names) {
  if (Array.isArray(value)) return value.map((entry) => without(entry, names))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).flatMap(([key, inner]) => (names.has(key) ? [] : [[key, without(inner, names)]])))
}

/**
 * Compares the responses of a schema. For two responses it returns null if they are alike, the name of their difference, or
 * undefined if it has none.
 * @param {any} schema
 */
export function namesOfDifferences(schema) {
  const shapes = shapesOf(schema)
  const hidden = new Set([...withoutOwner(shapes)].map((path) => path.slice(path.lastIndexOf('.') + 1)))
  const isAstray = hasAstray(shapes)
  const columns = withColumn(shapes)
  const families = /** @type {const} */ ([
    ['a side with mappedBy whose owner has no inversedBy, or a relation without a table', hidden],
    ['a relation with two owners', withTwoOwners(shapes)],
    ['a relation with a column', columns],
  ])
  // The stored data may differ since an earlier request.
  let isElsewhere = false
  /** @param {any} request @param {any} theirs @param {any} ours @returns {string | null | undefined} */
  return (request, theirs, ours) => {
    if (theirs.status === ours.status && (theirs.status >= 400 || isDeepStrictEqual(theirs.body, ours.body)) && !theirs.ends) return null
    if (ours.status >= 500) return undefined
    if (theirs.status >= 500 || theirs.ends) {
      if (request.method !== 'GET') isElsewhere = true
      return 'Strapi fails'
    }
    if (/relation\(s\) of type .* do not exist/.test(theirs.body.message) && columns.size > 0 && request.method !== 'GET') {
      isElsewhere = true
      return 'a documentId in a relation with a column'
    }
    if (isElsewhere) return 'after a write that fails in Strapi'
    if (isAstray) return 'inversedBy leads elsewhere'
    const [, query = ''] = request.path.split('?')
    for (const [family, names] of families) {
      const isCondition = [...names].some((name) => query.includes(`[${name}]`) || query.includes(`=${name}.`))
      if (isCondition || (theirs.status === ours.status && isDeepStrictEqual(without(theirs.body, names), without(ours.body, names))))
        return family
    }
    return undefined
  }
}
