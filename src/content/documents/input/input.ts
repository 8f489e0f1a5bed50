// Reads a body: validates size, keys, types, formats and constraints once, before any statement runs.
import { ApiError, inputError, validationError } from '../../../foundation/errors/errors.js'
import type { Issue } from '../../../foundation/errors/issues.js'
import { yieldIfBusy } from '../../../foundation/runtime/event-loop.js'
import { isTooDeep } from '../../../foundation/runtime/json-structure.js'
import type { Attribute, ContentType, Model, MorphFrom, MorphTo, Relation, Scalar, Schema } from '../../../model/schema/types.js'
import { maxStringCharacters, tooLong } from '../../../model/types/text.js'
import { isObject } from '../../../query/request.js'
import { checkBody, relationProblem, toStored } from './attributes.js'
import { attributeError, type ErrorReader, redactErrors, settleUnique, typeError, wholeError } from './errors.js'
import { checkKeys, isWritable, type WriteAccess } from './keys.js'
import { type RelationForm, relationInput } from './relations.js'
import type { AttributeError, Body, ComponentInput, FindTaken, Input, InputContext, ValuePath } from './types.js'

interface InputOptions {
  /** The writer, who needs permission to find the targets of relations. */
  readonly writer: WriteAccess
  /** Drafts may lack required values and violate formats and minima. */
  readonly isDraft: boolean
  /** Applies defaults, and refuses absent required values. */
  readonly isCreation: boolean
  /** Members that the service adds to the row (publishedAt, locale), shown in errors about the data as a whole. */
  readonly added?: Body
  /** Attributes that a new locale inherits: if absent, they are neither errors nor defaulted. */
  readonly inherited?: ReadonlySet<string>
  /** Stored values for conditions: of the row, or those that a new locale inherits. Null if not needed. */
  readonly stored?: Body | null
  readonly publishes?: boolean
}

/**
 * Reads the `data` of a body for a document of `type`.
 * @throws ApiError 400 as recorded: the first invalid key, or all invalid values
 */
export async function readInput(
  context: InputContext,
  type: ContentType,
  data: unknown,
  options: InputOptions,
  findTaken: FindTaken,
): Promise<Input> {
  await yieldIfBusy()
  checkKeys(context.model, options.writer, type, data)
  await yieldIfBusy()
  if (!isObject(data)) throw attributeErrors([typeError([], 'object', null, data)])
  const { value, shown, errors } = await checkData(context, type, data, options)
  const wrong = await settleUnique(errors, findTaken)
  if (wrong.length > 0) throw attributeErrors(wrong)
  return toInput(context.model, type, value, shown, options.isCreation)
}

/** True if data that `readInput` accepted for a draft may also be published. */
export async function mayBePublished(
  context: InputContext,
  type: ContentType,
  data: unknown,
  isCreation: boolean,
  findTaken: FindTaken,
): Promise<boolean> {
  if (!isObject(data)) return false
  const { errors } = await checkData(context, type, data, { isDraft: false, isCreation })
  return (await settleUnique(errors, findTaken)).length === 0
}

/** Data with defaults, the form shown in errors, and certain and possible errors. */
async function checkData(context: InputContext, type: ContentType, data: Body, options: Omit<InputOptions, 'writer'>) {
  const given = Object.entries(data).filter(([key]) => isWritable(type, type.attributes.get(key)))
  const { value, errors } = checkBody({ ...context, ...options, places: [], isStored: false }, type, Object.fromEntries(given))
  await yieldIfBusy()
  const problem = relationProblem(context.model, type, value)
  const shown = { ...value, ...options.added }
  const locale = type.localized ? options.added?.locale : data.locale
  return {
    value,
    shown,
    errors: [...errors, ...localeErrors(locale), ...(problem === null ? [] : [wholeError([], problem, notALink, shown)])],
  }
}

/** An entry of a relation names no target. */
const notALink: Issue = { code: 'type', params: { expected: 'relation' } }

