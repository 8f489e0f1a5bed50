// `fields` and `populate` in all their forms become the levels of the response. One walk: relations whose target the caller may not find are
// left out here, so nothing has to be removed from the response.
import { type ApiError, inputError, invalidKey, validationError } from '../../foundation/errors/errors.js'
import { isPolymorphicTarget } from '../../model/schema/link.js'
import {
  type Attribute,
  assertNever,
  type Component,
  type ContentType,
  type DynamicZone,
  type MorphTo,
  type Scalar,
  type Schema,
} from '../../model/schema/types.js'
import type { Filter, Populated, Selection, SortKey } from '../request.js'
import { isObject, stateName } from '../request.js'
import { readFilters } from './filters.js'
import {
  chargeNode,
  deferError,
  enterTarget,
  enterType,
  forbid,
  getRank,
  getTarget,
  hasState,
  inParameter,
  isPublic,
  isReadable,
  isVisible,
  mayFind,
  mayTraverse,
  type Resolver,
  readSort,
  splitPath,
} from './resolve.js'

/** The position of a name, and its form: a dot path or a key of an object. */
interface NamePosition {
  /** The attributes before it: from the root for keys, from the start of its dot path for names. */
  readonly path: readonly string[]
  /** The attributes before the start of a dot path. */
  readonly above: readonly string[]
  /** The same position as the query string writes it: `mentor.populate.photo`. */
  readonly written: string
  /** `list`: one text with commas, whose private attributes are left out and not refused. */
  readonly form: 'names' | 'list' | 'keys'
}

type PopulatableAttribute = Exclude<Attribute, { kind: 'scalar' }>
type ParentPath = Pick<NamePosition, 'path' | 'written'>
const root: ParentPath = { path: [], written: '' }

const levelKeys: ReadonlySet<string> = new Set(['populate', 'fields', 'filters', 'sort', 'count', 'on'])

/**
 * Reads a `populate` parameter of `shape`.
 * @throws ApiError 400 for unknown names and keys.
 */
export function readPopulate(walk: Resolver, shape: Schema, node: unknown, above: ParentPath = root): readonly Populated[] {
  if (node === undefined || node === null) return []
  if (node === '' && above === root) return []
  if (typeof node === 'string') return readNames(walk, shape, [node], above)
  if (Array.isArray(node)) {
    if (node.some((entry) => typeof entry !== 'string')) throw malformedPopulate()
    return readNames(walk, shape, node as string[], above)
  }
  if (!isObject(node)) throw malformedPopulate()
  return readKeys(walk, shape, node, { ...above, above: [], form: 'keys' })
}

const malformedPopulate = (): ApiError =>
  inputError('Invalid populate parameter. Expected a string, an array of strings, a populate object', ['populate'], 'type', {
    expected: 'string',
  })

/** `*`: every relation, media, component and zone of this level, with scalars only. */
function populateAll(walk: Resolver, shape: Schema, above: readonly string[]): readonly Populated[] {
  return [...shape.attributes.values()].flatMap((attribute) =>
    attribute.kind === 'scalar' || !isVisible(walk, attribute)
      ? []
      : readAttribute(walk, attribute, true, { path: [...above, attribute.name], above: [], written: attribute.name, form: 'keys' }, shape),
  )
}

type Tree = { [name: string]: true | { populate: Tree } }

/**
 * Texts of names: `a,b.c`, or a list of them. Dot paths become nested keys: every level on the way is populated. A list entry with
 * one plain name replaces the levels below it. A single path through a type that the caller may not find populates nothing at all;
 * one of several in a text ends before that type.
 */
