// Fills the database: a token, two users, permissions of roles, and documents, through Strapi without the project's code.

import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'

const token = 'token-of-the-twins'

/** Permissions of roles, by type. Products are public by `auth: false` in Strapi's form. */
const permissions = {
  public: {
    article: ['find', 'findOne', 'featured', 'export'],
    beat: ['find'],
    home: ['find'],
    tag: ['find', 'findOne'],
    writer: ['find', 'findOne'],
  },
  authenticated: {
    article: ['find', 'findOne', 'create', 'update', 'delete', 'featured'],
    audit: ['find', 'findOne'],
    beat: ['find'],
    home: ['find'],
    letter: ['find', 'findOne', 'create', 'delete'],
    note: ['find', 'findOne', 'create', 'update', 'delete'],
    order: ['find', 'findOne', 'create', 'update', 'checkout'],
    product: ['find', 'findOne'],
    tag: ['find', 'findOne', 'create'],
    writer: ['find', 'findOne'],
  },
}

const text = (/** @type {number} */ words) => Array.from({ length: words }, (_, index) => `word${index}`).join(' ')

/** Documents by name, in order of creation; `$name` is the documentId of an earlier one. */
const documents = [
  ['clay', 'tags', { name: 'Clay', color: 'brown' }],
  ['fire', 'tags', { name: 'Fire', color: 'red' }],
  ['water', 'tags', { name: 'Water', color: 'blue' }],
  ['rivers', 'tags', { name: 'Rivers', color: 'blue' }],
  ['ada', 'writers', { name: 'Ada' }],
  ['ben', 'writers', { name: 'Ben' }],
  ['old', 'writers', { name: 'Old Cato', retired: true }],
  ['zoe', 'writers', { name: 'Zoe' }],
  [
    'kilns',
    'articles',
    { title: 'Of kilns', text: text(450), featured: true, writer: '$ada', tags: ['$clay', '$fire'], seo: { title: 'Kilns' } },
  ],
  ['bowls', 'articles', { title: 'Bowls', text: text(30), writer: '$ada', tags: ['$clay'] }],
  ['glaze', 'articles', { title: 'Glaze & glass', text: text(230), writer: '$ben', tags: ['$fire'], remark: 'to be checked' }],
  [
    'dams',
    'articles',
    { title: 'Dams', text: text(90), featured: true, writer: '$old', tags: ['$water', '$rivers'], seo: { description: 'Of dams' } },
  ],
  ['secret', 'articles', { title: 'For members', text: text(12), audience: 'members', featured: true, writer: '$zoe', tags: ['$water'] }],
  ['wheel', 'articles', { title: 'The wheel', text: text(201), writer: '$zoe' }],
  ['ash', 'articles', { title: 'Ash', text: text(5), tags: ['$fire', '$clay'] }],
  ['later', 'articles?status=draft', { title: 'Not yet', text: text(700), featured: true, writer: '$ben' }],
  ['pot', 'products', { name: 'Pot', price: 12.5, stock: 5 }],
  ['vase', 'products', { name: 'Vase', price: 40, stock: 1 }],
  ['noteA', 'notes', { text: 'Of A', ownerId: 1 }],
  ['noteA2', 'notes', { text: 'Also of A', ownerId: 1 }],
  ['noteB', 'notes', { text: 'Of B', ownerId: 2 }],
  ['letterA', 'letters', { text: 'From A', owner: 1 }],
  ['letterB', 'letters', { text: 'From B', owner: 2 }],
  ['orderA', 'orders', { amount: 2, product: '$pot', customerId: 1 }],
  ['orderB', 'orders', { amount: 3, product: '$vase', customerId: 2 }],
  ['orderB2', 'orders', { amount: 1, product: '$pot', customerId: 2 }],
]

const home = {
  heading: 'Welcome',
  sections: [
    { __component: 'section.quote', text: 'Earth, then fire.' },
    { __component: 'section.teaser', label: 'Read', article: '$kilns' },
    { __component: 'section.teaser', label: 'Nothing yet', article: '$later' },
  ],
}

/** @typedef {{ origin: string, database: string }} Filled a running Strapi */

/**
 * Returns the callers' tokens by name, and documentIds by the name of the document.
 * @param {Filled} strapi
 * @param {string} project
 * @returns {Promise<{ callers: Record<string, string>, names: Map<string, string> }>}
 */
export async function fill({ origin, database }, project) {
  addAccess(database, project)
  const send = async (/** @type {string} */ method, /** @type {string} */ path, /** @type {object} */ body, authorization = '') => {
    const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) }
    const response = await fetch(`${origin}/api/${path}`, { method, headers, body: JSON.stringify(body) })
    const answer = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer}`)
    return JSON.parse(answer)
  }
  /** @type {Record<string, string>} */
  const callers = { token, wrong: 'nobody-has-this-token' }
  for (const name of ['a', 'b']) {
    const user = { username: `user-${name}`, email: `${name}@users.example`, password: 'a long password' }
    callers[name] = (await send('POST', 'auth/local/register', user)).jwt
  }
  /** @type {Map<string, string>} */
  const names = new Map()
  const resolved = (/** @type {object} */ data) => JSON.parse(JSON.stringify(data).replace(/\$(\w+)/g, (_, name) => names.get(name) ?? ''))
  for (const [name, path, data] of /** @type {[string, string, Record<string, any>][]} */ (documents)) {
    const computed = path.startsWith('articles') ? { slug: slugOf(data.title), words: data.text.split(' ').length } : {}
    const { data: created } = await send('POST', path, { data: resolved({ ...data, ...computed }) }, `Bearer ${token}`)
    names.set(name, created.documentId)
  }
  await send('PUT', 'home', { data: resolved(home) }, `Bearer ${token}`)
  return { callers, names }
}

const slugOf = (/** @type {string} */ title) => title.toLowerCase().replace(/[^a-z0-9]+/g, '-')

/** A full-access token, and what roles are granted. @param {string} file @param {string} project */
function addAccess(file, project) {
  const salt = /API_TOKEN_SALT=(.*)/.exec(readFileSync(join(project, '.env'), 'utf8'))?.[1] ?? ''
  const database = new Database(file)
  const moments = { created_at: Date.now(), updated_at: Date.now(), published_at: Date.now() }
  const insert = (/** @type {string} */ table, /** @type {Record<string, unknown>} */ row) => {
    const columns = Object.keys(row)
    const statement = `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`
    return database.prepare(statement).run(Object.values(row)).lastInsertRowid
  }
  const access_key = createHmac('sha512', salt).update(token).digest('hex')
  const document = { document_id: 'twin'.padEnd(24, 'x'), ...moments }
  insert('strapi_api_tokens', { ...document, name: 'twin', type: 'full-access', kind: 'content-api', access_key })
  let count = 0
  for (const [role, types] of Object.entries(permissions)) {
    const { id } = /** @type {{ id: number }} */ (database.prepare('select id from up_roles where type = ?').get(role))
    for (const [type, actions] of Object.entries(types))
      for (const action of actions) {
        const row = { ...moments, document_id: `p${++count}`.padEnd(24, 'x'), action: `api::${type}.${type}.${action}` }
        insert('up_permissions_role_lnk', { permission_id: insert('up_permissions', row), role_id: id })
      }
  }
  database.close()
}
