// Names of tables and columns in Strapi 5's layout; long names are shortened as in Strapi.

import { createHash } from 'node:crypto'
import snakeCase from 'lodash/snakeCase.js'
import { customAlphabet } from 'nanoid'
import type { SchemaSource } from './types.js'

/** The longest name of a table, column or index in Strapi 5, in characters. */
const maxLength = 55
const hashLength = 5
const shortestPart = 3

/** A part of a name; parts with `keep` are never shortened (`lnk`, `id`, `inv`, …). */
interface Part {
  readonly text: string
  readonly keep?: boolean
}

/** Converts a name to snake_case as in column names: `uString` → `u_string`, `line2` → `line_2`. */
export function snake(name: string): string {
  return snakeCase(name)
}

/** Returns the table's name before shortening: the schema's collectionName, or the singular name. */
export function collectionName(schema: SchemaSource): string {
  if (schema.collectionName !== undefined) return schema.collectionName
  return schema.kind === 'component' ? schema.uid.replace(/[-.]/g, '_') : (schema.info.singularName ?? schema.uid)
}

function shorten(text: string, length: number): string {
  if (text.length <= length) return text
  if (length < shortestPart + hashLength) throw new Error(`the name "${text}" cannot be shortened to ${length} characters`)
  const hash = createHash('shake256', { outputLength: Math.ceil(hashLength / 2) })
    .update(text)
    .digest('hex')
    .slice(0, hashLength)
  return text.slice(0, length - hashLength) + hash
}

/** Joins parts with `_`; if the result exceeds 55 characters, the ends of long parts are replaced by a hash. */
export function joinName(parts: readonly Part[]): string {
  const full = parts.map((part) => part.text).join('_')
  if (full.length <= maxLength) return full
  const kept = parts.filter((part) => part.keep)
  const flexible = parts.filter((part) => !part.keep)
  const available = maxLength - (parts.length - 1) - kept.reduce((sum, part) => sum + part.text.length, 0)
  const share = Math.floor(available / flexible.length)
  let surplus = (available % flexible.length) + flexible.reduce((sum, part) => sum + Math.max(0, share - part.text.length), 0)
  return parts
    .map((part) => {
      if (part.keep || part.text.length <= share) return part.text
      const length = Math.min(part.text.length, share + surplus)
      surplus -= length - share
      return shorten(part.text, length)
    })
    .join('_')
}

const word = (text: string): Part => ({ text })
const fixed = (text: string): Part => ({ text, keep: true })

/** The table of a type or component. */
export const tableName = (collectionName: string): string => joinName([word(collectionName)])
/** The column of a scalar attribute. */
export const columnName = (attribute: string): string => joinName([word(snake(attribute))])
/** The link table of a relation. */
export const linkTable = (table: string, attribute: string): string => joinName([word(snake(table)), word(snake(attribute)), fixed('lnk')])
/** The table of a morphToMany relation. */
export const morphTable = (table: string, attribute: string): string => joinName([word(snake(table)), word(snake(attribute)), fixed('mph')])
/** The table of component and dynamic-zone entries. */
export const componentTable = (collectionName: string): string => joinName([word(collectionName), fixed('cmps')])
/** The id column of one side in a link table. */
export const idColumn = (name: string): string => joinName([word(snake(name)), fixed('id')])
/** The id column of the other side, if both have the same name. */
export const inverseIdColumn = (name: string): string => joinName([fixed('inv'), word(snake(name)), fixed('id')])
/** The order column of a link table. */
export const orderColumn = (name: string): string => joinName([word(snake(name)), fixed('ord')])
/** The order column of the other side, if both have the same name. */
export const inverseOrderColumn = (name: string): string => joinName([fixed('inv'), word(snake(name)), fixed('ord')])
/** The column with the target id of a polymorphic relation. */
export const morphIdColumn = (name: string): string => joinName([word(snake(name)), fixed('id')])
/** The column with the target type of a polymorphic relation. */
export const morphTypeColumn = (name: string): string => joinName([word(snake(name)), fixed('type')])
/** The index of a table. */
export const indexName = (table: string, suffix: string): string => joinName([word(table), fixed(suffix)])
/** The index of a column. */
export const columnIndexName = (table: string, column: string, suffix: string): string =>
  joinName([word(table), word(column), fixed(suffix)])

/** Returns the default name of a locale, as in Strapi: `French (fr)`, `English (United Kingdom) (en-GB)`. */
export function localeName(code: string): string {
  const names = new Intl.DisplayNames(['en'], { type: 'language', languageDisplay: 'standard' })
  try {
    return `${names.of(code) ?? code} (${code})`
  } catch {
    // The code is not a valid language code.
    return code
  }
}

const letters = 'abcdefghijklmnopqrstuvwxyz'
const first = customAlphabet(letters, 1)
const others = customAlphabet(`${letters}0123456789`, 23)

/** Generates a documentId with 124 random bits from the system's secure source. */
export const newDocumentId = (): string => first() + others()
