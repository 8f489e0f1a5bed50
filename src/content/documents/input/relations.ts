// Forms of relations and media in a body: shorthand, longhand, set, connect, disconnect, positions.

import type { IssueCode } from '../../../foundation/errors/issues.js'
import { hiddenAttributes } from '../../../model/schema/conditions.js'
import { collectSchemas } from '../../../model/schema/graph.js'
import type { Attribute, Media, Model, MorphFrom, MorphTo, Relation, Schema } from '../../../model/schema/types.js'
import { isObject } from '../../../query/request.js'
import { isRequired, wholeError } from './errors.js'
import { isWritable } from './keys.js'
import type { AttributeError, Body, Checking, InputContext, Position, Reference, RelationInput, ValuePath } from './types.js'

/** A normalized relation; absent lists change nothing. */
export interface RelationForm {
  readonly set?: readonly unknown[]
  readonly connect?: readonly unknown[]
  readonly disconnect?: readonly unknown[]
}

const operations = ['set', 'connect', 'disconnect'] as const
const operationKeys = new Set<string>([...operations, 'options'])

/** An id that no row has. */
const missingRow = { id: -1 }

/** Normalizes all forms. Entries without a target remain for `relationProblem` to refuse. To-one relations are set to the last entry. */
export function relationForm(value: unknown, attribute: Attribute): RelationForm {
  const form = toForm(value)
  const isOne = attribute.kind === 'relation' && !attribute.many
  return isOne && form.set !== undefined ? { ...form, set: form.set.slice(-1) } : form
}

function toForm(value: unknown): RelationForm {
  if (value === null) return { set: [] }
  // As in Strapi, false is a missing target.
  if (value === false) return { set: [missingRow] }
  if (typeof value === 'string' || typeof value === 'number' || Array.isArray(value)) return { set: entries(value) }
  if (!isObject(value)) return {}
  if (Object.keys(value).every((key) => operationKeys.has(key)) || operations.some((key) => Object.hasOwn(value, key))) {
    const given = operations.filter((key) => value[key] !== null && value[key] !== undefined)
    return Object.fromEntries(given.map((key) => [key, entries(value[key])]))
  }
  return { set: entries(value) }
}

/** The entries of a list, without `false` and empty lists, so that `[isShown && id]` works. */
function entries(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) return value === null ? [] : [entryForm(value)]
  return value.filter((entry) => entry !== null && entry !== false && !(Array.isArray(entry) && entry.length === 0)).map(entryForm)
}

function entryForm(entry: unknown): unknown {
  if (typeof entry === 'number') return { id: entry }
  if (typeof entry === 'string') return /^\d{1,15}$/.test(entry) ? { id: Number(entry) } : { documentId: entry }
  return entry
}

/** True if every entry names a row or a document. */
export function namesTargets({ set, connect, disconnect }: RelationForm): boolean {
  return [...(set ?? []), ...(connect ?? []), ...(disconnect ?? [])].every(
    (entry) => isObject(entry) && (getDocumentId(entry) !== undefined || getId(entry) !== undefined),
  )
}

/** Converts a form whose entries all have targets. */
export function relationInput({ set, connect = [], disconnect = [] }: RelationForm): RelationInput {
  const [connected, disconnected] = [distinct(connect.map(reference)), distinct(disconnect.map(reference))]
  if (set === undefined) return { set: null, besideSet: [], connect: connected, disconnect: disconnected }
  // Disconnected rows need not exist.
  const besideSet = [...disconnected.filter(({ documentId }) => documentId !== undefined), ...connected]
  return { set: distinct(set.map(reference)), besideSet, connect: [], disconnect: [] }
}

/** Removes duplicates. The writer refuses the same target at different positions. */
function distinct(references: readonly Reference[]): readonly Reference[] {
  return [...new Map(references.map((found) => [JSON.stringify(found), found])).values()]
}

function getId({ id }: Body): number | undefined {
  if (typeof id === 'number') return id
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : undefined
}

const getDocumentId = ({ documentId }: Body): string | undefined =>
  typeof documentId === 'string' && documentId !== '' ? documentId : undefined

function reference(value: unknown): Reference {
  const entry = value as Body
  const position = toPosition(entry.position)
  return {
    ...target(entry),
    ...(typeof entry.status === 'string' && { status: entry.status }),
    ...(position !== undefined && { position }),
  }
}

