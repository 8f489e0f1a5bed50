// O48: what looks like a moment is read in linear time, whatever stands in it.
import { expect, test } from 'vitest'
import { parseIsoDate } from '../../src/query/rest/iso-dates.js'

/** Parts that the forms of dates, times and offsets repeat, or could be taken to. */
const parts = ['-', '+', 'Z', '0', '00', ':', '.', ',', '0.', '00:', '-00', 'W', 'T', ' ', '\n', '-\n', '00,0']

test.each(['', '2020-01-01', '2020-01-01T', '2020-01-01T00', '2020-01-01T00:00:00.', '2020-01-01T00:00Z', '-2020'])(
  'O48 %j followed by half a million characters is no moment, and takes little more for each than a few of them',
  (beginning) => {
    const timeOf = (characters: number) => {
      const began = performance.now()
      for (const part of parts)
        for (const end of ['', '\nx', 'x', 'Z']) parseIsoDate(beginning + part.repeat(characters / part.length) + end)
      return performance.now() - began
    }
    timeOf(20_000)
    const few = Math.min(timeOf(20_000), timeOf(20_000), timeOf(20_000))
    // Linear time is 25 times as much, quadratic time 625 times.
    expect(timeOf(500_000) / few).toBeLessThan(200)
  },
)

test('moments with offsets are what they were', () => {
  expect(parseIsoDate('2020-01-01T10:00+02:00')).toBe(Date.UTC(2020, 0, 1, 8))
  expect(parseIsoDate('2020-01-01T10:00-0030')).toBe(Date.UTC(2020, 0, 1, 10, 30))
  expect(parseIsoDate('2020-01-01T10:00Z')).toBe(Date.UTC(2020, 0, 1, 10))
  expect(parseIsoDate('2020-01-01Z')).toBe(Date.UTC(2020, 0, 1))
  // As in Strapi, what is no offset is none.
  expect(parseIsoDate('2020-01-01T10:00Zx')).toBe(Date.UTC(2020, 0, 1, 10))
})
