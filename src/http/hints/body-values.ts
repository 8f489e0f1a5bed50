// Values of a body that are refused, or silently become something else.

import { storedForm } from '../../content/documents/input/stored.js'
import type { ApiError } from '../../foundation/errors/errors.js'
import { takenMessage } from '../../foundation/errors/unique-conflict.js'
import type { Attribute, ContentType, Model, Scalar, Schema } from '../../model/schema/types.js'
import { isObject } from '../../query/rest/parameters.js'
import { dataOf } from './bodies.js'
import type { Hint, HintedExchange, ServedRequest } from './exchange.js'
import { listed, quoted, similar, withArticle } from './sentences.js'
import { kindOf, labelOf, nameOf, placeAt, shapesOf } from './shapes.js'

/** One error of the details, about the value at a path. */
interface ValueError {
  readonly path: readonly string[]
  readonly message: string
  readonly value?: unknown
}

/** Errors that a hint repairs at once, and errors that it looks at for that. */
const [mostRepaired, mostLooked] = [5, 50]

/** 400: what each wrong value has to be, dates included, which are reported one at a time. */
export const wrongValues: Hint = (exchange) => {
  const { error, type, model } = exchange
  const data = dataOf(exchange)
  if (error?.status !== 400 || error.name !== 'ValidationError' || type === null || data === null) return null
  const { errors } = (error.details ?? {}) as { readonly errors?: readonly ValueError[] }
  const about = (errors ?? []).filter(({ path }) => path.length > 0).slice(0, mostLooked)
  const repairs = about.flatMap((one) => repairOf(exchange, type, one, valueAt(data, one.path)) ?? [])
  const found = [...new Set([...repairs, ...wrongDates(model, type, data), ...missingValues(exchange, type, data, about)])]
  if (found.length === 0) return null
  const rest = found.length > mostRepaired ? ` And ${found.length - mostRepaired} more.` : ''
  return `${found.slice(0, mostRepaired).join(' ')}${rest}`
}

function repairOf({ model }: HintedExchange, type: ContentType, { path, message }: ValueError, sent: unknown): string | null {
  const written = path.join('.')
  if (path.at(-1) === '__component') return zoneRepair(model, type, path, sent)
  const attribute = attributeAt(model, type, path)
  if (attribute === null || sent === undefined || sent === null) return null
  if (message === takenMessage) return `${written} must be unique, and another ${nameOf(type)} has ${quoted(sent)}.`
  if (attribute.kind !== 'scalar') return shapeRepair(model, attribute, written, sent)
  if (attribute.type === 'enumeration') return choiceRepair(attribute, written, sent)
  if (attribute.type === 'blocks') return typeof sent === 'string' ? blocksRepair(written) : nodeRepair(written)
  if (typeof sent === 'object') return `${written} is ${kindOf(model, attribute)}, not ${Array.isArray(sent) ? 'a list' : 'an object'}.`
  return null
}

const attributeAt = (model: Model, type: ContentType, path: readonly string[]): Attribute | null =>
  placeAt(
    model,
    type,
    path.map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
  )?.attribute ?? null

/** What is required and absent, in one sentence. */
function missingValues(
  { model, parameters }: HintedExchange,
  type: ContentType,
  data: unknown,
  errors: readonly ValueError[],
): readonly string[] {
  const absent = errors.flatMap(({ path }) => {
    const attribute = attributeAt(model, type, path)
    const isAbsent = attribute?.required === true && (valueAt(data, path) ?? null) === null
    return isAbsent ? [`${path.join('.')} (${kindOf(model, attribute)})`] : []
  })
  if (absent.length === 0) return []
  const isDraft = type.draftAndPublish && parameters.status !== 'draft'
  return [`Required: ${listed(absent)}.${isDraft ? ' A draft may lack what is required: ?status=draft' : ''}`]
}

/** What an entry of a zone names as its component. */
function zoneRepair(model: Model, type: ContentType, path: readonly string[], sent: unknown): string | null {
  const attribute = placeAt(model, type, path.slice(0, 1))?.attribute
  if (attribute?.kind !== 'dynamiczone') return null
  const names = attribute.components
  const meant = typeof sent === 'string' ? (names.find((uid) => uid.split('.')[1] === sent) ?? similar(sent, names)) : null
  const start =
    sent === undefined
      ? `Each entry of ${attribute.name} names its component in "__component".`
      : `${attribute.name} has no component ${quoted(sent)}.`
  return `${start}${meant === null ? '' : ` Did you mean "${meant}"?`} Its components are ${listed(names)}.`
}

