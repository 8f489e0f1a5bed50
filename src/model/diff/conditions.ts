// Rules that the newer model adds for attributes, and how many of the rows that are there do not satisfy them.
import { isAlwaysRequired } from '../schema/conditions.js'
import type { Attribute, Scalar, Schema } from '../schema/types.js'
import { attributeColumns } from './columns.js'
import type { SchemaPair } from './comparison.js'
import { attributePath, type ModelComparison, nothing, type PlanFindings } from './comparison.js'
import { filesTable } from './polymorphic.js'
import { countText, id, listText, type SqlText, sqlText } from './sql-text.js'
import type { PlanCondition, PlanLoss } from './types.js'

/** Compares what attributes demand of a type or component that both models have. */
export function compareConditions({ pairs }: ModelComparison, pair: SchemaPair): PlanFindings {
  const { from, to } = pair
  return {
    ...nothing,
    conditions: [
      ...pairs
        .createdAttributes(pair)
        .filter((attribute) => isAlwaysRequired(attribute) && attribute.source.default === undefined)
        .map(({ name }) =>
          condition(to, name, 'required', `Rows of ${to.uid} lack ${name}, which is required and new.`, countText(from.table, null)),
        ),
      ...pairs
        .attributes(pair)
        .flatMap(({ from: before, to: after }) => [
          ...required(from, before, after),
          ...(before.kind === 'scalar' && after.kind === 'scalar' ? scalarConditions(from, before, after) : []),
        ]),
    ],
    losses: singleDocument(pair),
  }
}

const condition = (
  schema: Schema,
  attribute: string,
  kind: PlanCondition['kind'],
  about: string,
  count: SqlText,
  exact = true,
): PlanCondition => ({ name: `${attributePath(schema, attribute)}:${kind}`, kind, about, count, exact })

function required(schema: Schema, before: Attribute, after: Attribute): readonly PlanCondition[] {
  if (!isAlwaysRequired(after) || isAlwaysRequired(before)) return []
  const lacking = whereLacking(schema, before)
  if (lacking === null) return []
  const about = `Rows of ${schema.uid} lack ${before.name}, which becomes required: they cannot be published until they have it.`
  return [condition(schema, before.name, 'required', about, countText(schema.table, lacking))]
}

/** Rows without a value, link, file or entry; null: all may have one. */
export function whereLacking(schema: Schema, attribute: Attribute): SqlText | null {
  const row = sqlText`${id(schema.table)}.id`
  const [column] = attributeColumns(attribute)
  if (column !== undefined) return sqlText`${id(column)} is null`
  const { storage } = attribute.kind === 'relation' || attribute.kind === 'morphTo' ? attribute : { storage: null }
  if (storage?.kind === 'link' || storage?.kind === 'table')
    return sqlText`not exists (select 1 from ${id(storage.table)} as other where other.${id(storage.here)} = ${row})`
  if (attribute.kind === 'media') {
    const { name, type, field } = filesTable
    const isOf = sqlText`other.${id(type)} = ${schema.uid} and other.${id(field)} = ${attribute.name}`
    return sqlText`not exists (select 1 from ${id(name)} as other where other.related_id = ${row} and ${isOf})`
  }
  if ((attribute.kind === 'component' || attribute.kind === 'dynamiczone') && schema.componentTable !== null)
    return sqlText`not exists (select 1 from ${id(schema.componentTable)} as other where other.entity_id = ${row} and other.field = ${attribute.name})`
  return null
}

function scalarConditions(schema: Schema, before: Scalar, after: Scalar): readonly PlanCondition[] {
  return [
    ...unique(schema, before, after),
    ...length(schema, before, after),
    ...range(schema, before, after),
    ...enumeration(schema, before, after),
    ...pattern(schema, before, after),
  ]
}

/** Values shared by several documents in one locale and status. Components have no documents. */
function unique(schema: Schema, before: Scalar, after: Scalar): readonly PlanCondition[] {
  if (!after.unique || before.unique || schema.kind === 'component') return []
  const value = id(before.column)
  const state = sqlText`case when published_at is null then 0 else 1 end`
  const groups = sqlText`select ${value} from ${id(schema.table)} where ${value} is not null group by ${value}, locale, ${state} having count(distinct document_id) > 1`
  const about = `Values of ${before.name} that several documents of ${schema.uid} have: these cannot be published until they differ.`
  return [condition(schema, before.name, 'unique', about, sqlText`select count(*) as count from (${groups}) as found`)]
}

