// Paths that do not exist, and methods that they do not have.
import { actionsAt, leftOutRoutes, publicationActions } from '../../model/schema/type-routes.js'
import type { ContentType, Model } from '../../model/schema/types.js'
import { pathOf } from './documents.js'
import type { Hint, HintedExchange } from './exchange.js'
import { didYouMean, listed, quoted, similar } from './sentences.js'

/** The actions on drafts, below `actions/`. */
const actions = ['publish', 'unpublish', 'discard']

/** Paths of other services and versions, and what is there instead; below the prefix of the API or not. */
const elsewhere: readonly (readonly [RegExp, string])[] = [
  [/^admin(?:\/|$)/, 'Octavo has no admin panel: Strapi serves it, on the same database. The start page is /'],
  [
    /^(?:content-manager|content-type-builder(?!\/(?:schemas|plan|undo|changes)$)|upload\/folders)(?:\/|$)/,
    "That is a path of Strapi's admin panel, which Octavo does not have.",
  ],
  [/^graphql(?:\/|$)/, 'Octavo has no GraphQL. The same is read with REST: populate, fields and filters.'],
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
  [
    /^auth\/(?:local\/register|forgot-password|reset-password|change-password|send-email-confirmation)$/,
    'This path takes POST, with a JSON body.',
  ],
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
  [/^metrics$/, 'Metrics are on a port of their own: set management.port in octavo.config (docs/guide/operating.md)'],
  [
    /^(?:docs?|documentation|swagger(?:-ui)?|api-docs?|redoc|(?:openapi|swagger)(?:\.(?:json|ya?ml))?)(?:\/|$)/,
    'The API is described at /docs, and for programs at {prefix}/openapi.json',
  ],
  [
    /^auth\/(?!local(?:\/|$))[\w-]+(?:\/callback)?$/,
    'Sign-in with a provider begins at GET {prefix}/connect/<provider>, which auth.providers in octavo.config enables',
  ],
]

/** 404 of a path without a route, and 405. */
export const wrongPath: Hint = (exchange) => {
  const { status, model, path, config, method, error } = exchange
  if ((status !== 404 && status !== 405) || (error?.situation ?? null) !== null) return null
  const { prefix } = config.rest
  const isInside = path === prefix || path.startsWith(`${prefix}/`)
  const [name = '', second, ...rest] = (isInside ? path.slice(prefix.length) : path).split('/').filter((part) => part !== '')
  const type = typeNamed(model, name)
  if (!isInside) return outside(exchange, type, name, [second, ...rest])
  if (type === null) return unknownType(exchange, name, second === undefined ? name : [name, second, ...rest].join('/'))
  const right = pathOf(exchange, type)
  if (!isPathOf(type, name))
    return type.singleType
      ? `${type.displayName} is a single type: its path is ${right}`
      : `Collection types have their plural name in the path: ${right}`
  const leftOut = leftOutRoute(exchange, type, second, rest)
  if (leftOut !== null) return leftOut
  if ([second, ...rest].includes('actions')) return wrongAction(exchange, type, [second, ...rest])
  if (type.singleType && second !== undefined) return `${type.displayName} is a single type, which has no ids: its path is ${right}`
  if (second === 'count') return `There is no /count: the number of documents is meta.pagination.total of ${right}`
  const routed = routedMethods(exchange)
  if (status === 405 && routed.length > 0) return `This path takes ${listed(routed)}.`
  if (actions.includes(rest[0] ?? '')) return `Actions are below /actions: POST ${right}/${second}/actions/${rest[0]}`
  if (rest.length > 0)
    return `Only /actions/… exists below a document. To read related documents, use populate: ${right}/${second}?populate=*`
  return status === 405 ? wrongMethod(exchange, type, second, method) : null
}

/** The methods of the project's own routes at the path of the request. */
const routedMethods = ({ config, path }: HintedExchange): readonly string[] => {
  const parts = path.slice(config.rest.prefix.length).split('/')
  const isHere = (pattern: string): boolean => {
    const steps = pattern.split('/')
    return steps.length === parts.length && steps.every((step, index) => step.startsWith(':') || step === parts[index])
  }
  return config.routes.filter((route) => isHere(route.path)).map(({ method }) => method)
}

const isPathOf = ({ singleType, singularName, pluralName }: ContentType, name: string): boolean =>
  name.toLowerCase() === (singleType ? singularName : pluralName).toLowerCase()

/** The exposed type with this singular or plural name. */
function typeNamed(model: Model, name: string): ContentType | null {
  const lower = name.toLowerCase()
  const isNamed = ({ exposed, singularName, pluralName }: ContentType) =>
    exposed && [singularName, pluralName].some((one) => one.toLowerCase() === lower)
  return model.paths.get(lower) ?? [...model.types.values()].find(isNamed) ?? null
}

