// Names in a query that do not exist or may not be used: 400 `Invalid key …`, whose details say where the name stands.
import type { QueryParameter } from '../../foundation/errors/errors.js'
import type { Attribute, ContentType, Model, Schema } from '../../model/schema/types.js'
import { isOperator, operators } from '../../query/operators.js'
import type { Hint, HintedExchange } from './exchange.js'
import { levelWith } from './inside-populate.js'
import { lacks } from './permissions.js'
import { shapesBelow, zoneForms } from './populated.js'
import { didYouMean, listed, quoted, similar } from './sentences.js'
import { fieldNames, isUnreadable, kindOf, labelOf, nameOf, type PathTarget, placeAt, populateNames, shapesOf, stepsOf } from './shapes.js'

/** An invalid name, and where it stands. */
interface Name {
  readonly key: string
  readonly param: QueryParameter
  /** The names above it. */
  readonly above: readonly string[]
  readonly model: Model
  /** Of the API. */
  readonly prefix: string
  readonly type: ContentType
  /** What it was looked for in. */
  readonly shapes: readonly Schema[]
  /** The attribute right above it. */
  readonly parent: Attribute | null
  /** The parameter as the query string writes it: `filters`, or `populate[author][filters]`. */
  readonly written: string
  /** True for `populate=author.portrait`. */
  readonly dotted: boolean
}

/** A name that does not exist, or may not be used where it stands. */
export const invalidName: Hint = (exchange) => {
  const { key, path, source, param } = (exchange.error?.details ?? {}) as Readonly<Record<string, unknown>>
  if (exchange.type === null || typeof key !== 'string') return null
  if (source === undefined && typeof path === 'string') return starredPopulate(exchange.model, path)
  if (source !== 'query') return null
  if (key === '*' && param === 'populate' && path === '*')
    return `"*" stands alone: write populate=*, or the names alone: populate[0]=${namesBesideStar(exchange, exchange.type)[0] ?? '…'}`
  const name = nameAt(exchange, exchange.type, key, param as QueryParameter, typeof path === 'string' ? path : '')
  if (name.param === 'populate' && /^deep\b/.test(String(exchange.parameters.populate))) return deepPopulate
  const found = name.shapes.map((shape) => shape.attributes.get(key)).find((attribute) => attribute !== undefined)
  if (name.param === 'populate' && name.above.length > 0 && !name.dotted && levelWord(name) !== null) return levelWord(name)
  return found === undefined ? unknownName(name) : unusableName(exchange, name, found)
}

/** The names of a populate that has `*` too, or those that it could have. */
function namesBesideStar({ parameters: { populate } }: HintedExchange, type: ContentType): readonly string[] {
  const [known, given] = [populateNames(type), (Array.isArray(populate) ? populate : [populate]).flatMap((text) => String(text).split(','))]
  const named = known.filter((name) => given.includes(name))
  return named.length > 0 ? named : known
}

/** `populate[author]=*` asks for what is in no level by itself. */
function starredPopulate(model: Model, path: string): string {
  const above = stepsOf(model, path).slice(0, -1)
  return `"*" below an attribute stands for its own values only. To populate everything one level below, write populate[${above.join('][populate][')}][populate]=*`
}

function nameAt(exchange: HintedExchange, type: ContentType, key: string, param: QueryParameter, path: string): Name {
  const { model, parameters, config } = exchange
  const above =
    path === '' || path === key ? [] : path.endsWith(`.${key}`) ? stepsOf(model, path.slice(0, -key.length - 1)) : stepsOf(model, path)
  const common = { key, model, prefix: config.rest.prefix, type, dotted: isDotted(parameters.populate, [...above, key]) }
  const inside = param === 'populate' ? levelWith(model, type, parameters.populate, [...above, key]) : null
  if (inside !== null) {
    const place = inside.shapes.map((shape) => placeAt(model, shape, above)).find((found) => found !== null)
    const [shapes, parent] = above.length === 0 || place === undefined ? [inside.shapes, null] : [place.shapes, place.attribute]
    const isList = inside.param === 'fields' || inside.param === 'populate'
    const names = isList ? [...inside.above, ...above] : above
    return { ...common, param: inside.param, above: names, shapes, parent, written: `${inside.written}[${inside.param}]` }
  }
  const place: PathTarget = placeAt(model, type, above) ?? { shapes: [type], attribute: null }
  const isSomewhere = param === 'populate' && above.length === 0 && !place.shapes[0]!.attributes.has(key) && !isTopLevel(parameters, key)
  const shapes = isSomewhere ? [type, ...shapesBelow(model, type, parameters.populate)] : place.shapes
  return { ...common, param, above, shapes, parent: place.attribute, written: param }
}

