// Hints about names in query strings: attributes, operators, and levels of populate.
import { fileType } from '../../model/schema/link.js'
import type { Attribute, ContentType, Model, Schema } from '../../model/schema/types.js'
import { isOperator, type OperatorName, operators } from '../../query/operators.js'
import { isObject } from '../../query/request.js'
import { lacks } from './caller-hints.js'
import {
  describeKind,
  didYouMean,
  type Exchange,
  fieldNames,
  findAttribute,
  findSimilar,
  followPath,
  formatUnknownKey,
  getLabel,
  getTargets,
  getTypeName,
  type Hint,
  isUnreadable,
  list,
  populateNames,
  quote,
  splitPath,
} from './vocabulary.js'

const maxLevels = 12

export type DynamicZone = Extract<Attribute, { kind: 'dynamiczone' }>

interface PopulatedAttribute {
  readonly path: readonly string[]
  readonly attribute: Attribute
  readonly shapes: readonly Schema[]
  /** Its level; true if only its name is given. */
  readonly value: unknown
}

/** The attributes in a `populate` of any form; names that do not exist are skipped. */
export function* walkPopulate(model: Model, shape: Schema, node: unknown, above: readonly string[] = []): Generator<PopulatedAttribute> {
  const level = (name: string, value: unknown): PopulatedAttribute | null => {
    const attribute = shape.attributes.get(name)
    if (attribute === undefined || attribute.kind === 'scalar' || above.length > maxLevels) return null
    return { path: [...above, name], attribute, shapes: getTargets(model, attribute), value }
  }
  if (typeof node === 'string') {
    for (const text of node.split(',')) {
      const [first = '', ...rest] = text.trim().split('.')
      for (const name of first === '*' ? populateNames(shape) : [first]) {
        const found = level(name, true)
        if (found !== null) yield found
        if (rest.length > 0) for (const next of found?.shapes ?? []) yield* walkPopulate(model, next, rest.join('.'), found!.path)
      }
    }
  } else if (Array.isArray(node)) for (const entry of node) yield* walkPopulate(model, shape, entry, above)
  else if (isObject(node)) {
    for (const [name, value] of Object.entries(node)) {
      if (/^\d+$/.test(name)) yield* walkPopulate(model, shape, value, above)
      const found = /^(?:false|f|0)$/.test(String(value)) ? null : level(name, value)
      if (found === null) continue
      yield found
      for (const [next, inner] of getLevels(model, found)) yield* walkPopulate(model, next, inner.populate, found.path)
    }
  }
}

type Level = readonly [shape: Schema, level: Readonly<Record<string, unknown>>, uid: string | null]

/** The level of an attribute for each of its types or components, and its fragments. */
function getLevels(model: Model, { shapes, value }: PopulatedAttribute): readonly Level[] {
  if (!isObject(value)) return []
  const fragments = Object.entries(isObject(value.on) ? value.on : {}).flatMap(([uid, level]): readonly Level[] => {
    const shape = model.components.get(uid) ?? model.types.get(uid)
    return shape === undefined || !isObject(level) ? [] : [[shape, level, uid]]
  })
  return [...shapes.map((shape): Level => [shape, value, null]), ...fragments]
}

const joinLevels = (path: readonly string[]): string => path.join('][populate][')

/** The forms of populating a dynamic zone. */
export const zoneForms = (path: readonly string[], { components }: DynamicZone): string =>
  `A dynamic zone is populated by component, populate[${joinLevels(path)}][on][${components[0]}]=true, or for all of them, populate[${joinLevels(path)}][populate]=*. Components: ${list(components)}.`

/** A name in a query string that does not exist or may not be used. */
interface QueryName {
  readonly key: string
  readonly param: 'filters' | 'sort' | 'fields' | 'populate'
  /** The names above it. */
  readonly above: readonly string[]
  /** The types or components that were searched for it. */
  readonly shapes: readonly Schema[]
  /** The attribute directly above it. */
  readonly parent: Attribute | null
  /** `filters`, or `populate[author][filters]`. */
  readonly written: string
  /** In `populate=author.portrait`. */
  readonly isDotted: boolean
}

