// A ReadRequest becomes a plan: one select per level, children batched by the ids of the rows above. Pure.
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Dialect } from '../database/dialect.js'
import type { Column, Envelope, Fill, Level, ReadPlan, Statement } from '../database/plan.js'
import { attributeTypes } from '../model/attributes.js'
import type { Component, ContentType, Scalar } from '../model/types.js'
import { unreachable } from '../model/types.js'
import type { Compilation } from './conditions.js'
import { column, condition, constant, every, publicationConditions, published, targetVersions, value } from './conditions.js'
import type { Contract } from './contract.js'
import { pairs } from './pairs.js'
import type { Filter, Populated, ReadRequest, Selection, SortKey } from './request.js'
import { pageValues } from './request.js'

type Fragment = RawBuilder<unknown>
type Shape = ContentType | Component

const parents: Fragment = sql`${{ from: 'parents' } as never}`

/** `data`: the contract's envelope; `bare`: the objects alone; `count`: their number. */
export type EnvelopeKind = 'data' | 'bare' | 'count'

/** Compiles a request for one database. The same shape always gives the same plan. */
export function compileRead(request: ReadRequest, dialect: Dialect, contract: Contract, envelope: EnvelopeKind): ReadPlan {
  let aliases = 0
  const compilation: Writer = {
    dialect,
    contract,
    status: request.status,
    publication: request.publication,
    targetLocale: request.targetLocale,
    nextAlias: () => `t${++aliases}`,
    format: request.format,
  }
  const { type } = request
  const where = every(rootConditions(compilation, request))
  const columns = selectColumns(compilation, request.selection, 't0', 0)
  const order = orderBy(compilation, type, 't0', request.sort, [])
  const from = sql`${sql.table(type.table)} as ${sql.id('t0')}`
  const limit = sql`limit ${request.mode === 'first' ? sql.lit(1) : value(pageValues.limit)} offset ${value(pageValues.start)}`
  const statement = compile(dialect, sql`select ${sql.join(columns.selected)} from ${from} where ${where} order by ${order} ${limit}`)
  const root = level(compilation, request.selection, statement, null, columns)
  const count = () => compile(dialect, sql`select count(*) from ${from} where ${where}`)
  return { root, envelope: envelopeOf(request, envelope, count) }
}

function envelopeOf(request: ReadRequest, kind: EnvelopeKind, count: () => Statement): Envelope {
  if (kind === 'count') return { kind, count: count() }
  if (request.mode === 'first') return { kind: kind === 'data' ? 'one' : 'bareOne' }
  if (kind === 'bare') return { kind: 'bareList' }
  const { style, withCount } = request.page
  return { kind: 'list', style, ...pageValues, count: withCount ? count() : null }
}

interface Writer extends Compilation {
  readonly format: ReadRequest['format']
}

function compile(dialect: Dialect, query: Fragment): Statement {
  return dialect.compile(query)
}

function rootConditions(compilation: Writer, request: ReadRequest): readonly Fragment[] {
  const { type, locale } = request
  const conditions: Fragment[] = []
  if (type.draftAndPublish) conditions.push(published('t0', request.status), ...publicationConditions(compilation, type, 't0'))
  if (locale.kind === 'values') {
    const [only] = locale.values
    const name = column('t0', 'locale')
    conditions.push(locale.values.length === 1 ? sql`${name} = ${value(only!)}` : sql`${name} in (${sql.join(locale.values.map(value))})`)
  }
  if (locale.kind === 'filter') conditions.push(condition(compilation, type, 't0', locale.filter))
  if (request.filter !== null) conditions.push(condition(compilation, type, 't0', request.filter))
  return conditions
}

/** Keys, then what the caller's order leaves open: the order of the links, the row id. */
function orderBy(compilation: Writer, shape: Shape, alias: string, keys: readonly SortKey[], links: readonly Fragment[]): Fragment {
  const sorted = keys.map((key) => (key.descending ? sql`${sortValue(compilation, shape, alias, key)} desc` : sql`${sortValue(compilation, shape, alias, key)} asc`))
  // Rows are told apart by what the caller asked for first; the id ends every order.
  const last = keys.length === 0 && links.length > 0 ? [...links] : [column(alias, 'id')]
  return sql.join([...sorted, ...last])
}

