// `populate` in all its forms becomes the levels of the answer. One walk: a relation whose target the caller may not
// find is left out here, so nothing has to be taken away from the answer.
import { type ApiError, invalidKey, validationError } from '../errors.js'
import type { Attribute, Component, ContentType, DynamicZone, MorphTo } from '../model/types.js'
import { unreachable } from '../model/types.js'
import { readableFields, readFields, withSorted } from './fields.js'
import { readFilters } from './filters.js'
import { isObject } from './parameters.js'
import type { Reading } from './reading.js'
import { insidePopulate, maySee, spend, stepsOf, targetOf } from './reading.js'
import type { Filter, Populated, Selection, SortKey } from './request.js'
import { readSort } from './sort.js'

type Shape = ContentType | Component

/** Where a name stands, and whether it came as a dot path or as a key of an object. */
interface Place {
  /** The attributes above it: from the root for keys, from the start of its dot path for names. */
  readonly path: readonly string[]
  /** What stands above the start of a dot path. */
  readonly above: readonly string[]
  readonly form: 'names' | 'keys'
}

const levelKeys = ['populate', 'fields', 'filters', 'sort', 'count', 'on'] as const

/**
 * Reads a `populate` parameter of `shape`.
 * @throws ApiError 400 for names that lead nowhere and for keys that no level has.
 */
export function readPopulate(reading: Reading, shape: Shape, node: unknown, path: readonly string[] = []): readonly Populated[] {
  if (node === undefined || node === null) return []
  if (typeof node === 'string') {
    if (node === '*') return populateAll(reading, shape)
    if (path.length === 0) return node === '' ? [] : readNames(reading, shape, node.split(','), path)
    if (node === '' || node.includes(',')) throw invalidKey(reading.param, node, path.join('.'))
    return readNames(reading, shape, [node], path)
  }
  if (Array.isArray(node)) {
    const names = node.flatMap((entry) => {
      if (typeof entry !== 'string') throw malformed()
      return entry.split(',')
    })
    if (names.length === 1 && names[0] === '*') return populateAll(reading, shape)
    return readNames(reading, shape, names, path)
  }
  if (!isObject(node)) throw malformed()
  return readKeys(reading, shape, node, { path, above: [], form: 'keys' })
}

const malformed = (): ApiError => validationError('Invalid populate parameter. Expected a string, an array of strings, a populate object')

/** `*`: every relation, media, component and zone of this level, with scalars only. */
function populateAll(reading: Reading, shape: Shape): readonly Populated[] {
  return [...shape.attributes.values()].flatMap((attribute) =>
    attribute.kind === 'scalar' || attribute.private
      ? []
      : fill(reading, attribute, true, { path: [attribute.name], above: [], form: 'keys' }, shape),
  )
}

type Tree = { [name: string]: true | { populate: Tree } }

/**
 * Dot paths become nested keys: every level on the way is populated; a later plain name replaces what it had below.
 * A path that ends at what the caller may not find populates nothing on its way either.
 */
function readNames(reading: Reading, shape: Shape, names: readonly string[], above: readonly string[]): readonly Populated[] {
  const tree: Tree = Object.create(null)
  const hidden: Tree = Object.create(null)
  for (const name of names) {
    const steps = stepsOf(name)
    let level = leadsSomewhere(reading, shape, steps) ? tree : hidden
    for (const [index, step] of steps.entries()) {
      if (index === steps.length - 1) {
        level[step] = true
        continue
      }
      const below = level[step]
      const next: { populate: Tree } = below === undefined || below === true ? { populate: Object.create(null) } : below
      level[step] = next
      level = next.populate
    }
  }
  const place: Place = { path: [], above, form: 'names' }
  readKeys(reading, shape, hidden, place)
  return readKeys(reading, shape, tree, place)
}

/** False where a step of the path needs a permission that the caller lacks. */
function leadsSomewhere(reading: Reading, shape: Shape, steps: readonly string[]): boolean {
  const [name, ...rest] = steps
  const attribute = name === undefined ? undefined : shape.attributes.get(name)
  if (attribute === undefined || attribute.kind === 'scalar' || attribute.kind === 'morphTo' || attribute.kind === 'dynamiczone')
    return true
  return isVisible(reading, attribute) && leadsSomewhere(reading, targetOf(reading.model, attribute), rest)
}

function readKeys(reading: Reading, shape: Shape, node: Readonly<Record<string, unknown>>, place: Place): readonly Populated[] {
  return Object.entries(node).flatMap(([name, value]) => {
    const attribute = shape.attributes.get(name)
    const here = [...place.path, name]
    if (attribute === undefined) {
      const path = place.form === 'names' ? here : place.path
      throw invalidKey(reading.param, name, path.length === 0 ? null : path.join('.'))
    }
    if (attribute.kind === 'scalar' || attribute.private) throw invalidKey(reading.param, name, [...place.above, ...here].join('.'))
    if (isSwitchedOff(value)) return []
    return fill(reading, attribute, isSwitchedOn(value) ? true : value, { ...place, path: here }, shape)
  })
}