/** The locale must fit its column, even on types without locales. */
function localeErrors(locale: unknown): readonly AttributeError[] {
  if (locale === undefined || locale === null) return []
  if (typeof locale !== 'string') return [typeError(['locale'], 'string', locale, locale)]
  if (locale.length <= maxStringCharacters) return []
  const { says, ...issue } = tooLong(maxStringCharacters, locale.length)
  return [attributeError(['locale'], says, issue, locale)]
}

/**
 * Reads the attributes of a row with a separate API (users); other members are ignored. `input` is null if there are errors, which show
 * `added` among the data.
 * @throws ApiError 400 for a body nested too deeply
 */
export function readAttributes(
  context: InputContext,
  type: ContentType,
  given: Body,
  isCreation: boolean,
  stored: Body | null = null,
  added: Body = {},
): { readonly input: Input | null; readonly errors: readonly AttributeError[] } {
  if (isTooDeep(given)) throw validationError('The data is nested too deeply')
  const known = Object.entries(given).filter(([key]) => isWritable(type, type.attributes.get(key)))
  // Unique values are not checked here: `checkUniqueAttributes` does.
  const checked = checkBody(
    { ...context, places: null, isDraft: false, isCreation, isStored: false, stored },
    type,
    Object.fromEntries(known),
  )
  const problem = relationProblem(context.model, type, checked.value)
  const shown = { ...checked.value, ...added }
  const errors = problem === null ? checked.errors : [...checked.errors, wholeError([], problem, notALink, shown)]
  return { input: errors.length > 0 ? null : toInput(context.model, type, checked.value, shown, isCreation), errors }
}

/** Checks a stored document against every rule, as for publishing. Resolves to the errors, with the values that `reader` may see. */
export async function documentErrors(
  context: InputContext,
  type: ContentType,
  document: Body,
  reader: ErrorReader,
  findTaken: FindTaken,
): Promise<readonly AttributeError[]> {
  const { errors } = checkBody({ ...context, places: [], isDraft: false, isCreation: true, isStored: true }, type, document)
  return redactErrors(context.model, type, await settleUnique(errors, findTaken), reader)
}

/** Combines errors: the message of a single one, or their number, with all of them in the details. */
export function attributeErrors(errors: readonly AttributeError[]): ApiError {
  const message = errors.length === 1 ? errors[0]!.message : `${errors.length} errors occurred`
  const details = errors.map(({ path, message: says, issue: _, ...value }) => ({
    path: path.map(String),
    message: says,
    name: 'ValidationError',
    ...value,
  }))
  // The error of a list that cannot have links follows from one of the list itself.
  const own = errors.filter(({ issue }) => issue !== notALink)
  const mistakes = (own.length === 0 ? errors : own).map(({ path, message: says, issue }) => ({ path, message: says, ...issue }))
  return validationError(message, { errors: details }).because(mistakes)
}

/** Components first: the database would refuse their dates first. */
function toInput(model: Model, shape: Schema, value: Body, checked: Body, isCreation: boolean): Input {
  const given = [...shape.attributes.values()].filter((attribute) => isWritable(shape, attribute) && value[attribute.name] !== undefined)
  const entryOf = (uid: string, body: Body): ComponentInput => {
    const component = model.components.get(uid)!
    const id = isCreation ? null : toRowId(body.id)
    return { component, id, input: toInput(model, component, body, body, id === null) }
  }
  const entriesOf = ({ name }: Attribute, entry: (body: Body) => ComponentInput): readonly ComponentInput[] => {
    return entries(value[name]).map((body, index) => {
      try {
        return entry(body)
      } catch (error) {
        throw Array.isArray(value[name]) ? locate(error, name, index) : locate(error, name)
      }
    })
  }
  return {
    components: new Map(
      given
        .filter((attribute) => attribute.kind === 'component')
        .map((attribute) => [attribute, entriesOf(attribute, (body) => entryOf(attribute.component, body))]),
    ),
    zones: new Map(
      given
        .filter((attribute) => attribute.kind === 'dynamiczone')
        .map((attribute) => [attribute, entriesOf(attribute, (body) => entryOf(String(body.__component), body))]),
    ),
    scalars: new Map(
      given
        .filter((attribute) => attribute.kind === 'scalar')
        .map((attribute) => [attribute, toStoredValue(attribute, value[attribute.name])]),
    ),
    relations: new Map(
      given
        .filter(({ kind }) => kind === 'relation' || kind === 'morphTo' || kind === 'morphFrom')
        .map((attribute) => [attribute as Relation | MorphTo | MorphFrom, relationInput(value[attribute.name] as RelationForm)]),
    ),
    media: new Map(
      given
        .filter((attribute) => attribute.kind === 'media')
        .map((attribute) => [attribute, relationInput(value[attribute.name] as RelationForm)]),
    ),
    checked,
  }
}

