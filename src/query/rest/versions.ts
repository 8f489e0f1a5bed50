// Which versions of a document a request is about: `status`, `locale`, `hasPublishedVersion`, `publicationFilter`.
import { validationError } from '../../foundation/errors/errors.js'
import type { PublicationFilter } from '../../foundation/public/content/queries.js'
import type { ContentType, Scalar } from '../../model/schema/types.js'
import type { LocaleChoice, Publication, ReadRequest, Status } from '../request.js'
import { readFilters } from './filters.js'
import type { Parameters } from './parameters.js'
import { isObject } from './parameters.js'
import type { Resolver } from './resolve.js'
import { bind, deferError } from './resolve.js'

/**
 * `published` unless asked for drafts. Behind users and files the contract may show every version where nothing is asked for
 * (row 10).
 * @throws ApiError 400 for other values, with the contract that refuses them.
 */
export function readStatus(reading: Resolver, type: ContentType, value: unknown): Status {
  if (!type.exposed && reading.contract.deepFiltersSeeAllVersions) {
    if (value === undefined) return 'any'
    return value === 'draft' ? 'draft' : 'published'
  }
  if (value === undefined || value === 'published') return 'published'
  if (value === 'draft' || reading.contract.lenientStatus) return 'draft'
  throw validationError('Invalid status. Expected "published" or "draft"')
}

/**
 * The locales of the rows, and those of localized types behind their relations. Types that are not localized have none to
 * choose; what they lead to is in the locale of the request all the same, where the contract says so (row 10).
 */
export function readLocales(
  reading: Resolver,
  type: ContentType,
  parameters: Parameters,
  mode: ReadRequest['mode'],
  defaultLocale: string,
): Pick<ReadRequest, 'locale' | 'targetLocale'> {
  if (type.localized) {
    const locale = readLocale(reading, type, parameters, mode, defaultLocale)
    return { locale, targetLocale: reading.contract.deepFiltersSeeAllVersions ? null : locale }
  }
  if (reading.contract.deepFiltersSeeAllVersions) return { locale: { kind: 'any' }, targetLocale: null }
  const { locale } = parameters
  const targetLocale: LocaleChoice = isObject(locale) ? { kind: 'any' } : readLocale(reading, type, { locale }, 'many', defaultLocale)
  return { locale: { kind: 'any' }, targetLocale }
}

function readLocale(
  reading: Resolver,
  type: ContentType,
  parameters: Parameters,
  mode: ReadRequest['mode'],
  defaultLocale: string,
): LocaleChoice {
  const value = parameters.locale
  const isGiven = value !== undefined && value !== null && value !== ''
  if (mode === 'first' && isGiven && typeof value !== 'string') {
    deferError(reading, 'locale', validationError(`Invalid locale param ${written(value)} provided. Document locales must be strings.`))
    return { kind: 'any' }
  }
  // Where the filters name a locale, they alone choose.
  if (isObject(parameters.filters) && Object.hasOwn(parameters.filters, 'locale')) return { kind: 'any' }
  if (!isGiven) return { kind: 'values', values: [bind(reading, defaultLocale)] }
  if (value === '*' && mode === 'many') return { kind: 'any' }
  if (isObject(value)) {
    const filter = readFilters({ ...reading, param: 'filters' }, type, { locale: value })
    return filter === null ? { kind: 'any' } : { kind: 'filter', filter }
  }
  const values = (Array.isArray(value) ? value : [value]).map((one) => {
    if (isObject(one)) deferError(reading, 'locale', validationError('Invalid locale param. Document locales must be strings.'))
    return bind(reading, isObject(one) ? null : String(one))
  })
  return { kind: 'values', values }
}

const written = (value: unknown): string =>
  Array.isArray(value) ? value.map(written).join(',') : isObject(value) ? '[object Object]' : String(value)

/** All values of `publicationFilter`. */
export const publicationFilters: readonly PublicationFilter[] = [
  'never-published',
  'has-published-version',
  'modified',
  'unmodified',
  'never-published-document',
  'has-published-version-document',
  'published-without-draft',
  'published-with-draft',
]

/**
 * Conditions that compare a document's draft and published versions: `publicationFilter` wins over `hasPublishedVersion`.
 * They hold for the type and for populated relations, as far as these have Draft & Publish.
 * @throws ApiError 400 at once for an unknown `publicationFilter`.
 */
export function readPublication(reading: Resolver, type: ContentType, parameters: Parameters): ReadRequest['publication'] {
  const { publicationFilter } = parameters
  // Users and files do not know it.
  const hasPublishedVersion = type.exposed ? parameters.hasPublishedVersion : undefined
  const { model } = reading
  const conditions: Publication[] = []
  if (hasPublishedVersion !== undefined) {
    if (hasPublishedVersion !== 'true' && hasPublishedVersion !== 'false') {
      const message = "Invalid value for 'hasPublishedVersion'. Expected boolean or 'true'/'false' string."
      deferError(reading, 'hasPublishedVersion', validationError(message))
    }
    conditions.push({ filter: 'has-published-version-document', negated: hasPublishedVersion === 'false', model })
  }
  if (publicationFilter !== undefined) {
    const filter = publicationFilters.find((name) => name === publicationFilter)
    if (filter === undefined) {
      const message = `Invalid value for 'publicationFilter'. Expected one of: ${publicationFilters.join(', ')}.`
      throw validationError(message, { source: 'query', param: 'publicationFilter' })
    }
    conditions.splice(0, 1, { filter, negated: false, model })
  }
  return conditions
}

/** The scalar that holds a row's locale. */
export const localeOf = (type: ContentType): Scalar => type.attributes.get('locale') as Scalar
