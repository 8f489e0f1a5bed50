// Attribute errors in the wording and order of yup, which clients display; errors that depend on a pattern or on a taken value; and removal
// of values that the reader may not see.
import { printed } from '../../../foundation/errors/errors.js'
import { type Issue, withoutActual } from '../../../foundation/errors/issues.js'
import { type AttributeGrants, type Grants, grantedBelow, isGranted, noAttributes } from '../../../foundation/grants.js'
import { getComponents } from '../../../model/schema/graph.js'
import { completesWithin, type PatternCheck, type PatternChecks } from '../../../model/schema/patterns.js'
import type { Attribute, ContentType, Model, Schema } from '../../../model/schema/types.js'
import type { AttributeError, Checked, Claim, FindTaken, PossibleError, ValuePath } from './types.js'

export const maxInputErrors = 1_000

/** The name of a value in messages: `sections[0].links`; `this` for the whole. */
export function printPath(path: ValuePath): string {
  if (path.length === 0) return 'this'
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('')
}

/** An error about the value at `path`; `says` follows its printed name. */
export function attributeError(path: ValuePath, says: string, issue: Issue, value?: unknown): AttributeError {
  return wholeError(path, `${printPath(path)} ${says}`, issue, value)
}

/** An error whose message does not name the value. Numbers that JSON cannot represent become null; undefined is omitted. */
export function wholeError(path: ValuePath, message: string, issue: Issue, value?: unknown): AttributeError {
  if (value === undefined) return { path, message, issue }
  return { path, message, issue, value: typeof value === 'number' && !Number.isFinite(value) ? null : value }
}

/** The issue of an absent value. */
export const isRequired: Issue = { code: 'required' }

/** `x must be a \`string\` type, but the final value was: \`5\`.`, with the original value if casting changed it. */
export function typeError(path: ValuePath, type: string, value: unknown, sent: unknown): AttributeError {
  const cast = sent !== null && sent !== undefined && sent !== value ? ` (cast from the value \`${printed(sent)}\`).` : '.'
  const issue: Issue = sent === null || sent === undefined ? isRequired : { code: 'type', params: { expected: type } }
  return attributeError(path, `must be a \`${type}\` type, but the final value was: \`${printed(value)}\`${cast}`, issue, value)
}

/** `x must be one of the following values: a, b`. */
export function choiceError(path: ValuePath, choices: readonly unknown[], value: unknown): AttributeError {
  const issue: Issue = { code: 'enum', params: { allowed: choices.filter((choice) => choice !== null) } }
  return attributeError(path, `must be one of the following values: ${choices.join(', ')}`, issue, value)
}

/** Orders the errors of an object's fields as Strapi does: last field first, then by the first field name in their printed path. */
export function inFieldOrder(path: ValuePath, groups: ReadonlyMap<string, readonly PossibleError[]>): PossibleError[] {
  const names = [...groups.keys()]
  const wrong = names.filter((name) => groups.get(name)!.length > 0)
  if (wrong.length < 2) return wrong.flatMap((name) => groups.get(name)!)
  const rank = (name: string) => {
    const printed = path.length === 0 ? name : `${printPath(path)}.${name}`
    return names.findIndex((other) => printed.includes(other))
  }
  return wrong
    .reverse()
    .map((name) => ({ name, rank: rank(name) }))
    .sort((a, b) => a.rank - b.rank)
    .flatMap(({ name }) => groups.get(name)!)
}

/** Checks entries until there are enough errors to report. */
export function checkEach(
  entries: readonly unknown[],
  check: (entry: unknown, index: number) => Checked,
): { readonly values: readonly unknown[]; readonly errors: readonly PossibleError[] } {
  const values: unknown[] = []
  const errors: PossibleError[] = []
  let certain = 0
  for (const [index, entry] of entries.entries()) {
    const checked = check(entry, index)
    values.push(checked.value)
    for (const error of checked.errors) {
      errors.push(error)
      if (error.depends === undefined) certain++
    }
    if (certain >= maxInputErrors) break
  }
  return { values, errors }
}

const getClaim = ({ depends }: PossibleError): Claim | null => (depends !== undefined && 'scalar' in depends ? depends : null)
const getPatternCheck = ({ depends }: PossibleError): PatternCheck | null =>
  depends !== undefined && 'pattern' in depends ? depends : null

const toCertainError = ({ depends: _, ...error }: PossibleError): AttributeError => error

/** Matches texts against patterns within the deadline of one body. After the deadline, they are skipped if there are other errors. */
export function settlePatterns(trials: PatternChecks, errors: readonly PossibleError[]): readonly PossibleError[] {
  const checks = errors.map(getPatternCheck).filter((check) => check !== null)
  if (checks.length === 0) return errors
  const isWrong = errors.some(({ depends }) => depends === undefined)
  if (trials.left > 0 || !isWrong) runPatternChecks(trials, checks)
  return errors.flatMap((error) => {
    const check = getPatternCheck(error)
    if (check === null) return [error]
    return trials.results.get(check.pattern)?.get(check.value) === false ? [toCertainError(error)] : []
  })
}

