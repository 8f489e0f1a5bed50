// Content of an archive with document ids in place of row ids: two archives of the same content are equal, regardless of their origin.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @typedef {object} ArchiveContent
 * @property {Map<string, string>} entities JSON of each entity by its type, document, locale and state, and of components by their places
 * @property {Map<string, number>} relations how often each relation is there
 * @property {Map<string, string>} files checksums by name
 */

/**
 * @param {string} folder
 * @param {string} kind
 * @returns {any[]}
 */
function linesOf(folder, kind) {
  if (!existsSync(join(folder, kind))) return []
  return readdirSync(join(folder, kind))
    .sort()
    .flatMap((file) => readFileSync(join(folder, kind, file), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/**
 * @param {string} folder an unpacked archive
 * @returns {ArchiveContent}
 */
export function contentOfArchive(folder) {
  /** @type {Map<string, string>} */
  const names = new Map()
  /** @type {Map<string, any>} */
  const schemas = new Map(linesOf(folder, 'schemas').map((schema) => [schema.uid, schema]))
  /** @type {Map<string, string>} */
  const entities = new Map()
  for (const { type, id, data } of linesOf(folder, 'entities')) {
    const name = `${type} ${data.documentId} ${data.locale ?? '-'} ${data.publishedAt === null ? 'draft' : 'published'}`
    names.set(`${type} ${id}`, name)
    entities.set(name, JSON.stringify(withoutIds(schemas, names, type, data, name)))
  }
  /** @type {Map<string, number>} */
  const relations = new Map()
  for (const { kind, left, right } of linesOf(folder, 'links')) {
    if (left.field === 'localizations') continue
    const ends = [left, right].map(({ type, ref, field, pos }) => [
      names.get(`${type} ${ref}`) ?? `${type} nobody`,
      field ?? null,
      pos ?? null,
    ])
    const text = JSON.stringify([kind, ...ends])
    relations.set(text, (relations.get(text) ?? 0) + 1)
  }
  const uploads = join(folder, 'assets', 'uploads')
  const files = existsSync(uploads) ? readdirSync(uploads) : []
  const sums = files.map(
    (name) =>
      /** @type {const} */ ([
        name,
        createHash('sha256')
          .update(readFileSync(join(uploads, name)))
          .digest('hex'),
      ]),
  )
  return { entities, relations, files: new Map(sums) }
}

/**
 * An object without the ids of components, which are noted by their places.
 * @param {Map<string, any>} schemas
 * @param {Map<string, string>} names
 * @param {string} uid
 * @param {Record<string, any>} data
 * @param {string} place
 * @returns {Record<string, any>}
 */
function withoutIds(schemas, names, uid, data, place) {
  const attributes = schemas.get(uid)?.attributes ?? {}
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => {
      const { type, component } = attributes[key] ?? {}
      // Strapi writes moments before 1970 as milliseconds, Octavo as dates.
      if (type === 'timestamp' && /^-\d+$/.test(value)) return [key, new Date(Number(value)).toISOString()]
      if ((type !== 'component' && type !== 'dynamiczone') || value === null) return [key, value]
      const list = [value].flat().map((/** @type {any} */ { id, ...rest }, /** @type {number} */ index) => {
        const inner = rest.__component ?? component
        const there = `${place} ${key}[${index}]`
        names.set(`${inner} ${id}`, there)
        return withoutIds(schemas, names, inner, rest, there)
      })
      return [key, list]
    }),
  )
}

/**
 * In what two contents differ, shortened.
 * @param {ArchiveContent} one
 * @param {ArchiveContent} other
 * @returns {string[]}
 */
export function archiveDifferences(one, other) {
  const parts = /** @type {const} */ (['entities', 'relations', 'files'])
  return parts.flatMap((part) => {
    const [here, there] = [/** @type {Map<string, unknown>} */ (one[part]), /** @type {Map<string, unknown>} */ (other[part])]
    return [...new Set([...here.keys(), ...there.keys()])].flatMap((key) => {
      const [mine, others] = [here.get(key), there.get(key)]
      return mine === others ? [] : [`${part} ${key}: ${shortened(mine, others)}`]
    })
  })
}

/**
 * @param {unknown} mine
 * @param {unknown} others
 */
function shortened(mine, others) {
  if (typeof mine !== 'string' || typeof others !== 'string') return `${mine} and ${others}`.slice(0, 300)
  const at = [...mine].findIndex((character, index) => character !== others[index])
  return `${mine.slice(Math.max(0, at - 60), at + 60)} and ${others.slice(Math.max(0, at - 60), at + 60)}`
}
