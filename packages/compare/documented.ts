// Differences documented in docs/differences.md, by section and start of the row. They are listed separately and do not count as findings.
import type { Difference } from './differences.js'
import { getErrorMessage, isFreeOrder, type ResponsePair } from './response-pair.js'

export interface DocumentedRow {
  readonly section: string
  /** Text from the first column of the row; empty: the whole section. */
  readonly row: string
}

interface Rule extends DocumentedRow {
  matches(difference: Difference, pair: ResponsePair): boolean
}

const statuses = (strapi: number | readonly number[], octavo: number): Rule['matches'] => {
  const theirs = [strapi].flat()
  return ({ kind }, pair) => kind === 'status' && theirs.includes(pair.strapi.status) && pair.octavo.status === octavo
}

/** Octavo refuses, with a message of this form, what Strapi accepts. */
const refuses = (message: RegExp, path = /^/): Rule['matches'] => {
  const isRefusal = statuses([200, 404], 400)
  return (difference, pair) => isRefusal(difference, pair) && message.test(getErrorMessage(pair.octavo)) && path.test(decodedUrl(pair))
}

const decodedUrl = ({ path, parameters }: ResponsePair): string => `${path}?${JSON.stringify(parameters)}`

const isAt =
  (pattern: RegExp): Rule['matches'] =>
  (difference) =>
    pattern.test(difference.pattern)

const senseless = /^(?:Invalid (?:number|format|value|date|time|order|fields parameter)|\$\w+ (?:takes|joins)|The operator )/

/** The first match wins. */
export const documentedRows: readonly Rule[] = [
  { section: '400 in place of 500', row: '', matches: statuses(500, 400) },
  {
    section: 'Repaired',
    row: 'a sort key through a relation, inside a populate',
    matches: (difference, pair) => statuses(500, 200)(difference, pair) && /"populate":.*"sort":/.test(decodedUrl(pair)),
  },
  {
    section: 'Repaired',
    row: '`$not` below a relation',
    matches: (difference, pair) => statuses(500, 200)(difference, pair) && /"\$not":/.test(decodedUrl(pair)),
  },
  { section: 'Response metadata', row: '`GET /`', matches: ({ kind }, { path }) => kind === 'status' && (path === '/' || path === '') },
  { section: 'Response metadata', row: '`/admin`', matches: ({ kind }, { path }) => kind === 'status' && /^\/admin(?:\/|$)/.test(path) },
  {
    section: 'Response metadata',
    row: '`GET /api/content-type-builder/content-types`',
    matches: ({ kind }, { addressed }) => kind !== 'status' && addressed?.segment === 'content-type-builder',
  },
  {
    section: 'Safer',
    row: 'an object in place of a value',
    matches: refuses(/not an object|takes a list of filters|^Invalid key \d{3,}|^Invalid value for \w+/),
  },
  { section: 'Repaired', row: '`populate[role]=*` at `/users`', matches: refuses(/^Invalid key /, /\/users\b.*populate/) },
  {
    section: 'Repaired',
    row: 'a list whose only entry is the star',
    matches: ({ kind }, { strapi, octavo }) =>
      kind === 'status' && strapi.status === 400 && octavo.status === 200 && getErrorMessage(strapi).startsWith('Invalid key *'),
  },
  {
    section: 'Repaired',
    row: 'values of conditions inside a populate that make no sense',
    matches: refuses(senseless, /"populate"|\/upload\/files\//),
  },
  {
    section: 'Repaired',
    row: 'a request with several errors',
    matches: ({ kind, pattern }, { strapi }) => kind === 'value' && strapi.status === 400 && pattern.startsWith('error.'),
  },
  { section: 'Repaired', row: 'order where nothing is asked for', matches: (difference, pair) => isFreeOrder(difference, pair) },
  { section: 'Repaired', row: '64-bit integers', matches: isRounded },
  {
    section: 'Repaired',
    row: '`populate[localizations]` in a list of several locales',
    matches: ({ kind, pattern }) => kind === 'added' && /\blocalizations\[\*\]$/.test(pattern),
  },
  {
    section: 'Repaired',
    row: '`populate[tags][count]=true`',
    matches: ({ kind, pattern, strapi, octavo }) => kind === 'value' && /\.count$/.test(pattern) && Number(strapi) > Number(octavo),
  },
  {
    section: 'Repaired',
    row: '`populate[tags][fields]=name` with an attribute `order`',
    matches: ({ kind, pattern }) => kind === 'missing' && /\[\*\]\.order$/.test(pattern),
  },
  {
    section: 'Repaired',
    row: '`_` in `_q`',
    matches: ({ kind, pattern }, { parameters }) =>
      kind !== 'status' && String(parameters._q ?? '').includes('_') && /^(?:data|meta)\b/.test(pattern),
  },
  {
    section: 'Writing',
    row: '`publicationFilter=modified`',
    matches: ({ pattern }, { parameters }) =>
      /^(?:un)?modified$/.test(String(parameters.publicationFilter)) && (pattern === '' || /^(?:data|meta)\b/.test(pattern)),
  },
  { section: 'Writing', row: '`true` and `false` as JSON values', matches: isNumberForBoolean },
  {
    section: 'Safer',
    row: 'page size when nothing is configured',
    matches: ({ pattern, strapi, octavo }) =>
      /^meta\.pagination\.(?:pageSize|limit)$/.test(pattern) && octavo === 100 && Number(strapi) > 100,
  },
  { section: 'Not there', row: '`createdBy` and `updatedBy`', matches: isAt(/\b(?:createdBy|updatedBy)\b/) },
]

/** The row that documents a difference, or null. */
export function documentedRow(difference: Difference, pair: ResponsePair): DocumentedRow | null {
  const found = documentedRows.find(({ matches }) => matches(difference, pair))
  return found === undefined ? null : { section: found.section, row: found.row }
}

function isRounded({ kind, strapi, octavo }: Difference): boolean {
  const areTexts = typeof strapi === 'string' && typeof octavo === 'string'
  return kind === 'value' && areTexts && /^-?\d{16,}$/.test(octavo) && Number(strapi) === Number(octavo)
}

function isNumberForBoolean({ kind, strapi, octavo, path }: Difference): boolean {
  return kind === 'value' && typeof octavo === 'boolean' && strapi === Number(octavo) && path.length > 3
}
