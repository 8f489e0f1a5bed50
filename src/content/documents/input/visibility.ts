// Which conditional attributes are there at one level of a body. Their conditions see what the body gives, cast, and for what it leaves out the
// stored row, or the defaults of a new one.
import { hiddenAttributes, isDecidedByValues } from '../../../model/schema/conditions.js'
import type { Attribute, ComponentAttribute, DynamicZone, Schema } from '../../../model/schema/types.js'
import { isWritable } from './keys.js'
import { castScalar } from './scalars.js'
import type { Body, Checking, ValuePath } from './types.js'

const isBody = (value: unknown): value is Body => typeof value === 'object' && value !== null && !Array.isArray(value)

const nothing: ReadonlySet<string> = new Set()

/** The conditional attributes of one level. */
export interface ConditionalAttributes {
  /** They are not there, and are only held to what their columns can hold. */
  readonly hidden: ReadonlySet<string>
  /** They were not there before and are now, though the body does not give them. */
  readonly revealed: ReadonlySet<string>
}

const all: ConditionalAttributes = { hidden: nothing, revealed: nothing }

/** Decides which attributes of `shape` are there where a body gives `body`. */
export function visibilityOf(checking: Checking, shape: Schema, body: Body, path: ValuePath): ConditionalAttributes {
  if (checking.isHidden === true || !isDecidedByValues(shape)) return all
  const hidden = hiddenAttributes(shape, levelOf(checking, shape, body, path))
  const { stored = null, isCreation, isDraft } = checking
  if (stored === null || isCreation || isDraft) return { hidden, revealed: nothing }
  const before = hiddenAttributes(shape, stored)
  return { hidden, revealed: new Set([...before].filter((name) => !hidden.has(name) && !Object.hasOwn(body, name))) }
}

/** The values of one level, as its row would have them. Links are not values. */
function levelOf(checking: Checking, shape: Schema, body: Body, path: ValuePath): Body {
  const { stored = null, inherited } = checking
  const values: Record<string, unknown> = {}
  for (const attribute of shape.attributes.values()) {
    if (!isWritable(shape, attribute) || !isValue(attribute)) continue
    const { name } = attribute
    const isInherited = path.length === 0 && inherited?.has(name) === true
    const isGiven = Object.hasOwn(body, name) && body[name] !== undefined && !isInherited
    const before = stored === null || !Object.hasOwn(stored, name) ? undefined : stored[name]
    const given = isGiven ? body[name] : before
    values[name] = attribute.kind === 'scalar' ? castScalar(checking, attribute, given) : withKept(attribute, given, before)
  }
  return values
}

const isValue = ({ kind }: Attribute): boolean => kind === 'scalar' || kind === 'component' || kind === 'dynamiczone'

/** A component with what it keeps of the stored one. */
function withKept({ kind }: Attribute, given: unknown, before: unknown): unknown {
  const keeps = kind === 'component' && isBody(given) && isBody(before) && isSameRow(given, before)
  return keeps ? { ...before, ...given } : given
}

const isSameRow = (entry: Body, stored: Body): boolean => entry.id !== undefined && String(entry.id) === String(stored.id)

/** What is stored of the entry that a body changes; null for a new one, and where it is not known. */
export function storedEntry({ stored = null }: Checking, { name, kind }: ComponentAttribute | DynamicZone, entry: Body): Body | null {
  const value = stored?.[name]
  const entries: readonly unknown[] = Array.isArray(value) ? value : [value]
  const found = entries.find(
    (one) => isBody(one) && isSameRow(entry, one) && (kind === 'component' || one.__component === entry.__component),
  )
  return (found as Body | undefined) ?? null
}
