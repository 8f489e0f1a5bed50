// A ReadRequest becomes a plan: one select per level, children batched by the ids of the rows above. Pure.
import { sql } from 'kysely'
import type { Dialect, Expression } from '../../database/dialect.js'
import type { Envelope, Fill, Level, MemberColumn, ReadPlan, Statement } from '../../database/plan.js'
import { attributeTypes } from '../../model/schema/attributes.js'
import type { ContentType, Scalar, Schema } from '../../model/schema/types.js'
import { assertNever } from '../../model/schema/types.js'
import type { Contract } from '../contract.js'
import type { Filter, Keyset, LinkPage, Populated, ReadRequest, Selection, SortKey } from '../request.js'
import { pageValues } from '../request.js'
import type { Compilation } from './conditions.js'
import { chosenLocales, column, condition, publicationConditions, published, seenRows, value, withinScope } from './conditions.js'
import { constant, every, joinsOf } from './joins.js'
import { behind } from './keyset.js'
import type { PageQuery } from './pages.js'
import { accessPaths, count, counted, page } from './pages.js'
import { sortKey, sortValue } from './sort-values.js'

const parents: Expression = sql`${{ from: 'parents' } as never}`

/** `data`: the contract's envelope; `bare`: the objects alone; `count`: their number; `countToLimit`: the same, up to the limit of the page. */
export type EnvelopeKind = 'data' | 'bare' | 'count' | 'countToLimit'

/** Compiles a request for one database. The same shape always gives the same plan. */
export function compileRead(request: ReadRequest, dialect: Dialect, contract: Contract, envelope: EnvelopeKind): ReadPlan {
  let aliases = 0
  const compilation: Writer = {
    dialect,
    contract,
    status: request.status,
    closedDrafts: request.closedDrafts,
    scopes: request.scopes,
    publication: request.publication,
    targetLocale: request.targetLocale,
    leads: 'selective',
    nextAlias: () => `t${++aliases}`,
    format: request.format,
  }
  const { type } = request
  const columns = selectColumns(compilation, request.selection, 't0', 0)
  const query: PageQuery = {
    type,
    base: baseConditions(compilation, request),
    isPlain: request.publication.length === 0 && request.locale.kind !== 'filter' && request.scopes[type.uid] === undefined,
    filter: request.filter,
    keys: request.sort.map((key, index) => ({
      value: sortValue(compilation, type, 't0', key),
      as: `s${index}`,
      descending: key.descending,
      isOwn: key.path.length === 0,
    })),
    limit: sql`limit ${request.mode === 'first' ? sql.lit(1) : dialect.rowCount(value(pageValues.limit))} offset ${dialect.rowCount(value(pageValues.start))}`,
    skips: request.mode !== 'first',
    selected: columns.selected,
  }
  if (request.keyset !== undefined) return keysetPlan(compilation, request, request.keyset, query, columns)
  const root = level(compilation, request.selection, page(compilation, query), { parentAt: null, orderAt: [], columns })
  return { root, envelope: envelopeOf(compilation, request, envelope, query) }
}

const noTotals = { count: null, counted: null }

function envelopeOf(compilation: Writer, { mode, page }: ReadRequest, kind: EnvelopeKind, query: PageQuery): Envelope {
  if (kind === 'count' || kind === 'countToLimit') return { kind: 'count', count: count(compilation, query, kind === 'countToLimit') }
  if (mode === 'first') return { kind: kind === 'data' ? 'one' : 'bareOne' }
  if (kind === 'bare') return { kind: 'bareList' }
  const totals = page.withCount ? { count: count(compilation, query), counted: counted(compilation, query) } : noTotals
  return { kind: 'list', style: page.style, ...pageValues, ...totals, ways: accessPaths(compilation, query, page.withCount) }
}

interface Writer extends Compilation {
  readonly format: ReadRequest['format']
}

function baseConditions(compilation: Writer, { type, locale, status }: ReadRequest): readonly Expression[] {
  const versions = type.draftAndPublish ? [published('t0', status), ...publicationConditions(compilation, type, 't0')] : []
  const scope = compilation.scopes?.[type.uid] === undefined ? [] : withinScope(compilation, type, 't0')
  return [...versions, ...chosenLocales(compilation, type, 't0', locale), ...scope]
}

