// One change of every kind, on the project that changes of a model were recorded on, as bodies of requests.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Step } from './changing-project.js'

type Attribute = Readonly<Record<string, unknown>>
type Attributes = Readonly<Record<string, Attribute>>

/** A schema as its file has it. */
interface Schema {
  readonly collectionName?: string
  readonly info: Readonly<Record<string, string>>
  readonly options?: Readonly<Record<string, unknown>>
  readonly attributes: Attributes
}
type Schemas = Readonly<Record<string, Schema>>

/** The body of a change. */
interface Change {
  readonly data: Readonly<Record<string, object | null>>
  readonly renames?: readonly Readonly<Record<string, string>>[]
  readonly neverPublished?: 'publish'
}

const [note, story, writer, label, front, lonely, remark] = ['note', 'story', 'writer', 'label', 'front', 'lonely', 'remark'].map(
  (name) => `api::${name}.${name}`,
) as [string, string, string, string, string, string, string]
const [link, seo, quote, og] = ['shared.link', 'shared.seo', 'shared.quote', 'shared.og'] as const

const i18n = (localized: boolean) => ({ pluginOptions: { i18n: { localized } } })
const relation = (kind: string, target: string, more: object = {}) => ({ type: 'relation', relation: kind, target, ...more })
const component = (uid: string, repeatable: boolean) => ({ type: 'component', component: uid, repeatable })

/** Attributes that are others, or null for none. */
type Edits = Readonly<Record<string, Attribute | null>>

/** A schema with edited attributes and other words. */
function edited(schema: Schema, edits: Edits, more: object = {}): object {
  const attributes = Object.entries({ ...schema.attributes, ...edits }).filter(([, attribute]) => attribute !== null)
  return { ...schema, ...more, attributes: Object.fromEntries(attributes) }
}

/** A change of attributes, by uids. */
const attributes =
  (edits: Readonly<Record<string, Edits>>) =>
  (schemas: Schemas): Change => ({
    data: Object.fromEntries(Object.entries(edits).map(([uid, one]) => [uid, edited(schemas[uid]!, one)])),
  })

/** An attribute under another name. */
function renamed(schema: Schema, names: Readonly<Record<string, string>>): Schema {
  const all = Object.entries(schema.attributes).map(([name, attribute]) => [names[name] ?? name, attribute] as const)
  return { ...schema, attributes: Object.fromEntries(all) }
}

const renaming =
  (uid: string, names: Readonly<Record<string, string>>) =>
  (schemas: Schemas): Change => ({
    data: { [uid]: renamed(schemas[uid]!, names) },
    renames: Object.entries(names).map(([from, to]) => ({ kind: 'attribute', schema: uid, from, to })),
  })

const option =
  (uids: readonly string[], more: (schema: Schema) => object, choice: Partial<Change> = {}) =>
  (schemas: Schemas): Change => ({
    data: Object.fromEntries(uids.map((uid) => [uid, { ...schemas[uid]!, ...more(schemas[uid]!) }])),
    ...choice,
  })

const drafts = (draftAndPublish: boolean) => (schema: Schema) => ({ options: { ...schema.options, draftAndPublish } })

/** Everything that names one uid names another. */
const withUid = (schemas: Schemas, from: string, to: string): Record<string, object | null> =>
  Object.fromEntries(
    Object.entries(schemas)
      .filter(([uid, schema]) => uid === from || JSON.stringify(schema).includes(`"${from}"`))
      .flatMap(([uid, schema]): [string, object | null][] => {
        const next = JSON.parse(JSON.stringify(schema).replaceAll(`"${from}"`, `"${to}"`)) as object
        return uid === from
          ? [
              [from, null],
              [to, next],
            ]
          : [[uid, next]]
      }),
  )

const newType = (name: string, own: Attributes, more: object = {}) => ({
  kind: 'collectionType',
  collectionName: `${name}s`,
  info: { singularName: name, pluralName: `${name}s`, displayName: name },
  options: { draftAndPublish: true },
  attributes: own,
  ...more,
})

const words: Attribute = { type: 'string' }

