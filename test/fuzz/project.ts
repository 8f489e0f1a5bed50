// The project that is fuzzed: three types with every scalar attribute type, a to-one and a to-many relation, components and
// drafts, and about forty documents full of nulls, unicode, wildcards and quotes. The same in every run.
import { createHmac } from 'node:crypto'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import type { Served, ServeOptions } from '../support/serve.js'
import { serveProject } from '../support/serve.js'

const relation = (kind: string, target: string, side: object = {}) => ({
  type: 'relation',
  relation: kind,
  target: `api::${target}.${target}`,
  ...side,
})
const component = (repeatable: boolean) => ({ type: 'component', component: 'parts.part', repeatable })

const type = (singularName: string, pluralName: string, draftAndPublish: boolean, attributes: object) => ({
  kind: 'collectionType',
  info: { singularName, pluralName, displayName: singularName },
  options: { draftAndPublish },
  attributes,
})

const thing = {
  word: { type: 'string' },
  story: { type: 'text' },
  essay: { type: 'richtext' },
  mail: { type: 'email' },
  code: { type: 'uid' },
  mood: { type: 'enumeration', enum: ['dry', 'warm', 'loud'] },
  count: { type: 'integer' },
  big: { type: 'biginteger' },
  ratio: { type: 'float' },
  price: { type: 'decimal' },
  yes: { type: 'boolean' },
  day: { type: 'date' },
  hour: { type: 'time' },
  moment: { type: 'datetime' },
  stamp: { type: 'timestamp' },
  data: { type: 'json' },
  body: { type: 'blocks' },
  pin: { type: 'password' },
  hidden: { type: 'string', private: true },
  owner: relation('manyToOne', 'person', { inversedBy: 'things' }),
  tags: relation('manyToMany', 'tag', { inversedBy: 'things' }),
  part: component(false),
  parts: component(true),
}
const person = {
  name: { type: 'string' },
  age: { type: 'integer' },
  friend: relation('manyToOne', 'person'),
  things: relation('oneToMany', 'thing', { mappedBy: 'owner' }),
}
const tag = { name: { type: 'string' }, weight: { type: 'integer' }, things: relation('manyToMany', 'thing', { mappedBy: 'tags' }) }

/** Texts with special characters of databases and query strings, and letters with unusual case folding. */
export const oddTexts = [
  '',
  ' ',
  'a',
  'A',
  'ab',
  'Abc',
  'aBC',
  '100%',
  'a_b',
  'a\\b',
  "it's",
  '"q"',
  '%',
  '_',
  'ä',
  'Ä',
  'ß',
  'İ',
  'ǆ',
  'Σας',
  '😀',
  'e\u0301',
  'é',
  '0',
  '-1',
  '10',
  '9',
  'null',
  'a,b',
  'a&b=c',
  '\n',
]

const text = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...oddTexts) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...oddTexts), fc.constantFrom(...oddTexts)).map((two) => two.join('')) },
)
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 4 })
const whole = fc.oneof(fc.integer({ min: -3, max: 12 }), fc.constantFrom(-1000, 100, 2_147_483_647))
const moment = fc.oneof(
  fc.constantFrom(0, -1, 1_700_000_000_000, 1_700_000_000_001),
  fc.integer({ min: 1_600_000_000, max: 1_800_000_000 }).map((seconds) => seconds * 1000),
)
const iso = moment.map((milliseconds) => new Date(milliseconds).toISOString())
const part = fc.record({ label: orNull(text), size: orNull(whole) })

