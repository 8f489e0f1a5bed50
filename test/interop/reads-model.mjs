// The content model of the second project: as unlike the golden one as schemas can be. Names are chosen to be awkward;
// names of private attributes begin with `hidden`, of passwords with `secret`.

const shared = { pluginOptions: { i18n: { localized: false } } }
const local = { pluginOptions: { i18n: { localized: true } } }

/** @param {string} relation @param {string} target @param {object} [more] */
const to = (relation, target, more = {}) => ({ type: 'relation', relation, target, ...more })
/** @param {string} target @param {object} [more] */
const one = (target, more) => to('oneToOne', target, more)
/** @param {string} name @param {boolean} [repeatable] @param {object} [more] */
const component = (name, repeatable = false, more = {}) => ({ type: 'component', component: name, repeatable, ...more })
/** @param {string[]} components @param {object} [more] */
const zone = (components, more = {}) => ({ type: 'dynamiczone', components, ...more })
const picture = { type: 'media', multiple: false, allowedTypes: ['images'] }
const anything = { type: 'media', multiple: true, allowedTypes: ['images', 'files', 'videos', 'audios'] }
/** @param {string} type @param {object} [more] */
const a = (type, more = {}) => ({ type, ...more })

const longName = 'a-really-exceedingly-long-singular-name-of-a-type-that-no-database-would-take'
const longAttribute = 'anAttributeWhoseNameIsSoLongThatItsLinkTableHasToBeShortenedSomehow'

const mouse = 'api::zoo.mouse'
const ox = 'api::zoo.ox'
const person = 'api::zoo.person'
const glossary = 'api::lexicon.glossary-entry'
const long = `api::lexicon.${longName}`
const user = 'plugin::users-permissions.user'

export const components = {
  'deep.leaf-3': {
    attributes: {
      label: a('string'),
      order: a('integer'),
      hue: a('enumeration', { enum: ['red', 'deep blue', 'grün', 'n1'] }),
      icon: picture,
      mice: to('manyToMany', mouse),
      hiddenNote: a('string', { private: true }),
    },
  },
  'deep.branch': {
    collectionName: 'deep_branches_own',
    attributes: { group: a('string'), leaf: component('deep.leaf-3'), leaves: component('deep.leaf-3', true), to: one(glossary) },
  },
  'deep.trunk': {
    attributes: {
      select: a('text'),
      when: a('datetime'),
      branch: component('deep.branch'),
      branches: component('deep.branch', true),
      gallery: anything,
    },
  },
  'flat_things.pricetag': {
    file: 'Flat_Things/priceTag',
    collectionName: 'components_flat_price',
    attributes: {
      amount: a('decimal'),
      currency: a('enumeration', { enum: ['CHF', 'EUR'], default: 'CHF' }),
      big: a('biginteger'),
      valid: a('boolean', { default: true }),
      from: a('date'),
      at: a('time'),
      ts: a('timestamp'),
      data: a('json'),
      secretCode: a('password'),
      user: one(user),
      file: one('plugin::upload.file'),
    },
  },
  'zone-parts.text-1': { attributes: { body: a('richtext'), blocks: a('blocks'), title: a('string'), limit: a('integer') } },
  'zone-parts.refs': {
    attributes: {
      title: a('string'),
      person: one(person),
      people: to('oneToMany', person),
      entries: to('manyToMany', glossary),
      oxen: to('oneToMany', ox),
      price: component('flat_things.pricetag'),
      trunk: component('deep.trunk'),
    },
  },
  'zone-parts.shots': {
    attributes: { title: a('text'), cover: picture, gallery: anything, tags: component('flat_things.pricetag', true) },
  },
  'zone-parts.empty': { attributes: { flag: a('boolean') } },
}

