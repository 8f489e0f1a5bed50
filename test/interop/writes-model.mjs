// A content model as unlike the golden one as possible: every attribute type, relations of every kind between types with
// and without drafts and locales, components three deep, odd names. A seed decides which relations there are.
import { random } from './writes-random.mjs'

const localized = { pluginOptions: { i18n: { localized: true } } }
const kinds = ['oneToOne', 'oneToMany', 'manyToOne', 'manyToMany']
const back = { oneToOne: 'oneToOne', manyToOne: 'oneToMany', manyToMany: 'manyToMany' }
const uidOf = (name) => `api::${name}.${name}`
const long = 'aNameThatIsSoLongThatTheLayoutHasToShortenItWhereverItStands'

/** The four types that relations run between: with and without drafts, with and without locales. */
const crossed = [
  { name: 'long-haul-vessel', table: 'hv_register', drafts: true, i18n: true },
  { name: 'port', table: 'portsOfCall', drafts: true, i18n: false },
  { name: 'depot', table: 'depots', drafts: false, i18n: true },
  { name: 'bolt', table: 'bolts', drafts: false, i18n: false },
]

const relation = (kind, target, rest = {}) => ({ type: 'relation', relation: kind, target, ...rest })
const media = (multiple, rest = {}) => ({ type: 'media', multiple, allowedTypes: ['images', 'files'], ...rest })
const component = (name, repeatable, rest = {}) => ({ type: 'component', component: name, repeatable, ...rest })
const zone = (...components) => ({ type: 'dynamiczone', components })

const scalars = (rest) => ({
  plainString: { type: 'string', ...rest },
  bounded: { type: 'string', minLength: 2, maxLength: 8, regex: '^[a-z]+$', ...rest },
  defaulted: { type: 'string', default: 'mast', ...rest },
  body: { type: 'text', minLength: 3, default: 'some words', ...rest },
  rich: { type: 'richtext', maxLength: 40, ...rest },
  mail: { type: 'email', ...rest },
  pass: { type: 'password', minLength: 6, ...rest },
  kind: { type: 'enumeration', enum: ['steel', 'wood', 'glass fibre'], default: 'wood', ...rest },
  whole: { type: 'integer', min: -5, max: 50, default: 3, ...rest },
  big: { type: 'biginteger', ...rest },
  ratio: { type: 'float', min: 0.5, ...rest },
  price: { type: 'decimal', max: 99.5, default: 1.25, ...rest },
  isOpen: { type: 'boolean', default: true, ...rest },
  isNew: { type: 'boolean', ...rest },
  day: { type: 'date', default: '2020-02-29', ...rest },
  clock: { type: 'time', ...rest },
  moment: { type: 'datetime', ...rest },
  stamp: { type: 'timestamp', ...rest },
  extra: { type: 'json', default: { a: [1] }, ...rest },
  story: { type: 'blocks', ...rest },
})

const prefixed = (prefix, attributes) =>
  Object.fromEntries(Object.entries(attributes).map(([name, value]) => [prefix + name[0].toUpperCase() + name.slice(1), value]))

const components = () => ({
  'parts.leaf': {
    label: { type: 'string', required: true, minLength: 2 },
    count: { type: 'integer', default: 1, max: 9 },
    tone: { type: 'enumeration', enum: ['low', 'high'], default: 'low' },
    vessel: relation('oneToOne', uidOf('long-haul-vessel')),
    ports: relation('oneToMany', uidOf('port')),
    depots: relation('oneToMany', uidOf('depot')),
    bolt: relation('oneToOne', uidOf('bolt')),
    picture: media(false),
  },
  'parts.branch': {
    name: { type: 'string' },
    unusual: { type: 'string', unique: true },
    leaf: component('parts.leaf', false),
    leaves: component('parts.leaf', true, { max: 2 }),
  },
  'parts.trunk': {
    order: { type: 'integer', min: 2 },
    main: component('parts.branch', false),
    branches: component('parts.branch', true, { min: 1, max: 3 }),
    [long]: { type: 'text' },
  },
  'parts.bare': { when: { type: 'datetime' }, uid: { type: 'uid' }, secret: { type: 'string', private: true }, flag: { type: 'boolean' } },
  'odd-ones.has-media': {
    one: media(false, { required: true }),
    many: media(true),
    crew: relation('oneToMany', 'plugin::users-permissions.user'),
  },
})

/** Adds the relations between the four types: each kind with one side and with two, to itself and to the others. */
function cross(types, chance) {
  for (const from of crossed) {
    for (const to of crossed) {
      const attributes = types[from.name].attributes
      const name = (kind, word) => `${kind}${word}${to.name.replace(/(^|-)(.)/g, (_, _dash, letter) => letter.toUpperCase())}`
      for (const kind of kinds) if (chance(0.35)) attributes[name(kind, 'To')] = relation(kind, uidOf(to.name))
      for (const kind of Object.keys(back)) {
        if (!chance(0.55)) continue
        const [here, there] = [name(kind, 'With'), `${kind}From${from.name.replace(/-/g, '')}`]
        attributes[here] = relation(kind, uidOf(to.name), { inversedBy: there })
        types[to.name].attributes[there] = relation(back[kind], uidOf(from.name), { mappedBy: here })
      }
    }
  }
}

