// Hints about the values of parameters: filters, pagination, locales, and parameters that do not exist.
import { localeCodes } from '../../content/documents/read/service-reads.js'
import type { ApiError } from '../../foundation/errors/errors.js'
import { commandLine, quotedWord } from '../../foundation/runtime/terminal.js'
import { fileType } from '../../model/schema/link.js'
import type { ContentType, Model, Scalar, Schema } from '../../model/schema/types.js'
import { isOperator, type OperatorName, operators } from '../../query/operators.js'
import { isObject } from '../../query/request.js'
import { readValue } from '../../query/rest/filters.js'
import { type DynamicZone, walkPopulate, zoneForms } from './name-hints.js'
import {
  didYouMean,
  type Exchange,
  findRows,
  findSimilar,
  getLabel,
  getTargets,
  getTypeName,
  type Hint,
  list,
  quote,
  shorten,
  withArticle,
} from './vocabulary.js'

const maxLevels = 12
const maxConditions = 200

interface FilterCondition {
  /** `filters[author][$eq]`. */
  readonly written: string
  /** `filters[author]`. */
  readonly position: string
  readonly attribute: Scalar
  readonly shape: Schema
  /** A relation is compared with a row id. */
  readonly isRelation: boolean
  readonly operator: OperatorName
  readonly value: unknown
}

/** The conditions of a filter; names that do not exist are skipped. */
function* walkFilters(model: Model, shape: Schema, node: unknown, position: string, depth = 0): Generator<FilterCondition> {
  if (!isObject(node) || depth > maxLevels) return
  for (const [name, value] of Object.entries(node)) {
    const here = `${position}[${name}]`
    if (/^\$(?:and|or|not)$/.test(name)) {
      if (!Array.isArray(value)) yield* walkFilters(model, shape, value, here, depth + 1)
      else for (const [index, member] of value.entries()) yield* walkFilters(model, shape, member, `${here}[${index}]`, depth + 1)
      continue
    }
    const attribute = shape.attributes.get(name)
    if (attribute?.kind === 'scalar') yield* walkOperators({ position: here, attribute, shape, isRelation: false }, value)
    for (const target of attribute === undefined ? [] : getTargets(model, attribute)) {
      const id = target.attributes.get('id') as Scalar
      yield* walkOperators({ position: here, attribute: id, shape: target, isRelation: true }, value)
      yield* walkFilters(model, target, value, here, depth + 1)
    }
  }
}

/** The conditions on one attribute: a value, a list, or an object of operators. */
function* walkOperators(on: Omit<FilterCondition, 'written' | 'operator' | 'value'>, node: unknown, depth = 0): Generator<FilterCondition> {
  for (const [name, operand] of isObject(node) ? Object.entries(node) : [['$eq', node] as const]) {
    if (name === '$not' && depth < maxLevels) yield* walkOperators(on, operand, depth + 1)
    if (!isOperator(name)) continue
    const written = isObject(node) ? `${on.position}[${name}]` : on.position
    for (const value of [operand].flat()) if (!isObject(value)) yield { ...on, operator: name, value, written }
  }
}

/** Filter values that no document can have, or with another meaning than they seem to have. */
export const wrongValue: Hint = ({ config, model, type, parameters }) => {
  let count = 0
  for (const condition of type === null ? [] : walkFilters(model, type, parameters.filters, 'filters')) {
    if (count++ > maxConditions) return null
    const found = explainCondition(condition, String(condition.value ?? ''), config.contract === 'specification')
    if (found !== null) return found
  }
  return null
}

function explainCondition(condition: FilterCondition, text: string, strictBooleans: boolean): string | null {
  const { written, position, attribute, operator } = condition
  const { typed, takes } = operators[operator]
  const isBoolean = /^(?:false|t|f|1|0|)$/.test(text) || text.toLowerCase() === 'true'
  if (
    !isBoolean &&
    (takes === 'flag' || (typed && attribute.type === 'boolean' && !strictBooleans)) &&
    text !== 'null' &&
    text !== 'undefined'
  )
    return `${written}=${shorten(text)} counts as true, as every text but false, f, 0 and the empty one does. Write true or false.`
  if (takes === 'flag') return null
  if (text === 'null') return `${written}=null compares with the text "null". For no value, write ${position}[$null]=true`
  if (/^(?:undefined|NaN|\[object Object\])$/.test(text))
    return `${written} is the text ${quote(text)}: the client sent a variable without a value for ${attribute.name}.`
  return (
    explainRowId(condition, text) ??
    explainChoice(condition, text) ??
    explainList(condition, text) ??
    explainType(condition, text, strictBooleans)
  )
}

