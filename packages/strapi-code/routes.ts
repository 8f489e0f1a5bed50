// Which middlewares and policies are on which routes, as route files and config/middlewares say it.
import type { CallExpression, ObjectExpression } from 'acorn'
import { evaluate, type Location, propertyOf, resolve, unknown } from './constants.js'
import { calleeName, exportOf, type FindModule, type Module } from './modules.js'
import { childrenOf, type SyntaxNode } from './parse.js'
import { type FunctionNode, isFunction, nameOf } from './scope.js'

/** A middleware or policy on a route: by its name, or written in place. */
export type Attached = { readonly kind: 'middleware' | 'policy' } & (
  | { readonly name: string }
  | { readonly inline: FunctionNode; readonly module: Module }
)

/** A route with what is on it. */
export interface CodeRoute {
  /** The content-type; null for custom routes. */
  readonly uid: string | null
  /** The action, such as find; of custom routes method and path. */
  readonly action: string
  readonly attached: readonly Attached[]
  /** `auth: false` */
  readonly isOpen: boolean
}

/** What a route file says. */
export interface Routes {
  readonly routes: readonly CodeRoute[]
  /** Options of the router of a type that change which routes there are: `only`, `except`, `prefix`. */
  readonly options: Readonly<Record<string, unknown>>
  /** The type of its router; null if it has none. */
  readonly uid: string | null
}

/** Reads a route file. */
export function routesOf(module: Module, findModule: FindModule): Routes {
  const location: Location = { scope: module.scope, module, findModule, depth: 0 }
  const whole = exportOf(module.program, 'default')
  const found = whole === null ? null : resolve(whole, location)
  if (found === null) return { routes: [], options: {}, uid: null }
  if (found.node.type === 'CallExpression' && calleeName(found.node.callee as SyntaxNode) === 'createCoreRouter')
    return routerOf(found.node, found)
  return { routes: found.node.type === 'ObjectExpression' ? customRoutes(found.node, found) : [], options: {}, uid: null }
}

function routerOf({ arguments: [first, second] }: CallExpression, location: Location): Routes {
  const uid = first === undefined ? unknown : evaluate(first as SyntaxNode, location)
  const name = typeof uid === 'string' ? uid : null
  const options = second === undefined ? null : resolve(second as SyntaxNode, location)
  if (options?.node.type !== 'ObjectExpression') return { routes: [], options: {}, uid: name }
  const found: Record<string, unknown> = {}
  for (const key of ['only', 'except', 'prefix']) {
    const node = propertyOf(options.node, key)
    if (node !== null) found[key] = evaluate(node, options)
  }
  const config = propertyOf(options.node, 'config')
  const actions = config === null ? null : resolve(config, options)
  const routes =
    actions?.node.type === 'ObjectExpression'
      ? entriesOf(actions.node).flatMap(([action, node]) => {
          const settings = resolve(node, actions)
          return settings?.node.type === 'ObjectExpression' ? [routeOf(name, action, settings.node, settings)] : []
        })
      : []
  return { routes, options: found, uid: name }
}

function customRoutes(node: ObjectExpression, location: Location): readonly CodeRoute[] {
  const list = propertyOf(node, 'routes')
  const found = list === null ? null : resolve(list, location)
  if (found?.node.type !== 'ArrayExpression') return []
  return (found.node.elements as readonly (SyntaxNode | null)[]).flatMap((element) => {
    const route = element === null ? null : resolve(element, found)
    if (route?.node.type !== 'ObjectExpression') return []
    const [method, path] = ['method', 'path'].map((key) => {
      const value = propertyOf(route.node as ObjectExpression, key)
      const text = value === null ? unknown : evaluate(value, route)
      return typeof text === 'string' ? text : '…'
    })
    const config = propertyOf(route.node, 'config')
    const settings = config === null ? null : resolve(config, route)
    const action = `${method} ${path}`
    return [
      settings?.node.type === 'ObjectExpression'
        ? routeOf(null, action, settings.node, settings)
        : { uid: null, action, attached: [], isOpen: false },
    ]
  })
}

function routeOf(uid: string | null, action: string, settings: ObjectExpression, location: Location): CodeRoute {
  const auth = propertyOf(settings, 'auth')
  return {
    uid,
    action,
    attached: (['middlewares', 'policies'] as const).flatMap((key) => {
      const list = propertyOf(settings, key)
      const found = list === null ? null : resolve(list, location)
      if (found?.node.type !== 'ArrayExpression') return []
      const kind = key === 'middlewares' ? 'middleware' : 'policy'
      return (found.node.elements as readonly (SyntaxNode | null)[]).flatMap((element) =>
        element === null ? [] : attachedBy(kind, element, found),
      )
    }),
    isOpen: auth !== null && evaluate(auth, location) === false,
  }
}

/** `'name'`, `{ name: 'name' }`, or a function. */
function attachedBy(kind: Attached['kind'], node: SyntaxNode, location: Location): readonly Attached[] {
  const found = resolve(node, location)
  if (found === null) return []
  if (isFunction(found.node)) return [{ kind, inline: found.node, module: found.module }]
  const named = found.node.type === 'ObjectExpression' ? propertyOf(found.node, 'name') : found.node
  const name = named === null ? unknown : evaluate(named, found)
  return typeof name === 'string' ? [{ kind, name }] : []
}

const entriesOf = ({ properties }: ObjectExpression): readonly (readonly [string, SyntaxNode])[] =>
  properties.flatMap((property) =>
    property.type === 'Property' && !property.computed ? [[nameOf(property.key), property.value as SyntaxNode] as const] : [],
  )

/** The names of middlewares in `config/middlewares`, and the files that `resolve` names. */
export function globalMiddlewares(module: Module): readonly string[] {
  const names: string[] = []
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'Literal' && typeof node.value === 'string' && /^(?:global::|api::|\.)/.test(node.value)) names.push(node.value)
    for (const child of childrenOf(node)) visit(child)
  }
  visit(module.program as unknown as SyntaxNode)
  return names
}
