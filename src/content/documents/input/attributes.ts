// Validates a type or component against the model: scalars by the rules of their types (`model/types`), lists, nested components, dynamic
// zones, and conditional attributes.
import { type Bound, bindTimestamp, type Stored } from '../../../database/portable-sql.js'
import { takenMessage } from '../../../foundation/errors/errors.js'
import { hasConditionalAttributes, hiddenAttributes } from '../../../model/schema/conditions.js'
import { createPatternChecks } from '../../../model/schema/patterns.js'
import {
  type Attribute,
  assertNever,
  type ComponentAttribute,
  type ContentType,
  type DynamicZone,
  type Model,
  type Scalar,
  type Schema,
} from '../../../model/schema/types.js'
import type { InputForm } from '../../../model/types/attribute-type.js'
import { attributeTypes } from '../../../model/types/attribute-types.js'
import { isObject } from '../../../query/request.js'
import { checkBlocks } from './blocks.js'
import { attributeError, checkEach, choiceError, inFieldOrder, isRequired, settlePatterns, typeError, wholeError } from './errors.js'
import { isWritable } from './keys.js'
import { checkRequiredLink, lastOnly, namesTargets, type RelationForm, relationForm, syntaxErrors } from './relations.js'
import type { AttributeError, Body, Checked, Checking, Input, PossibleError, ValuePath } from './types.js'

/** A body after casting and defaults, with certain and possible errors. */
interface CheckedBody {
  readonly value: Body
  readonly errors: readonly PossibleError[]
}

/** Validates a body, then its patterns that need a deadline, within a single one. */
export function checkBody(checking: Checking, shape: Schema, body: Body): CheckedBody {
  const { trials = createPatternChecks() } = checking
  const { value, errors } = checkShape({ ...checking, trials }, shape, body, [])
  return { value, errors: settlePatterns(trials, errors) }
}

/** Validates the value of each attribute of `shape`; the result contains casts and defaults. */
function checkShape(checking: Checking, shape: Schema, body: Body, path: ValuePath): CheckedBody {
  const value: Record<string, unknown> = { ...body }
  const groups = new Map<string, readonly PossibleError[]>()
  const { hidden, revealed } = getVisibility(checking, shape, body, path)
  for (const attribute of shape.attributes.values()) {
    if (!isWritable(shape, attribute)) continue
    const { name } = attribute
    if (path.length === 0 && checking.inherited?.has(name)) {
      delete value[name]
      continue
    }
    const at = [...path, name]
    if (revealed.has(name)) {
      groups.set(name, checkAttribute(asStored(checking), attribute, checking.stored?.[name], at).errors)
      continue
    }
    const strictness = hidden.has(name) ? { ...checking, isDraft: true, isHidden: true } : checking
    const checked = checkAttribute(strictness, attribute, Object.hasOwn(body, name) ? body[name] : undefined, at)
    if (checked.value !== undefined) value[name] = checked.value
    groups.set(name, checked.errors)
  }
  return { value, errors: inFieldOrder(path, groups) }
}

/** Checks stored values as strictly as on publishing. */
const asStored = (checking: Checking): Checking => ({ ...checking, isStored: true, isCreation: true })

function checkAttribute(checking: Checking, attribute: Attribute, sent: unknown, path: ValuePath): Checked {
  switch (attribute.kind) {
    case 'scalar':
      return checkScalar(checking, attribute, orNull(checking, sent), path)
    case 'component':
      if (attribute.repeatable) return checkList(checking, attribute, sent, path)
      return checkSingle(checking, attribute, orNull(checking, sent), path)
    case 'dynamiczone':
      return checkList(checking, attribute, sent, path)
    case 'relation':
    case 'morphTo':
    case 'morphFrom':
    case 'media': {
      if (checking.isStored) return { value: sent, errors: [] }
      const form = sent === undefined ? {} : relationForm(sent, attribute)
      const lacks = checkRequiredLink(checking, attribute, sent, form, path)
      if (sent === undefined) return { value: sent, errors: lacks }
      if (!checking.contract.strictRelationSyntax) return { value: form, errors: lacks }
      const value = attribute.many ? form : lastOnly(form, attribute)
      return { value, errors: [...syntaxErrors(attribute, form, sent, path), ...lacks] }
    }
    default:
      return assertNever(attribute)
  }
}

/** Absent attributes of a stored document are null. */
const orNull = ({ isStored }: Checking, sent: unknown): unknown => (sent === undefined && isStored ? null : sent)

function checkSingle(checking: Checking, attribute: ComponentAttribute, sent: unknown, path: ValuePath): Checked {
  const isMandatory = attribute.required && !checking.isDraft
  if (sent === undefined) return { value: sent, errors: isMandatory ? missing(checking, sent, path) : [] }
  if (sent === null && !isMandatory) return { value: null, errors: [] }
  if (!isObject(sent)) return { value: sent, errors: [typeError(path, 'object', sent, sent)] }
  return checkEntry(checking, attribute, sent, path)
}

