// `populate` in all its forms becomes the levels of the answer. One walk: a relation whose target the caller may not
// find is left out here, so nothing has to be taken away from the answer.
import { type ApiError, invalidKey, validationError } from '../../foundation/errors/errors.js'
import { isPolymorphicTarget } from '../../model/schema/link.js'
import type { Attribute, Component, ContentType, DynamicZone, MorphTo, Schema } from '../../model/schema/types.js'
import { assertNever } from '../../model/schema/types.js'
import type { Filter, Populated, Selection, SortKey } from '../request.js'
import { readableFields, readFields, withSorted } from './fields.js'
import { readFilters } from './filters.js'
import { isObject } from './parameters.js'
import type { Resolver } from './resolve.js'
import { atType, beyond, chargeNode, deferError, forbid, insidePopulate, isOpen, isShown, maySee, stepsOf, targetOf } from './resolve.js'
import { readSort } from './sort.js'

/** Where a name stands, and whether it came as a dot path or as a key of an object. */
interface NamePlace {
  /** The attributes above it: from the root for keys, from the start of its dot path for names. */
  readonly path: readonly string[]
  /** What stands above the start of a dot path. */
  readonly above: readonly string[]
  /** The same place as the query string writes it: `mentor.populate.photo`. */
  readonly written: string
  /** `list`: one text with commas, of which private attributes are left out and not refused. */
  readonly form: 'names' | 'list' | 'keys'
}

/** The attribute below which a `populate` stands. */
type Above = Pick<NamePlace, 'path' | 'written'>
const root: Above = { path: [], written: '' }

const levelKeys: ReadonlySet<string> = new Set(['populate', 'fields', 'filters', 'sort', 'count', 'on'])

/**
 * Reads a `populate` parameter of `shape`.
 * @throws ApiError 400 for names that lead nowhere and for keys that no level has.
 */
export function readPopulate(reading: Resolver, shape: Schema, node: unknown, above: Above = root): readonly Populated[] {
  if (node === undefined || node === null) return []
  if (node === '' && above === root) return []
  if (typeof node === 'string') return readNames(reading, shape, [node], above)
  if (Array.isArray(node)) {
    if (node.some((entry) => typeof entry !== 'string')) throw malformed()
    return readNames(reading, shape, node as string[], above)
  }
  if (!isObject(node)) throw malformed()
  return readKeys(reading, shape, node, { ...above, above: [], form: 'keys' })
}

const malformed = (): ApiError => validationError('Invalid populate parameter. Expected a string, an array of strings, a populate object')

/** `*`: every relation, media, component and zone of this level, with scalars only. */
function populateAll(reading: Resolver, shape: Schema, above: readonly string[]): readonly Populated[] {
  return [...shape.attributes.values()].flatMap((attribute) =>
    attribute.kind === 'scalar' || !isShown(reading, attribute)
      ? []
      : fill(reading, attribute, true, { path: [...above, attribute.name], above: [], written: attribute.name, form: 'keys' }, shape),
  )
}

type Tree = { [name: string]: true | { populate: Tree } }

/**
 * Texts of names: `a,b.c`, or a list of such. Dot paths become nested keys: every level on the way is populated. An entry of
 * a list that is one plain name replaces what it had below. A path of its own that leads to what the caller may not find
 * populates nothing on its way either; one of several in a text ends before it.
 */
function readNames(reading: Resolver, shape: Schema, entries: readonly string[], { path: above }: Above): readonly Populated[] {
  if (entries.length === 1 && entries[0] === '*') return populateAll(reading, shape, above)
  const tree: Tree = Object.create(null)
  // What is looked at, and not populated.
  const hidden: Tree = Object.create(null)
  for (const entry of entries) {
    const names = entry.split(',')
    // As in Strapi, the first path is followed until a comma: if it meets such a relation before, nothing of the text is populated.
    const before = stepsOf(entry.slice(0, entry.indexOf(',') + 1)).slice(0, -1)
    const isLost = names.length > 1 && openSteps(reading, shape, before) < before.length
    for (const name of names) {
      const steps = stepsOf(name)
      const open = isLost ? 0 : openSteps(reading, shape, steps)
      if (open === steps.length || names.length > 1) grow(tree, steps.slice(0, open), names.length === 1)
      // What is left out, or replaced by a later entry, is looked at as well.
      if (open < steps.length || entries.length > 1) grow(hidden, steps, false)
    }
  }
  const form = entries.length === 1 && entries[0]!.includes(',') ? 'list' : 'names'
  const place: NamePlace = { path: [], above, written: above.join('.'), form }
  readKeys(reading, shape, hidden, place)
  const found = readKeys(reading, shape, tree, place)
  if (above.length > 0) for (const entry of entries) refuseList(reading, shape, entry, above)
  return found
}

