// The statements of one database: each is taken apart once, and its values are put in as literals (decision 031).
import { LRUCache } from 'lru-cache'
import type { Dialect } from '../../dialect.js'
import { toWallClock } from '../time-zone.js'
import type { MysqlCatalog } from './catalog.js'
import type { Client, MysqlExecuted } from './client.js'

/** Characters of all statements that are kept apart. */
const keptCharacters = 16_000_000

/** The statements of one database. */
export interface MysqlStatements {
  readonly dialect: Dialect
  /** A statement with its values in it. */
  filled(text: string, values: readonly unknown[]): string
  /** The columns of the tables have changed. */
  learn(catalog: Pick<MysqlCatalog, 'tables'>): void
}

const literalKindOf = (type: string): LiteralKind =>
  /^(?:datetime|timestamp)\b/.test(type) ? 'moment' : type === 'json' ? 'json' : 'plain'

const kindsOf = ({ tables }: Pick<MysqlCatalog, 'tables'>): ColumnKinds =>
  new Map([...tables].map(([name, columns]) => [name, new Map(columns.map((column) => [column.name, literalKindOf(column.type)]))]))

export function createStatements(dialect: Dialect): MysqlStatements {
  let columns: ColumnKinds = new Map()
  const known = new LRUCache<string, StatementParts>({ maxSize: keptCharacters, sizeCalculation: (_, text) => text.length + 1 })
  return {
    dialect,
    filled: (text, values) => {
      const parts = known.get(text) ?? parseStatement(text, columns)
      known.set(text, parts)
      const { texts, kinds } = parts
      if (kinds.length !== values.length) throw new Error(`A statement has ${kinds.length} values, not ${values.length}`)
      let filled = texts[0]!
      for (let index = 0; index < kinds.length; index++) filled += literal(values[index], kinds[index]!) + texts[index + 1]!
      return filled
    },
    learn: (catalog) => {
      columns = kindsOf(catalog)
      known.clear()
    },
  }
}

/** Executes a statement on a connection. */
export const execute = (statements: MysqlStatements, client: Client, text: string, values: readonly unknown[]): Promise<MysqlExecuted> =>
  client.query(statements.filled(text, values), text)

/** The literal kinds of each table's columns. */
export type ColumnKinds = ReadonlyMap<string, ReadonlyMap<string, LiteralKind>>

/** A parsed statement: its texts, and the literal kinds of the values between them. */
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

/** Keywords that precede a table. */
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
  readonly columns: ColumnKinds
}

