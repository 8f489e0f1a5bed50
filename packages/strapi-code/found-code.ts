// Code that Octavo does not run: each file with its routes in Strapi and its effect on requests and responses.

import { type CodeFile, type CodeKind, findCodeFiles } from './code-files.js'
import { createReadingRun, type Effects, findEffects, methodsOf, noEffects, type Subject } from './effects.js'
import { call, getSource, load, type Run } from './interpreter.js'
import { type Attachments, type CodePlace, findAttachments } from './routes.js'
import { createModuleReader, type ModuleReader } from './syntax.js'
import { isCore, isPlain } from './values.js'

/** A piece of code: a file, or a method of a controller. */
export interface FoundCode {
  readonly path: string
  readonly kind: CodeKind | 'custom routes' | 'left-out routes'
  /** The routes of the code; empty if no route names it, null if routes cannot name it. */
  readonly places: readonly CodePlace[] | null
  readonly effects: Effects
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
  const reader = createModuleReader(folder)
  const run = createReadingRun(reader)
  const attachments = findAttachments(files, run)
  const effectsOf = (subject: Subject): Effects => findEffects(reader, subject, (name) => attributes.has(name))
  const inline = attachments.inline.map(({ kind, source, routes, place }): FoundCode => {
    const find = (again: Run): unknown => {
      load(routes, again)
      return again.functions.get(source.node)
    }
    const plain: FoundCode = { path: source.path, kind, places: [place], notes: [], effects: noEffects }
    return orUnfollowed(plain, () => [{ ...plain, effects: effectsOf({ find }) }])[0]!
  })
  return [...files.flatMap((file) => readCodeFile(file, { reader, run, attachments, effectsOf })), ...inline]
}

interface Reading {
  readonly reader: ModuleReader
  readonly run: Run
  readonly attachments: Attachments
  effectsOf(subject: Subject): Effects
}

/** A file whose code fails in an unexpected way does not hide the others. */
function orUnfollowed(plain: FoundCode, read: () => readonly FoundCode[]): readonly FoundCode[] {
  try {
    return read()
  } catch {
    return [{ ...plain, effects: { ...noEffects, isFollowed: false } }]
  }
}

const isSettings = (path: string): boolean => /^config\/server\.\w+$/.test(path)

function readCodeFile(file: CodeFile, reading: Reading): readonly FoundCode[] {
  const { path, kind } = file
  const plain: FoundCode = { path, kind, places: null, effects: noEffects, notes: [] }
  if (reading.reader.read(path) === null) return isSettings(path) ? [] : [{ ...plain, notes: ['cannot be read'] }]
  return orUnfollowed(plain, () => {
    const pieces = describeFile(file, plain, reading)
    const isNamed = !reading.run.unfollowed.has(path) || isSettings(path) || pieces.some(({ effects }) => !effects.isFollowed)
    return isNamed ? pieces : [...pieces, { ...plain, effects: { ...noEffects, isFollowed: false } }]
  })
}

function describeFile({ path, kind }: CodeFile, plain: FoundCode, reading: Reading): readonly FoundCode[] {
  const { run, effectsOf } = reading
  const noted = (phrase: string, names: readonly string[]): readonly FoundCode[] =>
    names.length === 0 ? [] : [{ ...plain, notes: describeNames(phrase, names) }]
  switch (kind) {
    case 'policy':
    case 'middleware': {
      const places = reading.attachments.places.get(path.replace(/\.\w+$/, '')) ?? []
      return [{ ...plain, places, effects: effectsOf({ find: (again) => load(path, again) }) }]
    }
    case 'routes':
      return describeRoutes(plain, reading)
    case 'controller':
      return readController(plain, reading)
    case 'service':
      return isGenerated(run, path) ? [] : [{ ...plain, notes: describeNames('overrides', namesIn(run, path)) }]
    case 'lifecycle':
      return noted(
        'runs at',
        methodsOf(run, path)
          .map(([name]) => name)
          .filter((name) => /^(?:before|after)(?:Create|Update|Delete|Find|Count)\w*$/.test(name)),
      )
    case 'start': {
      const names = namesIn(run, path).filter((name) => ['register', 'bootstrap', 'destroy'].includes(name))
      const find = (again: Run) => (given: unknown) => {
        for (const [name, method] of methodsOf(again, path)) if (names.includes(name)) method(given)
      }
      return noted('does something in', names).map((found) => ({ ...found, effects: effectsOf({ find, isStart: true }) }))
    }
    case 'extension':
    case 'plugin':
      return [plain]
    case 'cron':
      return isSettings(path) ? noted('has', inlineTasks(run, path)) : [plain]
  }
}

