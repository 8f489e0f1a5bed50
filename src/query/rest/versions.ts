// The versions that a request selects: `status`, `locale`, `hasPublishedVersion`, `publicationFilter`, and the right to read drafts.
import { inputError, validationError } from '../../foundation/errors/errors.js'
import type { Grants } from '../../foundation/grants.js'
import type { PublicationFilter } from '../../foundation/public/content/queries.js'
import type { ContentType, Model } from '../../model/schema/types.js'
import type { LocaleChoice, Publication, ReadRequest, Status } from '../request.js'
import { isObject, type Parameters } from '../request.js'
import { readFilters } from './filters.js'
import { bind, deferError, type Resolver } from './resolve.js'

/**
 * `published` by default. Relations of users and files may show every version by default (row 10).
 * @throws ApiError 400 for other values, if the contract is strict.
 */
export function readStatus(walk: Resolver, type: ContentType, value: unknown): Status {
  if (!type.exposed && walk.contract.deepFiltersSeeAllVersions) {
    if (value === undefined) return 'any'
    return value === 'draft' ? 'draft' : 'published'
  }
  if (value === undefined || value === 'published') return 'published'
  if (value === 'draft' || walk.contract.lenientStatus) return 'draft'
  throw inputError('Invalid status. Expected "published" or "draft"', ['status'], 'enum', { allowed: ['published', 'draft'] })
}

/**
 * The locales of the rows, and those of localized targets of their relations. For types without locales, the targets are still in
 * the locale of the request, if the contract says so (row 10).
 */
export function readLocales(
  walk: Resolver,
  type: ContentType,
  parameters: Parameters,
  mode: ReadRequest['mode'],
  defaultLocale: string,
): Pick<ReadRequest, 'locale' | 'targetLocale'> {
  if (type.localized) {
    const locale = readLocale(walk, type, parameters, mode, defaultLocale)
    return { locale, targetLocale: walk.contract.deepFiltersSeeAllVersions ? null : locale }
  }
  if (walk.contract.deepFiltersSeeAllVersions) return { locale: { kind: 'any' }, targetLocale: null }
  const { locale } = parameters
  const targetLocale: LocaleChoice = isObject(locale) ? { kind: 'any' } : readLocale(walk, type, { locale }, 'many', defaultLocale)
  return { locale: { kind: 'any' }, targetLocale }
}

function readLocale(
  walk: Resolver,
  type: ContentType,
  parameters: Parameters,
  mode: ReadRequest['mode'],
  defaultLocale: string,
): LocaleChoice {
  const value = parameters.locale
  const isGiven = value !== undefined && value !== null && value !== ''
  if (mode === 'first' && isGiven && typeof value !== 'string') {
    deferError(walk, 'locale', notALocale(`Invalid locale param ${formatValue(value)} provided. Document locales must be strings.`))
    return { kind: 'any' }
  }
  // A locale in the filters has precedence.
  if (isObject(parameters.filters) && Object.hasOwn(parameters.filters, 'locale')) return { kind: 'any' }
  if (!isGiven) return { kind: 'values', values: [bind(walk, defaultLocale)] }
  if (value === '*' && mode === 'many') return { kind: 'any' }
  if (isObject(value)) {
    const filter = readFilters({ ...walk, param: 'filters' }, type, { locale: value })
    return filter === null ? { kind: 'any' } : { kind: 'filter', filter }
  }
  const values = (Array.isArray(value) ? value : [value]).map((one) => {
    if (isObject(one)) deferError(walk, 'locale', notALocale('Invalid locale param. Document locales must be strings.'))
    return bind(walk, isObject(one) ? null : String(one))
  })
  return { kind: 'values', values }
}

const notALocale = (message: string) => inputError(message, ['locale'], 'type', { expected: 'string' })

const formatValue = (value: unknown): string =>
  Array.isArray(value) ? value.map(formatValue).join(',') : isObject(value) ? '[object Object]' : String(value)
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
 * Conditions that compare a document's draft and published versions: `publicationFilter` has precedence over `hasPublishedVersion`.
 * They apply to the type and to populated relations with Draft & Publish.
 * @throws ApiError 400 at once for an unknown `publicationFilter`.
 */