/** 400 `Invalid key …` of a query string. */
export const invalidName: Hint = (exchange) => {
  const { model, type, parameters } = exchange
  const { key, path, source, param } = exchange.details as Readonly<Record<string, string | undefined>>
  if (type === null || key === undefined) return null
  if (source === undefined && path !== undefined)
    return `"*" below an attribute selects its own values only. To populate everything one level below, write populate[${joinLevels(splitPath(model, path).slice(0, -1))}][populate]=*`
  if (source !== 'query') return null
  if (key === '*' && param === 'populate' && path === '*') {
    const given = [parameters.populate].flat().flatMap((text) => String(text).split(','))
    const name = populateNames(type).find((one) => given.includes(one)) ?? populateNames(type)[0] ?? '…'
    return `"*" stands alone: write populate=*, or the names alone: populate[0]=${name}`
  }
  const name = locateName(exchange, type, key, param as QueryName['param'], path ?? '')
  if (name.param === 'populate' && /^deep\b/.test(String(parameters.populate)))
    return 'populate=deep belongs to a plugin that Octavo does not have. populate=* is one level of everything; deeper levels are named: populate[author][populate]=*'
  const found = findAttribute(name.shapes, key)
  const word = name.param === 'populate' && name.above.length > 0 && !name.isDotted ? explainLevelWord(exchange, type, name) : null
  return word ?? (found === undefined ? explainUnknown(model, name) : explainUnusable(exchange, name, found))
}

/** Locates the name in an error; errors inside of a level of populate have paths relative to that level. */
function locateName({ model, parameters }: Exchange, type: ContentType, key: string, param: QueryName['param'], path: string): QueryName {
  const above = path === key || path === '' ? [] : splitPath(model, path.endsWith(`.${key}`) ? path.slice(0, -key.length - 1) : path)
  const texts = [parameters.populate].flat().flatMap((text) => (typeof text === 'string' ? text.split(',').map((one) => one.trim()) : []))
  const full = [...above, key]
  const isDotted = full.length > 1 && texts.some((text) => `${text}.`.startsWith(`${full.join('.')}.`))
  for (const populated of param === 'populate' ? walkPopulate(model, type, parameters.populate) : []) {
    for (const [shape, level, uid] of getLevels(model, populated)) {
      const own = (['fields', 'filters', 'sort', 'populate'] as const).find((name) => containsName(name, level[name], full))
      if (own === undefined) continue
      const written = `populate[${joinLevels(populated.path)}]${uid === null ? '' : `[on][${uid}]`}[${own}]`
      const shapes = uid === null ? populated.shapes : [shape]
      const target = above.length === 0 ? null : followPath(model, shapes, above)
      const names = own === 'fields' || own === 'populate' ? [...populated.path, ...above] : above
      return { key, param: own, above: names, shapes: target?.shapes ?? shapes, parent: target?.attribute ?? null, written, isDotted }
    }
  }
  const target = followPath(model, [type], above) ?? { shapes: [type], attribute: null }
  const isTop = texts.includes(key) || (isObject(parameters.populate) && Object.hasOwn(parameters.populate, key))
  const isAnywhere = param === 'populate' && above.length === 0 && !type.attributes.has(key) && !isTop
  const below = isAnywhere ? [...walkPopulate(model, type, parameters.populate)].flatMap(({ shapes }) => shapes) : []
  return { key, param, above, shapes: [...new Set([...target.shapes, ...below])], parent: target.attribute, written: param, isDotted }
}

/** True if a parameter of a level contains a name. */
function containsName(param: QueryName['param'], node: unknown, [step, ...rest]: readonly string[]): boolean {
  const wanted = [step, ...rest].join('.')
  if (typeof node === 'string' && param !== 'filters')
    return node.split(',').some((text) => (param === 'sort' ? text.trim().split(':')[0] : text.trim()) === wanted)
  if (step === undefined) return true
  if (Array.isArray(node)) return node.some((entry) => containsName(param, entry, [step, ...rest]))
  if (!isObject(node)) return false
  if (param === 'populate') return Object.hasOwn(node, wanted)
  return Object.entries(node).some(([name, value]) =>
    param === 'filters' && name === step
      ? containsName(param, value, rest)
      : (param !== 'filters' || /^(?:\$(?:and|or|not)|\d+)$/.test(name)) && containsName(param, value, [step, ...rest]),
  )
}

