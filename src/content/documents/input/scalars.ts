// Checks values of scalar attributes, and converts them to their stored form. The attribute types (`model/types`) have the rules.
import type { Stored } from '../../../database/portable-sql.js'
import { takenMessage } from '../../../foundation/errors/errors.js'
import type { Scalar } from '../../../model/schema/types.js'
import type { InputForm } from '../../../model/types/attribute-type.js'
import { attributeTypes } from '../../../model/types/attribute-types.js'
import { checkBlocks } from './blocks.js'
import { attributeError, choiceError, typeError, wholeError } from './errors.js'
import type { AttributeError, Checked, Checking, Input, PossibleError, ValuePath } from './types.js'

const isType: Readonly<Record<NonNullable<InputForm['type']>, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number' && !Number.isNaN(value),
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
}

const mustBeThere = (checking: Checking, attribute: Scalar): boolean => attribute.required && !checking.isDraft
const mayBeNull = (checking: Checking, attribute: Scalar): boolean =>
  attributeTypes[attribute.type].input.nullable || !mustBeThere(checking, attribute)

/** The value of a scalar attribute after casting, or its default; `undefined`: absent. */
export function castScalar(checking: Checking, attribute: Scalar, sent: unknown): unknown {
  if (sent === undefined) return getDefault(checking, attribute)
  return sent === null && mayBeNull(checking, attribute) ? null : attributeTypes[attribute.type].input.cast(sent)
}

/** Casts and checks the value of a scalar attribute; `undefined`: absent. */
export function checkScalar(checking: Checking, attribute: Scalar, sent: unknown, path: ValuePath): Checked {
  const { input, choices } = attributeTypes[attribute.type]
  const isRequired = mustBeThere(checking, attribute)
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
  if (value === undefined || value === null) return { value, errors: isRequired ? missing(checking, value, path) : [] }
  if (attribute.type === 'blocks')
    return checking.isHidden === true ? { value, errors: [] } : checkBlocks(value as readonly unknown[], path)
  const rules = checking.isHidden === true ? input.columnRules : input.rules
  const broken = rules.flatMap((rule): PossibleError[] => {
    const found = rule(value as never, attribute, checking)
    if (found === null) return []
    if (typeof found === 'string') return [attributeError(path, found, value)]
    return [{ ...attributeError(path, found.says, value), depends: found.depends }]
  })
  return { value, errors: [...broken, ...checkUnique(checking, attribute, value, path)] }
}

/** The error of a value that must be unique, if it is taken. */
function checkUnique(checking: Checking, scalar: Scalar, value: unknown, path: ValuePath): PossibleError[] {
  const { isDraft, places } = checking
  if (!scalar.unique || isDraft || places === null || value === '') return []
  const { columnRules, shown } = attributeTypes[scalar.type].input
  // No document has a value that no column can store, and a database may refuse to search for it.
  if (columnRules.some((rule) => rule(value as never, scalar, checking) !== null)) return []
  return [{ ...wholeError(path, takenMessage, shown === undefined ? value : shown(value)), depends: { path, scalar, value, places } }]
}

/** Errors of an absent or removed required value. */
export function missing({ isCreation }: Checking, value: null | undefined, path: ValuePath): AttributeError[] {
  if (isCreation) return [attributeError(path, 'must be defined.', value)]
  return value === null ? [attributeError(path, 'cannot be null.', value)] : []
}

const getDefault = ({ isCreation, isStored }: Checking, { source }: Scalar): unknown =>
  isCreation && !isStored ? source.default : undefined

const wrongChoice = (choices: readonly unknown[], value: unknown, path: ValuePath): AttributeError[] =>
  value === undefined || value === null || choices.includes(value) ? [] : [choiceError(path, [...choices, null], value)]

/**
 * The stored form of a value that has passed its attribute's checks.
 * @throws ApiError 400 with the recorded message for an invalid date, time or datetime
 */
export const toStored = (attribute: Scalar, value: unknown): Stored =>
  value === null || value === undefined ? null : attributeTypes[attribute.type].store(value, attribute)

/** The columns of an input's own values, with passwords hashed. */
export async function scalarColumns(input: Input, hashPassword: (password: string) => Promise<string>): Promise<Record<string, Stored>> {
  const columns: Record<string, Stored> = {}
  for (const [scalar, value] of input.scalars) {
    columns[scalar.column] = scalar.type === 'password' && typeof value === 'string' ? await hashPassword(value) : value
  }
  return columns
}