function grow(tree: Tree, steps: readonly string[], replaces: boolean): void {
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

/** Below an attribute a text names one path: a comma is part of a name that nothing has. */
function refuseList(reading: Resolver, shape: Schema, entry: string, above: readonly string[]): void {
  if (entry !== '' && !entry.includes(',')) return
  let here: Schema | undefined = shape
  const path = [...above]
  for (const step of entry.split('.')) {
    const attribute: Attribute | undefined = here?.attributes.get(step)
    if (attribute === undefined || attribute.kind === 'scalar') throw invalidKey(reading.param, step, path.join('.'))
    here = attribute.kind === 'dynamiczone' || attribute.kind === 'morphTo' ? undefined : targetOf(reading.model, attribute)
    path.push(step)
  }
}

/** How many steps of the path come before one that needs a permission which the caller lacks. */
function openSteps(reading: Resolver, shape: Schema, steps: readonly string[]): number {
  const [name, ...rest] = steps
  const attribute = name === undefined ? undefined : shape.attributes.get(name)
  if (attribute === undefined || attribute.kind === 'scalar' || attribute.kind === 'morphTo' || attribute.kind === 'dynamiczone')
    return steps.length
  return isOpen(reading, attribute) ? 1 + openSteps(reading, targetOf(reading.model, attribute), rest) : 0
}

function readKeys(reading: Resolver, shape: Schema, node: Readonly<Record<string, unknown>>, place: NamePlace): readonly Populated[] {
  return Object.entries(node).flatMap(([name, value]) => {
    const attribute = shape.attributes.get(name)
    const here = [...place.path, name]
    const isName = place.form !== 'keys'
    if (attribute === undefined && !isName && name !== 'on' && levelKeys.has(name)) {
      // What belongs to a level has no effect beside the names of attributes, and is looked at all the same.
      readLevel(reading, shape, { [name]: value }, place, shape)
      return []
    }
    // So are the entries of a list that stand beside them: `populate[0]=author&populate[gallery]=true`.
    if (attribute === undefined && !isName && (isSwitchedOn(name) || isSwitchedOff(name))) return []
    if (shape.unstored.has(name)) return []
    // The ids are no attributes.
    if (attribute === undefined || name === 'id' || name === 'documentId') {
      const path = isName ? here : place.path
      if (name === 'on' && !isName) throw invalidKey(reading.param, name, place.written === '' ? name : `${place.written}.populate.on`)
      throw invalidKey(reading.param, name, path.length === 0 ? null : path.join('.'))
    }
    const written = place.written === '' ? name : `${place.written}.populate.${name}`
    if (attribute.kind === 'scalar') throw invalidKey(reading.param, name, isName ? here.join('.') : written)
    if (reading.seen === null ? attribute.private : !isShown(reading, attribute)) {
      if (place.form === 'list') return []
      forbid(reading, attribute, invalidKey(reading.param, name, [...place.above, ...here].join('.')))
      return []
    }
    if (attribute.kind === 'media' && isName && isObject(value)) throw invalidKey(reading.param, name, here.join('.'))
    if (isSwitchedOff(value)) return []
    return fill(reading, attribute, isSwitchedOn(value) ? true : value, { ...place, path: here, written }, shape)
  })
}

const isSwitchedOn = (value: unknown): boolean => value === true || value === 'true' || value === 't' || value === '1'
const isSwitchedOff = (value: unknown): boolean => value === false || value === 'false' || value === 'f' || value === '0'

/** One attribute with what its level says; nothing where the caller may not see its target. */
function fill(
  reading: Resolver,
  attribute: Exclude<Attribute, { kind: 'scalar' }>,
  value: unknown,
  place: NamePlace,
  owner: Schema,
): readonly Populated[] {
  chargeNode(reading)
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
      if (value === '*' && !isOpen(reading, attribute)) return []
      const level = readLevel(reading.seen === null ? reading : beyond(reading, attribute, target), target, value, place, owner)
      if (isRoleOfUsers(attribute, owner) && place.above.length + place.path.length > 1) return []
      if (level.count && attribute.kind !== 'media') {
        if (!isOpen(reading, attribute)) return []
        return [{ kind: 'count', attribute, target, filter: level.filter }]
      }
      const { filter, sort, of } = level
      if (attribute.kind === 'component') return [{ kind: 'component', attribute, filter, sort, of }]
      if (!isOpen(reading, attribute)) return []
      return [
        {
          kind: 'relation',
          attribute,
          target: target as ContentType,
          filter,
          sort,
          of: attribute.kind === 'morphFrom' ? withLocale(beyond(reading, attribute, target), of) : of,
        },
      ]
    }
    default:
      return assertNever(attribute)
  }
}

