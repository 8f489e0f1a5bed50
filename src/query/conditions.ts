// Filters become SQL. A condition behind a relation holds if it holds for one target, or, as with a left join, for the
// missing target where there is none; so NOT is pushed down to the single comparisons.
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Dialect } from '../database/dialect.js'
import type { Component, ContentType } from '../model/types.js'
import { unreachable } from '../model/types.js'
import type { Contract } from './contract.js'
import { operators } from './operators.js'
import { every, from, fromOwner, pairs } from './pairs.js'
import type { Filter, LocaleChoice, Path, PublicationFilter, ReadRequest, Related, Status, ValueIndex } from './request.js'

type Fragment = RawBuilder<unknown>
type Shape = ContentType | Component

/** What conditions need besides the filter itself. */
export interface Compilation {
  readonly dialect: Dialect
  readonly contract: Contract
  readonly status: Status
  readonly publication: ReadRequest['publication']
  /** The locales that localized targets must have, where the links do not say it already; null: any. */
  readonly targetLocale: LocaleChoice | null
  readonly nextAlias: () => string
  /** Which conditions behind a relation start at the targets: those that most likely hold for few, or the ones that are listed. */
  readonly leads: 'selective' | readonly Filter[]
}

export const column = (alias: string, name: string): Fragment => sql.ref(`${alias}.${name}`)

/** A placeholder for a value of the request. */
export const value = (index: ValueIndex): Fragment => sql`${{ from: 'values', index } as never}`

/** The condition that `filter` sets on the row of `shape` aliased `alias`. */
export function condition(compilation: Compilation, shape: Shape, alias: string, filter: Filter, negated = false): Fragment {
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
      const test = operators[filter.operator].toSql(dialect, column(alias, filter.attribute.column), filter.values.map(value), contract)
      return negated ? sql`not (${test})` : sql`${test}`
    }
    case 'related':
      return related(compilation, shape, alias, filter, negated)
    default:
      return unreachable(filter)
  }
}

/** The way to the targets of a filter, without its condition. */
function reach(compilation: Compilation, shape: Shape, { path: attribute, target }: Related) {
  const alias = compilation.nextAlias()
  const path = pairs(compilation.dialect, shape, attribute, target, alias)
  const conditions = [...path.conditions, ...targetVersions(compilation, attribute, target, alias)]
  // Whatever leads to the row, what lies behind its targets leads to them.
  const holds = (filter: Filter, negated = false) => condition({ ...compilation, leads: 'selective' }, target, alias, filter, negated)
  return { path, conditions, holds }
}

function related(compilation: Compilation, shape: Shape, alias: string, filter: Related, negated: boolean): Fragment {
  const { path, conditions, holds } = reach(compilation, shape, filter)
  const where = holds(filter.where, negated)
  const ours = sql`${path.owner} = ${column(alias, 'id')}`
  const { leads } = compilation
  // Few targets are found once and lead to their owners; for many it is cheaper to look from each owner.
  const startsAtTargets = !negated && (leads === 'selective' ? isSelective(filter.where) : leads.includes(filter))
  const tables = leads === 'selective' ? from(path) : fromOwner(path)
  const some = startsAtTargets
    ? sql`${column(alias, 'id')} in (select ${path.owner} from ${from(path)} where ${every([...conditions, where])})`
    : sql`exists (select 1 from ${tables} where ${every([ours, ...conditions, where])})`
  if (!holdsForNothing(filter.where, negated)) return some
  return sql`(${some} or not exists (select 1 from ${tables} where ${every([ours, ...conditions])}))`
}

/** The number of links that lead to targets for which the filter holds, counted up to `most`. */
export function countLinks(compilation: Compilation, shape: Shape, filter: Related, most: Fragment): Fragment {
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
      return unreachable(filter)
  }
}

/** Which versions of a target a deep filter sees (contract, row 10). */
export function targetVersions(compilation: Compilation, attribute: Path, target: Shape, alias: string): readonly Fragment[] {
  if (compilation.contract.deepFiltersSeeAllVersions || target.kind === 'component') return []
  const conditions: Fragment[] = []
  if (target.draftAndPublish) conditions.push(published(alias, compilation.status))
  // The other locales of a document are in other locales.
  const leadsElsewhere = attribute.kind === 'relation' && attribute.storage.kind === 'localizations'
  if (!leadsElsewhere) conditions.push(...localeConditions(compilation, target, alias))
  return conditions
}