/** A path that is not below the prefix of the API. */
function outside(
  { config, path, method, parameters }: HintedExchange,
  type: ContentType | null,
  name: string,
  below: readonly unknown[],
): string | null {
  const { prefix } = config.rest
  if (path === '/' && method !== 'GET') return `The start page is read with GET. Content is below ${prefix}`
  if (type !== null) {
    const query = Object.keys(parameters).length > 0 ? ' with the same query' : ''
    const rest = below.filter((part) => part !== undefined).map((part) => `/${String(part)}`)
    return `The API is below ${prefix}: ${prefix}/${type.singleType ? type.singularName : type.pluralName}${rest.join('')}${query}`
  }
  if (name === 'uploads')
    return 'There is no such file. Responses contain the url of each file: populate the media attribute, or read /api/upload/files'.replace(
      '/api',
      prefix,
    )
  const known = elsewhereOf(prefix, path.slice(1))
  if (known !== null) return known
  return `There is no ${quoted(path)}. The API is below ${prefix}, and the start page at / lists what there is.`
}

function elsewhereOf(prefix: string, path: string): string | null {
  const text = elsewhere.find(([form]) => form.test(path.toLowerCase().replace(/\/$/, '')))?.[1]
  return text === undefined ? null : text.replaceAll('{prefix}', prefix)
}

/** A name that no type has. */
function unknownType(exchange: HintedExchange, name: string, path: string): string {
  const { model, config } = exchange
  const { prefix } = config.rest
  const paths = [...model.paths.keys()].sort()
  if (paths.length === 0 && elsewhereOf(prefix, path) === null)
    return 'The project has no content-types yet: the start page / creates the first one, or save a schema.json below src/api.'
  if (name === '') return `Name a content-type: ${prefix}/${listed(paths)}`
  const component = [...model.components.values()].find((one) => one.uid === name || one.name === name)
  const close =
    similar(name, paths) ??
    similar(
      name,
      [...model.paths.values()].map(({ singularName }) => singularName),
    )
  const known = elsewhereOf(prefix, path)
  if (known !== null && (close === null || close.toLowerCase() !== name.toLowerCase())) return known
  if (component !== undefined)
    return `${component.uid} is a component, which has no path of its own: it is part of the documents that use it.`
  const [, next = '', ...further] = path.split('/')
  const nextType = typeNamed(model, next)
  if (nextType !== null) return `Content-types are right below ${prefix}: ${[pathOf(exchange, nextType), ...further].join('/')}`
  const type = close === null ? null : typeNamed(model, close)
  const meant = type === null ? '' : ` Did you mean ${pathOf(exchange, type)}?`
  return `There is no content-type ${quoted(name)}.${meant} There are ${listed(paths)}.`
}

/** The route of a content-type that octavo.config leaves out. */
function leftOutRoute(
  { config, method }: HintedExchange,
  type: ContentType,
  second: string | undefined,
  rest: readonly string[],
): string | null {
  const leftOut = leftOutRoutes(config.types)
  if (leftOut === null) return null
  const below = type.singleType ? [second, ...rest] : rest
  const isAct = method === 'POST' && below.length === 2 && below[0] === 'actions'
  const isPlain = type.singleType ? second === undefined : rest.length === 0
  const known = isAct ? publicationActions : isPlain ? actionsAt(type, second !== undefined) : {}
  const name = isAct ? below[1]! : method
  const action = Object.hasOwn(known, name) ? known[name] : undefined
  if (action === undefined || !leftOut(type.uid, action)) return null
  return `There is no route for ${action} of ${type.displayName}: octavo.config leaves it out, in types['${type.uid}'].routes.`
}

/** A path with `actions`, which only some methods and types have. */
function wrongAction(exchange: HintedExchange, type: ContentType, below: readonly (string | undefined)[]): string | null {
  const at = below.indexOf('actions')
  const name = below[at + 1] ?? ''
  const document = type.singleType ? '' : `/${at > 0 ? below[0] : '<documentId>'}`
  if (!type.draftAndPublish) return `${type.displayName} has no drafts ("draftAndPublish" in its schema), so there is nothing to publish.`
  if (!type.singleType && at === 0)
    return `Name the document before the action: POST ${pathOf(exchange, type)}/<documentId>/actions/${name || 'publish'}`
  if (actions.includes(name) && exchange.method === 'POST' && below.length === at + 2) return null
  if (actions.includes(name)) return `Actions are sent with POST: POST ${pathOf(exchange, type)}${document}/actions/${name}`
  return `There is no action ${quoted(name)}.${didYouMean(name, actions)} Actions: POST ${pathOf(exchange, type)}${document}/actions/${actions.join(' | ')}`
}

/** 405: what the method was probably meant to do. */
function wrongMethod(exchange: HintedExchange, type: ContentType, documentId: string | undefined, method: string): string {
  const path = pathOf(exchange, type)
  if (type.singleType) return `A single type is created and changed with PUT ${path}`
  if (documentId === undefined) {
    if (method === 'DELETE') return `One document is deleted at a time: DELETE ${path}/<documentId>`
    return `A document is changed with PUT ${path}/<documentId>, and created with POST ${path}`
  }
  if (method === 'POST')
    return `A document is changed with PUT ${path}/${documentId}, and published with POST ${path}/${documentId}/actions/publish`
  return `A document is changed with PUT ${path}/${documentId}: attributes that are absent stay as they are.`
}