function readNames(walk: Resolver, shape: Schema, entries: readonly string[], { path: above }: ParentPath): readonly Populated[] {
  if (entries.length === 1 && entries[0] === '*') return populateAll(walk, shape, above)
  const tree: Tree = Object.create(null)
  // Checked, but not populated.
  const hidden: Tree = Object.create(null)
  for (const entry of entries) {
    const names = entry.split(',')
    // As in Strapi, the first path is followed up to the comma: if it crosses such a relation, nothing of the text is populated.
    const before = splitPath(entry.slice(0, entry.indexOf(',') + 1)).slice(0, -1)
    const isLost = names.length > 1 && countPermittedSteps(walk, shape, before) < before.length
    for (const name of names) {
      const steps = splitPath(name)
      const open = isLost ? 0 : countPermittedSteps(walk, shape, steps)
      if (open === steps.length || names.length > 1) addPath(tree, steps.slice(0, open), names.length === 1)
      // Entries that are left out, or replaced by a later one, are checked as well.
      if (open < steps.length || entries.length > 1) addPath(hidden, steps, false)
    }
  }
  const form = entries.length === 1 && entries[0]!.includes(',') ? 'list' : 'names'
  const position: NamePosition = { path: [], above, written: above.join('.'), form }
  readKeys(walk, shape, hidden, position)
  const found = readKeys(walk, shape, tree, position)
  if (above.length > 0) for (const entry of entries) refuseList(walk, shape, entry, above)
  return found
}

function addPath(tree: Tree, steps: readonly string[], replaces: boolean): void {
  let level = tree
  for (const [index, step] of steps.entries()) {
    const below = level[step]
    if (index === steps.length - 1) {
      if (replaces || below === undefined) level[step] = true
      return
    }
    const next: { populate: Tree } = below === undefined || below === true ? { populate: Object.create(null) } : below
    level[step] = next
    level = next.populate
  }
}

/** Below an attribute a text is a single path: a comma is part of an unknown name. */
function refuseList(walk: Resolver, shape: Schema, entry: string, above: readonly string[]): void {
  if (entry !== '' && !entry.includes(',')) return
  let here: Schema | undefined = shape
  const path = [...above]
  for (const step of entry.split('.')) {
    const attribute: Attribute | undefined = here?.attributes.get(step)
    if (attribute === undefined || attribute.kind === 'scalar') throw invalidKey(walk.param, step, path.join('.'))
    here = attribute.kind === 'dynamiczone' || attribute.kind === 'morphTo' ? undefined : getTarget(walk.model, attribute)
    path.push(step)
  }
}

/** The number of steps before one that needs a permission which the caller lacks. */
function countPermittedSteps(walk: Resolver, shape: Schema, steps: readonly string[]): number {
  const [name, ...rest] = steps
  const attribute = name === undefined ? undefined : shape.attributes.get(name)
  if (attribute === undefined || attribute.kind === 'scalar' || attribute.kind === 'morphTo' || attribute.kind === 'dynamiczone')
    return steps.length
  return mayTraverse(walk, attribute) ? 1 + countPermittedSteps(walk, getTarget(walk.model, attribute), rest) : 0
}

function readKeys(walk: Resolver, shape: Schema, node: Readonly<Record<string, unknown>>, position: NamePosition): readonly Populated[] {
  return Object.entries(node).flatMap(([name, value]) => {
    if (position.form === 'keys' && !shape.attributes.has(name)) {
      if (name !== 'on' && levelKeys.has(name)) {
        // Keys of a level have no effect among the names of attributes, but are checked.
        readLevel(walk, shape, { [name]: value }, position, shape)
        return []
      }
      // Entries of a list among them are ignored: `populate[0]=author&populate[gallery]=true`.
      if (isSwitchedOn(name) || isSwitchedOff(name)) return []
    }
    if (shape.unstored.has(name)) return []
    const written = position.written === '' ? name : `${position.written}.populate.${name}`
    const attribute = findPopulatable(walk, shape, name, { ...position, written })
    const path = [...position.path, name]
    if (walk.seen === null ? attribute.private : !isVisible(walk, attribute)) {
      if (position.form !== 'list') forbid(walk, attribute, invalidKey(walk.param, name, [...position.above, ...path].join('.')))
      return []
    }
    if (attribute.kind === 'media' && position.form !== 'keys' && isObject(value)) throw invalidKey(walk.param, name, path.join('.'))
    if (isSwitchedOff(value)) return []
    const level = isSwitchedOn(value) ? true : value
    return readAttribute(walk, attribute, level, { ...position, path, written }, shape)
  })
}

