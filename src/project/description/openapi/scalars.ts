// The JSON Schema of each scalar attribute type, in responses and in the data of writes.

import type { ScalarType } from '../../../foundation/public/attribute-types.js'
import { attributeTypes } from '../../../model/schema/attributes.js'
import { fileType } from '../../../model/schema/link.js'
import type { Scalar } from '../../../model/schema/types.js'
import type { DescribedShape, View } from '../view.js'
import { type Components, type DescriptionObject, integer, list, object, text } from './schema.js'

/** What says more of a value than its JSON type. */
const forms: Readonly<Partial<Record<ScalarType, DescriptionObject>>> = {
  biginteger: { pattern: '^-?\\d+$' },
  date: { format: 'date' },
  time: { pattern: '^\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?$' },
  datetime: { format: 'date-time' },
  timestamp: { format: 'date-time' },
}

/** What is accepted in the data of writes besides the form of responses. */
const inputs: Readonly<Partial<Record<ScalarType, DescriptionObject>>> = {
  biginteger: { type: ['string', 'integer'], pattern: '^\\s*[+-]?\\d+\\s*$' },
  email: { type: 'string', format: 'email' },
  password: { type: 'string', format: 'password', writeOnly: true },
  timestamp: { type: 'string', examples: ['2025-01-31T12:00:00.000Z'] },
}

function base({ contract }: View, components: Components, { type, source }: Scalar): DescriptionObject {
  if (type === 'blocks') return components.ref('schemas', 'blocks-content', blocksSchema)
  const { jsonType } = attributeTypes[type]
  if (jsonType === 'any') return {}
  if (type === 'enumeration' && Array.isArray(source.enum) && source.enum.length > 0)
    return { type: 'string', enum: [...new Set(source.enum)] }
  // The other contract returns milliseconds as text.
  return { type: jsonType, ...(type === 'timestamp' && contract.timestampsAsMilliseconds ? {} : forms[type]) }
}

/** The schema of a value in responses, without null. */
export function responseScalar(view: View, components: Components, shape: DescribedShape, attribute: Scalar): DescriptionObject {
  if (shape.uid === fileType && attribute.name === 'formats')
    return components.ref('schemas', 'file-formats', () => fileFormats(components))
  return base(view, components, attribute)
}

/** The schema of a value in the data of a write, without null. */
export function inputScalar(view: View, components: Components, attribute: Scalar): DescriptionObject {
  const { source, type } = attribute
  const plain = inputs[type] ?? base(view, components, attribute)
  const { minLength, maxLength, min, max, default: fallback } = source
  const isNumber = plain.type === 'number' || plain.type === 'integer'
  const pattern = type === 'uid' ? (source.regex ?? '^[A-Za-z0-9-_.~]*$') : source.regex
  return {
    ...plain,
    ...(plain.type === 'string' && {
      ...(isCount(minLength) && { minLength }),
      ...(isCount(maxLength) && { maxLength }),
      ...(isPattern(pattern) && { pattern }),
    }),
    ...(isNumber && { ...(typeof min === 'number' && { minimum: min }), ...(typeof max === 'number' && { maximum: max }) }),
    ...(fallback !== undefined && type !== 'password' && { default: fallback }),
    ...((source.unique === true || type === 'uid') && { description: 'Unique.' }),
  }
}

/** True for a length that bounds something. */
export const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value > 0

/** True for expressions that JSON Schema understands, which is stricter than JavaScript. */
function isPattern(source: unknown): source is string {
  if (typeof source !== 'string') return false
  try {
    new RegExp(source, 'u')
    return true
  } catch {
    return false
  }
}

/** Nodes keep members that the editor adds. */
const blocksSchema = (): DescriptionObject => ({
  examples: [[{ type: 'paragraph', children: [{ type: 'text', text: 'Text' }] }]],
  ...list(
    object(
      {
        type: { type: 'string', enum: ['paragraph', 'heading', 'quote', 'code', 'list', 'image'] },
        children: list(object({ type: text }, [], { additionalProperties: true })),
        level: { type: 'integer', minimum: 1, maximum: 6 },
        format: { type: 'string', enum: ['ordered', 'unordered'] },
        image: { type: 'object' },
      },
      ['type', 'children'],
      { description: 'A block of rich text.', additionalProperties: true },
    ),
  ),
})

const fileFormats = (components: Components): DescriptionObject => {
  const format = components.ref('schemas', 'file-format', () =>
    object(
      {
        ...{ name: text, hash: text, ext: text, mime: text, url: text },
        path: { type: ['string', 'null'] },
        ...{ width: integer, height: integer },
        size: { type: 'number', description: 'Kilobytes.' },
        sizeInBytes: integer,
      },
      ['hash', 'ext', 'mime', 'width', 'height', 'size', 'url'],
    ),
  )
  return { type: 'object', description: 'Smaller versions of an image, by name.', additionalProperties: format }
}
