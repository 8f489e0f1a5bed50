// Paths of custom routes: the methods of a URL, and conflicts with other routes.
import { ConfigError } from '../../foundation/errors/errors.js'
import type { CustomRoute } from '../../foundation/public/routes.js'
import type { ApiAction } from '../../foundation/public/type-settings.js'
import { actionsAt, type ExcludedRoutes, publicationActions } from '../../model/schema/type-routes.js'
import type { ContentType, Model } from '../../model/schema/types.js'
import { docsPath } from '../pages/docs-page.js'
import { descriptionPath } from './description.js'
import { everyMethod } from './mount.js'
import { routes as builtIn } from './routes.js'

/** The methods and the path of a route, for comparison. */
interface RoutePosition {
  readonly method: string
  /** Below the prefix of the API, or at the root path. */
  readonly base: 'api' | 'root'
  readonly path: string
  /** Its name in a message. */
  readonly name: string
  /** Another route may have a name in the position of its parameter for ids. */
  readonly yieldsNames: boolean
}

/** The parts of a path; names are compared without regard to case, as the router does. */
const splitPath = (path: string): readonly string[] => path.toLowerCase().split('/').slice(1)
const isParameter = (part: string): boolean => part.startsWith(':')

/** Parameters whose values are ids: a name in their position, such as `featured`, is not an id. */
const idParameters: ReadonlySet<string> = new Set([':id', ':documentid'])
const idForm = /^(?:\d+|[a-z0-9]{24})$/

/** True if a part of a route also matches the same part of another route. */
function overlaps(own: string, other: string, yieldsNames: boolean): boolean {
  if (isParameter(own)) return true
  if (!isParameter(other)) return own === other
  return !yieldsNames || !idParameters.has(other) || idForm.test(own)
}

/** True if `own` would receive requests to `other`. */
function shadows(own: RoutePosition, other: RoutePosition): boolean {
  if (own.method !== other.method || own.base !== other.base) return false
  const ours = splitPath(own.path)
  const theirs = splitPath(other.path)
  return ours.length === theirs.length && ours.every((part, index) => overlaps(part, theirs[index]!, other.yieldsNames))
}

/** True if two routes have the same path apart from the names of parameters. */
function isSamePath(one: RoutePosition, other: RoutePosition): boolean {
  const ours = splitPath(one.path)
  const theirs = splitPath(other.path)
  const same = (part: string, index: number) => part === theirs[index] || (isParameter(part) && isParameter(theirs[index]!))
  return one.method === other.method && one.base === other.base && ours.length === theirs.length && ours.every(same)
}

/** The routes of a content-type, without those that are left out. */
function typeRoutes(name: string, type: ContentType, leftOut: ExcludedRoutes | null): readonly RoutePosition[] {
  const { uid, singleType } = type
  const list = `/${name}`
  const one = singleType ? list : `${list}/:documentId`
  const at = (path: string, actions: Readonly<Record<string, ApiAction>>) =>
    Object.entries(actions).flatMap(([method, action]) => (method === 'HEAD' ? [] : [{ method, path, action }]))
  const all: readonly { readonly method: string; readonly path: string; readonly action: ApiAction }[] = [
    ...at(one, actionsAt(type, true)),
    ...(singleType ? [] : at(list, actionsAt(type, false))),
    ...Object.entries(publicationActions).map(([act, action]) => ({ method: 'POST', path: `${one}/actions/${act}`, action })),
  ]
  return all
    .filter(({ action }) => leftOut?.(uid, action) !== true)
    .map(({ method, path }) => ({ method, base: 'api', path, name: `${method} ${path} of ${uid}`, yieldsNames: true }))
}

/** The event stream, which has its path for every method. */
const streamRoute = (method: string, path: string): RoutePosition => ({
  method,
  base: 'api',
  path,
  name: `the event stream (${path})`,
  yieldsNames: true,
})

/** The description of the API, which has its path for every method. */
const descriptionRoute = (method: string): RoutePosition => ({
  method,
  base: 'api',
  path: descriptionPath,
  yieldsNames: true,
  name: `the description of the API (${descriptionPath}); docs: { enabled: false } makes room`,
})

/** Reserved beginnings of paths, in addition to the prefix of the API. */
const reservedPaths = ['/uploads', '/_health', '/_octavo', '/favicon.ico', '/favicon.svg', '/admin']

const isBelow = (path: string, beginning: string): boolean => {
  const lower = path.toLowerCase()
  const start = beginning.toLowerCase()
  return lower === start || lower.startsWith(`${start}/`)
}

interface TakenPaths {
  readonly model: Model
  /** The routes of content-types that do not exist; null: all do. */
  readonly leftOut: ExcludedRoutes | null
  readonly prefix: string
  /** The event stream; null: there is none. */
  readonly stream: { readonly path: string } | null
  readonly docs: { readonly enabled: boolean }
}

/** Checks that custom routes do not shadow other routes. @throws ConfigError that names both */
export function checkRoutes(routes: readonly CustomRoute[], { model, leftOut, prefix, stream, docs }: TakenPaths): void {
  const positions = routes.map(({ method, path, base = 'api' }, index) => ({
    method,
    path,
    base,
    yieldsNames: true,
    name: `routes[${index}] (${method} ${base === 'api' ? prefix : ''}${path})`,
  }))
  const others: readonly RoutePosition[] = [
    ...builtIn.map(({ method, path }) => ({
      method,
      base: 'api' as const,
      path,
      yieldsNames: true,
      name: `${method} ${path} of the service`,
    })),
    ...[...model.paths].flatMap(([name, type]) => typeRoutes(name, type, leftOut)),
    ...(docs.enabled ? everyMethod.map(descriptionRoute) : []),
    ...(stream === null ? [] : everyMethod.map((method) => streamRoute(method, stream.path))),
  ]
  for (const [index, own] of positions.entries()) {
    const reserved =
      own.base === 'root'
        ? [prefix, ...reservedPaths, ...(docs.enabled ? [docsPath] : [])].find((beginning) => isBelow(own.path, beginning))
        : undefined
    if (reserved !== undefined) throw invalidConfig(`${own.name} is below ${reserved}, which belongs to the service`)
    const other = others.find((one) => shadows(own, one)) ?? positions.slice(0, index).find((one) => isSamePath(own, one))
    if (other !== undefined) throw invalidConfig(`${own.name} shadows ${other.name}`)
  }
}

const invalidConfig = (what: string): ConfigError => new ConfigError(`Invalid configuration (octavo.config): ${what}.`)

/** The methods of the custom routes at a path, for `Allow`. */
export type CustomMethods = (path: string) => readonly string[]

/** Finds the methods of custom routes by paths below their base. */
export function createCustomMethods(routes: readonly CustomRoute[], base: 'api' | 'root'): CustomMethods {
  const known = routes.filter((route) => (route.base ?? 'api') === base).map(({ method, path }) => ({ method, parts: splitPath(path) }))
  if (known.length === 0) return () => []
  return (path) => {
    const requested = splitPath(path.replace(/\/$/, ''))
    const matches = ({ parts }: { readonly parts: readonly string[] }) =>
      parts.length === requested.length && parts.every((part, index) => part === requested[index] || isParameter(part))
    return known.filter(matches).flatMap(({ method }) => (method === 'GET' ? ['HEAD', 'GET'] : [method]))
  }
}

/** The methods of a path, without repetition. */
export const joinMethods = (...methods: readonly (readonly string[])[]): readonly string[] => [...new Set(methods.flat())]
