// O48: parsing a timestamp takes linear time for any text.
import { expect, test } from 'vitest'
import { parseIsoDate } from '../../src/model/types/dates.js'

/** Parts that the forms of dates, times and offsets repeat, or could be taken to. */
const parts = ['-', '+', 'Z', '0', '00', ':', '.', ',', '0.', '00:', '-00', 'W', 'T', ' ', '\n', '-\n', '00,0']

test.each(['', '2020-01-01', '2020-01-01T', '2020-01-01T00', '2020-01-01T00:00:00.', '2020-01-01T00:00Z', '-2020'])(
  'O48 %j followed by half a million characters is refused in linear time',
  (beginning) => {
    const read = (characters: number) => {
      for (const part of parts)
        for (const end of ['', '\nx', 'x', 'Z']) parseIsoDate(beginning + part.repeat(characters / part.length) + end)
    }
    const workOf = (characters: number, times: number) => {
      const before = process.cpuUsage()
      for (let time = 0; time < times; time++) read(characters)
      return process.cpuUsage(before).user
    }
    const leastOf = (characters: number, times: number) => Math.min(workOf(characters, times), workOf(characters, times))
    workOf(20_000, 25)
    // As many characters in both: linear work is as much, quadratic work 25 times as much.
    expect(leastOf(500_000, 1) / leastOf(20_000, 25)).toBeLessThan(8)
  },
)

test('offsets are applied', () => {
  expect(parseIsoDate('2020-01-01T10:00+02:00')).toBe(Date.UTC(2020, 0, 1, 8))
  expect(parseIsoDate('2020-01-01T10:00-0030')).toBe(Date.UTC(2020, 0, 1, 10, 30))
  expect(parseIsoDate('2020-01-01T10:00Z')).toBe(Date.UTC(2020, 0, 1, 10))
  expect(parseIsoDate('2020-01-01Z')).toBe(Date.UTC(2020, 0, 1))
  // As in Strapi, invalid offsets are ignored.
  expect(parseIsoDate('2020-01-01T10:00Zx')).toBe(Date.UTC(2020, 0, 1, 10))
})
