// Runs inside Strapi, at its start: fills an empty database of any content model with drafts, versions, locales, relations,
// files, users, roles and tokens, the same for the same seed; writes the keys of the callers to tokens.json.
const { writeFileSync } = require('node:fs')
const { join } = require('node:path')

const perType = 14
const locales = ['en', 'fr', 'de-CH']

let state = 7
function below(count) {
  state = (state + 0x6d2b79f5) >>> 0
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * count)
}
const pick = (list) => list[below(list.length)]
const chance = (percent) => below(100) < percent
const some = (list, count) => [...new Set(Array.from({ length: below(count + 1) }, () => pick(list)))]

const words = [
  'alpha',
  'Beta',
  'GAMMA',
  'Zürich',
  'zug',
  'Åre',
  'ß',
  '日本',
  '😀 smile',
  '100%',
  'a_b',
  'back\\slash',
  'quo"te',
  "it's",
  ' lead',
  'tail ',
  '<b>x</b>',
  'null',
  '0',
  '12',
  'true',
  'two\nlines',
  '',
  'a,b',
  'x.y',
]
const blocks = [
  [],
  [{ type: 'paragraph', children: [{ type: 'text', text: 'Hällo', bold: true }] }],
  [
    { type: 'heading', level: 2, children: [{ type: 'text', text: '' }] },
    { type: 'list', format: 'ordered', children: [{ type: 'list-item', children: [{ type: 'text', text: 'x' }] }] },
  ],
]
const json = [null, {}, [], { b: 1, a: [1, null, { c: 'ü' }] }, [1, 2], 42, 0, -1.5, 'plain', '', '12', 'null', [''], { '': 0 }, 1e21]
const values = {
  string: () => pick(words),
  text: () => `${pick(words)} ${pick(words)}`,
  richtext: () => `# ${pick(words)}\n\n*${pick(words)}*`,
  email: () => `${pick(['a', 'b.c', 'Ünn'])}${below(5)}@example.org`,
  password: () => 'secret-1',
  uid: () => `uid-${below(1e9)}`,
  integer: () => pick([0, 1, -1, 5, 7, 2147483647, -2147483648, 42]),
  biginteger: () => pick(['0', '9007199254740991', '-12', '123456789012', '7']),
  float: () => pick([0, 0.1, -2.5, 1e10, 2.75, 1e-7, 100]),
  decimal: () => pick([0, 0.1, 12.34, -99.99, 1234567.89, 5]),
  boolean: () => chance(50),
  date: () => pick(['2024-02-29', '1999-12-31', '0001-01-01', '2030-06-15']),
  time: () => pick(['00:00:00.000', '12:30:15.123', '23:59:59.999']),
  datetime: () => pick(['2024-02-29T12:00:00.000Z', '1969-07-20T20:17:40.001Z', '2030-01-01T00:00:00+02:00']),
  timestamp: () => pick(['2024-01-01T00:00:00.000Z', '2000-01-01T00:00:00.500Z']),
  json: () => pick(json),
  blocks: () => pick(blocks),
  customField: () => pick(['light', 'dark']),
}

