// Parameters that have no effect, or another one than they seem to have.
import { localeCodes } from '../../content/documents/read/locales.js'
import { commandLine, quotedWord } from '../../foundation/runtime/command-line.js'
import { fileType } from '../../model/schema/link.js'
import type { ContentType } from '../../model/schema/types.js'
import { isObject, type Parameters } from '../../query/rest/parameters.js'
import type { Hint } from './exchange.js'
import { listed, quoted, shown, similar } from './sentences.js'
import { labelOf } from './shapes.js'

const effective = [
  'filters',
  'sort',
  'fields',
  'populate',
  'pagination',
  'locale',
  'status',
  '_q',
  'publicationFilter',
  'hasPublishedVersion',
]
/** Parameters with effects elsewhere: start and limit of bare lists, the file that an upload changes, texts of sign-in and recovery. */
const ofOtherRoutes = /^(?:\/upload|\/users|\/auth|\/connect)(?:\/|$)/
const ofBareLists = ['start', 'limit']
/** Looked at elsewhere, with an error of its own. */
const refused = ['page', 'pageSize', 'lookup']

/** What parameters of other versions, plugins and APIs are called here; `{value}` is what was sent. */
const meanings: readonly (readonly [RegExp, string])[] = [
  [/^(?:filter|_?where|conditions?)$/, 'did you mean filters?'],
  [/^_?limit$|^(?:size|per_?page|page_?size|take|first)$/i, 'write pagination[pageSize]={value}'],
  [/^_?count$/, 'the number of documents is meta.pagination.total'],
  [/^_?(?:start|offset|skip)$/i, 'write pagination[start]={value}'],
  [/^_?(?:sort|order|order_?by|sort_?by|ordering)$/i, 'write sort={value}'],
  [/^_?publicationState$/, 'write status=draft, or status=published, which is the default'],
  [/^(?:state|draft|preview|published)$/, 'write status=draft'],
  [/^(?:pLevel|populateLevel|level|depth)$/i, 'it is of a plugin; levels are named: populate[author][populate]=*'],
  [/^(?:include|expand|relations|embed|with|populates)$/, 'write populate={value}'],
  [/^(?:select|attributes|_fields|projection|columns|field)$/, 'write fields={value}'],
  [/^(?:_locale|lang|language|lng|plugins|locales)$/, 'write locale={value}'],
  [/^(?:q|search|_search|query|term)$/, 'write _q={value}'],
  [/^(?:token|access_token|api_token|apikey|api_key|jwt)$/i, 'send the header Authorization: Bearer <token>'],
]

/** Parameters that the endpoint does not know. */
export const ignoredParameters: Hint = ({ method, type, parameters, status, error, config, path }) => {
  const isRefused = error !== null && config.rest.strictParams && status === 400
  if (type === null || (status >= 300 && !isRefused) || (method !== 'GET' && method !== 'HEAD' && type.uid === fileType)) return null
  const route = path.slice(config.rest.prefix.length)
  const isOther = ofOtherRoutes.test(route)
  const isBare = isOther && route !== '/upload/files/page'
  const known = [...effective, ...(isBare ? ofBareLists : []), ...refused].filter((name) => !isBare || name !== 'pagination')
  const unknown = Object.keys(parameters).filter((name) => !known.includes(name))
  if (unknown.length === 0) return null
  const repairs = unknown.slice(0, 5).map((name) => `${shown(name)} (${meaningOf(type, known, name, parameters[name])})`)
  return `${isRefused ? 'Refused' : 'Ignored'}: ${repairs.join('; ')}${unknown.length > 5 ? ` and ${unknown.length - 5} more` : ''}`
}