/**
 * Row 16: null empties a list, unless it is required; other lists cannot be null, not even in drafts, where their length is not checked.
 */
function checkList(checking: Checking, attribute: ComponentAttribute | DynamicZone, sent: unknown, path: ValuePath): Checked {
  const mayLack = !attribute.required || checking.isHidden === true
  const isEmpty = sent === undefined ? checking.isCreation && mayLack : sent === null && mayBeEmptied(checking, attribute)
  const given = isEmpty ? [] : sent
  if (given === undefined) return { value: given, errors: missing(checking, given, path) }
  if (!Array.isArray(given)) return { value: given, errors: [typeError(path, 'array', given, given)] }
  const { values: value, errors } = checkEach(given, (entry, index) =>
    attribute.kind === 'component'
      ? checkEntry(checking, attribute, entry, [...path, index])
      : checkZoneEntry(checking, attribute, entry, [...path, index]),
  )
  return { value, errors: [...errors, ...wrongLength(checking, attribute, value, path)] }
}

function mayBeEmptied(checking: Checking, { required }: ComponentAttribute | DynamicZone): boolean {
  if (checking.isHidden === true) return true
  return checking.contract.nullEmptiesLists && !(required && (!checking.isDraft || checking.publishes === true))
}

function wrongLength({ isDraft }: Checking, attribute: ComponentAttribute | DynamicZone, list: readonly unknown[], path: ValuePath) {
  const { min, max } = attribute.source
  if (isDraft) return []
  const { length: actual } = list
  const few = Number.isInteger(min) && list.length < (min as number) && (attribute.required || list.length > 0)
  const many = Number.isInteger(max) && list.length > (max as number)
  return [
    ...(few
      ? [attributeError(path, `field must have at least ${min} items`, { code: 'minItems', params: { min: min as number, actual } }, list)]
      : []),
    ...(many
      ? [
          attributeError(
            path,
            `field must have less than or equal to ${max} items`,
            { code: 'maxItems', params: { max: max as number, actual } },
            list,
          ),
        ]
      : []),
  ]
}

/** A component without an id is new, even in an update. */
function checkEntry(checking: Checking, attribute: ComponentAttribute, entry: unknown, path: ValuePath): Checked {
  if (!isObject(entry)) return { value: null, errors: [typeError(path, 'object', null, entry)] }
  return checkShape(
    entryChecking(checking, entry, attribute, attribute.component),
    checking.model.components.get(attribute.component)!,
    entry,
    path,
  )
}

function entryChecking(checking: Checking, entry: Body, attribute: ComponentAttribute | DynamicZone, component: string): Checking {
  const { kind, name } = attribute
  const isInZone = kind === 'component' && checking.isInZone === true
  return {
    ...checking,
    isCreation: checking.isCreation || entry.id === undefined,
    stored: findStoredEntry(checking, attribute, entry),
    isInZone: checking.isInZone === true || kind === 'dynamiczone',
    places: checking.places === null || isInZone ? null : [...checking.places, { field: name, component }],
  }
}

/** Permits only components of the zone. Strapi accepts others in drafts, and loses them on publishing. */
function checkZoneEntry(checking: Checking, attribute: DynamicZone, entry: unknown, path: ValuePath): Checked {
  if (!isObject(entry)) return { value: null, errors: [typeError(path, 'object', null, entry)] }
  const { __component: sent } = entry
  const uid = typeof sent === 'object' || sent === undefined ? sent : String(sent)
  const component = typeof uid === 'string' ? checking.model.components.get(uid) : undefined
  const at = [...path, '__component']
  if (component !== undefined) {
    if (!attribute.components.includes(component.uid))
      return { value: entry, errors: [choiceError(at, attribute.components, component.uid)] }
    return checkShape(entryChecking(checking, entry, attribute, component.uid), component, entry, path)
  }
  const value = uid === undefined ? entry : { ...entry, __component: uid }
  if (uid === undefined) return { value, errors: [attributeError(at, 'is a required field', isRequired)] }
  const wrongType = typeof uid === 'string' ? [] : [typeError(at, 'string', uid, sent)]
  return { value, errors: [...wrongType, choiceError(at, componentNames(checking.model), uid)] }
}

const componentNames = (model: Model): readonly string[] => [...model.components.keys()].sort().reverse()

/** The first error in relations of a checked body, including components; null if every entry has a target. */
export function relationProblem(model: Model, shape: Schema, body: Body): string | null {
  for (const attribute of shape.attributes.values()) {
    const value = isWritable(shape, attribute) ? body[attribute.name] : undefined
    if (value === undefined || value === null) continue
    const problem = findProblem(model, attribute, value)
    if (problem !== null) return problem
  }
  return null
}

