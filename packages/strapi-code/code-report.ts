// The code that Octavo does not run, as lines for the log, and the defaults for octavo.config that take the place of some of it.
import type { QueryChange } from './effects.js'
import type { FoundCode, FoundRoute } from './found-code.js'

/** One line for the log. */
export interface CodeLine {
  readonly path: string
  /** Routes in Strapi, such as `find of api::page.page`. */
  readonly on?: readonly string[]
  /** Effects that the text shows. */
  readonly does?: readonly string[]
  /** The part of octavo.config that takes its place, if the text shows all that it needs. */
  readonly types?: Readonly<Record<string, object>>
  /** The kind of code and its replacement. */
  readonly message: string
  /** It has no effect in Strapi either, or octavo.config already has what takes its place. */
  readonly isSettled: boolean
}

/** Defaults for a content-type, with the files that set them in Strapi. */
export interface SuggestedDefaults {
  readonly uid: string
  readonly defaults: Readonly<Record<string, unknown>>
  readonly paths: readonly string[]
  /** `find` or `findOne`, by parameters that only one of them sets. */
  readonly onlyIn: Readonly<Record<string, string>>
}

/** Settings of octavo.config. */
export interface Configured {
  /** The names of defaults, by uid. */
  readonly defaults: Readonly<Record<string, readonly string[]>>
  /** Types whose routes are selected: their uids. */
  readonly selections: readonly string[]
  /** Custom routes: `GET /films/now-showing`. */
  readonly routes: readonly string[]
  /** The routes of content-types, `GET /films/:`, with their uids. */
  readonly contentRoutes: Readonly<Record<string, string>>
}

/** No settings. */
export const notConfigured: Configured = { defaults: {}, selections: [], routes: [], contentRoutes: {} }

const messages: Readonly<Record<FoundCode['kind'], string>> = {
  policy: 'policy that is not run: types.<uid>.policies and scope of octavo.config take its place',
  middleware: 'middleware that is not run: types.<uid>.defaults, reads, policies and scope of octavo.config take its place',
  routes: 'settings of routes that have no effect: check the permissions of the roles',
  'left-out routes': 'routes that are left out in Strapi and exist here: types.<uid>.routes of octavo.config leaves them out, too',
  'custom routes': 'custom routes that do not exist: routes of octavo.config take their place',
  controller: 'controller that is not run: types.<uid>.reads, hooks and routes of octavo.config take its place',
  service: 'service that is not run: functions that octavo.config imports take its place; hooks, if it changes what is written',
  lifecycle: 'lifecycle hooks that are not run: hooks of octavo.config take their place',
  start:
    'register or bootstrap that is not run: hooks and schedules of octavo.config take the place of document middlewares and cron jobs, scripts of the rest',
  extension: 'extension of a plugin that is not run: routes of octavo.config can take its place, under paths of their own',
  plugin: 'plugin that is not run',
  cron: 'cron tasks that are not run: schedules of octavo.config take their place',
}

/** Lines in the order of the files; pieces of one file that do the same are one line. */
export function toLines(found: readonly FoundCode[], configured: Configured): readonly CodeLine[] {
  const lines = new Map<string, CodeLine>()
  for (const line of found.flatMap((code) => toCodeLines(code, configured))) {
    const key = JSON.stringify([line.path, line.message, line.does])
    const known = lines.get(key)
    lines.set(
      key,
      known === undefined
        ? line
        : { ...known, on: [...(known.on ?? []), ...(line.on ?? [])], isSettled: known.isSettled && line.isSettled },
    )
  }
  return [...lines.values()]
}

function toCodeLines(code: FoundCode, configured: Configured): readonly CodeLine[] {
  const { path, routes } = code
  if (routes === undefined) return [toLine(code, configured)]
  const isContent = ({ name }: FoundRoute): boolean => configured.contentRoutes[toRouteKey(name)] !== undefined
  const others = routes.filter((route) => !isContent(route))
  return [
    ...routes.filter(isContent).map((route) => toReplacedRouteLine(path, route, configured)),
    ...(others.length === 0 ? [] : [toRoutesLine(path, others, configured)]),
  ]
}

/** A custom route at a path of a content-type: Octavo serves the content-type there, also where the code refuses requests. */
function toReplacedRouteLine(path: string, { name, isOpen }: FoundRoute, { contentRoutes }: Configured): CodeLine {
  return {
    path,
    does: [`has ${name}${isOpen ? ' (auth: false)' : ''}`],
    message: `custom route in the place of one of ${contentRoutes[toRouteKey(name)]}, which Octavo serves there, without the code, the policies and the middlewares of the custom one: types.<uid>.routes of octavo.config leaves the route out, policies and scope protect it`,
    isSettled: false,
  }
}

