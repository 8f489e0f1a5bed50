// Draws valid filters, sort keys and pages for the fuzzed project, and writes them as query strings.
import fc from 'fast-check'
import type { Condition, SortKey, Value } from './evaluator.js'
import { oddTexts } from './project.js'

type Kind = 'text' | 'integer' | 'big' | 'float' | 'boolean' | 'date' | 'time' | 'datetime' | 'json'
interface Shape {
  readonly attributes: Readonly<Record<string, Kind>>
  readonly relations: Readonly<Record<string, keyof typeof shapes>>
}

const own = { id: 'integer', documentId: 'text', createdAt: 'datetime', updatedAt: 'datetime', publishedAt: 'datetime' } as const
/** The attributes that may be compared and sorted by. */
export const shapes = {
  thing: {
    attributes: {
      ...own,
      ...({
        word: 'text',
        story: 'text',
        essay: 'text',
        mail: 'text',
        code: 'text',
        mood: 'text',
        count: 'integer',
        big: 'big',
        ratio: 'float',
      } as const),
      ...({
        price: 'float',
        yes: 'boolean',
        day: 'date',
        hour: 'time',
        moment: 'datetime',
        stamp: 'datetime',
        data: 'json',
        body: 'json',
      } as const),
    },
    relations: { owner: 'person', tags: 'tag', part: 'part', parts: 'part' },
  },
  person: { attributes: { ...own, name: 'text', age: 'integer' }, relations: { friend: 'person', things: 'thing' } },
  tag: { attributes: { ...own, name: 'text', weight: 'integer' }, relations: { things: 'thing' } },
  part: { attributes: { id: 'integer', label: 'text', size: 'integer' }, relations: {} },
} as const satisfies Record<string, { attributes: Record<string, Kind>; relations: Record<string, string> }>
export type ShapeName = keyof typeof shapes

const moments = [
  '1970-01-01T00:00:00.000Z',
  '2020-09-13T12:26:40.000Z',
  '2020-09-13T12:26:45.000Z',
  '2023-11-14T22:13:20.000Z',
  '2024-02-29T00:00:00+01:00',
]
/** An operand as written in the query string, and its value. */
type Operand = readonly [written: string, meant: Value]
const same = (text: string): Operand => [text, text]
const number = (value: number): Operand => [String(value), value]

const operands: Readonly<Record<Kind, fc.Arbitrary<Operand>>> = {
  text: fc.constantFrom(...oddTexts, 'dry', 'warm', 'one', 'a@b.c').map(same),
  integer: fc.constantFrom(-1000, -1, 0, 1, 2, 5, 9, 10, 100, 2.5, 2_147_483_647).map(number),
  big: fc
    .constantFrom(
      '0',
      '-1',
      '9',
      '10',
      '9007199254740991',
      '9007199254740992',
      '9007199254740993',
      '9223372036854775807',
      '-9223372036854775808',
    )
    .map((digits): Operand => [digits, Number.isSafeInteger(Number(digits)) ? Number(digits) : BigInt(digits)]),
  float: fc.constantFrom(0, -0.5, 0.1, 2, 2.5, 9.99, 10, -3, 1e21, 1e-7).map(number),
  boolean: fc.constantFrom<Operand>(['true', 1], ['false', 0], ['1', 1], ['0', 0]),
  date: fc
    .constantFrom('2024-02-29', '1999-12-31', '2024-03-01', '0001-01-01', '2024-02-29T10:00:00Z')
    .map((day): Operand => [day, day.slice(0, 10)]),
  time: fc.constantFrom<Operand>(
    ['00:00:00', '00:00:00.000'],
    ['12:30:00.000', '12:30:00.000'],
    ['23:59:59.999', '23:59:59.999'],
    ['12:30:00.1', '12:30:00.100'],
  ),
  datetime: fc.oneof(
    fc.constantFrom(...moments).map((moment): Operand => [moment, Date.parse(moment)]),
    fc.constantFrom(0, -1, 1_700_000_000_000, 1_700_000_000_001, 1_600_000_003_000).map(number),
  ),
  json: fc.constant(same('')),
}