const isSwitchedOn = (value: unknown): boolean => value === true || value === 'true' || value === 't' || value === '1'
const isSwitchedOff = (value: unknown): boolean => value === false || value === 'false' || value === 'f' || value === '0'

/** One attribute with what its level says; nothing where the caller may not see its target. */
function fill(
  reading: Reading,
  attribute: Exclude<Attribute, { kind: 'scalar' }>,
  value: unknown,
  place: Place,
  owner: Shape,
): readonly Populated[] {
  spend(reading)
  switch (attribute.kind) {
    case 'dynamiczone':
      return [{ kind: 'zone', attribute, on: readZone(reading, attribute, value, place, owner) }]
    case 'morphTo':
      return readMorph(reading, attribute, value, place)
    case 'component':
    case 'relation':
    case 'morphFrom':
    case 'media': {
      const target = targetOf(reading.model, attribute)
      if (value === '*' && !isVisible(reading, attribute)) return []
      const level = readLevel(reading, target, value, place, owner)
      if (level.count && attribute.kind !== 'media') {
        if (!isVisible(reading, attribute)) return []
        return [{ kind: 'count', attribute, target, filter: level.filter }]
      }
      const { filter, sort, of } = level
      if (attribute.kind === 'component') return [{ kind: 'component', attribute, filter, sort, of }]
      if (!isVisible(reading, attribute)) return []
      return [
        {
          kind: 'relation',
          attribute,
          target: target as ContentType,
          filter,
          sort,
          of: attribute.kind === 'morphFrom' ? withLocale(of) : of,
        },
      ]
    }
    default:
      return unreachable(attribute)
  }
}

function isVisible(reading: Reading, attribute: Attribute): boolean {
  if (attribute.kind === 'morphFrom') return maySee(reading, attribute.target)
  if (attribute.kind !== 'relation') return true
  // The other locales of a document need no permission of their own; creators are shown where the schema says so.
  if (attribute.storage.kind === 'localizations' || attribute.name === 'createdBy' || attribute.name === 'updatedBy') return true
  return maySee(reading, attribute.target)
}

/** Rows behind a polymorphic relation show their locale, also where their type has none. */
function withLocale(of: Selection): Selection {
  const locale = of.shape.attributes.get('locale')
  if (locale?.kind !== 'scalar' || of.fields.includes(locale) || of.fields.length < readableFields(of.shape).length) return of
  return { ...of, fields: [...of.fields, locale] }
}

interface Level {
  readonly filter: Filter | null
  readonly sort: readonly SortKey[]
  readonly of: Selection
  readonly count: boolean
}

/** What stands under one populated attribute: true, `*`, or an object of fields, filters, sort, populate, count. */
function readLevel(reading: Reading, target: Shape, value: unknown, place: Place, owner: Shape): Level {
  const plain = { filter: null, sort: [], of: { shape: target, fields: readableFields(target), populate: [] }, count: false }
  if (value === true) return plain
  if (value === '*') {
    refuseStar(target, place)
    return plain
  }
  const path = place.path.join('.')
  if (Array.isArray(value) && value.some((entry) => typeof entry !== 'string'))
    throw validationError("Invalid nested populate. Expected '*' or an object")
  if (value === null) throw validationError(`Invalid populate of ${path}`)
  const level = isObject(value) ? value : Object.fromEntries((Array.isArray(value) ? value : [value]).map((name) => [String(name), true]))
  for (const key of Object.keys(level)) {
    if ((levelKeys as readonly string[]).includes(key)) continue
    throw invalidKey(reading.param, key, target.attributes.has(key) ? `${path}.${key}` : path)
  }
  if (level.on !== undefined) refuseFragments(reading, level.on, place, owner)
  if (level.count !== undefined && !isSwitchedOn(level.count) && !isSwitchedOff(level.count)) throw invalidKey(reading.param, 'count', path)
  const sort = readSort(insidePopulate(reading), target, level.sort)
  const fields = readFields(reading, target, level.fields)
  return {
    filter: level.filters === '' ? null : readFilters(insidePopulate(reading), target, level.filters),
    sort,
    of: {
      shape: target,
      fields: place.path.at(-1) === 'localizations' ? fields : withSorted(target, fields, sort),
      populate:
        place.form === 'names'
          ? readKeys(reading, target, (level.populate ?? {}) as Tree, place)
          : readPopulate(reading, target, level.populate, place.path),
    },
    count: isSwitchedOn(level.count),
  }
}

