// Filters become SQL: the operators, and the versions that a request sees on each hop to other rows. A condition on a relation holds if it holds for one target, or, as with a left join, for the missing
// target if there is none; so NOT is pushed down to the single comparisons, except around a relation to many (row 17).

import { type RawBuilder, sql } from 'kysely'
import type { ComparisonSign, Dialect, Expression } from '../../database/dialect.js'
import type { Parameter } from '../../database/plan.js'
import { bindTimestamp } from '../../database/portable-sql.js'
import type { ScalarType } from '../../foundation/public/attribute-types.js'
import type { PublicationFilter } from '../../foundation/public/content/queries.js'
import { assertNever, type ContentType, type Model, type Schema } from '../../model/schema/types.js'
import { attributeTypes } from '../../model/types/attribute-types.js'
import type { Contract } from '../contract.js'
import type { OperatorName } from '../operators.js'
import type {
  DocumentState,
  Filter,
  LocaleChoice,
  PathAttribute,
  Publication,
  ReadRequest,
  RelatedFilter,
  RowScopes,
  StateFilter,
  Status,
  ValueIndex,
} from '../request.js'
import { column, constant, every, from, fromOwner, getJoins, type Joins } from './joins.js'
import { isModified } from './modified.js'

/** State of a compilation, shared by all conditions. */
export interface Compilation extends VersionContext {
  readonly dialect: Dialect
  readonly publication: ReadRequest['publication']
  /** The locales that localized targets must have, where the links do not say it already; null: any. */
  readonly targetLocale: LocaleChoice | null
  readonly nextAlias: () => string
  /** Conditions on relations that start at the targets: those that are likely to match few, or the listed ones. */
  readonly drivers: 'selective' | readonly Filter[]
  /** True below a relation whose targets are found as a set: deeper relations are then found as sets too. */
  readonly usesSets?: boolean
}

/** A placeholder for a value of the request. `type`: the type of its attribute, since timestamps are bound differently. */
export function value(index: ValueIndex, type?: ScalarType): Expression {
  const parameter: Parameter = { from: 'values', index }
  return type !== undefined && attributeTypes[type].family === 'datetime' ? bindTimestamp(parameter) : sql`${parameter}`
}

/** The condition that `filter` sets on the row of `shape` aliased `alias`. */
export function condition(compilation: Compilation, shape: Schema, alias: string, filter: Filter, negated = false): Expression {
  switch (filter.kind) {
    case 'all':
    case 'any': {
      const parts = filter.of.map((part) => condition(compilation, shape, alias, part, negated))
      return sql`(${sql.join(parts, (filter.kind === 'all') === negated ? sql` or ` : sql` and `)})`
    }
    case 'not':
      return condition(compilation, shape, alias, filter.of, !negated)
    case 'compare': {
      const { dialect, contract } = compilation
      const { column: name, type } = filter.attribute
      const test = operatorSql[filter.operator](
        { dialect, contract, column: column(alias, name), type },
        filter.values.map((index) => value(index, type)),
      )
      return negated ? sql`not (${test})` : sql`${test}`
    }
    case 'state': {
      const test = hasState(compilation, shape as ContentType, alias, filter)
      return negated ? sql`not ${test}` : test
    }
    case 'related':
      return related(compilation, shape, alias, filter, negated)
    default:
      return assertNever(filter)
  }
}

/** The way to the targets of a filter, without its condition. */
function joinTargets(compilation: Compilation, shape: Schema, { path: attribute, target }: RelatedFilter) {
  const alias = compilation.nextAlias()
  const path = getJoins(compilation.dialect, shape, attribute, target, alias)
  const conditions = [...path.conditions, ...visibleRows(compilation, { kind: 'condition', owner: shape, attribute, target }, alias)]
  // However the row is found, its targets are found from theirs.
  const behind: Compilation = { ...compilation, drivers: 'selective', usesSets: true }
  const holds = (filter: Filter, negated = false) => condition(behind, target, alias, filter, negated)
  return { path, conditions, holds }
}