/** `position.written`: that of the name. @throws ApiError 400 for unknown names, scalars, and the ids, which are not attributes */
function findPopulatable(walk: Resolver, shape: Schema, name: string, position: NamePosition): PopulatableAttribute {
  const attribute = shape.attributes.get(name)
  const isKey = position.form === 'keys'
  const path = [...position.path, name]
  if (attribute === undefined || name === 'id' || name === 'documentId') {
    if (name === 'on' && isKey) throw invalidKey(walk.param, name, position.written)
    const parent = isKey ? position.path : path
    throw invalidKey(walk.param, name, parent.length === 0 ? null : parent.join('.'))
  }
  if (attribute.kind === 'scalar') throw invalidKey(walk.param, name, isKey ? position.written : path.join('.'))
  return attribute
}

const isSwitchedOn = (value: unknown): boolean => value === true || value === 'true' || value === 't' || value === '1'
const isSwitchedOff = (value: unknown): boolean => value === false || value === 'false' || value === 'f' || value === '0'

/** One attribute with its level; nothing if the caller may not see its target. */
function readAttribute(
  walk: Resolver,
  attribute: PopulatableAttribute,
  value: unknown,
  position: NamePosition,
  owner: Schema,
): readonly Populated[] {
  chargeNode(walk)
  switch (attribute.kind) {
    case 'dynamiczone':
      return [{ kind: 'zone', attribute, on: readZone(walk, attribute, value, position, owner) }]
    case 'morphTo':
      return readMorph(walk, attribute, value, position)
    case 'component':
    case 'relation':
    case 'morphFrom':
    case 'media': {
      const target = getTarget(walk.model, attribute)
      if (value === '*' && !mayTraverse(walk, attribute)) return []
      const level = readLevel(walk.seen === null ? walk : enterTarget(walk, attribute, target), target, value, position, owner)
      if (isRoleOfUsers(attribute, owner) && position.above.length + position.path.length > 1) return []
      if (level.count && attribute.kind !== 'media') {
        if (!mayTraverse(walk, attribute)) return []
        return [{ kind: 'count', attribute, target, filter: level.filter }]
      }
      const { filter, sort, of } = level
      if (attribute.kind === 'component') return [{ kind: 'component', attribute, filter, sort, of }]
      if (!mayTraverse(walk, attribute)) return []
      return [
        {
          kind: 'relation',
          attribute,
          target: target as ContentType,
          filter,
          sort,
          of: attribute.kind === 'morphFrom' ? withLocale(enterTarget(walk, attribute, target), of) : of,
        },
      ]
    }
    default:
      return assertNever(attribute)
  }
}

/** The users of a role are not shown if the role itself is populated, as in Strapi. */
const isRoleOfUsers = (attribute: Attribute, owner: Schema): boolean =>
  owner.uid === 'plugin::users-permissions.role' && attribute.name === 'users'

/** Targets of a polymorphic relation show their locale, even if their type has none, and so do their targets. */
function withLocale(walk: Resolver, of: Selection): Selection {
  const locale = of.shape.attributes.get('locale')
  const isWhole = of.fields.length === readableFields(walk, of.shape).length
  const fields = locale?.kind === 'scalar' && isWhole && !of.fields.includes(locale) ? [...of.fields, locale] : of.fields
  const populate = of.populate.map((populated): Populated => {
    if (populated.kind === 'count') return populated
    const below = (one: Selection) => withLocale(enterTarget(walk, populated.attribute, one.shape), one)
    if (populated.kind === 'zone' || populated.kind === 'morph') return { ...populated, on: populated.on.map(below) }
    return { ...populated, of: below(populated.of) }
  })
  return { ...of, fields, populate }
}

interface PopulateLevel {
  readonly filter: Filter | null
  readonly sort: readonly SortKey[]
  readonly of: Selection
  readonly count: boolean
}

