// Values for attributes: mostly such as their schemas allow, some at their bounds, some of wrong types.

/** Conversations whose unique days differ, and have years of four digits: a day of another form ends Strapi's process. */
const lastDays = 290_000

const odd = [
  null,
  '',
  'x',
  0,
  -1,
  1.5,
  12,
  true,
  false,
  [],
  {},
  [1],
  ['a'],
  { a: 1 },
  '5',
  ' 5 ',
  'null',
  'true',
  '2024-01-01',
  'é😀',
  'a'.repeat(300),
  1e15,
  [null],
  [[]],
  { id: 1 },
  { set: [] },
]

const texts = [
  'Anchor',
  'ab',
  'a',
  '',
  'Lee shore',
  'été',
  'zz zz',
  'quay',
  'x'.repeat(40),
  'abcdefgh',
  'AB-12',
  'news',
  ' pad ',
  "o'hara",
  '"q"',
  '<b>',
  'UPPER',
]
const ofType = {
  email: ['a@b.de', 'x.y@example.org', 'A@B.DE', 'nobody', 'a@b', ''],
  uid: ['a-b', 'slug_1', 'Two', 'a b', '', 'x.y~z'],
  password: ['secret1', 'abc', 'long enough'],
  integer: [0, 1, 3, -5, 7, 50, 51, '4', 9, 2, 1.5, -1000, 1001, '12abc'],
  biginteger: ['0', '12', 42, '-7', '9007199254740991', 'x', 1.5, '1'.repeat(18)],
  float: [0.5, 1, 0, -1.5, '2.5', 1e3, 12.25],
  decimal: [1.25, 0, 99.5, 99.75, '3.5', -2, 1e-3],
  boolean: [true, false, 'true', 'false', 0, 1, '1', 't', null],
  date: ['2024-02-29', '1999-12-31', '2024-02-30', '2024-01-01T10:00:00.000Z', '24-1-1', ''],
  time: ['10:00', '23:59:59', '01:02:03.004', '25:00', '10:00:00.1', ''],
  datetime: ['2024-05-06T07:08:09.010Z', '2024-05-06', '2024-05-06T07:08:09+02:00', 1700000000000, 'soon', ''],
  timestamp: ['2024-05-06T07:08:09.010Z', 1700000000000, '1700000000000', 'soon'],
  json: [{ a: 1 }, [1, 2], 'text', 7, null, { deep: { er: [true] } }, [], {}, '{"a":1}'],
  blocks: [
    [],
    null,
    [{ type: 'paragraph', children: [{ type: 'text', text: 'hello', bold: true }] }],
    [{ type: 'heading', level: 2, children: [{ type: 'text', text: 'T' }] }],
    [{ type: 'list', format: 'ordered', children: [{ type: 'list-item', children: [{ type: 'text', text: 'i' }] }] }],
    [{ type: 'paragraph', children: [{ type: 'link', url: 'https://a.b', children: [{ type: 'text', text: 'l' }] }] }],
    [{ type: 'nope', children: [] }],
    [{ type: 'paragraph' }],
    'text',
  ],
}

/** A value that is likely to be accepted. */
export function fitting({ pick, below, next }, attribute, conversation) {
  const { type, minLength = 0, maxLength = 60, min = -4, max = 40, unique } = attribute
  const bounded = Math.floor(next() * (Number(max) - Number(min) + 1)) + Number(min)
  switch (type) {
    case 'enumeration':
      return pick(attribute.enum)
    case 'uid':
      return `u-${conversation}-${below(50)}`
    case 'integer':
      return unique ? conversation * 10 + below(9) : Math.ceil(Math.min(Math.max(bounded, Number(min)), Number(max)))
    case 'biginteger':
      return String(unique ? conversation * 10 + below(9) : below(99) + 10)
    case 'float':
    case 'decimal':
      return unique ? conversation + below(9) / 8 : Math.min(Math.max(Math.round(next() * 8) / 8, Number(min)), Number(max))
    case 'boolean':
      return pick([true, false])
    case 'email':
      return unique ? `u${conversation}.${below(9)}@example.org` : pick(['ab@cd.efg', 'first@example.org'])
    case 'date':
      return unique
        ? new Date(86_400_000 * ((conversation % lastDays) * 10 + below(9))).toISOString().slice(0, 10)
        : pick(['2024-02-29', '1999-12-31'])
    case 'time':
      return unique ? new Date(conversation * 1000 + below(900)).toISOString().slice(11, 23) : pick(['10:00:00.000', '23:59', '01:02:03'])
    case 'datetime':
    case 'timestamp':
      return new Date(unique ? 1000 * (conversation * 10 + below(9)) : 1.7e12 + below(1e6)).toISOString()
    case 'json':
      return pick([{ a: 1 }, [1, 2], 'text', 7, {}, { deep: { er: ['x'] } }])
    case 'blocks':
      return pick(ofType.blocks.slice(2, 6))
    default: {
      if (unique) return `u${conversation}-${below(50)}`
      const shape = attribute.regex?.startsWith('^[A-Z]') ? 'AB-12' : 'abcdefghijklmnopqrstuvwxyz'
      const length = Math.min(Math.max(minLength, 1) + below(6), maxLength)
      return shape === 'AB-12' ? shape : shape.slice(below(9)).slice(0, length).padEnd(length, 'z')
    }
  }
}

/** Any value for a scalar: plausible ones of its type, and such of other types. `wild`: how often these. */
export function anyValue(choice, attribute, conversation, wild) {
  if (choice.chance(wild)) return choice.pick(odd)
  if (choice.chance(wild)) return choice.pick(ofType[attribute.type] ?? texts)
  return fitting(choice, attribute, conversation)
}

export const oddValue = ({ pick }) => pick(odd)