/** Which users have a role is not shown where the role itself is populated, as in Strapi. */
const isRoleOfUsers = (attribute: Attribute, owner: Schema): boolean =>
  owner.uid === 'plugin::users-permissions.role' && attribute.name === 'users'

/** Rows behind a polymorphic relation show their locale, also where their type has none, and so do the rows behind them. */
function withLocale(reading: Resolver, of: Selection): Selection {
  const locale = of.shape.attributes.get('locale')
  const isWhole = of.fields.length === readableFields(reading, of.shape).length
  const fields = locale?.kind === 'scalar' && isWhole && !of.fields.includes(locale) ? [...of.fields, locale] : of.fields
  const populate = of.populate.map((populated): Populated => {
    if (populated.kind === 'count') return populated
    const below = (one: Selection) => withLocale(beyond(reading, populated.attribute, one.shape), one)
    if (populated.kind === 'zone' || populated.kind === 'morph') return { ...populated, on: populated.on.map(below) }
    return { ...populated, of: below(populated.of) }
  })
  return { ...of, fields, populate }
}

interface PopulatedLevel {
  readonly filter: Filter | null
  readonly sort: readonly SortKey[]
  readonly of: Selection
  readonly count: boolean
}

/** What stands under one populated attribute: true, `*`, or an object of fields, filters, sort, populate, count. */
function readLevel(reading: Resolver, target: Schema, value: unknown, place: NamePlace, owner: Schema): PopulatedLevel {
  const plain = { filter: null, sort: [], of: { shape: target, fields: readableFields(reading, target), populate: [] }, count: false }
  if (value === true) return plain
  if (value === '*') {
    refuseStar(reading, target, place)
    return plain
  }
  const path = place.path.join('.')
  if (Array.isArray(value) && value.some((entry) => typeof entry !== 'string' || isSwitchedOn(entry)))
    throw validationError("Invalid nested populate. Expected '*' or an object")
  if (value === null) throw validationError(`Invalid populate of ${path}`)
  const level = isObject(value) ? value : Object.fromEntries((Array.isArray(value) ? value : [value]).map((name) => [String(name), true]))
  const inside = insidePopulate(reading)
  let filter: Filter | null = null
  let sort: readonly SortKey[] = []
  let fields = readableFields(reading, target)
  let populate: readonly Populated[] = []
  // What stands first is looked at first.
  for (const [key, given] of Object.entries(level)) {
    if (key === 'filters') filter = given === '' ? null : readFilters(inside, target, given)
    else if (key === 'sort') sort = readSort(inside, target, given)
    else if (key === 'fields') fields = readFields(reading, target, given)
    else if (key === 'populate') populate = readBelow(reading, target, given, place)
    else if (key === 'on') refuseFragments(reading, given, place, owner)
    else if (key !== 'count') throw invalidKey(reading.param, key, target.attributes.has(key) ? `${path}.${key}` : path)
    else if (given !== undefined && !isSwitchedOn(given) && !isSwitchedOff(given))
      throw invalidKey(reading.param, 'count', path === '' ? null : path)
  }
  // Rows of several kinds come in the order of their links: what they are asked to be sorted by is not shown.
  const keepsFields = place.path.at(-1) === 'localizations' || place.written.endsWith(']')
  const shown = keepsFields ? fields : withSorted(reading, target, fields, sort)
  return { filter, sort, of: { shape: target, fields: shown, populate }, count: isSwitchedOn(level.count) }
}

/** The `populate` of a level: names of a dot path, or what a query string says. */
const readBelow = (reading: Resolver, target: Schema, node: unknown, place: NamePlace): readonly Populated[] =>
  place.form === 'keys' ? readPopulate(reading, target, node, place) : readKeys(reading, target, (node ?? {}) as Tree, place)

/** `populate[a]=*` means all attributes of `a`: refused where one of them cannot be had without populating it. */
function refuseStar(reading: Resolver, target: Schema, place: NamePlace): void {
  for (const attribute of target.attributes.values()) {
    if (attribute.kind === 'scalar' || !isShown(reading, attribute)) continue
    const path = `${place.path.join('.')}.${attribute.name}`
    deferError(reading, 'populate', validationError(`Invalid key ${attribute.name} at ${path}`, { key: attribute.name, path }))
    return
  }
}

function refuseFragments(reading: Resolver, on: unknown, place: NamePlace, owner: Schema): void {
  const path = place.path.join('.')
  if (!isObject(on)) throw invalidKey(reading.param, 'on', `${place.written}.on`)
  for (const uid of Object.keys(on)) {
    if (!reading.model.components.has(uid) && !reading.model.types.has(uid)) throw invalidKey(reading.param, uid, `${path}.on.${uid}`)
  }
  const message = `Using fragments is not permitted to populate "${place.path.at(-1)}" in "${owner.uid}"`
  deferError(reading, 'populate', validationError(message))
}