/** Relations are compared by row ids. */
function explainRowId({ written, position, attribute, shape, isRelation, operator }: FilterCondition, text: string): string | null {
  if (!attribute.system) return null
  const label = getLabel(shape)
  const { typed } = operators[operator]
  if (isRelation && label !== null && !typed)
    return `${written} compares row ids of ${getTypeName(shape)}. Write ${position}[${label}][${operator}]=${encodeURIComponent(text)}`
  if (attribute.name === 'documentId' && /^\d{1,15}$/.test(text))
    return `${written}=${text}: a documentId has 24 letters and digits. ${text} looks like a row id: ${position.replace(/\[documentId\]$/, '[id]')}=${text}`
  if (attribute.name !== 'id' || !typed || /^(?:-?\d{1,15}|\d+(?:\s*,\s*\d+)+|)$/.test(text)) return null
  const above = isRelation ? position : position.replace(/\[id\]$/, '')
  if (/^[a-z0-9]{24}$/.test(text))
    return `${written} compares row ids, which are numbers. For a documentId, write ${above}[documentId][$eq]=${text}`
  const byLabel = label === null ? '' : `, or ${above}[${label}][$eq]=${encodeURIComponent(text)}`
  return `${written} compares row ids of ${getTypeName(shape)}, which are numbers, not ${quote(text)}. Write ${above}[documentId][$eq]=<documentId>${byLabel}`
}

/** A value that the enumeration does not have. */
function explainChoice({ written, attribute, operator }: FilterCondition, text: string): string | null {
  if (attribute.type !== 'enumeration' || !Array.isArray(attribute.source.enum) || text === '') return null
  const choices = attribute.source.enum.map(String)
  const isChoice = (part: string): boolean =>
    choices.some((one) => (operator.endsWith('i') ? one.toLowerCase() === part.toLowerCase() : one === part.trim()))
  if (!/^\$(?:eqi?|nei?|in|notIn)$/.test(operator) || isChoice(text) || text.split(',').every(isChoice)) return null
  return `${written}=${shorten(text)}: no document has this value, ${attribute.name} is an enumeration.${didYouMean(text, choices)} Values: ${list(choices)}.`
}

/** `1,2,3` in place of one parameter for each value. */
function explainList({ position, attribute, operator }: FilterCondition, text: string): string | null {
  const isTyped = /^(?:integer|biginteger|float|decimal|enumeration)$/.test(attribute.type) || (attribute.system && attribute.name === 'id')
  const parts = text.split(',').map((part) => part.trim())
  const isRange = operator === '$between'
  if (parts.length < 2 || parts.some((part) => part === '' || part.includes(' ')) || !/^\$(?:eqi?|nei?|in|notIn|between)$/.test(operator))
    return null
  if (!isTyped && operator !== '$in' && operator !== '$notIn') return null
  const all = isRange ? '$between' : /^\$n/.test(operator) ? '$notIn' : '$in'
  return `A list is one parameter for each value: ${parts
    .slice(0, 3)
    .map((part, index) => `${position}[${all}][${index}]=${part}`)
    .join('&')}`
}

const valueForms: Readonly<Record<string, string>> = {
  boolean: 'Write true or false.',
  date: 'Write it as 2026-11-24.',
  datetime: 'Write it as 2026-11-24T08:00:00.000Z.',
  timestamp: 'Write it as 2026-11-24T08:00:00.000Z.',
  time: 'Write it as 08:00:00.',
  integer: 'Write a number.',
  biginteger: 'Write a number.',
  float: 'Write a number.',
  decimal: 'Write a number, with a point for decimals.',
}

