// The schemas of `filters`, made from the table of operators.
import { attributeTypes, type Family } from '../../../model/schema/attributes.js'
import type { Scalar } from '../../../model/schema/types.js'
import { operators } from '../../../query/operators.js'
import { publicFields } from '../../../query/rest/fields.js'
import type { DescribedShape } from '../view.js'
import { isPath, linksOf, targetsOf } from '../view.js'
import type { SchemaContext } from './documents.js'
import { type Components, type DescriptionObject, list, object, text, yesOrNo } from './schema.js'

/** A reference to the filters of a content-type or component. */
export const filtersRef = (context: SchemaContext, shape: DescribedShape): DescriptionObject => {
  const name = `${context.view.names.get(shape.uid)!}Filters`
  return context.components.ref('schemas', name, () => filtersSchema(context, shape, { $ref: `#/components/schemas/${name}` }))
}

function filtersSchema(context: SchemaContext, shape: DescribedShape, self: DescriptionObject): DescriptionObject {
  const { view, components } = context
  const fields = publicFields(shape).map((attribute) => [attribute.name, condition(components, attribute)] as const)
  const paths = linksOf(view, shape).filter((link) => isPath(view, link, 'condition'))
  const below = paths.map(
    (link) => [link.name, { anyOf: [filtersRef(context, targetsOf(view, link)[0]!), rowCondition(components)] }] as const,
  )
  const junctions = { $and: list(self), $or: list(self), $not: self }
  return object({ ...Object.fromEntries([...fields, ...below]), ...junctions }, [], { additionalProperties: false })
}

/** The JSON type of values that are compared. */
const values: Readonly<Record<Family, DescriptionObject>> = {
  text,
  number: { type: 'number' },
  biginteger: { type: ['string', 'integer'] },
  boolean: yesOrNo,
  date: text,
  time: text,
  datetime: { type: ['string', 'integer'] },
  json: text,
}

/** A value, a list of values, or an object of operators. */
const condition = (components: Components, { type }: Scalar): DescriptionObject => {
  const { family } = attributeTypes[type]
  return components.ref('schemas', `${family}-condition`, () => conditionSchema(values[family]))
}

/** Conditions on related rows themselves, by their ids. */
const rowCondition = (components: Components): DescriptionObject =>
  components.ref('schemas', 'row-condition', () => conditionSchema({ type: 'integer', description: 'A row id.' }))

function conditionSchema(value: DescriptionObject): DescriptionObject {
  const operand = { one: value, two: { type: 'array', items: value, minItems: 2, maxItems: 2 }, many: list(value), flag: yesOrNo } as const
  const byName = Object.entries(operators).map(
    ([name, { takes, typed }]) => [name, typed || takes !== 'one' ? operand[takes] : text] as const,
  )
  const all = Object.fromEntries(byName)
  return {
    anyOf: [
      value,
      list(value),
      object({ ...all, $not: object(all, [], { additionalProperties: false }) }, [], { additionalProperties: false }),
    ],
  }
}
