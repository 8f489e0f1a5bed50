// docs/spec/portability.md: requirements of read statements on a database, in the plans that test/golden/plans records.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { rule } from '../support/rule.js'

const folder = join(import.meta.dirname, '..', 'golden', 'plans')
const dialects = ['sqlite', 'postgres', 'mysql']

interface Recorded {
  readonly name: string
  readonly sql: string
}

/** The statements of a dialect: the lines below a heading that are indented further than it and are no description. */
function statementsOf(dialect: string): readonly Recorded[] {
  return readdirSync(join(folder, dialect)).flatMap((file) => {
    const plans = readFileSync(join(folder, dialect, file), 'utf8').split(/^(?=== )/m)
    return plans.flatMap((plan) => {
      const [name = ''] = plan.split('\n')
      return [...plan.matchAll(/^( *)(\S.*):\n((?:\1 +(?!members:).*\n)+)/gm)].map(([, , heading, sql]) => ({
        name: `${file} ${name} ${heading}`,
        sql: sql!,
      }))
    })
  })
}

/** A limited select: its columns, and its last sort key. */
interface Cut {
  readonly selected: string
  readonly key: string
}

/** The select whose limit comes after `before`. */
function cutOf(before: string): Cut {
  const [afterSelect = ''] = before.split('select ').slice(-1)
  const [afterOrder = ''] = before.split('order by ').slice(-1)
  const [selected = ''] = afterSelect.split(/\n? *\bfrom\b/)
  let depth = 0
  let key = ''
  for (const character of afterOrder) {
    if (character === '(') depth++
    if (character === ')') depth--
    key = character === ',' && depth === 0 ? '' : key + character
  }
  return { selected: selected.trim(), key: key.trim() }
}

/** Counts up to a bound, and the first of sorted values, are the same for any of equal rows. */
const isSameForEqualRows = ({ selected, key }: Cut): boolean => selected === '1' || selected === key.replace(/ (?:asc|desc).*$/, '')

const isId = (key: string): boolean => /^(?:(?:"\w+"|`\w+`)\.)?["`']?id["`']?(?: (?:asc|desc))?$/.test(key)

describe.each(dialects)('statements of reads for %s', (dialect) => {
  const statements = statementsOf(dialect)
  const offending = (pattern: RegExp): readonly string[] => statements.filter(({ sql }) => pattern.test(sql)).map(({ name }) => name)

  test('are there', () => expect(statements.length).toBeGreaterThan(40))

  rule('portability.1', 'need no LATERAL', () => expect(offending(/\blateral\b/i)).toEqual([]))

  rule('portability.2', 'that are cut to a page have an order, whose last key is the id', () => {
    const cut = statements.flatMap(({ name, sql }) =>
      [...sql.matchAll(/\n *limit | limit /g)].map(({ index }) => ({ name, ...cutOf(sql.slice(0, index)) })),
    )
    expect(cut.length).toBeGreaterThan(10)
    expect(cut.filter((each) => !isSameForEqualRows(each) && !isId(each.key))).toEqual([])
  })

  rule('portability.3', 'keep nothing in a session, and send no messages', () => {
    const words =
      /\b(?:listen|notify|pg_notify|get_lock|pg_(?:try_)?advisory\w*|temporary|temp|set session|set_config|trigger|handler)\b|@\w+ *:?=/i
    expect(offending(words)).toEqual([])
  })

  rule('portability.4', 'leave all logic to the service', () => {
    const words = /\b(?:trigger|procedure|call|execute|insert|update|delete|create|alter|drop)\b/i
    expect(statements.filter(({ sql }) => words.test(sql.replaceAll(/"[^"]*"|`[^`]*`|'[^']*'/g, ''))).map(({ name }) => name)).toEqual([])
  })
})
