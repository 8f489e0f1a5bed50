// Parameters of query strings, by content-type and common ones.

import type { ContentType, Scalar } from '../../../model/schema/types.js'
import type { Family } from '../../../model/types/attribute-type.js'
import { attributeTypes } from '../../../model/types/attribute-types.js'
import { operators } from '../../../query/operators.js'
import { publicFields } from '../../../query/rest/populate.js'
import { publicationFilters } from '../../../query/rest/versions.js'
import { type DescribedShape, isPath, linksOf, targetsOf } from '../view.js'
import type { SchemaContext } from './documents.js'
import { type DescribedParameter, inQuery } from './operation.js'
import { type Components, type DescriptionObject, list, object, text, yesOrNo } from './schema.js'

const nested = { style: 'deepObject', explode: true }
const nameOf = ({ view }: SchemaContext, { uid }: DescribedShape): string => view.names.get(uid)!
const quoted = (name: string): string => name.replaceAll(/[^\w]/g, '\\$&')

export const fieldsParameter = (context: SchemaContext, type: ContentType): DescribedParameter =>
  context.components.ref('parameters', `${nameOf(context, type)}Fields`, () =>
    inQuery('fields', 'The attributes to return. `id` and `documentId` are always included.', fieldsSchema(type)),
  )

const fieldsSchema = (shape: DescribedShape): DescriptionObject =>
  list({ type: 'string', enum: ['*', ...publicFields(shape).map(({ name }) => name)] })

/** Null if the type has nothing to populate. */
export function populateParameter(context: SchemaContext, type: ContentType): DescribedParameter | null {
  if (linksOf(context.view, type).length === 0) return null
  return context.components.ref('parameters', `${nameOf(context, type)}Populate`, () =>
    inQuery('populate', 'The relations, media, components and dynamic zones to return.', populateSchema(context, type), nested),
  )
}

/** `*`, names and dot paths, or an object with a level for each name. */
function populateSchema(context: SchemaContext, shape: DescribedShape): DescriptionObject {
  const links = linksOf(context.view, shape).map(({ name }) => quoted(name))
  const path: DescriptionObject = { type: 'string', pattern: `^(\\*|(${links.join('|')})([.,].+)?)$` }
  return { anyOf: [path, list(path), populateRef(context, shape)] }
}

function populateRef(context: SchemaContext, shape: DescribedShape): DescriptionObject {
  return context.components.ref('schemas', `${nameOf(context, shape)}Populate`, () => {
    const levels = linksOf(context.view, shape).map((link) => {
      const targets = targetsOf(context.view, link)
      const isMixed = link.kind === 'dynamiczone' || link.kind === 'morphTo'
      return [link.name, { anyOf: [yesOrNo, isMixed ? fragments(context, targets) : levelRef(context, targets[0]!)] }] as const
    })
    return object(Object.fromEntries(levels), [], { additionalProperties: false })
  })
}

function levelRef(context: SchemaContext, shape: DescribedShape): DescriptionObject {
  return context.components.ref('schemas', `${nameOf(context, shape)}Level`, () => {
    const hasLinks = linksOf(context.view, shape).length > 0
    const properties = {
      fields: fieldsSchema(shape),
      filters: filtersRef(context, shape),
      sort: sortSchema(context, shape),
      ...(hasLinks ? { populate: populateSchema(context, shape) } : {}),
      count: yesOrNo,
    }
    return object(properties, [], { additionalProperties: false })
  })
}

const fragments = (context: SchemaContext, targets: readonly DescribedShape[]): DescriptionObject =>
  object({
    populate: { type: 'string', const: '*' },
    on: object(Object.fromEntries(targets.map((target) => [target.uid, { anyOf: [yesOrNo, levelRef(context, target)] }]))),
  })

export const sortParameter = (context: SchemaContext, type: ContentType): DescribedParameter =>
  context.components.ref('parameters', `${nameOf(context, type)}Sort`, () =>
    inQuery('sort', 'Keys such as `title:asc`, or `author.name:desc` through a relation.', sortSchema(context, type)),
  )

function sortSchema(context: SchemaContext, shape: DescribedShape): DescriptionObject {
  const fields = publicFields(shape).map(({ name }) => quoted(name))
  const paths = linksOf(context.view, shape).filter((link) => isPath(context.view, link, 'order'))
  const steps = [...fields, ...paths.map(({ name }) => `${quoted(name)}\\..+`)]
  return list({ type: 'string', pattern: `^(${steps.join('|')})(:(asc|desc))?$` })
}

export const filtersParameter = (context: SchemaContext, type: ContentType): DescribedParameter =>
  context.components.ref('parameters', `${nameOf(context, type)}Filters`, () =>
    inQuery('filters', 'Conditions: `filters[title][$containsi]=tea`.', filtersRef(context, type), nested),
  )

const shared = (context: SchemaContext, key: string, make: () => DescribedParameter): DescribedParameter =>
  context.components.ref('parameters', key, make)

