// Populated rows are in the order of their links, in any order in which a database returns the rows of several parents.
import { describe, expect, it } from 'vitest'
import type { Level, Statement } from '../../src/database/plan.js'
import { prepareResponse, type ResultRow } from '../../src/database/response/write.js'

const statement = (sql: string): Statement => ({ sql, parameters: [] })

const level = (given: Partial<Level> & Pick<Level, 'statement'>): Level => ({
  ...{ parentAt: null, orderAt: [], idAt: 0, columns: [], fills: [], form: 'flat', constants: [], uid: 'api::a.a' },
  ...given,
})

/** Parents 1 and 2 with these children: parent, id, place. */
function written(children: readonly ResultRow[], nullsLast: boolean): unknown {
  const columns = (at: number) => [{ name: 'id', at, answer: 'number' as const }]
  const below = level({ statement: statement('children'), parentAt: 0, idAt: 1, orderAt: [2], columns: columns(1) })
  const fill = { kind: 'rows' as const, name: 'tags', many: true, wrapped: false, level: below }
  const root = level({ statement: statement('parents'), columns: columns(0), fills: [fill] })
  const read = prepareResponse(
    {
      query:
        ({ sql }) =>
        () =>
          sql === 'parents' ? [[1], [2]] : children,
      count: () => () => 0,
      page: () => () => ({ rows: [], total: null }),
      signer: null,
      nullsLast,
    },
    { root, envelope: { kind: 'bareList' } },
  )
  let text = ''
  read([], {
    begin: () => {},
    write: (piece) => {
      text += piece
    },
    end: () => ({ length: 0, own: null }),
  })
  return JSON.parse(text)
}

const tags = (first: readonly number[], second: readonly number[]) => [
  { id: 1, tags: first.map((id) => ({ id })) },
  { id: 2, tags: second.map((id) => ({ id })) },
]

describe('populated rows in the order of their links', () => {
  it('rows grouped by parent', () => {
    const rows = [
      [1, 11, 2],
      [1, 12, 1],
      [2, 21, 1],
    ]
    expect(written(rows, false)).toEqual(tags([12, 11], [21]))
  })

  it('rows of several parents in alternation', () => {
    const rows = [
      [1, 11, 2],
      [2, 21, 1],
      [1, 12, 1],
      [2, 22, 2],
    ]
    expect(written(rows, true)).toEqual(tags([12, 11], [21, 22]))
  })

  it('links without a position', () => {
    const rows = [
      [1, 11, null],
      [2, 21, null],
      [1, 12, 1],
      [2, 22, 2],
    ]
    expect(written(rows, true)).toEqual(tags([12, 11], [22, 21]))
    expect(written(rows, false)).toEqual(tags([11, 12], [21, 22]))
  })
})
