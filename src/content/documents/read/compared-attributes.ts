// By which attributes a request filters and sorts, as names: for the log, without values.
import type { PlanSubject } from '../../../database/database.js'
import { isWorthAnIndex } from '../../../model/schema/indexable-attributes.js'
import type { Scalar } from '../../../model/schema/types.js'
import type { OperatorName } from '../../../query/operators.js'
import type { Filter, ReadRequest } from '../../../query/request.js'

/** The operators by which an index finds rows. */
const byIndex: ReadonlySet<OperatorName> = new Set(['$eq', '$in', '$lt', '$lte', '$gt', '$gte', '$between'])

interface ComparedAttribute {
  /** The attribute with those that lead to it. */
  readonly path: string
  readonly attribute: Scalar
  readonly operator: OperatorName
}

function comparedIn(filter: Filter | null, above: string): readonly ComparedAttribute[] {
  if (filter === null) return []
  switch (filter.kind) {
    case 'all':
    case 'any':
      return filter.of.flatMap((part) => comparedIn(part, above))
    case 'not':
      return comparedIn(filter.of, above)
    case 'related':
      return comparedIn(filter.where, `${above}${filter.path.name}.`)
    case 'compare':
      return [{ path: above + filter.attribute.name, attribute: filter.attribute, operator: filter.operator }]
  }
}

/** What a request compares and sorts by. */
export function subjectOf({ type, filter, sort }: Pick<ReadRequest, 'type' | 'filter' | 'sort'>): PlanSubject {
  const compared = comparedIn(filter, '')
  const found = compared.filter(({ path, attribute, operator }) => path === attribute.name && byIndex.has(operator))
  const ordered = sort.filter(({ path }) => path.length === 0)
  return {
    table: type.table,
    filters: [...new Set(compared.map(({ path, operator }) => `${path} ${operator}`))],
    sort: sort.map(({ path, attribute }) => [...path.map((step) => step.attribute.name), attribute.name].join('.')),
    indexable: [...new Set([...found, ...ordered].map(({ attribute }) => attribute).filter(isWorthAnIndex))].map(({ name }) => name),
  }
}
