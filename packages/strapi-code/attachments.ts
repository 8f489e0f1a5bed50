// Where the middlewares and policies of a project run in Strapi: on which actions of which types, on which custom routes, or on every request.
import type { CodeFile } from './code-files.js'
import type { ModuleReader } from './module-reader.js'
import { type Attached, type CodeRoute, globalMiddlewares, type Routes, routesOf } from './routes.js'

/** A place where code runs. */
export interface CodePlace {
  /** The content-type; null for custom routes and for every request. */
  readonly uid: string | null
  /** The action of the type, the method and path of a custom route, or `every request`. */
  readonly action: string
}

/** A route file with what it says. */
export interface RouteFile extends Routes {
  readonly path: string
}

/** A function that is on a route without a name. */
export interface Inline {
  readonly attached: Extract<Attached, { inline: unknown }>
  readonly place: CodePlace
}

/** Where code runs. */
export interface Attachments {
  /** By the path of the file without its extension. */
  readonly places: ReadonlyMap<string, readonly CodePlace[]>
  readonly inline: readonly Inline[]
  readonly routes: readonly RouteFile[]
}

/** Reads the routes of a project and its list of middlewares. */
export function attachmentsOf(files: readonly CodeFile[], modules: ModuleReader): Attachments {
  const places = new Map<string, CodePlace[]>()
  const inline: Inline[] = []
  const attach = (path: string, place: CodePlace): void => void places.set(path, [...(places.get(path) ?? []), place])
  const routes = files.flatMap(({ path, kind, api }) => {
    const module = kind === 'routes' ? modules.read(path) : null
    if (module === null) return []
    const found = routesOf(module, modules.find)
    for (const route of found.routes) for (const one of route.attached) addTo({ api, route, one, attach, inline })
    return [{ ...found, path }]
  })
  for (const name of ['js', 'ts', 'mjs', 'cjs'].map((extension) => `config/middlewares.${extension}`)) {
    const module = modules.read(name)
    if (module === null) continue
    for (const middleware of globalMiddlewares(module))
      for (const path of pathsOf('middleware', middleware, null)) attach(path, { uid: null, action: 'every request' })
  }
  return { places, inline, routes }
}

interface Adding {
  readonly api: string | null
  readonly route: CodeRoute
  readonly one: Attached
  readonly inline: Inline[]
  attach(path: string, place: CodePlace): void
}

function addTo({ api, route: { uid, action }, one, attach, inline }: Adding): void {
  const place = { uid, action }
  if ('inline' in one) inline.push({ attached: one, place })
  else for (const file of pathsOf(one.kind, one.name, api)) attach(file, place)
}

/** The files, without extensions, that a name may mean: `api::page.deep`, `global::deep`, `deep` in the own API, `./src/middlewares/deep`. */
function pathsOf(kind: Attached['kind'], name: string, api: string | null): readonly string[] {
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
