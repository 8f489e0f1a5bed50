// Routes, and the middlewares and policies attached to them: by route files and config/middlewares.
import type { CodeFile } from './code-files.js'
import { call, type FunctionSource, getSource, load, type Run } from './interpreter.js'
import { type Core, isCore, isFunction, isPlain, knownValue } from './values.js'

/** Where code runs. */
export interface CodePlace {
  /** The content-type; null for custom routes and for every request. */
  readonly uid: string | null
  /** The action of the type, the method and path of a custom route, or `every request`. */
  readonly action: string
}

type AttachedKind = 'middleware' | 'policy'

interface CodeRoute extends CodePlace {
  /** By name, or written in the route. */
  readonly attached: readonly { readonly kind: AttachedKind; readonly code: string | FunctionSource }[]
  /** `auth: false` */
  readonly isOpen: boolean
}

/** The routes of a file. */
interface RouteFile {
  readonly path: string
  readonly routes: readonly CodeRoute[]
  /** Options of the router of a type that change which routes there are: `only`, `except`, `prefix`. Computed ones are undefined. */
  readonly options: Readonly<Record<string, unknown>>
  /** The type of its router; null if it has none. */
  readonly uid: string | null
}

/** A function that is on a route without a name. */
export interface InlineCode {
  readonly kind: AttachedKind
  readonly source: FunctionSource
  /** The route file. */
  readonly routes: string
  readonly place: CodePlace
}

export interface Attachments {
  /** By the path of the file without its extension. */
  readonly places: ReadonlyMap<string, readonly CodePlace[]>
  readonly inline: readonly InlineCode[]
  readonly routes: readonly RouteFile[]
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function readRoutes(path: string, exported: unknown): RouteFile {
  if (isCore(exported)) return { path, ...readRouter(exported) }
  const routes = listOf(isPlain(exported) ? exported.routes : null).flatMap((route) => {
    if (!isPlain(route)) return []
    const [method, address] = [route.method, route.path].map((text) => (typeof text === 'string' ? text : '…'))
    return [readRoute({ uid: null, action: `${method} ${address}` }, route.config)]
  })
  return { path, routes, options: {}, uid: null }
}

function readRouter({ uid, extension }: Core): Omit<RouteFile, 'path'> {
  if (!isPlain(extension)) return { routes: [], options: {}, uid }
  const names = ['only', 'except', 'prefix'].filter((name) => Object.hasOwn(extension, name))
  const options = names.map((name) => [name, knownValue(extension[name])] as const)
  const actions = isPlain(extension.config) ? Object.entries(extension.config) : []
  const routes = actions.flatMap(([action, settings]) => (isPlain(settings) ? [readRoute({ uid, action }, settings)] : []))
  return { routes, options: Object.fromEntries(options), uid }
}

function readRoute(place: CodePlace, settings: unknown): CodeRoute {
  if (!isPlain(settings)) return { ...place, attached: [], isOpen: false }
  const attachedBy = (kind: AttachedKind, list: unknown): CodeRoute['attached'] =>
    listOf(list).flatMap((entry) => {
      // `'name'`, `{ name: 'name' }`, or a function.
      const code = isFunction(entry) ? getSource(entry) : isPlain(entry) ? entry.name : entry
      return typeof code === 'string' || (isFunction(entry) && code !== null) ? [{ kind, code: code as string | FunctionSource }] : []
    })
  const attached = [...attachedBy('middleware', settings.middlewares), ...attachedBy('policy', settings.policies)]
  return { ...place, attached, isOpen: settings.auth === false }
}

/** Reads the routes of a project and its list of middlewares. */
export function findAttachments(files: readonly CodeFile[], run: Run): Attachments {
  const places = new Map<string, CodePlace[]>()
  const inline: InlineCode[] = []
  const attach = (path: string, place: CodePlace): void => void places.set(path, [...(places.get(path) ?? []), place])
  const routes = files.flatMap(({ path, kind, api }) => {
    if (kind !== 'routes') return []
    const file = readRoutes(path, load(path, run))
    for (const { uid, action, attached } of file.routes) {
      for (const one of attached) {
        const place = { uid, action }
        if (typeof one.code !== 'string') inline.push({ kind: one.kind, source: one.code, routes: path, place })
        else for (const named of resolvePaths(one.kind, one.code, api)) attach(named, place)
      }
    }
    return [file]
  })
  for (const name of globalMiddlewares(run))
    for (const path of resolvePaths('middleware', name, null)) attach(path, { uid: null, action: 'every request' })
  return { places, inline, routes }
}

function settingsIn(path: string, run: Run): unknown {
  try {
    return call(load(path, run))
  } catch {
    // Without them, the other files are still read.
    return undefined
  }
}

/** The names in `config/middlewares`, and the files that `resolve` names. */
function globalMiddlewares(run: Run): readonly string[] {
  return ['js', 'ts', 'mjs', 'cjs'].flatMap((extension) => {
    return listOf(settingsIn(`config/middlewares.${extension}`, run)).flatMap((entry) => {
      const { name, resolve = name } = isPlain(entry) ? entry : { name: entry, resolve: entry }
      return typeof resolve === 'string' && /^(?:global::|api::|\.)/.test(resolve) ? [resolve] : []
    })
  })
}

/** The files, without extensions, that a name may mean: `api::page.deep`, `global::deep`, `deep` in the own API, `./src/middlewares/deep`. */
function resolvePaths(kind: AttachedKind, name: string, api: string | null): readonly string[] {
  const folder = kind === 'middleware' ? 'middlewares' : 'policies'
  if (name.startsWith('.')) return [name.replace(/^\.\//, '').replace(/\.\w+$/, '')]
  const [, scope, rest = name] = /^(\w+)::(.+)$/.exec(name) ?? []
  if (scope === 'global') return [`src/${folder}/${rest}`]
  if (scope === 'api') {
    const [owner, ...parts] = rest.split('.')
    return [`src/api/${owner}/${folder}/${parts.join('.')}`]
  }
  return scope === undefined ? [...(api === null ? [] : [`src/api/${api}/${folder}/${rest}`]), `src/${folder}/${rest}`] : []
}