/** The level of one populated attribute: true, `*`, or an object of fields, filters, sort, populate, count. */
function readLevel(walk: Resolver, target: Schema, value: unknown, position: NamePosition, owner: Schema): PopulateLevel {
  const plain = { filter: null, sort: [], of: { shape: target, fields: readableFields(walk, target), populate: [] }, count: false }
  if (value === true) return plain
  if (value === '*') {
    refuseStar(walk, target, position)
    return plain
  }
  const level = toLevelObject(value, position)
  const { filter, sort, fields, populate } = readLevelKeys(walk, target, level, position, owner)
  // Rows of several kinds are in the order of their links: their sort keys are not shown.
  const isUnsorted = position.path.at(-1) === 'localizations' || position.written.endsWith(']')
  const shown = isUnsorted ? fields : withSorted(walk, target, fields, sort)
  return {
    filter,
    sort,
    of: { shape: target, fields: shown, populate, ...readStateField(walk, target, level.fields) },
    count: isSwitchedOn(level.count),
  }
}

const malformedLevel = (message: string, path: readonly string[]): ApiError =>
  inputError(message, ['populate', ...path], 'type', { expected: 'object' })

/** Names instead of an object count as keys. @throws ApiError 400 for other values */
function toLevelObject(value: unknown, { path }: NamePosition): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value
  if (value === null) throw malformedLevel(`Invalid populate of ${path.join('.')}`, path)
  const names = Array.isArray(value) ? value : [value]
  if (Array.isArray(value) && names.some((entry) => typeof entry !== 'string' || isSwitchedOn(entry)))
    throw malformedLevel("Invalid nested populate. Expected '*' or an object", path)
  return Object.fromEntries(names.map((name) => [String(name), true]))
}

function readLevelKeys(walk: Resolver, target: Schema, level: Readonly<Record<string, unknown>>, position: NamePosition, owner: Schema) {
  const path = position.path.join('.')
  const within = <T>(read: (inside: Resolver) => T): T => inParameter({ ...walk, dropsRestricted: true }, walk.param, read)
  let filter: Filter | null = null
  let sort: readonly SortKey[] = []
  let fields = readableFields(walk, target)
  let populate: readonly Populated[] = []
  // Checked in the order of the query string: the first error is reported.
  for (const [key, given] of Object.entries(level)) {
    if (key === 'filters') filter = given === '' ? null : within((inside) => readFilters(inside, target, given))
    else if (key === 'sort') sort = within((inside) => readSort(inside, target, given))
    else if (key === 'fields') fields = within((inside) => readFields(inside, target, given))
    else if (key === 'populate') populate = readBelow(walk, target, given, position)
    else if (key === 'on') refuseOn(walk, given, position, owner)
    else if (key !== 'count') throw invalidKey(walk.param, key, target.attributes.has(key) ? `${path}.${key}` : path)
    else if (given !== undefined && !isSwitchedOn(given) && !isSwitchedOff(given))
      throw invalidKey(walk.param, 'count', path === '' ? null : path)
  }
  return { filter, sort, fields, populate }
}

/** The `populate` of a level: the rest of a dot path, or a parameter. */
const readBelow = (walk: Resolver, target: Schema, node: unknown, position: NamePosition): readonly Populated[] =>
  position.form === 'keys' ? readPopulate(walk, target, node, position) : readKeys(walk, target, (node ?? {}) as Tree, position)

/** `populate[a]=*` means all attributes of `a`: refused if one of them would have to be populated. */
function refuseStar(walk: Resolver, target: Schema, position: NamePosition): void {
  for (const attribute of target.attributes.values()) {
    if (attribute.kind === 'scalar' || !isVisible(walk, attribute)) continue
    const path = `${position.path.join('.')}.${attribute.name}`
    const message = `Invalid key ${attribute.name} at ${path}`
    const error = validationError(message, { key: attribute.name, path })
    deferError(walk, 'populate', error.because([{ path: ['populate', ...position.path], message, code: 'unsupported' }]))
    return
  }
}

function refuseOn(walk: Resolver, on: unknown, position: NamePosition, owner: Schema): void {
  const path = position.path.join('.')
  if (!isObject(on)) throw invalidKey(walk.param, 'on', `${position.written}.on`)
  for (const uid of Object.keys(on)) {
    if (!walk.model.components.has(uid) && !walk.model.types.has(uid)) throw invalidKey(walk.param, uid, `${path}.on.${uid}`)
  }
  const message = `Using fragments is not permitted to populate "${position.path.at(-1)}" in "${owner.uid}"`
  deferError(walk, 'populate', inputError(message, ['populate', ...position.path, 'on'], 'unsupported'))
}