/** The kinds by their names. */
export const kindsOfChanges: Readonly<Record<string, (schemas: Schemas) => Change>> = {
  'attributes added': attributes({
    [note]: {
      ...Object.fromEntries(
        ['string', 'text', 'richtext', 'email', 'integer', 'biginteger', 'float', 'decimal', 'boolean', 'date', 'time', 'datetime'].map(
          (type) => [`new_${type}`, { type }],
        ),
      ),
      ...{ newJson: { type: 'json' }, newBlocks: { type: 'blocks' }, newUid: { type: 'uid' }, newPassword: { type: 'password' } },
      ...{ newUnique: { type: 'string', unique: true }, newChoice: { type: 'enumeration', enum: ['one', 'two'] } },
      ...{ newFile: { type: 'media', multiple: false }, newFiles: { type: 'media', multiple: true } },
    },
  }),
  'attributes renamed': (schemas) => {
    const [one, other] = [
      renaming(note, { text: 'words', keeper: 'guard', box: 'chest' })(schemas),
      renaming(seo, { metaTitle: 'head' })(schemas),
    ]
    return { data: { ...one.data, ...other.data }, renames: [...one.renames!, ...other.renames!] }
  },
  'attributes exchanged': renaming(note, { text: 'long', long: 'text' }),
  'text becomes a number': attributes({ [note]: { amount: { type: 'integer' } }, [story]: { title: { type: 'decimal' } } }),
  'numbers become texts': attributes({ [note]: { number: words, ratio: { type: 'text' } }, [story]: { views: words } }),
  'moments, truths and JSON become others': attributes({
    [note]: { at: { type: 'date' }, due: { type: 'datetime' }, done: words, data: { type: 'text' } },
  }),
  'a scalar becomes a component': attributes({ [note]: { long: component(seo, false), box: words } }),
  'attributes removed': attributes({ [note]: { long: null, data: null }, [seo]: { metaDescription: null }, [story]: { mood: null } }),
  'a file attribute removed': attributes({ [story]: { cover: null, gallery: null } }),
  'several files become one': attributes({ [story]: { gallery: { type: 'media', multiple: false, ...i18n(true) } } }),

  'relations added': attributes({
    [note]: {
      oneWay: relation('oneToOne', writer),
      several: relation('oneToMany', label),
      many: relation('manyToOne', lonely, { inversedBy: 'notes' }),
      each: relation('manyToMany', writer, { inversedBy: 'noted' }),
      next: relation('oneToOne', note, { inversedBy: 'previous' }),
      previous: relation('oneToOne', note, { mappedBy: 'next' }),
      like: relation('manyToMany', note),
      any: { type: 'relation', relation: 'morphToOne' },
      all: { type: 'relation', relation: 'morphToMany' },
    },
    [lonely]: { notes: relation('oneToMany', note, { mappedBy: 'many' }) },
    [writer]: { noted: relation('manyToMany', note, { mappedBy: 'each' }) },
  }),
  'many-to-one becomes many-to-many': attributes({
    [story]: { writer: relation('manyToMany', writer, { inversedBy: 'stories' }) },
    [writer]: { stories: relation('manyToMany', story, { mappedBy: 'writer' }) },
  }),
  'many-to-one becomes one-to-one': attributes({
    [story]: { writer: relation('oneToOne', writer, { inversedBy: 'stories' }) },
    [writer]: { stories: relation('oneToOne', story, { mappedBy: 'writer' }) },
  }),
  'many-to-many becomes many-to-one': attributes({
    [story]: { labels: relation('manyToOne', label, { inversedBy: 'stories' }) },
    [label]: { stories: relation('oneToMany', story, { mappedBy: 'labels' }) },
  }),
  'many-to-many becomes one-to-many': attributes({
    [story]: { labels: relation('oneToMany', label, { mappedBy: 'stories' }) },
    [label]: { stories: relation('manyToOne', story, { inversedBy: 'labels' }) },
  }),
  'many-to-many becomes one-to-one': attributes({
    [story]: { labels: relation('oneToOne', label, { inversedBy: 'stories' }) },
    [label]: { stories: relation('oneToOne', story, { mappedBy: 'labels' }) },
  }),
  'a relation changes its side': attributes({
    [story]: { labels: relation('manyToMany', label, { mappedBy: 'stories' }) },
    [label]: { stories: relation('manyToMany', story, { inversedBy: 'labels' }) },
  }),
  'several one-way links become one': attributes({
    [story]: { related: relation('oneToOne', story) },
    [front]: { featured: relation('manyToOne', story) },
  }),
  'a relation becomes one-way': attributes({ [story]: { labels: relation('manyToMany', label) }, [label]: { stories: null } }),
  'a relation has another target': attributes({ [note]: { keeper: relation('oneToOne', lonely) } }),
  'relations removed': attributes({
    [story]: { writer: null, sequel: null, prequel: null, related: null },
    [writer]: { stories: null },
    [remark]: { about: null },
  }),
  'a relation becomes polymorphic': attributes({ [note]: { keeper: { type: 'relation', relation: 'morphToMany' } } }),

  'a component created and used': ({ [note]: schema, [label]: other }) => ({
    data: {
      'parts.address': { collectionName: 'components_parts_addresses', info: { displayName: 'address' }, attributes: { street: words } },
      [note]: edited(schema!, { home: component('parts.address', false), homes: component('parts.address', true) }),
      [label]: edited(other!, { more: component(link, true), zone: { type: 'dynamiczone', components: [link, 'parts.address'] } }),
    },
  }),
  'a component removed from types': attributes({ [story]: { seo: null, links: null }, [note]: { box: null }, [seo]: { og: null } }),
  'a component removed': (schemas) => ({
    data: { ...attributes({ [story]: { links: null }, [note]: { box: null } })(schemas).data, [link]: null },
  }),
  'a component renamed': (schemas) => ({
    data: withUid(schemas, link, 'parts.reference'),
    renames: [{ kind: 'component', from: link, to: 'parts.reference' }],
  }),
  'a component with another table': option([seo, og], ({ collectionName }) => ({ collectionName: `${collectionName}_anew` })),
  'several components become one': attributes({ [story]: { links: { ...component(link, false), ...i18n(true) } } }),
  'one component becomes several': attributes({
    [story]: { seo: { ...component(seo, true), ...i18n(true) } },
    [note]: { box: component(link, true) },
  }),
  'another component of an attribute': attributes({
    [story]: { seo: { ...component(og, false), ...i18n(true) } },
    [note]: { box: component(quote, false) },
  }),
  'a zone has another component and one less': attributes({
    [story]: { zone: { type: 'dynamiczone', components: [seo, link], ...i18n(true) } },
  }),
  'a zone removed': attributes({ [story]: { zone: null } }),

  'Draft & Publish off': option([story, note], drafts(false)),
  'Draft & Publish off, drafts published': option([story, note], drafts(false), { neverPublished: 'publish' }),
  'Draft & Publish on': option([writer, lonely, label, remark], drafts(true)),
  'localization off': option([story, label], () => i18n(false)),
  'localization on': option([note, writer], () => i18n(true)),
  'localization of attributes': ({ [story]: schema }) => ({
    data: { [story]: edited(schema!, { title: { ...words, ...i18n(false) }, mood: { ...schema!.attributes.mood, ...i18n(true) } }) },
  }),
  'Draft & Publish and localization off': option([story], (schema) => ({ ...drafts(false)(schema), ...i18n(false) })),
  'Draft & Publish and localization on': option([writer], (schema) => ({ ...drafts(true)(schema), ...i18n(true) })),

  'types created': () => ({
    data: {
      'api::road.road': newType('road', {
        name: words,
        file: { type: 'media', multiple: true },
        seo: component(seo, false),
        crossings: relation('manyToMany', 'api::crossing.crossing', { inversedBy: 'roads' }),
      }),
      'api::crossing.crossing': newType(
        'crossing',
        { roads: relation('manyToMany', 'api::road.road', { mappedBy: 'crossings' }) },
        { options: { draftAndPublish: false }, ...i18n(true) },
      ),
      'api::about.about': newType('about', { text: { type: 'blocks' } }, { kind: 'singleType' }),
    },
  }),
  'a type removed': ({ [story]: schema, [link]: part }) => ({
    data: { [label]: null, [story]: edited(schema!, { labels: null }), [link]: edited(part!, { target: null }) },
  }),
  'a type with everything removed': (schemas) => ({
    data: {
      ...attributes({ [writer]: { stories: null }, [label]: { stories: null }, [front]: { featured: null } })(schemas).data,
      [story]: null,
    },
  }),
  'a type renamed': (schemas) => {
    const data = withUid(schemas, writer, 'api::author.author')
    const type = data['api::author.author'] as Schema
    const info = { ...type.info, singularName: 'author', pluralName: 'authors' }
    return {
      data: { ...data, 'api::author.author': { ...type, collectionName: 'authors', info } },
      renames: [{ kind: 'type', from: writer, to: 'api::author.author' }],
    }
  },
  'types with other tables': option([story, note, label], ({ collectionName }) => ({ collectionName: `${collectionName}_anew` })),
  'a collection becomes a single type': option([lonely], () => ({ kind: 'singleType' })),
  'other rules for values': attributes({
    [note]: {
      text: { ...words, required: true, maxLength: 3 },
      number: { type: 'integer', min: 2, unique: true },
      level: { type: 'enumeration', enum: ['low'] },
    },
  }),
  'several at once': (schemas) => {
    const { [note]: one, [writer]: other, [label]: third } = schemas
    const type = renamed(one!, { text: 'words', keeper: 'guard' })
    return {
      data: {
        [note]: edited(
          type,
          { amount: { type: 'decimal' }, long: null, box: component(quote, true), ...{ fresh: words } },
          { collectionName: 'notices', ...drafts(false)(type) },
        ),
        [writer]: edited(other!, { age: words }, drafts(true)(other!)),
        [label]: { ...third!, ...i18n(false) },
        'api::road.road': newType('road', { writer: relation('manyToOne', writer) }),
        [lonely]: null,
      },
      renames: ['text words', 'keeper guard'].map((names) => ({
        kind: 'attribute',
        schema: note,
        from: names.split(' ')[0]!,
        to: names.split(' ')[1]!,
      })),
    }
  },
}

/** The schemas of a project by uid. */
export function schemasOf(project: string): Schemas {
  const all = readdirSync(join(project, 'src'), { recursive: true }) as string[]
  const found = all.flatMap((path): [string, Schema][] => {
    const [, type, category, name] = /^(?:api\/([^/]+)\/content-types\/.*schema|components\/([^/]+)\/([^/]+))\.json$/.exec(path) ?? []
    if (type === undefined && category === undefined) return []
    return [
      [type === undefined ? `${category}.${name}` : `api::${type}.${type}`, JSON.parse(readFileSync(join(project, 'src', path), 'utf8'))],
    ]
  })
  return Object.fromEntries(found)
}

/** The request for a change of this kind. */
export const requestFor = (project: string, kind: string): Step => {
  const { data, ...more } = kindsOfChanges[kind]!(schemasOf(project))
  return { method: 'PUT', path: '/api/content-type-builder/schemas', body: { data, ...more } }
}
