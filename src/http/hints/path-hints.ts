// Hints about paths, methods, and documents that do not exist.
import { actionsAt, createExcludedRoutes, publicationActions } from '../../model/schema/type-routes.js'
import type { ContentType, Model } from '../../model/schema/types.js'
import {
  didYouMean,
  type Exchange,
  findRows,
  findSimilar,
  getLabel,
  getTypePath,
  type Hint,
  list,
  quote,
  type RouteCall,
} from './vocabulary.js'

const actions = ['publish', 'unpublish', 'discard']

/** Paths of other services and versions. */
const knownPaths: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:content-manager|content-type-builder(?!\/(?:schemas|plan|undo|changes)$)|upload\/folders)(?:\/|$)/,
    "That is a path of Strapi's admin panel, which Octavo does not have.",
  ],
  [/^graphql(?:\/|$)/, 'Octavo has no GraphQL. The same is available with REST: populate, fields and filters.'],
  [
    /^(?:auth\/)?(?:log-?in|sign-?in|session|token|local)$|^auth$/,
    'Users sign in with POST {prefix}/auth/local and { "identifier", "password" }',
  ],
  [/^(?:auth\/)?(?:register|sign-?up)$/, 'Users register with POST {prefix}/auth/local/register and { "username", "email", "password" }'],
  [/^(?:auth\/)?me$|^auth\/user$/, 'The signed-in user is GET {prefix}/users/me'],
  [/^(?:auth\/)?log-?out$/, 'Sessions end with POST {prefix}/auth/logout'],
  [
    /^auth\/refresh$/,
    'Sessions are renewed only with auth.jwtManagement: "refresh" in octavo.config. Without it, sign in again: POST {prefix}/auth/local',
  ],
  [
    /^auth\/email-confirmation$/,
    'A confirmation link is a GET of {prefix}/auth/email-confirmation?confirmation=<code>. POST {prefix}/auth/send-email-confirmation sends another one.',
  ],
  [/^auth\/(?:local\/register|(?:forgot|reset|change)-password|send-email-confirmation)$/, 'This path takes POST, with a JSON body.'],
  [/^users\/me$/, 'GET {prefix}/users/me reads the signed-in user. PUT {prefix}/users/<id> changes a user.'],
  [/^users(?:\/[^/]+)?$/, 'Users are at GET and POST {prefix}/users, and at GET, PUT and DELETE {prefix}/users/<id>.'],
  [
    /^(?:uploads?|files?|media|assets|images?)(?:\/files?)?(?:\/|$)/,
    'Files are listed at GET {prefix}/upload/files, and uploaded with POST {prefix}/upload',
  ],
  [/^(?:i18n\/)?(?:locales?|languages?)$|^i18n$/, 'Locales are listed at GET {prefix}/i18n/locales'],
  [/^(?:roles?|permissions?)$/, 'Roles are listed at GET {prefix}/users-permissions/roles'],
  [/^(?:content-types?|components?|schemas?|models?)$/, 'The model is at GET {prefix}/content-type-builder/content-types'],
  [/^(?:_?health|healthz|ping|ready|status)$/, 'The health check is GET /_health'],
  [/^metrics$/, 'Metrics have a separate port: set management.port in octavo.config (docs/guide/production.md)'],
  [
    /^(?:docs?|documentation|swagger(?:-ui)?|api-docs?|redoc|(?:openapi|swagger)(?:\.(?:json|ya?ml))?)(?:\/|$)/,
    'The API is described at /docs, and for programs at {prefix}/openapi.json',
  ],
  [
    /^auth\/(?!local(?:\/|$))[\w-]+(?:\/callback)?$/,
    'Sign-in with a provider begins at GET {prefix}/connect/<provider>, which auth.providers in octavo.config enables',
  ],
]

const findKnownPath = (prefix: string, path: string): string | null => {
  const text = knownPaths.find(([form]) => form.test(path.toLowerCase().replace(/\/$/, '')))?.[1]
  return text?.replaceAll('{prefix}', prefix) ?? null
}