const things = fc.record({
  word: orNull(text),
  story: orNull(text),
  essay: orNull(text),
  mail: orNull(fc.constantFrom('a@b.c', 'A@B.C', 'z@b.c')),
  code: orNull(fc.constantFrom('one', 'two', 'three-3')),
  mood: orNull(fc.constantFrom('dry', 'warm', 'loud')),
  count: orNull(whole),
  big: orNull(fc.constantFrom('0', '-1', '9', '10', '9007199254740992', '9007199254740993', '9223372036854775807', '-9223372036854775808')),
  ratio: orNull(fc.constantFrom(0, -0.5, 0.1, 2, 2.5, 1e21, 1e-7)),
  price: orNull(fc.constantFrom(0, 0.1, 9.99, 10, -3)),
  yes: orNull(fc.boolean()),
  day: orNull(fc.constantFrom('2024-02-29', '1999-12-31', '2024-03-01', '0001-01-01')),
  hour: orNull(fc.constantFrom('00:00:00.000', '23:59:59.999', '12:30:00.000')),
  moment: orNull(iso),
  stamp: orNull(iso),
  data: orNull(fc.constantFrom({ a: 1 }, [1, 2], { 'q"': null })),
  body: orNull(fc.constant([{ type: 'paragraph', children: [{ type: 'text', text: 'x' }] }])),
  // Hashing a password takes long.
  pin: fc.oneof({ weight: 20, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constant('0000') }),
  hidden: orNull(text),
  owner: orNull(fc.nat(9).map((index) => `@person:p${index}`)),
  tags: fc.uniqueArray(fc.nat(7), { maxLength: 3 }).map((indexes) => indexes.map((index) => `@tag:t${index}`)),
  part: orNull(part),
  parts: fc.array(part, { maxLength: 2 }),
})
const people = fc.record({ name: orNull(text), age: orNull(whole), friend: orNull(fc.nat(9).map((index) => `@person:p${index}`)) })
const tags = fc.record({ name: orNull(text), weight: orNull(whole) })

/** Documents with a draft each, most of them published, some of those changed since. */
function versions<Values>(letter: string, values: fc.Arbitrary<Values>, count: number, drafts: boolean) {
  const drawn = fc.sample(fc.tuple(values, values, fc.constantFrom('same', 'same', 'changed', 'draft')), { numRuns: count, seed: 5 })
  return drawn.map(([first, second, state], index) => {
    const locale =
      !drafts || state === 'same' ? { published: first } : state === 'changed' ? { published: first, draft: second } : { draft: first }
    return { key: `${letter}${index}`, createdAt: new Date(1_600_000_000_000 + index * 1000).toISOString(), locales: { '-': locale } }
  })
}

const actions = (name: string) => [`api::${name}.${name}.find`, `api::${name}.${name}.findOne`]
const files = {
  'src/api/thing/content-types/thing/schema.json': type('thing', 'things', true, thing),
  'src/api/person/content-types/person/schema.json': type('person', 'people', false, person),
  'src/api/tag/content-types/tag/schema.json': type('tag', 'tags', true, tag),
  'src/components/parts/part.json': { info: { displayName: 'Part' }, attributes: { label: { type: 'string' }, size: { type: 'integer' } } },
  'seed/access.json': { roles: { public: ['thing', 'person', 'tag'].flatMap(actions) } },
  'seed/content/1-person.json': { uid: 'api::person.person', documents: versions('p', people, 10, false) },
  'seed/content/2-tag.json': { uid: 'api::tag.tag', documents: versions('t', tags, 8, true) },
  'seed/content/3-thing.json': { uid: 'api::thing.thing', documents: versions('d', things, 40, true) },
}

export function serveFuzzed(options: ServeOptions = {}): Promise<Served> {
  return serveProject(files, options)
}

/** A token that may do everything, for a service that was started with this API_TOKEN_SALT. */
export function fullAccess({ database: filename }: Served, salt: string): string {
  const token = 'f'.repeat(64)
  const database = new Database(filename)
  const insert = database.prepare(
    "insert into strapi_api_tokens (name, type, kind, access_key) values ('full', 'full-access', 'content-api', ?)",
  )
  insert.run(createHmac('sha512', salt).update(token).digest('hex'))
  database.close()
  return token
}