/** The error of a conversion with the path of the value. */
const locate = (error: unknown, ...path: ValuePath): unknown => (error instanceof ApiError ? error.below(...path) : error)

function toStoredValue(attribute: Scalar, value: unknown) {
  try {
    return toStored(attribute, value)
  } catch (error) {
    throw locate(error, attribute.name)
  }
}

const entries = (value: unknown): readonly Body[] => (Array.isArray(value) ? value : value === null ? [] : [value as Body])

/** Row id of a component; null if absent; -1 if invalid, including null, as in Strapi. */
function toRowId(id: unknown): number | null {
  if (id === undefined) return null
  if (typeof id === 'number') return Number.isSafeInteger(id) ? id : -1
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : -1
}

/** Limits of one document, including its components. */
const maxComponentEntries = 2_000
const maxRelationTargets = 5_000
/** Hashing a password takes tens of milliseconds. */
const maxPasswords = 50

interface Sizes {
  entries: number
  targets: number
  readonly passwords: string[]
}

const isStructure = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null
const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

const tooMany = (message: string, max: number): ApiError => inputError(message, [], 'tooMany', { max })

/** Returns the passwords in data. @throws ApiError 400 for too many entries, targets or passwords */
export function checkSize(model: Model, type: ContentType, data: unknown): readonly string[] {
  const sizes: Sizes = { entries: 0, targets: 0, passwords: [] }
  for (const body of toList(data)) {
    countRows(model, type, body, sizes)
    if (sizes.entries > maxComponentEntries)
      throw tooMany(`The data has more than ${maxComponentEntries} entries of components`, maxComponentEntries)
    if (sizes.targets > maxRelationTargets)
      throw tooMany(`The data names more than ${maxRelationTargets} targets of relations`, maxRelationTargets)
    if (sizes.passwords.length > maxPasswords) throw tooMany(`The data has more than ${maxPasswords} passwords`, maxPasswords)
  }
  return sizes.passwords
}

function countRows(model: Model, shape: Schema, body: unknown, sizes: Sizes): void {
  if (!isStructure(body)) return
  for (const [key, value] of Object.entries(body)) {
    const attribute = shape.attributes.get(key)
    if (attribute?.kind === 'scalar' && attribute.type === 'password' && typeof value === 'string') sizes.passwords.push(value)
    if (attribute === undefined || attribute.kind === 'scalar' || !isStructure(value)) continue
    if (attribute.kind === 'component' || attribute.kind === 'dynamiczone') {
      for (const entry of toList(value)) {
        sizes.entries++
        const uid = attribute.kind === 'component' ? attribute.component : isStructure(entry) ? entry.__component : undefined
        const component = typeof uid === 'string' ? model.components.get(uid) : undefined
        if (component !== undefined) countRows(model, component, entry, sizes)
      }
    } else {
      const lists = Array.isArray(value) ? [value] : [value.set, value.connect, value.disconnect]
      for (const list of lists) sizes.targets += Array.isArray(list) ? list.length : 0
    }
  }
}