/** True if `$not` around a condition on several targets requires that none meets it: one that does decides. */
const negatesAll = ({ contract }: Compilation, { path }: RelatedFilter): boolean =>
  contract.notMeansNone && (path.kind === 'component' ? path.repeatable : path.many)

/** `inNot`: the caller negates the whole condition. */
function related(
  compilation: Compilation,
  shape: Schema,
  alias: string,
  filter: RelatedFilter,
  negated: boolean,
  inNot = false,
): Expression {
  if (negated && negatesAll(compilation, filter)) return sql`not ${related(compilation, shape, alias, filter, false, true)}`
  const { path, conditions, holds } = joinTargets(compilation, shape, filter)
  const where = holds(filter.where, negated)
  const missing = holdsForMissingTarget(compilation, filter.where, negated)
  const { dialect, drivers, usesSets = false } = compilation
  if (usesSets || isDeep(filter.where)) {
    // `not in` is never true for a set that contains null.
    const owned = inNot ? [...conditions, sql`${path.owner} is not null`] : conditions
    return inOwnerSet(column(alias, 'id'), path, owned, where, missing)
  }
  const ours = sql`${path.owner} = ${column(alias, 'id')}`
  // Few targets are found once and lead to their owners; for many it is cheaper to look from each owner.
  const startsAtTargets = !negated && !inNot && (drivers === 'selective' ? isSelective(filter.where) : drivers.includes(filter))
  const tables = drivers === 'selective' ? from(path) : fromOwner(dialect, path)
  const some = startsAtTargets
    ? sql`${column(alias, 'id')} in (select ${path.owner} from ${from(path)} where ${every([...conditions, where])})`
    : sql`exists (select 1 from ${tables} where ${every([ours, ...conditions, where])})`
  if (!missing) return some
  return sql`(${some} or not exists (select 1 from ${tables} where ${every([ours, ...conditions])}))`
}

/**
 * A condition through several relations, level by level: the rows with matching targets are a set that is found once, from the
 * set of the next level. Tested row by row instead, each level would multiply the cost of the previous one.
 */
function inOwnerSet(id: Expression, path: Joins, conditions: readonly Expression[], where: Expression, missing: boolean): Expression {
  const owners = (tests: readonly Expression[]) => sql`select ${path.owner} from ${from(path)} where ${every(tests)}`
  const some = sql`${id} in (${owners([...conditions, where])})`
  // `not in` is never true for a set that contains null.
  return missing ? sql`(${some} or ${id} not in (${owners([...conditions, sql`${path.owner} is not null`])}))` : some
}

/** True if a condition crosses a relation. */
export function isDeep(filter: Filter): boolean {
  if (filter.kind === 'compare' || filter.kind === 'state') return false
  if (filter.kind === 'related') return true
  return filter.kind === 'not' ? isDeep(filter.of) : filter.of.some(isDeep)
}

/** The number of links to targets that match the filter, counted up to `max`. */
export function countLinks(compilation: Compilation, shape: Schema, filter: RelatedFilter, max: Expression): Expression {
  const { path, conditions, holds } = joinTargets(compilation, shape, filter)
  return sql`select count(*) from (select 1 from ${from(path)} where ${every([...conditions, holds(filter.where)])} limit ${max})`
}

/** True if a condition is likely to match few rows: an equality on an attribute with many distinct values. */
export function isSelective(filter: Filter): boolean {
  switch (filter.kind) {
    case 'all':
      return filter.of.some(isSelective)
    case 'any':
      return filter.of.every(isSelective)
    case 'not':
    case 'state':
      return false
    case 'compare':
      return (
        (filter.operator === '$eq' || filter.operator === '$in') &&
        filter.attribute.type !== 'boolean' &&
        filter.attribute.type !== 'enumeration'
      )
    case 'related':
      return isSelective(filter.where)
    default:
      return assertNever(filter)
  }
}

