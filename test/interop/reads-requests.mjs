// Makes read requests at random over a content model, the same for the same seed: valid ones, odd ones and hostile ones.

import { seededRandom } from '../../bench/random.mjs'

/** @typedef {import('./reads-world.mjs').World} World @typedef {import('./reads-world.mjs').Shape} Shape @typedef {import('./reads-world.mjs').Attribute} Attribute */

const operators =
  '$eq $eqi $ne $nei $lt $lte $gt $gte $in $notIn $contains $notContains $containsi $notContainsi $startsWith $startsWithi $endsWith $endsWithi $null $notNull $between'.split(
    ' ',
  )
const odd = [
  '',
  ' ',
  '0',
  '1',
  '-1',
  'true',
  'false',
  'null',
  'undefined',
  'abc',
  '%',
  '_',
  "'",
  '"',
  '\\',
  'ü',
  '*',
  'NaN',
  '1e3',
  '0x10',
  '2024',
  '2024-02-30',
  '12:30',
  '1.5',
  '-0',
  '9223372036854775807',
  '[object Object]',
  '{}',
  '[]',
  '$eq',
  'a,b',
  '😀',
]
const oddNames = [
  'nope',
  'createdBy',
  'updatedBy',
  'id',
  'documentId',
  'document_id',
  'created_at',
  'locale',
  'localizations',
  'constructor',
  '__proto__',
  'toString',
  'on',
  'count',
  'populate',
  '__component',
  '__type',
  'role',
  'password',
  '$and',
  '$foo',
  '0',
  '*',
  'a.b',
  'status',
  'publishedAt',
]
const publications =
  'never-published has-published-version modified unmodified never-published-document has-published-version-document published-without-draft published-with-draft nonsense'.split(
    ' ',
  )

/**
 * @param {World} world
 * @param {number} seed
 * @returns {() => { path: string, caller: string, headers: Record<string, string> }}
 */