const everything = {
  string: a('string'),
  text: a('text'),
  rich: a('richtext'),
  blocks: a('blocks'),
  email: a('email'),
  secretWord: a('password'),
  kind_of: a('enumeration', { enum: ['a b', 'x-1', 'Ünï', 'last'] }),
  int_1: a('integer'),
  big2: a('biginteger'),
  float: a('float'),
  decimal: a('decimal'),
  boolean: a('boolean'),
  json: a('json'),
  date: a('date'),
  time: a('time'),
  datetime: a('datetime'),
  timestamp: a('timestamp'),
}
/** @param {Record<string, any>} attributes @param {object} how */
const withAll = (attributes, how) => Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, { ...value, ...how }]))

/** Content-types by uid; `folder` is the name of the API. */
export const types = {
  [glossary]: {
    plural: 'glossary-entries',
    collectionName: 'GlossaryTBL',
    draftAndPublish: true,
    localized: true,
    attributes: {
      order: a('string', local),
      group: a('string', shared),
      select: a('text', local),
      from: a('integer', shared),
      where: a('json', local),
      values: a('blocks', local),
      slug: a('uid', { targetField: 'order', ...local }),
      code: a('uid', local),
      hiddenKey: a('string', { private: true, ...local }),
      secretPin: a('password', shared),
      level: a('enumeration', { enum: ['st1', 'second', 'Drei'], default: 'second', ...shared }),
      id_legacy: a('integer', shared),
      big: a('biginteger', local),
      ratio: a('float', local),
      price: a('decimal', shared),
      ok: a('boolean', { default: false, ...local }),
      day: a('date', shared),
      clock: a('time', local),
      moment: a('datetime', local),
      stamp: a('timestamp', shared),
      mail: a('email', local),
      rich: a('richtext', local),
      cover: { ...picture, ...local },
      files: { ...anything, ...shared },
      trunk: component('deep.trunk', false, local),
      tags: component('flat_things.pricetag', true, shared),
      zone: zone(['zone-parts.text-1', 'zone-parts.refs', 'zone-parts.shots', 'zone-parts.empty'], local),
      parent: to('manyToOne', glossary, { inversedBy: 'children' }),
      children: to('oneToMany', glossary, { mappedBy: 'parent' }),
      synonyms: to('manyToMany', glossary),
      twin: one(glossary),
      mice: to('manyToMany', mouse, { inversedBy: 'entries' }),
      oxen: to('manyToMany', ox, { inversedBy: 'entries' }),
      author: to('manyToOne', person, { inversedBy: 'entries' }),
      reviewers: to('oneToMany', person),
      owner: to('manyToOne', user, { inversedBy: 'entries' }),
      remarks: to('morphMany', 'api::zoo.remark', { morphBy: 'about' }),
      pinned: to('morphOne', 'api::zoo.remark', { morphBy: 'single' }),
    },
  },
  [long]: {
    plural: `${longName}s`,
    draftAndPublish: true,
    attributes: {
      name: a('string'),
      [longAttribute]: to('manyToMany', mouse),
      [`${longAttribute}2`]: to('manyToOne', long),
      shortAndLong: to('oneToMany', ox),
      [`${longAttribute}Zone`]: zone(['zone-parts.text-1', 'zone-parts.refs']),
      [`${longAttribute}Text`]: a('string'),
      part: component('deep.branch'),
    },
  },
  [mouse]: {
    plural: 'mice',
    collectionName: 'Mäuse',
    draftAndPublish: true,
    attributes: {
      name: a('string', { default: 'Ümlaut' }),
      UPPER: a('string'),
      aBCd: a('string'),
      line_2: a('string'),
      x1y2: a('integer'),
      count: a('integer'),
      type: a('string'),
      field: a('string'),
      length: a('float'),
      ...everything,
      entries: to('manyToMany', glossary, { mappedBy: 'mice' }),
      friends: to('manyToMany', mouse, { inversedBy: 'friendOf' }),
      friendOf: to('manyToMany', mouse, { mappedBy: 'friends' }),
      boss: to('manyToOne', mouse, { inversedBy: 'team' }),
      team: to('oneToMany', mouse, { mappedBy: 'boss' }),
      mate: one(mouse),
      best: one(mouse, { inversedBy: 'bestOf' }),
      bestOf: one(mouse, { mappedBy: 'best' }),
      keeper: to('manyToOne', person, { inversedBy: 'mice' }),
      vip: one(ox, { inversedBy: 'mouse' }),
      remarks: to('morphMany', 'api::zoo.remark', { morphBy: 'about' }),
      fans: to('manyToMany', user, { inversedBy: 'favourites' }),
      nest: component('deep.trunk'),
      nests: component('deep.branch', true),
      pic: picture,
    },
  },
  [ox]: {
    plural: 'oxen',
    localized: true,
    draftAndPublish: false,
    attributes: {
      ...withAll(everything, local),
      weight: a('float', { ...shared, required: false }),
      name: a('string', local),
      hiddenOx: a('integer', { private: true, ...shared }),
      entries: to('manyToMany', glossary, { mappedBy: 'oxen' }),
      mouse: one(mouse, { mappedBy: 'vip' }),
      herd: to('oneToMany', ox, { mappedBy: 'leader' }),
      leader: to('manyToOne', ox, { inversedBy: 'herd' }),
      keeper: to('manyToOne', person, { inversedBy: 'oxen' }),
      zone: zone(['zone-parts.refs', 'zone-parts.empty'], local),
      stall: component('deep.branch', false, shared),
      pics: { ...anything, ...local },
      remarks: to('morphMany', 'api::zoo.remark', { morphBy: 'about' }),
    },
  },
  [person]: {
    plural: 'people',
    draftAndPublish: false,
    options: { populateCreatorFields: true, privateAttributes: ['hiddenBy'] },
    attributes: {
      name: a('string', { required: true }),
      key: a('uid', { targetField: 'name' }),
      hiddenBy: a('string'),
      hiddenPlace: component('deep.branch', false, { private: true }),
      hiddenFriend: one(person, { private: true }),
      age: a('integer'),
      born: a('date'),
      vip: a('boolean'),
      tone: a('customField', { customField: 'global::tone' }),
      wide: a('string', { column: { type: 'text' } }),
      entries: to('oneToMany', glossary, { mappedBy: 'author' }),
      mice: to('oneToMany', mouse, { mappedBy: 'keeper' }),
      oxen: to('oneToMany', ox, { mappedBy: 'keeper' }),
      mentor: one(person),
      pals: to('manyToMany', person),
      login: one(user, { inversedBy: 'person' }),
      docs: to('oneToMany', 'plugin::upload.file'),
      photo: picture,
      home: component('deep.branch'),
      prices: component('flat_things.pricetag', true),
      letters: zone(['zone-parts.text-1', 'zone-parts.refs']),
    },
  },
  'api::zoo.remark': {
    plural: 'remarks',
    draftAndPublish: false,
    attributes: {
      body: a('text'),
      stars: a('integer'),
      hiddenMark: a('string', { private: true }),
      secretMark: a('password'),
      single: { type: 'relation', relation: 'morphToOne' },
      about: { type: 'relation', relation: 'morphToMany' },
      by: one(person),
      place: component('deep.branch'),
      shot: picture,
    },
  },
  'api::zoo.draft-remark': {
    plural: 'draft-remarks',
    draftAndPublish: true,
    attributes: { body: a('text'), anything: { type: 'relation', relation: 'morphToMany' } },
  },
  'api::zoo.no-options': {
    plural: 'no-optionses',
    attributes: { name: a('string'), populate: a('string'), filters: a('integer'), mouse: one(mouse) },
  },
  'api::config.site-config': {
    single: 'singleType',
    plural: 'site-configs',
    draftAndPublish: true,
    localized: true,
    attributes: {
      title: a('string', local),
      hits: a('integer', shared),
      zone: zone(['zone-parts.text-1', 'zone-parts.refs', 'zone-parts.shots'], local),
      sharedZone: zone(['zone-parts.text-1', 'zone-parts.refs'], shared),
      top: to('oneToMany', glossary),
      lead: one(ox),
      logo: { ...picture, ...shared },
      nav: component('deep.branch', true, local),
    },
  },
  'api::config.lone': {
    single: 'singleType',
    plural: 'lones',
    draftAndPublish: false,
    localized: true,
    attributes: { title: a('string', local), data: a('json', local), entry: one(glossary), mouse: one(mouse) },
  },
  'api::config.plain-one': {
    single: 'singleType',
    plural: 'plain-ones',
    draftAndPublish: false,
    options: { privateAttributes: ['updatedAt'] },
    attributes: { title: a('string'), people: to('oneToMany', person), price: component('flat_things.pricetag') },
  },
  'api::config.unborn': { single: 'singleType', plural: 'unborns', draftAndPublish: true, attributes: { title: a('string') } },
}

