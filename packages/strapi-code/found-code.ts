// Code that Octavo does not run: each file with its routes in Strapi and its effect on requests and responses.

import { type CodeFile, type CodeKind, findCodeFiles } from './code-files.js'
import { evaluate, unknown } from './constants.js'
import { calleeName, createModuleReader, findExport, type ModuleReader } from './modules.js'
import { findQueryChanges, type QueryChange } from './query-changes.js'
import { findResponseChanges, type ResponseChanges } from './response-changes.js'
import { type Attachments, type CodePlace, findAttachments } from './routes.js'
import { type FunctionNode, getChildren, getName, isFunction, type SyntaxNode, walk } from './syntax.js'

/** A change of the query, as plain data. */
export type FoundChange = Omit<QueryChange, 'value'> & {
  /** The value; absent if it is computed. */
  readonly value?: unknown
}

/** A piece of code: a file, or a method of a controller. */
export interface FoundCode {
  readonly path: string
  readonly kind: CodeKind | 'custom routes' | 'left-out routes'
  /** The routes of the code; empty if no route names it, null if routes cannot name it. */
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
  const files = findCodeFiles(folder)
  const modules = createModuleReader(folder)
  const reading: Reading = { modules, attachments: findAttachments(files, modules), isAttribute: (name) => attributes.has(name) }
  return [...files.flatMap((file) => readCodeFile(file, reading)), ...inlineCode(reading)]
}

interface Reading {
  readonly modules: ModuleReader
  readonly attachments: Attachments
  isAttribute(name: string): boolean
}

const nothing: ResponseChanges = { removes: [], adds: [], refuses: false, looksAtUser: false, responds: false }

function readCodeFile(file: CodeFile, reading: Reading): readonly FoundCode[] {
  const { path, kind } = file
  const module = reading.modules.read(path)
  const plain: FoundCode = { path, kind, places: null, changes: [], response: nothing, notes: [] }
  if (module === null) return isServerConfig(path) ? [] : [{ ...plain, notes: ['cannot be read'] }]
  const program = module.program as unknown as SyntaxNode
  switch (kind) {
    case 'policy':
    case 'middleware':
      return [
        { ...plain, places: reading.attachments.places.get(path.replace(/\.\w+$/, '')) ?? [], ...findChanges(program, file, reading) },
      ]
    case 'routes':
      return routeSettings(plain, reading)
    case 'controller':
      return controllerCode(plain, reading)
    case 'service':
      return isGenerated(program) ? [] : [{ ...plain, notes: describeNames('overrides', findMethods(program)) }]
    case 'lifecycle': {
      const hooks = findLifecycleHooks(program)
      return hooks.length === 0 ? [] : [{ ...plain, notes: describeNames('runs at', hooks) }]
    }
    case 'start': {
      const functions = findMethods(program).filter((name) => ['register', 'bootstrap', 'destroy'].includes(name))
      return functions.length === 0
        ? []
        : [{ ...plain, ...findChanges(program, file, reading), notes: describeNames('does something in', functions) }]
    }
    case 'extension':
    case 'plugin':
      return [plain]
    case 'cron': {
      if (!isServerConfig(path)) return [plain]
      const tasks = findInlineTasks(program)
      return tasks.length === 0 ? [] : [{ ...plain, notes: describeNames('has', tasks) }]
    }
  }
}

const describeNames = (phrase: string, names: readonly string[]): readonly string[] =>
  names.length === 0 ? [] : [`${phrase} ${names.join(', ')}`]

function findChanges(node: SyntaxNode, { path }: Pick<CodeFile, 'path'>, { modules, isAttribute }: Reading, uid: string | null = null) {
  const module = modules.read(path)!
  const changes = findQueryChanges(node, module.scope, { module, findModule: modules.find }, uid)
  return { changes: changes.map(plainChange), response: findResponseChanges(node, module.scope, isAttribute) }
}

const plainChange = ({ value, ...change }: QueryChange): FoundChange =>
  value === unknown || value === undefined ? change : { ...change, value }