/** The schema files of the project, by their path in it. */
export function modelOf(seed) {
  const { chance } = random(`model ${seed}`)
  const types = {}
  const add = (name, { table = name.replaceAll('-', '_'), drafts, i18n, single = false }, attributes) => {
    types[name] = {
      kind: single ? 'singleType' : 'collectionType',
      collectionName: table,
      info: { singularName: name, pluralName: single ? `${name}-all` : `${name}s`, displayName: name },
      options: { draftAndPublish: drafts },
      pluginOptions: i18n ? { i18n: { localized: true } } : {},
      attributes,
    }
  }
  for (const { name, table, drafts, i18n } of crossed) {
    const own = i18n ? localized : {}
    add(
      name,
      { table, drafts, i18n },
      {
        title: { type: 'string', ...own },
        shared: { type: 'integer' },
        leaf: component('parts.leaf', false, own),
        sharedLeaves: component('parts.leaf', true),
        owner: relation('oneToOne', 'plugin::users-permissions.user'),
        photos: relation('oneToMany', 'plugin::upload.file'),
        remarks: relation('morphMany', uidOf('remark'), { morphBy: 'about' }),
      },
    )
  }
  cross(types, chance)
  for (const [name, drafts, i18n] of [
    ['sheet', true, true],
    ['ledger', false, true],
    ['page', true, false],
  ]) {
    add(
      name,
      { drafts, i18n },
      {
        headline: { type: 'string', required: true, ...(i18n ? localized : {}) },
        slug: { type: 'uid', targetField: 'headline', options: { separator: '_' }, ...(i18n ? localized : {}) },
        ...scalars(i18n ? localized : {}),
        ...(i18n ? prefixed('shared', scalars({})) : {}),
        code: { type: 'string', unique: true, ...(i18n ? localized : {}) },
        number: { type: 'integer', unique: true },
        tree: component('parts.trunk', false, i18n ? localized : {}),
        trees: component('parts.trunk', true, { max: 2 }),
        must: component('parts.bare', false, { required: true, ...(i18n ? localized : {}) }),
        atLeast: component('parts.bare', true, { required: true, min: 1, max: 3 }),
        area: { ...zone('parts.trunk', 'parts.bare', 'parts.leaf', 'odd-ones.has-media'), min: 1, max: 3, ...(i18n ? localized : {}) },
        sharedArea: { ...zone('parts.bare', 'parts.branch'), required: i18n },
        cover: media(false, i18n ? localized : {}),
        album: media(true),
        must2: media(false, { required: false }),
      },
    )
  }
  add(
    'order',
    { table: 'select', drafts: true, i18n: false },
    {
      group: { type: 'string' },
      where: { type: 'integer', required: true },
      from: component('parts.bare', true),
      [long]: { type: 'string', default: 'x' },
      [`${long}Too`]: relation('manyToMany', uidOf('port')),
      [`${long}Three`]: component('parts.branch', true),
      table: relation('oneToOne', uidOf('order'), { inversedBy: 'tableOf' }),
      tableOf: relation('oneToOne', uidOf('order'), { mappedBy: 'table' }),
      key: { type: 'uid' },
    },
  )
  add('remark', { drafts: false, i18n: false }, { text: { type: 'string' }, about: relation('morphToMany') })
  add('badge', { drafts: true, i18n: true }, { text: { type: 'string', ...localized }, to: relation('morphToMany') })
  add(
    'front',
    { drafts: true, i18n: true, single: true },
    {
      title: { type: 'string', required: true, ...localized },
      note: { type: 'string' },
      top: relation('oneToMany', uidOf('long-haul-vessel')),
      area: { ...zone('parts.leaf', 'parts.bare'), max: 2, ...localized },
      leaf: component('parts.leaf', false),
    },
  )
  add(
    'plain-one',
    { drafts: false, i18n: false, single: true },
    { text: { type: 'string', default: 'plain' }, port: relation('oneToOne', uidOf('port')) },
  )
  const files = Object.entries(types).map(([name, schema]) => [`src/api/${name}/content-types/${name}/schema.json`, schema])
  const parts = Object.entries(components()).map(([uid, attributes]) => {
    const [category, name] = uid.split('.')
    const collectionName = `components_${uid.replace(/[-.]/g, '_')}`
    return [`src/components/${category}/${name}.json`, { collectionName, info: { displayName: name }, options: {}, attributes }]
  })
  return [...files, ...parts]
}