function toLine(code: FoundCode, configured: Configured): CodeLine {
  const { path, kind, places, selected } = code
  const does = describeEffects(code)
  const isUnused = places !== null && places.length === 0
  return {
    path,
    ...(places === null || isUnused ? {} : { on: places.map(({ uid, action }) => (uid === null ? action : `${action} of ${uid}`)) }),
    ...(does.length === 0 ? {} : { does }),
    ...(selected === undefined ? {} : { types: { [selected.uid]: { routes: selected.routes } } }),
    message: isUnused ? `${kind} that no route names: Strapi does not run it either` : messages[kind],
    isSettled: isUnused || isReplaced(code, configured),
  }
}

/** Custom routes that octavo.config does not have; all of them, if it has each. */
function toRoutesLine(path: string, routes: readonly FoundRoute[], configured: Configured): CodeLine {
  const has = new Set(configured.routes.map(withoutNames))
  const missing = routes.filter(({ name }) => !has.has(withoutNames(name)))
  const isSettled = missing.length === 0
  const named = (isSettled ? routes : missing).map(({ name, isOpen }) => (isOpen ? `${name} (auth: false)` : name))
  return {
    path,
    does: [`has ${named.join(', ')}`],
    message: isSettled ? 'custom routes that octavo.config has as well' : messages['custom routes'],
    isSettled,
  }
}

/** A route without the names of its parameters, which may be others in octavo.config. */
const withoutNames = (route: string): string => route.replace(/:\w+/g, ':')

/** The same, as the routes of content-types are called. */
const toRouteKey = (route: string): string => {
  const [method = '', path = ''] = withoutNames(route).split(' ')
  return `${method} ${path.toLowerCase().replace(/\/$/, '')}`
}

/** True if octavo.config already has all effects of the code as defaults or route selections. */
function isReplaced({ selected, effects, notes, places }: FoundCode, configured: Configured): boolean {
  if (selected !== undefined) return configured.selections.includes(selected.uid)
  const { changes, removes, adds, refuses, responds } = effects
  if (changes.length === 0 || removes.length > 0 || adds.length > 0 || refuses || responds || notes.length > 0 || !effects.isFollowed)
    return false
  return (places ?? []).every(({ uid }) =>
    changes.every(({ parameter }) => uid !== null && configured.defaults[uid]?.includes(parameter) === true),
  )
}

const hows: Readonly<Record<QueryChange['how'], string>> = { sets: 'sets', default: 'sets', adds: 'adds to', removes: 'removes' }

function describeEffects({ effects, notes }: FoundCode): readonly string[] {
  const { changes, removes, adds, refuses, looksAtUser, responds, isFollowed } = effects
  const phrases = changes.map(({ parameter, how, value, isConditional }) => {
    const computed = how !== 'removes' && value === undefined ? ', computed' : ''
    return `${hows[how]} ${parameter}${how === 'default' ? ' where a request has none' : ''}${computed}${isConditional ? ', under a condition' : ''}`
  })
  return [
    ...new Set(phrases),
    ...(removes.length > 0 ? [`removes the attributes ${removes.join(', ')}`] : []),
    ...(adds.length > 0 ? [`may add ${adds.join(', ')}`] : []),
    ...(refuses ? ['may refuse requests'] : []),
    ...(looksAtUser ? ['looks at the user'] : []),
    ...(responds ? ['writes the response'] : []),
    ...notes,
    ...(isFollowed ? [] : ['cannot be followed']),
  ]
}

/** Parameters that defaults have. */
const defaultable = new Set(['populate', 'filters', 'fields', 'sort', 'locale', 'status'])

interface SetParameter {
  readonly value: unknown
  readonly path: string
  /** All actions set the same constant. */
  readonly isClear: boolean
  readonly actions: ReadonlySet<string>
}

/** The defaults that take the place of constant values, of reads of types; those that octavo.config has are left out. */
export function suggestDefaults(found: readonly FoundCode[], configured: Configured): readonly SuggestedDefaults[] {
  const values = new Map<string, Map<string, SetParameter>>()
  for (const { path, places, effects } of found) {
    for (const { uid, action } of places ?? []) {
      if (uid === null || (action !== 'find' && action !== 'findOne')) continue
      const known = values.get(uid) ?? new Map()
      values.set(uid, known)
      for (const { parameter, how, value, isConditional } of effects.changes) {
        const isClear = value !== undefined && !isConditional && (how === 'sets' || how === 'default')
        const before = known.get(parameter)
        const isSame = before === undefined || JSON.stringify(before.value) === JSON.stringify(value)
        const actions = new Set([...(before?.actions ?? []), action])
        known.set(parameter, { value, path, isClear: isClear && isSame && (before?.isClear ?? true), actions })
      }
    }
  }
  return [...values].flatMap(([uid, known]) => {
    const has = new Set(configured.defaults[uid])
    const clear = [...known].filter(([name, { isClear }]) => isClear && defaultable.has(name) && !has.has(name))
    const defaults = Object.fromEntries(clear.map(([name, { value }]) => [name, value]))
    const onlyIn = Object.fromEntries(clear.flatMap(([name, { actions }]) => (actions.size === 1 ? [[name, [...actions][0]!]] : [])))
    return clear.length === 0 ? [] : [{ uid, defaults, paths: [...new Set(clear.map(([, { path }]) => path))], onlyIn }]
  })
}