/** Parameters of a request in a level of populate. */
function explainLevelWord({ model, config }: Exchange, type: ContentType, { key, above }: QueryName): string | null {
  if (/^(?:where|filter)$/.test(key)) return `Did you mean populate[${joinLevels(above)}][filters]?`
  if (/^(?:locale|status|publicationState)$/.test(key)) {
    const word = key === 'locale' ? 'locale' : 'status'
    return `A level of populate has no "${key}": populated documents have the ${word} of the request, ${word}=… next to populate.`
  }
  if (!/^(?:pagination|page|pageSize|limit|start)$/.test(key)) return null
  const attribute = followPath(model, [type], above)?.attribute
  const target = attribute?.kind === 'relation' || attribute?.kind === 'morphFrom' ? model.types.get(attribute.target) : undefined
  const inverse = attribute?.kind === 'relation' ? attribute.inverse : null
  const page = `${config.rest.prefix}/${target?.pluralName}?filters[${inverse}][documentId]=<documentId>&pagination[pageSize]=10`
  return `"${key}" does not exist inside of populate: all related documents are populated.${target?.exposed && inverse !== null ? ` For a page of them: ${page}` : ''}`
}

const populateForm = (path: readonly string[]): string =>
  path.length === 1 ? `populate=${path[0]}` : `populate[${joinLevels(path.slice(0, -1))}][populate]=${path.at(-1)}`

/** An attribute that exists, but may not be used in this position. */
function explainUnusable(exchange: Exchange, name: QueryName, attribute: Attribute): string | null | Promise<string> {
  const { key, param, above, shapes, written } = name
  const shape = shapes.find(({ attributes }) => attributes.get(key) === attribute)!
  const kind = describeKind(exchange.model, attribute)
  if (isUnreadable(attribute)) {
    if (/^(?:created|updated)By$/.test(key))
      return `"${key}" is shown only for types with "populateCreatorFields": true in the options of their schema, which ${getTypeName(shape)} does not have.`
    const why = attribute.private ? 'is private ("private": true in its schema)' : 'is a password'
    return `"${key}" exists in ${getTypeName(shape)}, but ${why}: no request can select, filter or sort by it, or populate it.`
  }
  if (param === 'fields') return `"${key}" is ${kind}, not a field. Populate it: ${populateForm([...above, key])}`
  if (param === 'populate' && attribute.kind === 'scalar')
    return above.length === 0
      ? `"${key}" is ${kind}, which responses contain without populate. To select fields, write fields=${key}`
      : `"${key}" is ${kind}, not a relation. To select fields of ${above.at(-1)}, write populate[${joinLevels(above)}][fields][0]=${key}`
  if (param === 'populate')
    return above.length === 0 || written !== 'populate'
      ? null
      : `"${key}" exists, one level further down: write populate[${joinLevels(above)}][populate][${key}]=true`
  if (attribute.kind === 'dynamiczone' || attribute.kind === 'morphTo') return `"${key}" is ${kind}, which cannot be used in ${param}.`
  if (attribute.kind === 'media')
    return 'Media attributes cannot be filtered with the contract "specification" (docs/differences.md, row 5).'
  if (attribute.kind === 'relation' || attribute.kind === 'morphFrom') return explainRelation(exchange, name, attribute.target)
  return null
}

/** A relation to documents that the caller may not find, or in place of an attribute. */
async function explainRelation(exchange: Exchange, { key, above, written }: QueryName, target: string): Promise<string> {
  const { route, model } = exchange
  const path = [...above, key]
  if (route !== null && !route.caller.grants.may(`${target}.find`))
    return `"${path.join('.')}" exists, but leads to documents that the caller may not find. ${await lacks(exchange, route, [`${target}.find`])}`
  const label = getLabel(model.types.get(target)!) ?? 'id'
  const form = /sort\]?$/.test(written) ? `=${path.join('.')}.${label}` : `[${path.join('][')}][${label}][$eq]=…`
  return `"${key}" is a relation. Name an attribute of it: ${written}${form}`
}