const describeNames = (phrase: string, names: readonly string[]): readonly string[] =>
  names.length === 0 ? [] : [`${phrase} ${names.join(', ')}`]

/** The names of methods that have a body. */
const namesIn = (run: Run, path: string): readonly string[] =>
  methodsOf(run, path).flatMap(([name, method]) => {
    const body = getSource(method)?.node.body
    return body?.type === 'BlockStatement' && body.body.length === 0 ? [] : [name]
  })

/** True if a file creates a controller or service without additions. */
function isGenerated(run: Run, path: string): boolean {
  const exported = load(path, run)
  return isCore(exported) && exported.extension === undefined
}

/** The names of the tasks that are written in config/server: `cron: { tasks: { name: … } }`. */
function inlineTasks(run: Run, path: string): readonly string[] {
  const settings = call(load(path, run))
  const tasks = isPlain(settings) && isPlain(settings.cron) && isPlain(settings.cron.tasks) ? settings.cron.tasks : {}
  const isInline = (task: unknown): boolean => getSource(task)?.path === path
  return Object.entries(tasks).flatMap(([name, task]) =>
    [task, ...(isPlain(task) ? Object.values(task) : [])].some(isInline) ? [name] : [],
  )
}

/** Settings of generated routes, and custom routes. */
function describeRoutes(plain: FoundCode, { attachments }: Reading): readonly FoundCode[] {
  const { routes, uid, options } = attachments.routes.find(({ path }) => path === plain.path)!
  const { prefix, ...selection } = options
  const open = routes.filter((route) => route.isOpen && route.uid !== null).map(({ action }) => action)
  const notes = [
    ...describeOptions(Object.hasOwn(options, 'prefix') ? { prefix } : {}),
    ...describeNames('needs no permission in Strapi:', open),
  ]
  const custom = routes.filter((route) => route.uid === null).map(({ action, isOpen }) => ({ name: action, isOpen }))
  return [
    ...(Object.keys(selection).length === 0 ? [] : [leftOut(plain, uid, selection)]),
    ...(notes.length === 0 ? [] : [{ ...plain, notes }]),
    ...(custom.length === 0 ? [] : [{ ...plain, kind: 'custom routes' as const, routes: custom }]),
  ]
}

const describeOptions = (options: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(options).map(([name, value]) => `${name}: ${value === undefined ? 'computed' : JSON.stringify(value)}`)

/** `only` and `except` of a router. Its constant lists of the actions that all types have are settings of octavo.config as well. */
function leftOut(plain: FoundCode, uid: string | null, selection: Readonly<Record<string, unknown>>): FoundCode {
  const lists = Object.values(selection)
  const isSetting = lists.length === 1 && Array.isArray(lists[0]) && lists[0].every((name) => coreActions.has(name as string))
  const found: FoundCode = { ...plain, kind: 'left-out routes', notes: describeOptions(selection) }
  return uid === null || !isSetting ? found : { ...found, selected: { uid, routes: selection } }
}

/** The actions of Strapi's core routers. */
const coreActions: ReadonlySet<string> = new Set(['find', 'findOne', 'create', 'update', 'delete'])

/** Each method of a controller by itself: `find` and `findOne` are what reads of its type do. */
function readController(plain: FoundCode, { run, effectsOf }: Reading): readonly FoundCode[] {
  const { path } = plain
  if (isGenerated(run, path)) return []
  const exported = load(path, run)
  const uid = isCore(exported) ? exported.uid : null
  const methods = methodsOf(run, path)
  if (methods.length === 0) return [{ ...plain, notes: ['methods cannot be read'] }]
  return methods.map(([action]) => {
    const find = (again: Run): unknown => methodsOf(again, path).find(([name]) => name === action)?.[1]
    return { ...plain, places: [{ uid, action }], effects: effectsOf({ find, uid }) }
  })
}