function findProblem(model: Model, attribute: Attribute, value: unknown): string | null {
  switch (attribute.kind) {
    case 'scalar':
      return null
    case 'component': {
      const component = model.components.get(attribute.component)!
      return firstProblem(value, (entry) => (isObject(entry) ? relationProblem(model, component, entry) : null))
    }
    case 'dynamiczone':
      return firstProblem(value, (entry) => zoneProblem(model, entry))
    case 'relation':
    case 'morphTo':
    case 'morphFrom':
    case 'media':
      return namesTargets(value as RelationForm) ? null : 'Invalid relations'
    default:
      return assertNever(attribute)
  }
}

function firstProblem(value: unknown, problem: (entry: unknown) => string | null): string | null {
  for (const entry of Array.isArray(value) ? value : [value]) {
    const found = problem(entry)
    if (found !== null) return found
  }
  return null
}

function zoneProblem(model: Model, entry: unknown): string | null {
  if (entry === null) return 'Invalid relations'
  const uid = isObject(entry) ? entry.__component : undefined
  if (!uid) return 'Cannot build relations store from dynamiczone, component identifier is undefined'
  const component = typeof uid === 'string' ? model.components.get(uid) : undefined
  return component === undefined ? 'Invalid relations' : relationProblem(model, component, entry as Body)
}

const noNames: ReadonlySet<string> = new Set()

/** Conditional attributes of one level. */
interface ConditionalAttributes {
  /** Hidden: checked only against the limits of their columns. */
  readonly hidden: ReadonlySet<string>
  /** Revealed by this write, but missing from the body. */
  readonly revealed: ReadonlySet<string>
}

const allVisible: ConditionalAttributes = { hidden: noNames, revealed: noNames }

/** Evaluates the conditions of `shape` for a body. */
function getVisibility(checking: Checking, shape: Schema, body: Body, path: ValuePath): ConditionalAttributes {
  if (checking.isHidden === true || !hasConditionalAttributes(shape)) return allVisible
  const hidden = hiddenAttributes(shape, toLevelValues(checking, shape, body, path))
  const { stored = null, isCreation, isDraft } = checking
  if (stored === null || isCreation || isDraft) return { hidden, revealed: noNames }
  const before = hiddenAttributes(shape, stored)
  return { hidden, revealed: new Set([...before].filter((name) => !hidden.has(name) && !Object.hasOwn(body, name))) }
}

/** The values of one level, as in its row, without links. */
function toLevelValues(checking: Checking, shape: Schema, body: Body, path: ValuePath): Body {
  const { stored = null, inherited } = checking
  const values: Record<string, unknown> = {}
  for (const attribute of shape.attributes.values()) {
    if (!isWritable(shape, attribute) || !isValue(attribute)) continue
    const { name } = attribute
    const isInherited = path.length === 0 && inherited?.has(name) === true
    const isGiven = Object.hasOwn(body, name) && body[name] !== undefined && !isInherited
    const before = stored === null || !Object.hasOwn(stored, name) ? undefined : stored[name]
    const given = isGiven ? body[name] : before
    values[name] = attribute.kind === 'scalar' ? castScalar(checking, attribute, given) : mergeStored(attribute, given, before)
  }
  return values
}

const isValue = ({ kind }: Attribute): boolean => kind === 'scalar' || kind === 'component' || kind === 'dynamiczone'

/** Merges a component with the stored values that it retains. */
function mergeStored({ kind }: Attribute, given: unknown, before: unknown): unknown {
  const keeps = kind === 'component' && isObject(given) && isObject(before) && isSameRow(given, before)
  return keeps ? { ...before, ...given } : given
}

const isSameRow = (entry: Body, stored: Body): boolean => entry.id !== undefined && String(entry.id) === String(stored.id)

/** The stored entry that a body changes; null if it is new or unknown. */
function findStoredEntry({ stored = null }: Checking, { name, kind }: ComponentAttribute | DynamicZone, entry: Body): Body | null {
  const value = stored?.[name]
  const entries: readonly unknown[] = Array.isArray(value) ? value : [value]
  const found = entries.find(
    (one) => isObject(one) && isSameRow(entry, one) && (kind === 'component' || one.__component === entry.__component),
  )
  return (found as Body | undefined) ?? null
}

const isType: Readonly<Record<NonNullable<InputForm['type']>, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' && !Number.isNaN(value),
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
}

const mustBeThere = (checking: Checking, attribute: Scalar): boolean => attribute.required && !checking.isDraft
const mayBeNull = (checking: Checking, attribute: Scalar): boolean =>
  attributeTypes[attribute.type].input.nullable || !mustBeThere(checking, attribute)

