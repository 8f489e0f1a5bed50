// Hints of the page about single values: the constraints that the service checks before a publication, with the same codes and numbers.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkValue } from '../../admin/fields/checks.js'
import type { RuleContext, RuleError } from '../../src/model/types/attribute-type.js'
import { attributeTypes } from '../../src/model/types/attribute-types.js'

const publication: RuleContext = { isDraft: false, isStored: false }

/** The errors of the service for a value that is there. */
function serviceErrors(attribute: { readonly type: string; readonly required?: boolean }, value: unknown) {
  const { rules } = attributeTypes[attribute.type as 'string'].input
  const described = { name: 'value', required: attribute.required === true, source: attribute }
  const found = rules.map((rule) => rule(value as never, described, publication)).filter((error): error is RuleError => error !== null)
  const certain = found.filter(({ depends }) => depends?.pattern.printed.test(depends.value) !== true)
  const errors = certain.map(({ code, params = {} }) => ({ code, params }))
  // A uid is held to its pattern twice.
  return errors.filter((error, index) => errors.findIndex((other) => JSON.stringify(other) === JSON.stringify(error)) === index)
}

const length = fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined })
const texts = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constantFrom(
    '',
    'a@b.de',
    'a.b@c.de',
    'a..b@c.de',
    '.a@c.de',
    'ü@example.org',
    'a@b',
    'a b@c.de',
    'x'.repeat(300),
    'a-b_c.d~e',
    'ä',
    '42',
  ),
)
const textAttribute = fc.record({
  type: fc.constantFrom('string', 'text', 'richtext', 'email', 'uid', 'password'),
  required: fc.boolean(),
  minLength: length,
  maxLength: length,
  regex: fc.constantFrom(undefined, '^[a-z]+$', '\\d'),
})

test('texts break the same constraints as in the service', () => {
  fc.assert(
    fc.property(textAttribute, texts, (attribute, value) => {
      fc.pre(attribute.type !== 'password' || value !== '')
      expect(checkValue(attribute, value)).toEqual(serviceErrors(attribute, value))
    }),
    { numRuns: 2_000 },
  )
})

test('numbers break the same constraints as in the service', () => {
  const bound = fc.option(fc.integer({ min: -5, max: 5 }), { nil: undefined })
  const attribute = fc.record({ type: fc.constantFrom('integer', 'float', 'decimal'), min: bound, max: bound })
  const values = fc.oneof(
    fc.integer({ min: -9, max: 9 }),
    fc.double({ min: -9, max: 9, noNaN: true }).filter((value) => Math.abs(value) > 1e-5),
  )
  fc.assert(
    fc.property(attribute, values, (given, value) => {
      expect(checkValue(given, value)).toEqual(serviceErrors(given, value))
    }),
  )
})

test('absent values, choices and lists', () => {
  const codes = (attribute: Parameters<typeof checkValue>[0], value: unknown) => checkValue(attribute, value).map(({ code }) => code)
  expect(codes({ type: 'string', required: true }, null)).toEqual(['required'])
  expect(codes({ type: 'string' }, null)).toEqual([])
  expect(codes({ type: 'media', required: true }, null)).toEqual([])
  expect(codes({ type: 'enumeration', enum: ['a', 'b'] }, 'c')).toEqual(['enum'])
  expect(codes({ type: 'dynamiczone', min: 2 }, [])).toEqual([])
  expect(codes({ type: 'dynamiczone', min: 2, required: true }, [])).toEqual(['minItems'])
  expect(codes({ type: 'component', repeatable: true, max: 1 }, [{}, {}])).toEqual(['maxItems'])
})
