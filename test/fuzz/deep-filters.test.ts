// Random filters and sort keys through eight relations, in both contracts: they find what following every link finds, and as fast as
// that takes level by level.
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveFuzzed } from './project.js'

type Shape = 'thing' | 'person' | 'tag'
type Value = number | null

/** The relations between the types: the pairs of their rows, and their target types. */
const relations: Readonly<Record<Shape, Readonly<Record<string, { readonly pairs: string; readonly to: Shape }>>>> = {
  thing: {
    tags: { pairs: 'select thing_id, tag_id from thing_tags_lnk', to: 'tag' },
    owner: { pairs: 'select thing_id, person_id from thing_owner_lnk', to: 'person' },
  },
  tag: { things: { pairs: 'select tag_id, thing_id from thing_tags_lnk', to: 'thing' } },
  person: {
    things: { pairs: 'select person_id, thing_id from thing_owner_lnk', to: 'thing' },
    friend: { pairs: 'select person_id, inv_person_id from person_friend_lnk', to: 'person' },
  },
}
const toMany: ReadonlySet<string> = new Set(['tags', 'things'])
const attributes: Readonly<Record<Shape, string>> = { thing: 'count', tag: 'weight', person: 'age' }

/** Eight steps from things, and the steps with `$not` before them. */
const path = fc.tuple(fc.array(fc.nat(9), { minLength: 8, maxLength: 8 }), fc.array(fc.nat(8), { maxLength: 2 })).map(([choices, nots]) => {
  let shape: Shape = 'thing'
  const steps = choices.map((choice) => {
    const names = Object.keys(relations[shape])
    const name = names[choice % names.length]!
    const from = shape
    shape = relations[from][name]!.to
    return { from, name }
  })
  return { steps, nots, end: shape as Shape }
})
const comparison = fc.record({
  operator: fc.constantFrom('$gt', '$lte', '$ne', '$null', '$notNull'),
  operand: fc.integer({ min: -5, max: 60 }),
})

function holdsFor(value: Value, operator: string, operand: number): boolean | null {
  if (operator === '$null') return value === null
  if (operator === '$notNull') return value !== null
  if (value === null) return null
  return operator === '$gt' ? value > operand : operator === '$lte' ? value <= operand : value !== operand
}