/** The components of a zone: all with the shared strategy, the listed ones with `on`. */
function readZone(here: Resolver, zone: DynamicZone, value: unknown, place: NamePlace, owner: Schema): readonly Selection[] {
  const components = zone.components.map((uid) => here.model.components.get(uid)!)
  // All components of a zone have the same attributes granted: all of theirs.
  const reading = components[0] === undefined ? here : beyond(here, zone, components[0])
  const plain = (populate: (component: Component) => readonly Populated[]) =>
    components.map((component) => ({ shape: component, fields: readableFields(reading, component), populate: populate(component) }))
  if (value === true) return plain(() => [])
  const path = place.path.join('.')
  const found = isObject(value) ? value : null
  if (place.form !== 'keys') return plain(namesBelowZone(reading, components, found?.populate as Tree, place))
  if (found !== null && found.populate !== undefined && found.populate !== '*') throw invalidKey(reading.param, 'populate', path)
  if (found !== null && found.on !== undefined)
    return readFragments(reading, found.on, place, (uid) => components.find((component) => component.uid === uid))
  if (found !== null && found.populate === '*') return plain((component) => populateAll(reading, component, place.path))
  if (found !== null && found.count !== undefined) return plain(() => [])
  const owned = 'singularName' in owner ? owner.singularName : owner.name
  const shown = typeof value === 'string' ? JSON.stringify(value) : JSON.stringify(value ?? null)
  const message = `Invalid nested populate for ${owned}.${zone.name} (${owner.uid}). Expected a fragment ("on") or "count" but found ${shown}`
  deferError(reading, 'populate', validationError(message))
  return []
}

/** `zone.attribute`: populated in every component that has it. */
function namesBelowZone(reading: Resolver, components: readonly Component[], tree: Tree, place: NamePlace) {
  for (const name of Object.keys(tree)) {
    if (components.some(({ attributes, unstored }) => attributes.has(name) || unstored.has(name))) continue
    const path = [...place.path, name].join('.')
    throw invalidKey(reading.param, name, path)
  }
  return (component: Component): readonly Populated[] => {
    const known = Object.entries(tree).filter(([name]) => component.attributes.has(name))
    return readKeys(reading, component, Object.fromEntries(known), place)
  }
}

/** `on`: one level per uid; what is not listed is left out. */
function readFragments(
  reading: Resolver,
  on: unknown,
  place: NamePlace,
  allowed: (uid: string) => Schema | undefined,
): readonly Selection[] {
  const path = place.path.join('.')
  if (on === null || on === '') return []
  if (Array.isArray(on)) throw invalidKey(reading.param, '0', `${path}.on.0`)
  if (!isObject(on)) throw invalidKey(reading.param, 'on', `${path}.on`)
  return Object.entries(on).flatMap(([uid, value]) => {
    const known = reading.model.components.get(uid) ?? reading.model.types.get(uid)
    if (known === undefined) throw invalidKey(reading.param, uid, `${path}.on.${uid}`)
    // Naming a component lists it, whatever the switch says.
    const below = { ...place, written: `${place.written}.on[${uid}]` }
    const at = known.kind === 'contentType' ? atType(reading, known) : reading
    const level = readLevel(at, known, isSwitchedOn(value) || isSwitchedOff(value) ? true : value, below, known)
    const { of, filter } = level
    const versions = isSwitchedOn(value) ? 'any' : 'status'
    return allowed(uid) === undefined ? [] : [{ ...of, filter, ...(known.kind === 'contentType' && { versions }) }]
  })
}

/** A morphTo shows rows of any type that the caller may find. */
function readMorph(reading: Resolver, attribute: MorphTo, value: unknown, place: NamePlace): readonly Populated[] {
  const types = [...reading.model.types.values()].filter((type) => isPolymorphicTarget(type) && maySee(reading, type.uid))
  if (value === true) {
    const versions = place.form === 'list' ? 'status' : 'any'
    const shown = (type: ContentType): Selection => ({
      shape: type,
      fields: readableFields(atType(reading, type), type),
      populate: [],
      versions,
    })
    return [{ kind: 'morph', attribute, on: types.map(shown) }]
  }
  const path = place.path.join('.')
  if (place.form !== 'keys') throw invalidKey(reading.param, attribute.name, path)
  const found = isObject(value) ? value : {}
  if (found.populate !== undefined && found.populate !== '*') throw invalidKey(reading.param, 'populate', path)
  if (isSwitchedOn(found.count)) return [{ kind: 'count', attribute, target: null, filter: null, of: types }]
  if (found.on === undefined) return []
  const on = readFragments(reading, found.on, place, (uid) => types.find((type) => type.uid === uid))
  return on.length === 0 ? [] : [{ kind: 'morph', attribute, on }]
}