function target(entry: Body): Reference {
  const [id, documentId] = [getId(entry), getDocumentId(entry)]
  return {
    ...(documentId === undefined ? { id: id! } : { documentId }),
    ...((typeof entry.locale === 'string' || entry.locale === null) && { locale: entry.locale }),
    ...(typeof entry.__type === 'string' && { type: entry.__type }),
  }
}

function toPosition(value: unknown): Position | undefined {
  if (!isObject(value)) return undefined
  const [before, after] = [toNeighbour(value.before), toNeighbour(value.after)]
  const position: Position = {
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
    ...(Boolean(value.start) && { start: true }),
    ...(Boolean(value.end) && { end: true }),
  }
  if (Object.keys(position).length === 0) return undefined
  return {
    ...position,
    ...(typeof value.status === 'string' && { status: value.status }),
    ...(typeof value.locale === 'string' && { locale: value.locale }),
    ...(typeof value.__type === 'string' && { type: value.__type }),
  }
}

/** The document in the position of `entry`, in the version of the position, else that of the entry. */
export function toSibling({ position, ...entry }: Reference, documentId: string): Reference {
  const [locale, status] = [position?.locale ?? entry.locale, position?.status ?? entry.status]
  return { documentId, ...(locale !== undefined && { locale }), ...(status !== undefined && { status }) }
}

/** The documentId or row id of a sibling in a position. */
function toNeighbour(value: unknown): string | number | undefined {
  const entry = entryForm(value)
  return isObject(entry) ? (getDocumentId(entry) ?? getId(entry)) : undefined
}

/** In the specification the last of several entries of a to-one relation counts; Strapi takes the first for the forms handled here. */
export const lastOnly = (form: RelationForm, { kind }: { readonly kind: string }): RelationForm => ({
  ...form,
  ...(form.connect !== undefined && { connect: form.connect.slice(-1) }),
  ...(form.set !== undefined && kind === 'morphFrom' && { set: form.set.slice(-1) }),
})

/** Errors of syntax that Strapi accepts and the specification forbids: rows 2, 3, 4 and 6 of `contract`. */
export function syntaxErrors(
  attribute: Relation | MorphTo | MorphFrom | Media,
  form: RelationForm,
  value: unknown,
  path: ValuePath,
): AttributeError[] {
  const changes = form.connect !== undefined || form.disconnect !== undefined
  const connected = (form.connect ?? []).filter(isObject)
  const wrong: readonly (readonly [boolean, IssueCode, string])[] = [
    [form.set !== undefined && changes, 'conflict', 'set cannot be combined with connect or disconnect'],
    [attribute.kind === 'media' && changes, 'unsupported', 'connect and disconnect cannot be used on media'],
    [hasTwins(connected), 'duplicate', 'You cannot connect the same relation twice.'],
    [
      connected.some(({ position }) => position !== undefined && !isPosition(position)),
      'format',
      'position must have exactly one of before, after, start and end',
    ],
  ]
  return wrong.flatMap(([isWrong, code, message]) => (isWrong ? [wholeError(path, message, { code }, value)] : []))
}

function hasTwins(connected: readonly Body[]): boolean {
  const names = connected.map((entry) => JSON.stringify(target(entry)))
  return new Set(names).size < names.length
}

function isPosition(value: unknown): boolean {
  if (!isObject(value) || Object.keys(value).filter((key) => key !== '__type').length !== 1) return false
  if (Object.hasOwn(value, 'start')) return value.start === true
  if (Object.hasOwn(value, 'end')) return value.end === true
  return toNeighbour(value.before ?? value.after) !== undefined
}

type Link = Relation | MorphTo | MorphFrom | Media

/** True for required links. The inverse side of a polymorphic relation stores none. */
export const isRequiredLink = ({ kind, required }: Attribute): boolean =>
  required && (kind === 'relation' || kind === 'media' || kind === 'morphTo')

const withRequiredLinks = new WeakMap<Schema, boolean>()

/** True if a shape, or a component nested in it, has required links. */
export function hasRequiredLinks(model: Model, shape: Schema): boolean {
  const known = withRequiredLinks.get(shape)
  if (known !== undefined) return known
  const has = collectSchemas(model, shape).some((one) =>
    [...one.attributes.values()].some((each) => isWritable(one, each) && isRequiredLink(each)),
  )
  withRequiredLinks.set(shape, has)
  return has
}

