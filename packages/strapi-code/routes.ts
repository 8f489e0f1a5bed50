// Routes, and the middlewares and policies attached to them: by route files and config/middlewares.
import type { CallExpression, ObjectExpression } from 'acorn'
import type { CodeFile } from './code-files.js'
import { evaluate, findProperty, type Location, resolve, unknown } from './constants.js'
import { calleeName, type FindModule, findExport, type Module, type ModuleReader } from './modules.js'
import { type FunctionNode, getChildren, getName, isFunction, type SyntaxNode } from './syntax.js'

/** A middleware or policy on a route: by its name, or written in place. */
export type Attached = { readonly kind: 'middleware' | 'policy' } & (
  | { readonly name: string }
  | { readonly inline: FunctionNode; readonly module: Module }
)

export interface CodeRoute {
  /** The content-type; null for custom routes. */
  readonly uid: string | null
  /** The action, such as find; of custom routes method and path. */
  readonly action: string
  readonly attached: readonly Attached[]
  /** `auth: false` */
  readonly isOpen: boolean
}

export interface Routes {
  readonly routes: readonly CodeRoute[]
  /** Options of the router of a type that change which routes there are: `only`, `except`, `prefix`. */
  readonly options: Readonly<Record<string, unknown>>
  /** The type of its router; null if it has none. */
  readonly uid: string | null
}

/** Reads a route file. */
export function readRoutes(module: Module, findModule: FindModule): Routes {
  const location: Location = { scope: module.scope, module, findModule, depth: 0 }
  const whole = findExport(module.program, 'default')
  const found = whole === null ? null : resolve(whole, location)
  if (found === null) return { routes: [], options: {}, uid: null }
  if (found.node.type === 'CallExpression' && calleeName(found.node.callee as SyntaxNode) === 'createCoreRouter')
    return readRouter(found.node, found)
  return { routes: found.node.type === 'ObjectExpression' ? customRoutes(found.node, found) : [], options: {}, uid: null }
}

function readRouter({ arguments: [first, second] }: CallExpression, location: Location): Routes {
  const uid = first === undefined ? unknown : evaluate(first as SyntaxNode, location)
  const name = typeof uid === 'string' ? uid : null
  const options = second === undefined ? null : resolve(second as SyntaxNode, location)
  if (options?.node.type !== 'ObjectExpression') return { routes: [], options: {}, uid: name }
  const found: Record<string, unknown> = {}
  for (const key of ['only', 'except', 'prefix']) {
    const node = findProperty(options.node, key)
    if (node !== null) found[key] = evaluate(node, options)
  }
  const config = findProperty(options.node, 'config')
  const actions = config === null ? null : resolve(config, options)
  const routes =
    actions?.node.type === 'ObjectExpression'
      ? getEntries(actions.node).flatMap(([action, node]) => {
          const settings = resolve(node, actions)
          return settings?.node.type === 'ObjectExpression' ? [readRoute(name, action, settings.node, settings)] : []
        })
      : []
  return { routes, options: found, uid: name }
}

function customRoutes(node: ObjectExpression, location: Location): readonly CodeRoute[] {
  const list = findProperty(node, 'routes')
  const found = list === null ? null : resolve(list, location)
  if (found?.node.type !== 'ArrayExpression') return []
  return (found.node.elements as readonly (SyntaxNode | null)[]).flatMap((element) => {
    const route = element === null ? null : resolve(element, found)
    if (route?.node.type !== 'ObjectExpression') return []
    const [method, path] = ['method', 'path'].map((key) => {
      const value = findProperty(route.node as ObjectExpression, key)
      const text = value === null ? unknown : evaluate(value, route)
      return typeof text === 'string' ? text : '…'
    })
    const config = findProperty(route.node, 'config')
    const settings = config === null ? null : resolve(config, route)
    const action = `${method} ${path}`
    return [
      settings?.node.type === 'ObjectExpression'
        ? readRoute(null, action, settings.node, settings)
        : { uid: null, action, attached: [], isOpen: false },
    ]
  })
}

