// How an attribute leads from its owner's rows to other rows: the tables between, which column names the owner, in which
// order the targets come. Filters, sort and populate all go through here.
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Expression } from '../database/dialect.js'
import type { Component, ContentType } from '../model/types.js'
import { unreachable } from '../model/types.js'
import type { Path } from './request.js'

type Shape = ContentType | Component
type Fragment = RawBuilder<unknown>

/** A FROM clause with its conditions. `owner` is the owner's row id, `order` sorts the targets of one owner. */
export interface Pairs {
  readonly from: Fragment
  /** The same as one operand of a join. */
  readonly nested: Fragment
  readonly owner: Expression
  readonly conditions: readonly Fragment[]
  readonly order: readonly Fragment[]
}

const column = (alias: string, name: string): Fragment => sql.ref(`${alias}.${name}`)
const table = (name: string, alias: string): Fragment => sql`${sql.table(name)} as ${sql.id(alias)}`

const alone = (from: Fragment) => ({ from, nested: from })
const joined = (from: Fragment) => ({ from, nested: sql`(${from})` })

/** A text of the model, bound like any value: no statement contains a name that is not an identifier. */
export const constant = (value: string | number): Fragment => sql`${{ from: 'constant', value } as never}`

/** The rows that `attribute` of `owner` leads to, with `target` aliased as `as`. */
export function pairs(owner: Shape, attribute: Path, target: Shape, as: string): Pairs {
  const link = `${as}_l`
  switch (attribute.kind) {
    case 'component':
      return {
        ...joined(sql`${table(owner.componentTable!, link)} join ${table(target.table, as)} on ${column(as, 'id')} = ${column(link, 'cmp_id')}`),
        owner: column(link, 'entity_id'),
        conditions: [
          sql`${column(link, 'field')} = ${constant(attribute.name)}`,
          sql`${column(link, 'component_type')} = ${constant(attribute.component)}`,
        ],
        order: [column(link, 'order'), column(link, 'id')],
      }
    case 'media':
      return {
        ...joined(sql`${table('files_related_mph', link)} join ${table(target.table, as)} on ${column(as, 'id')} = ${column(link, 'file_id')}`),
        owner: column(link, 'related_id'),
        conditions: [sql`${column(link, 'related_type')} = ${constant(owner.uid)}`, sql`${column(link, 'field')} = ${constant(attribute.name)}`],
        order: [column(link, 'order'), column(link, 'id')],
      }
    case 'morphFrom':
      return morphPairs(owner, attribute, target, as, link)
    case 'relation':
      return relationPairs(owner, attribute, target, as, link)
    default:
      return unreachable(attribute)
  }
}

function morphPairs(owner: Shape, attribute: Path & { kind: 'morphFrom' }, target: Shape, as: string, link: string): Pairs {
  const { storage } = attribute
  if (storage.kind === 'columns') {
    return {
      ...alone(table(target.table, as)),
      owner: column(as, storage.id),
      conditions: [sql`${column(as, storage.type)} = ${constant(owner.uid)}`],
      order: [],
    }
  }
  return {
    ...joined(sql`${table(storage.table, link)} join ${table(target.table, as)} on ${column(as, 'id')} = ${column(link, storage.here)}`),
    owner: column(link, storage.id),
    conditions: [sql`${column(link, storage.type)} = ${constant(owner.uid)}`, sql`${column(link, 'field')} = ${constant(attribute.name)}`],
    order: [column(link, storage.order), column(link, 'id')],
  }
}

function relationPairs(owner: Shape, attribute: Path & { kind: 'relation' }, target: Shape, as: string, link: string): Pairs {
  const { storage } = attribute
  switch (storage.kind) {
    case 'link':
      return {
        ...joined(sql`${table(storage.table, link)} join ${table(target.table, as)} on ${column(as, 'id')} = ${column(link, storage.there)}`),
        owner: column(link, storage.here),
        conditions: [],
        order: storage.order === null ? [column(link, 'id')] : [column(link, storage.order), column(link, 'id')],
      }
    case 'column':
      return {
        ...joined(sql`${table(owner.table, link)} join ${table(target.table, as)} on ${column(as, storage.references)} = ${column(link, storage.column)}`),
        owner: column(link, 'id'),
        conditions: [],
        order: [],
      }
    case 'inverseColumn':
      return { ...alone(table(target.table, as)), owner: column(as, storage.column), conditions: [], order: [] }
    case 'localizations':
      return {
        ...joined(sql`${table(owner.table, link)} join ${table(target.table, as)} on ${column(as, 'document_id')} = ${column(link, 'document_id')}`),
        owner: column(link, 'id'),
        conditions: [],
        order: [column(as, 'locale'), column(as, 'id')],
      }
    default:
      return unreachable(storage)
  }
}

/** Joins conditions with AND; true where there are none. */
export function every(conditions: readonly Fragment[]): Fragment {
  return conditions.length === 0 ? sql`1 = 1` : sql.join([...conditions], sql` and `)
}