/** The conditions that restrict a hop's targets to those that the request may see. */
export function visibleRows(compilation: Compilation, hop: Hop, alias: string): readonly Expression[] {
  const { target } = hop
  if (target.kind === 'component') return []
  const { status, chosenLocales: isChosen, publication: isCompared, siblings } = getVisibleVersions(compilation, hop)
  if (status === 'none') return [sql`1 = 0`]
  const { targetLocale } = compilation
  return [
    ...(siblings ? isSibling(alias) : []),
    ...(status === 'any' || !target.draftAndPublish ? [] : [published(alias, status)]),
    ...(isChosen && targetLocale !== null && target.localized ? chosenLocales(compilation, target, alias, targetLocale) : []),
    ...(isCompared ? publicationConditions(compilation, target, alias) : []),
    ...(compilation.scopes?.[target.uid] === undefined ? [] : withinScope(compilation, target, alias)),
  ]
}

/** The condition that the caller's scope sets on a row of `type`. */
export function withinScope(compilation: Compilation, type: ContentType, alias: string): readonly Expression[] {
  const scope = compilation.scopes?.[type.uid]
  if (scope === undefined) return []
  if (scope === 'nothing') return [sql`1 = 0`]
  return [condition({ ...compilation, scopes: null, drivers: 'selective' }, type, alias, scope)]
}

/** Another row of the same document, in the same version. */
function isSibling(alias: string): readonly Expression[] {
  const link = `${alias}_l`
  return [
    sql`${column(alias, 'id')} <> ${column(link, 'id')}`,
    sql`(${column(alias, 'published_at')} is null) = (${column(link, 'published_at')} is null)`,
  ]
}

/** The condition that a choice of locales sets on a row. */
export function chosenLocales(compilation: Compilation, type: ContentType, alias: string, choice: LocaleChoice): readonly Expression[] {
  if (choice.kind === 'any') return []
  if (choice.kind === 'filter') return [condition(compilation, type, alias, choice.filter)]
  const name = column(alias, 'locale')
  const [only] = choice.values
  return [
    choice.values.length === 1 ? sql`${name} = ${value(only!)}` : sql`${name} in (${sql.join(choice.values.map((index) => value(index)))})`,
  ]
}

/**
 * True if the filter holds for a missing target: all its attributes are null, and null compares as unknown. `fromOutside`: `$not`
 * is outside of the path to the target, so a missing target is a match.
 */
function holdsForMissingTarget(compilation: Compilation, filter: Filter, negated: boolean, fromOutside = negated): boolean {
  const holdsFor = (one: Filter, isNegated: boolean) => holdsForMissingTarget(compilation, one, isNegated, fromOutside)
  switch (filter.kind) {
    case 'all':
    case 'any': {
      const holds = filter.of.map((part) => holdsFor(part, negated))
      return (filter.kind === 'all') === negated ? holds.some(Boolean) : holds.every(Boolean)
    }
    case 'not':
      return holdsFor(filter.of, !negated)
    case 'state':
      return false
    case 'compare':
      return filter.operator === (negated ? '$notNull' : '$null')
    case 'related':
      if (negated && fromOutside && negatesAll(compilation, filter)) return !holdsFor(filter.where, false)
      return holdsFor(filter.where, negated)
    default:
      return assertNever(filter)
  }
}

/** Draft rows have no publication date. */
export function published(alias: string, status: Status): Expression {
  if (status === 'any') return sql`1 = 1`
  return status === 'published' ? sql`${column(alias, 'published_at')} is not null` : sql`${column(alias, 'published_at')} is null`
}