/** A column of the row, or of its first target by that order (behaviour: "Sort"). */
function sortValue(compilation: Writer, shape: Shape, alias: string, key: SortKey): Fragment {
  if (key.path.length === 0) return column(alias, key.attribute.column)
  let owner: Shape = shape
  let ownerAlias = alias
  const from: Fragment[] = []
  const conditions: Fragment[] = []
  for (const { attribute, target } of key.path) {
    const as = compilation.nextAlias()
    const step = pairs(owner, attribute, target, as)
    const reached = [sql`${step.owner} = ${column(ownerAlias, 'id')}`, ...step.conditions, ...targetVersions(compilation, target, as)]
    if (from.length === 0) {
      from.push(step.from)
      conditions.push(...reached)
    } else {
      from.push(sql`left join ${step.nested} on ${every(reached)}`)
    }
    owner = target
    ownerAlias = as
  }
  const sorted = column(ownerAlias, key.attribute.column)
  const direction = key.descending ? sql`desc` : sql`asc`
  return sql`(select ${sorted} from ${sql.join(from, sql` `)} where ${every(conditions)} order by ${sorted} ${direction} limit 1)`
}

interface Selected {
  readonly selected: readonly Fragment[]
  readonly columns: readonly Column[]
  readonly idAt: number
}

/** The result columns of a level, numbered from `at`. The row id always comes first. */
function selectColumns(compilation: Writer, selection: Selection, alias: string, at: number): Selected {
  const selected: Fragment[] = [column(alias, 'id')]
  const columns: Column[] = []
  for (const field of selection.fields) {
    if (field.name === 'id') {
      columns.push({ name: 'id', at, answer: 'number' })
      if (selection.shape.kind === 'component' && compilation.contract.componentDocumentIds) {
        columns.push({ name: 'documentId', at, answer: 'componentDocumentId' })
      }
      continue
    }
    columns.push(selectField(compilation, field, alias, selected, at))
  }
  return { selected, columns, idAt: at }
}

function selectField(compilation: Writer, field: Scalar, alias: string, selected: Fragment[], at: number): Column {
  const { answer } = attributeTypes[field.type]
  const stored = column(alias, field.column)
  const here = at + selected.length
  switch (answer) {
    case 'biginteger':
      selected.push(compilation.dialect.exactInteger(stored))
      return { name: field.name, at: here, answer }
    case 'json':
      selected.push(stored, compilation.dialect.isJson(stored))
      return { name: field.name, at: here, answer, validAt: here + 1 }
    case 'timestamp':
      selected.push(stored)
      return { name: field.name, at: here, answer: compilation.contract.timestampsAsMilliseconds ? 'timestamp' : 'datetime' }
    default:
      selected.push(stored)
      return { name: field.name, at: here, answer }
  }
}

function level(
  compilation: Writer,
  selection: Selection,
  statement: Statement,
  parentAt: number | null,
  { columns, idAt }: Selected,
  mark: Level['constants'] = [],
): Level {
  const { shape } = selection
  const form = compilation.format === 'nested' && shape.kind === 'contentType' ? 'nested' : 'flat'
  const fills = selection.populate.map((populated) => fill(compilation, shape, populated))
  return { statement, parentAt, idAt, columns, fills, form, constants: [...(selection.constants ?? []), ...mark], uid: shape.uid }
}

function fill(compilation: Writer, owner: Shape, populated: Populated): Fill {
  const { name } = populated.attribute
  const wrapped = compilation.format === 'nested' && populated.kind !== 'component' && populated.kind !== 'zone'
  switch (populated.kind) {
    case 'relation': {
      const { attribute, of, filter, sort } = populated
      return { kind: 'rows', name, many: attribute.many, wrapped, level: children(compilation, owner, attribute, of, filter, sort) }
    }
    case 'component': {
      const { attribute, of, filter, sort } = populated
      return { kind: 'rows', name, many: attribute.repeatable, wrapped, level: children(compilation, owner, attribute, of, filter, sort) }
    }
    case 'count':
      return { kind: 'count', name, statement: countOf(compilation, owner, populated) }
    case 'zone': {
      const links = sql`select entity_id, component_type, cmp_id from ${sql.table(owner.componentTable!)} where ${compilation.dialect.isOneOf(sql.ref('entity_id'), parents)} and field = ${constant(name)} order by ${sql.ref('order')}, id`
      const levels = typedLevels(compilation, populated.on, (shape) => ({ name: '__component', json: JSON.stringify(shape.uid) }))
      return { kind: 'typed', name, many: true, wrapped, links: compile(compilation.dialect, links), levels }
    }
    case 'morph': {
      const levels = typedLevels(compilation, populated.on, (shape) => ({ name: '__type', json: JSON.stringify(shape.uid) }), populated.versions)
      return { kind: 'typed', name, many: populated.attribute.many, wrapped, links: compile(compilation.dialect, morphLinks(compilation, owner, populated.attribute)), levels }
    }
    default:
      return unreachable(populated)
  }
}