function choiceRepair(attribute: Scalar, written: string, sent: unknown): string {
  const choices = Array.isArray(attribute.source.enum) ? attribute.source.enum.map(String) : []
  const meant = similar(String(sent), choices)
  return `${written} is an enumeration.${meant === null ? '' : ` Did you mean "${meant}"?`} Values: ${listed(choices)}.`
}

const blocksRepair = (name: string): string =>
  `${name} is of type blocks, a list of nodes, not a text: [{ "type": "paragraph", "children": [{ "type": "text", "text": "…" }] }]`

const nodeRepair = (name: string): string =>
  `${name} is not in the form of blocks: each node is a paragraph, heading, list, quote, code or image, { "type": "paragraph", "children": [{ "type": "text", "text": "…" }] }`

/** Components and lists in another form. */
function shapeRepair(model: Model, attribute: Attribute, written: string, sent: unknown): string | null {
  if (attribute.kind === 'component') {
    const [shape] = shapesOf(model, attribute)
    const example = `{ ${quoted(shape === undefined ? '…' : (labelOf(shape) ?? '…'))}: … }`
    if (attribute.repeatable && !Array.isArray(sent)) return `${written} is a repeatable component: a list, [${example}]`
    if (!attribute.repeatable && Array.isArray(sent)) return `${written} is a single component, not a list: ${example}`
    return isObject(sent) || Array.isArray(sent) ? null : `${written} is ${kindOf(model, attribute)}: ${example}`
  }
  if (attribute.kind === 'dynamiczone' && !Array.isArray(sent))
    return `${written} is a dynamic zone: a list, [{ "__component": ${quoted(attribute.components[0])}, … }]`
  return null
}

/** Dates and times that are none: Strapi reports them one at a time, and not together with other errors. */
function wrongDates(model: Model, shape: Schema, data: Readonly<Record<string, unknown>>, above = ''): readonly string[] {
  return Object.entries(data).flatMap(([name, value]) => {
    const attribute = shape.attributes.get(name)
    const written = `${above}${name}`
    if (attribute?.kind === 'component' && isObject(value)) return wrongDates(model, shapesOf(model, attribute)[0]!, value, `${written}.`)
    if (attribute?.kind !== 'scalar' || attribute.system || !/^(?:date|time|datetime|timestamp)$/.test(attribute.type)) return []
    try {
      storedForm(attribute, value)
      return []
    } catch (error) {
      return [`${written} is of type ${attribute.type}: ${(error as ApiError).message}.`]
    }
  })
}