const typed = ['$eq', '$ne', '$lt', '$lte', '$gt', '$gte', '$in', '$notIn', '$between']
const textual = '$eqi $nei $contains $notContains $containsi $notContainsi $startsWith $startsWithi $endsWith $endsWithi'.split(' ')
const nullish = ['$null', '$notNull']
/** A searched text is taken literally, for attributes of any type. */
const pieces = fc.oneof(
  fc.constantFrom(...oddTexts).filter((text) => text !== ''),
  fc.constantFrom('0', '1', '-', ':', '00', '2024', 'B', 'Σ', 'i'),
)

/** A comparison together with the operands as they are written. */
type Comparison = Condition & { readonly kind: 'compare'; readonly written: readonly string[] }

function comparison(attribute: string, kind: Kind): fc.Arbitrary<Comparison> {
  // A fraction has several texts; large integers have a separate test.
  const texts =
    kind === 'json' || kind === 'float' || kind === 'boolean' ? [] : kind === 'big' ? textual.filter((name) => !/i$/.test(name)) : textual
  const operators = [...nullish, ...(kind === 'json' ? [] : typed), ...texts]
  return fc.constantFrom(...operators).chain((operator) => {
    const made = (drawn: readonly Operand[]): Comparison => ({
      kind: 'compare',
      attribute,
      operator,
      operands: drawn.map(([, meant]) => meant),
      written: drawn.map(([written]) => written),
    })
    if (nullish.includes(operator)) {
      const other = operator === '$null' ? '$notNull' : '$null'
      return fc.constantFrom('true', 'false', '1', '0').map(
        (flag): Comparison => ({
          ...made([[flag, flag]]),
          attribute,
          operator: /^[t1]/.test(flag) ? operator : other,
          written: [operator, flag],
        }),
      )
    }
    if (textual.includes(operator)) return pieces.map((piece) => made([same(piece)]))
    if (operator === '$between') return fc.tuple(operands[kind], operands[kind]).map(made)
    if (operator === '$in' || operator === '$notIn') return fc.array(operands[kind], { minLength: 1, maxLength: 4 }).map(made)
    return operands[kind].map((operand) => made([operand]))
  })
}

/** A valid filter of a shape, nested up to `depth` levels. */
export function conditions(shape: ShapeName, depth: number): fc.Arbitrary<Condition> {
  const { attributes, relations } = shapes[shape] as Shape
  const leaf = fc.constantFrom(...Object.entries(attributes)).chain(([attribute, kind]) => comparison(attribute, kind))
  if (depth === 0) return leaf
  const below = (levels: number) => conditions(shape, levels)
  const several = (kind: 'and' | 'or') => fc.array(below(depth - 1), { minLength: 1, maxLength: 3 }).map((of): Condition => ({ kind, of }))
  const names = Object.entries(relations)
  const related =
    names.length === 0
      ? leaf
      : fc
          .constantFrom(...names)
          .chain(([relation, target]) => conditions(target, depth - 1).map((where): Condition => ({ kind: 'related', relation, where })))
  return fc.oneof(
    { weight: 3, arbitrary: leaf },
    { weight: 3, arbitrary: related },
    { weight: 2, arbitrary: several('and') },
    { weight: 2, arbitrary: several('or') },
    { weight: 2, arbitrary: below(depth - 1).map((of): Condition => ({ kind: 'not', of })) },
    {
      weight: 2,
      arbitrary: fc
        .uniqueArray(
          below(depth - 1).filter(({ kind }) => kind !== 'together'),
          { minLength: 2, maxLength: 3, selector: keyOf },
        )
        .map((of): Condition => ({ kind: 'together', of })),
    },
  )
}