/** The rows behind a path attribute, for all rows of the level above at once. */
function children(
  compilation: Writer,
  owner: Shape,
  attribute: (Populated & { kind: 'relation' | 'component' })['attribute'],
  of: Selection,
  filter: Filter | null,
  sort: readonly SortKey[],
): Level {
  const alias = compilation.nextAlias()
  const path = pairs(owner, attribute, of.shape, alias)
  const columns = selectColumns(compilation, of, alias, 1)
  const where = every([compilation.dialect.isOneOf(path.owner, parents), ...path.conditions, ...visibleVersions(compilation, attribute, of.shape, alias), ...filtered(compilation, of.shape, alias, filter)])
  const order = orderBy(compilation, of.shape, alias, sort, path.order)
  const statement = compile(compilation.dialect, sql`select ${sql.join([path.owner, ...columns.selected])} from ${path.from} where ${where} order by ${order}`)
  return level(compilation, of, statement, 0, columns)
}

const filtered = (compilation: Writer, shape: Shape, alias: string, filter: Filter | null): readonly Fragment[] =>
  filter === null ? [] : [condition(compilation, shape, alias, filter)]

/** Populated relations follow the status of the request (behaviour: "Fields and populate"). */
function visibleVersions(compilation: Writer, attribute: Populated['attribute'], target: Shape, alias: string): readonly Fragment[] {
  if (attribute.kind === 'relation' && attribute.storage.kind === 'localizations') {
    const link = `${alias}_l`
    return [
      sql`${column(alias, 'id')} <> ${column(link, 'id')}`,
      sql`(${column(alias, 'published_at')} is null) = (${column(link, 'published_at')} is null)`,
    ]
  }
  if (target.kind !== 'contentType' || !target.draftAndPublish) return []
  return [published(alias, compilation.status), ...publicationConditions(compilation, target, alias)]
}

function countOf(compilation: Writer, owner: Shape, { attribute, target, filter }: Populated & { kind: 'count' }): Statement {
  if (attribute.kind === 'morphTo') {
    return compile(compilation.dialect, sql`select parent, count(*) from (${morphLinks(compilation, owner, attribute, false)}) group by parent`)
  }
  const alias = compilation.nextAlias()
  const path = pairs(owner, attribute, target!, alias)
  const where = every([
    compilation.dialect.isOneOf(path.owner, parents),
    ...path.conditions,
    ...visibleVersions(compilation, attribute, target!, alias),
    ...filtered(compilation, target!, alias, filter),
  ])
  return compile(compilation.dialect, sql`select ${path.owner}, count(*) from ${path.from} where ${where} group by ${path.owner}`)
}

function morphLinks(compilation: Writer, owner: Shape, { storage }: (Populated & { kind: 'morph' })['attribute'], ordered = true): Fragment {
  if (storage.kind === 'columns') {
    const { id, type } = storage
    return sql`select id as parent, ${sql.ref(type)}, ${sql.ref(id)} from ${sql.table(owner.table)} where ${compilation.dialect.isOneOf(sql.ref('id'), parents)} and ${sql.ref(id)} is not null`
  }
  const { table, here, id, type, order } = storage
  const end = ordered ? sql` order by ${sql.ref(order)}, id` : sql``
  return sql`select ${sql.ref(here)} as parent, ${sql.ref(type)}, ${sql.ref(id)} from ${sql.table(table)} where ${compilation.dialect.isOneOf(sql.ref(here), parents)}${end}`
}

function typedLevels(
  compilation: Writer,
  on: readonly Selection[],
  mark: (shape: Shape) => Level['constants'][number],
  versions: 'any' | 'status' = 'any',
): Record<string, Level> {
  return Object.fromEntries(
    on.map((selection) => {
      const alias = compilation.nextAlias()
      const columns = selectColumns(compilation, selection, alias, 1)
      const id = column(alias, 'id')
      const { shape } = selection
      const where = [
        compilation.dialect.isOneOf(id, parents),
        ...(versions === 'status' && shape.kind === 'contentType' && shape.draftAndPublish ? [published(alias, compilation.status)] : []),
      ]
      const statement = compile(
        compilation.dialect,
        sql`select ${sql.join([id, ...columns.selected])} from ${sql.table(shape.table)} as ${sql.id(alias)} where ${every(where)}`,
      )
      return [shape.uid, level(compilation, selection, statement, 0, columns, [mark(shape)])]
    }),
  )
}