/** The caller's keys, and what ends every order. */
function orderBy(compilation: Writer, shape: Schema, alias: string, keys: readonly SortKey[], tie: Expression): Expression {
  const sorted = keys.map((key) => sortKey(compilation, sortValue(compilation, shape, alias, key), key.descending))
  return sql.join([...sorted, tie])
}

interface Selected {
  readonly selected: readonly Expression[]
  readonly columns: readonly MemberColumn[]
  readonly idAt: number
}

/** The result columns of a level, numbered from `at`. The row id always comes first. */
function selectColumns(compilation: Writer, selection: Selection, alias: string, at: number): Selected {
  const selected: Expression[] = [column(alias, 'id')]
  const columns: MemberColumn[] = []
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

/** The plan of a page that is found by the row next to it. Its rows show what they are sorted by. */
function keysetPlan(
  compilation: Writer,
  { selection, sort }: ReadRequest,
  { position, backwards }: Keyset,
  query: PageQuery,
  { selected, columns, idAt }: Selected,
): ReadPlan {
  const keys = query.keys.map((key) => ({ ...key, descending: key.descending !== backwards }))
  const types = sort.map(({ attribute }) => attribute.type)
  const members = keys.map(({ as }, index): readonly [Expression, MemberColumn] => {
    const { answer } = attributeTypes[types[index]!]
    const shown = answer === 'timestamp' && !compilation.contract.timestampsAsMilliseconds ? 'datetime' : answer
    return [compilation.dialect.selected(column('page', as), answer), { name: `$${index}`, at: selected.length + index, answer: shown }]
  })
  const all = { selected: [...selected, ...members.map(([value]) => value)], columns: [...columns, ...members.map(([, one]) => one)], idAt }
  const behindIt = position === null ? [] : behind(compilation, keys, types, position, backwards)
  const found = { ...query, keys, base: [...query.base, ...behindIt], selected: all.selected, idsGoDown: backwards }
  const root = level(compilation, selection, page(compilation, found), { parentAt: null, orderAt: [], columns: all })
  return { root, envelope: { kind: 'bareList' } }
}

function selectField(compilation: Writer, field: Scalar, alias: string, selected: Expression[], at: number): MemberColumn {
  const { answer } = attributeTypes[field.type]
  const stored = compilation.dialect.selected(column(alias, field.column), answer)
  const here = at + selected.length
  switch (answer) {
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
  {
    parentAt,
    orderAt,
    columns: { columns, idAt },
  }: { readonly parentAt: number | null; readonly orderAt: readonly number[]; readonly columns: Selected },
  mark: Level['constants'] = [],
): Level {
  const { shape } = selection
  const form = compilation.format === 'nested' && shape.kind === 'contentType' ? 'nested' : 'flat'
  const fills = selection.populate.map((populated) => fill(compilation, shape, populated))
  return { statement, parentAt, orderAt, idAt, columns, fills, form, constants: [...(selection.constants ?? []), ...mark], uid: shape.uid }
}

function fill(compilation: Writer, owner: Schema, populated: Populated): Fill {
  const { name } = populated.attribute
  const wrapped =
    compilation.format === 'nested' &&
    (populated.attribute.kind === 'relation' || populated.attribute.kind === 'morphFrom' || populated.attribute.kind === 'media')
  switch (populated.kind) {
    case 'relation': {
      const { attribute, of, filter, sort, page: some } = populated
      return { kind: 'rows', name, many: attribute.many, wrapped, level: children(compilation, owner, attribute, of, filter, sort, some) }
    }
    case 'component': {
      const { attribute, of, filter, sort, page: some } = populated
      const entries = children(compilation, owner, attribute, of, filter, sort, some)
      return { kind: 'rows', name, many: attribute.repeatable, wrapped, level: entries }
    }
    case 'count':
      return { kind: 'count', name, wrapped, statement: countOf(compilation, owner, populated) }
    case 'zone': {
      const levels = typedLevels(compilation, populated.on, (shape) => ({ name: '__component', json: JSON.stringify(shape.uid) }))
      return { kind: 'typed', name, many: true, wrapped, links: zoneLinks(compilation, owner, name, populated.page), levels }
    }
    case 'morph': {
      // The rows of a morphTo are flat in both forms, and so is all below them.
      const levels = typedLevels({ ...compilation, format: 'flat' }, populated.on, (shape) => ({
        name: '__type',
        json: JSON.stringify(shape.uid),
      }))
      return {
        kind: 'typed',
        name,
        many: populated.attribute.many,
        wrapped,
        links: morphLinks(compilation, owner, populated.attribute, populated.page),
        levels,
      }
    }
    default:
      return assertNever(populated)
  }
}

/**
 * The rows behind a path attribute, for all rows of the level above at once: from their ids to the links to the targets.
 * The order of links is a number beside each row and is put right afterwards: sorting whole rows costs more than reading them.
 */
function children(
  compilation: Writer,
  owner: Schema,
  attribute: (Populated & { kind: 'relation' | 'component' })['attribute'],
  of: Selection,
  filter: Filter | null,
  sort: readonly SortKey[],
  some?: LinkPage,
): Level {
  const alias = compilation.nextAlias()
  const path = joinsOf(compilation.dialect, owner, attribute, of.shape, alias)
  const columns = selectColumns(compilation, of, alias, 1)
  const where = every([
    ...path.conditions,
    ...seenRows(compilation, { kind: 'populate', owner, attribute, target: of.shape }, alias),
    ...filtered(compilation, of.shape, alias, filter),
  ])
  const links = sort.length === 0 ? path.order : []
  const selected = [path.owner, ...columns.selected, ...links]
  const order = sort.length === 0 ? sql`` : sql` order by ${orderBy(compilation, of.shape, alias, sort, path.tie)}`
  const statement = compilation.dialect.compile(
    sql`select ${sql.join(selected)} from ${fromParents(compilation, path.tables)} where ${path.owner} = ${parent} and ${where}${order}${some === undefined ? sql`` : pageOfLinks(compilation, links, some)}`,
  )
  const orderAt = links.map((_, index) => selected.length - links.length + index)
  return level(compilation, of, statement, { parentAt: 0, orderAt, columns })
}

/** Some targets, in their order; `links`: what sorts them if nothing does yet. */
function pageOfLinks({ dialect }: Writer, links: readonly Expression[], { start, limit }: LinkPage): Expression {
  const order = links.length === 0 ? sql`` : sql` order by ${sql.join([...links])}`
  return sql`${order} limit ${dialect.rowCount(value(limit))} offset ${dialect.rowCount(value(start))}`
}

/** The ids of the rows above, then the tables in this order: the ids are few. */
function fromParents(compilation: Writer, tables: readonly Expression[]): Expression {
  return compilation.dialect.joinedInOrder([compilation.dialect.listed(parents, 'parents'), ...tables])
}

const parent = column('parents', 'value')

const filtered = (compilation: Writer, shape: Schema, alias: string, filter: Filter | null): readonly Expression[] =>
  filter === null ? [] : [condition(compilation, shape, alias, filter)]

function countOf(compilation: Writer, owner: Schema, { attribute, target, filter, of = [] }: Populated & { kind: 'count' }): Statement {
  if (attribute.kind === 'morphTo') {
    const { tables, conditions: links, owner: here, selected } = morphPairs(owner, attribute)
    const conditions = [...links, isNamed(compilation, of, selected[1]!, selected[2]!)]
    return compilation.dialect.compile(
      sql`select ${here}, count(*) from ${fromParents(compilation, tables)} where ${every(conditions)} group by ${here}`,
    )
  }
  const alias = compilation.nextAlias()
  const path = joinsOf(compilation.dialect, owner, attribute, target!, alias)
  const where = every([
    ...path.conditions,
    ...seenRows(compilation, { kind: 'populate', owner, attribute, target: target! }, alias),
    ...filtered(compilation, target!, alias, filter),
  ])
  return compilation.dialect.compile(
    sql`select ${path.owner}, count(*) from ${fromParents(compilation, path.tables)} where ${path.owner} = ${parent} and ${where} group by ${path.owner}`,
  )
}

/** A morphTo names a row of one of these types, and of those with drafts one that the request may see. */
function isNamed(compilation: Writer, types: readonly ContentType[], uid: Expression, id: Expression): Expression {
  const named = types.map((type) => {
    const alias = compilation.nextAlias()
    const seen = seenRows(compilation, { kind: 'named', target: type, versions: 'any' }, alias)
    return { uid: constant(type.uid), row: seen.length === 0 ? null : rowOf(type, alias, id, seen) }
  })
  const whole = named.filter(({ row }) => row === null)
  const parts = named.flatMap((type) => (type.row === null ? [] : [sql`(${uid} = ${type.uid} and ${type.row})`]))
  const some = whole.length === 0 ? parts : [sql`${uid} in (${sql.join(whole.map((type) => type.uid))})`, ...parts]
  return some.length === 0 ? sql`1 = 0` : sql`(${sql.join(some, sql` or `)})`
}

const rowOf = (type: ContentType, alias: string, id: Expression, conditions: readonly Expression[]): Expression =>
  sql`exists (select 1 from ${sql.table(type.table)} as ${sql.id(alias)} where ${every([sql`${column(alias, 'id')} = ${id}`, ...conditions])})`

/** The entries of a zone: owner, component, row id, and what sorts them. */
function zoneLinks(compilation: Writer, owner: Schema, name: string, some?: LinkPage): Statement {
  const links = sql`${sql.table(owner.componentTable!)} as ${sql.id('l')}`
  const is = (column: string) => sql.ref(`l.${column}`)
  return compilation.dialect.compile(
    sql`select ${sql.join(['entity_id', 'component_type', 'cmp_id', 'order', 'id'].map(is))} from ${fromParents(compilation, [links])}
      where ${compilation.dialect.stoppable(is('id'))} and ${is('entity_id')} = ${parent} and ${compilation.dialect.unindexed(is('field'))} = ${constant(name)}${some === undefined ? sql`` : pageOfLinks(compilation, ['order', 'id'].map(is), some)}`,
  )
}

/** The rows that a morphTo names: owner, type, row id, and what sorts them. */
function morphLinks(
  compilation: Writer,
  owner: Schema,
  attribute: (Populated & { kind: 'morph' })['attribute'],
  some?: LinkPage,
): Statement {
  const { tables, conditions, selected } = morphPairs(owner, attribute)
  return compilation.dialect.compile(
    sql`select ${sql.join(selected)} from ${fromParents(compilation, tables)} where ${every(conditions)}${some === undefined ? sql`` : pageOfLinks(compilation, selected.slice(3), some)}`,
  )
}

function morphPairs(owner: Schema, { storage }: (Populated & { kind: 'morph' })['attribute']) {
  const is = (name: string): Expression => column('l', name)
  if (storage.kind === 'columns') {
    const { id, type } = storage
    return {
      tables: [sql`${sql.table(owner.table)} as ${sql.id('l')}`],
      owner: is('id'),
      conditions: [sql`${is('id')} = ${parent}`, sql`${is(id)} is not null`],
      selected: [is('id'), is(type), is(id), is('id'), is('id')],
    }
  }
  const { table, here, id, type, order } = storage
  return {
    tables: [sql`${sql.table(table)} as ${sql.id('l')}`],
    owner: is(here),
    conditions: [sql`${is(here)} = ${parent}`],
    selected: [is(here), is(type), is(id), is(order), is('id')],
  }
}

function typedLevels(
  compilation: Writer,
  on: readonly Selection[],
  mark: (shape: Schema) => Level['constants'][number],
): Record<string, Level> {
  return Object.fromEntries(
    on.map((selection) => {
      const alias = compilation.nextAlias()
      const columns = selectColumns(compilation, selection, alias, 1)
      const id = column(alias, 'id')
      const { shape, versions = 'any' } = selection
      const seen = seenRows(compilation, { kind: 'named', target: shape, versions }, alias)
      const where = every([sql`${id} = ${parent}`, ...seen, ...filtered(compilation, shape, alias, selection.filter ?? null)])
      const tables = fromParents(compilation, [sql`${sql.table(shape.table)} as ${sql.id(alias)}`])
      const statement = compilation.dialect.compile(sql`select ${sql.join([id, ...columns.selected])} from ${tables} where ${where}`)
      return [shape.uid, level(compilation, selection, statement, { parentAt: 0, orderAt: [], columns }, [mark(shape)])]
    }),
  )
}
