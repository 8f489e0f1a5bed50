// The parameters of query strings: those of a content-type, and those that all have in common.
import type { ContentType } from '../../model/types.js'
import { readableFields } from '../../query/rest/fields.js'
import { publicationFilters } from '../../query/rest/versions.js'
import type { DescribedShape } from '../view.js'
import { isPath, linksOf, targetsOf } from '../view.js'
import type { Making } from './documents.js'
import { filtersRef } from './filters.js'
import { type DescribedParameter, inQuery } from './operation.js'
import { type JsonSchema, list, object, text, yesOrNo } from './schema.js'

const nested = { style: 'deepObject', explode: true }
const nameOf = ({ view }: Making, { uid }: DescribedShape): string => view.names.get(uid)!
const quoted = (name: string): string => name.replaceAll(/[^\w]/g, '\\$&')

/** `fields` of a type. */
export const fieldsParameter = (making: Making, type: ContentType): DescribedParameter =>
  making.components.ref('parameters', `${nameOf(making, type)}Fields`, () =>
    inQuery('fields', 'The attributes to return. `id` and `documentId` always come.', fieldsSchema(type)),
  )

const fieldsSchema = (shape: DescribedShape): JsonSchema =>
  list({ type: 'string', enum: ['*', ...readableFields(shape).map(({ name }) => name)] })

/** `populate` of a type; null if it has nothing to populate. */
export function populateParameter(making: Making, type: ContentType): DescribedParameter | null {
  if (linksOf(making.view, type).length === 0) return null
  return making.components.ref('parameters', `${nameOf(making, type)}Populate`, () =>
    inQuery('populate', 'The relations, media, components and dynamic zones to return.', populateSchema(making, type), nested),
  )
}

/** `*`, names and dot paths, or an object with a level for each name. */
function populateSchema(making: Making, shape: DescribedShape): JsonSchema {
  const links = linksOf(making.view, shape).map(({ name }) => quoted(name))
  const path: JsonSchema = { type: 'string', pattern: `^(\\*|(${links.join('|')})([.,].+)?)$` }
  return { anyOf: [path, list(path), populateRef(making, shape)] }
}

function populateRef(making: Making, shape: DescribedShape): JsonSchema {
  return making.components.ref('schemas', `${nameOf(making, shape)}Populate`, () => {
    const levels = linksOf(making.view, shape).map((link) => {
      const targets = targetsOf(making.view, link)
      const isMixed = link.kind === 'dynamiczone' || link.kind === 'morphTo'
      return [link.name, { anyOf: [yesOrNo, isMixed ? fragments(making, targets) : levelRef(making, targets[0]!)] }] as const
    })
    return object(Object.fromEntries(levels), [], { additionalProperties: false })
  })
}

/** What a populated attribute shows. */
function levelRef(making: Making, shape: DescribedShape): JsonSchema {
  return making.components.ref('schemas', `${nameOf(making, shape)}Level`, () => {
    const hasLinks = linksOf(making.view, shape).length > 0
    const properties = {
      fields: fieldsSchema(shape),
      filters: filtersRef(making, shape),
      sort: sortSchema(making, shape),
      ...(hasLinks ? { populate: populateSchema(making, shape) } : {}),
      count: yesOrNo,
    }
    return object(properties, [], { additionalProperties: false })
  })
}

const fragments = (making: Making, targets: readonly DescribedShape[]): JsonSchema =>
  object({
    populate: { type: 'string', const: '*' },
    on: object(Object.fromEntries(targets.map((target) => [target.uid, { anyOf: [yesOrNo, levelRef(making, target)] }]))),
  })

/** `sort` of a type. */
export const sortParameter = (making: Making, type: ContentType): DescribedParameter =>
  making.components.ref('parameters', `${nameOf(making, type)}Sort`, () =>
    inQuery('sort', 'Keys such as `title:asc`, or `author.name:desc` through a relation.', sortSchema(making, type)),
  )

function sortSchema(making: Making, shape: DescribedShape): JsonSchema {
  const fields = readableFields(shape).map(({ name }) => quoted(name))
  const paths = linksOf(making.view, shape).filter((link) => isPath(making.view, link, 'order'))
  const steps = [...fields, ...paths.map(({ name }) => `${quoted(name)}\\..+`)]
  return list({ type: 'string', pattern: `^(${steps.join('|')})(:(asc|desc))?$` })
}

/** `filters` of a type. */
export const filtersParameter = (making: Making, type: ContentType): DescribedParameter =>
  making.components.ref('parameters', `${nameOf(making, type)}Filters`, () =>
    inQuery('filters', 'Conditions: `filters[title][$containsi]=tea`.', filtersRef(making, type), nested),
  )

const shared = (making: Making, key: string, make: () => DescribedParameter): DescribedParameter =>
  making.components.ref('parameters', key, make)

/** The most and the usual number of documents on a page. */
export interface Pages {
  readonly defaultLimit: number
  readonly maxLimit: number
}

export const paginationParameter = (making: Making, { defaultLimit, maxLimit }: Pages): DescribedParameter =>
  shared(making, 'Pagination', () => {
    const size: JsonSchema = { type: 'integer', minimum: 1, maximum: maxLimit, default: Math.min(defaultLimit, maxLimit) }
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

export const searchParameter = (making: Making): DescribedParameter =>
  shared(making, 'Search', () => inQuery('_q', 'Text to search in all text attributes.', text))

export const localeParameter = (making: Making): DescribedParameter =>
  shared(making, 'Locale', () => inQuery('locale', 'The code of a locale; default: the default locale.', text))

export const localesParameter = (making: Making): DescribedParameter =>
  shared(making, 'Locales', () => inQuery('locale', 'The code of a locale, or `*` for all; default: the default locale.', text))

export const statusParameter = (making: Making): DescribedParameter =>
  shared(making, 'Status', () =>
    inQuery('status', 'Which versions; a write with `draft` does not publish.', {
      ...{ type: 'string', enum: ['published', 'draft'], default: 'published' },
    }),
  )

export const publicationParameters = (making: Making): readonly DescribedParameter[] => [
  shared(making, 'PublicationFilter', () =>
    inQuery('publicationFilter', 'A condition on the draft and published versions of a document.', {
      type: 'string',
      enum: publicationFilters,
    }),
  ),
  shared(making, 'HasPublishedVersion', () => inQuery('hasPublishedVersion', 'Whether the document is published in any locale.', yesOrNo)),
]

/** `start` and `limit` of lists without an envelope. */
export const rangeParameters = (making: Making): readonly DescribedParameter[] => [
  shared(making, 'Start', () => inQuery('start', 'Entries to skip.', { type: 'integer', minimum: 0 })),
  shared(making, 'Limit', () => inQuery('limit', 'The most entries; default: all.', { type: 'integer', minimum: 1 })),
]

export const idempotencyKey = (making: Making): DescribedParameter =>
  shared(making, 'IdempotencyKey', () => ({
    ...{ name: 'Idempotency-Key', in: 'header', required: false },
    description: 'A request that is sent again with the same key is carried out once.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  }))
