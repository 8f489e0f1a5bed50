// Filters become SQL. A condition behind a relation holds if it holds for one target, or, as with a left join, for the
// missing target where there is none; so NOT is pushed down to the single comparisons. Only around a relation to many it stays where it is (row 17).
import { sql } from 'kysely'
import type { Dialect, Expression } from '../../database/dialect.js'
import type { PublicationFilter } from '../../foundation/public/content/queries.js'
import type { ContentType, Schema } from '../../model/schema/types.js'
import { assertNever } from '../../model/schema/types.js'
import type { Filter, LocaleChoice, Publication, ReadRequest, Related, Status, ValueIndex } from '../request.js'
import { constant, every, from, fromOwner, type Joins, joinsOf } from './joins.js'
import { isModified } from './modified.js'
import { operatorSql } from './operator-sql.js'
import type { Hop, Seeing } from './visible-versions.js'
import { seenBy } from './visible-versions.js'

/** What conditions need besides the filter itself. */
export interface Compilation extends Seeing {
  readonly dialect: Dialect
  readonly publication: ReadRequest['publication']
  /** The locales that localized targets must have, where the links do not say it already; null: any. */
  readonly targetLocale: LocaleChoice | null
  readonly nextAlias: () => string
  /** Which conditions behind a relation start at the targets: those that most likely hold for few, or the ones that are listed. */
  readonly leads: 'selective' | readonly Filter[]
  /** Behind a relation whose targets are found as a set: what lies further behind is found as sets too. */
  readonly asSets?: boolean
}

export const column = (alias: string, name: string): Expression => sql.ref(`${alias}.${name}`)

/** A placeholder for a value of the request. */
export const value = (index: ValueIndex): Expression => sql`${{ from: 'values', index } as never}`

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
      const test = operatorSql[filter.operator]({ dialect, contract, column: column(alias, name), type }, filter.values.map(value))
      return negated ? sql`not (${test})` : sql`${test}`
    }
    case 'related':
      return related(compilation, shape, alias, filter, negated)
    default:
      return assertNever(filter)
  }
}

/** The way to the targets of a filter, without its condition. */
function reach(compilation: Compilation, shape: Schema, { path: attribute, target }: Related) {
  const alias = compilation.nextAlias()
  const path = joinsOf(compilation.dialect, shape, attribute, target, alias)
  const conditions = [...path.conditions, ...seenRows(compilation, { kind: 'condition', owner: shape, attribute, target }, alias)]
  // Whatever leads to the row, what lies behind its targets leads to them.
  const behind: Compilation = { ...compilation, leads: 'selective', asSets: true }
  const holds = (filter: Filter, negated = false) => condition(behind, target, alias, filter, negated)
  return { path, conditions, holds }
}

/** Whether `$not` around a condition on several targets asks for none: a target that meets it decides, whatever others do. */
const isNone = ({ contract }: Compilation, { path }: Related): boolean =>
  contract.notMeansNone && (path.kind === 'component' ? path.repeatable : path.many)

/** `inNot`: the whole condition is negated by who asks for it. */
function related(compilation: Compilation, shape: Schema, alias: string, filter: Related, negated: boolean, inNot = false): Expression {
  if (negated && isNone(compilation, filter)) return sql`not ${related(compilation, shape, alias, filter, false, true)}`
  const { path, conditions, holds } = reach(compilation, shape, filter)
  const where = holds(filter.where, negated)
  const missing = holdsForNothing(compilation, filter.where, negated)
  const { dialect, leads, asSets = false } = compilation
  if (asSets || isDeep(filter.where)) {
    // With a null in the set, nothing would not be in it.
    const owned = inNot ? [...conditions, sql`${path.owner} is not null`] : conditions
    return amongOwners(column(alias, 'id'), path, owned, where, missing)
  }
  const ours = sql`${path.owner} = ${column(alias, 'id')}`
  // Few targets are found once and lead to their owners; for many it is cheaper to look from each owner.
  const startsAtTargets = !negated && !inNot && (leads === 'selective' ? isSelective(filter.where) : leads.includes(filter))
  const tables = leads === 'selective' ? from(path) : fromOwner(dialect, path)
  const some = startsAtTargets
    ? sql`${column(alias, 'id')} in (select ${path.owner} from ${from(path)} where ${every([...conditions, where])})`
    : sql`exists (select 1 from ${tables} where ${every([ours, ...conditions, where])})`
  if (!missing) return some
  return sql`(${some} or not exists (select 1 from ${tables} where ${every([ours, ...conditions])}))`
}