/** `populate=author.portrait`, alone or in a list. */
const isDotted = (populate: unknown, steps: readonly string[]): boolean =>
  (Array.isArray(populate) ? populate : [populate]).some(
    (text) =>
      typeof text === 'string' && steps.length > 1 && text.split(',').some((one) => `${one.trim()}.`.startsWith(`${steps.join('.')}.`)),
  )

/** True for a name that the populate itself has, in any of its forms. */
const isTopLevel = ({ populate }: HintedExchange['parameters'], key: string): boolean =>
  typeof populate === 'string'
    ? populate.split(',').some((text) => text.trim() === key)
    : Array.isArray(populate)
      ? populate.some((text) => typeof text === 'string' && text.split(',').some((one) => one.trim() === key))
      : Object.hasOwn((populate ?? {}) as object, key)

/** A name that the model has. */
function unusableName(
  exchange: HintedExchange,
  { key, param, above, model, shapes, written }: Name,
  attribute: Attribute,
): string | null | Promise<string> {
  const shape = shapes.find(({ attributes }) => attributes.get(key) === attribute)!
  const kind = kindOf(model, attribute)
  if (isUnreadable(attribute)) {
    if (/^(?:created|updated)By$/.test(key))
      return `"${key}" is shown only for types with "populateCreatorFields": true in the options of their schema, which ${nameOf(shape)} has not.`
    const why = attribute.private ? 'is private ("private": true in its schema)' : 'is a password'
    return `"${key}" exists in ${nameOf(shape)}, but ${why}: no request can select, filter or sort by it, or populate it.`
  }
  const path = [...above, key]
  if (param === 'fields') return `"${key}" is ${kind}, not a field. Populate it: ${populateOf(path)}`
  if (param === 'populate') {
    if (above.length === 0)
      return attribute.kind === 'scalar'
        ? `"${key}" is ${kind}, which responses contain without populate. To select fields, write fields=${key}`
        : null
    const parent = above.join('][populate][')
    return attribute.kind === 'scalar'
      ? `"${key}" is ${kind}, not a relation. To select fields of ${above.at(-1)}, write populate[${parent}][fields][0]=${key}`
      : written !== 'populate'
        ? null
        : `"${key}" exists, one level further down: write populate[${parent}][populate][${key}]=true`
  }
  if (attribute.kind === 'dynamiczone' || attribute.kind === 'morphTo') return `"${key}" is ${kind}, which cannot be used in ${param}.`
  if (attribute.kind === 'media')
    return 'Media attributes cannot be filtered with the contract "specification" (docs/differences.md, row 5).'
  if (attribute.kind === 'relation' || attribute.kind === 'morphFrom') return restrictedRelation(exchange, written, path, attribute.target)
  return null
}

const populateOf = (path: readonly string[]): string =>
  path.length === 1 ? `populate=${path[0]}` : `populate[${path.slice(0, -1).join('][populate][')}][populate]=${path.at(-1)}`

/** A relation whose documents the caller may not find, or one in place of an attribute to sort by. */
async function restrictedRelation(exchange: HintedExchange, written: string, path: readonly string[], target: string): Promise<string> {
  const { asked, model } = exchange
  if (asked !== null && !asked.caller.grants.may(`${target}.find`))
    return `"${path.join('.')}" exists, but leads to documents that the caller may not find. ${await lacks(exchange, asked, [`${target}.find`])}`
  const label = labelOf(model.types.get(target)!) ?? 'id'
  return `"${path.at(-1)}" is a relation. Name an attribute of it: ${/sort\]?$/.test(written) ? `${written}=${path.join('.')}.${label}` : `${written}[${path.join('][')}][${label}][$eq]=…`}`
}

/** A name that the model lacks. */
function unknownName(name: Name): string {
  const { key, param, above, shapes } = name
  return (
    operatorName(name) ??
    signedName(name) ??
    suffixedName(name) ??
    parameterName(name) ??
    (above.at(-1) === 'on' ? unknownComponent(name) : null) ??
    (param === 'populate' ? levelName(name) : null) ??
    furtherName(name) ??
    `${listed(shapes.slice(0, 3).map(nameOf))} ${shapes.length === 1 ? 'has' : 'have'} no "${key}".${guess(name)}`
  )
}