/** The components of a zone: all of them, or the ones listed in `on`. */
function readZone(here: Resolver, zone: DynamicZone, value: unknown, position: NamePosition, owner: Schema): readonly Selection[] {
  const components = zone.components.map((uid) => here.model.components.get(uid)!)
  // Grants of a zone are for all attributes of all its components.
  const walk = components[0] === undefined ? here : enterTarget(here, zone, components[0])
  const plain = (populate: (component: Component) => readonly Populated[]) =>
    components.map((component) => ({ shape: component, fields: readableFields(walk, component), populate: populate(component) }))
  if (value === true) return plain(() => [])
  const path = position.path.join('.')
  const found = isObject(value) ? value : null
  if (position.form !== 'keys') return plain(namesBelowZone(walk, components, found?.populate as Tree, position))
  if (found !== null && found.populate !== undefined && found.populate !== '*') throw invalidKey(walk.param, 'populate', path)
  if (found !== null && found.on !== undefined)
    return readFragments(walk, found.on, position, (uid) => components.find((component) => component.uid === uid))
  if (found !== null && found.populate === '*') return plain((component) => populateAll(walk, component, position.path))
  if (found !== null && found.count !== undefined) return plain(() => [])
  const owned = 'singularName' in owner ? owner.singularName : owner.name
  const shown = typeof value === 'string' ? JSON.stringify(value) : JSON.stringify(value ?? null)
  const message = `Invalid nested populate for ${owned}.${zone.name} (${owner.uid}). Expected a fragment ("on") or "count" but found ${shown}`
  deferError(walk, 'populate', malformedLevel(message, position.path))
  return []
}

/** `zone.attribute`: populated in every component that has it. */
function namesBelowZone(walk: Resolver, components: readonly Component[], tree: Tree, position: NamePosition) {
  for (const name of Object.keys(tree)) {
    if (components.some(({ attributes, unstored }) => attributes.has(name) || unstored.has(name))) continue
    const path = [...position.path, name].join('.')
    throw invalidKey(walk.param, name, path)
  }
  return (component: Component): readonly Populated[] => {
    const known = Object.entries(tree).filter(([name]) => component.attributes.has(name))
    return readKeys(walk, component, Object.fromEntries(known), position)
  }
}

/** `on`: one level per uid; others are left out. */
function readFragments(
  walk: Resolver,
  on: unknown,
  position: NamePosition,
  allowed: (uid: string) => Schema | undefined,
): readonly Selection[] {
  const path = position.path.join('.')
  if (on === null || on === '') return []
  if (Array.isArray(on)) throw invalidKey(walk.param, '0', `${path}.on.0`)
  if (!isObject(on)) throw invalidKey(walk.param, 'on', `${path}.on`)
  return Object.entries(on).flatMap(([uid, value]) => {
    const known = walk.model.components.get(uid) ?? walk.model.types.get(uid)
    if (known === undefined) throw invalidKey(walk.param, uid, `${path}.on.${uid}`)
    // A named component is included, even if its value is false.
    const below = { ...position, written: `${position.written}.on[${uid}]` }
    const at = known.kind === 'contentType' ? enterType(walk, known) : walk
    const level = readLevel(at, known, isSwitchedOn(value) || isSwitchedOff(value) ? true : value, below, known)
    const { of, filter } = level
    const versions = isSwitchedOn(value) ? 'any' : 'status'
    return allowed(uid) === undefined ? [] : [{ ...of, filter, ...(known.kind === 'contentType' && { versions }) }]
  })
}

