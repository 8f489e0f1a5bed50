// Dates in queries: valid and malformed ones are read as by Strapi's date library, in UTC. Week and ordinal dates are refused.

import { parseISO } from 'date-fns'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseIsoDate } from '../../src/model/types/dates.js'

const zone = process.env.TZ
beforeAll(() => {
  // The library reads a time without a zone in that of the process.
  process.env.TZ = 'UTC'
})
afterAll(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

const digits = (count: number) => fc.stringMatching(new RegExp(`^\\d{${count}}$`))
const joined = (...parts: readonly (fc.Arbitrary<string> | string)[]) =>
  fc.tuple(...parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part))).map((texts) => texts.join(''))

const year = fc.oneof(digits(4), joined('20', digits(2)))
const month = fc.oneof(fc.constantFrom('00', '01', '02', '12', '13'), digits(2))
const day = fc.oneof(fc.constantFrom('00', '01', '28', '29', '30', '31', '32'), digits(2))
const week = fc.oneof(fc.constantFrom('00', '01', '52', '53', '54'), digits(2))
const date = fc.oneof(
  ...[joined(year, '-', month, '-', day), joined(year, month, day), joined(year, '-', month), year, digits(2), joined('+', digits(4))],
  ...[joined(year, '-W', week), joined(year, '-W', week, '-', digits(1)), joined(year, 'W', week, digits(1))],
  ...[joined(year, '-', digits(3)), joined(year, digits(3)), joined(fc.constantFrom('+', '-'), digits(6), '-', month, '-', day)],
)
const hour = fc.constantFrom('00', '09', '12', '23', '24', '25')
const sixty = fc.oneof(fc.constantFrom('00', '59', '60'), digits(2))
const fraction = joined(fc.constantFrom('.', ','), fc.stringMatching(/^\d{0,6}$/))
const time = fc.oneof(
  ...[hour, joined(hour, fraction), joined(hour, ':', sixty), joined(hour, sixty), joined(hour, ':', sixty, fraction)],
  ...[joined(hour, ':', sixty, ':', sixty), joined(hour, sixty, sixty), joined(hour, ':', sixty, ':', sixty, fraction)],
)
const offset = fc.constantFrom('', 'Z', 'z', '+01', '+0130', '-01:30', '+14:00', '+24:00', '-00:60', '+1')
const whole = fc.oneof(date, joined(date, fc.constantFrom('T', ' '), time, offset), joined(date, offset))

/** Week and ordinal dates. */
const isRefused = (text: string): boolean => /^(?:\d{4}|[+-]\d{6})-?(?:\d{3}|W\d{2}(?:-?\d)?)(?:[T zZ]|$)/.test(text)

/** A text with one character more or less somewhere. */
const broken = fc
  .tuple(whole, fc.nat(40), fc.constantFrom('', ...'0123456789-+:.,TZW /'))
  .map(([text, at, sign]) => (sign === '' ? text.slice(0, at) + text.slice(at + 1) : text.slice(0, at) + sign + text.slice(at)))

test('dates are read as in Strapi, except week and ordinal dates', () => {
  fc.assert(
    fc.property(fc.oneof({ weight: 4, arbitrary: whole }, { weight: 1, arbitrary: broken }), (text) => {
      const theirs = parseISO(text).getTime()
      expect(parseIsoDate(text), text).toBe(Number.isNaN(theirs) || isRefused(text) ? null : theirs)
    }),
    { numRuns: 20_000 },
  )
})