/** A bound that is there now and was not, or is tighter. */
const tightened = (before: unknown, after: unknown, tighter: 'lower' | 'higher'): number | null => {
  const [was, is] = [before, after].map((bound) => (bound === undefined || bound === null || bound === '' ? Number.NaN : Number(bound)))
  if (Number.isNaN(is)) return null
  const isLoose = !Number.isNaN(was) && (tighter === 'lower' ? is! >= was! : is! <= was!)
  return isLoose ? null : is!
}

const texts = new Set(['string', 'text', 'richtext', 'email', 'uid'])

function length(schema: Schema, before: Scalar, after: Scalar): readonly PlanCondition[] {
  if (!texts.has(after.type) || !texts.has(before.type)) return []
  const column = id(before.column)
  const most = tightened(before.source.maxLength, after.source.maxLength, 'lower')
  const least = tightened(before.source.minLength, after.source.minLength, 'higher')
  const wrong = [
    ...(most === null ? [] : [sqlText`substr(${column}, ${most + 1}, 1) <> ''`]),
    ...(least === null || least < 1 ? [] : [sqlText`substr(${column}, ${least}, 1) = ''`]),
  ]
  return bounded(schema, before, 'length', wrong, `Texts of ${before.name} of ${schema.uid} are longer or shorter than they may be.`)
}

const numbers = new Set(['integer', 'biginteger', 'float', 'decimal'])

function range(schema: Schema, before: Scalar, after: Scalar): readonly PlanCondition[] {
  if (!numbers.has(after.type) || !numbers.has(before.type)) return []
  const column = id(before.column)
  const most = tightened(before.source.max, after.source.max, 'lower')
  const least = tightened(before.source.min, after.source.min, 'higher')
  const wrong = [...(most === null ? [] : [sqlText`${column} > ${most}`]), ...(least === null ? [] : [sqlText`${column} < ${least}`])]
  return bounded(schema, before, 'range', wrong, `Numbers of ${before.name} of ${schema.uid} are greater or smaller than they may be.`)
}

function bounded(
  schema: Schema,
  { name }: Scalar,
  kind: 'length' | 'range',
  wrong: readonly SqlText[],
  about: string,
): readonly PlanCondition[] {
  if (wrong.length === 0) return []
  const where = wrong.reduce((one, other) => sqlText`${one} or ${other}`)
  return [condition(schema, name, kind, about, countText(schema.table, where))]
}

const valuesOf = ({ source }: Scalar): readonly string[] => (Array.isArray(source.enum) ? source.enum.map(String) : [])

function enumeration(schema: Schema, before: Scalar, after: Scalar): readonly PlanCondition[] {
  if (after.type !== 'enumeration' || (before.type !== 'enumeration' && !texts.has(before.type))) return []
  const [was, is] = [valuesOf(before), valuesOf(after)]
  if (is.length === 0 || (before.type === 'enumeration' && was.every((value) => is.includes(value)))) return []
  const where = sqlText`${id(before.column)} is not null and ${id(before.column)} not in (${listText(is)})`
  const about = `Values of ${before.name} of ${schema.uid} are not in the enumeration: they are returned, and cannot be published.`
  return [condition(schema, before.name, 'enumeration', about, countText(schema.table, where))]
}

/** No database says the same about a regular expression, so all values count. */
function pattern(schema: Schema, before: Scalar, after: Scalar): readonly PlanCondition[] {
  const { regex } = after.source
  if (typeof regex !== 'string' || regex === before.source.regex || !texts.has(before.type)) return []
  const about = `Texts of ${before.name} of ${schema.uid} may not match the regular expression.`
  return [condition(schema, before.name, 'pattern', about, countText(schema.table, sqlText`${id(before.column)} is not null`), false)]
}

/** A collection that becomes a single type returns one document. */
function singleDocument({ from, to }: SchemaPair): readonly PlanLoss[] {
  if (from.kind !== 'contentType' || to.kind !== 'contentType' || from.singleType || !to.singleType) return []
  const documents = sqlText`count(distinct document_id)`
  return [
    {
      name: `${from.uid}:single`,
      about: `Documents of ${from.uid} beyond the first stay in the database; the API returns one.`,
      count: sqlText`select case when ${documents} > 1 then ${documents} - 1 else 0 end as count from ${id(from.table)}`,
      kept: [],
      stays: true as const,
    },
  ]
}