/**
 * A condition through several relations, level by level: the rows whose targets it holds for are a set that is found once, from the
 * set of the level behind. Tested row by row instead, each level would multiply what the one before costs.
 */
function amongOwners(id: Expression, path: Joins, conditions: readonly Expression[], where: Expression, missing: boolean): Expression {
  const owners = (tests: readonly Expression[]) => sql`select ${path.owner} from ${from(path)} where ${every(tests)}`
  const some = sql`${id} in (${owners([...conditions, where])})`
  // With a null in the set, nothing would not be in it.
  return missing ? sql`(${some} or ${id} not in (${owners([...conditions, sql`${path.owner} is not null`])}))` : some
}

/** Whether a condition leads through a relation. */
export function isDeep(filter: Filter): boolean {
  if (filter.kind === 'compare') return false
  if (filter.kind === 'related') return true
  return filter.kind === 'not' ? isDeep(filter.of) : filter.of.some(isDeep)
}

/** The number of links that lead to targets for which the filter holds, counted up to `most`. */
export function countLinks(compilation: Compilation, shape: Schema, filter: Related, most: Expression): Expression {
  const { path, conditions, holds } = reach(compilation, shape, filter)
  return sql`select count(*) from (select 1 from ${from(path)} where ${every([...conditions, holds(filter.where)])} limit ${most})`
}

/** Whether a condition most likely holds for few rows: an equality on something that has many values. */
export function isSelective(filter: Filter): boolean {
  switch (filter.kind) {
    case 'all':
      return filter.of.some(isSelective)
    case 'any':
      return filter.of.every(isSelective)
    case 'not':
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

/** The conditions that leave of a hop's targets what the request may see. */
export function seenRows(compilation: Compilation, hop: Hop, alias: string): readonly Expression[] {
  const { target } = hop
  if (target.kind === 'component') return []
  const { status, chosenLocales: isChosen, publication: isCompared, siblings } = seenBy(compilation, hop)
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
  return [condition({ ...compilation, scopes: null, leads: 'selective' }, type, alias, scope)]
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
  return [choice.values.length === 1 ? sql`${name} = ${value(only!)}` : sql`${name} in (${sql.join(choice.values.map(value))})`]
}

/**
 * Whether the filter holds for a target that is not there: all its attributes are null, and null compares as unknown. `fromOutside`: `$not`
 * stands around the way to the target, so that nothing behind it is what was asked for.
 */
function holdsForNothing(compilation: Compilation, filter: Filter, negated: boolean, fromOutside = negated): boolean {
  const holdsFor = (one: Filter, isNegated: boolean) => holdsForNothing(compilation, one, isNegated, fromOutside)
  switch (filter.kind) {
    case 'all':
    case 'any': {
      const holds = filter.of.map((part) => holdsFor(part, negated))
      return (filter.kind === 'all') === negated ? holds.some(Boolean) : holds.every(Boolean)
    }
    case 'not':
      return holdsFor(filter.of, !negated)
    case 'compare':
      return filter.operator === (negated ? '$notNull' : '$null')
    case 'related':
      if (negated && fromOutside && isNone(compilation, filter)) return !holdsFor(filter.where, false)
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
  // Both rows of a pair say whether the draft has something else.
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

/** The conditions of `publicationFilter` and `hasPublishedVersion` on a row of a type with Draft & Publish. */
export function publicationConditions(compilation: Compilation, type: ContentType, alias: string): readonly Expression[] {
  return compilation.publication.map((each) => publication(compilation, type, alias, each))
}