/** 201 and 200: a text in place of blocks, which Strapi and its contract write as null. */
export const lostBlocks: Hint = (exchange) => {
  const { type, status, config } = exchange
  const data = dataOf(exchange)
  if (type === null || data === null || status >= 300 || config.contract !== 'strapi') return null
  const lost = Object.entries(data).flatMap(([name, value]) => {
    const attribute = type.attributes.get(name)
    return attribute?.kind === 'scalar' && attribute.type === 'blocks' && typeof value === 'string' && !/^\s*[[{]/.test(value) ? [name] : []
  })
  return lost.length === 0 ? null : `The text of ${listed(lost)} was lost: null is stored, as Strapi does. ${blocksRepair(lost[0]!)}`
}

/** 400: a document in place of a reference to one. */
export const nestedDocument: Hint = (exchange) => {
  const { error, type, model, config } = exchange
  const data = dataOf(exchange)
  if (error?.status !== 400 || 'key' in (error.details ?? {}) || type === null || data === null) return null
  for (const [name, value] of Object.entries(data)) {
    const attribute = type.attributes.get(name)
    if (attribute?.kind !== 'relation' && attribute?.kind !== 'media') continue
    const entries = entriesOf(value)
    const textId = entries.find(({ id, documentId }) => typeof id === 'string' && documentId === undefined && !/^\d{1,15}$/.test(id))
    if (textId !== undefined && attribute.kind === 'relation')
      return `${name}: "id" is a row id, a number. Write { "documentId": ${quoted(textId.id)} }`
    const nested = entries.find((one) => !referenceKeys.some((key) => key in one))
    if (nested === undefined || Object.keys(nested).length === 0) continue
    if (attribute.kind === 'media')
      return `${name} takes the id of an uploaded file: { ${quoted(name)}: 12 }. POST ${config.rest.prefix}/upload uploads one, and its response has the id.`
    const target = model.types.get(attribute.target)
    if (target === undefined) continue
    const create = target.exposed ? ` Create it first, with POST ${config.rest.prefix}/${target.pluralName}.` : ''
    return `${name} takes a documentId, or { "connect": [{ "documentId": … }] }; documents are not created inside others.${create}`
  }
  return null
}

/** The objects that a relation or media attribute is given, also below set, connect and disconnect. */
const entriesOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  (Array.isArray(value) ? value : [value]).flatMap((one) =>
    isObject(one) ? [one, ...['set', 'connect', 'disconnect'].flatMap((key) => (key in one ? entriesOf(one[key]) : []))] : [],
  )

const referenceKeys = ['id', 'documentId', 'set', 'connect', 'disconnect']

/** 400: a relation that names what does not exist, by its name or by another id. */
export const missingTargets: Hint = async (exchange) => {
  const { error, asked, type, model } = exchange
  const data = dataOf(exchange)
  if (error?.situation?.kind !== 'targets' || asked === null || type === null || data === null) return null
  const { uid, named } = error.situation
  const target = model.types.get(uid)
  if (target === undefined) return null
  const missing = new Set(named)
  const found = referencesTo(model, type, data, uid).find(({ value }) => missing.has(value))
  const place = found === undefined ? '' : `${found.path}: `
  const isFile = uid === 'plugin::upload.file'
  const known = await documentNamed(asked, target, String(named[0]))
  if (known !== null)
    return `${place}${quoted(named[0])} is the ${known.attribute} of ${withArticle(nameOf(target))}. Write its ${isFile ? `id: ${known.id}` : `documentId: ${known.documentId}`}`
  if (isFile)
    return `${place}there is no file ${quoted(named[0])}. Media take the id of an uploaded file: POST /api/upload, then the id of the response.`.replace(
      '/api',
      exchange.config.rest.prefix,
    )
  return `${place}no ${nameOf(target)} has the ${typeof named[0] === 'number' ? 'row id' : 'documentId'} ${quoted(named[0])}${target.localized ? ' in this locale' : ''}. Relations take documentIds: GET ${exchange.config.rest.prefix}/${target.pluralName}?fields=${labelOf(target) ?? 'documentId'}`
}

/** A document, and the attribute by which it was found. */
interface Named {
  readonly attribute: string
  readonly id: number
  readonly documentId: string
}

/** A document of a type by what people call it. */
async function documentNamed({ documents }: ServedRequest, type: ContentType, text: string): Promise<Named | null> {
  const names = [
    ...new Set([
      labelOf(type),
      ...[...type.attributes.values()].flatMap((one) => (one.kind === 'scalar' && one.type === 'uid' ? [one.name] : [])),
    ]),
  ]
  for (const attribute of names) {
    if (attribute === null) continue
    const query = `filters[${attribute}][$eqi]=${encodeURIComponent(text)}&fields=documentId&limit=1&locale=*${type.draftAndPublish ? '&status=draft' : ''}`
    const [row] = (await documents.findAsService({ type, mode: 'many', paged: false, query, envelope: 'bare' })) as readonly Omit<
      Named,
      'attribute'
    >[]
    if (row !== undefined) return { ...row, attribute }
  }
  return null
}

/** What a body refers to in a type, and by which attribute. */
function referencesTo(
  model: Model,
  shape: Schema,
  data: Readonly<Record<string, unknown>>,
  uid: string,
  above = '',
): readonly { path: string; value: string | number }[] {
  return Object.entries(data).flatMap(([name, value]) => {
    const attribute = shape.attributes.get(name)
    if (attribute === undefined || attribute.kind === 'scalar') return []
    const path = `${above}${name}`
    if (attribute.kind === 'component' || attribute.kind === 'dynamiczone')
      return (Array.isArray(value) ? value : [value]).flatMap((entry) => {
        if (!isObject(entry)) return []
        const inner = attribute.kind === 'component' ? shapesOf(model, attribute)[0] : model.components.get(String(entry.__component))
        return inner === undefined ? [] : referencesTo(model, inner, entry, uid, `${path}.`)
      })
    if (!shapesOf(model, attribute).some((target) => target.uid === uid)) return []
    return references(value).map((one) => ({ path, value: one }))
  })
}

/** The ids and documentIds in a value of a relation, in all its forms. */
function references(value: unknown): readonly (string | number)[] {
  if (typeof value === 'string' || typeof value === 'number') return [/^\d{1,15}$/.test(String(value)) ? Number(value) : value]
  if (Array.isArray(value)) return value.flatMap(references)
  if (!isObject(value)) return []
  const { set, connect, disconnect, documentId, id } = value
  return [set, connect, disconnect, documentId ?? id].flatMap(references)
}

/** The value at a path of a body. */
function valueAt(data: unknown, path: readonly string[]): unknown {
  let value = data
  for (const part of path) value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[part] : undefined
  return value
}
