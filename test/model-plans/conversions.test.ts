// Conversions of values between attribute types, and the queries that count what does not convert.
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { ScalarType } from '../../src/foundation/public/attribute-types.js'
import { convertValue, getConversion, isLossless, unconvertibleValues } from '../../src/model/diff/conversions.js'
import { attributeTypes } from '../../src/model/types/attribute-types.js'

const types = Object.keys(attributeTypes) as ScalarType[]
const convert = (from: ScalarType, to: ScalarType, value: string | number) => convertValue(getConversion(from, to), value)

test('model-plans.8: values become those of the new type, or null', () => {
  expect(['12', ' 7 ', '-3', '3.5', 'abc', '', '99999999999'].map((text) => convert('string', 'integer', text))).toEqual([
    ...[12, 7, -3],
    ...[null, null, null, null],
  ])
  expect(['12', '3.5', '-0.25', '1e3', '.5', 'x'].map((text) => convert('text', 'float', text))).toEqual([12, 3.5, -0.25, null, null, null])
  expect(['true', 'FALSE', '1', '0', 'yes'].map((text) => convert('string', 'boolean', text))).toEqual([1, 0, 1, 0, null])
  expect(['2024-02-29', '2023-02-29', 'soon'].map((text) => convert('string', 'date', text))).toEqual(['2024-02-29', null, null])
  expect(['10:20:30', '10:20:30.5', '25:00:00'].map((text) => convert('string', 'time', text))).toEqual([
    '10:20:30.000',
    '10:20:30.500',
    null,
  ])
  expect(convert('string', 'datetime', '2024-01-02T03:04:05.000Z')).toBe(1704164645000)
  expect(convert('datetime', 'date', 1704164645000)).toBe('2024-01-02')
  expect(convert('datetime', 'time', 1704164645000)).toBe('03:04:05.000')
  expect(convert('datetime', 'string', 1704164645000)).toBe('2024-01-02T03:04:05.000Z')
  expect(convert('date', 'datetime', '2024-01-02')).toBe(1704153600000)
  expect([1, 0].map((value) => convert('boolean', 'string', value))).toEqual(['true', 'false'])
  expect(['{"a":1}', 'plain', '12'].map((text) => convert('text', 'json', text))).toEqual(['{"a":1}', '"plain"', '12'])
  expect(convert('json', 'text', '{"a":1}')).toBe('{"a":1}')
  expect([convert('string', 'password', 'secret'), convert('password', 'string', '$2a$10$…')]).toEqual([null, null])
  expect([convert('text', 'string', 'x'.repeat(255)), convert('text', 'string', 'x'.repeat(256))]).toEqual(['x'.repeat(255), null])
})

/** Values as SQLite stores them, by the family of a type. */
const samples: Readonly<Record<string, readonly (string | number)[]>> = {
  text: [
    '12',
    '-7',
    '3.5',
    '-3.5',
    '--1',
    '1-2',
    '1.2.3',
    '.',
    '-',
    '',
    'abc',
    'true',
    '0',
    '2024-01-02',
    '2024-13-45',
    '03:04:05',
    '03:04:05.5',
    '03:04:05.',
    '23:60:00',
    '03:04:05.1234',
    '2023-02-29',
    '2024-04-31',
    '2024-01-02T03:04:05.123Z',
    '2024-01-02T03:04:05.Z',
    '2024-01-02T25:00:00Z',
    '2024-01-02T',
    '2024-01-02Tx',
    'x'.repeat(300),
    '99999999999999999999',
    '1.',
    '-.5',
    '2024-01-02T03:04:05Z',
  ],
  number: [0, 1, 2, -5, 1.5, 1e21, 3_000_000_000],
  biginteger: [0, 1, 5_000_000_000, -2],
  boolean: [0, 1],
  date: ['2024-01-02', '1969-12-31'],
  time: ['03:04:05.000'],
  datetime: [1704164645000, 0, -1],
  json: ['{"a":1}', '"x"', '12', '[]', JSON.stringify('y'.repeat(400))],
}

test.each(types)('model-plans.8: the query for %s counts all values that do not convert, and no others where it is exact', (from) => {
  const values = samples[attributeTypes[from].family]!.filter(
    (value) => from !== 'integer' || (Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31),
  )
  const database = new Database(':memory:')
  database.exec(
    `create table t (id integer primary key, value ${attributeTypes[from].column.startsWith('decimal') ? 'float' : attributeTypes[from].column})`,
  )
  const insert = database.prepare('insert into t (value) values (?)')
  for (const value of values) insert.run(value)
  const stored = database.prepare('select value from t').pluck().all() as (string | number)[]
  for (const to of types) {
    const conversion = getConversion(from, to)
    const lost = stored.filter((value) => convertValue(conversion, value) === null).length
    const found = unconvertibleValues(conversion, 'value')
    const count =
      found === null
        ? 0
        : database
            .prepare(`select count(*) from t where ${found.where.text.join('?')}`)
            .pluck()
            .get(...found.where.values)
    const says = `${from} → ${to}`
    if (found?.exact === false) expect(count, says).toBeGreaterThanOrEqual(lost)
    else expect(count, says).toBe(lost)
    if (isLossless(conversion)) expect(lost, says).toBe(0)
  }
})