export interface Pages {
  readonly defaultLimit: number
  readonly maxLimit: number
}

export const paginationParameter = (context: SchemaContext, { defaultLimit, maxLimit }: Pages): DescribedParameter =>
  shared(context, 'Pagination', () => {
    const size: DescriptionObject = { type: 'integer', minimum: 1, maximum: maxLimit, default: Math.min(defaultLimit, maxLimit) }
    const properties = {
      page: { type: 'integer', minimum: 1, default: 1 },
      pageSize: size,
      start: { type: 'integer', minimum: 0 },
      limit: size,
      withCount: yesOrNo,
    }
    return inQuery(
      'pagination',
      '`page` and `pageSize`, or `start` and `limit`.',
      object(properties, [], { additionalProperties: false }),
      nested,
    )
  })

export const searchParameter = (context: SchemaContext): DescribedParameter =>
  shared(context, 'Search', () => inQuery('_q', 'Text to search in all text attributes.', text))

export const localeParameter = (context: SchemaContext): DescribedParameter =>
  shared(context, 'Locale', () => inQuery('locale', 'The code of a locale; default: the default locale.', text))

export const localesParameter = (context: SchemaContext): DescribedParameter =>
  shared(context, 'Locales', () => inQuery('locale', 'The code of a locale, or `*` for all; default: the default locale.', text))

export const statusParameter = (context: SchemaContext): DescribedParameter =>
  shared(context, 'Status', () =>
    inQuery('status', 'Which versions; a write with `draft` does not publish.', {
      type: 'string',
      enum: ['published', 'draft'],
      default: 'published',
    }),
  )

export const publicationParameters = (context: SchemaContext): readonly DescribedParameter[] => [
  shared(context, 'PublicationFilter', () =>
    inQuery('publicationFilter', 'A condition on the draft and published versions of a document.', {
      type: 'string',
      enum: publicationFilters,
    }),
  ),
  shared(context, 'HasPublishedVersion', () => inQuery('hasPublishedVersion', 'Whether the document is published in any locale.', yesOrNo)),
]

/** `start` and `limit` of lists without an envelope. */
export const rangeParameters = (context: SchemaContext): readonly DescribedParameter[] => [
  shared(context, 'Start', () => inQuery('start', 'Entries to skip.', { type: 'integer', minimum: 0 })),
  shared(context, 'Limit', () => inQuery('limit', 'The most entries; default: all.', { type: 'integer', minimum: 1 })),
]

export const idempotencyKey = (context: SchemaContext): DescribedParameter =>
  shared(context, 'IdempotencyKey', () => ({
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'A request that is sent again with the same key is carried out once.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  }))

const filtersRef = (context: SchemaContext, shape: DescribedShape): DescriptionObject => {
  const name = `${context.view.names.get(shape.uid)!}Filters`
  return context.components.ref('schemas', name, () => filtersSchema(context, shape, { $ref: `#/components/schemas/${name}` }))
}

function filtersSchema(context: SchemaContext, shape: DescribedShape, self: DescriptionObject): DescriptionObject {
  const { view, components } = context
  const fields = publicFields(shape).map((attribute) => [attribute.name, condition(components, attribute)] as const)
  const paths = linksOf(view, shape).filter((link) => isPath(view, link, 'condition'))
  const below = paths.map(
    (link) => [link.name, { anyOf: [filtersRef(context, targetsOf(view, link)[0]!), rowCondition(components)] }] as const,
  )
  const junctions = { $and: list(self), $or: list(self), $not: self }
  return object({ ...Object.fromEntries([...fields, ...below]), ...junctions }, [], { additionalProperties: false })
}

/** JSON types of compared values. */
const values: Readonly<Record<Family, DescriptionObject>> = {
  text,
  number: { type: 'number' },
  biginteger: { type: ['string', 'integer'] },
  boolean: yesOrNo,
  date: text,
  time: text,
  datetime: { type: ['string', 'integer'] },
  json: text,
}

/** A value, a list of values, or an object of operators. */
const condition = (components: Components, { type }: Scalar): DescriptionObject => {
  const { family } = attributeTypes[type]
  return components.ref('schemas', `${family}-condition`, () => conditionSchema(values[family]))
}

/** Conditions on related rows by id. */
const rowCondition = (components: Components): DescriptionObject =>
  components.ref('schemas', 'row-condition', () => conditionSchema({ type: 'integer', description: 'A row id.' }))

function conditionSchema(value: DescriptionObject): DescriptionObject {
  const operand = { one: value, two: { type: 'array', items: value, minItems: 2, maxItems: 2 }, many: list(value), flag: yesOrNo } as const
  const byName = Object.entries(operators).map(
    ([name, { takes, typed }]) => [name, typed || takes !== 'one' ? operand[takes] : text] as const,
  )
  const all = Object.fromEntries(byName)
  return {
    anyOf: [
      value,
      list(value),
      object({ ...all, $not: object(all, [], { additionalProperties: false }) }, [], { additionalProperties: false }),
    ],
  }
}
