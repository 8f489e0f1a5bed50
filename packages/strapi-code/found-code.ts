// What Octavo does not run of a project: each file with where it runs in Strapi and what it does to requests and responses there.
import type { Attachments, CodePlace } from './attachments.js'
import { attachmentsOf } from './attachments.js'
import { type CodeFile, type CodeKind, codeFilesOf } from './code-files.js'
import { evaluate, unknown } from './constants.js'
import { inlineTasksOf, isServerConfig } from './cron-tasks.js'
import { type ModuleReader, openModules } from './module-reader.js'
import { calleeName, exportOf } from './modules.js'
import { childrenOf, type SyntaxNode, walk } from './parse.js'
import { type QueryChange, queryChangesOf } from './query-changes.js'
import { type ResponseChanges, responseChangesOf } from './response-changes.js'
import { type FunctionNode, isFunction, nameOf } from './scope.js'

/** A change of the query, as plain data. */
export type FoundChange = Omit<QueryChange, 'value'> & {
  /** The value; absent if it is computed. */
  readonly value?: unknown
}

/** A piece of code: a file, or a method of a controller. */
export interface FoundCode {
  readonly path: string
  readonly kind: CodeKind | 'custom routes' | 'left-out routes'
  /** Where it runs; empty if no route names it, null if it is not for routes to name. */
  readonly places: readonly CodePlace[] | null
  readonly changes: readonly FoundChange[]
  readonly response: ResponseChanges
  /** Other facts, as phrases. */
  readonly notes: readonly string[]
  /** The type whose routes are left out, and which ones, if its text shows it. */
  readonly selected?: { readonly uid: string; readonly routes: unknown }
  /** Custom routes: method and path, and whether they need no permission. */
  readonly routes?: readonly FoundRoute[]
}

/** A custom route, such as `GET /films/now-showing`. */
export interface FoundRoute {
  readonly name: string
  readonly isOpen: boolean
}

/** Reads the code of the project in `folder`. `attributes`: the names of all attributes of its model. */
export function readCode(folder: string, attributes: ReadonlySet<string>): readonly FoundCode[] {
  const files = codeFilesOf(folder)
  const modules = openModules(folder)
  const reading: Reading = { modules, attachments: attachmentsOf(files, modules), isAttribute: (name) => attributes.has(name) }
  return [...files.flatMap((file) => codeOf(file, reading)), ...inlineCode(reading)]
}

interface Reading {
  readonly modules: ModuleReader
  readonly attachments: Attachments
  isAttribute(name: string): boolean
}

const nothing: ResponseChanges = { removes: [], adds: [], refuses: false, looksAtUser: false, responds: false }

function codeOf(file: CodeFile, reading: Reading): readonly FoundCode[] {
  const { path, kind } = file
  const module = reading.modules.read(path)
  const plain: FoundCode = { path, kind, places: null, changes: [], response: nothing, notes: [] }
  if (module === null) return isServerConfig(path) ? [] : [{ ...plain, notes: ['cannot be read'] }]
  const program = module.program as unknown as SyntaxNode
  switch (kind) {
    case 'policy':
    case 'middleware':
      return [{ ...plain, places: reading.attachments.places.get(path.replace(/\.\w+$/, '')) ?? [], ...changesOf(program, file, reading) }]
    case 'routes':
      return routeSettings(plain, reading)
    case 'controller':
      return controllerCode(plain, reading)
    case 'service':
      return isGenerated(program) ? [] : [{ ...plain, notes: namesOf('overrides', methodsOf(program)) }]
    case 'lifecycle': {
      const hooks = lifecyclesOf(program)
      return hooks.length === 0 ? [] : [{ ...plain, notes: namesOf('runs at', hooks) }]
    }
    case 'start': {
      const functions = methodsOf(program).filter((name) => ['register', 'bootstrap', 'destroy'].includes(name))
      return functions.length === 0
        ? []
        : [{ ...plain, ...changesOf(program, file, reading), notes: namesOf('does something in', functions) }]
    }
    case 'extension':
    case 'plugin':
      return [plain]
    case 'cron': {
      if (!isServerConfig(path)) return [plain]
      const tasks = inlineTasksOf(program)
      return tasks.length === 0 ? [] : [{ ...plain, notes: namesOf('has', tasks) }]
    }
  }
}

const namesOf = (phrase: string, names: readonly string[]): readonly string[] =>
  names.length === 0 ? [] : [`${phrase} ${names.join(', ')}`]

function changesOf(node: SyntaxNode, { path }: Pick<CodeFile, 'path'>, { modules, isAttribute }: Reading, uid: string | null = null) {
  const module = modules.read(path)!
  const changes = queryChangesOf(node, module.scope, { module, findModule: modules.find }, uid)
  return { changes: changes.map(plainChange), response: responseChangesOf(node, module.scope, isAttribute) }
}

const plainChange = ({ value, ...change }: QueryChange): FoundChange =>
  value === unknown || value === undefined ? change : { ...change, value }

