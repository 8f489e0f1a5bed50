// A seed becomes the rows that Strapi would have written: versions, locales, components, links and their orders, files, access.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifySync } from '@node-rs/bcrypt'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTables } from '../../src/database/sqlite/create-tables.js'
import { insertInitialRows } from '../../src/database/sqlite/initial-rows.js'
import { loadModel } from '../../src/model/schema/load.js'
import type { Model } from '../../src/model/schema/types.js'
import { describeTables } from '../../src/model/tables/tables.js'
import { seedProject } from '../../src/operations/seed/seed.js'

const folder = mkdtempSync(join(tmpdir(), 'octavo-seed-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const now = new Date('2026-01-02T03:04:05.678Z')

interface Loaded {
  readonly database: Database.Database
  readonly model: Model
  readonly uploads: string
  readonly lines: readonly string[]
  readonly count: number
}

async function empty(project: string): Promise<{ database: Database.Database; model: Model }> {
  const model = await loadModel({ folder: project })
  const database = new Database(':memory:')
  database.pragma('foreign_keys = ON')
  createTables(database, describeTables(model))
  let count = 0
  insertInitialRows(database, model, { now, newDocumentId: () => `first${count++}`, locale: 'en' })
  return { database, model }
}

async function load(project: string, into?: Awaited<ReturnType<typeof empty>>): Promise<Loaded> {
  const { database, model } = into ?? (await empty(project))
  const uploads = mkdtempSync(join(folder, 'uploads-'))
  const lines: string[] = []
  let documents = 0
  const options = { newDocumentId: () => `doc${documents++}`, now, uploadsFolder: uploads, report: (line: string) => void lines.push(line) }
  const count = await seedProject(project, database, model, options)
  return { database, model, uploads, lines, count }
}

function write(project: string, files: Readonly<Record<string, unknown>>): string {
  for (const [name, content] of Object.entries(files)) {
    const file = join(project, name)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  }
  return project
}

const localized = { pluginOptions: { i18n: { localized: true } } }
const type = (singularName: string, options: { draftAndPublish: boolean; localized?: boolean }, attributes: object) => ({
  [`src/api/${singularName}/content-types/${singularName}/schema.json`]: {
    kind: 'collectionType',
    collectionName: `${singularName}s`,
    info: { singularName, pluralName: `${singularName}s`, displayName: singularName },
    options: { draftAndPublish: options.draftAndPublish },
    pluginOptions: options.localized ? localized.pluginOptions : {},
    attributes,
  },
})
const relation = (relation: string, target: string, options: object = {}) => ({ type: 'relation', relation, target, ...options })

const schemas = {
  ...type(
    'story',
    { draftAndPublish: true, localized: true },
    {
      title: { type: 'string', ...localized },
      rank: { type: 'integer' },
      reads: { type: 'biginteger', default: '7' },
      open: { type: 'boolean', default: false },
      at: { type: 'time' },
      day: { type: 'date' },
      starts: { type: 'datetime' },
      data: { type: 'json' },
      secret: { type: 'password', private: true },
      author: relation('manyToOne', 'api::author.author', { inversedBy: 'stories' }),
      tags: relation('manyToMany', 'api::tag.tag', { inversedBy: 'stories' }),
      next: relation('oneToOne', 'api::story.story'),
      cover: { type: 'media' },
      pictures: { type: 'media', multiple: true },
      seo: { type: 'component', component: 'shared.seo', ...localized },
      parts: { type: 'dynamiczone', components: ['shared.quote', 'shared.seo'], ...localized },
    },
  ),
  ...type(
    'author',
    { draftAndPublish: false },
    {
      name: { type: 'string' },
      stories: relation('oneToMany', 'api::story.story', { mappedBy: 'author' }),
      favourites: relation('oneToMany', 'api::story.story'),
      main: relation('manyToOne', 'api::tag.tag', { useJoinTable: false }),
      links: { type: 'component', component: 'shared.link', repeatable: true },
    },
  ),
  ...type(
    'tag',
    { draftAndPublish: true },
    { name: { type: 'string' }, stories: relation('manyToMany', 'api::story.story', { mappedBy: 'tags' }) },
  ),
  ...type(
    'remark',
    { draftAndPublish: false },
    {
      subject: { type: 'relation', relation: 'morphToOne' },
      subjects: { type: 'relation', relation: 'morphToMany' },
      user: relation('oneToOne', 'plugin::users-permissions.user'),
    },
  ),
  'src/components/shared/seo.json': {
    collectionName: 'components_shared_seos',
    info: { displayName: 'seo' },
    attributes: { title: { type: 'string' }, links: { type: 'component', component: 'shared.link', repeatable: true } },
  },
  'src/components/shared/link.json': {
    collectionName: 'components_shared_links',
    info: { displayName: 'link' },
    attributes: { url: { type: 'string' } },
  },
  'src/components/shared/quote.json': {
    collectionName: 'components_shared_quotes',
    info: { displayName: 'quote' },
    attributes: { text: { type: 'text' }, picture: { type: 'media' }, tags: relation('manyToMany', 'api::tag.tag') },
  },
}

const seed = {
  'seed/access.json': {
    locales: [
      { code: 'en', name: 'English (en)' },
      { code: 'de', name: 'German (de)', default: true },
    ],
    roles: { public: ['api::story.story.find', 'plugin::users-permissions.auth.callback'], editor: ['api::story.story.update'] },
    users: [
      { username: 'anna', email: 'Anna@Example.test', password: 'slack-water', role: 'authenticated', confirmed: true },
      { username: 'jan', email: 'jan@example.test', password: 'low-water', role: 'authenticated', confirmed: false },
    ],
  },
  'seed/files.json': [
    {
      key: 'mill',
      file: 'seed/uploads/mill.png',
      name: 'mill.png',
      hash: 'mill_1',
      ext: '.png',
      mime: 'image/png',
      size: 1.5,
      url: '/uploads/mill_1.png',
      formats: { small: { url: '/uploads/small_mill_1.png' } },
    },
    { key: 'loom', file: 'seed/uploads/loom.pdf', name: 'l', hash: 'loom', mime: 'application/pdf', size: 3, url: '/uploads/loom.pdf' },
  ],
  'seed/uploads/mill.png': 'mill',
  'seed/uploads/small_mill_1.png': 'small mill',
  'seed/uploads/loom.pdf': 'loom',
  'seed/content/tag.json': {
    uid: 'api::tag.tag',
    documents: [
      { key: 'a', locales: { '-': { published: { name: 'A' } } } },
      { key: 'b', locales: { '-': { published: { name: 'B' }, draft: { name: 'B draft' } } } },
      { key: 'c', locales: { '-': { draft: { name: 'C' } } } },
    ],
  },
  'seed/content/author.json': {
    uid: 'api::author.author',
    documents: [
      {
        key: 'ann',
        locales: {
          '-': {
            published: { name: 'Ann', favourites: ['@story:one', '@story:two'], main: '@tag:a', links: [{ url: '/a' }, { url: '/b' }] },
          },
        },
      },
      { key: 'bob', locales: { '-': { published: { name: 'Bob' } } } },
    ],
  },
  'seed/content/story.json': {
    uid: 'api::story.story',
    documents: [
      {
        key: 'one',
        createdAt: '2025-01-01T00:00:00.000Z',
        updatedAt: '2025-02-01T00:00:00.000Z',
        publishedAt: '2025-03-01T00:00:00.000Z',
        locales: {
          de: {
            published: {
              title: 'Eins',
              rank: 3,
              reads: '9007199254740993',
              at: '17:45',
              day: '2025-05-06',
              starts: '2025-01-01T12:00:00.000Z',
              data: { a: [1] },
              secret: 'ebb',
              author: '@author:ann',
              tags: ['@tag:c', '@tag:b', '@tag:a'],
              next: '@story:two',
              cover: '@file:mill',
              pictures: ['@file:loom', '@file:mill'],
              seo: { title: 'S', links: [{ url: '/1' }, { url: '/2' }] },
              parts: [
                { __component: 'shared.quote', text: 'Q', picture: '@file:loom', tags: ['@tag:b'] },
                { __component: 'shared.seo', title: 'T' },
              ],
            },
          },
          en: { published: { title: 'One', author: '@author:ann' }, draft: { title: 'One, again', rank: 4, author: '@author:bob' } },
        },
      },
      { key: 'two', locales: { de: { draft: { title: 'Zwei', author: '@author:ann', tags: ['@tag:a'] } } } },
    ],
  },
  'seed/content/remark.json': {
    uid: 'api::remark.remark',
    documents: [
      {
        key: 'r',
        locales: { '-': { published: { subject: '@story:one', subjects: ['@tag:c', '@author:ann'], user: '@user:jan' } } },
      },
    ],
  },
}

describe('a small project', () => {
  let loaded: Loaded
  const rows = (statement: string): unknown[] => loaded.database.prepare(statement).raw().all()
  beforeAll(async () => {
    loaded = await load(write(join(folder, 'small'), { ...schemas, ...seed }))
  })
  afterAll(() => loaded.database.close())

  it('counts and reports the loaded documents', () => {
    expect(loaded.count).toBe(8)
    expect(loaded.lines.at(-1)).toBe('seed: 8 documents of 4 types, 2 files, 2 users')
  })

  it('keeps every foreign key', () => {
    expect(loaded.database.pragma('foreign_key_check')).toEqual([])
  })

  it('has a draft row for each published row, per locale; a never published draft has no other row', () => {
    const day = (text: string) => Date.parse(text)
    expect(rows('SELECT id, locale, title, created_at, updated_at, published_at FROM storys ORDER BY id')).toEqual([
      [1, 'de', 'Eins', day('2025-01-01'), day('2025-02-01'), null],
      [2, 'de', 'Eins', day('2025-01-01'), day('2025-02-01'), day('2025-03-01')],
      [3, 'en', 'One, again', day('2025-01-01'), day('2025-02-01'), null],
      [4, 'en', 'One', day('2025-01-01'), day('2025-02-01'), day('2025-03-01')],
      [5, 'de', 'Zwei', now.getTime(), now.getTime(), null],
    ])
    expect(rows('SELECT count(DISTINCT document_id) FROM storys WHERE id < 5')).toEqual([[1]])
  })

  it('has one row without a locale where the type has neither drafts nor locales', () => {
    expect(rows('SELECT id, name, locale, published_at FROM authors ORDER BY id')).toEqual([
      [1, 'Ann', null, now.getTime()],
      [2, 'Bob', null, now.getTime()],
    ])
  })

  it('stores values in the layout forms, and defaults for omitted ones', () => {
    const integers = loaded.database.prepare('SELECT reads FROM storys WHERE id IN (1, 5)').safeIntegers().pluck().all()
    expect(integers).toEqual([9007199254740993n, 7n])
    expect(rows('SELECT open, at, day, starts, data, typeof(starts) FROM storys WHERE id = 1')).toEqual([
      [0, '17:45:00.000', '2025-05-06', Date.parse('2025-01-01T12:00:00Z'), '{"a":[1]}', 'integer'],
    ])
    const [[hash]] = rows('SELECT secret FROM storys WHERE id = 2') as [[string]]
    expect(hash).toMatch(/^\$2[ab]\$10\$/)
    expect(verifySync('ebb', hash)).toBe(true)
  })

  it('shares non-localized values between the locales, and keeps the localized ones', () => {
    expect(rows('SELECT id, rank FROM storys ORDER BY id')).toEqual([
      [1, 3],
      [2, 3],
      [3, 4],
      [4, 3],
      [5, null],
    ])
    expect(rows("SELECT related_id FROM files_related_mph WHERE field = 'cover' ORDER BY id")).toEqual([[1], [2], [3], [4]])
  })

  it('links drafts to drafts and published rows to published rows, in the order of the list', () => {
    expect(rows('SELECT story_id, tag_id, tag_ord, story_ord FROM storys_tags_lnk ORDER BY id')).toEqual([
      [1, 5, 1, 1],
      [1, 3, 2, 1],
      [1, 1, 3, 1],
      [2, 4, 1, 1],
      [2, 2, 2, 1],
      [5, 1, 1, 2],
    ])
  })

  it('links the published row to nothing where the target is not published', () => {
    expect(rows('SELECT story_id, inv_story_id FROM storys_next_lnk')).toEqual([[1, 5]])
  })

  it('links every version to the one row of a type without drafts', () => {
    expect(rows('SELECT story_id, author_id, story_ord FROM storys_author_lnk ORDER BY story_id')).toEqual([
      [1, 1, 1],
      [2, 1, 1],
      [3, 2, 1],
      [4, 1, 2],
      [5, 1, 2],
    ])
  })

  it('links a row without versions to all versions of the target in the default locale', () => {
    expect(rows('SELECT author_id, story_id, story_ord FROM authors_favourites_lnk ORDER BY id')).toEqual([
      [1, 1, 1],
      [1, 2, 2],
      [1, 5, 3],
    ])
  })

  it('writes a relation without a join table into its column', () => {
    expect(rows('SELECT main_id FROM authors ORDER BY id')).toEqual([[1], [null]])
  })

  it('writes components with entries: no order for a single one, 1…n in lists and zones', () => {
    expect(rows('SELECT entity_id, cmp_id, component_type, field, "order" FROM storys_cmps WHERE entity_id < 3 ORDER BY id')).toEqual([
      [1, 1, 'shared.seo', 'seo', null],
      [1, 1, 'shared.quote', 'parts', 1],
      [1, 2, 'shared.seo', 'parts', 2],
      [2, 3, 'shared.seo', 'seo', null],
      [2, 2, 'shared.quote', 'parts', 1],
      [2, 4, 'shared.seo', 'parts', 2],
    ])
    expect(rows('SELECT entity_id, component_type, field, "order" FROM components_shared_seos_cmps ORDER BY id')).toEqual([
      [1, 'shared.link', 'links', 1],
      [1, 'shared.link', 'links', 2],
      [3, 'shared.link', 'links', 1],
      [3, 'shared.link', 'links', 2],
    ])
    expect(rows('SELECT quote_id, tag_id FROM components_shared_quotes_tags_lnk ORDER BY id')).toEqual([
      [1, 3],
      [2, 4],
    ])
  })

  it('writes files, links them, and copies them with their formats', () => {
    expect(rows('SELECT id, url, provider, folder_path FROM files')).toEqual([
      [1, '/uploads/mill_1.png', 'local', '/'],
      [2, '/uploads/loom.pdf', 'local', '/'],
    ])
    const links = 'SELECT file_id, related_id, related_type, field, "order" FROM files_related_mph WHERE related_id = 2 ORDER BY id'
    expect(rows(links)).toEqual([
      [1, 2, 'api::story.story', 'cover', 1],
      [2, 2, 'api::story.story', 'pictures', 1],
      [1, 2, 'api::story.story', 'pictures', 2],
      [2, 2, 'shared.quote', 'picture', 1],
    ])
    expect(readdirSync(loaded.uploads).sort()).toEqual(['loom.pdf', 'mill_1.png', 'small_mill_1.png'])
    expect(readFileSync(join(loaded.uploads, 'small_mill_1.png'), 'utf8')).toBe('small mill')
  })

  it('writes polymorphic relations: to the published version, or to the draft of an unpublished document', () => {
    expect(rows('SELECT target_id, target_type FROM remarks')).toEqual([[2, 'api::story.story']])
    expect(rows('SELECT remark_id, subjects_id, subjects_type, field, "order" FROM remarks_subjects_mph ORDER BY id')).toEqual([
      [1, 5, 'api::tag.tag', null, 1],
      [1, 1, 'api::author.author', null, 2],
    ])
    expect(rows('SELECT remark_id, user_id FROM remarks_user_lnk')).toEqual([[1, 2]])
  })

  it('adds locales, permissions and users', () => {
    expect(rows('SELECT code, name FROM i18n_locale')).toEqual([
      ['en', 'English (en)'],
      ['de', 'German (de)'],
    ])
    expect(rows("SELECT value FROM strapi_core_store_settings WHERE key = 'plugin_i18n_default_locale'")).toEqual([['"de"']])
    const actions =
      'SELECT p.action, l.permission_ord FROM up_permissions p JOIN up_permissions_role_lnk l ON l.permission_id = p.id WHERE l.role_id = '
    expect(rows(`${actions} (SELECT id FROM up_roles WHERE type = 'public') AND p.action LIKE 'api::%'`)).toEqual([
      ['api::story.story.find', 9],
    ])
    expect(rows(`${actions} (SELECT id FROM up_roles WHERE type = 'editor')`)).toEqual([['api::story.story.update', 1]])
    expect(
      rows('SELECT username, email, provider, confirmed, blocked, user_ord FROM up_users u JOIN up_users_role_lnk ON user_id = u.id'),
    ).toEqual([
      ['anna', 'anna@example.test', 'local', 1, 0, 1],
      ['jan', 'jan@example.test', 'local', 0, 0, 2],
    ])
    const [[hash]] = rows("SELECT password FROM up_users WHERE username = 'anna'") as [[string]]
    expect(verifySync('slack-water', hash)).toBe(true)
  })

  it('is loaded into an empty project only', async () => {
    await expect(load(join(folder, 'small'), loaded)).rejects.toThrow('already has documents')
  })
})

describe('a seed with a mistake', () => {
  const author = (attributes: object) => ({
    uid: 'api::author.author',
    documents: [{ key: 'ann', locales: { '-': { published: attributes } } }],
  })
  const mistakes: readonly [string, object, string][] = [
    ['an unknown document', { 'seed/content/author.json': author({ favourites: ['@story:none'] }) }, 'there is no document @story:none'],
    ['an unknown attribute', { 'seed/content/author.json': author({ nam: 'Ann' }) }, 'api::author.author has no attribute nam'],
    ['a wrong value', { 'seed/content/author.json': author({ name: 5 }) }, '5 is not a valid string'],
    ['the other side of a relation', { 'seed/content/author.json': author({ stories: ['@story:one'] }) }, 'is the inverse side'],
    ['an unknown type', { 'seed/content/x.json': { uid: 'api::x.x', documents: [] } }, 'api::x.x, which is not a type'],
    [
      'a locale for a type without',
      { 'seed/content/author.json': { uid: 'api::author.author', documents: [{ key: 'a', locales: { en: { published: {} } } }] } },
      'not localized',
    ],
    ['a file outside', { 'seed/files.json': [{ key: 'x', file: '../x.png', url: '/uploads/x.png' }] }, 'outside the project'],
  ]
  it.each(mistakes)('%s is reported in one sentence, and nothing is written', async (name, files, message) => {
    const project = write(join(folder, name.replaceAll(' ', '-')), { ...schemas, ...files })
    const into = await empty(project)
    await expect(load(project, into)).rejects.toThrow(message)
    expect(into.database.prepare('SELECT count(*) AS count FROM authors').get()).toEqual({ count: 0 })
    into.database.close()
  })

  it('a project without a seed has none', async () => {
    const loaded = await load(write(join(folder, 'bare'), schemas))
    expect(loaded.count).toBe(0)
    loaded.database.close()
  })
})

const magazine = join(import.meta.dirname, '../../examples/magazine')

describe.skipIf(!existsSync(join(magazine, 'seed')))('the magazine', () => {
  let loaded: Loaded
  beforeAll(async () => {
    loaded = await load(magazine)
  })
  afterAll(() => loaded.database.close())
  const all = (statement: string): Record<string, unknown>[] => loaded.database.prepare(statement).all() as Record<string, unknown>[]

  it('loads, and keeps every foreign key', () => {
    expect(loaded.count).toBeGreaterThan(0)
    expect(loaded.database.pragma('foreign_key_check')).toEqual([])
  })

  it('has a draft row for each published row', () => {
    for (const type of loaded.model.types.values()) {
      if (!type.exposed || !type.draftAndPublish) continue
      const lonely = all(
        `SELECT document_id FROM "${type.table}" p WHERE published_at IS NOT NULL AND NOT EXISTS
         (SELECT 1 FROM "${type.table}" d WHERE d.document_id = p.document_id AND d.locale IS p.locale AND d.published_at IS NULL)`,
      )
      expect(lonely, type.uid).toEqual([])
    }
  })

  it('counts every order from 1 without a gap', () => {
    const gaps = (table: string, order: string, by: string) =>
      all(
        `SELECT ${by}, group_concat("${order}") AS orders FROM "${table}" WHERE "${order}" IS NOT NULL GROUP BY ${by}
         HAVING min("${order}") <> 1 OR max("${order}") <> count(*) OR count(DISTINCT "${order}") <> count(*)`,
      )
    for (const shape of [...loaded.model.types.values(), ...loaded.model.components.values()]) {
      if (shape.componentTable !== null) expect(gaps(shape.componentTable, 'order', 'entity_id, field'), shape.uid).toEqual([])
      for (const attribute of shape.attributes.values()) {
        if (attribute.kind !== 'relation' || attribute.storage.kind !== 'link' || !attribute.storage.owner) continue
        const { table, here, order } = attribute.storage
        if (order !== null) expect(gaps(table, order, here), table).toEqual([])
      }
    }
    expect(gaps('files_related_mph', 'order', 'related_id, related_type, field')).toEqual([])
    expect(gaps('letters_subjects_mph', 'order', 'letter_id')).toEqual([])
  })

  it('has no component that belongs to nothing, and none that belongs to two', () => {
    const holders = [...loaded.model.types.values(), ...loaded.model.components.values()].filter((shape) => shape.componentTable !== null)
    const entries = holders.map((holder) => `SELECT cmp_id, component_type FROM "${holder.componentTable}"`).join(' UNION ALL ')
    for (const component of loaded.model.components.values()) {
      const held = all(
        `SELECT c.id, count(e.cmp_id) AS times FROM "${component.table}" c
         LEFT JOIN (${entries}) e ON e.cmp_id = c.id AND e.component_type = '${component.uid}' GROUP BY c.id HAVING times <> 1`,
      )
      expect(held, component.uid).toEqual([])
    }
  })
})
