// Hints about bodies: envelopes, keys, values, uploads and sign-in.
import { toStored } from '../../content/documents/input/attributes.js'
import type { ApiError } from '../../foundation/errors/errors.js'
import { takenMessage } from '../../foundation/errors/errors.js'
import type { Attribute, ContentType, Model, Schema } from '../../model/schema/types.js'
import { isObject } from '../../query/request.js'
import { lacks } from './caller-hints.js'
import {
  describeKind,
  didYouMean,
  type Exchange,
  findAttribute,
  findRows,
  followPath,
  formatUnknownKey,
  getLabel,
  getTargets,
  getTypeName,
  getTypePath,
  type Hint,
  list,
  quote,
  type RouteCall,
  splitPath,
  withArticle,
} from './vocabulary.js'

type Values = Readonly<Record<string, unknown>>

/** 400 of a body that was not read. */
export const unreadBody: Hint = ({ route, headers, method, type, path, config, error }) => {
  const contentType = headers['content-type']
  const isJson = /[/+]json\b/.test(contentType ?? '')
  if (error?.name === 'SyntaxError' && route !== null && isJson && method !== 'GET')
    return 'The body must be a JSON object: check that it is encoded once (JSON.stringify), with double quotes and without a comma at the end.'
  if (route === null || route.body === null || route.body.value !== undefined || !/^(?:POST|PUT)$/.test(method)) return null
  if (contentType?.startsWith('multipart/form-data')) return null
  const isEmpty = headers['content-length'] === '0' || (headers['content-length'] ?? headers['transfer-encoding']) === undefined
  const example = path.startsWith(`${config.rest.prefix}/auth/local`)
    ? '{ "identifier": "…", "password": "…" }'
    : type?.exposed === false
      ? '{ "…": "…" }'
      : '{ "data": { … } }'
  if (isEmpty || isJson) return `The body is empty. Send JSON: ${example}`
  const given = contentType === undefined ? 'there is no Content-Type' : `its Content-Type is ${quote(contentType)}`
  return `The body was not read, because ${given}. Send the header Content-Type: application/json`
}

/** 400 without a valid `data`. */
export const missingData: Hint = ({ error, route, headers, type }) => {
  const value = route?.body?.value
  if (type === null || value === undefined) return null
  if (isObject(value) && Array.isArray(value.data) && type.exposed)
    return 'data is a list. One request writes one document: send a request for each, with { "data": { … } }'
  if (error?.situation?.kind !== 'data') return null
  if (Array.isArray(value)) return 'The body is a list. One request writes one document: { "data": { … } }'
  if (!isObject(value)) return null
  if (headers['content-type']?.includes('urlencoded'))
    return 'The body was read as a form (application/x-www-form-urlencoded). Send JSON: Content-Type: application/json and { "data": { … } }'
  if (typeof value.data === 'string')
    return 'data is a text. It is an object: do not turn it into JSON before the body as a whole (JSON.stringify({ data: { … } })).'
  if (value.data !== undefined) return `data is ${quote(value.data)}, and must be an object: { "data": { … } }`
  const names = Object.keys(value)
    .filter((name) => type.attributes.has(name))
    .slice(0, 3)
  return names.length > 0
    ? `Wrap the attributes (${names.join(', ')}) in "data": { "data": { ${quote(names[0])}: … } }`
    : 'Wrap the attributes in "data": { "data": { … } }'
}

/** Keys of a body that are ignored. */
export const ignoredKeys: Hint = (exchange) => {
  const { type, route, parameters, data } = exchange
  if (type === null || route === null || data === null) return null
  const ignored: string[] = []
  if (data.publishedAt !== undefined && type.draftAndPublish)
    ignored.push(
      `publishedAt (a document is published by status=published, the default, or by POST ${getTypePath(exchange, type)}/<documentId>/actions/publish; status=draft keeps it a draft)`,
    )
  if (data.locale !== undefined && type.localized && data.locale !== (parameters.locale ?? route.access.defaultLocale))
    ignored.push(`locale (the locale is a parameter of the query: ?locale=${String(data.locale)})`)
  if (data.data !== undefined && !type.attributes.has('data')) ignored.push('data inside of data (it is wrapped twice)')
  return ignored.length === 0 ? null : `Ignored in the body: ${ignored.join('; ')}.`
}