function readRoute(uid: string | null, action: string, settings: ObjectExpression, location: Location): CodeRoute {
  const auth = findProperty(settings, 'auth')
  return {
    uid,
    action,
    attached: (['middlewares', 'policies'] as const).flatMap((key) => {
      const list = findProperty(settings, key)
      const found = list === null ? null : resolve(list, location)
      if (found?.node.type !== 'ArrayExpression') return []
      const kind = key === 'middlewares' ? 'middleware' : 'policy'
      return (found.node.elements as readonly (SyntaxNode | null)[]).flatMap((element) =>
        element === null ? [] : readAttached(kind, element, found),
      )
    }),
    isOpen: auth !== null && evaluate(auth, location) === false,
  }
}

/** `'name'`, `{ name: 'name' }`, or a function. */
function readAttached(kind: Attached['kind'], node: SyntaxNode, location: Location): readonly Attached[] {
  const found = resolve(node, location)
  if (found === null) return []
  if (isFunction(found.node)) return [{ kind, inline: found.node, module: found.module }]
  const named = found.node.type === 'ObjectExpression' ? findProperty(found.node, 'name') : found.node
  const name = named === null ? unknown : evaluate(named, found)
  return typeof name === 'string' ? [{ kind, name }] : []
}

const getEntries = ({ properties }: ObjectExpression): readonly (readonly [string, SyntaxNode])[] =>
  properties.flatMap((property) =>
    property.type === 'Property' && !property.computed ? [[getName(property.key), property.value as SyntaxNode] as const] : [],
  )

/** The names of middlewares in `config/middlewares`, and the files that `resolve` names. */
export function globalMiddlewares(module: Module): readonly string[] {
  const names: string[] = []
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'Literal' && typeof node.value === 'string' && /^(?:global::|api::|\.)/.test(node.value)) names.push(node.value)
    for (const child of getChildren(node)) visit(child)
  }
  visit(module.program as unknown as SyntaxNode)
  return names
}

/** A place where code runs. */
export interface CodePlace {
  /** The content-type; null for custom routes and for every request. */
  readonly uid: string | null
  /** The action of the type, the method and path of a custom route, or `every request`. */
  readonly action: string
}

export interface RouteFile extends Routes {
  readonly path: string
}

/** A function that is on a route without a name. */
export interface Inline {
  readonly attached: Extract<Attached, { inline: unknown }>
  readonly place: CodePlace
}

export interface Attachments {
  /** By the path of the file without its extension. */
  readonly places: ReadonlyMap<string, readonly CodePlace[]>
  readonly inline: readonly Inline[]
  readonly routes: readonly RouteFile[]
}

/** Reads the routes of a project and its list of middlewares. */
export function findAttachments(files: readonly CodeFile[], modules: ModuleReader): Attachments {
  const places = new Map<string, CodePlace[]>()
  const inline: Inline[] = []
  const attach = (path: string, place: CodePlace): void => void places.set(path, [...(places.get(path) ?? []), place])
  const routes = files.flatMap(({ path, kind, api }) => {
    const module = kind === 'routes' ? modules.read(path) : null
    if (module === null) return []
    const found = readRoutes(module, modules.find)
    for (const route of found.routes) for (const one of route.attached) addTo({ api, route, one, attach, inline })
    return [{ ...found, path }]
  })
  for (const name of ['js', 'ts', 'mjs', 'cjs'].map((extension) => `config/middlewares.${extension}`)) {
    const module = modules.read(name)
    if (module === null) continue
    for (const middleware of globalMiddlewares(module))
      for (const path of resolvePaths('middleware', middleware, null)) attach(path, { uid: null, action: 'every request' })
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
  else for (const file of resolvePaths(one.kind, one.name, api)) attach(file, place)
}

/** The files, without extensions, that a name may mean: `api::page.deep`, `global::deep`, `deep` in the own API, `./src/middlewares/deep`. */
function resolvePaths(kind: Attached['kind'], name: string, api: string | null): readonly string[] {
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