/** A value of another type, whose error does not name the attribute; and wildcards of SQL. */
function explainType({ written, attribute, operator, value }: FilterCondition, text: string, strictBooleans: boolean): string | null {
  if (operators[operator].typed && value !== null && typeof value !== 'object') {
    try {
      readValue(attribute, value, strictBooleans)
    } catch (error) {
      return `${written}=${shorten(text)}: ${attribute.name} is of type ${attribute.type} (${(error as ApiError).message}). ${valueForms[attribute.type] ?? ''}`.trim()
    }
  }
  if (!/^\$(?:not)?(?:contains|startsWith|endsWith|eq)i?$/i.test(operator) || !/^(?:[%*].+[%*]|\*.+|.+\*)$/.test(text)) return null
  const matching = /^\$eqi?$/.test(operator) ? '$contains, $startsWith or $endsWith' : operator
  return `${written}=${shorten(text)} searches for the characters "%" and "*" themselves. Write ${matching} with ${quote(text.replace(/[%*]/g, ''))}.`
}

const maxLookups = 3
const maxCompared = 100

/** An empty list because no related document has a name in this spelling. */
export const unmatchedValue: Hint = async ({ model, type, parameters, status, route, method }) => {
  if (type === null || route === null || status !== 200 || method !== 'GET') return null
  const names = [...walkFilters(model, type, parameters.filters, 'filters')].filter(
    ({ shape, attribute, operator, value, isRelation }) =>
      shape !== type && shape.kind === 'contentType' && !isRelation && operator === '$eq' && typeof value === 'string' && isText(attribute),
  )
  for (const { attribute, shape, value } of names.slice(0, maxLookups)) {
    const target = shape as ContentType
    const { name } = attribute
    const find = async (condition: string, limit: number): Promise<readonly string[]> =>
      (await findRows<Readonly<Record<string, unknown>>>(route, target, `${condition}&fields=${name}&limit=${limit}`)).map((row) =>
        String(row[name]),
      )
    const text = encodeURIComponent(String(value))
    if ((await find(`filters[${name}][$eq]=${text}`, 1)).length > 0) continue
    const [otherCase] = await find(`filters[${name}][$eqi]=${text}`, 1)
    const repair =
      otherCase === undefined
        ? didYouMean(String(value), await find(`sort=${name}`, maxCompared))
        : ` There is ${withArticle(getTypeName(target))} ${quote(otherCase)}: $eqi ignores case.`
    return `No ${getTypeName(target)} has the ${name} ${quote(value)}.${repair}`
  }
  return null
}

const isText = ({ type }: Scalar): boolean => /^(?:string|text|uid|email)$/.test(type)

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
/** Refused with their own errors. */
const refused = ['page', 'pageSize', 'lookup']

/** Parameters of other versions, plugins and APIs; `{value}` is the value in the request. */
const parameterMeanings: readonly (readonly [RegExp, string])[] = [
  [/^(?:filter|_?where|conditions?)$/, 'did you mean filters?'],
  [/^_?limit$|^(?:size|per_?page|page_?size|take|first)$/i, 'write pagination[pageSize]={value}'],
  [/^_?count$/, 'the number of documents is meta.pagination.total'],
  [/^_?(?:start|offset|skip)$/i, 'write pagination[start]={value}'],
  [/^_?(?:sort|order|order_?by|sort_?by|ordering)$/i, 'write sort={value}'],
  [/^_?publicationState$/, 'write status=draft, or status=published, which is the default'],
  [/^(?:state|draft|preview|published)$/, 'write status=draft'],
  [/^(?:pLevel|populateLevel|level|depth)$/i, 'it belongs to a plugin; levels are named: populate[author][populate]=*'],
  [/^(?:include|expand|relations|embed|with|populates)$/, 'write populate={value}'],
  [/^(?:select|attributes|_fields|projection|columns|field)$/, 'write fields={value}'],
  [/^(?:_locale|lang|language|lng|plugins|locales)$/, 'write locale={value}'],
  [/^(?:q|search|_search|query|term)$/, 'write _q={value}'],
  [/^(?:token|access_token|api_token|apikey|api_key|jwt)$/i, 'send the header Authorization: Bearer <token>'],
]