const isSystem = (attribute: Attribute): boolean =>
  (attribute.kind === 'scalar' && attribute.system) || /^(?:created|updated)By$|^localizations$/.test(attribute.name)

/** 400 `Invalid key …` of a body. */
export const invalidKey: Hint = (exchange) => {
  const { type, model, method, data, details } = exchange
  const { key, path, source } = details
  if (type === null || typeof key !== 'string' || source !== 'body') return null
  const steps = typeof path === 'string' ? splitPath(model, path) : []
  const above = steps.at(-1) === key ? steps.slice(0, -1) : steps
  const target = followPath(model, [type], above)
  const isTop = above.length === 0
  if (isTop && (key === 'id' || key === 'documentId'))
    return method === 'POST'
      ? `The service assigns the ${key} of a new document. To change one, send PUT ${getTypePath(exchange, type)}/<documentId>`
      : `The path names the document, ${getTypePath(exchange, type)}/<documentId>: leave ${key} out of data.`
  const parent = target?.attribute
  if (parent?.kind === 'relation' || parent?.kind === 'media') {
    const form = parent.kind === 'media' ? '<file id>' : '<documentId>, or { "connect": [{ "documentId": … }] }'
    return `${parent.name} takes set, connect and disconnect, or its targets, but has no "${key}": write ${quote(parent.name)}: ${form}`
  }
  // In a dynamic zone, the components of its entries.
  const entries = above.length === 1 ? data?.[above[0]!] : undefined
  const uids = new Set((Array.isArray(entries) ? entries : []).map((entry: Values | null) => entry?.__component))
  const all = target?.shapes ?? [type]
  const used = all.filter(({ uid }) => uids.has(uid))
  const shapes = used.length === 0 ? all : used
  const attribute = findAttribute(shapes, key)
  if (attribute !== undefined) return explainRefused(exchange, attribute)
  if (isTop && key === 'status') return 'status is a parameter of the query, not of the body: ?status=draft or ?status=published'
  if (isTop && key === 'attributes')
    return 'data holds the attributes themselves, without "attributes" around them as in Strapi 4: { "data": { "title": … } }'
  const names = shapes.flatMap(({ attributes }) => [...attributes.values()].filter((one) => !isSystem(one)).map(({ name }) => name))
  return `${formatUnknownKey(shapes, key)}${didYouMean(key, names) || ` It has ${list(names)}.`}`
}

/** An attribute that exists, but may not be written. */
async function explainRefused(exchange: Exchange, attribute: Attribute): Promise<string | null> {
  const { route, model } = exchange
  const { name } = attribute
  if (attribute.source.writable === false) return `"${name}" is "writable": false in its schema: only code of the project writes it.`
  if (isSystem(attribute)) return `"${name}" is written by the service alone: leave it out.`
  if (attribute.kind === 'morphTo')
    return `"${name}" is ${describeKind(model, attribute)}: each entry names its type, { "__type": "api::article.article", "documentId": … }, and the caller must be allowed to find it.`
  if (route === null || (attribute.kind !== 'relation' && attribute.kind !== 'morphFrom')) return null
  const action = `${attribute.target}.find`
  if (route.caller.grants.may(action)) return null
  return `"${name}" exists, but refers to documents that the caller may not find. ${await lacks(exchange, route, [action])}`
}

interface ValueError {
  readonly path: readonly string[]
  readonly message: string
}

const maxErrors = 50
const maxRepairs = 5

/** 400: the form of each wrong value, including dates, which are reported one at a time. */
export const wrongValues: Hint = ({ error, type, model, data, parameters, details }) => {
  if (error?.name !== 'ValidationError' || type === null || data === null) return null
  const errors = ((details.errors ?? []) as readonly ValueError[]).filter(({ path }) => path.length > 0).slice(0, maxErrors)
  const found = new Set(wrongDates(model, type, data))
  const absent: string[] = []
  for (const { path, message } of errors) {
    const value = path.reduce<unknown>((above, part) => (above as Values | null | undefined)?.[part], data)
    const attribute = followPath(model, [type], path)?.attribute ?? null
    const repair = explainValue(model, type, path, message, attribute, value)
    if (repair !== null) found.add(repair)
    if (attribute?.required === true && (value ?? null) === null) absent.push(`${path.join('.')} (${describeKind(model, attribute)})`)
  }
  const draft = type.draftAndPublish && parameters.status !== 'draft' ? ' Required values may be missing in a draft: ?status=draft' : ''
  const all = absent.length === 0 ? [...found] : [...found, `Required: ${list(absent)}.${draft}`]
  const rest = all.length > maxRepairs ? ` And ${all.length - maxRepairs} more.` : ''
  return all.length === 0 ? null : `${all.slice(0, maxRepairs).join(' ')}${rest}`
}

