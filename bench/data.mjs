// Databases of any size in the golden layout: node bench/data.mjs --articles 100000 --out FILE. Starts from the golden
// database and adds published articles of the default locale, each a draft row and a published row with links, seo and cover.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { seededRandom } from './random.mjs'
import { resultsFolder } from './report.mjs'
import { goldenProject } from './servers.mjs'

const articlesAtOnce = 10_000
const firstDay = Date.UTC(2020, 0, 1)

/** The generated articles have the slugs generated-1, generated-2, …, by which benchmarks find known articles. */
export const slugOf = (/** @type {number} */ number) => `generated-${number}`

/**
 * The path of a database with `articles` published articles; created on first use and stored in bench/results/.
 * @param {number} articles
 */
export function databaseWith(articles) {
  const path = join(resultsFolder, `data-${articles}.db`)
  if (!existsSync(path)) makeDatabase(articles, path)
  return path
}

/**
 * @param {number} articles
 * @param {string} path
 */
export function makeDatabase(articles, path) {
  const begun = performance.now()
  const seconds = () => `${((performance.now() - begun) / 1_000).toFixed(0)} s`
  const partial = `${path}.partial`
  mkdirSync(dirname(path), { recursive: true })
  rmSync(partial, { force: true })
  writeFileSync(partial, gunzipSync(readFileSync(join(goldenProject, 'content.db.gz'))))

  const database = new Database(partial)
  for (const setting of [
    'journal_mode = OFF',
    'synchronous = OFF',
    'foreign_keys = OFF',
    'locking_mode = EXCLUSIVE',
    'cache_size = -262144',
  ]) {
    database.pragma(setting)
  }
  const writer = prepareWriter(database)
  const wanted = articles - writer.present
  if (wanted < 0) throw new Error(`The golden database alone has ${writer.present} published articles`)

  console.log(`Making ${path} with ${articles} articles`)
  const restoreIndexes = dropIndexes(database, writer.tables)
  const writeSome = database.transaction((/** @type {number} */ from, /** @type {number} */ to) => {
    for (let number = from; number <= to; number++) writer.writeArticle(number)
  })
  for (let from = 1; from <= wanted; from += articlesAtOnce) {
    const to = Math.min(from + articlesAtOnce - 1, wanted)
    writeSome(from, to)
    if (to === wanted || (to / articlesAtOnce) % 10 === 0) console.log(`  ${to} of ${wanted} written, ${seconds()}`)
  }
  restoreIndexes()
  database.close()
  renameSync(partial, path)
  console.log(`  indexed and done, ${seconds()}\n`)
}

/**
 * Sorting all entries of an index once is several times faster than keeping it up to date through millions of inserts.
 * @param {import('better-sqlite3').Database} database
 * @param {readonly string[]} tables
 */
function dropIndexes(database, tables) {
  const indexes = /** @type {{ name: string, sql: string }[]} */ (
    database
      .prepare(
        `SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN (SELECT value FROM json_each(?))`,
      )
      .all(JSON.stringify(tables))
  )
  for (const { name } of indexes) database.exec(`DROP INDEX "${name}"`)
  return () => {
    for (const { sql } of indexes) database.exec(sql)
  }
}