/** The attributes of users that the plugin brings along, which an extension has to repeat, without the role. */
export const ownUserAttributes = {
  username: { type: 'string', minLength: 3, unique: true, configurable: false, required: true },
  email: { type: 'email', minLength: 6, configurable: false, required: true },
  provider: { type: 'string', configurable: false },
  password: { type: 'password', minLength: 6, configurable: false, private: true, searchable: false },
  resetPasswordToken: { type: 'string', configurable: false, private: true, searchable: false },
  confirmationToken: { type: 'string', configurable: false, private: true, searchable: false },
  confirmed: { type: 'boolean', default: false, configurable: false },
  blocked: { type: 'boolean', default: false, configurable: false },
}

/** The users of the project. */
export const userAttributes = {
  ...ownUserAttributes,
  role: { type: 'relation', relation: 'manyToOne', target: 'plugin::users-permissions.role', inversedBy: 'users', configurable: false },
  nickName: a('string'),
  score: a('decimal'),
  hiddenNick: a('string', { private: true }),
  person: one(person, { mappedBy: 'login' }),
  favourites: to('manyToMany', mouse, { mappedBy: 'fans' }),
  entries: to('oneToMany', glossary, { mappedBy: 'owner' }),
  face: picture,
  card: component('deep.branch'),
  friend: one(user),
}