/** The exposed type with this singular or plural name. */
function findType(model: Model, name: string): ContentType | null {
  const lower = name.toLowerCase()
  const isNamed = ({ exposed, singularName, pluralName }: ContentType) =>
    exposed && (singularName.toLowerCase() === lower || pluralName.toLowerCase() === lower)
  return model.paths.get(lower) ?? [...model.types.values()].find(isNamed) ?? null
}

/** 404 of a path without a route, and 405. */
export const wrongPath: Hint = (exchange) => {
  const { status, model, path, config, method, error } = exchange
  if (error !== null && error.situation !== null) return null
  const { prefix } = config.rest
  if (path !== prefix && !path.startsWith(`${prefix}/`)) return explainOutside(exchange)
  const [name = '', ...below] = path
    .slice(prefix.length)
    .split('/')
    .filter((part) => part !== '')
  const [id, ...rest] = below
  const type = findType(model, name)
  if (type === null) return explainUnknownType(exchange, name, below)
  const right = getTypePath(exchange, type)
  if (name.toLowerCase() !== (type.singleType ? type.singularName : type.pluralName).toLowerCase())
    return `${type.singleType ? `${type.displayName} is a single type: its path is` : 'Collection types have their plural name in the path:'} ${right}`
  const leftOut = findLeftOut(exchange, type, below)
  if (leftOut !== null)
    return `There is no route for ${leftOut} of ${type.displayName}: octavo.config leaves it out, in types['${type.uid}'].routes.`
  if (below.includes('actions')) return explainAction(exchange, type, below)
  if (type.singleType && id !== undefined) return `${type.displayName} is a single type, which has no ids: its path is ${right}`
  if (id === 'count') return `There is no /count: the number of documents is meta.pagination.total of ${right}`
  const isHere = (pattern: string): boolean => {
    const steps = pattern.split('/')
    const parts = path.slice(prefix.length).split('/')
    return steps.length === parts.length && steps.every((step, index) => step.startsWith(':') || step === parts[index])
  }
  const routed = config.routes.filter((route) => isHere(route.path)).map((route) => route.method)
  if (status === 405 && routed.length > 0) return `This path takes ${list(routed)}.`
  if (actions.includes(rest[0] ?? '')) return `Actions are below /actions: POST ${right}/${id}/actions/${rest[0]}`
  if (rest.length > 0) return `Only /actions/… exists below a document. To read related documents, use populate: ${right}/${id}?populate=*`
  return status === 405 ? explainMethod(type, right, id, method) : null
}

/** A path outside of the prefix of the API. */
function explainOutside({ config, path, method, model, parameters }: Exchange): string | null {
  const { prefix } = config.rest
  const [name = '', ...below] = path.split('/').filter((part) => part !== '')
  const type = findType(model, name)
  if (path === '/' && method !== 'GET') return `The start page is read with GET. Content is below ${prefix}`
  if (type !== null)
    return `The API is below ${prefix}: ${[getTypePath({ config }, type), ...below].join('/')}${Object.keys(parameters).length > 0 ? ' with the same query' : ''}`
  if (name === 'uploads')
    return `There is no such file. Responses contain the url of each file: populate the media attribute, or read ${prefix}/upload/files`
  if (name === 'admin')
    return config.admin.enabled
      ? 'The page of administrators is /admin, for browsers. Programs use /admin/api: routes of Strapi’s panel do not exist.'
      : 'The page of administrators is switched off: admin.enabled in octavo.config.'
  return (
    findKnownPath(prefix, path.slice(1)) ??
    `There is no ${quote(path)}. The API is below ${prefix}, and the start page at / lists its paths.`
  )
}

