// A small project of the tests' own: words that are hard to compare, and samples with a value of every attribute type.
import { isOnMysql } from '../support/databases.js'
import type { Served, ServeOptions } from '../support/serve.js'
import { serveProject } from '../support/serve.js'

type Attributes = Readonly<Record<string, unknown>>

interface TypeOptions {
  readonly draftAndPublish?: boolean
  readonly localized?: boolean
  readonly kind?: 'collectionType' | 'singleType'
  /** Default: the singular name with an s. */
  readonly plural?: string
}

const localization = (localized = false) => ({ i18n: { localized } })

/** The earliest value of an attribute of the type timestamp: on MariaDB its columns begin after 1970 did. */
export const firstStamp = isOnMysql ? '1970-01-02T00:00:00.000Z' : '1970-01-01T00:00:00.000Z'

/** The schema file of a content-type, by its path. */
export function contentType(singularName: string, attributes: Attributes, options: TypeOptions = {}): Record<string, unknown> {
  const pluralName = options.plural ?? `${singularName}s`
  const schema = {
    kind: options.kind ?? 'collectionType',
    collectionName: pluralName,
    info: { singularName, pluralName, displayName: singularName },
    options: { draftAndPublish: options.draftAndPublish ?? false },
    pluginOptions: localization(options.localized),
    attributes,
  }
  return { [`src/api/${singularName}/content-types/${singularName}/schema.json`]: schema }
}

/** The schema file of a component, by its path. */
export function component(category: string, name: string, attributes: Attributes): Record<string, unknown> {
  const schema = { collectionName: `components_${category}_${name}s`, info: { displayName: name }, attributes }
  return { [`src/components/${category}/${name}.json`]: schema }
}

export interface Seeded {
  readonly key: string
  readonly documentId?: string
  readonly locales: Readonly<Record<string, { readonly published?: Attributes; readonly draft?: Attributes }>>
}

/** The seed file of a type's documents, by its path. */
export function seeded(singularName: string, documents: readonly Seeded[]): Record<string, unknown> {
  return { [`seed/content/${singularName}.json`]: { uid: `api::${singularName}.${singularName}`, documents } }
}

/** Documents of a type without locales, by key. */
export const plain = (values: Readonly<Record<string, Attributes>>): readonly Seeded[] =>
  Object.entries(values).map(([key, published]) => ({ key, locales: { '-': { published: { name: key, ...published } } } }))

/** The seed's access file: what the public may do. */
export const access = (actions: readonly string[], locales: readonly object[] = []): Record<string, unknown> => ({
  'seed/access.json': { locales, roles: { public: actions } },
})

/** `find` and `findOne` of types. */
export const reading = (...names: readonly string[]): readonly string[] =>
  names.flatMap((name) => [`api::${name}.${name}.find`, `api::${name}.${name}.findOne`])

/** Texts by name: case, letters beyond ASCII, and patterns of LIKE. */
export const words: Readonly<Record<string, string | null>> = {
  small: 'harbour',
  capital: 'HARBOUR',
  mixed: 'The Harbour Bath',
  umlaut: 'Über Äpfel',
  lowered: 'über äpfel',
  greek: 'ΟΔΟΣ',
  percent: '100% wool',
  wool: '100 wool',
  underscore: 'a_b',
  cross: 'aXb',
  backslash: 'back\\slash',
  quotes: `it's "quoted"`,
  empty: '',
  missing: null,
}

/** A value of every type: all ordinary, all at an end, none. */
export const samples: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  first: {
    string: 'Line one\nline "two" \\ ende',
    text: 'Ζωή, жизнь, 生命, 🜁',
    rich: '# Heading\n\n* item',
    mail: 'someone@library.example',
    code: 'first-code',
    choice: 'north',
    whole: 42,
    big: '9223372036854775807',
    rough: 0.1,
    exact: 12.34,
    flag: true,
    day: '2024-02-29',
    at: '23:59:59.999',
    moment: '2024-02-29T12:30:00.000Z',
    stamp: '2024-02-29T12:30:00.123Z',
    data: { a: { b: [1, 2.5, null, 'ü', { c: {} }] }, n: -1 },
    story: [
      { type: 'heading', level: 2, children: [{ type: 'text', text: 'Title' }] },
      { type: 'paragraph', children: [{ type: 'text', text: 'bold', bold: true }] },
    ],
  },
  second: {
    string: '',
    text: ' ',
    rich: '<b>&amp;</b>',
    mail: 'a@b.example',
    code: 'second-code',
    choice: 'south',
    whole: -2147483648,
    big: '-9223372036854775808',
    rough: -1.5e300,
    exact: 0,
    flag: false,
    day: '1969-12-31',
    at: '00:00:00.000',
    moment: '1969-12-31T23:59:59.001Z',
    stamp: firstStamp,
    data: [],
    story: [],
  },
  third: {
    string: 'Third',
    text: 'third',
    rich: 'third',
    mail: 'third@library.example',
    code: 'third-code',
    choice: 'north',
    whole: 7,
    big: '9007199254740993',
    rough: 7,
    exact: 7.5,
    flag: false,
    day: '2024-03-01',
    at: '08:00:00.000',
    moment: '2024-03-01T00:00:00.000Z',
    stamp: '2024-03-01T00:00:00.000Z',
    data: { list: [] },
    story: [{ type: 'paragraph', children: [{ type: 'text', text: '' }] }],
  },
  nothing: {},
}

const sampleAttributes: Attributes = {
  name: { type: 'string' },
  string: { type: 'string' },
  text: { type: 'text' },
  rich: { type: 'richtext' },
  mail: { type: 'email' },
  code: { type: 'uid' },
  choice: { type: 'enumeration', enum: ['north', 'south'] },
  secret: { type: 'password' },
  hidden: { type: 'string', private: true },
  whole: { type: 'integer' },
  big: { type: 'biginteger' },
  rough: { type: 'float' },
  exact: { type: 'decimal' },
  flag: { type: 'boolean' },
  day: { type: 'date' },
  at: { type: 'time' },
  moment: { type: 'datetime' },
  stamp: { type: 'timestamp' },
  data: { type: 'json' },
  story: { type: 'blocks' },
}

const library = {
  ...contentType('word', { name: { type: 'string' }, text: { type: 'string' } }),
  ...contentType('sample', sampleAttributes),
  ...seeded('word', plain(Object.fromEntries(Object.entries(words).map(([name, text]) => [name, { text }])))),
  ...seeded('sample', plain({ ...samples, first: { ...samples.first, secret: 'open-sesame', hidden: 'whisper' } })),
  ...access(reading('word', 'sample')),
}

/** Words and samples, readable by the public. */
export const serveLibrary = (contract: 'specification' | 'strapi', options: ServeOptions = {}): Promise<Served> =>
  serveProject(library, { ...options, config: { ...options.config, api: { rest: { contract, ...options.config?.api?.rest } } } })
