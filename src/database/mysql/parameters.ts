// What the values of a statement stand beside: neither server tells the types of parameters, so they are told from the columns that
// values are compared with, assigned to or inserted into. Only moments have another literal.
import type { LiteralKind } from './literals.js'

/** The columns of moments by table. */
export type Moments = ReadonlyMap<string, ReadonlyMap<string, boolean>>

/** A statement whose values can be put in: the texts around them, and what each stands beside. */
export interface StatementParts {
  readonly texts: readonly string[]
  readonly kinds: readonly LiteralKind[]
}

/** Literals, names, words, numbers, operators; a `?` in a literal or a name is none. */
const tokenForm = /'(?:[^'\\]|\\.|'')*'|"(?:[^"]|"")*"|[A-Za-z_][\w$]*|\d+(?:\.\d+)?|<=>|<=|>=|<>|!=|\|\||[^\s]/gs

interface Token {
  readonly text: string
  readonly start: number
}

const comparisons: ReadonlySet<string> = new Set(['=', '<=>', '<', '<=', '>', '>=', '<>', '!='])

/** Words behind which tables are named. */
const beforeTables: ReadonlySet<string> = new Set(['from', 'join', 'straight_join', 'update', 'into'])

/** Words that follow a table and are no alias of it. */
const noAliases: ReadonlySet<string> = new Set([
  ...[
    'where',
    'set',
    'on',
    'join',
    'straight_join',
    'left',
    'cross',
    'order',
    'group',
    'limit',
    'union',
    'select',
    'values',
    'having',
    'as',
  ],
  ...['except', 'duplicate'],
])

const isName = (text: string | undefined): boolean => text !== undefined && (text.startsWith('"') || /^[A-Za-z_]/.test(text))
const nameOf = (text: string): string => (text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text)

/** A statement under examination. */
interface Examined {
  readonly tokens: readonly Token[]
  /** Tables by how they are called; by an empty name all of them. */
  readonly tables: ReadonlyMap<string, ReadonlySet<string>>
  readonly moments: Moments
}

/** Takes a statement apart. @throws Error for a value whose column could be a moment or not */
export function partsOf(text: string, moments: Moments): StatementParts {
  const tokens = [...text.matchAll(tokenForm)].map((match) => ({ text: match[0], start: match.index }))
  const examined: Examined = { tokens, tables: tablesOf(tokens), moments }
  const inserted = insertedOf(examined)
  const texts: string[] = []
  const kinds: LiteralKind[] = []
  let end = 0
  tokens.forEach((token, at) => {
    if (token.text !== '?') return
    texts.push(text.slice(end, token.start))
    kinds.push((inserted.get(at) ?? isBesideMoment(examined, at)) ? 'moment' : 'plain')
    end = token.start + 1
  })
  texts.push(text.slice(end))
  return { texts, kinds }
}

function tablesOf(tokens: readonly Token[]): ReadonlyMap<string, ReadonlySet<string>> {
  const tables = new Map<string, Set<string>>([['', new Set()]])
  const call = (alias: string, table: string) => tables.set(alias, (tables.get(alias) ?? new Set()).add(table))
  tokens.forEach(({ text }, at) => {
    if (!beforeTables.has(text.toLowerCase())) return
    let place = at + 1
    while (tokens[place]?.text === '(') place++
    const table = tokens[place]?.text
    if (!isName(table) || table === 'select') return
    if (tokens[place + 1]?.text.toLowerCase() === 'as') place++
    const alias = tokens[place + 1]?.text
    const name = nameOf(table!)
    for (const each of ['', name]) call(each, name)
    if (isName(alias) && !noAliases.has(alias!.toLowerCase())) call(nameOf(alias!), name)
  })
  return tables
}

