// Nested data as a query string in the notation of the API, and back: `filters[title][$eq]=Tea`.

/** A parsed value. */
export type QueryData = string | readonly QueryData[] | { readonly [name: string]: QueryData }

/** Parameters, and names in brackets, that are read from an address. */
const maxParameters = 500
const maxDepth = 20

/** Returns a query string without `?`; null and undefined are left out. */
export function writeQuery(query: Readonly<Record<string, unknown>>): string {
  const pairs: string[] = []
  const add = (name: string, value: unknown): void => {
    if (value === null || value === undefined) return
    if (Array.isArray(value)) for (const [index, item] of value.entries()) add(`${name}[${index}]`, item)
    else if (typeof value === 'object') for (const [key, item] of Object.entries(value)) add(`${name}[${key}]`, item)
    else pairs.push(`${encode(name)}=${encode(String(value))}`)
  }
  for (const [name, value] of Object.entries(query)) add(name, value)
  return pairs.join('&')
}

/** Legible in the address bar: brackets, `$`, `:`, `,` and `*` stay as they are. */
const encode = (text: string): string =>
  encodeURIComponent(text)
    .replaceAll(/%(?:5B|5D|24|3A|2C|2A)/gi, (code) => decodeURIComponent(code))
    .replaceAll('%20', '+')

type Tree = Map<string, string | Tree>

/** Returns the data of a query string. Objects whose names count from zero are lists; the last of several equal names holds. */
export function readQuery(search: string): Readonly<Record<string, QueryData>> {
  const tree: Tree = new Map()
  for (const [name, value] of [...new URLSearchParams(search)].slice(0, maxParameters)) {
    const path = partsOf(name)
    if (path !== null) put(tree, path, value)
  }
  return Object.fromEntries([...tree].map(([name, value]) => [name, dataOf(value)]))
}

/** The names of `filters[title][$eq]`; null for a malformed name. */
function partsOf(name: string): readonly string[] | null {
  const [, first, rest] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? []
  if (first === undefined || rest === undefined) return null
  const parts = [first, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, part]) => part!)]
  return parts.length > maxDepth || parts.includes('__proto__') ? null : parts
}

function put(tree: Tree, [name, ...rest]: readonly string[], value: string): void {
  const key = name === '' ? String(tree.size) : name!
  if (rest.length === 0) {
    tree.set(key, value)
    return
  }
  const inner = tree.get(key)
  if (inner instanceof Map) put(inner, rest, value)
  else {
    const made: Tree = new Map()
    tree.set(key, made)
    put(made, rest, value)
  }
}

function dataOf(value: string | Tree): QueryData {
  if (typeof value === 'string') return value
  const entries = [...value].map(([name, inner]) => [name, dataOf(inner)] as const)
  const isList = entries.every(([name], index) => name === String(index))
  return isList ? entries.map(([, inner]) => inner) : Object.fromEntries(entries)
}