/** Takes a statement apart. @throws Error for a value whose column could be a moment or not */
function parseStatement(text: string, columns: ColumnKinds): StatementParts {
  const tokens = [...text.matchAll(tokenForm)].map((match) => ({ text: match[0], start: match.index }))
  const examined: Examined = { tokens, tables: tablesOf(tokens), columns }
  const inserted = insertedOf(examined)
  const texts: string[] = []
  const kinds: LiteralKind[] = []
  let end = 0
  tokens.forEach((token, at) => {
    if (token.text !== '?') return
    texts.push(text.slice(end, token.start))
    kinds.push(inserted.get(at) ?? kindBeside(examined, at))
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

/** The literal kind of a column. @throws Error if the name is ambiguous and one of the columns is a timestamp */
function kindOf({ tables, columns }: Examined, column: string, of = ''): LiteralKind {
  const found = new Set([...(tables.get(of) ?? [])].flatMap((table) => columns.get(table)?.get(column) ?? []))
  if (found.size > 1 && found.has('moment')) throw new Error(`Several columns could be meant by ${column}`)
  return found.size === 1 ? [...found][0]! : 'plain'
}

/** The literal kind of the column whose name ends, or begins, at a token. */
function kindAt(examined: Examined, at: number, direction: 'ends' | 'begins'): LiteralKind {
  const textAt = (place: number): string | undefined => examined.tokens[place]?.text
  if (!isName(textAt(at))) return 'plain'
  const isQualified = textAt(direction === 'ends' ? at - 1 : at + 1) === '.'
  if (!isQualified) return kindOf(examined, nameOf(textAt(at)!))
  const [table, column] = direction === 'ends' ? [textAt(at - 2), textAt(at)] : [textAt(at), textAt(at + 2)]
  return isName(table) && isName(column) ? kindOf(examined, nameOf(column!), nameOf(table!)) : 'plain'
}

/** The literal kind of a value, by the column that it is compared with or assigned to. */
function kindBeside(examined: Examined, at: number): LiteralKind {
  const { tokens } = examined
  const word = (place: number): string => tokens[place]?.text.toLowerCase() ?? ''
  const before = word(at - 1)
  if (comparisons.has(before)) return kindAt(examined, at - 2, 'ends')
  if (comparisons.has(word(at + 1))) return kindAt(examined, at + 2, 'begins')
  if (before === 'between') return kindAt(examined, at - (word(at - 2) === 'not' ? 3 : 2), 'ends')
  if (before === 'and' && word(at - 3) === 'between') return kindAt(examined, at - (word(at - 4) === 'not' ? 5 : 4), 'ends')
  // `case when c > ? then c else ? end`
  if (before === 'else') return kindAt(examined, at - 2, 'ends')
  let place = at - 1
  while (tokens[place]?.text === ',' || tokens[place]?.text === '?') place--
  if (word(place) !== '(' || word(place - 1) !== 'in') return 'plain'
  return kindAt(examined, place - (word(place - 2) === 'not' ? 3 : 2), 'ends')
}

/** The values that are inserted as they are, by the places of their tokens. */
function insertedOf(examined: Examined): ReadonlyMap<number, LiteralKind> {
  const found = new Map<number, LiteralKind>()
  const { tokens } = examined
  const into = tokens.findIndex(({ text }) => text.toLowerCase() === 'into')
  if (tokens[0]?.text.toLowerCase() !== 'insert' || tokens[into + 2]?.text !== '(') return found
  const table = examined.columns.get(nameOf(tokens[into + 1]!.text))
  const end = tokens.findIndex(({ text }, at) => at > into && text === ')')
  const columns = tokens.slice(into + 3, end).filter(({ text }) => text !== ',')
  const kinds = columns.map(({ text }) => table?.get(nameOf(text)) ?? 'plain')
  const isSelect = tokens[end + 1]?.text.toLowerCase() === 'select'
  // In lists of values, parentheses are one level deeper than in a select.
  const level = isSelect ? 0 : 1
  let depth = 0
  let index = 0
  for (let at = end + 2; at < tokens.length; at++) {
    const { text } = tokens[at]!
    if (isSelect && depth === 0 && text.toLowerCase() === 'from') break
    if (text === '(') {
      depth++
      if (depth === level) index = 0
    } else if (text === ')') depth--
    else if (text === ',' && depth === level) index++
    else if (text === '?' && depth === level && isAlone(tokens, at)) found.set(at, kinds[index] ?? 'plain')
  }
  return found
}

const isAlone = (tokens: readonly Token[], at: number): boolean => {
  const ends = new Set([',', '(', ')', 'select', 'from', 'where', 'distinct', 'on', 'order', undefined])
  return ends.has(tokens[at - 1]?.text.toLowerCase()) && ends.has(tokens[at + 1]?.text.toLowerCase())
}

/** The kind of a literal: a timestamp, a value of a MySQL JSON column, or anything else. */
export type LiteralKind = 'moment' | 'json' | 'plain'

/** Characters that end or change a literal. */
const special = /['\\\0]/

const replacements: Readonly<Record<string, string>> = { "'": "''", '\\': '\\\\', '\0': '\\0' }

const quotedText = (text: string): string => `'${special.test(text) ? text.replace(/['\\\0]/g, (found) => replacements[found]!) : text}'`

/** A moment as the wall clock of this process has it. Years that the columns do not reach are left to the server to refuse. */
function momentText(milliseconds: number): string {
  const { year, rest } = toWallClock(milliseconds)
  return year < 0 ? `-${String(-year).padStart(4, '0')}-${rest}` : `${String(year).padStart(4, '0')}-${rest}`
}

/** A value as a literal. Numbers among moments are milliseconds since 1970, those in JSON are texts of it. */
export function literal(value: unknown, kind: LiteralKind): string {
  switch (typeof value) {
    case 'string':
      return quotedText(value)
    case 'number':
      if (!Number.isFinite(value)) return 'null'
      if (kind === 'json') return `'${value}'`
      return kind === 'moment' ? `'${momentText(value)}'` : String(value)
    case 'bigint':
      return String(value)
    case 'boolean':
      return value ? '1' : '0'
    default:
      if (value === null || value === undefined) return 'null'
      if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString('hex')}'`
      throw new Error('A value has no form in SQL')
  }
}