/** Operators of other languages and versions. */
const formerOperators: ReadonlyMap<string, OperatorName | '$not'> = new Map([
  ['like', '$contains'],
  ['ilike', '$containsi'],
  ['regex', '$contains'],
  ['nin', '$notIn'],
  ['neq', '$ne'],
  ['not', '$not'],
  ['equals', '$eq'],
  ['exists', '$notNull'],
  ['isNull', '$null'],
  ['ncontains', '$notContains'],
])

function explainUnknown(model: Model, name: QueryName): string {
  return (
    explainOperator(name) ??
    explainForeignSyntax(name) ??
    explainLevelKey(model, name) ??
    explainMissingStep(model, name) ??
    `${formatUnknownKey(name.shapes, name.key)}${suggestName(model, name)}`
  )
}

/** An unknown operator, or one without its `$`. */
function explainOperator({ key, param, above, parent, written }: QueryName): string | null {
  if (param !== 'filters' && param !== 'populate') return null
  const bare = key.replace(/^[$_]+/, '')
  if (!key.startsWith('$') && parent?.kind !== 'scalar' && !isOperator(`$${bare}`)) return null
  const known = [...Object.keys(operators), '$and', '$or', '$not']
  const close = known.includes(`$${bare}`) ? `$${bare}` : (formerOperators.get(bare) ?? findSimilar(`$${bare}`, known))
  const position = param === 'filters' && above.length > 0 ? `${written}[${above.join('][')}]` : ''
  const start = key.startsWith('$') ? `There is no operator "${key}".` : `"${key}" is not an operator; operators start with "$".`
  return `${start}${close === null ? '' : ` Did you mean ${position}[${close}]?`} Operators: ${known.join(' ')}`
}

/** Syntax of Strapi 3 and other APIs, and parameters as filters. */
function explainForeignSyntax({ key, param, above, shapes, written }: QueryName): string | null {
  if (param === 'filters') {
    const [, name = '', suffix = ''] = /^(.+)_([A-Za-z]+)$/.exec(key) ?? []
    const operator = isOperator(`$${suffix}`) ? `$${suffix}` : formerOperators.get(suffix)
    if (operator !== undefined && findAttribute(shapes, name) !== undefined)
      return `The operator has its own brackets: write ${written}[${[...above, name].join('][')}][${operator}]=…`
    if (written !== 'filters' || above.length > 0 || !/^(?:status|populate|fields|sort|pagination|_q|publicationState)$/.test(key))
      return null
    const meant = key === 'publicationState' ? 'status' : key
    return `"${key}" is not an attribute: ${meant} is a parameter next to filters. Write ${meant}${meant === 'pagination' ? '[page]' : ''}=…`
  }
  if (param !== 'sort') return null
  const [, spaced, order] = /^(?:(.+)\s)?(asc|desc)$/i.exec(key) ?? []
  const [, sign, bare = ''] = /^([-+])(.+)$/.exec(key) ?? []
  if (order !== undefined)
    return `The order follows the name: write ${written}=${spaced ?? getLabel(shapes[0]!) ?? 'id'}:${order.toLowerCase()}`
  if (sign === undefined) return null
  const names = fieldNames(shapes[0]!)
  return `The order follows the name: write ${written}=${names.includes(bare) ? bare : (findSimilar(bare, names) ?? bare)}:${sign === '-' ? 'desc' : 'asc'}`
}