export function readPublication(walk: Resolver, type: ContentType, parameters: Parameters): ReadRequest['publication'] {
  const { publicationFilter } = parameters
  // Users and files do not support it.
  const hasPublishedVersion = type.exposed ? parameters.hasPublishedVersion : undefined
  const { model } = walk
  const conditions: Publication[] = []
  if (hasPublishedVersion !== undefined) {
    if (hasPublishedVersion !== 'true' && hasPublishedVersion !== 'false') {
      const message = "Invalid value for 'hasPublishedVersion'. Expected boolean or 'true'/'false' string."
      deferError(walk, 'hasPublishedVersion', inputError(message, ['hasPublishedVersion'], 'type', { expected: 'boolean' }))
    }
    conditions.push({ filter: 'has-published-version-document', negated: hasPublishedVersion === 'false', model })
  }
  if (publicationFilter !== undefined) {
    const filter = publicationFilters.find((name) => name === publicationFilter)
    if (filter === undefined) {
      const message = `Invalid value for 'publicationFilter'. Expected one of: ${publicationFilters.join(', ')}.`
      const issue = { path: ['publicationFilter'], message, code: 'enum', params: { allowed: publicationFilters } } as const
      throw validationError(message, { source: 'query', param: 'publicationFilter' }).because([issue])
    }
    conditions.splice(0, 1, { filter, negated: false, model })
  }
  return conditions
}

/** The columns of a version that select it in a read. */
export interface DocumentVersion {
  readonly id: number
  readonly locale: string | null
  readonly published_at: number | null
}
export const versionParameters = ({ locale, published_at }: DocumentVersion): Parameters => ({
  ...(locale === null ? {} : { locale }),
  status: published_at === null ? 'draft' : 'published',
})

/**
 * The parameters that select this row with all its links: those of a type without Draft & Publish lead to drafts, those of a type
 * without locales to every locale.
 */
export const wholeVersionParameters = ({ draftAndPublish, localized }: ContentType, version: DocumentVersion): Parameters => ({
  ...versionParameters(version),
  ...(draftAndPublish ? {} : { status: 'draft' }),
  ...(localized ? {} : everyLocale),
})

/** Makes a type without locales show links to targets in any locale. */
export const everyLocale: Parameters = { locale: {} }

/** A caller's access to drafts in one request (`api.rest.draftGrant`). */
interface DraftAccess {
  /** The uids of types whose drafts are hidden from the caller, on every hop of the request (conditions.ts). */
  readonly closed: readonly string[]
  /**
   * The grants for the request: in one about drafts, relations to closed types are treated like relations without permission.
   */
  readonly grants: Grants
  /** The request selects drafts of a closed type. */
  readonly isClosed: boolean
}

/** True if `grants` allow reading drafts of `type`. `needsGrant`: the setting `api.rest.draftGrant`. */
export const mayReadDrafts = (needsGrant: boolean, grants: Grants, { uid, draftAndPublish }: ContentType): boolean =>
  !needsGrant || !draftAndPublish || grants.may(`${uid}.findDraft`)

const noTypes: readonly string[] = []

/** The access to drafts in a request for `type`. `needsGrant`: the setting `api.rest.draftGrant`. */
export function getDraftAccess(model: Model, needsGrant: boolean, grants: Grants, type: ContentType, parameters: Parameters): DraftAccess {
  const closed = needsGrant ? [...model.types.values()].filter((one) => !mayReadDrafts(true, grants, one)).map(({ uid }) => uid) : noTypes
  if (closed.length === 0 || !requestsDrafts(parameters)) return { closed, grants, isClosed: false }
  const closedActions = new Set(closed.map((uid) => `${uid}.find`))
  return {
    closed,
    grants: { ...grants, key: `${grants.key} drafts`, may: (action) => !closedActions.has(action) && grants.may(action) },
    isClosed: closed.includes(type.uid),
  }
}

/** True if a request sees drafts, or finds which documents have one. */
const requestsDrafts = (parameters: Parameters): boolean =>
  (parameters.status !== undefined && parameters.status !== 'published') || comparesVersions(parameters)

/** True if a request compares the versions of documents. */
export const comparesVersions = ({ hasPublishedVersion, publicationFilter }: Parameters): boolean =>
  hasPublishedVersion !== undefined || publicationFilter !== undefined