/** A morphTo shows rows of any type that the caller may find. */
function readMorph(walk: Resolver, attribute: MorphTo, value: unknown, position: NamePosition): readonly Populated[] {
  const types = [...walk.model.types.values()].filter((type) => isPolymorphicTarget(type) && mayFind(walk, type.uid))
  if (value === true) {
    const versions = position.form === 'list' ? 'status' : 'any'
    const shown = (type: ContentType): Selection => ({
      shape: type,
      fields: readableFields(enterType(walk, type), type),
      populate: [],
      versions,
    })
    return [{ kind: 'morph', attribute, on: types.map(shown) }]
  }
  const path = position.path.join('.')
  if (position.form !== 'keys') throw invalidKey(walk.param, attribute.name, path)
  const found = isObject(value) ? value : {}
  if (found.populate !== undefined && found.populate !== '*') throw invalidKey(walk.param, 'populate', path)
  if (isSwitchedOn(found.count)) return [{ kind: 'count', attribute, target: null, filter: null, of: types }]
  if (found.on === undefined) return []
  const on = readFragments(walk, found.on, position, (uid) => types.find((type) => type.uid === uid))
  return on.length === 0 ? [] : [{ kind: 'morph', attribute, on }]
}

/** All scalars that a caller sees without `fields`, in the order of the model. */
export function readableFields(walk: Resolver, shape: Schema): readonly Scalar[] {
  return [...shape.attributes.values()].filter(walk.seen === null ? isPublic : (attribute) => isReadable(walk, attribute)) as Scalar[]
}

/** All scalars of a level that callers of the content API see. */
export const publicFields = (shape: Schema): readonly Scalar[] => [...shape.attributes.values()].filter(isPublic)

/**
 * Reads a `fields` parameter of `shape`: `*`, `a,b`, or a list of names.
 * @throws ApiError 400 for names that are not readable scalars.
 */
export function readFields(walk: Resolver, shape: Schema, node: unknown): readonly Scalar[] {
  if (node === undefined || node === null) return readableFields(walk, shape)
  const names = typeof node === 'string' ? node.split(',') : node
  const refused = () => deferError(walk, getRank(walk, 'fields'), malformedFields())
  if (!Array.isArray(names)) {
    refused()
    return []
  }
  const wanted = new Set<string>()
  for (const name of names) {
    if (name === null) continue
    if (typeof name !== 'string') {
      refused()
      continue
    }
    if (typeof node !== 'string' && name.includes(',')) {
      for (const part of name.split(',')) checkName(walk, shape, part.trim())
      refused()
      continue
    }
    wanted.add(checkName(walk, shape, name.trim()))
  }
  const fields = readableFields(walk, shape)
  return wanted.has('*') ? fields : fields.filter(({ name }) => name === 'id' || name === 'documentId' || wanted.has(name))
}

/** The state among the fields of a level; types without drafts have none. */
export function readStateField(walk: Resolver, shape: Schema, node: unknown): Pick<Selection, 'state'> {
  const names = typeof node === 'string' ? node.split(',') : Array.isArray(node) ? node : []
  return hasState(walk, shape) && names.includes(stateName) ? { state: { model: walk.model } } : {}
}

/** The fields, and the rows' own attributes among the sort keys. */
export function withSorted(walk: Resolver, shape: Schema, fields: readonly Scalar[], sort: readonly SortKey[]): readonly Scalar[] {
  const sorted = sort.filter(({ path, attribute }) => path.length === 0 && !fields.includes(attribute)).map(({ attribute }) => attribute)
  return sorted.length === 0 ? fields : readableFields(walk, shape).filter((field) => fields.includes(field) || sorted.includes(field))
}

const malformedFields = () =>
  inputError('Invalid fields parameter. Expected a string or an array of strings', ['fields'], 'type', { expected: 'string' })

function checkName(walk: Resolver, shape: Schema, name: string): string {
  if (name === '*' || (name === stateName && walk.seen !== null)) return name
  const attribute = shape.attributes.get(name)
  if (attribute === undefined) {
    const unknown = invalidKey(walk.param, name, null)
    if (!(name in Object.prototype)) throw unknown
    deferError(walk, getRank(walk, 'fields'), unknown)
    return name
  }
  if (attribute.kind !== 'scalar') throw invalidKey(walk.param, name, name)
  const isHidden = walk.seen === null ? !isPublic(attribute) : !isReadable(walk, attribute)
  if (isHidden) forbid(walk, attribute, invalidKey(walk.param, name, name), 'field')
  return name
}
