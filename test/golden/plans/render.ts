// Prints a plan for reviewers: the statements of every level with their parameters by role, and the use of each column.
import type { Fill, Level, MemberColumn, Parameter, ReadPlan, Statement } from '../../../src/database/plan.js'

/** Characters of a line that is not broken. */
const width = 120

/** The whole plan, line by line. */
export function renderPlan({ root, envelope, unsigned }: ReadPlan): string {
  const statements: [string, Statement | null][] = []
  if (envelope.kind === 'count') statements.push(['count', envelope.count])
  if (envelope.kind === 'list') {
    statements.push(['count', envelope.count], ['rows and count', envelope.counted])
    for (const [index, { links, page, counted }] of (envelope.ways?.leads ?? []).entries())
      statements.push(
        [`path ${index + 1}, links`, links],
        [`path ${index + 1}, rows`, page],
        [`path ${index + 1}, rows and count`, counted],
      )
    statements.push([`along the order${envelope.ways?.walksAll === true ? ', of all rows' : ''}`, envelope.ways?.walk ?? null])
  }
  const tested = envelope.kind === 'list' ? (envelope.ways?.tested ?? []) : []
  return [
    `answer: ${envelope.kind}${envelope.kind === 'list' ? `, by ${envelope.style}` : ''}${unsigned === true ? ', unsigned' : ''}`,
    ...(envelope.kind === 'count' ? [] : renderLevel('rows', root)),
    ...statements.flatMap(([name, statement]) => (statement === null ? [] : renderStatement(name, statement))),
    ...tested.map(({ table, column }) => `tested by: ${table}.${column}`),
  ].join('\n')
}

function renderLevel(name: string, { statement, columns, fills, form, constants, parentAt, orderAt, uid }: Level): readonly string[] {
  const places = [...(parentAt === null ? [] : [`parent at ${parentAt}`]), ...(orderAt.length === 0 ? [] : [`order at ${orderAt}`])]
  const about = [uid, ...(form === 'flat' ? [] : [form]), ...places, ...constants.map(({ name: key, json }) => `${key} ${json}`)]
  return [
    ...renderStatement(`${name} (${about.join(', ')})`, statement),
    ...indented([...filled(`members: ${columns.map(renderColumn).join(', ')}`, ', '), ...fills.flatMap(renderFill)]),
  ]
}

const renderColumn = ({ name, at, answer, validAt }: MemberColumn): string =>
  `${name} = ${at} ${answer}${validAt === undefined ? '' : ` if ${validAt}`}`

function renderFill(fill: Fill): readonly string[] {
  const name = `${fill.name}${fill.kind !== 'count' && fill.many ? '[]' : ''}${fill.wrapped ? ' in data' : ''}`
  switch (fill.kind) {
    case 'rows':
      return renderLevel(name, fill.level)
    case 'count':
      return renderStatement(`${name}, count`, fill.statement)
    case 'typed':
      return [
        ...renderStatement(`${name}, links`, fill.links),
        ...Object.values(fill.levels).flatMap((level) => renderLevel(`${name} of one type`, level)),
      ]
  }
}

const renderStatement = (name: string, statement: Statement): readonly string[] => [
  `${name}:`,
  ...indented(brokenSql(named(statement), width)),
]

const indented = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`)

const role = (parameter: Parameter): string => {
  if (parameter.from === 'values') return parameter.index < 2 ? [':start', ':limit'][parameter.index]! : `:value${parameter.index}`
  return parameter.from === 'constant' ? `:constant(${JSON.stringify(parameter.value)})` : `:${parameter.from}`
}

/** The text with the roles of its parameters in place of placeholders, `?` or `$1`. */
function named({ sql, parameters }: Statement): string {
  let next = 0
  return sql.replace(/\s+/g, ' ').replace(/'(?:[^']|'')*'|"[^"]*"|\?|\$(\d+)/g, (token, number?: string) => {
    if (token !== '?' && number === undefined) return token
    return role(parameters[number === undefined ? next++ : Number(number) - 1]!)
  })
}

/** A text in lines of some width, broken after `separator`. */
function filled(text: string, separator: string): readonly string[] {
  const lines: string[] = []
  for (const part of text.split(separator)) {
    const last = lines.at(-1)
    if (last === undefined || last.length + separator.length + part.length > width) lines.push(lines.length === 0 ? part : `  ${part}`)
    else lines[lines.length - 1] = last + separator + part
  }
  return lines
}

/** Beginnings of lines in a statement that is too long for one. */
const clause = /^ (?:from|where|group by|order by|limit|(?:cross |left |inner )?join|union(?: all)?|and|or|on|when|else) /

/** Texts after which a clause does not begin a line. */
const halfway = / (?:cross|left|inner|distinct|between \S+)$/

/** A statement or an expression in lines: broken before its clauses, and within parentheses where that is not enough. */
function brokenSql(sql: string, room: number): readonly string[] {
  if (sql.length <= room) return [sql]
  const clauses = splitAt(sql, (rest, before) => clause.test(rest) && !halfway.test(before)).map((one) => one.trim())
  if (clauses.length > 1) {
    const [first, ...others] = clauses
    return [...brokenSql(first!, room), ...others.flatMap((one) => brokenSql(one, room))]
  }
  const open = widestGroup(sql)
  if (open === null) return brokenList(sql, room)
  const { from, to } = open
  return [sql.slice(0, from + 1), ...indented(brokenSql(sql.slice(from + 1, to), room - 2)), ...brokenSql(sql.slice(to), room)]
}

/** Long lists of columns: a line for each few. */
function brokenList(sql: string, room: number): readonly string[] {
  const parts = splitAt(sql, (rest) => rest.startsWith(', '))
  if (parts.length === 1) return [sql]
  const lines: string[] = []
  for (const part of parts) {
    const last = lines.at(-1)
    if (last === undefined || last.length + part.length > room) lines.push(lines.length === 0 ? part : `  ${part.slice(2)}`)
    else lines[lines.length - 1] = last + part
  }
  return lines.map((line, index) => (index < lines.length - 1 ? `${line},` : line))
}

/** Calls back for every character outside of quotes, with the depth of parentheses there. */
function scan(sql: string, see: (at: number, depth: number) => void): void {
  let depth = 0
  for (let at = 0; at < sql.length; at++) {
    const character = sql[at]!
    if (character === "'" || character === '"') {
      at = sql.indexOf(character, at + 1)
      continue
    }
    if (character === ')') depth--
    see(at, depth)
    if (character === '(') depth++
  }
}

function splitAt(sql: string, isStart: (rest: string, before: string) => boolean): readonly string[] {
  const starts: number[] = [0]
  scan(sql, (at, depth) => {
    if (depth === 0 && at > 0 && isStart(sql.slice(at, at + 20), sql.slice(0, at))) starts.push(at)
  })
  return starts.map((start, index) => sql.slice(start, starts[index + 1]))
}

/** The longest parentheses of the outermost level. */
function widestGroup(sql: string): { readonly from: number; readonly to: number } | null {
  let widest: { readonly from: number; readonly to: number } | null = null
  let from = 0
  scan(sql, (at, depth) => {
    if (depth !== 0) return
    if (sql[at] === '(') from = at
    if (sql[at] === ')' && at - from > 40 && (widest === null || at - from > widest.to - widest.from)) widest = { from, to: at }
  })
  return widest
}