/**
 * The schema files of the project, by path.
 * @returns {Record<string, object>}
 */
export function schemaFiles() {
  /** @type {Record<string, object>} */
  const files = {}
  for (const [uid, type] of Object.entries(types)) {
    const [api, singularName] = uid.slice('api::'.length).split('.')
    files[`src/api/${api}/content-types/${singularName}/schema.json`] = {
      kind: type.single ?? 'collectionType',
      ...(type.collectionName && { collectionName: type.collectionName }),
      info: { singularName, pluralName: type.plural, displayName: `The ${singularName}` },
      ...((type.options || type.draftAndPublish !== undefined) && {
        options: { ...(type.draftAndPublish !== undefined && { draftAndPublish: type.draftAndPublish }), ...type.options },
      }),
      ...(type.localized && { pluginOptions: { i18n: { localized: true } } }),
      attributes: type.attributes,
    }
  }
  for (const [uid, { file, collectionName, attributes }] of Object.entries(components)) {
    files[`src/components/${file ?? uid.replace('.', '/')}.json`] = {
      collectionName: collectionName ?? `components_${uid.replace(/[.-]/g, '_')}s`,
      info: { displayName: uid },
      attributes,
    }
  }
  files['src/extensions/users-permissions/content-types/user/schema.json'] = {
    kind: 'collectionType',
    collectionName: 'up_users',
    info: { name: 'user', description: '', singularName: 'user', pluralName: 'users', displayName: 'User' },
    options: { timestamps: true, draftAndPublish: false },
    attributes: userAttributes,
  }
  return files
}