function explainUnknownType(exchange: Exchange, name: string, below: readonly string[]): string {
  const { model, config } = exchange
  const { prefix } = config.rest
  const paths = [...model.paths.keys()].sort()
  const known = findKnownPath(prefix, [name, ...below].join('/'))
  if (paths.length === 0 && known === null)
    return 'The project has no content-types yet: the start page / creates the first one, or save a schema.json below src/api.'
  if (name === '') return `Name a content-type: ${prefix}/${list(paths)}`
  const close =
    findSimilar(name, paths) ??
    findSimilar(
      name,
      [...model.paths.values()].map(({ singularName }) => singularName),
    )
  if (known !== null && close?.toLowerCase() !== name.toLowerCase()) return known
  const component = [...model.components.values()].find((one) => one.uid === name || one.name === name)
  if (component !== undefined) return `${component.uid} is a component and has no path: it is part of the documents that use it.`
  const next = findType(model, below[0] ?? '')
  if (next !== null) return `Content-types are right below ${prefix}: ${[getTypePath(exchange, next), ...below.slice(1)].join('/')}`
  const type = close === null ? null : findType(model, close)
  return `There is no content-type ${quote(name)}.${type === null ? '' : ` Did you mean ${getTypePath(exchange, type)}?`} There are ${list(paths)}.`
}

/** The action of a content-type that octavo.config leaves out. */
function findLeftOut({ config, method }: Exchange, type: ContentType, below: readonly string[]): string | null {
  const leftOut = createExcludedRoutes(config.types)
  const rest = type.singleType ? below : below.slice(1)
  const isAction = method === 'POST' && rest.length === 2 && rest[0] === 'actions'
  const known = isAction ? publicationActions : rest.length === 0 ? actionsAt(type, below.length > 0) : {}
  const action = Object.entries(known).find(([name]) => name === (isAction ? rest[1] : method))?.[1]
  return action !== undefined && leftOut?.(type.uid, action) ? action : null
}

/** A path with `actions`, which only some methods and types have. */
function explainAction(exchange: Exchange, type: ContentType, below: readonly string[]): string | null {
  const position = below.indexOf('actions')
  const name = below[position + 1] ?? ''
  const path = `POST ${getTypePath(exchange, type)}${type.singleType ? '' : `/${position > 0 ? below[0] : '<documentId>'}`}/actions`
  if (!type.draftAndPublish) return `${type.displayName} has no drafts ("draftAndPublish" in its schema), so there is nothing to publish.`
  if (!type.singleType && position === 0) return `Name the document before the action: ${path}/${name || 'publish'}`
  if (!actions.includes(name))
    return `There is no action ${quote(name)}.${didYouMean(name, actions)} Actions: ${path}/${actions.join(' | ')}`
  return exchange.method === 'POST' && below.length === position + 2 ? null : `Actions are sent with POST: ${path}/${name}`
}

/** 405: the method that was probably meant. */
function explainMethod(type: ContentType, path: string, id: string | undefined, method: string): string {
  if (type.singleType) return `A single type is created and changed with PUT ${path}`
  if (id === undefined && method === 'DELETE') return `One document is deleted at a time: DELETE ${path}/<documentId>`
  const put = `A document is changed with PUT ${path}/${id ?? '<documentId>'}`
  if (id === undefined) return `${put}, and created with POST ${path}`
  return method === 'POST'
    ? `${put}, and published with POST ${path}/${id}/actions/publish`
    : `${put}: attributes that are absent stay as they are.`
}

interface DocumentVersion {
  readonly documentId: string
  readonly locale?: string | null
  readonly status: 'draft' | 'published'
}

/** All versions with a value of an attribute, in every locale; null: all versions of a type. */
async function findVersions(
  route: RouteCall,
  type: ContentType,
  attribute: string | null,
  value: string,
): Promise<readonly DocumentVersion[]> {
  const states = type.draftAndPublish ? (['published', 'draft'] as const) : (['published'] as const)
  const condition = attribute === null ? '' : `&filters[${attribute}][$eq]=${encodeURIComponent(value)}`
  const fields = type.localized ? 'documentId,locale' : 'documentId'
  const find = async (status: DocumentVersion['status']): Promise<readonly DocumentVersion[]> => {
    const rows = await findRows<Omit<DocumentVersion, 'status'>>(route, type, `status=${status}&limit=20&fields=${fields}${condition}`)
    return rows.map((row) => ({ ...row, status }))
  }
  return (await Promise.all(states.map(find))).flat()
}

