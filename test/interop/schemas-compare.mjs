// Content of a database and of responses in a form without ids and times; and the differences between two of them.

import Database from 'better-sqlite3'

/** The tables with a prefix in their names, each as lines: columns, indexes and foreign keys. @param {string} file @param {string} prefix */
export function tablesIn(file, prefix) {
  const database = new Database(file, { readonly: true })
  try {
    const names = /** @type {string[]} */ (
      database.prepare("select name from sqlite_master where type = 'table' order by name").pluck().all()
    )
    return Object.fromEntries(
      names.filter((name) => name.replaceAll('_', '').toLowerCase().includes(prefix)).map((name) => [name, linesOf(database, name)]),
    )
  } finally {
    database.close()
  }
}

/** @param {import('better-sqlite3').Database} database @param {string} table */
function linesOf(database, table) {
  const rows = (/** @type {string} */ pragma) => /** @type {any[]} */ (database.pragma(pragma))
  return [
    ...rows(`table_info("${table}")`).map(
      ({ name, type, notnull, dflt_value }) =>
        `${name} ${type.toLowerCase()}${notnull ? ' not null' : ''}${dflt_value === null ? '' : ` default ${dflt_value}`}`,
    ),
    ...rows(`index_list("${table}")`)
      .filter(({ name }) => !/^(?:sqlite|octavo)_/.test(name))
      .map(({ name, unique }) => `index ${name} (${rows(`index_info("${name}")`).map((column) => column.name)})${unique ? ' unique' : ''}`)
      .sort(),
    ...new Set(
      rows(`foreign_key_list("${table}")`)
        .map((key) => `${key.from} -> ${key.table}.${key.to} ${key.on_delete.toLowerCase()}`)
        .sort(),
    ),
  ]
}

const times = new Set(['createdAt', 'updatedAt', 'publishedAt'])

/** A body without ids and times; documents are named in order of appearance. @param {unknown} value @param {Map<string, string>} documents @returns {unknown} */
export function withoutIds(value, documents) {
  if (Array.isArray(value)) return value.map((entry) => withoutIds(entry, documents))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'id') return []
    if (times.has(key)) return [[key, inner === null ? null : 'a time']]
    if (key !== 'documentId' || typeof inner !== 'string') return [[key, withoutIds(inner, documents)]]
    if (!documents.has(inner)) documents.set(inner, `document ${documents.size + 1}`)
    return [[key, documents.get(inner)]]
  })
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The compared parts of a response. @param {{ status: number, body: any }} response @param {Map<string, string>} documents */
export const comparable = ({ status, body }, documents) => ({
  status,
  body: status < 400 ? withoutIds(body, documents) : { message: body?.error?.message ?? null },
})

/** The tables that differ, as lines. @param {Record<string, readonly string[]>} expected @param {Record<string, readonly string[]>} actual */
export function tableDifferences(expected, actual) {
  return [...new Set([...Object.keys(expected), ...Object.keys(actual)])].flatMap((name) => {
    const [theirs, ours] = [new Set(expected[name] ?? []), new Set(actual[name] ?? [])]
    if (expected[name] === undefined) return [`+ ${name}`]
    if (actual[name] === undefined) return [`- ${name}`]
    return [
      ...[...theirs].filter((line) => !ours.has(line)).map((line) => `- ${name}: ${line}`),
      ...[...ours].filter((line) => !theirs.has(line)).map((line) => `+ ${name}: ${line}`),
    ]
  })
}

/** Sends the requests of a schema; documents that it names are filled in. @param {readonly import('./schemas-strapi.mjs').Request[]} requests @param {(request: import('./schemas-strapi.mjs').Request) => Promise<{ status: number, body: any }>} ask */
export async function converse(requests, ask) {
  /** @type {Record<string, string>} */
  const known = {}
  const fill = (/** @type {string} */ text) => text.replaceAll(/\$\{(\w+)\}/g, (_, name) => known[name] ?? 'absent')
  const documents = new Map()
  const responses = []
  for (const { method, path, body, as } of requests) {
    const filled = body === undefined ? {} : { body: JSON.parse(fill(JSON.stringify(body))) }
    const response = await ask({ method, path: fill(path), ...filled })
    if (as !== undefined) known[as] = response.body?.data?.documentId ?? 'absent'
    responses.push(comparable(response, documents))
  }
  return responses
}