function meaningOf(type: ContentType, known: readonly string[], name: string, value: unknown): string {
  const text = typeof value === 'string' && value !== '' ? shown(encodeURIComponent(value)) : '…'
  if (name === 'pagination') return 'this list has no pages: write start=0&limit=25'
  const meant = meanings.find(([form]) => form.test(name))?.[1]
  if (meant?.startsWith('write sort=') === true && /^(?:asc|desc|…)$/i.test(text))
    return `write sort=attribute:${text === '…' ? 'asc' : text.toLowerCase()}`
  if (meant !== undefined) return meant.replace('{value}', text.replaceAll('%3A', ':'))
  const [root = name] = /^[^.[]+/.exec(name) ?? []
  if (type.attributes.has(root)) return `to filter, write filters[${root}][$eq]=${text}`
  const close = similar(name, known)
  return close === null ? 'there is no such parameter' : `did you mean ${close}?`
}

/** What the `pagination` object does not have. */
export const unknownPagination: Hint = ({ type, parameters: { pagination }, status }) => {
  if (type === null || status >= 300 || pagination === undefined) return null
  if (!isObject(pagination)) return 'pagination is an object: write pagination[page]=1&pagination[pageSize]=25'
  const known = ['page', 'pageSize', 'start', 'limit', 'withCount']
  const unknown = Object.keys(pagination).filter((name) => !known.includes(name))
  if (unknown.length === 0) return null
  const meant = (name: string): string | null =>
    /^(?:size|per_?page|page_?size|count)$/i.test(name) ? 'pageSize' : /^(?:offset|skip)$/i.test(name) ? 'start' : similar(name, known)
  const repairs = unknown.map((name) => `${name}${meant(name) === null ? '' : ` (did you mean ${meant(name)}?)`}`)
  return `Ignored in pagination: ${listed(repairs)}. It has ${listed(known)}.`
}

/** Pages that are cut or moved silently. */
export const changedPagination: Hint = ({ type, parameters: { pagination }, status, config }) => {
  if (type === null || status >= 300 || !isObject(pagination)) return null
  const { defaultLimit, maxLimit } = config.rest
  const changes: string[] = []
  for (const name of ['pageSize', 'limit']) {
    const value = pagination[name]
    if (value === undefined || value === null) continue
    const number = Number(value)
    if (Number.isNaN(number)) changes.push(`pagination[${name}]=${quoted(value)} is not a number: ${maxLimit} is used`)
    else if (number > maxLimit)
      changes.push(`pagination[${name}]=${number} is cut to ${maxLimit} (api.rest.maxLimit in octavo.config): ask for the next pages`)
    else if (number < 1)
      changes.push(`pagination[${name}]=${number} is raised to 1; without it, pages have ${defaultLimit}, at most ${maxLimit}`)
  }
  for (const [name, least] of [
    ['page', 1],
    ['start', 0],
  ] as const) {
    const value = pagination[name]
    if (value !== undefined && Number(value) < least) changes.push(`pagination[${name}]=${Number(value)} is raised to ${least}`)
  }
  return changes.length === 0 ? null : `${changes.join('; ')}.`
}

/** 400: `page` and `pageSize` beside `pagination`. */
export const flatPagination: Hint = ({ type, parameters, status }) => {
  const given = ['page', 'pageSize'].filter((name) => parameters[name] !== undefined)
  if (type === null || status !== 400 || given.length === 0) return null
  return `Write ${given.map((name) => `pagination[${name}]=${shown(encodeURIComponent(String(parameters[name])))}`).join('&')}`
}

/** 400: a parameter that has another form than its name asks for. */
export const malformedParameter: Hint = ({ parameters: { filters, fields, pagination }, status, error, type }) => {
  if (status !== 400 || type === null || 'key' in (error?.details ?? {})) return null
  if (typeof filters === 'string' || Array.isArray(filters))
    return 'Filters name an attribute and an operator: write filters[title][$eq]=…'.replace('title', labelOf(type) ?? 'id')
  if (isObject(fields))
    return `fields is a list of names: write fields=${
      shown(
        Object.keys(fields)
          .filter((name) => type.attributes.has(name))
          .join(','),
      ) || 'documentId'
    }`
  if (!isObject(pagination)) return null
  const wrong = ['page', 'start'].find((name) => pagination[name] !== undefined && !/^-?\d+$/.test(String(pagination[name])))
  if (wrong !== undefined) return `pagination[${wrong}] is a whole number, not ${quoted(pagination[wrong])}.`
  const isMixed = ['page', 'pageSize'].some((name) => name in pagination) && ['start', 'limit'].some((name) => name in pagination)
  return isMixed ? 'Write pagination[page] and pagination[pageSize], or pagination[start] and pagination[limit].' : null
}

/** 400: `filters[$or][title]`, where a list of filters is expected. */
export const unlistedGroup: Hint = ({ parameters: { filters }, status, error }) => {
  if (status !== 400 || 'key' in (error?.details ?? {}) || !isObject(filters)) return null
  if (filters.$not !== undefined && !isObject(filters.$not)) return '$not takes a filter: write filters[$not][attribute][$eq]=…'
  for (const group of ['$or', '$and']) {
    const members = filters[group]
    if (!isObject(members)) continue
    const written = Object.keys(members)
      .slice(0, 3)
      .map((name, index) => `filters[${group}][${index}][${name}]=…`)
    return `${group} takes a list of filters: write ${written.join('&')}`
  }
  return null
}

/** A `status` that the contract of Strapi takes for `draft`. */
export const lenientStatus: Hint = ({ type, parameters: { status: given }, status, config }) => {
  if (type === null || status >= 300 || given === undefined || given === 'draft' || given === 'published') return null
  if (config.contract !== 'strapi') return null
  return `status=${quoted(given)} is taken for draft, as Strapi does. It is "published" (the default) or "draft".`
}

/** A locale that the installation does not have. */
export const unknownLocale: Hint = async (exchange) => {
  const { type, parameters, asked, error } = exchange
  const { locale } = parameters
  if (type === null || asked === null || typeof locale !== 'string' || locale === '' || locale === '*') return null
  if (!type.localized)
    return error === null && isAlone(parameters) && exchange.method === 'GET'
      ? `${type.singularName} is not localized ("i18n" in its schema), so locale has no effect.`
      : null
  const codes = await localeCodes(asked.documents, asked.access.defaultLocale)
  if (codes.includes(locale)) return null
  if (/^all$/i.test(locale)) return 'All locales are locale=*'
  const [language = ''] = locale.toLowerCase().split(/[-_]/)
  const meant =
    codes.find((code) => code.toLowerCase() === locale.toLowerCase()) ?? codes.find((code) => code.toLowerCase() === language) ?? null
  return `There is no locale ${quoted(locale)}.${meant === null ? '' : ` Did you mean "${meant}"?`} Locales: ${listed(codes.map((code) => (code === asked.access.defaultLocale ? `${code} (default)` : code)))}. Add one: ${commandLine(`locales add ${quotedWord(locale)}`, exchange.config.folder)}`
}

/** Nothing else in the request that a locale could be about. */
const isAlone = ({ populate, filters, sort }: Parameters): boolean =>
  [populate, filters, sort].every((parameter) => parameter === undefined)