/** Settings of generated routes, and custom routes. */
function routeSettings(plain: FoundCode, { attachments }: Reading): readonly FoundCode[] {
  const file = attachments.routes.find(({ path }) => path === plain.path)
  if (file === undefined) return [{ ...plain, notes: ['cannot be read'] }]
  const { prefix, ...selection } = file.options
  const options = optionsOf(prefix === undefined ? {} : { prefix })
  const open = file.routes.filter(({ isOpen, uid }) => isOpen && uid !== null).map(({ action }) => action)
  const notes = [...options, ...namesOf('needs no permission in Strapi:', open)]
  const custom = file.routes.filter(({ uid }) => uid === null)
  return [
    ...(Object.keys(selection).length === 0 ? [] : [leftOut(plain, file.uid, selection)]),
    ...(notes.length === 0 ? [] : [{ ...plain, notes }]),
    ...(custom.length === 0
      ? []
      : [
          {
            ...plain,
            kind: 'custom routes' as const,
            routes: custom.map(({ action, isOpen }) => ({ name: action, isOpen })),
          },
        ]),
  ]
}

const optionsOf = (options: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(options).map(([name, value]) => `${name}: ${value === unknown ? 'computed' : JSON.stringify(value)}`)

/** `only` and `except` of a router. Its constant lists of the actions that all types have are settings of octavo.config as well. */
function leftOut(plain: FoundCode, uid: string | null, selection: Readonly<Record<string, unknown>>): FoundCode {
  const lists = Object.values(selection)
  const isPlain = lists.length === 1 && Array.isArray(lists[0]) && lists[0].every((name) => coreActions.has(name as string))
  const found: FoundCode = { ...plain, kind: 'left-out routes', notes: optionsOf(selection) }
  return uid === null || !isPlain ? found : { ...found, selected: { uid, routes: selection } }
}

/** The actions of Strapi's core routers. */
const coreActions: ReadonlySet<string> = new Set(['find', 'findOne', 'create', 'update', 'delete'])

/** Each method of a controller by itself: `find` and `findOne` are what reads of its type do. */
function controllerCode(plain: FoundCode, reading: Reading): readonly FoundCode[] {
  const module = reading.modules.read(plain.path)!
  const program = module.program as unknown as SyntaxNode
  if (isGenerated(program)) return []
  const uid = uidOf(program, reading, plain.path)
  const methods = functionsOf(program)
  if (methods.length === 0) return [{ ...plain, notes: ['methods cannot be read'] }]
  return methods.map(([action, node]) => ({ ...plain, places: [{ uid, action }], ...changesOf(node, plain, reading, uid) }))
}

function uidOf(program: SyntaxNode, { modules }: Reading, path: string): string | null {
  let found: string | null = null
  const module = modules.read(path)!
  walk(program, (node) => {
    if (node.type !== 'CallExpression' || !/^createCore(?:Controller|Service|Router)$/.test(calleeName(node.callee as SyntaxNode))) return
    const [first] = node.arguments
    const uid =
      first === undefined ? unknown : evaluate(first as SyntaxNode, { scope: module.scope, module, findModule: modules.find, depth: 0 })
    if (typeof uid === 'string') found = uid
  })
  return found
}

/** Whether a file only creates a controller or service without anything of its own. */
function isGenerated(program: SyntaxNode): boolean {
  let calls = 0
  let own = 0
  walk(program, (node) => {
    if (node.type === 'CallExpression' && /^createCore\w+$/.test(calleeName(node.callee as SyntaxNode))) {
      calls += 1
      own += node.arguments.length - 1
    }
  })
  return calls === 1 && own === 0 && functionsOf(program).length === 0
}

/** Methods of objects and classes that are exported, by name. */
function functionsOf(program: SyntaxNode): readonly (readonly [string, FunctionNode])[] {
  const found: (readonly [string, FunctionNode])[] = []
  const visit = (node: SyntaxNode, inside: boolean): void => {
    if (
      (node.type === 'Property' || node.type === 'MethodDefinition') &&
      !node.computed &&
      node.value != null &&
      isFunction(node.value as SyntaxNode)
    ) {
      found.push([nameOf(node.key as SyntaxNode), node.value as FunctionNode])
      return
    }
    // Objects inside functions of others are not what is exported, but for the one that the factory's function returns.
    if (isFunction(node) && inside) return
    for (const child of childrenOf(node)) visit(child, inside || isFunction(node))
  }
  visit(program, false)
  if (found.length > 0) return found
  const whole = exportOf(program as never, 'default')
  return whole !== null && isFunction(whole) ? [['default', whole]] : []
}

/** The names of methods that have a body. */
const methodsOf = (program: SyntaxNode): readonly string[] =>
  functionsOf(program).flatMap(([name, { body }]) => (body.type === 'BlockStatement' && body.body.length === 0 ? [] : [name]))

const hook = /^(?:before|after)(?:Create|Update|Delete|Find|Count)\w*$/

function lifecyclesOf(program: SyntaxNode): readonly string[] {
  const found = new Set<string>()
  walk(program, (node) => {
    const name =
      node.type === 'Property' || node.type === 'MethodDefinition'
        ? nameOf(node.key as SyntaxNode)
        : node.type === 'FunctionDeclaration'
          ? (node.id?.name ?? '')
          : node.type === 'MemberExpression'
            ? nameOf(node.property)
            : ''
    if (hook.test(name)) found.add(name)
  })
  return [...found]
}

/** Middlewares and policies that are written in route files. */
function inlineCode(reading: Reading): readonly FoundCode[] {
  return reading.attachments.inline.map(({ attached, place }) => ({
    ...{ path: attached.module.path, kind: attached.kind, places: [place], notes: [] },
    ...changesOf(attached.inline as SyntaxNode, attached.module, reading),
  }))
}