/** Looks up all unique values and resolves to the errors, up to the limit. */
export async function settleUnique(errors: readonly PossibleError[], findTaken: FindTaken): Promise<readonly AttributeError[]> {
  const claims = errors.map(getClaim).filter((claim) => claim !== null)
  if (claims.length === 0) return errors
  const taken = await findTaken(claims)
  const settled = errors.flatMap((error) => {
    const claim = getClaim(error)
    return claim === null ? [error] : taken.has(printPath(claim.path)) ? [toCertainError(error)] : []
  })
  return settled.slice(0, Math.max(maxInputErrors, errors.length - claims.length))
}

export interface ErrorReader {
  readonly grants: Grants
  /** The reader may see drafts of the type. */
  readonly seesDrafts: boolean
}

/** Removes values that the reader may not see: private attributes, passwords, relations to hidden types, closed drafts. */
export function redactErrors(
  model: Model,
  type: ContentType,
  errors: readonly AttributeError[],
  reader: ErrorReader,
): readonly AttributeError[] {
  return errors.map((error) => {
    if (error.value === undefined || error.value === null) return error
    const { shapes, isHidden, seen } = findShapes(model, type, error.path, reader)
    if (isHidden || !reader.seesDrafts) return withoutValue(error)
    return { ...error, value: redactValue(model, error.value, shapes, seen, reader) }
  })
}

/** Removes the value of an error, with which the messages of type errors end. */
function withoutValue({ path, message, issue }: AttributeError): AttributeError {
  const at = message.indexOf(', but the final value was: ')
  const shown = at === -1 ? message : `${message.slice(0, at)}.`
  return { path, message: shown, ...(issue === undefined ? {} : { issue: withoutActual(issue) }) }
}

/** `seen`: attributes visible to the reader; null: all except private ones. */
const isSecret = (attribute: Attribute, seen: AttributeGrants | null, { grants }: ErrorReader): boolean =>
  (seen === null ? attribute.private : !isGranted(seen, attribute.name)) ||
  (attribute.kind === 'scalar' && attribute.type === 'password') ||
  (attribute.kind === 'relation' && (!grants.may(`${attribute.target}.find`) || grants.scopes.has(attribute.target)))

/** The components that a value at `path` may belong to, and whether part of the path is secret. */
function findShapes(model: Model, type: ContentType, path: ValuePath, reader: ErrorReader) {
  const { content } = reader.grants
  let shapes: readonly Schema[] = [type]
  let seen = content === undefined ? null : (content.readable.get(type.uid) ?? noAttributes)
  let isHidden = false
  for (const name of path) {
    if (typeof name === 'number') continue
    const attributes = shapes.map((shape) => shape.attributes.get(name)).filter((attribute) => attribute !== undefined)
    const here = seen
    isHidden ||= attributes.some((attribute) => isSecret(attribute, here, reader))
    seen = grantsBelow(seen, name)
    shapes = attributes.flatMap((attribute) => getComponents(model, attribute))
  }
  return { shapes, isHidden, seen }
}

const grantsBelow = (seen: AttributeGrants | null, name: string): AttributeGrants | null =>
  seen === null ? null : grantedBelow(seen, name)

/** Removes secret members from a value of one of `shapes`, or from a list of them. */
function redactValue(model: Model, value: unknown, shapes: readonly Schema[], seen: AttributeGrants | null, reader: ErrorReader): unknown {
  if (Array.isArray(value)) return value.map((one) => redactValue(model, one, shapes, seen, reader))
  if (typeof value !== 'object' || value === null || shapes.length === 0) return value
  const { __component: named } = value as { readonly __component?: unknown }
  const shape = shapes.find(({ uid }) => uid === named) ?? shapes[0]!
  const members = Object.entries(value).flatMap(([name, inner]) => {
    const attribute = shape.attributes.get(name)
    if (attribute === undefined) return [[name, inner]]
    if (isSecret(attribute, seen, reader)) return []
    return [[name, redactValue(model, inner, getComponents(model, attribute), grantsBelow(seen, name), reader)]]
  })
  return Object.fromEntries(members)
}

/** Records which texts match. The text interrupted by the deadline counts as not matching; later ones are not tested. */
export function runPatternChecks(trials: PatternChecks, wanted: readonly PatternCheck[]): void {
  const note = ({ pattern, value }: PatternCheck, isMatch: boolean): void => {
    if (!trials.results.has(pattern)) trials.results.set(pattern, new Map())
    trials.results.get(pattern)!.set(value, isMatch)
  }
  const since = performance.now()
  let at = 0
  const isInTime =
    trials.left > 0 &&
    completesWithin(trials.left, () => {
      for (; at < wanted.length; at++) note(wanted[at]!, wanted[at]!.pattern.printed.test(wanted[at]!.value))
    })
  trials.left = isInTime ? trials.left - (performance.now() - since) : 0
  if (!isInTime && at < wanted.length) note(wanted[at]!, false)
}