const blocksForm = '{ "type": "paragraph", "children": [{ "type": "text", "text": "…" }] }'

function explainValue(
  model: Model,
  type: ContentType,
  path: readonly string[],
  message: string,
  attribute: Attribute | null,
  value: unknown,
): string | null {
  const written = path.join('.')
  if (path.at(-1) === '__component') return explainComponent(type.attributes.get(path[0]!), value)
  if (attribute === null || value === undefined || value === null) return null
  if (message === takenMessage) return `${written} must be unique, and another ${getTypeName(type)} has ${quote(value)}.`
  const kind = describeKind(model, attribute)
  if (attribute.kind === 'component') {
    const example = `{ ${quote(getTargets(model, attribute).map(getLabel)[0] ?? '…')}: … }`
    if (attribute.repeatable && !Array.isArray(value)) return `${written} is a repeatable component: a list, [${example}]`
    if (!attribute.repeatable && Array.isArray(value)) return `${written} is a single component, not a list: ${example}`
    return typeof value === 'object' ? null : `${written} is ${kind}: ${example}`
  }
  if (attribute.kind === 'dynamiczone' && !Array.isArray(value))
    return `${written} is a dynamic zone: a list, [{ "__component": ${quote(attribute.components[0])}, … }]`
  if (attribute.kind !== 'scalar') return null
  if (attribute.type === 'enumeration') {
    const choices = [attribute.source.enum].flat().map(String)
    return `${written} is an enumeration.${didYouMean(String(value), choices)} Values: ${list(choices)}.`
  }
  if (attribute.type === 'blocks')
    return typeof value === 'string'
      ? `${written} is of type blocks, a list of nodes, not a text: [${blocksForm}]`
      : `${written} is not in the form of blocks: each node is a paragraph, heading, list, quote, code or image, ${blocksForm}`
  return typeof value === 'object' ? `${written} is ${kind}, not ${Array.isArray(value) ? 'a list' : 'an object'}.` : null
}

/** The component of an entry of a dynamic zone. */
function explainComponent(attribute: Attribute | undefined, value: unknown): string | null {
  if (attribute?.kind !== 'dynamiczone') return null
  const { name, components } = attribute
  const short = components.find((uid) => uid.split('.')[1] === value)
  const meant = short === undefined ? didYouMean(typeof value === 'string' ? value : '', components) : ` Did you mean "${short}"?`
  const start =
    value === undefined ? `Each entry of ${name} names its component in "__component".` : `${name} has no component ${quote(value)}.`
  return `${start}${meant} Its components are ${list(components)}.`
}

/** Invalid dates and times: Strapi reports them one at a time, and not together with other errors. */
function wrongDates(model: Model, shape: Schema, data: Values, above = ''): readonly string[] {
  return Object.entries(data).flatMap(([name, value]) => {
    const attribute = shape.attributes.get(name)
    const written = `${above}${name}`
    if (attribute?.kind === 'component' && isObject(value)) return wrongDates(model, getTargets(model, attribute)[0]!, value, `${written}.`)
    if (attribute?.kind !== 'scalar' || attribute.system || !/^(?:date|time|datetime|timestamp)$/.test(attribute.type)) return []
    try {
      toStored(attribute, value)
      return []
    } catch (error) {
      return [`${written} is of type ${attribute.type}: ${(error as ApiError).message}.`]
    }
  })
}