/** Whether a column holds moments. @throws Error where the statement does not say which of several columns is meant */
function isMoment({ tables, moments }: Examined, column: string, of = ''): boolean {
  const found = [...(tables.get(of) ?? [])].flatMap((table) => {
    const known = moments.get(table)?.get(column)
    return known === undefined ? [] : [known]
  })
  if (found.includes(true) && found.includes(false)) throw new Error(`Several columns could be meant by ${column}`)
  return found[0] ?? false
}

/** Whether the name that ends, or begins, at a token is a column of moments. */
function isMomentAt(examined: Examined, at: number, direction: 'ends' | 'begins'): boolean {
  const textAt = (place: number): string | undefined => examined.tokens[place]?.text
  if (!isName(textAt(at))) return false
  const isQualified = textAt(direction === 'ends' ? at - 1 : at + 1) === '.'
  if (!isQualified) return isMoment(examined, nameOf(textAt(at)!))
  const [table, column] = direction === 'ends' ? [textAt(at - 2), textAt(at)] : [textAt(at), textAt(at + 2)]
  return isName(table) && isName(column) && isMoment(examined, nameOf(column!), nameOf(table!))
}

/** Whether a value is compared with, or becomes, what a column of moments holds. */
function isBesideMoment(examined: Examined, at: number): boolean {
  const { tokens } = examined
  const word = (place: number): string => tokens[place]?.text.toLowerCase() ?? ''
  const before = word(at - 1)
  if (comparisons.has(before)) return isMomentAt(examined, at - 2, 'ends')
  if (comparisons.has(word(at + 1))) return isMomentAt(examined, at + 2, 'begins')
  if (before === 'between') return isMomentAt(examined, at - (word(at - 2) === 'not' ? 3 : 2), 'ends')
  if (before === 'and' && word(at - 3) === 'between') return isMomentAt(examined, at - (word(at - 4) === 'not' ? 5 : 4), 'ends')
  // `case when c > ? then c else ? end`
  if (before === 'else') return isMomentAt(examined, at - 2, 'ends')
  let place = at - 1
  while (tokens[place]?.text === ',' || tokens[place]?.text === '?') place--
  if (word(place) !== '(' || word(place - 1) !== 'in') return false
  return isMomentAt(examined, place - (word(place - 2) === 'not' ? 3 : 2), 'ends')
}

/** The values that are inserted as they are, by the places of their tokens: whether their columns hold moments. */
function insertedOf(examined: Examined): ReadonlyMap<number, boolean> {
  const found = new Map<number, boolean>()
  const { tokens, moments } = examined
  const into = tokens.findIndex(({ text }) => text.toLowerCase() === 'into')
  if (tokens[0]?.text.toLowerCase() !== 'insert' || tokens[into + 2]?.text !== '(') return found
  const table = moments.get(nameOf(tokens[into + 1]!.text))
  const end = tokens.findIndex(({ text }, at) => at > into && text === ')')
  const columns = tokens.slice(into + 3, end).filter(({ text }) => text !== ',')
  const isOne = columns.map(({ text }) => table?.get(nameOf(text)) ?? false)
  const isSelect = tokens[end + 1]?.text.toLowerCase() === 'select'
  // Lists of values stand one level deeper than the columns of a select.
  const level = isSelect ? 0 : 1
  let [depth, index] = [0, 0]
  for (let at = end + 2; at < tokens.length; at++) {
    const { text } = tokens[at]!
    if (isSelect && depth === 0 && text.toLowerCase() === 'from') break
    if (text === '(') {
      depth++
      if (depth === level) index = 0
    } else if (text === ')') depth--
    else if (text === ',' && depth === level) index++
    else if (text === '?' && depth === level && isAlone(tokens, at)) found.set(at, isOne[index] ?? false)
  }
  return found
}

/** Whether nothing else makes up the value. */
const isAlone = (tokens: readonly Token[], at: number): boolean => {
  const ends = new Set([',', '(', ')', 'select', 'from', 'where', 'distinct', 'on', 'order', undefined])
  return ends.has(tokens[at - 1]?.text.toLowerCase()) && ends.has(tokens[at + 1]?.text.toLowerCase())
}