/** An unknown key in a level of populate, or an unknown component. */
function explainLevelKey(model: Model, { key, param, above, shapes, parent, written, isDotted }: QueryName): string | null {
  if (above.at(-1) === 'on' && parent?.kind === 'dynamiczone') {
    const short = parent.components.find((uid) => uid.split('.')[1] === key)
    const meant = short === undefined ? didYouMean(key, parent.components) : ` Did you mean "${short}"?`
    return `${parent.name} has no component "${key}".${meant} Its components are ${list(parent.components)}.`
  }
  if (param !== 'populate' || written !== 'populate') return null
  if (above.length === 0) {
    if (/^(?:false|none|null|undefined|0|no)$/.test(key)) return 'Without populate, nothing is populated: leave it out.'
    if (!/^(?:true|all|1|yes|\*+|everything)$/.test(key)) return null
    return `populate takes names or "*": write populate=* or populate=${populateNames(shapes[0]!)[0] ?? '*'}`
  }
  if (parent?.kind === 'dynamiczone' && !isDotted) return zoneForms(above, parent)
  if (parent === null || parent.kind === 'scalar') return null
  const targets = getTargets(model, parent)
  const relations = targets.flatMap(populateNames)
  if (isDotted) {
    const meant = didYouMean(key, relations, (name) => `populate=${[...above, name].join('.')}`)
    return `${formatUnknownKey(targets, key)}${meant || ` It can populate ${list(relations)}.`}`
  }
  const meant = didYouMean(
    key,
    ['fields', 'filters', 'sort', 'populate', 'count', 'on'],
    (name) => `populate[${joinLevels(above)}][${name}]`,
  )
  if (meant !== '') return meant.trim()
  const close = findSimilar(key, [...targets.flatMap(fieldNames), ...relations])
  const attributes =
    close === null
      ? ''
      : ` Its attributes are further down: populate[${joinLevels(above)}][${relations.includes(close) ? 'populate' : 'fields'}][0]=${close}`
  return `Below an attribute, populate takes fields, filters, sort, populate, count and on.${attributes}`
}

/** An attribute of a related type, without the relation. */
function explainMissingStep(model: Model, { key, param, above, shapes, written }: QueryName): string | null {
  if (param === 'populate' || findSimilar(key, shapes.flatMap(fieldNames)) !== null) return null
  for (const shape of shapes) {
    for (const name of populateNames(shape)) {
      const attribute = shape.attributes.get(name)!
      const names = (target: Schema) => [...fieldNames(target), ...(param === 'fields' ? [] : populateNames(target))]
      const isThere = getTargets(model, attribute).some((target) => names(target).includes(key))
      if (!isThere || attribute.kind === 'dynamiczone' || attribute.kind === 'media') continue
      const path = [...above, name]
      const forms = {
        filters: `${written}[${[...path, key].join('][')}]`,
        sort: `${written}=${[...path, key].join('.')}`,
        fields: `populate[${joinLevels(path)}][fields][0]=${key}`,
      }
      return `${getTypeName(shape)} has no "${key}", but "${name}" has it: write ${forms[param]}`
    }
  }
  return null
}

/** The name that was probably meant, or those that exist. */
function suggestName(model: Model, { key, param, above, shapes, written }: QueryName): string {
  const fields = shapes.flatMap(fieldNames)
  const relations = shapes.flatMap(populateNames)
  const isMixed = param === 'filters' || param === 'sort' || (written === 'populate' && above.length === 0 && shapes.length > 1)
  const names = isMixed ? [...fields, ...relations] : param === 'fields' ? fields : relations
  const meant = didYouMean(key, names)
  if (meant !== '') return meant
  const close = isMixed ? null : findSimilar(key, param === 'fields' ? relations : fields)
  if (close !== null)
    return ` ${quote(close)} is ${describeKind(model, findAttribute(shapes, close)!)}: ${param === 'fields' ? populateForm([...above, close]) : `${written.replace(/populate(\]?)$/, 'fields$1')}=${close}`}`
  const isSystem = (name: string): boolean => (findAttribute(shapes, name) as { readonly system?: boolean }).system === true
  const shown = param === 'populate' ? relations : names.sort((a, b) => Number(isSystem(a)) - Number(isSystem(b)))
  return ` ${param === 'populate' ? 'It can populate' : 'It has'} ${list(shown)}.`
}

/** Relations that are left out of a response because the caller may not find their targets. */
export const leftOutOfPopulate: Hint = async (exchange) => {
  const { type, parameters, route, model } = exchange
  if (type === null || route === null) return null
  const closed = [...walkPopulate(model, type, parameters.populate)].filter(
    ({ attribute }) =>
      (attribute.kind === 'morphFrom' || (attribute.kind === 'relation' && attribute.storage.kind !== 'localizations')) &&
      !/^(?:created|updated)By$/.test(attribute.name) &&
      attribute.target !== fileType &&
      !route.caller.grants.may(`${attribute.target}.find`),
  )
  if (closed.length === 0) return null
  const actions = new Set(closed.map(({ attribute }) => `${(attribute as { readonly target: string }).target}.find`))
  return `Left out of populate: ${list(closed.map(({ path }) => path.join('.')))}. ${await lacks(exchange, route, [...actions])}`
}
