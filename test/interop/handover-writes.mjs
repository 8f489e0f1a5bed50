// Writes of every sort at random: documents are made, changed, published, unpublished, discarded and removed, in several locales,
// with components, zones, media and relations, set, connected at places and disconnected.

/**
 * @typedef {import('./handover-shapes.mjs').Shape} Shape
 * @typedef {ReturnType<typeof import('../../bench/random.mjs').seededRandom>} Random
 * @typedef {{ ask: (method: string, path: string, data?: object) => Promise<import('./handover-reads.mjs').Answer> }} Server
 * @typedef {{ shape: Shape, documentId: string, locale: string | null }} Known a document that has this locale
 * @typedef {{ world: Known[], files: { pictures: number[], others: number[] } }} World
 */

/** The locales of documents; the first one is the default. */
export const locales = ['en', 'fr', 'de']
/** Rules of the golden model for texts; all others are lengths only. */
const fitting = new Map([
  ['^#[0-9a-f]{6}$', (/** @type {number} */ n) => `#${n.toString(16).padStart(6, '0')}`],
  ['^[A-Z]{2}-\\d+$', (/** @type {number} */ n) => `AB-${n}`],
  ['^[A-Z]+-\\d{4}$', (/** @type {number} */ n) => `${letters(n).toUpperCase()}-${1000 + (n % 9000)}`],
  ['^\\d{4,5}$', (/** @type {number} */ n) => String(1000 + (n % 9000))],
  ['^[a-z]+$', (/** @type {number} */ n) => letters(n)],
  ['^[a-z-]+$', (/** @type {number} */ n) => `${letters(n)}-x`],
])
const letters = (/** @type {number} */ n) =>
  [...String(n)]
    .map((digit) => 'abcdefghij'[Number(digit)])
    .join('')
    .padStart(3, 'z')

let made = 0

/**
 * @param {Server} server
 * @param {import('./handover-shapes.mjs').Shapes} shapes
 * @param {Random} random
 * @param {number} count
 */
export async function writeAtRandom(server, shapes, random, count) {
  const actions = [
    'create',
    'create',
    'create',
    'update',
    'update',
    'update',
    'save',
    'save',
    'translate',
    'publish',
    'unpublish',
    'discard',
    'remove',
  ]
  return write(server, shapes, random, count, actions, await worldOf(server, shapes))
}

/**
 * The same without the actions that Strapi's content API does not have.
 * @param {Server} server
 * @param {import('./handover-shapes.mjs').Shapes} shapes
 * @param {Random} random
 */
export async function writeWithStrapi(server, shapes, random) {
  const known = await worldOf(server, shapes)
  return { ...(await write(server, shapes, random, 60, ['create', 'update', 'save', 'translate', 'remove'], known)), total: 60 }
}

/**
 * The first documents of a database: single types, then others.
 * @param {Server} server
 * @param {import('./handover-shapes.mjs').Shapes} shapes
 * @param {Random} random
 * @param {number} count
 */
export async function writeFirst(server, shapes, random, count) {
  const all = await worldOf(server, shapes)
  for (const shape of shapes.types.filter(({ single }) => single)) {
    const locale = shape.localized ? 'en' : null
    const data = dataOf(shape.attributes, { shapes, random, all, locale, complete: true })
    const { status, body } = await server.ask('PUT', `/api/${shape.path}`, data)
    if (status >= 300) throw new Error(`${shape.path} was refused: ${status} ${JSON.stringify(body)}`)
    all.world.push({ shape, documentId: body.data.documentId, locale })
  }
  return write(server, shapes, random, count, ['create', 'create', 'create', 'translate'], all)
}

/**
 * @param {Server} server
 * @param {import('./handover-shapes.mjs').Shapes} shapes
 * @returns {Promise<World>}
 */
async function worldOf(server, { types }) {
  /** @type {Known[]} */
  const world = []
  for (const shape of types) {
    for (const locale of shape.localized ? locales : [null]) {
      const { body } = await server.ask(
        'GET',
        `/api/${shape.path}?status=draft&sort=id&pagination[pageSize]=100${locale === null ? '' : `&locale=${locale}`}`,
      )
      const list = shape.single ? [body?.data].filter((one) => one) : body.data
      world.push(...list.map((/** @type {{ documentId: string }} */ { documentId }) => ({ shape, documentId, locale })))
    }
  }
  const { body: files } = await server.ask('GET', '/api/upload/files?sort=id')
  const ids = (/** @type {boolean} */ picture) =>
    files
      .filter((/** @type {{ mime: string }} */ { mime }) => mime.startsWith('image/') === picture)
      .map((/** @type {{ id: number }} */ { id }) => id)
  return { world, files: { pictures: ids(true), others: ids(false) } }
}