/** The locales that a target may have; types without locales have none to choose. */
export function localeConditions(compilation: Compilation, target: Shape, alias: string): readonly Fragment[] {
  const { targetLocale } = compilation
  if (targetLocale === null || target.kind !== 'contentType' || !target.localized) return []
  return chosenLocales(compilation, target, alias, targetLocale)
}

/** The condition that a choice of locales sets on a row. */
export function chosenLocales(compilation: Compilation, type: ContentType, alias: string, choice: LocaleChoice): readonly Fragment[] {
  if (choice.kind === 'any') return []
  if (choice.kind === 'filter') return [condition(compilation, type, alias, choice.filter)]
  const name = column(alias, 'locale')
  const [only] = choice.values
  return [choice.values.length === 1 ? sql`${name} = ${value(only!)}` : sql`${name} in (${sql.join(choice.values.map(value))})`]
}

/** Whether the filter holds for a target that is not there: all its attributes are null, and null compares as unknown. */
function holdsForNothing(filter: Filter, negated: boolean): boolean {
  switch (filter.kind) {
    case 'all':
    case 'any': {
      const holds = filter.of.map((part) => holdsForNothing(part, negated))
      return (filter.kind === 'all') === negated ? holds.some(Boolean) : holds.every(Boolean)
    }
    case 'not':
      return holdsForNothing(filter.of, !negated)
    case 'compare':
      return filter.operator === (negated ? '$notNull' : '$null')
    case 'related':
      return holdsForNothing(filter.where, negated)
    default:
      return unreachable(filter)
  }
}

/** Draft rows have no publication date. */
export function published(alias: string, status: Status): Fragment {
  if (status === 'any') return sql`1 = 1`
  return status === 'published' ? sql`${column(alias, 'published_at')} is not null` : sql`${column(alias, 'published_at')} is null`
}

/** Compares a row with the other versions of its document (layout: "Documents are rows"). */
function publication(type: ContentType, alias: string, other: string, filter: PublicationFilter, negated: boolean): Fragment {
  const sibling = (conditions: readonly Fragment[], anyLocale = false): Fragment => {
    const same = [sql`${column(other, 'document_id')} = ${column(alias, 'document_id')}`]
    // `is` compares the nulls of types without locales as equal on SQLite; both sides come from the model.
    if (!anyLocale && type.localized) same.push(sql`${column(other, 'locale')} = ${column(alias, 'locale')}`)
    return sql`exists (select 1 from ${sql.table(type.table)} as ${sql.id(other)} where ${every([...same, ...conditions])})`
  }
  const isPublished = published(other, 'published')
  const isDraft = published(other, 'draft')
  // A draft that was saved after its publication; both rows of the pair say so.
  const otherSide = (isModified: boolean) => {
    const [draft, live] = [column(other, 'updated_at'), column(alias, 'updated_at')]
    const newer = sql`case when ${column(other, 'published_at')} is null then ${draft} > ${live} else ${live} > ${draft} end`
    const pair = sql`(${column(other, 'published_at')} is null) <> (${column(alias, 'published_at')} is null)`
    return sibling([pair, isModified ? newer : sql`not (${newer})`])
  }
  const tests: Record<PublicationFilter, () => Fragment> = {
    'never-published': () => sql`not ${sibling([isPublished])}`,
    'has-published-version': () => sibling([isPublished]),
    modified: () => otherSide(true),
    unmodified: () => otherSide(false),
    'never-published-document': () => sql`not ${sibling([isPublished], true)}`,
    'has-published-version-document': () => sibling([isPublished], true),
    'published-without-draft': () => sql`${published(alias, 'published')} and not ${sibling([isDraft])}`,
    'published-with-draft': () => sql`${published(alias, 'published')} and ${sibling([isDraft])}`,
  }
  return negated ? sql`not (${tests[filter]()})` : tests[filter]()
}

/** The conditions of `publicationFilter` and `hasPublishedVersion` on a row of a type with Draft & Publish. */
export function publicationConditions(compilation: Compilation, type: ContentType, alias: string): readonly Fragment[] {
  return compilation.publication.map(({ filter, negated }) => publication(type, alias, compilation.nextAlias(), filter, negated))
}
