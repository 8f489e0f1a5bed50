// A ReadRequest becomes a plan: one select per level, children batched by the ids of the rows above. Pure.
import { sql } from 'kysely'
import type { Dialect, Expression } from '../../database/dialect.js'
import type { Envelope, Fill, Level, MemberColumn, ReadPlan, Statement } from '../../database/plan.js'
import { assertNever, type ContentType, type Scalar, type Schema } from '../../model/schema/types.js'
import { attributeTypes } from '../../model/types/attribute-types.js'
import type { Contract } from '../contract.js'
import type { Filter, Keyset, LinkPage, Populated, ReadRequest, Selection, SortKey } from '../request.js'
import { pageValues, stateName } from '../request.js'
import type { Compilation } from './conditions.js'
import {
  chosenLocales,
  condition,
  publicationConditions,
  publicationState,
  published,
  value,
  visibleRows,
  withinScope,
} from './conditions.js'
import { column, constant, every, getJoins } from './joins.js'
import {
  afterPosition,
  compileAccessPaths,
  compilePage,
  compilePageWithTotal,
  compileTotal,
  type PageQuery,
  sortKey,
  sortValue,
} from './pages.js'

const parents: Expression = sql`${{ from: 'parents' } as never}`

/** `data`: the contract's envelope; `bare`: the objects alone; `count`: their number; `countToLimit`: the same, up to the limit of the page. */
export type EnvelopeKind = 'data' | 'bare' | 'count' | 'countToLimit'