const withDraftTargets = new WeakMap<Schema, boolean>()

/** True if required relations of a shape, or of a nested component, have targets with Draft & Publish. */
export function leadsToDrafts(model: Model, shape: Schema): boolean {
  const known = withDraftTargets.get(shape)
  if (known !== undefined) return known
  const does = collectSchemas(model, shape).some((one) =>
    [...one.attributes.values()].some(
      (each) => each.kind === 'relation' && isRequiredLink(each) && model.types.get(each.target)?.draftAndPublish === true,
    ),
  )
  withDraftTargets.set(shape, does)
  return does
}

/** Errors of links that the body alone reveals; `disconnect` depends on stored links. */
export function checkRequiredLink(
  checking: Checking,
  attribute: Link,
  sent: unknown,
  form: RelationForm,
  path: ValuePath,
): AttributeError[] {
  if (checking.strictRelations !== true || checking.isDraft || !isRequiredLink(attribute)) return []
  if (sent === undefined) return checking.isCreation ? [undefinedLink(attribute, path)] : []
  // A new row ignores connected files (relations.10).
  const connected = attribute.kind === 'media' ? 0 : (form.connect ?? []).length
  const isLeft = form.set !== undefined ? form.set.length > 0 : connected > 0 || !checking.isCreation
  return isLeft ? [] : [undefinedLink(attribute, path, sent === null ? null : form)]
}

/** As in Strapi, the message contains only the name, even in components. */
const undefinedLink = ({ name }: Attribute, path: ValuePath, value?: unknown): AttributeError =>
  wholeError(path, `${name} must be defined.`, isRequired, value)

/** Missing required links of a stored document, which was read with the extent `required` (`readWhole`). */
export function missingLinks({ model, strictRelations }: InputContext, shape: Schema, document: Body): readonly AttributeError[] {
  if (strictRelations !== true || !hasRequiredLinks(model, shape)) return []
  return checkBelow(model, shape, document, [], (attribute, value, path) =>
    isRequiredLink(attribute) ? missingLink(attribute as Link, value, path) : [],
  )
}

/**
 * Empty required attributes of a stored document, also those that a publication accepts: links without `strictRelations`, and empty texts and
 * lists. The document was read with the extent `required`.
 */
export const emptyRequired = (model: Model, shape: Schema, document: Body): readonly AttributeError[] =>
  checkBelow(model, shape, document, [], (attribute, value, path) => {
    const isRequiredValue = attribute.required && attribute.kind !== 'morphFrom' && isEmpty(value)
    return isRequiredValue ? [wholeError(path, `${attribute.name} is empty`, isRequired)] : []
  })

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)

/** Checks the visible attributes of a stored document and of its components. */
function checkBelow(
  model: Model,
  shape: Schema,
  body: Body,
  path: ValuePath,
  check: (attribute: Attribute, value: unknown, path: ValuePath) => readonly AttributeError[],
): readonly AttributeError[] {
  const hidden = hiddenAttributes(shape, body)
  return [...shape.attributes.values()].flatMap((attribute) => {
    const { name } = attribute
    if (hidden.has(name) || !isWritable(shape, attribute)) return []
    const own = check(attribute, body[name], [...path, name])
    if (attribute.kind !== 'component' && attribute.kind !== 'dynamiczone') return own
    const below = entriesOf(body[name], [...path, name]).flatMap(([entry, at]) => {
      const uid = attribute.kind === 'component' ? attribute.component : String(entry.__component)
      const component = model.components.get(uid)
      return component === undefined ? [] : checkBelow(model, component, entry, at, check)
    })
    return [...own, ...below]
  })
}

function missingLink(attribute: Link, value: unknown, path: ValuePath): readonly AttributeError[] {
  const isThere = Array.isArray(value) ? value.length > 0 : isObject(value)
  return isThere ? [] : [undefinedLink(attribute, path, attribute.many ? { set: [] } : null)]
}

function entriesOf(value: unknown, path: ValuePath): readonly (readonly [Body, ValuePath])[] {
  if (Array.isArray(value)) return value.flatMap((entry, index) => (isObject(entry) ? [[entry, [...path, index]] as const] : []))
  return isObject(value) ? [[value, path]] : []
}
