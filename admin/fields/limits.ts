// The limits of an attribute in words, shown before a value breaks them.
import type { FormAttribute } from '../form/values.js'
import type { Words } from '../words/catalog.js'

const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : typeof value === 'string' && value.trim() !== '' ? Number(value) : undefined

/** Sentences about the size and the number of entries of a value, and with `saysShortest` about its length. */
export function limitTexts({ fields: { limits } }: Words, attribute: FormAttribute, saysShortest: boolean): readonly string[] {
  const [min, max] = [numberOf(attribute.min), numberOf(attribute.max)]
  const minLength = numberOf(attribute.minLength)
  const isList = attribute.type === 'dynamiczone' || (attribute.type === 'component' && attribute.repeatable === true)
  return [
    // The longest length is shown as a count.
    ...(saysShortest && minLength !== undefined && minLength > 1 ? [limits.minLength(minLength)] : []),
    ...(min === undefined && max === undefined ? [] : [isList ? limits.entries(min, max) : limits.range(min, max)]),
    ...(attribute.unique === true ? [limits.unique] : []),
  ]
}