export function requestsOf(world, seed) {
  const { integer, pick } = seededRandom(seed)
  const chance = (/** @type {number} */ percent) => integer(100) < percent
  const callers = Object.keys(world.callers)

  const leads = (/** @type {Attribute} */ { type }) => /^(relation|component|media|dynamiczone)$/.test(type)
  /** @param {Attribute} attribute @returns {Shape | undefined} */
  const targetOf = (attribute) =>
    world.shapes.get(attribute.component ?? attribute.target ?? (attribute.type === 'media' ? 'plugin::upload.file' : ''))
  /** @param {Shape} shape @param {(attribute: Attribute) => boolean} wanted */
  const namesOf = (shape, wanted) =>
    Object.keys(shape.attributes).filter(
      (name) =>
        wanted(shape.attributes[name]) && (chance(3) || (!shape.attributes[name].private && shape.attributes[name].type !== 'password')),
    )
  const scalarName = (/** @type {Shape} */ shape) =>
    chance(3)
      ? pick(oddNames)
      : pick(namesOf(shape, (attribute) => !leads(attribute)).concat(chance(30) || shape.path === '' ? 'id' : 'documentId'))
  const pathName = (/** @type {Shape} */ shape) => pick(namesOf(shape, leads))

  /** @param {Shape} shape @param {string} name */
  function value(shape, name) {
    if (chance(8)) return pick(odd)
    const found = pick(world.values.get(`${shape.uid}.${name}`) ?? odd) ?? (chance(50) ? '' : 'null')
    const text = typeof found === 'object' ? JSON.stringify(found) : String(found)
    if (/Z$/.test(text) && chance(20)) return String(Date.parse(text))
    if (chance(20)) return chance(50) ? text.toUpperCase() : text.toLowerCase()
    return text
  }

  /** @param {Shape} shape @param {string} name @returns {any} */
  function condition(shape, name) {
    if (chance(20)) return value(shape, name)
    if (chance(5)) return [value(shape, name), value(shape, name)]
    /** @type {Record<string, any>} */
    const all = {}
    for (let count = chance(85) ? 1 : 2; count > 0; count--) {
      const operator = chance(2) ? pick(['$foo', '$EQ', 'eq', '$or', '$and']) : pick(operators)
      const text = () => (/with|contains/i.test(operator) ? value(shape, name).slice(integer(2), 1 + integer(4)) : value(shape, name))
      if (/between/.test(operator)) all[operator] = chance(90) ? [text(), text()].sort() : chance(50) ? text() : [text()]
      else if (/in$/i.test(operator)) all[operator] = chance(80) ? Array.from({ length: 1 + integer(3) }, text) : text()
      else if (/null/i.test(operator)) all[operator] = pick(['true', 'false', '1', '0', 'x', ''])
      else
        all[operator] = chance(90)
          ? text()
          : chance(85)
            ? Array.from({ length: 1 + integer(3) }, text)
            : { [pick(['x', '$eq', '$ne', '200'])]: text() }
    }
    return chance(6) ? { $not: all } : all
  }

  /** A member of a list of filters, or a list of such. @param {Shape} shape @param {number} depth @returns {any} */
  const member = (shape, depth) =>
    chance(85) ? filters(shape, depth) : Array.from({ length: 1 + integer(2) }, () => filters(shape, depth))

  /** @param {Shape} shape @param {number} depth @returns {any} */
  function filters(shape, depth) {
    /** @type {Record<string, any>} */
    const all = {}
    for (let count = 1 + (chance(25) ? 1 : 0); count > 0; count--) {
      const kind = integer(100)
      if (kind < 8 && depth > 0)
        all[pick(['$and', '$or'])] = chance(95)
          ? Array.from({ length: 1 + integer(3) }, () => member(shape, depth - 1))
          : filters(shape, depth - 1)
      else if (kind < 14 && depth > 0)
        all.$not = chance(80) ? filters(shape, depth - 1) : Array.from({ length: 1 + integer(2) }, () => member(shape, depth - 1))
      else if (kind < 48 && depth > 0) {
        const name = pathName(shape)
        if (!name) continue
        const target = targetOf(shape.attributes[name])
        if (!target || chance(6)) all[name] = condition(target ?? shape, 'id')
        else if (chance(8))
          all[name] = { [pick(['$null', '$notNull', '$eq', '$in', '$ne', '$notIn'])]: pick(['true', 'false', '1', '2', 'x']) }
        else all[name] = filters(target, depth - 1)
      } else {
        const name = scalarName(shape)
        all[name] = condition(shape, name)
      }
    }
    return all
  }

  /** @param {Shape} shape @param {number} depth @returns {string} */
  function sortPath(shape, depth) {
    const name = chance(25) && depth > 0 ? pathName(shape) : undefined
    const target = name && targetOf(shape.attributes[name])
    return target ? `${name}.${sortPath(target, depth - 1)}` : chance(2) ? (name ?? scalarName(shape)) : scalarName(shape)
  }
  /** @param {Shape} shape @param {number} depth */
  function sort(shape, depth) {
    const key = () => sortPath(shape, depth) + pick(['', '', ':asc', ':desc', ':DESC', chance(4) ? ':up' : ':desc'])
    const asObject = () => {
      const steps = sortPath(shape, depth).split('.')
      /** @type {any} */
      let node = pick(['asc', 'desc', chance(5) ? 'x' : 'ASC'])
      for (const step of steps.reverse()) node = { [step]: node }
      return node
    }
    const form = integer(10)
    if (form < 4) return key()
    if (form < 6) return `${key()},${key()}`
    if (form < 8) return [key(), key()]
    return form < 9 ? asObject() : [asObject(), key()]
  }
  /** @param {Shape} shape */
  function fields(shape) {
    if (chance(8)) return chance(50) ? '*' : ['*']
    const names = Array.from({ length: 1 + integer(4) }, () => scalarName(shape))
    if (chance(4)) names.push(pathName(shape) ?? 'nope')
    return chance(30) ? names.join(',') : names
  }

  /** @param {Shape} shape @param {number} depth @returns {any} */
  function level(shape, depth) {
    /** @type {Record<string, any>} */
    const all = {}
    if (chance(30)) all.fields = fields(shape)
    if (chance(20)) all.filters = filters(shape, 1)
    if (chance(20)) all.sort = sort(shape, chance(15) ? 1 : 0)
    if (chance(6)) all.count = pick(['true', 'true', 'false'])
    if (depth > 0 && chance(60)) all.populate = populate(shape, depth - 1)
    if (chance(1)) all[pick(['limit', 'on', 'nope', 'status', 'locale', 'pagination'])] = pick(odd)
    return Object.keys(all).length === 0 ? 'true' : all
  }
  /** @param {string[]} uids @param {number} depth */
  const fragments = (uids, depth) =>
    Object.fromEntries(
      Array.from({ length: 1 + integer(3) }, () => pick(uids)).map((uid) => [
        uid,
        chance(30) ? 'true' : level(/** @type {Shape} */ (world.shapes.get(uid) ?? world.types[0]), depth),
      ]),
    )

  /** @param {Shape} shape @param {number} depth @returns {any} */
  function populate(shape, depth) {
    if (chance(15)) return '*'
    const path = (/** @type {Shape} */ from, /** @type {number} */ left) => {
      const name = chance(2) ? pick(oddNames) : pathName(from)
      if (!name) return 'nope'
      const target = from.attributes[name] && targetOf(from.attributes[name])
      /** @type {string} */
      const more = target && left > 0 && chance(40) ? `.${path(target, left - 1)}` : ''
      return name + more
    }
    if (chance(25)) {
      const names = Array.from({ length: 1 + integer(4) }, () => path(shape, depth))
      return chance(40) ? names.join(',') : names
    }
    /** @type {Record<string, any>} */
    const all = {}
    for (let count = 1 + integer(3); count > 0; count--) {
      const name = chance(2) ? pick(oddNames) : pathName(shape)
      if (!name) continue
      const attribute = shape.attributes[name] ?? {}
      if (attribute.type === 'dynamiczone')
        all[name] = pick([
          () => 'true',
          () => ({ populate: '*' }),
          () => ({ on: fragments(attribute.components ?? [], depth) }),
          () => ({ on: fragments(attribute.components ?? [], depth) }),
          () => (chance(10) ? { fields: ['id'] } : '*'),
          () => ({ count: 'true' }),
        ])()
      else if (/^morphTo/.test(attribute.relation ?? ''))
        all[name] = pick([
          () => 'true',
          () => ({ populate: '*' }),
          () => ({
            on: fragments(
              world.types.map(({ uid }) => uid),
              depth,
            ),
          }),
          () => ({ count: 'true' }),
          () => ({ fields: ['id'] }),
        ])()
      else {
        const target = targetOf(attribute)
        all[name] =
          !target || chance(25)
            ? pick(['true', '1', 'true', 'false', chance(10) ? '*' : 'true', chance(8) ? pick(odd) : 't'])
            : level(target, depth)
      }
    }
    return all
  }

  function pagination() {
    const number = () => (chance(85) ? String(1 + integer(12)) : pick(['0', '-1', '1000', '1.5', '', 'x', '1e1']))
    /** @type {Record<string, any>} */
    const all = {}
    if (chance(60)) {
      all.page = chance(70) ? String(1 + integer(3)) : number()
      if (chance(70)) all.pageSize = number()
    } else {
      all.start = chance(70) ? String(integer(5)) : number()
      if (chance(70)) all.limit = number()
    }
    if (chance(10)) all.withCount = pick(['true', 'false', '0', '1', 'x'])
    if (chance(2)) all.limit = number()
    return all
  }

  /** @param {Shape} type */
  function query(type) {
    /** @type {Record<string, any>} */
    const all = {}
    if (chance(45)) all.filters = filters(type, 3)
    if (chance(30)) all.sort = sort(type, 2)
    if (chance(25)) all.fields = fields(type)
    if (chance(50)) all.populate = populate(type, 3)
    if (chance(20)) all.pagination = pagination()
    if (chance(40)) all.status = pick(['draft', 'draft', 'published', chance(10) ? pick(odd) : 'draft'])
    if (chance(type.localized ? 40 : 15))
      all.locale = chance(85) ? pick(world.locales) : pick(['*', 'xx', '', 'EN', ['fr', 'en'], { $in: ['fr', 'en'] }, { $ne: 'en' }])
    if (chance(5)) all._q = chance(80) ? value(type, scalarName(type)).slice(0, 5) : pick(odd)
    if (chance(4)) all.publicationFilter = pick(publications)
    if (chance(4)) all.hasPublishedVersion = pick(['true', 'false', 'x', '1'])
    if (chance(1)) all[pick(['page', 'lookup', 'foo', 'where', '_locale', 'limit', 'start', 'plugins', 'data', 'pageSize'])] = pick(odd)
    return all
  }

  /** Another text for the same or nearly the same: mistakes that people and attackers make. @param {string} text */
  function spoil(text) {
    const at = integer(text.length + 1)
    return pick([
      () => text.slice(0, at) + text.slice(at + 1),
      () => `${text}&${text.split('&')[0]}`,
      () => text.replace('=', ''),
      () => text.replace(']', ''),
      () => text.replace('[', ''),
      () => text.replace(/\[\w+\]/, '[]'),
      () => text.replace(/\[/g, '.').replace(/\]/g, ''),
      () => text.replaceAll('$', '%24'),
      () => text.replace(/=[^&]*/, '='),
      () => text.replace(/=([^&]*)/, '[]=$1'),
      () => text.replace(/=([^&]*)/, '[x]=$1'),
      () => text.replace(/\[(\d)\]/, '[10$1]'),
      () => text.replaceAll('&', ';'),
      () => `${text}&filters[$or][0]=x`,
      () => `${text}&populate=*`,
      () => text.replace(/(\w)\]/, '$1 ]'),
      () => text.replace(/^\w+/, (word) => word.toUpperCase()),
    ])()
  }

  return function next() {
    const plugin = chance(6)
    const type = plugin
      ? /** @type {Shape} */ (world.shapes.get(pick(['plugin::upload.file', 'plugin::users-permissions.user'])))
      : pick(world.types)
    let path = `/api/${type.path}`
    if (plugin && type.path === 'users' && chance(30)) path += pick(['/1', '/2', '/99', '/me', '/count', '/x'])
    else if (plugin && chance(20)) path += pick(['/1', '/3', '/99', '/x'])
    else if (!plugin && !type.single && chance(20))
      path += `/${chance(92) ? pick(world.documents.get(type.uid) ?? ['x']) : pick(['1', 'x', 'aaaaaaaaaaaaaaaaaaaaaaaa', '%20'])}`
    let text = stringify(query(type))
    if (chance(5)) text = spoil(text)
    return {
      path: text === '' ? path : `${path}?${text}`,
      caller: chance(50) ? 'full' : pick(callers),
      headers: chance(4) ? { 'strapi-response-format': 'v4' } : {},
    }
  }
}

/** @param {any} node @param {string} [prefix] @returns {string} */
export function stringify(node, prefix = '') {
  if (typeof node !== 'object' || node === null) return `${prefix}=${encodeURIComponent(String(node).toWellFormed()).replace(/%2C/g, ',')}`
  return Object.entries(node)
    .map(([name, value]) => stringify(value, prefix === '' ? name : `${prefix}[${encodeURIComponent(name)}]`))
    .filter((text) => text !== '')
    .join('&')
}