module.exports = async function fill(strapi, folder) {
  const uids = Object.keys(strapi.contentTypes).filter((uid) => uid.startsWith('api::'))
  const made = {}
  const files = []

  for (const code of ['fr', 'de-CH', 'it']) await strapi.db.query('plugin::i18n.locale').create({ data: { code, name: code } })
  const admin = await strapi.db
    .query('admin::user')
    .create({ data: { firstname: 'Ada', lastname: 'Min', email: 'ada@example.org', username: 'ada', password: 'x', isActive: true } })

  for (let at = 0; at < 7; at++) {
    files.push(
      await strapi.db.query('plugin::upload.file').create({
        data: {
          name: pick(words) || `file ${at}`,
          alternativeText: pick([null, '', 'älter']),
          caption: pick([null, 'cap']),
          width: pick([null, 10 * at]),
          height: pick([null, 7]),
          hash: `h_${at}`,
          ext: pick(['.png', '.txt', '.mp4']),
          mime: pick(['image/png', 'text/plain', 'video/mp4']),
          size: pick([0.01, 12.5, 3]),
          url: `/uploads/h_${at}.png`,
          previewUrl: null,
          provider: 'local',
          folderPath: '/',
          focalPoint: pick([null, { x: 1, y: 2 }]),
          formats: pick([
            null,
            {
              thumbnail: {
                name: 'thumbnail_x',
                hash: `thumbnail_h_${at}`,
                ext: '.png',
                mime: 'image/png',
                path: null,
                width: 5,
                height: 4,
                size: 0.1,
                url: `/uploads/thumbnail_h_${at}.png`,
              },
            },
          ]),
        },
      }),
    )
  }
  const roles = await strapi.db.query('plugin::users-permissions.role').findMany()
  const roleOf = (type) => roles.find((role) => role.type === type).id
  const users = []
  for (const [name, role, blocked] of [
    ['alice', 'authenticated', false],
    ['bob', 'authenticated', false],
    ['carol', 'public', true],
    ['dave', 'authenticated', false],
  ]) {
    users.push(
      await strapi.db.query('plugin::users-permissions.user').create({
        data: {
          documentId: `user${name}`.padEnd(24, 'x'),
          username: name,
          email: `${name}@example.org`,
          provider: 'local',
          password: 'x',
          confirmed: name !== 'dave',
          blocked,
          role: roleOf(role),
          nickName: pick(words),
          score: pick([null, 1.5]),
          hiddenNick: 'hidden',
        },
      }),
    )
  }

  const scalars = (schema, names = Object.keys(schema.attributes)) => {
    const data = {}
    for (const name of names) {
      const attribute = schema.attributes[name]
      const make = attribute.type === 'enumeration' ? () => pick(attribute.enum) : values[attribute.type]
      if (attribute.pluginOptions?.i18n === undefined && /^(createdAt|updatedAt|publishedAt|locale)$/.test(name)) continue
      if (make === undefined || name === 'documentId') continue
      if (attribute.private || /^hidden/.test(name)) data[name] = attribute.type === 'integer' ? 777777 : 'hidden'
      else if (attribute.required || chance(75)) data[name] = make()
      else if (chance(50)) data[name] = null
    }
    return data
  }
  const targets = (attribute) => {
    if (attribute.target === 'plugin::users-permissions.user') return users.map(({ id }) => ({ id }))
    if (attribute.target === 'plugin::upload.file') return files.map(({ id }) => ({ id }))
    return (made[attribute.target] ?? []).map((documentId) => ({ documentId }))
  }
  const linkOf = (attribute) => {
    const all = targets(attribute)
    if (all.length === 0) return undefined
    if (/^(oneToMany|manyToMany)$/.test(attribute.relation)) return { set: some(all, 4) }
    return { set: chance(70) ? [pick(all)] : [] }
  }
  const hanging = (schema, depth, withRelations) => {
    const data = {}
    for (const [name, attribute] of Object.entries(schema.attributes)) {
      if (attribute.type === 'media')
        data[name] = attribute.multiple ? some(files, 4).map(({ id }) => id) : chance(60) ? pick(files).id : null
      if (attribute.type === 'component' && depth < 4) {
        const entry = () => componentOf(attribute.component, depth + 1, withRelations)
        data[name] = attribute.repeatable ? Array.from({ length: below(4) }, entry) : chance(70) ? entry() : null
      }
      if (attribute.type === 'dynamiczone') {
        data[name] = Array.from({ length: below(5) }, () => {
          const uid = pick(attribute.components)
          return { __component: uid, ...componentOf(uid, depth + 1, withRelations) }
        })
      }
      if (
        withRelations &&
        attribute.type === 'relation' &&
        attribute.target &&
        /^(one|many)To/.test(attribute.relation) &&
        !/^(createdBy|updatedBy|localizations)$/.test(name)
      ) {
        const link = linkOf(attribute)
        if (link !== undefined && chance(80)) data[name] = link
      }
    }
    return data
  }
  const componentOf = (uid, depth, withRelations) => ({
    ...scalars(strapi.components[uid]),
    ...hanging(strapi.components[uid], depth, withRelations),
  })

  // First every document without relations, so that each can be pointed at in every order.
  for (const uid of uids) {
    const schema = strapi.contentTypes[uid]
    made[uid] = []
    if (schema.info.singularName === 'unborn') continue
    for (let at = 0; at < (schema.kind === 'singleType' ? 1 : perType); at++) {
      const { documentId } = await strapi
        .documents(uid)
        .create({ data: scalars(schema), ...(schema.kind === 'singleType' && { status: 'draft' }) })
      made[uid].push(documentId)
      if (schema.pluginOptions?.i18n?.localized) {
        for (const locale of locales.slice(1))
          if (chance(60)) await strapi.documents(uid).update({ documentId, locale, data: scalars(schema) })
      }
      if (schema.options?.draftAndPublish && chance(30)) await strapi.documents(uid).publish({ documentId, locale: '*' })
    }
  }
  let refused = 0
  for (const uid of uids) {
    const schema = strapi.contentTypes[uid]
    const localized = schema.pluginOptions?.i18n?.localized === true
    for (const documentId of made[uid]) {
      const versions = await strapi.db
        .query(uid)
        .findMany({ where: { documentId, ...(schema.options?.draftAndPublish && { publishedAt: null }) } })
      for (const { locale } of versions) {
        const where = { documentId, ...(localized && { locale }) }
        const change = async (make) => {
          for (let attempt = 0; attempt < 4; attempt++) {
            try {
              return await make()
            } catch (error) {
              if (!/not found|exist/.test(error.message)) throw error
              refused++
            }
          }
        }
        await change(() => strapi.documents(uid).update({ ...where, data: hanging(schema, 0, true) }))
        if (schema.options?.draftAndPublish) {
          const fate = below(10)
          if (fate < 6) await strapi.documents(uid).publish(where)
          if (fate < 2)
            await change(() => strapi.documents(uid).update({ ...where, data: { ...scalars(schema), ...hanging(schema, 0, true) } }))
          if (fate === 9) await strapi.documents(uid).unpublish(where)
        }
      }
    }
  }
  // Polymorphic relations, through the rows: published and draft ones, of all types that name this one.
  for (const uid of uids) {
    for (const [name, attribute] of Object.entries(strapi.contentTypes[uid].attributes)) {
      if (!/^morphTo/.test(attribute.relation ?? '')) continue
      const pointing = uids.flatMap((other) =>
        Object.values(strapi.contentTypes[other].attributes).some((one) => one.target === uid && one.morphBy === name) ||
        attribute.relation === 'morphToMany'
          ? [other]
          : [],
      )
      for (const row of await strapi.db.query(uid).findMany()) {
        const link = async () => {
          const __type = pick(pointing)
          const rows = await strapi.db.query(__type).findMany({ select: ['id'] })
          return rows.length === 0 ? null : { id: pick(rows).id, __type }
        }
        if (attribute.relation === 'morphToOne') {
          const to = chance(80) ? await link() : null
          if (to) await strapi.db.query(uid).update({ where: { id: row.id }, data: { [name]: to } })
        } else {
          const list = (await Promise.all(Array.from({ length: below(5) }, link))).filter(Boolean)
          const inverse = (to) =>
            Object.entries(strapi.contentTypes[to.__type].attributes).find(([, one]) => one.target === uid && one.morphBy === name)?.[0]
          await strapi.db
            .query(uid)
            .update({ where: { id: row.id }, data: { [name]: list.map((to) => ({ ...to, __pivot: { field: inverse(to) ?? null } })) } })
        }
      }
    }
  }
  for (const uid of uids)
    for (const row of await strapi.db.query(uid).findMany())
      if (chance(60))
        await strapi.db.query(uid).update({ where: { id: row.id }, data: { createdBy: admin.id, updatedBy: chance(50) ? admin.id : null } })

  // Texts in JSON columns that no API writes, but imports and other tools do.
  const texts = ['null', 'true', '"abc"', 'abc', '{"a":1', '[1] ', '  {"a":1}', '"', '"12"', ' null', '[1,]', '"\\u0041"', '"{}"']
  for (const uid of uids) {
    const { attributes } = strapi.contentTypes[uid]
    const names = Object.keys(attributes).filter((name) => attributes[name].type === 'json')
    const { tableName } = strapi.db.metadata.get(uid)
    for (const name of names) {
      for (const { id } of await strapi.db.connection(tableName).select('id')) {
        if (chance(30))
          await strapi.db
            .connection(tableName)
            .where({ id })
            .update({ [name]: pick(texts) })
      }
    }
  }

  const find = (list) =>
    list.flatMap((uid) => (strapi.contentTypes[uid].kind === 'singleType' ? [`${uid}.find`] : [`${uid}.find`, `${uid}.findOne`]))
  const open = uids.filter((_, index) => index % 3 !== 1)
  const grant = (type, actions) =>
    Promise.all(
      actions.map((action) => strapi.db.query('plugin::users-permissions.permission').create({ data: { action, role: roleOf(type) } })),
    )
  await grant('public', find(open))
  await grant('authenticated', [
    ...find(uids),
    'plugin::users-permissions.user.find',
    'plugin::users-permissions.user.findOne',
    'plugin::upload.content-api.find',
    'plugin::upload.content-api.findOne',
    'plugin::i18n.locales.listLocales',
    'plugin::users-permissions.role.find',
  ])
  const token = async (name, type, permissions) =>
    (await strapi.service('admin::api-token').create({ name, description: '', type, lifespan: null, ...(permissions && { permissions }) }))
      .accessKey
  const tokens = {
    full: await token('all of it', 'full-access'),
    readonly: await token('only reading', 'read-only'),
    custom: await token('some', 'custom', [...find(uids.filter((_, index) => index % 2 === 0)), 'plugin::users-permissions.user.find']),
    alice: strapi.plugin('users-permissions').service('jwt').issue({ id: users[0].id }, { expiresIn: '3650d' }),
    blocked: strapi.plugin('users-permissions').service('jwt').issue({ id: users[2].id }, { expiresIn: '3650d' }),
  }
  writeFileSync(join(folder, 'tokens.json'), JSON.stringify(tokens, null, 2))
  console.log(`filled; refused and tried again: ${refused}`)
}