/** Settings of generated routes, and custom routes. */
function routeSettings(plain: FoundCode, { attachments }: Reading): readonly FoundCode[] {
  const file = attachments.routes.find(({ path }) => path === plain.path)
  if (file === undefined) return [{ ...plain, notes: ['cannot be read'] }]
  const { prefix, ...selection } = file.options
  const options = describeOptions(prefix === undefined ? {} : { prefix })
  const open = file.routes.filter(({ isOpen, uid }) => isOpen && uid !== null).map(({ action }) => action)
  const notes = [...options, ...describeNames('needs no permission in Strapi:', open)]
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

const describeOptions = (options: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(options).map(([name, value]) => `${name}: ${value === unknown ? 'computed' : JSON.stringify(value)}`)

/** `only` and `except` of a router. Its constant lists of the actions that all types have are settings of octavo.config as well. */
function leftOut(plain: FoundCode, uid: string | null, selection: Readonly<Record<string, unknown>>): FoundCode {
  const lists = Object.values(selection)
  const isPlain = lists.length === 1 && Array.isArray(lists[0]) && lists[0].every((name) => coreActions.has(name as string))
  const found: FoundCode = { ...plain, kind: 'left-out routes', notes: describeOptions(selection) }
  return uid === null || !isPlain ? found : { ...found, selected: { uid, routes: selection } }
}

/** The actions of Strapi's core routers. */
const coreActions: ReadonlySet<string> = new Set(['find', 'findOne', 'create', 'update', 'delete'])

/** Each method of a controller by itself: `find` and `findOne` are what reads of its type do. */
function controllerCode(plain: FoundCode, reading: Reading): readonly FoundCode[] {
  const module = reading.modules.read(plain.path)!
  const program = module.program as unknown as SyntaxNode
  if (isGenerated(program)) return []
  const uid = findUid(program, reading, plain.path)
  const methods = findFunctions(program)
  if (methods.length === 0) return [{ ...plain, notes: ['methods cannot be read'] }]
  return methods.map(([action, node]) => ({ ...plain, places: [{ uid, action }], ...findChanges(node, plain, reading, uid) }))
}

function findUid(program: SyntaxNode, { modules }: Reading, path: string): string | null {
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

/** True if a file creates a controller or service without additions. */
function isGenerated(program: SyntaxNode): boolean {
  let calls = 0
  let own = 0
  walk(program, (node) => {
    if (node.type === 'CallExpression' && /^createCore\w+$/.test(calleeName(node.callee as SyntaxNode))) {
      calls += 1
      own += node.arguments.length - 1
    }
  })
  return calls === 1 && own === 0 && findFunctions(program).length === 0
}

/** Methods of objects and classes that are exported, by name. */
function findFunctions(program: SyntaxNode): readonly (readonly [string, FunctionNode])[] {
  const found: (readonly [string, FunctionNode])[] = []
  const visit = (node: SyntaxNode, inside: boolean): void => {
    if (
      (node.type === 'Property' || node.type === 'MethodDefinition') &&
      !node.computed &&
      node.value != null &&
      isFunction(node.value as SyntaxNode)
    ) {
      found.push([getName(node.key as SyntaxNode), node.value as FunctionNode])
      return
    }
    // Objects inside of nested functions are not exported, except for the one that the factory's function returns.
    if (isFunction(node) && inside) return
    for (const child of getChildren(node)) visit(child, inside || isFunction(node))
  }
  visit(program, false)
  if (found.length > 0) return found
  const whole = findExport(program as never, 'default')
  return whole !== null && isFunction(whole) ? [['default', whole]] : []
}

/** The names of methods that have a body. */
const findMethods = (program: SyntaxNode): readonly string[] =>
  findFunctions(program).flatMap(([name, { body }]) => (body.type === 'BlockStatement' && body.body.length === 0 ? [] : [name]))

const hook = /^(?:before|after)(?:Create|Update|Delete|Find|Count)\w*$/

function findLifecycleHooks(program: SyntaxNode): readonly string[] {
  const found = new Set<string>()
  walk(program, (node) => {
    const name =
      node.type === 'Property' || node.type === 'MethodDefinition'
        ? getName(node.key as SyntaxNode)
        : node.type === 'FunctionDeclaration'
          ? (node.id?.name ?? '')
          : node.type === 'MemberExpression'
            ? getName(node.property)
            : ''
    if (hook.test(name)) found.add(name)
  })
  return [...found]
}

/** Middlewares and policies that are written in route files. */
function inlineCode(reading: Reading): readonly FoundCode[] {
  return reading.attachments.inline.map(({ attached, place }) => ({
    path: attached.module.path,
    kind: attached.kind,
    places: [place],
    notes: [],
    ...findChanges(attached.inline as SyntaxNode, attached.module, reading),
  }))
}

/** True for the file of settings that may have tasks inside. */
export const isServerConfig = (path: string): boolean => /^config\/server\.\w+$/.test(path)

/** The names of the tasks that are written in the settings: `cron: { tasks: { name: … } }`. */
export function findInlineTasks(program: SyntaxNode): readonly string[] {
  const found: string[] = []
  walk(program, (node) => {
    if (node.type !== 'Property' || getName(node.key as SyntaxNode) !== 'cron') return
    for (const [name, value] of getMembers(node.value as SyntaxNode))
      if (name === 'tasks') found.push(...getMembers(value).map(([task]) => task))
  })
  return found
}

const getMembers = (node: SyntaxNode): readonly (readonly [string, SyntaxNode])[] =>
  node.type !== 'ObjectExpression'
    ? []
    : node.properties.flatMap((member) =>
        member.type === 'Property' ? [[getName(member.key as SyntaxNode), member.value as SyntaxNode] as const] : [],
      )