/** The key of a condition in its object. Nested objects would merge, because they have no key. */
function keyOf(condition: Condition): string {
  if (condition.kind === 'compare')
    return `${condition.attribute} ${nullish.includes(condition.operator) ? (condition as Comparison).written[0] : condition.operator}`
  return condition.kind === 'related' ? condition.relation : `$${condition.kind}`
}

/** The filter's part of a query string. Within one object, comparisons name their operators. */
export function writeFilter(condition: Condition, path = 'filters', within = false): readonly string[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.of.flatMap((part, index) => writeFilter(part, `${path}[$${condition.kind}][${index}]`))
    case 'together':
      return condition.of.flatMap((part) => writeFilter(part, path, true))
    case 'not':
      if (condition.of.kind === 'compare' && isShort(condition.of as Comparison))
        return writeComparison(condition.of as Comparison, path, '[$not]')
      return writeFilter(condition.of, `${path}[$not]`)
    case 'related':
      return writeFilter(condition.where, `${path}[${condition.relation}]`)
    case 'compare':
      return writeComparison(condition as Comparison, path, '', within)
  }
}

/** True if a comparison uses the shorter of its two spellings: as good as random, and the same in every run. */
const isShort = ({ written }: Comparison): boolean => written.join('').length % 2 === 0

function writeComparison(comparison: Comparison, path: string, negation: '' | '[$not]', within = false): readonly string[] {
  const { attribute, operator, written } = comparison
  const here = `${path}[${attribute}]${negation}`
  const [first, second] = written as readonly [string, string]
  if (nullish.includes(operator)) return [`${here}[${first}]=${second}`]
  const encoded = written.map(encodeURIComponent)
  const isPlain = isShort(comparison) && !within
  // A list in `$not` holds conditions that must not all hold.
  const isList = negation === '' || encoded.length === 1
  if (operator === '$in' && isPlain && isList) return encoded.map((value) => `${here}[]=${value}`)
  if (['$in', '$notIn', '$between'].includes(operator)) return encoded.map((value, index) => `${here}[${operator}][${index}]=${value}`)
  return [operator === '$eq' && isPlain ? `${here}=${encoded[0]}` : `${here}[${operator}]=${encoded[0]}`]
}

/** Up to three sort keys of a shape, through up to two relations. */
export function sortKeys(shape: ShapeName): fc.Arbitrary<readonly SortKey[]> {
  const key = (from: ShapeName, steps: number): fc.Arbitrary<Omit<SortKey, 'descending'>> => {
    const { attributes, relations } = shapes[from] as Shape
    const sortable = Object.keys(attributes).filter((name) => attributes[name] !== 'json')
    const here = fc.constantFrom(...sortable).map((attribute) => ({ path: [], attribute }))
    const names = Object.entries(relations)
    if (steps === 0 || names.length === 0) return here
    const through = fc
      .constantFrom(...names)
      .chain(([relation, target]) => key(target, steps - 1).map(({ path, attribute }) => ({ path: [relation, ...path], attribute })))
    return fc.oneof({ weight: 2, arbitrary: here }, { weight: 1, arbitrary: through })
  }
  return fc.array(
    fc.tuple(key(shape, 2), fc.boolean()).map(([one, descending]) => ({ ...one, descending })),
    { maxLength: 3 },
  )
}

/** The sort's part of a query string, in one of its spellings. */
export function writeSort(keys: readonly SortKey[], spelling: 'text' | 'list' | 'objects'): readonly string[] {
  if (keys.length === 0) return []
  const order = ({ descending }: SortKey) => (descending ? 'desc' : 'asc')
  const names = ({ path, attribute }: SortKey) => [...path, attribute]
  const texts = keys.map((key) => `${names(key).join('.')}${key.descending ? ':desc' : ''}`)
  if (spelling === 'text') return [`sort=${texts.join(',')}`]
  if (spelling === 'list') return texts.map((text, index) => `sort[${index}]=${text}`)
  return keys.map(
    (key, index) =>
      `sort[${index}]${names(key)
        .map((name) => `[${name}]`)
        .join('')}=${order(key)}`,
  )
}