/** 404 of a document, and 204 of a DELETE that deleted nothing. */
export const missingDocument: Hint = async (exchange) => {
  const { type, documentId, status, route, method } = exchange
  if (type === null || route === null || !type.exposed) return null
  if (status !== 404 && !(method === 'DELETE' && status === 204 && route.wroteNothing)) return null
  const versions = await findVersions(route, type, documentId === null ? null : 'documentId', documentId ?? '')
  const reason =
    versions.length > 0
      ? explainVersion(exchange, type, route, versions)
      : documentId === null
        ? `${type.displayName} has no content yet: a PUT to ${getTypePath(exchange, type)} creates it.`
        : await explainId(exchange, type, route, documentId)
  return `${status === 204 ? 'Nothing was deleted. ' : ''}${reason}`
}

/** Users are read and deleted without an error if they do not exist. */
export const missingUser: Hint = ({ type, documentId, status, method }) => {
  if (type?.uid !== 'plugin::users-permissions.user' || documentId === null || status !== 204) return null
  return `${method === 'DELETE' ? 'Nothing was deleted: there' : 'There'} is no user with the id ${quote(documentId)}. Users are addressed by their numeric id.`
}

/** The document exists, in another state or locale. */
function explainVersion(exchange: Exchange, type: ContentType, route: RouteCall, versions: readonly DocumentVersion[]): string {
  const { parameters, config, method, path } = exchange
  const status = type.draftAndPublish ? (parameters.status === 'draft' ? 'draft' : 'published') : null
  const locale = type.localized ? String(parameters.locale ?? route.access.defaultLocale) : null
  const inLocale = versions.filter((version) => locale === null || version.locale === locale)
  const isThere = inLocale.some((version) => status === null || version.status === status)
  const scope = `outside of the caller's scope of ${type.uid} in octavo.config.`
  if (config.types[type.uid]?.scope !== undefined)
    return `The document exists, but ${isThere ? 'is' : 'not in the requested locale and state, or it is'} ${scope}`
  if (isThere)
    return `The document exists, but does not fulfil the other conditions of the request${parameters.filters === undefined ? '' : ' (filters)'}.`
  if (inLocale.length > 0 && status !== 'published') return 'The document has no draft in this locale.'
  if (inLocale.length > 0)
    return `The document is a draft that is not published${locale === null ? '' : ` in "${locale}"`}. ${method === 'GET' ? 'Read it with status=draft, or publish it' : 'Publish it'}: POST ${path}/actions/publish`
  const locales = [...new Set(versions.map((version) => version.locale ?? ''))]
  return `The document exists in ${list(locales)}, not in "${locale}": there is no fallback to another locale. Write locale=${locales[0]}`
}

/** A row id or slug in place of the documentId, or an unknown id. */
async function explainId(exchange: Exchange, type: ContentType, route: RouteCall, id: string): Promise<string> {
  const path = getTypePath(exchange, type)
  const slugs = [...type.attributes.values()].filter((one) => one.kind === 'scalar' && one.type === 'uid' && !one.private)
  for (const name of [...(/^\d{1,15}$/.test(id) ? ['id'] : []), ...slugs.map((one) => one.name)]) {
    const [found] = await findVersions(route, type, name, id)
    if (found === undefined) continue
    const below = exchange.path.startsWith(`${path}/${id}/`) ? exchange.path.slice(path.length + 1 + id.length) : ''
    return `${quote(id)} is ${name === 'id' ? 'a row id' : `the ${name}`}. The documentId is ${found.documentId}: ${exchange.method} ${path}/${found.documentId}${below}`
  }
  const form = /^[a-z0-9]{24}$/.test(id) ? '' : ' (documentIds have 24 letters and digits)'
  return `No ${type.singularName} has the documentId ${quote(id)}${form}. List them: ${path}?fields=${getLabel(type) ?? 'documentId'}`
}