/** Operators of other languages and versions. */
const formerOperators: ReadonlyMap<string, string> = new Map([
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

/** What stands where only an operator can, or is one without its `$`. */
function operatorName({ key, param, above, parent, written }: Name): string | null {
  if (param !== 'filters' && param !== 'populate') return null
  const bare = key.replace(/^[$_]+/, '')
  const isBelowValue = parent?.kind === 'scalar'
  if (!key.startsWith('$') && !isBelowValue && !isOperator(`$${bare}`)) return null
  const known = [...Object.keys(operators), '$and', '$or', '$not']
  const meant = known.includes(`$${bare}`) ? `$${bare}` : (formerOperators.get(bare) ?? similar(`$${bare}`, known))
  const place = param === 'filters' && above.length > 0 ? `${written}[${above.join('][')}]` : ''
  const repair = meant === null ? '' : ` Did you mean ${place}[${meant}]?`
  const start = key.startsWith('$') ? `There is no operator "${key}".` : `"${key}" is not an operator; operators start with "$".`
  return `${start}${repair} Operators: ${known.join(' ')}`
}

/** `filters[title_contains]`, as Strapi 3 wrote it. */
function suffixedName({ key, param, above, shapes, written }: Name): string | null {
  const [, bare = '', suffix = ''] = /^(.+)_([A-Za-z]+)$/.exec(key) ?? []
  const operator = isOperator(`$${suffix}`) ? `$${suffix}` : formerOperators.get(suffix)
  if (param !== 'filters' || operator === undefined || !shapes.some(({ attributes }) => attributes.has(bare))) return null
  return `The operator has brackets of its own: write ${written}[${[...above, bare].join('][')}][${operator}]=…`
}

/** `filters[status]`, where a parameter of the request was meant. */
function parameterName({ key, param, above, written }: Name): string | null {
  const isParameter = /^(?:status|populate|fields|sort|pagination|_q|publicationState)$/.test(key)
  if (param !== 'filters' || above.length > 0 || written !== 'filters' || !isParameter) return null
  const meant = key === 'publicationState' ? 'status' : key
  return `"${key}" is not an attribute: ${meant} is a parameter beside filters. Write ${meant}${meant === 'pagination' ? '[page]' : ''}=…`
}

/** `sort=-title`, as other APIs write it. */
function signedName({ key, param, shapes, written }: Name): string | null {
  if (param !== 'sort') return null
  const [, spaced, order] = /^(?:(.+)\s)?(asc|desc)$/i.exec(key) ?? []
  if (order !== undefined)
    return `The order follows the name: write ${written}=${spaced ?? labelOf(shapes[0]!) ?? 'id'}:${order.toLowerCase()}`
  const [, sign, bare = ''] = /^([-+])(.+)$/.exec(key) ?? []
  if (sign === undefined) return null
  const meant = shapes[0]!.attributes.has(bare) ? bare : (similar(bare, fieldNames(shapes[0]!)) ?? bare)
  return `The order follows the name: write ${written}=${meant}:${sign === '-' ? 'desc' : 'asc'}`
}

const deepPopulate =
  'populate=deep is of a plugin that Octavo does not have. populate=* is one level of everything; deeper levels are named: populate[author][populate]=*'

/** What a level of a populate does not have: words of the request as a whole. */
function levelWord(name: Name): string | null {
  const { key, above } = name
  if (/^(?:pagination|page|pageSize|limit|start)$/.test(key)) return unpagedLevel(name)
  if (/^(?:where|filter)$/.test(key)) return `Did you mean ${levelOf(above)}[filters]?`
  const word = /^(?:locale|status|publicationState)$/.test(key) ? (key === 'locale' ? 'locale' : 'status') : null
  return word === null
    ? null
    : `A level of populate has no "${key}": what is populated has the ${word} of the request, ${word}=… beside populate.`
}

const levelOf = (above: readonly string[]): string => `populate[${above.join('][populate][')}]`

/** What stands in place of a name in a populate. */
function levelName({ key, above, model, type, parent, dotted, written }: Name): string | null {
  if (written !== 'populate') return null
  if (above.length === 0)
    return /^(?:false|none|null|undefined|0|no)$/.test(key)
      ? 'Without populate, nothing is populated: leave it out.'
      : /^(?:true|all|1|yes|\*+|everything)$/.test(key)
        ? `populate takes names or "*": write populate=* or populate=${populateNames(type)[0] ?? '*'}`
        : null
  if (parent?.kind === 'dynamiczone' && !dotted) return zoneForms(levelOf(above), parent)
  if (parent === null || parent.kind === 'scalar') return null
  const shapes = shapesOf(model, parent)
  return dotted ? dottedMeant(key, above, shapes) : levelKeyMeant(key, levelOf(above), shapes)
}

function unpagedLevel({ model, prefix, type, above, key }: Name): string {
  const attribute = placeAt(model, type, above)?.attribute
  const target = attribute?.kind === 'relation' || attribute?.kind === 'morphFrom' ? model.types.get(attribute.target) : undefined
  const inverse = attribute?.kind === 'relation' ? attribute.inverse : null
  const other =
    target?.exposed === true && inverse !== null
      ? ` Ask for a page of them: ${prefix}/${target.pluralName}?filters[${inverse}][documentId]=<documentId>&pagination[pageSize]=10`
      : ''
  return `"${key}" does not exist inside of populate: all that is related comes.${other}`
}

/** `populate[author][name]=true`, or a misspelt key of the level. */
function levelKeyMeant(key: string, place: string, shapes: readonly Schema[]): string | null {
  const meant = similar(key, ['fields', 'filters', 'sort', 'populate', 'count', 'on'])
  if (meant !== null) return `Did you mean ${place}[${meant}]?`
  const [close] = shapes.map((shape) => similar(key, [...fieldNames(shape), ...populateNames(shape)])).filter((name) => name !== null)
  const list = shapes.some((shape) => populateNames(shape).includes(close ?? '')) ? 'populate' : 'fields'
  return `Below an attribute, populate takes fields, filters, sort, populate, count and on.${close === undefined ? '' : ` Its attributes stand further down: ${place}[${list}][0]=${close}`}`
}

/** `populate=author.portrat`. */
function dottedMeant(key: string, above: readonly string[], shapes: readonly Schema[]): string {
  const names = shapes.flatMap(populateNames)
  const close = similar(key, names)
  const rest = close === null ? `It can populate ${listed(new Set(names))}.` : `Did you mean populate=${[...above, close].join('.')}?`
  return `${listed(shapes.slice(0, 3).map(nameOf))} ${shapes.length === 1 ? 'has' : 'have'} no "${key}". ${rest}`
}

/** A fragment for a component that the zone does not have. */
function unknownComponent({ key, parent }: Name): string | null {
  if (parent?.kind !== 'dynamiczone') return null
  const short = parent.components.find((uid) => uid.split('.')[1] === key)
  const meant = short === undefined ? didYouMean(key, parent.components) : ` Did you mean "${short}"?`
  return `${parent.name} has no component "${key}".${meant} Its components are ${listed(parent.components)}.`
}

/** The attribute of a related type that somebody looked for one level too high. */
function furtherName({ key, param, above, model, shapes, written: parameter }: Name): string | null {
  if (similar(key, shapes.flatMap(fieldNames)) !== null || param === 'populate') return null
  for (const shape of shapes) {
    for (const name of populateNames(shape)) {
      const attribute = shape.attributes.get(name)!
      const has = shapesOf(model, attribute).some((target) =>
        [...fieldNames(target), ...(param === 'fields' ? [] : populateNames(target))].includes(key),
      )
      if (!has || attribute.kind === 'dynamiczone' || attribute.kind === 'media') continue
      const path = [...above, name]
      const written = {
        filters: `${parameter}[${[...path, key].join('][')}]`,
        sort: `${parameter}=${[...path, key].join('.')}`,
        fields: `populate[${path.join('][populate][')}][fields][0]=${key}`,
      }
      return `${nameOf(shape)} has no "${key}", but "${name}" has it: write ${written[param]}`
    }
  }
  return null
}

/** What was probably meant, or what there is. */
function guess({ key, param, above, model, shapes, written }: Name): string {
  const [fields, paths] = [shapes.flatMap(fieldNames), shapes.flatMap(populateNames)]
  const isMixed = param === 'filters' || param === 'sort' || (written === 'populate' && above.length === 0 && shapes.length > 1)
  const names = new Set(isMixed ? [...fields, ...paths] : param === 'fields' ? fields : paths)
  const meant = didYouMean(key, names)
  if (meant !== '') return meant
  const close = isMixed ? null : similar(key, param === 'fields' ? paths : fields)
  const attribute = close === null ? undefined : shapes.map((shape) => shape.attributes.get(close)).find((found) => found !== undefined)
  if (attribute !== undefined)
    return ` ${quoted(close)} is ${kindOf(model, attribute)}: ${param === 'fields' ? populateOf([...above, close!]) : `${written.replace(/populate(\]?)$/, 'fields$1')}=${close}`}`
  const isSystem = (name: string): boolean =>
    shapes.some(({ attributes }) => (attributes.get(name) as { readonly system?: boolean } | undefined)?.system === true)
  return ` ${param === 'populate' ? 'It can populate' : 'It has'} ${listed([...(param === 'populate' ? new Set(paths) : names)].sort((a, b) => Number(isSystem(a)) - Number(isSystem(b))))}.`
}

/** `fields[0]=title,slug`: a list takes one name per entry. */
export const malformedFields: Hint = ({ error, parameters: { fields } }) => {
  const isMixed = Array.isArray(fields) && fields.some((name) => typeof name === 'string' && name.includes(','))
  if (error?.status !== 400 || !isMixed || 'key' in (error.details ?? {})) return null
  const names = fields.flatMap((name) => String(name).split(',')).map((name) => name.trim())
  return `A list of fields has one name per entry, a text has them separated by commas: write fields=${names.join(',')}`
}