/** Compiles a request for one database. The same shape always gives the same plan. */
export function compileRead(request: ReadRequest, dialect: Dialect, contract: Contract, envelope: EnvelopeKind): ReadPlan {
  let aliases = 0
  const compilation: Compiler = {
    dialect,
    contract,
    status: request.status,
    closedDrafts: request.closedDrafts,
    scopes: request.scopes,
    publication: request.publication,
    targetLocale: request.targetLocale,
    drivers: 'selective',
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
  if (request.keyset !== undefined) return compileKeysetPage(compilation, request, request.keyset, query, columns)
  const root = toLevel(compilation, request.selection, compilePage(compilation, query), { parentAt: null, orderAt: [], columns })
  return { root, envelope: compileEnvelope(compilation, request, envelope, query) }
}

const noTotals = { count: null, counted: null }

function compileEnvelope(compilation: Compiler, { mode, page }: ReadRequest, kind: EnvelopeKind, query: PageQuery): Envelope {
  if (kind === 'count' || kind === 'countToLimit')
    return { kind: 'count', count: compileTotal(compilation, query, kind === 'countToLimit') }
  if (mode === 'first') return { kind: kind === 'data' ? 'one' : 'bareOne' }
  if (kind === 'bare') return { kind: 'bareList' }
  const totals = page.withCount ? { count: compileTotal(compilation, query), counted: compilePageWithTotal(compilation, query) } : noTotals
  return { kind: 'list', style: page.style, ...pageValues, ...totals, ways: compileAccessPaths(compilation, query, page.withCount) }
}

interface Compiler extends Compilation {
  readonly format: ReadRequest['format']
}

function baseConditions(compilation: Compiler, { type, locale, status }: ReadRequest): readonly Expression[] {
  const versions = type.draftAndPublish ? [published('t0', status), ...publicationConditions(compilation, type, 't0')] : []
  const scope = compilation.scopes?.[type.uid] === undefined ? [] : withinScope(compilation, type, 't0')
  return [...versions, ...chosenLocales(compilation, type, 't0', locale), ...scope]
}

/** The caller's keys, then the tie-breaker. */
function orderBy(compilation: Compiler, shape: Schema, alias: string, keys: readonly SortKey[], tie: Expression): Expression {
  const sorted = keys.map((key) => sortKey(compilation, sortValue(compilation, shape, alias, key), key.descending))
  return sql.join([...sorted, tie])
}

interface SelectedColumns {
  readonly selected: readonly Expression[]
  readonly columns: readonly MemberColumn[]
  readonly idAt: number
}

/** The result columns of a level, numbered from `at`. The row id always comes first. */
function selectColumns(compilation: Compiler, selection: Selection, alias: string, at: number): SelectedColumns {
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
  if (selection.state !== undefined) {
    columns.push({ name: stateName, at: at + selected.length, answer: 'text' })
    selected.push(publicationState(compilation, selection.shape as ContentType, alias, selection.state.model))
  }
  return { selected, columns, idAt: at }
}

/** The plan of a keyset page. Its rows contain the values of their sort keys. */
function compileKeysetPage(
  compilation: Compiler,
  { selection, sort }: ReadRequest,
  { position, backwards }: Keyset,
  query: PageQuery,
  { selected, columns, idAt }: SelectedColumns,
): ReadPlan {
  const keys = query.keys.map((key) => ({ ...key, descending: key.descending !== backwards }))
  const types = sort.map(({ attribute }) => attribute.type)
  const members = keys.map(({ as }, index): readonly [Expression, MemberColumn] => {
    const { answer } = attributeTypes[types[index]!]
    const shown = answer === 'timestamp' && !compilation.contract.timestampsAsMilliseconds ? 'datetime' : answer
    return [compilation.dialect.selected(column('page', as), answer), { name: `$${index}`, at: selected.length + index, answer: shown }]
  })
  const all = { selected: [...selected, ...members.map(([value]) => value)], columns: [...columns, ...members.map(([, one]) => one)], idAt }
  const behindIt = position === null ? [] : afterPosition(compilation, keys, types, position, backwards)
  const found = { ...query, keys, base: [...query.base, ...behindIt], selected: all.selected, idsGoDown: backwards }
  const root = toLevel(compilation, selection, compilePage(compilation, found), { parentAt: null, orderAt: [], columns: all })
  return { root, envelope: { kind: 'bareList' } }
}

function selectField(compilation: Compiler, field: Scalar, alias: string, selected: Expression[], at: number): MemberColumn {
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

function toLevel(
  compilation: Compiler,
  selection: Selection,
  statement: Statement,
  {
    parentAt,
    orderAt,
    columns: { columns, idAt },
  }: { readonly parentAt: number | null; readonly orderAt: readonly number[]; readonly columns: SelectedColumns },
  mark: Level['constants'] = [],
): Level {
  const { shape } = selection
  const form = compilation.format === 'nested' && shape.kind === 'contentType' ? 'nested' : 'flat'
  const fills = selection.populate.map((populated) => compileFill(compilation, shape, populated))
  return { statement, parentAt, orderAt, idAt, columns, fills, form, constants: [...(selection.constants ?? []), ...mark], uid: shape.uid }
}

function compileFill(compilation: Compiler, owner: Schema, populated: Populated): Fill {
  const { name } = populated.attribute
  const wrapped =
    compilation.format === 'nested' &&
    (populated.attribute.kind === 'relation' || populated.attribute.kind === 'morphFrom' || populated.attribute.kind === 'media')
  switch (populated.kind) {
    case 'relation': {
      const { attribute, of, filter, sort, page: some } = populated
      return {
        kind: 'rows',
        name,
        many: attribute.many,
        wrapped,
        level: compileChildren(compilation, owner, attribute, of, filter, sort, some),
      }
    }
    case 'component': {
      const { attribute, of, filter, sort, page: some } = populated
      const entries = compileChildren(compilation, owner, attribute, of, filter, sort, some)
      return { kind: 'rows', name, many: attribute.repeatable, wrapped, level: entries }
    }
    case 'count':
      return { kind: 'count', name, wrapped, statement: compileCount(compilation, owner, populated) }
    case 'zone': {
      const levels = compileTypedLevels(compilation, populated.on, (shape) => ({ name: '__component', json: JSON.stringify(shape.uid) }))
      return { kind: 'typed', name, many: true, wrapped, links: zoneLinks(compilation, owner, name, populated.page), levels }
    }
    case 'morph': {
      // The rows of a morphTo are flat in both formats, with everything below them.
      const levels = compileTypedLevels({ ...compilation, format: 'flat' }, populated.on, (shape) => ({
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
 * The targets of a path attribute, for all rows of the parent level at once: from their ids to the links to the targets.
 * Each row carries the position of its link and is sorted afterwards: sorting whole rows in SQL costs more than reading them.
 */
function compileChildren(
  compilation: Compiler,
  owner: Schema,
  attribute: (Populated & { kind: 'relation' | 'component' })['attribute'],
  of: Selection,
  filter: Filter | null,
  sort: readonly SortKey[],
  some?: LinkPage,
): Level {
  const alias = compilation.nextAlias()
  const path = getJoins(compilation.dialect, owner, attribute, of.shape, alias)
  const columns = selectColumns(compilation, of, alias, 1)
  const where = every([
    ...path.conditions,
    ...visibleRows(compilation, { kind: 'populate', owner, attribute, target: of.shape }, alias),
    ...filterConditions(compilation, of.shape, alias, filter),
  ])
  const links = sort.length === 0 ? path.order : []
  const selected = [path.owner, ...columns.selected, ...links]
  const order = sort.length === 0 ? sql`` : sql` order by ${orderBy(compilation, of.shape, alias, sort, path.tie)}`
  const statement = compilation.dialect.compile(
    sql`select ${sql.join(selected)} from ${fromParents(compilation, path.tables)} where ${path.owner} = ${parent} and ${where}${order}${some === undefined ? sql`` : pageOfLinks(compilation, links, some)}`,
  )
  const orderAt = links.map((_, index) => selected.length - links.length + index)
  return toLevel(compilation, of, statement, { parentAt: 0, orderAt, columns })
}

/** One page of targets; `links`: their order, if the statement is not sorted yet. */
function pageOfLinks({ dialect }: Compiler, links: readonly Expression[], { start, limit }: LinkPage): Expression {
  const order = links.length === 0 ? sql`` : sql` order by ${sql.join([...links])}`
  return sql`${order} limit ${dialect.rowCount(value(limit))} offset ${dialect.rowCount(value(start))}`
}

/** The ids of the parent rows, then the tables in this order: the ids are few. */
function fromParents(compilation: Compiler, tables: readonly Expression[]): Expression {
  return compilation.dialect.joinedInOrder([compilation.dialect.numberTable(parents, 'parents'), ...tables])
}

const parent = column('parents', 'value')

const filterConditions = (compilation: Compiler, shape: Schema, alias: string, filter: Filter | null): readonly Expression[] =>
  filter === null ? [] : [condition(compilation, shape, alias, filter)]

function compileCount(
  compilation: Compiler,
  owner: Schema,
  { attribute, target, filter, of = [] }: Populated & { kind: 'count' },
): Statement {
  if (attribute.kind === 'morphTo') {
    const { tables, conditions: links, owner: here, selected } = morphPairs(owner, attribute)
    const conditions = [...links, namesVisibleRow(compilation, of, selected[1]!, selected[2]!)]
    return compilation.dialect.compile(
      sql`select ${here}, count(*) from ${fromParents(compilation, tables)} where ${every(conditions)} group by ${here}`,
    )
  }
  const alias = compilation.nextAlias()
  const path = getJoins(compilation.dialect, owner, attribute, target!, alias)
  const where = every([
    ...path.conditions,
    ...visibleRows(compilation, { kind: 'populate', owner, attribute, target: target! }, alias),
    ...filterConditions(compilation, target!, alias, filter),
  ])
  return compilation.dialect.compile(
    sql`select ${path.owner}, count(*) from ${fromParents(compilation, path.tables)} where ${path.owner} = ${parent} and ${where} group by ${path.owner}`,
  )
}

/** A morphTo points to a row of one of these types; of types with drafts, to one that the request may see. */
function namesVisibleRow(compilation: Compiler, types: readonly ContentType[], uid: Expression, id: Expression): Expression {
  const named = types.map((type) => {
    const alias = compilation.nextAlias()
    const seen = visibleRows(compilation, { kind: 'named', target: type, versions: 'any' }, alias)
    return { uid: constant(type.uid), row: seen.length === 0 ? null : rowExists(type, alias, id, seen) }
  })
  const whole = named.filter(({ row }) => row === null)
  const parts = named.flatMap((type) => (type.row === null ? [] : [sql`(${uid} = ${type.uid} and ${type.row})`]))
  const some = whole.length === 0 ? parts : [sql`${uid} in (${sql.join(whole.map((type) => type.uid))})`, ...parts]
  return some.length === 0 ? sql`1 = 0` : sql`(${sql.join(some, sql` or `)})`
}

const rowExists = (type: ContentType, alias: string, id: Expression, conditions: readonly Expression[]): Expression =>
  sql`exists (select 1 from ${sql.table(type.table)} as ${sql.id(alias)} where ${every([sql`${column(alias, 'id')} = ${id}`, ...conditions])})`

/** The entries of a zone: owner, component, row id, and their order. */
function zoneLinks(compilation: Compiler, owner: Schema, name: string, some?: LinkPage): Statement {
  const links = sql`${sql.table(owner.componentTable!)} as ${sql.id('l')}`
  const is = (column: string) => sql.ref(`l.${column}`)
  return compilation.dialect.compile(
    sql`select ${sql.join(['entity_id', 'component_type', 'cmp_id', 'order', 'id'].map(is))} from ${fromParents(compilation, [links])}
      where ${compilation.dialect.stoppable(is('id'))} and ${is('entity_id')} = ${parent} and ${compilation.dialect.unindexed(is('field'))} = ${constant(name)}${some === undefined ? sql`` : pageOfLinks(compilation, ['order', 'id'].map(is), some)}`,
  )
}

/** The targets of a morphTo: owner, type, row id, and their order. */
function morphLinks(
  compilation: Compiler,
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

function compileTypedLevels(
  compilation: Compiler,
  on: readonly Selection[],
  mark: (shape: Schema) => Level['constants'][number],
): Record<string, Level> {
  return Object.fromEntries(
    on.map((selection) => {
      const alias = compilation.nextAlias()
      const columns = selectColumns(compilation, selection, alias, 1)
      const id = column(alias, 'id')
      const { shape, versions = 'any' } = selection
      const seen = visibleRows(compilation, { kind: 'named', target: shape, versions }, alias)
      const where = every([sql`${id} = ${parent}`, ...seen, ...filterConditions(compilation, shape, alias, selection.filter ?? null)])
      const tables = fromParents(compilation, [sql`${sql.table(shape.table)} as ${sql.id(alias)}`])
      const statement = compilation.dialect.compile(sql`select ${sql.join([id, ...columns.selected])} from ${tables} where ${where}`)
      return [shape.uid, toLevel(compilation, selection, statement, { parentAt: 0, orderAt: [], columns }, [mark(shape)])]
    }),
  )
}

/** A text that is equal for requests of the same shape (everything but their values), under one model and one contract. */
export function toPlanKey({ values: _values, page, ...rest }: ReadRequest): string {
  return JSON.stringify({ ...rest, page: [page.style, page.withCount] }, namesOnly)
}

/** Types and components become their uid, attributes their name: the path to them implies the rest. The model is always the same. */
function namesOnly(key: string, value: unknown): unknown {
  if (key === 'model') return undefined
  if (typeof value !== 'object' || value === null || !('source' in value)) return value
  return 'uid' in value ? value.uid : (value as unknown as { name: string }).name
}