/** Parameters that the endpoint does not know. */
export const unknownParameters: Hint = ({ method, type, parameters, error, details, config, path }) => {
  if (type === null || (type.uid === fileType && !/^(?:GET|HEAD)$/.test(method))) return null
  const route = path.slice(config.rest.prefix.length)
  const isUnpaged = /^\/(?:upload|users|auth|connect)(?:\/|$)/.test(route) && route !== '/upload/files/page'
  const known = [...effective, ...refused, ...(isUnpaged ? ['start', 'limit'] : [])].filter((name) => !isUnpaged || name !== 'pagination')
  const unknown = Object.keys(parameters).filter((name) => !known.includes(name))
  if (unknown.length === 0 || (error !== null && !unknown.includes(String(details.param)))) return null
  const repairs = unknown.slice(0, 5).map((name) => `${shorten(name)} (${explainParameter(type, known, name, parameters[name])})`)
  return `${error === null ? 'Ignored' : 'Refused'}: ${repairs.join('; ')}${unknown.length > 5 ? ` and ${unknown.length - 5} more` : ''}`
}

function explainParameter(type: ContentType, known: readonly string[], name: string, value: unknown): string {
  const text = typeof value === 'string' && value !== '' ? shorten(encodeURIComponent(value)) : '…'
  if (name === 'pagination') return 'this list has no pages: write start=0&limit=25'
  const meant = parameterMeanings.find(([form]) => form.test(name))?.[1]
  if (meant?.startsWith('write sort=') && /^(?:asc|desc|…)$/i.test(text))
    return `write sort=attribute:${text === '…' ? 'asc' : text.toLowerCase()}`
  if (meant !== undefined) return meant.replace('{value}', text.replaceAll('%3A', ':'))
  const [root = name] = /^[^.[]+/.exec(name) ?? []
  if (type.attributes.has(root)) return `to filter, write filters[${root}][$eq]=${text}`
  const close = findSimilar(name, known)
  return close === null ? 'there is no such parameter' : `did you mean ${close}?`
}

/** Unknown keys of `pagination`, and pages that are cut or moved. */
export const ineffectivePagination: Hint = ({ type, parameters: { pagination }, config }) => {
  if (type === null || pagination === undefined) return null
  if (!isObject(pagination)) return 'pagination is an object: write pagination[page]=1&pagination[pageSize]=25'
  const known = ['page', 'pageSize', 'start', 'limit', 'withCount']
  const { defaultLimit, maxLimit } = config.rest
  const found: string[] = []
  for (const [name, value] of Object.entries(pagination)) {
    const here = `pagination[${name}]`
    const number = Number(value)
    const min = name === 'start' ? 0 : 1
    if (!known.includes(name)) {
      const synonym = /^(?:size|per_?page|page_?size|count)$/i.test(name) ? 'pageSize' : /^(?:offset|skip)$/i.test(name) ? 'start' : name
      const meant = known.includes(synonym) ? synonym : findSimilar(name, known)
      found.push(`Ignored in pagination: ${name}${meant === null ? '' : ` (did you mean ${meant}?)`}. It has ${list(known)}`)
    } else if (name === 'withCount' || value === null) continue
    else if (name === 'page' || name === 'start') {
      if (number < min) found.push(`${here}=${number} is raised to ${min}`)
    } else if (Number.isNaN(number)) found.push(`${here}=${quote(value)} is not a number: ${maxLimit} is used`)
    else if (number > maxLimit)
      found.push(`${here}=${number} is cut to ${maxLimit} (api.rest.maxLimit in octavo.config): request the next pages`)
    else if (number < 1) found.push(`${here}=${number} is raised to 1; without it, pages have ${defaultLimit}, at most ${maxLimit}`)
  }
  return found.length === 0 ? null : `${found.join('; ')}.`
}

/** 400: parameters in another form than their names ask for. */
export const malformedParameters: Hint = ({ model, type, parameters }) => {
  const { filters, fields, pagination, populate } = parameters
  if (type === null) return null
  if (Array.isArray(fields) && fields.some((name) => String(name).includes(',')))
    return `A list of fields has one name per entry, a text has them separated by commas: write fields=${fields
      .flatMap((name) => String(name).split(','))
      .map((name) => name.trim())
      .join(',')}`
  const zone = [...walkPopulate(model, type, populate)].find(
    ({ attribute, value }) =>
      attribute.kind === 'dynamiczone' &&
      !/^(?:true|t|1)$/.test(String(value)) &&
      !(isObject(value) && ('on' in value || 'count' in value)),
  )
  if (zone !== undefined) return zoneForms(zone.path, zone.attribute as DynamicZone)
  if (isObject(fields)) {
    const names = Object.keys(fields).filter((name) => type.attributes.has(name))
    return `fields is a list of names: write fields=${shorten(names.join(',')) || 'documentId'}`
  }
  if (typeof filters === 'string' || Array.isArray(filters))
    return `Filters name an attribute and an operator: write filters[${getLabel(type) ?? 'id'}][$eq]=…`
  return (isObject(filters) ? explainGroups(model, type, filters) : null) ?? explainPages(parameters, pagination)
}

function explainGroups(model: Model, type: ContentType, filters: Readonly<Record<string, unknown>>): string | null {
  for (const { operator, position, value } of walkFilters(model, type, filters, 'filters'))
    if (operator === '$between')
      return `$between takes two values: write ${position}[$between][0]=${shorten(encodeURIComponent(String(value)))}&${position}[$between][1]=…`
  if (filters.$not !== undefined && !isObject(filters.$not)) return '$not takes a filter: write filters[$not][attribute][$eq]=…'
  const group = ['$or', '$and'].find((name) => isObject(filters[name]))
  if (group === undefined) return null
  const members = Object.keys(filters[group] as object).slice(0, 3)
  return `${group} takes a list of filters: write ${members.map((name, index) => `filters[${group}][${index}][${name}]=…`).join('&')}`
}

function explainPages(parameters: Exchange['parameters'], pagination: unknown): string | null {
  const flat = ['page', 'pageSize'].filter((name) => parameters[name] !== undefined)
  if (flat.length > 0)
    return `Write ${flat.map((name) => `pagination[${name}]=${shorten(encodeURIComponent(String(parameters[name])))}`).join('&')}`
  if (!isObject(pagination)) return null
  const wrong = ['page', 'start'].find((name) => pagination[name] !== undefined && !/^-?\d+$/.test(String(pagination[name])))
  if (wrong !== undefined) return `pagination[${wrong}] is a whole number, not ${quote(pagination[wrong])}.`
  const isMixed = ['page', 'pageSize'].some((name) => name in pagination) && ['start', 'limit'].some((name) => name in pagination)
  return isMixed ? 'Write pagination[page] and pagination[pageSize], or pagination[start] and pagination[limit].' : null
}

/** A `status` that the contract of Strapi treats as `draft`. */
export const lenientStatus: Hint = ({ type, parameters: { status }, config }) =>
  type === null || status === undefined || status === 'draft' || status === 'published' || config.contract !== 'strapi'
    ? null
    : `status=${quote(status)} is taken for draft, as Strapi does. It is "published" (the default) or "draft".`

/** A locale that does not exist. */
export const unknownLocale: Hint = async ({ type, parameters, route, error, method, config }) => {
  const { locale, populate, filters, sort } = parameters
  if (type === null || route === null || typeof locale !== 'string' || locale === '' || locale === '*') return null
  if (!type.localized)
    return error === null && method === 'GET' && [populate, filters, sort].every((parameter) => parameter === undefined)
      ? `${type.singularName} is not localized ("i18n" in its schema), so locale has no effect.`
      : null
  const { defaultLocale } = route.access
  const codes = await localeCodes(route.documents, defaultLocale)
  if (codes.includes(locale)) return null
  if (/^all$/i.test(locale)) return 'All locales are locale=*'
  const lower = locale.toLowerCase()
  const meant = [lower, lower.split(/[-_]/)[0]].flatMap((one) => codes.find((code) => code.toLowerCase() === one) ?? [])[0]
  const known = list(codes.map((code) => (code === defaultLocale ? `${code} (default)` : code)))
  return `There is no locale ${quote(locale)}.${meant === undefined ? '' : ` Did you mean "${meant}"?`} Locales: ${known}. Add one: ${commandLine(`locales add ${quotedWord(locale)}`, config.folder)}`
}
