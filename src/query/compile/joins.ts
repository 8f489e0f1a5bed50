// Joins from the rows of an attribute's owner to its targets: the tables between, the column of the owner, the order of the
// targets. Filters, sort and populate all go through here.
import { sql } from 'kysely'
import type { Dialect, Expression } from '../../database/dialect.js'
import { isSame } from '../../database/portable-sql.js'
import { assertNever, type ContentType, type Schema } from '../../model/schema/types.js'
import type { PathAttribute } from '../request.js'

/** The tables between an owner and the targets, the owner's side first, with the conditions that join them. */
export interface Joins {
  readonly tables: readonly Expression[]
  /** The owner's row id, in the first table. */
  readonly owner: Expression
  readonly conditions: readonly Expression[]
  /** The order of one owner's targets: numbers, ascending. */
  readonly order: readonly Expression[]
  /** Breaks ties of a caller's sort keys. */
  readonly tie: Expression
}

export const column = (alias: string, name: string): Expression => sql.ref(`${alias}.${name}`)
const table = (name: string, alias: string): Expression => sql`${sql.table(name)} as ${sql.id(alias)}`
const equal = (left: Expression, right: Expression): Expression => sql`${left} = ${right}`

/** A text of the model, bound like any value: statements contain no literals. */
export const constant = (value: string | number): Expression => sql`${{ from: 'constant', value } as never}`

/** The tables of some pairs as a FROM clause; the database chooses where to start. */
export const from = ({ tables: [first, ...further] }: Joins): Expression =>
  further.reduce((toJoins, next) => sql`${toJoins} join ${next} on true`, first!)

/** The same, starting at the owner: an owner has few links, even if many targets have the value. */
export const fromOwner = (dialect: Dialect, { tables }: Joins): Expression => dialect.joinedInOrder(tables)

/** The same as one operand of a join. */
export const toOperand = (path: Joins): Expression => (path.tables.length === 1 ? from(path) : sql`(${from(path)})`)

/** The rows that `attribute` of `owner` leads to, with `target` aliased as `as`. */
export function getJoins(dialect: Dialect, owner: Schema, attribute: PathAttribute, target: Schema, as: string): Joins {
  const path = joined(dialect, owner, attribute, target, as)
  // The database chooses the first table, and may scan many rows of either one.
  const ids = path.tables.length === 1 ? [as] : [`${as}_l`, as]
  return { ...path, conditions: [...ids.map((alias) => dialect.stoppable(column(alias, 'id'))), ...path.conditions] }
}

function joined(dialect: Dialect, owner: Schema, attribute: PathAttribute, target: Schema, as: string): Joins {
  const link = `${as}_l`
  // A row id names few rows; a field or a type names a good part of the table, so it must not choose the index.
  const marked = (name: string, value: string): Expression => equal(dialect.unindexed(column(link, name)), constant(value))
  switch (attribute.kind) {
    case 'component':
      return {
        tables: [table(owner.componentTable!, link), table(target.table, as)],
        owner: column(link, 'entity_id'),
        conditions: [
          equal(column(as, 'id'), column(link, 'cmp_id')),
          marked('field', attribute.name),
          marked('component_type', attribute.component),
        ],
        order: [column(link, 'order'), column(link, 'id')],
        tie: column(as, 'id'),
      }
    case 'media':
      return {
        tables: [table('files_related_mph', link), table(target.table, as)],
        owner: column(link, 'related_id'),
        conditions: [equal(column(as, 'id'), column(link, 'file_id')), marked('related_type', owner.uid), marked('field', attribute.name)],
        order: [column(link, 'order'), column(link, 'id')],
        tie: column(link, 'id'),
      }
    case 'morphFrom': {
      const { storage } = attribute
      if (storage.kind === 'columns') {
        const conditions = [equal(column(as, storage.type), constant(owner.uid))]
        return {
          tables: [table(target.table, as)],
          owner: column(as, storage.id),
          conditions,
          order: [column(as, 'id')],
          tie: column(as, 'id'),
        }
      }
      return {
        tables: [table(storage.table, link), table(target.table, as)],
        owner: column(link, storage.id),
        conditions: [equal(column(as, 'id'), column(link, storage.here)), marked(storage.type, owner.uid), marked('field', attribute.name)],
        order: [column(link, storage.order), column(link, 'id')],
        tie: column(link, 'id'),
      }
    }
    case 'relation':
      return relationPairs(owner, attribute, target, as, link)
    default:
      return assertNever(attribute)
  }
}

function relationPairs(owner: Schema, attribute: PathAttribute & { kind: 'relation' }, target: Schema, as: string, link: string): Joins {
  const { storage } = attribute
  switch (storage.kind) {
    case 'link':
      return {
        tables: [table(storage.table, link), table(target.table, as)],
        owner: column(link, storage.here),
        conditions: [equal(column(as, 'id'), column(link, storage.there))],
        order: storage.order === null ? [column(link, 'id')] : [column(link, storage.order), column(link, 'id')],
        // The order that Strapi's indexes happen to give.
        tie: storage.owner ? column(as, 'id') : column(link, 'id'),
      }
    case 'column':
      return {
        tables: [table(owner.table, link), table(target.table, as)],
        owner: column(link, 'id'),
        conditions: columnConditions(owner, target, storage, as, link),
        order: [column(as, 'id')],
        tie: column(as, 'id'),
      }
    case 'inverseColumn': {
      const id = column(as, 'id')
      if (!hasVersions(owner))
        return { tables: [table(target.table, as)], owner: column(as, storage.column), conditions: [], order: [id], tie: id }
      const conditions = namesVersion(target, owner, as, storage.column, link)
      return { tables: [table(target.table, as), table(owner.table, link)], owner: column(link, 'id'), conditions, order: [id], tie: id }
    }
    case 'localizations':
      return {
        tables: [table(owner.table, link), table(target.table, as)],
        owner: column(link, 'id'),
        conditions: [equal(column(as, 'document_id'), column(link, 'document_id'))],
        order: [column(as, 'locale'), column(as, 'id')],
        tie: column(as, 'id'),
      }
    default:
      return assertNever(storage)
  }
}

const hasVersions = (shape: Schema): shape is ContentType => shape.kind === 'contentType' && shape.draftAndPublish

/** A column points to a row; with drafts, to the version of that document in the state of the owner's row. */
function columnConditions(
  owner: Schema,
  target: Schema,
  { column: name, references }: { readonly column: string; readonly references: string },
  as: string,
  link: string,
): readonly Expression[] {
  if (references !== 'id' || !hasVersions(target)) return [equal(column(as, references), column(link, name))]
  return namesVersion(owner, target, link, name, as)
}

/** True if `shown` is a version of the document that the column of `row` points to: in the state of `row`, if that has one. */
function namesVersion(owner: Schema, target: ContentType, row: string, name: string, shown: string): readonly Expression[] {
  const named = (what: string) =>
    sql`(select ${column(`${shown}_n`, what)} from ${table(target.table, `${shown}_n`)} where ${column(`${shown}_n`, 'id')} = ${column(row, name)})`
  const state = (alias: string) => sql`(${column(alias, 'published_at')} is null)`
  return [
    equal(column(shown, 'document_id'), named('document_id')),
    ...(target.localized ? [isSame(column(shown, 'locale'), named('locale'))] : []),
    ...(hasVersions(owner) ? [equal(state(shown), state(row))] : []),
  ]
}

/** Joins conditions with AND; true where there are none. */
export function every(conditions: readonly Expression[]): Expression {
  return conditions.length === 0 ? sql`1 = 1` : sql.join([...conditions], sql` and `)
}
