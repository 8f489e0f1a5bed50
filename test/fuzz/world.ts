// The fuzzed project's rows, read from its tables without the service: what the evaluator evaluates on.
import Database from 'better-sqlite3'
import type { Row, Value } from './evaluator.js'

export type Status = 'published' | 'draft'
export interface World {
  readonly thing: readonly Row[]
  readonly person: readonly Row[]
  readonly tag: readonly Row[]
}

/** The columns of a table by the attributes' names: only differing names are listed. */
const renamed: Readonly<Record<string, string>> = {
  document_id: 'documentId',
  created_at: 'createdAt',
  updated_at: 'updatedAt',
  published_at: 'publishedAt',
}

interface Links {
  readonly relation: string
  /** Pairs of a row and one of its targets. */
  readonly pairs: string
  readonly to: keyof Tables
}
type Tables = { thing: Map<number, Draft>; person: Map<number, Draft>; tag: Map<number, Draft>; part: Map<number, Draft> }
type Draft = Row & { readonly links: Map<string, readonly Row[]> }

const links: Readonly<Record<'thing' | 'person' | 'tag', readonly Links[]>> = {
  thing: [
    { relation: 'owner', pairs: 'select thing_id, person_id from thing_owner_lnk', to: 'person' },
    { relation: 'tags', pairs: 'select thing_id, tag_id from thing_tags_lnk order by tag_ord', to: 'tag' },
    { relation: 'part', pairs: "select entity_id, cmp_id from thing_cmps where field = 'part'", to: 'part' },
    { relation: 'parts', pairs: `select entity_id, cmp_id from thing_cmps where field = 'parts' order by "order"`, to: 'part' },
  ],
  person: [
    { relation: 'friend', pairs: 'select person_id, inv_person_id from person_friend_lnk', to: 'person' },
    { relation: 'things', pairs: 'select person_id, thing_id from thing_owner_lnk', to: 'thing' },
  ],
  tag: [{ relation: 'things', pairs: 'select tag_id, thing_id from thing_tags_lnk', to: 'thing' }],
}

/** The rows that a request with this status sees, of every type: other versions are neither found nor reached. */
export function readWorld(filename: string, status: Status): World {
  const database = new Database(filename, { readonly: true })
  const visible = `where published_at is ${status === 'draft' ? '' : 'not'} null`
  const tables: Tables = {
    thing: readRows(database, `select * from thing ${visible}`),
    tag: readRows(database, `select * from tag ${visible}`),
    person: readRows(database, 'select * from person'),
    part: readRows(database, 'select * from parts_part'),
  }
  for (const [from, relations] of Object.entries(links) as [keyof typeof links, readonly Links[]][]) {
    for (const { relation, pairs, to } of relations) {
      for (const [owner, target] of database.prepare(pairs).raw().all() as [number, number][]) {
        const [row, other] = [tables[from].get(owner), tables[to].get(target)]
        if (row !== undefined && other !== undefined) row.links.set(relation, [...(row.links.get(relation) ?? []), other])
      }
    }
  }
  database.close()
  const inOrder = (rows: Map<number, Draft>) => [...rows.values()].sort((left, right) => left.id - right.id)
  return { thing: inOrder(tables.thing), person: inOrder(tables.person), tag: inOrder(tables.tag) }
}

function readRows(database: Database.Database, statement: string): Map<number, Draft> {
  const rows = database.prepare(statement).safeIntegers().all() as Record<string, Value>[]
  return new Map(
    rows.map((row) => {
      const id = Number(row.id)
      const values = Object.entries(row).map(([column, value]) => [renamed[column] ?? column, narrowed(value)] as const)
      return [id, { id, values: new Map(values), links: new Map() }]
    }),
  )
}

/** Integers that a number holds exactly become numbers. */
const narrowed = (value: Value): Value => (typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value)