describe.each(['specification', 'strapi'] as const)('the contract %s', (contract) => {
  let served: Awaited<ReturnType<typeof serveFuzzed>>
  const rows = new Map<Shape, Map<number, Value>>()
  const targets = new Map<string, Map<number, number[]>>()
  let things: readonly number[]

  beforeAll(async () => {
    served = await serveFuzzed({ config: { api: { rest: { contract, maxLimit: 1000 } } } })
    const database = new Database(served.database, { readonly: true })
    things = database.prepare('select id from thing where published_at is not null').pluck().all() as number[]
    for (const shape of ['thing', 'person', 'tag'] as const) {
      // In this contract, relations lead to rows of the request's version.
      const which = contract === 'specification' && shape !== 'person' ? 'where published_at is not null' : ''
      const all = database.prepare(`select id, ${attributes[shape]} from ${shape} ${which}`).raw().all() as [number, Value][]
      rows.set(shape, new Map(all))
    }
    for (const [shape, named] of Object.entries(relations)) {
      for (const [name, { pairs, to }] of Object.entries(named)) {
        const lists = new Map<number, number[]>()
        for (const [owner, target] of database.prepare(pairs).raw().all() as [number, number][])
          if (rows.get(to)!.has(target)) lists.set(owner, [...(lists.get(owner) ?? []), target])
        targets.set(`${shape}.${name}`, lists)
      }
    }
    database.close()
  })
  afterAll(() => served.close())

  /** Everything that a row has at the end of a path: null where a path ends before. */
  function valuesBehind(steps: readonly { from: Shape; name: string }[], end: Shape, id: number): ReadonlySet<Value> {
    let here = new Set([id])
    const values = new Set<Value>()
    for (const { from, name } of steps) {
      const next = new Set<number>()
      for (const row of here) {
        const found = targets.get(`${from}.${name}`)!.get(row)
        if (found === undefined) values.add(null)
        else for (const target of found) next.add(target)
      }
      here = next
    }
    for (const row of here) values.add(rows.get(end)!.get(row) ?? null)
    return values
  }

  /**
   * True if a row is found by a path with `$not` before some of its steps; null: the row is missing. `outside`: for a missing row, true if
   * `$not` surrounds the path to it. A `$not` after the missing row has no target to compare.
   */
  function finder(
    { steps, nots, end }: { steps: readonly { from: Shape; name: string }[]; nots: readonly number[]; end: Shape },
    operator: string,
    operand: number,
  ) {
    const known = new Map<string, boolean>()
    const find = (row: number | null, at: number, negated: boolean, outside: boolean): boolean => {
      const key = `${row} ${at} ${negated} ${outside}`
      const found = known.get(key) ?? follow(row, at, nots.includes(at) ? !negated : negated, outside)
      known.set(key, found)
      return found
    }
    const follow = (row: number | null, at: number, negated: boolean, outside: boolean): boolean => {
      const step = steps[at]
      if (step === undefined) return holdsFor(row === null ? null : (rows.get(end)!.get(row) ?? null), operator, operand) === !negated
      // Around several targets, this contract requires none.
      const isNone = negated && contract === 'specification' && toMany.has(step.name)
      if (isNone && (row !== null || outside)) return !follow(row, at, false, outside)
      const next = row === null ? undefined : targets.get(`${step.from}.${step.name}`)!.get(row)
      return (next ?? [null]).some((target) => find(target, at + 1, negated, row === null ? outside : negated))
    }
    return (id: number) => find(id, 0, false, false)
  }

  async function idsOf(query: string): Promise<readonly number[]> {
    const { status, body } = await served.request(`/api/things?fields=id&pagination[pageSize]=1000&${query}`)
    expect(status, query).toBe(200)
    expect(body.meta.pagination.total).toBe(body.data.length)
    return body.data.map(({ id }: { id: number }) => id)
  }

  test('finds the rows with a path that fulfils the condition', async () => {
    await fc.assert(
      fc.asyncProperty(path, comparison, async ({ steps, nots, end }, { operator, operand }) => {
        const names = steps.map(({ name }, index) => `${nots.includes(index) ? '[$not]' : ''}[${name}]`).join('')
        const last = nots.includes(8) ? '[$not]' : ''
        const query = `filters${names}${last}[${attributes[end]}][${operator}]=${operator.endsWith('ull') ? 'true' : operand}`
        const expected = things.filter(finder({ steps, nots, end }, operator, operand))
        expect([...(await idsOf(query))].sort((a, b) => a - b)).toEqual([...expected].sort((a, b) => a - b))
      }),
      { numRuns: 120 },
    )
  })

  test('sorts by the first value at the end of a path', async () => {
    await fc.assert(
      fc.asyncProperty(path, fc.boolean(), async ({ steps, end }, descending) => {
        const key = (id: number): number => {
          const values = [...valuesBehind(steps, end, id)].map((value) => value ?? Number.NEGATIVE_INFINITY)
          return descending ? Math.max(...values) : Math.min(...values)
        }
        const query = `sort=${steps.map(({ name }) => name).join('.')}.${attributes[end]}:${descending ? 'desc' : 'asc'}`
        const keyed = things.map((id) => ({ id, key: key(id) }))
        keyed.sort((a, b) => (a.key === b.key ? a.id - b.id : (a.key < b.key ? -1 : 1) * (descending ? -1 : 1)))
        expect(await idsOf(query)).toEqual(keyed.map(({ id }) => id))
      }),
      { numRuns: 60 },
    )
  })
})