/**
 * @param {Server} server
 * @param {import('./handover-shapes.mjs').Shapes} shapes
 * @param {Random} random
 * @param {number} count
 * @param {readonly string[]} actions
 * @param {World} all
 */
async function write(server, shapes, random, count, actions, all) {
  /** @type {Record<string, number>} */
  const counts = {}
  /** @type {string[]} */
  const refused = []
  for (let done = 0; done < count; done++) {
    const name = random.pick(actions)
    const request = requestOf(name, shapes, random, all)
    const { status, body } = await server.ask(request.method, request.path, request.data)
    counts[name] = (counts[name] ?? 0) + 1
    if (status >= 300) {
      const errors = body?.error?.details?.errors?.map((/** @type {any} */ one) => [one.path, one.message]) ?? body?.error?.message
      refused.push(`${request.method} ${request.path} ${status} ${JSON.stringify([errors, request.data]).slice(0, 400)}`)
    } else request.done(body)
  }
  return { world: all.world, counts, refused }
}

/**
 * @param {string} name
 * @param {import('./handover-shapes.mjs').Shapes} shapes
 * @param {Random} random
 * @param {World} all
 * @returns {{ method: string, path: string, data?: object, done: (body: any) => void }}
 */
function requestOf(name, shapes, random, all) {
  const { types } = shapes
  if (name === 'create') {
    const shape = random.pick(types.filter(({ single }) => !single))
    const status = shape.drafts && random.integer(3) === 0 ? '?status=draft' : ''
    return {
      method: 'POST',
      path: `/api/${shape.path}${status}`,
      data: dataOf(shape.attributes, { shapes, random, all, locale: shape.localized ? 'en' : null, complete: true }),
      done: ({ data }) => all.world.push({ shape, documentId: data.documentId, locale: shape.localized ? 'en' : null }),
    }
  }
  const fits = (/** @type {Known} */ { shape }) =>
    name === 'translate'
      ? shape.localized
      : ['publish', 'unpublish', 'discard', 'save'].includes(name)
        ? shape.drafts
        : name !== 'remove' || !shape.single
  const known = random.pick(all.world.filter(fits))
  const { shape, documentId } = known
  const locale = name === 'translate' ? random.pick(locales) : known.locale
  const query = [...(locale === null ? [] : [`locale=${locale}`]), ...(name === 'save' ? ['status=draft'] : [])].join('&')
  const path = `/api/${shape.path}${shape.single ? '' : `/${documentId}`}`
  if (name === 'remove') {
    return {
      method: 'DELETE',
      path: `${path}?${locale !== null && random.integer(2) === 0 ? 'locale=*' : query}`,
      done: () => {
        all.world = all.world.filter((one) => one.documentId !== documentId)
      },
    }
  }
  if (['publish', 'unpublish', 'discard'].includes(name))
    return { method: 'POST', path: `${path}/actions/${name}?${query}`, done: () => {} }
  return {
    method: 'PUT',
    path: `${path}?${query}`,
    data: dataOf(shape.attributes, { shapes, random, all, locale, complete: name === 'translate' }),
    done: () => {
      if (!all.world.some((one) => one.documentId === documentId && one.locale === locale)) all.world.push({ shape, documentId, locale })
    },
  }
}

/**
 * @typedef {object} Making
 * @property {import('./handover-shapes.mjs').Shapes} shapes
 * @property {Random} random
 * @property {World} all
 * @property {string | null} locale
 * @property {boolean} complete include required values
 */

/**
 * @param {Record<string, import('./handover-shapes.mjs').Attribute>} attributes
 * @param {Making} making
 */
function dataOf(attributes, making) {
  const { random, complete } = making
  /** @type {Record<string, unknown>} */
  const data = {}
  for (const [name, attribute] of Object.entries(attributes)) {
    if (!(attribute.required && complete) && random.integer(complete ? 3 : 5) > 1) continue
    const value = madeValue(attribute, making)
    if (value !== undefined) data[name] = value
  }
  return data
}

/**
 * @param {import('./handover-shapes.mjs').Attribute} attribute
 * @param {Making} making
 * @returns {unknown}
 */