/** Compares a row with the other versions of its document, which are rows of the same table. */
function publication(compilation: Compilation, type: ContentType, alias: string, { filter, negated, model }: Publication): Expression {
  const other = compilation.nextAlias()
  const sibling = (conditions: readonly Expression[], anyLocale = false): Expression => {
    const same = [
      compilation.dialect.stoppable(column(other, 'id')),
      sql`${column(other, 'document_id')} = ${column(alias, 'document_id')}`,
    ]
    if (!anyLocale && type.localized) same.push(sql`${column(other, 'locale')} = ${column(alias, 'locale')}`)
    same.push(...withinScope(compilation, type, other))
    return sql`exists (select 1 from ${sql.table(type.table)} as ${sql.id(other)} where ${every([...same, ...conditions])})`
  }
  const isPublished = published(other, 'published')
  const isDraft = published(other, 'draft')
  // Either row of a pair finds whether the draft differs.
  const pair = (differs: boolean) => {
    const { nextAlias, dialect } = compilation
    const compare = (draft: string, live: string) => {
      const modified = isModified({ dialect, model, text: constant, nextAlias, purpose: 'list' }, type, draft, live)
      return sibling([published(draft, 'draft'), published(live, 'published'), differs ? modified : sql`not ${modified}`])
    }
    if (compilation.status === 'any') return sql`(${compare(alias, other)} or ${compare(other, alias)})`
    return compilation.status === 'draft' ? compare(alias, other) : compare(other, alias)
  }
  const tests: Record<PublicationFilter, () => Expression> = {
    'never-published': () => sql`not ${sibling([isPublished])}`,
    'has-published-version': () => sibling([isPublished]),
    modified: () => pair(true),
    unmodified: () => pair(false),
    'never-published-document': () => sql`not ${sibling([isPublished], true)}`,
    'has-published-version-document': () => sibling([isPublished], true),
    'published-without-draft': () => sql`${published(alias, 'published')} and not ${sibling([isDraft])}`,
    'published-with-draft': () => sql`${published(alias, 'published')} and ${sibling([isDraft])}`,
  }
  return negated ? sql`not (${tests[filter]()})` : tests[filter]()
}

/** The state of a row of a type with Draft & Publish. */
export function publicationState(compilation: Compilation, type: ContentType, alias: string, model: Model): Expression {
  const is = (filter: PublicationFilter) => publication(compilation, type, alias, { filter, negated: false, model })
  const text = (state: DocumentState) => sql.lit(state)
  return sql`case when ${is('never-published')} then ${text('draft')} when ${is('modified')} then ${text('changed')} else ${text('published')} end`
}

function hasState(compilation: Compilation, type: ContentType, alias: string, { states, model }: StateFilter): Expression {
  const is = (filter: PublicationFilter) => publication(compilation, type, alias, { filter, negated: false, model })
  const tests: Record<DocumentState, () => Expression> = {
    draft: () => is('never-published'),
    changed: () => is('modified'),
    published: () => sql`(${is('has-published-version')} and not ${is('modified')})`,
  }
  return sql`(${sql.join(
    states.map((state) => tests[state]()),
    sql` or `,
  )})`
}

/** The conditions of `publicationFilter` and `hasPublishedVersion` on a row of a type with Draft & Publish. */
export function publicationConditions(compilation: Compilation, type: ContentType, alias: string): readonly Expression[] {
  return compilation.publication.map((each) => publication(compilation, type, alias, each))
}

interface ComparedColumn {
  readonly dialect: Dialect
  readonly contract: Contract
  readonly column: Expression
  readonly type: ScalarType
}

/** Compiles an operator with a column and its bound values. */
type OperatorSql = (compared: ComparedColumn, values: readonly Expression[]) => RawBuilder<boolean>

const isWhole = (type: ScalarType): boolean => ['integer', 'biginteger'].includes(attributeTypes[type].stored)

const compare =
  (comparison: ComparisonSign): OperatorSql =>
  ({ dialect, column, type }, [value]) =>
    dialect.compare(column, comparison, value!, isWhole(type))

const matching =
  (kind: 'contains' | 'startsWith' | 'endsWith', fold: boolean): OperatorSql =>
  ({ dialect, column, contract }, [value]) =>
    dialect.matches(column, value!, kind, contract.textMatching === 'like' ? (fold ? 'ilike' : 'like') : fold ? 'folded' : 'exact')

const not =
  (condition: OperatorSql): OperatorSql =>
  (compared, values) =>
    sql`not (${condition(compared, values)})`

const equalIgnoringCase: OperatorSql = ({ dialect, column, contract }, [value]) =>
  dialect.equalsIgnoringCase(column, value!, contract.textMatching === 'like' ? 'ascii' : 'unicode')

const isIn: OperatorSql = ({ dialect, column, type }, values) =>
  values.length === 0 ? sql`${column} is null and ${column} is not null` : dialect.isAnyOf(column, values, isWhole(type))