/** The value of a scalar after casting, or its default; `undefined`: absent. */
function castScalar(checking: Checking, attribute: Scalar, sent: unknown): unknown {
  if (sent === undefined) return getDefault(checking, attribute)
  return sent === null && mayBeNull(checking, attribute) ? null : attributeTypes[attribute.type].input.cast(sent)
}

/** Casts and validates a scalar; `undefined`: absent. */
function checkScalar(checking: Checking, attribute: Scalar, sent: unknown, path: ValuePath): Checked {
  const { input, choices } = attributeTypes[attribute.type]
  const isMandatory = mustBeThere(checking, attribute)
  const allowsNull = mayBeNull(checking, attribute)
  const value = castScalar(checking, attribute, sent)
  const isUnreadable = attribute.type === 'blocks' && value === null && sent !== null && sent !== undefined
  const isLost = isUnreadable && !checking.contract.unreadableBlocksAreNull
  if (isUnreadable && !isLost) checking.reportDropped?.(checking.uid ?? '', path)
  const wrongType = [
    ...(value === undefined || input.type === null || (value === null && allowsNull && !isLost) || isType[input.type](value)
      ? []
      : [typeError(path, input.type, value, sent)]),
    ...(choices !== undefined && checking.isHidden !== true ? wrongChoice(choices(attribute), value, path) : []),
  ]
  if (wrongType.length > 0) return { value, errors: wrongType }
  if (value === undefined || value === null) return { value, errors: isMandatory ? missing(checking, value, path) : [] }
  if (attribute.type === 'blocks')
    return checking.isHidden === true ? { value, errors: [] } : checkBlocks(value as readonly unknown[], path)
  const rules = checking.isHidden === true ? input.columnRules : input.rules
  const broken = rules.flatMap((rule): PossibleError[] => {
    const found = rule(value as never, attribute, checking)
    if (found === null) return []
    const { says, depends, ...issue } = found
    const error = attributeError(path, says, issue, value)
    return [depends === undefined ? error : { ...error, depends }]
  })
  return { value, errors: [...broken, ...checkUnique(checking, attribute, value, path)] }
}

/** The possible error of a unique value. */
function checkUnique(checking: Checking, scalar: Scalar, value: unknown, path: ValuePath): PossibleError[] {
  const { isDraft, places } = checking
  if (!scalar.unique || isDraft || places === null || value === '') return []
  const { columnRules, shown } = attributeTypes[scalar.type].input
  // A value that no column can store is not taken, and a database may refuse to search for it.
  if (columnRules.some((rule) => rule(value as never, scalar, checking) !== null)) return []
  const error = wholeError(path, takenMessage, { code: 'unique' }, shown === undefined ? value : shown(value))
  return [{ ...error, depends: { path, scalar, value, places } }]
}

/** Errors of a required value that is absent or removed. */
export function missing({ isCreation }: Checking, value: null | undefined, path: ValuePath): AttributeError[] {
  if (isCreation) return [attributeError(path, 'must be defined.', isRequired, value)]
  return value === null ? [attributeError(path, 'cannot be null.', isRequired, value)] : []
}

const getDefault = ({ isCreation, isStored }: Checking, { source }: Scalar): unknown =>
  isCreation && !isStored ? source.default : undefined

const wrongChoice = (choices: readonly unknown[], value: unknown, path: ValuePath): AttributeError[] =>
  value === undefined || value === null || choices.includes(value) ? [] : [choiceError(path, [...choices, null], value)]

/**
 * The stored form of a valid value.
 * @throws ApiError 400 with the recorded message for an invalid date, time or datetime
 */
export const toStored = (attribute: Scalar, value: unknown): Stored =>
  value === null || value === undefined ? null : attributeTypes[attribute.type].store(value, attribute)

/** A stored form as a bound value. */
export const toBound = ({ type }: Scalar, value: Stored): Bound =>
  attributeTypes[type].family === 'datetime' ? bindTimestamp(value) : value

/** Columns of the defaults of a type, for new rows with a separate API (users, files). */
export function defaultColumns(type: ContentType): Record<string, Bound> {
  const defaults: Record<string, Bound> = {}
  for (const attribute of type.attributes.values()) {
    if (attribute.kind !== 'scalar' || attribute.source.default === undefined) continue
    defaults[attribute.column] = toBound(attribute, toStored(attribute, attribute.source.default))
  }
  return defaults
}

/** Columns of an input's scalars, with hashed passwords. */
export async function scalarColumns(input: Input, hashPassword: (password: string) => Promise<string>): Promise<Record<string, Bound>> {
  const columns: Record<string, Bound> = {}
  for (const [scalar, value] of input.scalars) {
    columns[scalar.column] = scalar.type === 'password' && typeof value === 'string' ? await hashPassword(value) : toBound(scalar, value)
  }
  return columns
}
