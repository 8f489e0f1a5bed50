// Reads the lines of an archive: JSON of a known form, or a sentence that says where it is not.
import { ConfigError } from '../../foundation/errors/errors.js'
import { checkStructure } from '../../foundation/runtime/json-structure.js'
import type { LinkLine } from './format.js'
import { idOf } from './imported-rows.js'
import { membersOf } from './json-parts.js'
import type { ArchiveLine } from './lines.js'

/** Levels of a JSON document. */
const bodyDepth = 500
const bounds = { bodyDepth, bodyValues: Number.POSITIVE_INFINITY, bodyKeys: Number.POSITIVE_INFINITY }

/** Parses a line. @throws ConfigError if it is not JSON, or nested too deeply */
export function parsedLine({ text, where }: ArchiveLine): unknown {
  try {
    checkStructure(Buffer.from(text), bounds)
    return JSON.parse(text)
  } catch (error) {
    throw new ConfigError(`${where} is not JSON: ${(error as Error).message}. Nothing was changed`)
  }
}

/** An entity: its type, its row id, and the JSON text of its attributes. */
export interface EntityLine {
  readonly type: string
  readonly id: number
  readonly data: string
}

/** Reads a line of `entities/`. @throws ConfigError for anything else */
export function entityIn(line: ArchiveLine): EntityLine {
  parsedLine(line)
  const members = membersOf(line.text)
  const type = stringIn(members?.get('type'))
  const data = members?.get('data')
  if (type === null || data === undefined) throw new ConfigError(`${line.where} is not an entity. Nothing was changed`)
  return { type, id: idOf(members?.get('id'), line.where), data }
}

const stringIn = (json: string | undefined): string | null => (json?.startsWith('"') === true ? (JSON.parse(json) as string) : null)

type Fields = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

const isText = (value: unknown): value is string => typeof value === 'string'
const isPlace = (value: unknown): boolean => value === undefined || (typeof value === 'number' && Number.isFinite(value))

/** Reads a line of `links/`. @throws ConfigError for anything else */
export function linkIn(line: ArchiveLine): LinkLine {
  const value = parsedLine(line)
  if (!isObject(value) || !isObject(value.left) || !isObject(value.right)) throw notALink(line)
  const { left, right } = value
  // Strapi writes null where a table has no such column.
  const places = [left.pos ?? undefined, right.pos ?? undefined]
  const isWhole =
    [value.kind, value.relation, left.type, left.field, right.type].every(isText) &&
    (right.field === undefined || right.field === null || isText(right.field)) &&
    [left.ref, right.ref].every((ref) => isText(ref) || Number.isSafeInteger(ref)) &&
    places.every(isPlace)
  if (!isWhole) throw notALink(line)
  return value as unknown as LinkLine
}

const notALink = ({ where }: ArchiveLine): ConfigError => new ConfigError(`${where} is not a relation. Nothing was changed`)

/** A setting, a webhook, or a row of one of Octavo's tables: its type, and the members of its value as JSON texts. */
export interface ValueLine {
  readonly type: string
  readonly value: ReadonlyMap<string, string>
}

/** Reads a line of `configuration/` or `octavo/`. @throws ConfigError for anything else */
export function valueIn(line: ArchiveLine): ValueLine {
  parsedLine(line)
  const members = membersOf(line.text)
  const type = stringIn(members?.get('type'))
  const value = membersOf(members?.get('value') ?? 'null')
  if (type === null || value === null) throw new ConfigError(`${line.where} is not as Strapi writes it. Nothing was changed`)
  return { type, value }
}