/** @param {import('better-sqlite3').Database} database */
function prepareWriter(database) {
  const random = seededRandom(20_260_101)
  const numbers = (/** @type {string} */ sql) => /** @type {number[]} */ (database.prepare(sql).pluck().all())
  const nextId = (/** @type {string} */ table) => numbers(`SELECT seq + 1 FROM sqlite_sequence WHERE name = '${table}'`)[0] ?? 1
  /** @type {(sql: string) => Map<number, number>} */
  const counters = (sql) => new Map(/** @type {[number, number][]} */ (database.prepare(sql).raw().all()))

  const authors = numbers('SELECT id FROM authors')
  const categories = numbers(`SELECT id FROM categories WHERE locale = 'en'`)
  const covers = numbers(`SELECT id FROM files WHERE mime LIKE 'image/%'`)
  /** Tags that have both versions, as [draft id, published id]. */
  const tags = /** @type {[number, number][]} */ (
    database
      .prepare(
        `SELECT d.id, p.id FROM tags d JOIN tags p ON p.document_id = d.document_id AND p.published_at IS NOT NULL WHERE d.published_at IS NULL`,
      )
      .raw()
      .all()
  )

  // Places already taken in the order of articles as an author, a category or a tag sees them; a published row copies
  // the places of its draft.
  const placesAtAuthor = counters('SELECT author_id, max(article_ord) FROM articles_author_lnk GROUP BY 1')
  const placesAtCategory = counters('SELECT category_id, max(article_ord) FROM articles_category_lnk GROUP BY 1')
  const placesAtTag = counters('SELECT tag_id, max(article_ord) FROM articles_tags_lnk GROUP BY 1')
  const nextPlace = (/** @type {Map<number, number>} */ places, /** @type {number} */ id) => {
    const place = Math.floor(places.get(id) ?? 0) + 1
    places.set(id, place)
    return place
  }

  const columns =
    'id, document_id, title, slug, summary, body, content, rating, score, rank, views, featured, metadata, day, at, starts, stamp, kind, tone, lead, contact, internal_note, code, regexed, created_at, updated_at, published_at, locale'
  const insert = (/** @type {string} */ into, /** @type {number} */ count) =>
    database.prepare(`INSERT INTO ${into} VALUES (${Array(count).fill('?').join(', ')})`)
  const insertArticle = insert(`articles (${columns})`, columns.split(', ').length)
  const insertAuthor = insert('articles_author_lnk (article_id, author_id, article_ord)', 3)
  const insertCategory = insert('articles_category_lnk (article_id, category_id, article_ord)', 3)
  const insertTag = insert('articles_tags_lnk (article_id, tag_id, tag_ord, article_ord)', 4)
  const insertSeo = insert('components_shared_seos (id, meta_title, meta_description, keywords, priority, no_index)', 6)
  const insertComponent = insert('articles_cmps (entity_id, cmp_id, component_type, field, "order")', 5)
  const insertFile = insert('files_related_mph (file_id, related_id, related_type, field, "order")', 5)

  let articleId = nextId('articles')
  let seoId = nextId('components_shared_seos')

  /** @param {number} number */
  function writeArticle(number) {
    const title = `${random.sentence(2 + random.integer(2))} ${number}`
    const created = firstDay + number * 60_000 + random.integer(60_000)
    const attributes = [
      random.documentId(),
      title,
      slugOf(number),
      random.sentence(10),
      `## ${random.sentence(3)}\n\n${random.sentence(24)}.\n\n${random.sentence(24)}.`,
      JSON.stringify([
        { type: 'heading', level: 2, children: [{ type: 'text', text: random.sentence(3) }] },
        { type: 'paragraph', children: [{ type: 'text', text: random.sentence(12) }] },
      ]),
      (random.integer(201) - 100) / 10,
      random.integer(1_000_000) / 1_000,
      random.integer(2_001) - 1_000,
      random.integer(10_000_000),
      random.integer(2),
      JSON.stringify({ source: random.text(1), weight: random.integer(100) }),
      new Date(created).toISOString().slice(0, 10),
      new Date(random.integer(86_400) * 1_000).toISOString().slice(11, 23),
      created + random.integer(1_000_000_000),
      created,
      random.pick(['news', 'review', 'essay', 'how-to']),
      random.pick(['dry', 'warm', 'loud']),
      random.sentence(2),
      `writer-${number}@example.test`,
      random.integer(4) === 0 ? random.text(3) : null,
      `G${number}`,
      `AB-${number}`,
    ]
    const seo = [
      title.slice(0, 60),
      random.sentence(8),
      random.some(['a', 'b', 'c', 'd'], 3).join(','),
      random.integer(10),
      random.integer(2),
    ]
    const author = random.pick(authors)
    const category = random.pick(categories)
    const cover = random.pick(covers)
    const chosenTags = random.some(tags, random.integer(5)).map((versions) => ({ versions, place: nextPlace(placesAtTag, versions[0]) }))
    const placeAtAuthor = nextPlace(placesAtAuthor, author)
    const placeAtCategory = nextPlace(placesAtCategory, category)

    for (const published of [false, true]) {
      insertArticle.run(articleId, ...attributes, created, created, published ? created + 700 : null, 'en')
      insertAuthor.run(articleId, author, placeAtAuthor)
      insertCategory.run(articleId, category, placeAtCategory)
      for (const [index, { versions, place }] of chosenTags.entries()) {
        insertTag.run(articleId, versions[published ? 1 : 0], index + 1, place)
      }
      insertSeo.run(seoId, ...seo)
      insertComponent.run(articleId, seoId, 'shared.seo', 'seo', null)
      insertFile.run(cover, articleId, 'api::article.article', 'cover', 1)
      articleId++
      seoId++
    }
  }

  return {
    writeArticle,
    present: numbers(`SELECT count(*) FROM articles WHERE locale = 'en' AND published_at IS NOT NULL`)[0],
    tables: [
      'articles',
      'articles_author_lnk',
      'articles_category_lnk',
      'articles_tags_lnk',
      'articles_cmps',
      'components_shared_seos',
      'files_related_mph',
    ],
  }
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { articles: { type: 'string' }, out: { type: 'string' } } })
  const articles = Number(values.articles)
  if (!Number.isInteger(articles) || !values.out) throw new Error('Usage: node bench/data.mjs --articles 100000 --out FILE')
  makeDatabase(articles, resolve(values.out))
}