/** A text in place of blocks, which Strapi and its contract store as null. */
export const lostBlocks: Hint = ({ type, config, data }) => {
  if (type === null || data === null || config.contract !== 'strapi') return null
  const lost = Object.entries(data).flatMap(([name, value]) => {
    const attribute = type.attributes.get(name)
    return attribute?.kind === 'scalar' && attribute.type === 'blocks' && typeof value === 'string' && !/^\s*[[{]/.test(value) ? [name] : []
  })
  return lost.length === 0
    ? null
    : `The text of ${list(lost)} was lost: null is stored, as Strapi does. ${lost[0]} is of type blocks, a list of nodes, not a text: [${blocksForm}]`
}

const referenceKeys = ['id', 'documentId', 'set', 'connect', 'disconnect']

/** The references in a value of a relation or file, in all its forms. */
const referencesIn = (value: unknown): readonly unknown[] =>
  [value].flat().flatMap((one) => {
    if (!isObject(one)) return one === undefined ? [] : [one]
    const lists = ['set', 'connect', 'disconnect'].filter((key) => key in one)
    return lists.length === 0 ? [one] : lists.flatMap((key) => referencesIn(one[key]))
  })

/** 400: a document in place of a reference to one. */
export const nestedDocument: Hint = ({ type, model, config, data }) => {
  for (const [name, value] of Object.entries((type === null ? null : data) ?? {})) {
    const attribute = type?.attributes.get(name)
    if (attribute?.kind !== 'relation' && attribute?.kind !== 'media') continue
    const references = referencesIn(value).filter(isObject)
    const textId = references.find(({ id, documentId }) => typeof id === 'string' && documentId === undefined && !/^\d{1,15}$/.test(id))
    if (textId !== undefined && attribute.kind === 'relation')
      return `${name}: "id" is a row id, a number. Write { "documentId": ${quote(textId.id)} }`
    const isNested = references.some((one) => Object.keys(one).length > 0 && !referenceKeys.some((key) => key in one))
    if (isNested && attribute.kind === 'media')
      return `${name} takes the id of an uploaded file: { ${quote(name)}: 12 }. POST ${config.rest.prefix}/upload uploads one, and its response has the id.`
    const target = isNested && attribute.kind === 'relation' ? model.types.get(attribute.target) : undefined
    if (target === undefined) continue
    const create = target.exposed ? ` Create it first, with POST ${config.rest.prefix}/${target.pluralName}.` : ''
    return `${name} takes a documentId, or { "connect": [{ "documentId": … }] }; documents are not created inside others.${create}`
  }
  return null
}

/** 400: a relation to a document or file that does not exist. */
export const missingTargets: Hint = async (exchange) => {
  const { error, route, type, model, data, config } = exchange
  if (error?.situation?.kind !== 'targets' || route === null || type === null || data === null) return null
  const { uid, named } = error.situation
  const target = model.types.get(uid)
  if (target === undefined) return null
  const path = findReference(model, type, data, uid, new Set(named.map(String)))
  const start = path === null ? '' : `${path}: `
  const name = quote(named[0])
  const isFile = uid === 'plugin::upload.file'
  const found = await findNamed(route, target, String(named[0]))
  if (found !== null)
    return `${start}${name} is the ${found.attribute} of ${withArticle(getTypeName(target))}. Write its ${isFile ? `id: ${found.id}` : `documentId: ${found.documentId}`}`
  if (isFile)
    return `${start}there is no file ${name}. Media take the id of an uploaded file: POST ${config.rest.prefix}/upload, then the id of the response.`
  const id = typeof named[0] === 'number' ? 'row id' : 'documentId'
  return `${start}no ${getTypeName(target)} has the ${id} ${name}${target.localized ? ' in this locale' : ''}. Relations take documentIds: GET ${config.rest.prefix}/${target.pluralName}?fields=${getLabel(target) ?? 'documentId'}`
}

/** The path of the first reference to one of these ids of a type. */
function findReference(model: Model, shape: Schema, data: Values, uid: string, ids: ReadonlySet<string>): string | null {
  for (const [name, value] of Object.entries(data)) {
    const attribute = shape.attributes.get(name)
    if (attribute === undefined || attribute.kind === 'scalar') continue
    const targets = getTargets(model, attribute)
    for (const one of [value].flat()) {
      const isComponent = attribute.kind === 'component' || attribute.kind === 'dynamiczone'
      const inner =
        isComponent && isObject(one) ? targets.find((target) => targets.length === 1 || target.uid === one.__component) : undefined
      const below = inner === undefined ? null : findReference(model, inner, one as Values, uid, ids)
      if (below !== null) return `${name}.${below}`
    }
    const references = referencesIn(value).map((one) => String(isObject(one) ? (one.documentId ?? one.id) : one))
    if (targets.some((target) => target.uid === uid) && references.some((one) => ids.has(one))) return name
  }
  return null
}

async function findNamed(route: RouteCall, type: ContentType, text: string) {
  const slugs = [...type.attributes.values()].flatMap((one) => (one.kind === 'scalar' && one.type === 'uid' ? [one.name] : []))
  for (const attribute of new Set([getLabel(type) ?? [], slugs].flat())) {
    const query = `filters[${attribute}][$eqi]=${encodeURIComponent(text)}&fields=documentId&limit=1`
    const [row] = await findRows<{ readonly id: number; readonly documentId: string }>(route, type, query)
    if (row !== undefined) return { ...row, attribute }
  }
  return null
}

/** 400 of an upload. */
export const wrongUpload: Hint = ({ error, details, headers, model, path, config }) => {
  const type = headers['content-type'] ?? ''
  const isForm = type.startsWith('multipart/form-data')
  const { prefix } = config.rest
  if (error?.situation?.kind === 'files') {
    const { fields } = error.situation
    if (fields.length > 0)
      return `The files are in the field ${list(fields.map(quote))}. The field for files is "files": form.append('files', file)`
    return isForm
      ? `The form has no file in its field "files": form.append('files', file). A text in that field is not a file.`
      : `Files are uploaded as a form (multipart/form-data) with a field "files", not as ${type || 'a body without Content-Type'}: curl -F files=@picture.jpg …${prefix}/upload`
  }
  if (isForm && !type.includes('boundary='))
    return 'The header Content-Type has no boundary. Leave it out: fetch, axios and curl -F write it themselves for a form.'
  if (path !== `${prefix}/upload` || error === null) return null
  if (isForm && (details.errors as readonly ValueError[] | undefined)?.[0]?.path[0] === 'fileInfo')
    return 'fileInfo is JSON: { "name": "…", "alternativeText": "…", "caption": "…" }'
  if (error.message === 'No entry with this refId') return 'refId is the documentId, or the row id, of a document of the type in ref.'
  const [, uid, field = ''] = /^(\S+) has no media attribute (.*)$/s.exec(error.message) ?? []
  if (uid === undefined) return null
  const shape = model.types.get(uid) ?? model.components.get(uid)
  if (shape === undefined) return `ref is the uid of a type or component.${didYouMean(`api::${uid}.${uid}`, model.types.keys())}`
  const media = [...shape.attributes.values()].filter(({ kind }) => kind === 'media').map(({ name }) => name)
  return `field is a media attribute of ${uid}.${didYouMean(field, media)} It has ${list(media)}.`
}

/** 400 of sign-in, registration and users. */
export const wrongAccount: Hint = ({ error, route, path, config }) => {
  const { prefix } = config.rest
  const value = route?.body?.value
  const at = path.slice(prefix.length)
  if (error?.message === 'This provider is disabled')
    return 'auth.providers in octavo.config enables providers (docs/guide/configuration.md).'
  if (!isObject(value) || !/^\/(?:users|auth\/)/.test(at)) return null
  if (at.startsWith('/users')) {
    if (isObject(value.data))
      return 'Bodies of users have no data around them: { "username": "…", "email": "…", "password": "…", "role": 1 }'
    return value.role === undefined && error?.message.includes('role is a required field')
      ? `role is the id of a role: "role": 1. GET ${prefix}/users-permissions/roles lists them.`
      : null
  }
  if (isObject(value.data)) return 'Bodies below /auth have no data around them: { "identifier": "…", "password": "…" }'
  if (at === '/auth/forgot-password' && value.email === undefined) return 'The address is sent as "email": { "email": "…" }'
  if (at !== '/auth/local' || value.identifier !== undefined) return null
  const given = ['email', 'username', 'user', 'login', 'name'].find((name) => value[name] !== undefined)
  return `The user name or e-mail address is sent as "identifier"${given === undefined ? '' : `, not as ${quote(given)}`}: { "identifier": "…", "password": "…" }`
}