/** `populate[a]=*` means all attributes of `a`: refused where one of them cannot be had without populating it. */
function refuseStar(target: Shape, place: Place): void {
  for (const attribute of target.attributes.values()) {
    if (attribute.kind === 'scalar' || attribute.private) continue
    const path = `${place.path.join('.')}.${attribute.name}`
    throw validationError(`Invalid key ${attribute.name} at ${path}`, { key: attribute.name, path })
  }
}

function refuseFragments(reading: Reading, on: unknown, place: Place, owner: Shape): void {
  const path = place.path.join('.')
  for (const uid of isObject(on) ? Object.keys(on) : []) {
    if (!reading.model.components.has(uid) && !reading.model.types.has(uid)) throw invalidKey(reading.param, uid, `${path}.on.${uid}`)
  }
  reading.late.push(validationError(`Using fragments is not permitted to populate "${place.path.at(-1)}" in "${owner.uid}"`))
}

/** The components of a zone: all with the shared strategy, the listed ones with `on`. */
function readZone(reading: Reading, zone: DynamicZone, value: unknown, place: Place, owner: Shape): readonly Selection[] {
  const components = zone.components.map((uid) => reading.model.components.get(uid)!)
  const plain = (populate: (component: Component) => readonly Populated[]) =>
    components.map((component) => ({ shape: component, fields: readableFields(component), populate: populate(component) }))
  if (value === true) return plain(() => [])
  const path = place.path.join('.')
  const found = isObject(value) ? value : null
  if (place.form === 'names') return plain(namesBelowZone(reading, components, found?.populate as Tree, place))
  if (found !== null && found.populate !== undefined && found.populate !== '*') throw invalidKey(reading.param, 'populate', path)
  if (found !== null && found.on !== undefined)
    return readFragments(reading, found.on, place, (uid) => components.find((component) => component.uid === uid))
  if (found !== null && found.populate === '*') return plain((component) => populateAll(reading, component))
  if (found !== null && found.count !== undefined) return plain(() => [])
  const owned = 'singularName' in owner ? owner.singularName : owner.name
  const shown = typeof value === 'string' ? JSON.stringify(value) : JSON.stringify(value ?? null)
  throw validationError(
    `Invalid nested populate for ${owned}.${zone.name} (${owner.uid}). Expected a fragment ("on") or "count" but found ${shown}`,
  )
}

/** `zone.attribute`: populated in every component that has it. */
function namesBelowZone(reading: Reading, components: readonly Component[], tree: Tree, place: Place) {
  for (const name of Object.keys(tree)) {
    if (components.some((component) => component.attributes.has(name))) continue
    const path = [...place.path, name].join('.')
    throw invalidKey(reading.param, name, path)
  }
  return (component: Component): readonly Populated[] => {
    const known = Object.entries(tree).filter(([name]) => component.attributes.has(name))
    return readKeys(reading, component, Object.fromEntries(known), place)
  }
}

/** `on`: one level per uid; what is not listed is left out. */
function readFragments(reading: Reading, on: unknown, place: Place, allowed: (uid: string) => Shape | undefined): readonly Selection[] {
  const path = place.path.join('.')
  if (on === null || on === '') return []
  if (!isObject(on)) throw invalidKey(reading.param, 'on', `${path}.on`)
  return Object.entries(on).flatMap(([uid, value]) => {
    const known = reading.model.components.get(uid) ?? reading.model.types.get(uid)
    if (known === undefined) throw invalidKey(reading.param, uid, `${path}.on.${uid}`)
    // Naming a component lists it, whatever the switch says.
    const level = readLevel(reading, known, isSwitchedOn(value) || isSwitchedOff(value) ? true : value, place, known)
    return allowed(uid) === undefined ? [] : [level.of]
  })
}

/** A morphTo shows rows of any type that the caller may find. */
function readMorph(reading: Reading, attribute: MorphTo, value: unknown, place: Place): readonly Populated[] {
  const visible = (uid: string) => (maySee(reading, uid) ? reading.model.types.get(uid) : undefined)
  if (value === true) {
    const types = [...reading.model.types.values()].filter(({ uid }) => !uid.startsWith('admin::') && maySee(reading, uid))
    return [
      { kind: 'morph', attribute, versions: 'any', on: types.map((type) => ({ shape: type, fields: readableFields(type), populate: [] })) },
    ]
  }
  const path = place.path.join('.')
  if (place.form === 'names') throw invalidKey(reading.param, attribute.name, path)
  const found = isObject(value) ? value : {}
  if (found.populate !== undefined && found.populate !== '*') throw invalidKey(reading.param, 'populate', path)
  if (isSwitchedOn(found.count)) return attribute.many ? [{ kind: 'count', attribute, target: null, filter: null }] : []
  if (found.on === undefined) return []
  const on = readFragments(reading, found.on, place, visible)
  return on.length === 0 ? [] : [{ kind: 'morph', attribute, versions: 'status', on }]
}