function madeValue(attribute, making) {
  const { random, all } = making
  const number = (/** @type {number} */ from, /** @type {number} */ to) => from + random.integer(to - from + 1)
  const n = ++made
  switch (attribute.type) {
    case 'component':
      return attribute.repeatable ? list(attribute, random, () => entry(attribute.component, making)) : entry(attribute.component, making)
    case 'dynamiczone':
      return list(attribute, random, () => {
        const uid = random.pick(attribute.components)
        return { __component: uid, ...entry(/** @type {string} */ (uid), making) }
      })
    case 'media': {
      const files = attribute.allowedTypes?.[0] === 'files' ? all.files.others : all.files.pictures
      return attribute.multiple ? random.some(files, 3) : random.pick([...files, null])
    }
    case 'relation':
      return relationOf(attribute, making)
    case 'integer':
      return number(Math.max(attribute.min ?? -500, -500), Math.min(attribute.max ?? 500, 500))
    case 'biginteger':
      return String(attribute.unique ? 20_000 + n : number(10, 1_000_000))
    case 'float':
    case 'decimal':
      return attribute.unique
        ? n + 0.5
        : attribute.min !== undefined && attribute.max !== undefined
          ? (attribute.min + attribute.max) / 2
          : number(1, 99) / 4
    case 'boolean':
      return random.integer(2) === 0
    case 'date':
      return new Date(Date.UTC(2030, 0, 1 + n)).toISOString().slice(0, 10)
    case 'time':
      return new Date(n * 61_007).toISOString().slice(11, 23)
    case 'datetime':
    case 'timestamp':
      return new Date(Date.UTC(2030, 0, 1) + n * 61_007).toISOString()
    case 'enumeration':
      return random.pick(attribute.enum)
    case 'json':
      return random.pick([{ a: [1, 'b', null], deep: { n } }, [n, 'x'], { text: random.text(2) }])
    case 'blocks':
      return [{ type: 'paragraph', children: [{ type: 'text', text: random.sentence(4) }] }]
    case 'email':
      return `m${n}@x.test`
    case 'password':
      return 'secret12'
    default:
      return textOf(attribute, n, random)
  }
}

/**
 * @param {import('./handover-shapes.mjs').Attribute} attribute
 * @param {number} n
 * @param {Random} random
 */
function textOf({ type, regex, maxLength = 200 }, n, random) {
  const fits = regex === undefined ? undefined : fitting.get(regex)
  if (fits !== undefined) return fits(n)
  if (type === 'uid') return `made-${n}`
  return `${n} ${random.sentence(3)}`.slice(0, maxLength)
}

/**
 * @param {string} uid
 * @param {Making} making
 * @returns {Record<string, unknown>}
 */
const entry = (uid, making) => dataOf(/** @type {any} */ (making.shapes.components.get(uid)), { ...making, complete: true })

/**
 * @template T
 * @param {{ min?: number, max?: number }} attribute
 * @param {Random} random
 * @param {() => T} make
 */
function list({ min = 0, max = 4 }, random, make) {
  return Array.from({ length: min + random.integer(Math.min(max, 4) - min + 1) }, make)
}

/**
 * Every form that a relation may have; documents that lack the locale are not named.
 * @param {import('./handover-shapes.mjs').Attribute} attribute
 * @param {Making} making
 */
function relationOf({ relation, target }, { random, all, locale }) {
  // Polymorphic links cannot be written to relations of one type: 400 in both.
  if (relation === 'morphOne' || relation === 'morphMany' || relation === 'morphToOne') return undefined
  const uid = target ?? random.pick(['api::article.article', 'api::product.product'])
  if (uid.startsWith('plugin::')) return undefined
  const wanted = locale ?? 'en'
  const fits = all.world.filter(({ shape, locale: its }) => shape.uid === uid && (its === null || its === wanted))
  if (fits.length === 0) return undefined
  const named = random.some(fits, 3).map(({ documentId }) => ({ documentId, ...(target === undefined && { __type: uid }) }))
  const one = named.slice(0, 1)
  if (relation === 'morphToMany') return { connect: named }
  if (relation.endsWith('ToOne')) return random.pick([one[0]?.documentId, { connect: one }, { set: one }, { disconnect: one }, null])
  const placed = named.map((entry, index) => ({
    ...entry,
    position:
      index === 0
        ? random.pick([{ start: true }, { end: true }])
        : random.pick([{ start: true }, { end: true }, { before: named[index - 1]?.documentId }, { after: named[0]?.documentId }]),
  }))
  return random.pick([
    named.map(({ documentId }) => documentId),
    { connect: named },
    { connect: placed },
    { set: named },
    { disconnect: named },
    [],
  ])
}