export const operatorSql: Readonly<Record<OperatorName, OperatorSql>> = {
  $eq: compare('='),
  $ne: compare('<>'),
  $lt: compare('<'),
  $lte: compare('<='),
  $gt: compare('>'),
  $gte: compare('>='),
  $eqi: equalIgnoringCase,
  $nei: not(equalIgnoringCase),
  $in: isIn,
  $notIn: (compared, values) => (values.length === 0 ? sql`1 = 1` : not(isIn)(compared, values)),
  $between: (compared, [low, high]) => sql`${compare('>=')(compared, [low!])} and ${compare('<=')(compared, [high!])}`,
  $null: ({ column }) => sql`${column} is null`,
  $notNull: ({ column }) => sql`${column} is not null`,
  $contains: matching('contains', false),
  $containsi: matching('contains', true),
  $notContains: not(matching('contains', false)),
  $notContainsi: not(matching('contains', true)),
  $startsWith: matching('startsWith', false),
  $startsWithi: matching('startsWith', true),
  $endsWith: matching('endsWith', false),
  $endsWithi: matching('endsWith', true),
}

/** A step to rows of `target`. */
type Hop =
  /** In filters and sort keys, through an attribute of `owner`. */
  | { readonly kind: 'condition'; readonly owner: Schema; readonly attribute: PathAttribute; readonly target: Schema }
  /** In populated or counted attributes, through an attribute of `owner`. */
  | { readonly kind: 'populate'; readonly owner: Schema; readonly attribute: PathAttribute; readonly target: Schema }
  /** The rows of one type that a morphTo points to. */
  | { readonly kind: 'named'; readonly target: Schema; readonly versions: 'any' | 'status' }

/** The parts of a request that decide about visible versions. */
interface VersionContext {
  readonly contract: Contract
  readonly status: Status
  readonly closedDrafts: ReadRequest['closedDrafts']
  /** Null inside a scope: it follows links to every row. */
  readonly scopes: RowScopes | null
}
interface VisibleVersions {
  /** `none`: no version at all. */
  readonly status: Status | 'none'
  /** Only the locales that the request chooses. */
  readonly chosenLocales: boolean
  /** Only what `publicationFilter` and `hasPublishedVersion` hold for. */
  readonly publication: boolean
  /** Only the other locales of the row that the hop starts from, in the same version. */
  readonly siblings: boolean
}

/** The versions that `hop` may see: never drafts of `closedDrafts`. */
function getVisibleVersions(seeing: VersionContext, hop: Hop): VisibleVersions {
  if (seeing.scopes === null) return everyVersion
  const seen = getRequestedVersions(seeing, hop)
  const { target } = hop
  if (target.kind === 'component' || !target.draftAndPublish || !seeing.closedDrafts.includes(target.uid)) return seen
  return { ...seen, status: seen.status === 'draft' ? 'none' : 'published' }
}

const everyVersion: VisibleVersions = { status: 'any', chosenLocales: false, publication: false, siblings: false }

function getRequestedVersions({ contract, status }: VersionContext, hop: Hop): VisibleVersions {
  const { target } = hop
  if (target.kind === 'component') return everyVersion
  const versions: Status = target.draftAndPublish ? status : 'any'
  if (hop.kind === 'named')
    return hop.versions === 'any' ? everyVersion : { ...everyVersion, status: versions, publication: target.draftAndPublish }
  const { owner, attribute } = hop
  const leadsToSiblings = attribute.kind === 'relation' && attribute.storage.kind === 'localizations'
  if (hop.kind === 'condition') {
    if (contract.deepFiltersSeeAllVersions) return everyVersion
    // The other locales of a document are in other locales.
    return { ...everyVersion, status: versions, chosenLocales: !leadsToSiblings }
  }
  if (leadsToSiblings) return { ...everyVersion, siblings: true }
  // A localized document has links to rows of the same locale; the contract decides for others (row 10).
  const chosenLocales = owner.kind === 'contentType' && !owner.localized
  return { status: versions, chosenLocales, publication: target.draftAndPublish, siblings: false }
}
